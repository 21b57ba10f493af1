"""The journey of `postil study comments`: a corpus in, the tables of Automatic Article Commenting (ACL 2018) out.

Commenters are trained on the corpus or taken as they are, and comment on its test articles; a comment of a reader
stands beside them. Metrics score them all, plain and weighted, and are held against people's grades where there are
some. Each stage leaves files, and does what a command does that is printed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from postil.app.commenting.files import check_tokenizer
from postil.app.correlating.files import read_judgements
from postil.app.readers import HUMAN, Readers, needs_scale, read_readers
from postil.app.report import check_report
from postil.app.study.candidates import read_given
from postil.app.study.comments_candidates import candidates, references, statistics, suggestions, training
from postil.app.study.comments_scores import comparison, correlations, page, scores, tables
from postil.app.study.stages import Stages, flags
from postil.commenters import neural_commenter, retrieval
from postil.commenters.store import Model
from postil.corpus.store import Corpus
from postil.errors import InvalidInput, UsageError
from postil.metaeval.score_matrix import Rated
from postil.records.explain import shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from postil.app.progress import Say
    from postil.app.study.comments_options import CommentsOptions
    from postil.app.study.stages import Stage
    from postil.records.rows import Candidate
    from postil.records.scale import Scale

__all__ = ["CommentsStudy", "study_comments"]


def study_comments(corpus: str, out: Path, options: CommentsOptions, say: Say, stages: Stages | None = None) -> Path:
    """Run the study, or what of it is not done yet.

    Args:
        corpus: A corpus with a test set.
        out: The folder to leave everything in.
        options: What is asked for.
        say: Takes words for people.
        stages: The stages before these, if there were some.

    Returns:
        The page.

    Raises:
        UsageError, UnknownName: The request makes no sense.
        InvalidInput: Something in the corpus, a model or a file is wrong; says where.
        MissingExtra: Something that is needed is not installed.
        PostilError: The system refuses to write, or a training fails.
    """
    opened = Corpus.open(corpus)
    stages = stages or Stages(out, say, options.stage)
    report = out / "report.html"
    check_report(report)  # before the work is done
    (out / "models").mkdir(exist_ok=True)
    (out / "suggestions").mkdir(exist_ok=True)
    for stage in _stages(CommentsStudy.of(opened, out, options, say)):
        stages.run(stage)
    stages.close()
    return report


def _stages(study: CommentsStudy) -> Iterator[Stage]:
    yield statistics(study)
    for name in study.models:
        if name not in study.options.models:
            yield training(study, name)
    _check_models(study)
    yield references(study)
    for name in study.models:
        yield suggestions(study, name)
    yield candidates(study)
    yield scores(study)
    yield comparison(study)
    if study.options.judgements:
        yield correlations(study)
    yield tables(study)
    yield page(study)


def _check_models(study: CommentsStudy) -> None:
    """What is there was made for texts that are cut as the corpus's are."""
    for name, folder in study.models.items():
        if not folder.exists() and study.options.stage:
            continue
        model = Model.open(folder, (*retrieval.KINDS, *neural_commenter.KINDS))
        check_tokenizer(model, study.corpus, f"{name}: ")
        if study.is_foreign(model):
            study.say(f"{name}: made of another corpus; whether it has seen the test articles is not known")


def _check_judgements(options: CommentsOptions, articles: Collection[str]) -> None:
    """They can be read, and are of these articles: better said before the trainings than after."""
    rows, places = read_judgements(str(options.judgements))
    rated = Rated(rows, options.aspect, options.judged_scale or options.scale, places)
    if not any(item in articles for item, _ in rated.rows):
        problem = f"no judgement is of a test article; items are ids of articles, such as {shown(min(articles))}"
        raise InvalidInput(problem, where=places.where)


@dataclass(frozen=True, eq=False, kw_only=True)
class CommentsStudy:
    """What a study is about; `of` makes it.

    Args:
        corpus: The corpus.
        out: The folder that everything is left in.
        options: What was asked for.
        say: Takes words for people.
        models: The folders of the commenters, by name.
        readers: The test articles, what readers say of them, and a comment of each that is no reference.
        given: What systems that were run elsewhere say of them.
        weights: Where the references' weights come from.
    """

    corpus: Corpus
    out: Path
    options: CommentsOptions
    say: Say
    models: Mapping[str, Path]
    readers: Readers
    given: Mapping[str, Sequence[Candidate]]
    weights: str

    @classmethod
    def of(cls, corpus: Corpus, out: Path, options: CommentsOptions, say: Say) -> CommentsStudy:
        """Read the test articles, and see that the request fits them.

        Args:
            corpus: The corpus.
            out: The folder to leave everything in.
            options: What is asked for.
            say: Takes words for people.

        Raises:
            UsageError: There is no test set, grades lack a scale, or two systems have one name.
            UnknownName: The judgements have no such aspect.
            InvalidInput: The candidates or judgements are broken, or not of these articles.
        """
        if "test" not in corpus.splits:
            raise UsageError(f"{corpus.path}: it has no test set; it has {', '.join(corpus.splits)}")
        readers = read_readers(corpus, "test", options.seed)
        given: dict[str, list[Candidate]] = {}
        if options.candidates is not None:
            articles = list(corpus.articles("test"))
            given = read_given(options.candidates, articles, options.names, say)
            if HUMAN in given:  # nobody is drawn, so that all comments are references
                kept = [msgspec.structs.replace(article, held_out=()) for article in articles]
                readers = Readers(readers.where, kept, [], 0)
            here = {article.id for article in readers.articles}
            given = {name: [row for row in rows if row.item in here] for name, rows in given.items()}
        if options.judgements is not None:
            _check_judgements(options, {article.id for article in readers.articles})
        weights = options.weights or readers.usual_method()
        if needs_scale(weights) and options.scale is None:
            raise UsageError(f"{corpus.path}: its references have grades; say their scale, such as --scale 1:5")
        return cls(
            corpus=corpus,
            out=out,
            options=options,
            say=say,
            models={name: Path(options.models.get(name, out / "models" / name)) for name in options.names},
            readers=readers,
            given=given,
            weights=weights,
        )

    @property
    def folder(self) -> Path:
        """Where the corpus is."""
        return Path(self.corpus.path)

    @property
    def drawn(self) -> tuple[str, ...]:
        """The system that says the readers' comments, unless they are given."""
        return () if HUMAN in self.given else (HUMAN,)

    @property
    def scale(self) -> Scale | None:
        """The scale of the references' grades, where weights come from them."""
        return self.options.scale if needs_scale(self.weights) else None

    def is_foreign(self, model: Model) -> bool:
        """Whether a model was made of another corpus.

        Args:
            model: The model.
        """
        theirs, ours = model.metadata.get("corpus") or {}, self.corpus.metadata.origin
        return any(theirs.get(key) != ours.get(key) for key in ("inputs", "options"))

    def command(self, stage: str) -> list[object]:
        """The command of a stage that is one by ``--stage`` alone.

        Args:
            stage: Its name.
        """
        options = self.options
        models = [word for name, folder in options.models.items() for word in ("--model", f"{name}={folder}")]
        given = {
            "systems": ",".join(name for name in options.names if name not in options.models) or None,
            "candidates": options.candidates,
            "judgements": options.judgements,
            "aspect": options.aspect,
            "scale": options.scale,
            "judged-scale": options.judged_scale,
            "weights": options.weights,
            "seed": options.seed,
            "stage": stage,
        }
        return ["study", "comments", "--corpus", self.folder, "--out", self.out, *models, *flags(given)]
