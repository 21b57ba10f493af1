"""A study of comments under way: its articles, its ratings, its texts of other systems, and the commenters it trains.

The paper (Qin et al. 2018, section 5 and supplement C.1) ranks by a convolutional network alone, trained with negative
sampling, and generates with networks after Sutskever et al. (2014) and Bahdanau et al. (2015) of hidden size 256.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from postil.comments import neural_commenter, retrieval
from postil.comments.call_options import CommentOptions
from postil.comments.calls import comment_articles
from postil.comments.evaluation import Readers, needs_scale, parted_readers
from postil.comments.options import (
    GeneratorOptions,
    GeneratorTraining,
    GeneratorTrainOptions,
    RelevanceOptions,
    RelevanceTraining,
    RetrieverTrainOptions,
    TrainingOptions,
)
from postil.comments.result import HUMAN, GridSearch, GridValue, SuggestionsResult
from postil.corpus.rated_comments import RatedComments
from postil.data.atomic_file import AtomicFile
from postil.data.explain import counted, have, shown
from postil.data.model_folders import Model
from postil.data.row_files import read
from postil.data.rows import Article, Candidate, Judgement
from postil.data.suggestions import Suggestions
from postil.errors import InvalidInput, UsageError
from postil.messages import Command, Message, Setting
from postil.meta.rated import checked_judgements
from postil.meta.table import Judged
from postil.options import changed_settings
from postil.results.views import show
from postil.studies.options import CommentsOptions
from postil.studies.stages import as_line, settings_of, words_of
from postil.training.generators import check_commenter
from postil.training.grid import Combination, Grid
from postil.training.retrievers import check_retriever

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from postil.corpus.store import Corpus
    from postil.data.grades import Scale
    from postil.data.progress import OnMessage

__all__ = ["CommentsStudy", "Plan", "check", "plan", "suggest", "suggested_texts", "suggesting"]


def _check_judgements(options: CommentsOptions, articles: Collection[str]) -> None:
    """Check before any training that the judgements can be read and are of these articles."""
    rows = read(str(options.judgements), Judgement)
    judged = Judged(checked_judgements(rows), options.aspect, options.judgement_scale or options.scale)
    if not any(item in articles for item, _ in judged.rows):
        problem = f"no judgement is of a test article; items are ids of articles, such as {shown(min(articles))}"
        raise InvalidInput(problem, where=rows.places.where)


@dataclass(frozen=True, eq=False, kw_only=True)
class CommentsStudy:
    """Data of a study of commenters, read by `of`.

    Args:
        corpus: The corpus.
        out: Output folder of this seed.
        shared: Output folder of the study: that of its first seed, with what no seed changes.
        seed: Seed of the trainings.
        options: Options of the study.
        on_message: Callback for status messages.
        models: Folders of the commenters, by name.
        readers: Test articles, their references, and one held-out comment of each.
        given: Texts of external systems, by system.
        weights: Method of the references' weights.
    """

    corpus: Corpus
    out: Path
    shared: Path
    seed: int
    options: CommentsOptions
    on_message: OnMessage
    models: Mapping[str, Path]
    readers: Readers
    given: Mapping[str, Sequence[Candidate]]
    weights: str

    @classmethod
    def of(cls, corpus: Corpus, out: Path, options: CommentsOptions, on_message: OnMessage) -> CommentsStudy:
        """Read the test articles and check the options against them.

        Args:
            corpus: The corpus.
            out: Output folder.
            options: Options of the study.
            on_message: Callback for status messages.

        Raises:
            UsageError: There is no test set, or a single test article, grades lack a scale, or two systems have one
                name.
            UnknownName: The judgements have no such aspect.
            InvalidInput: The candidates, references or judgements are invalid, or not of these articles.
        """
        if "test" not in corpus.splits:
            raise UsageError(f"{corpus.path}: it has no test set; it has {', '.join(corpus.splits)}")
        rated = None if options.references is None else RatedComments.read(options.references)
        articles = list(corpus.articles("test"))
        if rated is not None:
            articles = _rated(articles, rated, on_message)
        readers = parted_readers(f"{corpus.path}, test", articles, options.seed)
        given: dict[str, list[Candidate]] = {}
        if options.candidates is not None:
            given = _read_given(options.candidates, articles, options.names, on_message)
            if HUMAN in given:  # nobody is drawn, so that all comments are references
                kept = [msgspec.structs.replace(article, held_out=()) for article in articles]
                readers = Readers(readers.where, kept, [], 0)
            here = {article.id for article in readers.articles}
            given = {name: [row for row in rows if row.item in here] for name, rows in given.items()}
        if len(readers.articles) < 2 and options.stage is None:
            problem = f"it has {len(readers.articles)} test article with two comments that differ"
            raise UsageError(f"{corpus.path}: {problem}; tests and intervals need at least two")
        if options.judgements is not None:
            _check_judgements(options, {article.id for article in readers.articles})
        weights = options.weights or readers.usual_method()
        if needs_scale(weights) and options.scale is None:
            raise UsageError(
                "{path}: its references have grades; give their scale, such as {scale}",
                path=str(corpus.path),
                scale=Setting("scale", "1:5"),
            )
        if options.scale is not None and rated is not None:
            rated.check(options.scale)
        elif options.scale is not None and needs_scale(weights):
            _check_grades(f"{corpus.path}, test", articles, options.scale)
        return cls(
            corpus=corpus,
            out=out,
            shared=out,
            seed=options.seed,
            options=options,
            on_message=on_message,
            models={name: Path(options.models.get(name, out / "models" / name)) for name in options.names},
            readers=readers,
            given=given,
            weights=weights,
        )

    @property
    def by_seed(self) -> tuple[CommentsStudy, ...]:
        """The study with each of its seeds: this one, and those whose files are below ``seeds``."""
        return (self, *(self.with_seed(self.seed + i) for i in range(1, self.options.seeds)))

    def with_seed(self, seed: int) -> CommentsStudy:
        """The study with commenters of another seed; articles, references and readers' comments stay.

        Args:
            seed: The seed.
        """
        out = self.shared / "seeds" / str(seed)
        trained = {name: out / "models" / name for name in self.models if name not in self.options.models}
        return replace(self, out=out, seed=seed, models={**self.models, **trained})

    @property
    def is_first(self) -> bool:
        """True if it is the study of the first seed."""
        return self.out == self.shared

    def stage(self, name: str) -> str:
        """Name of a stage, with the seed where it is not the first.

        Args:
            name: Its name without one.
        """
        return name if self.is_first else f"{name}-seed-{self.seed}"

    @property
    def folder(self) -> Path:
        """Folder of the corpus."""
        return Path(self.corpus.path)

    @property
    def drawn(self) -> tuple[str, ...]:
        """Name of the system of readers' comments; empty where --candidates has their texts."""
        return () if HUMAN in self.given else (HUMAN,)

    @property
    def scale(self) -> Scale | None:
        """The scale of the references' grades, where weights come from them."""
        return self.options.scale if needs_scale(self.weights) else None

    def command(self, stage: str) -> str:
        """The line of a stage that has no command but that of the study.

        Args:
            stage: Its name.
        """
        settings = changed_settings(replace(self.options, stage=stage))
        places = settings_of({"corpus": self.folder, "out": self.shared})
        return as_line(Command("study comments", settings=(*places, *settings)), CommentsOptions)


def _rated(articles: Sequence[Article], rated: RatedComments, on_message: OnMessage) -> list[Article]:
    """Articles with the ratings of a file; what is left without is said."""
    found, number = rated.applied(articles)
    if others := len(rated.rows) - number:
        on_message(
            f"{rated.where}: {counted(others, 'row')} of comments that are no references of the test set: ignored"
        )
    comments = [comment for article in found for comment in article.comments]
    if without := sum(comment.mean_grade is None for comment in comments):
        problem = f"{without:,} of {len(comments):,} references {have(without)} no rating"
        on_message(f"{rated.where}: {problem}, and weights by grades need one of each")
    return found


def _check_grades(where: str, articles: Sequence[Article], scale: Scale) -> None:
    """Raise where a grade of the corpus is not on the scale."""
    for article in articles:
        for comment in article.comments:
            grades = [each.grade for each in comment.ratings] if comment.grade is None else [comment.grade]
            for problem in filter(None, map(scale.check, grades)):
                message = Message(
                    "{problem}, for comment {comment} of article {article}; is {scale} that of these ratings?",
                    problem=problem,
                    comment=shown(comment.id),
                    article=shown(article.id),
                    scale=Setting("scale"),
                )
                raise InvalidInput(message, where=where)


def _read_given(
    path: str, articles: Sequence[Article], names: Collection[str], on_message: OnMessage
) -> dict[str, list[Candidate]]:
    """The candidates of a file, system by system, in the order of the articles.

    Args:
        path: Candidate rows.
        articles: Articles of the study; rows of others are ignored, and their number is reported.
        names: Names of the study's commenters.
        on_message: Callback for status messages.

    Raises:
        InvalidInput: A row is invalid, or a system has no text or two texts for an article.
        UsageError: A system has the name of a commenter.
    """
    wanted = {article.id for article in articles}
    texts: dict[str, dict[str, Candidate]] = {}
    others = 0
    for line, row in enumerate(read(path, Candidate), 1):
        if row.item not in wanted:
            others += 1
            continue
        if row.item in texts.setdefault(row.system, {}):
            problem = f"expected one text of system '{row.system}' for article '{row.item}', got another"
            raise InvalidInput(problem, where=path, line=line)
        texts[row.system][row.item] = row
    if not texts:
        raise InvalidInput("no row is of an article of the test set; expected their ids in the field item", where=path)
    for system, said in texts.items():
        if system in names:
            raise UsageError(f"{path}: a commenter is named '{system}'; rename this system")
        missing = [article.id for article in articles if article.id not in said]
        if missing:
            problem = f"system '{system}' has no text for {len(missing):,} of {len(articles):,} articles"
            raise InvalidInput(f"{problem}, such as '{missing[0]}'; give an empty text where it has none", where=path)
    if others:
        on_message(f"{path}: {counted(others, 'row')} of other articles ignored")
    return {system: [said[article.id] for article in articles] for system, said in texts.items()}


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


def suggest(articles: Path, model: Path, options: CommentOptions, target: Path) -> None:
    """Write the suggestions of a commenter, as `postil comment` prints them.

    Args:
        articles: The articles.
        model: The commenter.
        options: Options of the suggestions.
        target: Output file.
    """
    with AtomicFile(str(target)) as stream:
        for row in comment_articles(str(articles), str(model), options):
            stream.write(str(show("jsonl", SuggestionsResult(suggestions=(row,)))).encode())


def suggested_texts(sources: Mapping[str, Path]) -> Iterator[Candidate]:
    """The first suggestion of each system for each article; an empty text where it has none.

    Args:
        sources: Files of suggestions by system.
    """
    for name, source in sources.items():
        for row in read(source, Suggestions):
            yield Candidate(row.article, name, row.suggestions[0].text if row.suggestions else "")
