"""Trainings of a study of comments: the commenters of the package, or with ``--preset paper`` those of the paper.

The paper (Qin et al. 2018, section 5 and supplement C.1) ranks by a convolutional network alone, trained with negative
sampling, and generates with networks after Sutskever et al. (2014) and Bahdanau et al. (2015) of hidden size 256.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from postil.app.comment import CommentOptions
from postil.app.study.stages import flags
from postil.app.training.grid import Grid
from postil.app.training.options import (
    GeneratorTraining,
    GeneratorTrainOptions,
    RelevanceTraining,
    RetrieverTrainOptions,
)
from postil.commenters import neural_commenter, retrieval
from postil.commenters.nn.options import GeneratorOptions, RelevanceOptions, TrainingOptions
from postil.commenters.store import Model
from postil.options import command_words
from postil.records.results import GridSearch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from postil.app.study.comments_data import CommentsStudy
    from postil.app.study.comments_options import CommentsOptions
    from postil.records.results import GridValue

__all__ = ["Plan", "plan", "suggesting"]

Training = TypeVar("Training", bound=TrainingOptions)

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
        words: Flags of the command that change its result.
        grid: Values to choose from on dev; None for none.
    """

    options: RetrieverTrainOptions | GeneratorTrainOptions
    words: tuple[str, ...]
    grid: Grid | None = None


def plan(study: CommentsStudy, name: str) -> Plan:
    """Plan the training of a commenter.

    The first seed chooses from a grid on dev; the others take the values that it chose.

    Args:
        study: The study, with the seed of the training.
        name: The commenter.
    """
    if study.options.preset is None:
        return _ours(study.options, name)
    made = _of_paper(study.options, name)
    folder = study.shared / "models" / name
    if made.grid is None or study.is_first or not folder.exists():
        return made
    chosen = msgspec.convert(Model.open(folder).metadata["grid"], GridSearch).chosen
    one = Grid({flag: (value,) for flag, value in chosen.items()})
    options: RetrieverTrainOptions | GeneratorTrainOptions
    if isinstance(made.options, RetrieverTrainOptions):
        (options,) = (each.options for each in one.combinations(made.options))
    else:
        (options,) = (each.options for each in one.combinations(made.options))
    more = [word for flag, value in chosen.items() for word in (f"--{flag}", str(value))]
    return Plan(options, (*made.words, *more))


def _ours(options: CommentsOptions, name: str) -> Plan:
    epochs, device, own = options.epochs, options.device, dict[str, object]()
    made: RetrieverTrainOptions | GeneratorTrainOptions
    if name in retrieval.KINDS:
        own["ranker"] = options.ranker or "both"
        if own["ranker"] == "tf-idf":  # it has no network
            epochs = device = None
        training = _training(RelevanceTraining(), epochs, device)
        made = RetrieverTrainOptions(ranker=str(own["ranker"]), training=training, seed=options.seed, jobs=options.jobs)
    else:
        own["softmax"] = options.softmax or "full"
        network = GeneratorOptions(loss=own["softmax"])  # type: ignore[arg-type]  # checked inside
        made = GeneratorTrainOptions(
            network=network, training=_training(GeneratorTraining(), epochs, device), seed=options.seed
        )
    return Plan(made, tuple(map(str, flags({**own, "epochs": epochs}))))


def _of_paper(options: CommentsOptions, name: str) -> Plan:
    epochs, made = options.epochs or EPOCHS, _PAPER[name]
    # Seed, device and number of threads are no part of the words: they are printed apart, or change no number.
    if isinstance(made, RetrieverTrainOptions):
        training = _training(made.training, epochs, None)
        made = replace(made, ranker=options.ranker or made.ranker, training=training)
        own, grid = tuple(command_words(made)), _grid(options, made)
        training = _training(training, None, options.device)
        return Plan(replace(made, training=training, seed=options.seed, jobs=options.jobs), own, grid)
    network = replace(made.network, loss=options.softmax or made.network.loss)  # type: ignore[arg-type]  # checked inside
    generation = _training(made.training, epochs, None)
    made = replace(made, network=network, training=generation)
    own, grid = tuple(command_words(made)), _grid(options, made)
    return Plan(replace(made, training=_training(generation, None, options.device), seed=options.seed), own, grid)


def _grid(options: CommentsOptions, made: RetrieverTrainOptions | GeneratorTrainOptions) -> Grid | None:
    epochs = GRID_EPOCHS if options.grid_epochs is None else options.grid_epochs
    if epochs == 0 or (isinstance(made, RetrieverTrainOptions) and made.ranker == "tf-idf"):  # which has no network
        return None
    return Grid.parse(options.grid, made, epochs) if options.grid else Grid(GRIDS[type(made)], epochs)


def _training(default: Training, epochs: int | None, device: str | None) -> Training:
    """Options of a training with the epochs and the device of the study."""
    given = default if epochs is None else replace(default, epochs=epochs)
    return given if device is None else replace(given, device=device)


def suggesting(study: CommentsStudy, name: str) -> CommentOptions:
    """Options of a commenter's suggestions.

    The paper names neither a filter nor blocked repetitions, and discards comments of more than 50 words.

    Args:
        study: The study.
        name: The commenter.
    """
    if study.options.preset is None:
        return CommentOptions()
    folder = study.models[name]
    generates = (Model.open(folder).kind if folder.exists() else name) in neural_commenter.KINDS
    return CommentOptions(
        min_words=1, max_words=50, allow_addresses=True, no_repeat_ngram_size=0 if generates else None
    )
