"""Trainings of a study of comments: the commenters of the package, or with ``--preset paper`` those of the paper.

The paper (Qin et al. 2018, section 5 and supplement C.1) ranks by a convolutional network alone, trained with negative
sampling, and generates with networks after Sutskever et al. (2014) and Bahdanau et al. (2015) of hidden size 256.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from postil.comments import neural_commenter, retrieval
from postil.comments.calls import CommentOptions
from postil.comments.nn.options import GeneratorOptions, RelevanceOptions, TrainingOptions
from postil.comments.store import Model
from postil.comments.training.generators import check_commenter
from postil.comments.training.grid import Grid
from postil.comments.training.options import (
    GeneratorTraining,
    GeneratorTrainOptions,
    RelevanceTraining,
    RetrieverTrainOptions,
)
from postil.comments.training.result import GridSearch
from postil.comments.training.retrievers import check_retriever
from postil.errors import UsageError
from postil.messages import Setting
from postil.options import changed_settings
from postil.studies.stages import settings_of, words_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from postil.comments.training.grid import Combination
    from postil.comments.training.result import GridValue
    from postil.studies.comments_data import CommentsStudy
    from postil.studies.comments_options import CommentsOptions

__all__ = ["Plan", "check", "plan", "suggesting"]

Limits = TypeVar("Limits", bound=TrainingOptions)
Training = TypeVar("Training", RetrieverTrainOptions, GeneratorTrainOptions)

LEARNING_RATES: Final = (0.001, 0.003)
GRIDS: Final[Mapping[type, Mapping[str, tuple[GridValue, ...]]]] = {
    RetrieverTrainOptions: {"learning-rate": LEARNING_RATES, "dropout": (0.2, 0.5)},
    GeneratorTrainOptions: {"learning-rate": LEARNING_RATES},
}
"""The values that are tried on dev by default, since the paper does not print those that it tried."""
GRID_EPOCHS: Final = 1
EPOCHS: Final = 4

_RETRIEVER: Final = RetrieverTrainOptions(
    ranker="relevance",
    embeddings="none",
    network=RelevanceOptions(word_mean=False, loss="negative"),
    training=RelevanceTraining(weight_decay=0.0),
)
_ATT: Final = GeneratorTrainOptions(network=GeneratorOptions(attention="bahdanau", loss="sampled"))
_PAPER: Final[Mapping[str, RetrieverTrainOptions | GeneratorTrainOptions]] = {
    "ir-t": _RETRIEVER,
    "ir-tc": _RETRIEVER,
    "seq2seq": GeneratorTrainOptions(network=GeneratorOptions(cell="lstm", loss="sampled")),
    "att": _ATT,
    "att-tc": replace(_ATT, max_content_words=0),
}


@dataclass(frozen=True)
class Plan:
    """Training of one commenter.

    Args:
        options: Its options.
        settings: Settings of the command that change its result.
        grid: Values to choose from on dev; None for none.
    """

    options: RetrieverTrainOptions | GeneratorTrainOptions
    settings: tuple[Setting, ...]
    grid: Grid | None = None

    @property
    def words(self) -> list[str]:
        """The words of the command that give its settings and its grid."""
        return words_of((*self.settings, *(self.grid.settings() if self.grid else ())), type(self.options))


def plan(study: CommentsStudy, name: str) -> Plan:
    """Plan the training of a commenter.

    The first seed chooses from a grid on dev; the others take the values that it chose.

    Args:
        study: The study, with the seed of the training.
        name: The commenter.

    Raises:
        UsageError: The grid does not fit, or the first seed's model was trained without one.
    """
    if study.options.preset is None:
        return _ours(study, name)
    made = _of_paper(study.options, name)
    # Seed, device and number of threads are no part of the settings: they are printed apart, or change no number.
    if isinstance(made, RetrieverTrainOptions):
        retriever, settings, grid = _chosen(study, name, made)
        device = None if retriever.ranker == "tf-idf" else study.options.device
        limits = _training(retriever.training, None, device)
        return Plan(replace(retriever, training=limits, seed=study.seed, jobs=study.options.jobs), settings, grid)
    generator, settings, grid = _chosen(study, name, made)
    training = _training(generator.training, None, study.options.device)
    return Plan(replace(generator, training=training, seed=study.seed), settings, grid)


def check(study: CommentsStudy, name: str) -> None:
    """Check the training of a commenter before any is trained.

    Args:
        study: The study.
        name: The commenter.

    Raises:
        UsageError: Options do not fit one another or the corpus.
    """
    made = plan(study, name)
    if isinstance(made.options, RetrieverTrainOptions):
        check_retriever(name, study.corpus, made.options, made.grid)
    else:
        check_commenter(name, study.corpus, made.options, made.grid)


def _ours(study: CommentsStudy, name: str) -> Plan:
    options, own = study.options, dict[str, object]()
    epochs, device = options.epochs, options.device
    made: RetrieverTrainOptions | GeneratorTrainOptions
    if name in retrieval.KINDS:
        own["ranker"] = options.ranker or "both"
        if own["ranker"] == "tf-idf":  # it has no network
            epochs = device = None
        training = _training(RelevanceTraining(), epochs, device)
        made = RetrieverTrainOptions(ranker=str(own["ranker"]), training=training, seed=study.seed, jobs=options.jobs)
    else:
        own["loss"] = options.softmax or "full"
        network = GeneratorOptions(loss=own["loss"])  # type: ignore[arg-type]  # checked inside
        made = GeneratorTrainOptions(
            network=network, training=_training(GeneratorTraining(), epochs, device), seed=study.seed
        )
    return Plan(made, settings_of({**own, "epochs": epochs}))


def _of_paper(options: CommentsOptions, name: str) -> RetrieverTrainOptions | GeneratorTrainOptions:
    """Options of a training of the paper, with those that the user gave."""
    made = _PAPER[name]
    if isinstance(made, RetrieverTrainOptions):
        if options.ranker == "tf-idf":
            return RetrieverTrainOptions(ranker="tf-idf")
        training = _training(made.training, options.epochs or EPOCHS, None)
        return replace(made, ranker=options.ranker or made.ranker, training=training)
    network = replace(made.network, loss=options.softmax or made.network.loss)  # type: ignore[arg-type]  # checked inside
    return replace(made, network=network, training=_training(made.training, options.epochs or EPOCHS, None))


def _chosen(study: CommentsStudy, name: str, made: Training) -> tuple[Training, tuple[Setting, ...], Grid | None]:
    """Options, the settings that give them, and the grid to choose from; for later seeds the chosen values."""
    grid, folder = _grid(study.options, made), study.shared / "models" / name
    if grid is None:
        return made, changed_settings(made), None
    own: tuple[Setting, ...] = changed_settings(grid.without(made))
    if study.is_first or not folder.exists():
        return made, own, grid
    found = Model.open(folder).metadata.get("grid")
    if found is None:
        raise UsageError(
            "{folder}: trained without a grid, so that other seeds have no values to take; remove it, or give {none}",
            folder=str(folder),
            none=Setting("grid_epochs", 0),
        )
    chosen = msgspec.convert(found, GridSearch).chosen
    one: Combination[Training] = Grid({option: (value,) for option, value in chosen.items()}).combinations(made)[0]
    return one.options, (*own, *one.settings()), None


def _grid(options: CommentsOptions, made: RetrieverTrainOptions | GeneratorTrainOptions) -> Grid | None:
    epochs = GRID_EPOCHS if options.grid_epochs is None else options.grid_epochs
    if epochs == 0 or (isinstance(made, RetrieverTrainOptions) and made.ranker == "tf-idf"):  # which has no network
        return None
    return Grid.parse(options.grid, made, epochs) if options.grid else Grid(GRIDS[type(made)], epochs)


def _training(default: Limits, epochs: int | None, device: str | None) -> Limits:
    """Options of a training with the epochs and the device of the study."""
    given = default if epochs is None else replace(default, epochs=epochs)
    return given if device is None else replace(given, device=device)


def suggesting(study: CommentsStudy, name: str) -> CommentOptions:
    """Options of a commenter's suggestions, one for each article.

    The paper names neither a filter nor blocked repetitions, and discards comments of more than 50 words.

    Args:
        study: The study.
        name: The commenter.
    """
    if study.options.preset is None:
        return CommentOptions(k=1)
    folder = study.models[name]
    generates = (Model.open(folder).kind if folder.exists() else name) in neural_commenter.KINDS
    return CommentOptions(
        k=1, min_words=1, max_words=50, allow=("all",), repeat=0, no_repeat_ngram_size=0 if generates else None
    )
