"""`postil study uses`: what else a corpus of articles and comments is good for (Qin et al. 2018, section 6).

Comment ranking, upvote prediction and headlines, each with the baselines that it has to beat. Each stage writes files
and prints the command that does the same.
"""

from __future__ import annotations

from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from postil.comments.call_options import CommentOptions
from postil.comments.options import GeneratorTraining, GeneratorTrainOptions
from postil.corpus.store import Corpus
from postil.data.explain import counted
from postil.data.progress import OnMessage, progress
from postil.data.row_files import read, write
from postil.data.rows import Candidate, Reference
from postil.errors import Undefined
from postil.messages import Command, Message
from postil.results.base import replace
from postil.results.page.report import check_report
from postil.studies.comments.study import suggest, suggested_texts
from postil.studies.result import StudyPart, StudyResult, StudyRow, StudyTable
from postil.studies.stages import (
    Stage,
    Stages,
    as_line,
    read_result,
    report_stage,
    settings_of,
    words_of,
    write_result,
    write_study,
)
from postil.studies.uses.titles import GENERATORS, Untitled, baseline_titles, read_untitled, titles_part
from postil.studies.uses.votes import Threads, ranking_part, read_threads, votes_part
from postil.studies.view import cell_text
from postil.training.generators import train_commenter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from postil.studies.options import UsesOptions

__all__ = ["study_uses"]

TITLE: Final = "Other uses of a corpus of articles and comments"
PARTS: Final = ("ranking", "votes", "titles")
KIND: Final = "att"
"""The generator of titles."""


def study_uses(folder: str, out: Path, options: UsesOptions, on_message: OnMessage) -> Path:
    """Run the stages of the study that are not done yet.

    Args:
        folder: A corpus with a test set whose comments have votes.
        out: Output folder.
        options: Options of the study.
        on_message: Callback for status messages.

    Returns:
        The page.

    Raises:
        UsageError: There is no test set, there are no votes, or more folds than articles.
        UnknownName: There is no such stage.
        InvalidInput: The corpus or a model is invalid.
        MissingExtra: An optional package is not installed.
        PostilError: The operating system reports an error, or a training fails.
    """
    study = UsesStudy(Corpus.open(folder), out, options, on_message)
    stages = Stages(out, on_message, options.stage)
    page = out / "report.html"
    check_report(page)  # before any stage runs
    (out / "models").mkdir(exist_ok=True)
    (out / "suggestions").mkdir(exist_ok=True)
    stages.finish(study.stages())
    return page


class UsesStudy:
    """The stages of the study.

    Args:
        corpus: The corpus.
        out: Output folder.
        options: Options of the study.
        on_message: Callback for status messages.
    """

    def __init__(self, corpus: Corpus, out: Path, options: UsesOptions, on_message: OnMessage) -> None:
        self.corpus, self.out, self.options, self.on_message = corpus, out, options, on_message

    def stages(self) -> Iterator[Stage]:
        """The stages, in order."""
        yield self._part("ranking", ranking_part)
        yield self._part("votes", votes_part)
        if isinstance(self.untitled, Untitled):
            yield from self._headlines(self.untitled)
        yield self._tables()
        yield report_stage(self.out / "report.html", [self.out / "study.json"], self.on_message)

    @cached_property
    def threads(self) -> Threads:
        """The threads of the test articles."""
        return read_threads(self.corpus, self.options.model, self.options.jobs, self.on_message)

    def _part(self, name: str, make: Callable[[Threads, UsesOptions], StudyPart]) -> Stage:
        """A stage that writes a part of the study as a study of its own."""
        target, options = self.out / f"{name}.json", self.options
        return Stage(
            name=name,
            outputs=[target],
            inputs=[self._folder, *([Path(options.model)] if options.model else [])],
            request={"folds": options.folds, "resamples": options.resamples, "seed": options.seed},
            command=self._command(name),
            work=partial(write_result, target, lambda: self._study((make(self.threads, options),))),
        )

    def _study(self, parts: tuple[StudyPart, ...]) -> StudyResult:
        return StudyResult(name=self._folder.name, title=TITLE, parts=parts)

    @cached_property
    def untitled(self) -> Untitled | str:
        """The test articles without titles, or the reason why there are none."""
        try:
            return read_untitled(self.corpus)
        except Undefined as error:
            return error.message

    def _headlines(self, untitled: Untitled) -> Iterator[Stage]:
        yield self._untitled(untitled)
        generators = untitled.generators if self.options.train else {}
        for name in generators:
            yield self._training(name)
            yield self._suggestions(name)
        yield self._candidates(untitled, list(generators))
        yield self._titles()

    def _untitled(self, untitled: Untitled) -> Stage:
        """Write the test articles without titles, and their titles as references."""
        articles, references = self.out / "articles.jsonl", self.out / "references.jsonl"

        def work() -> None:
            write(articles, untitled.articles)
            write(references, untitled.titles)

        return Stage(
            name="articles",
            outputs=[articles, references],
            inputs=[self._folder],
            request={},
            command=self._command("articles"),
            work=work,
        )

    def _training(self, name: str) -> Stage:
        """Train a generator of titles."""
        target, options, source = self.out / "models" / name, self.options, GENERATORS[name]
        training = GeneratorTraining(epochs=options.epochs, device=options.device)
        asked = GeneratorTrainOptions(source=source, target="title", training=training, seed=options.seed)
        places = {"corpus": self._folder, "out": target}
        words = {"source": source, "target": "title", "epochs": options.epochs}
        settings = settings_of({**places, **words, "device": options.device, "seed": options.seed})
        return Stage(
            name=name,
            outputs=[target],
            inputs=[self._folder],
            request={"train": words_of(settings_of(words)), "seed": options.seed},
            command=as_line(Command(f"train {KIND}", settings=settings)),
            work=partial(
                train_commenter,
                KIND,
                self._folder,
                target,
                asked,
                on_message=self.on_message,
                on_progress=progress,
            ),
        )

    def _suggestions(self, name: str) -> Stage:
        """Generate a title for each article."""
        target, model, articles = self._suggested(name), self.out / "models" / name, self.out / "articles.jsonl"
        return Stage(
            name=f"suggestions-{name}",
            outputs=[target],
            inputs=[articles, model],
            request={},
            command=as_line(
                Command("comment", (str(articles),), settings_of({"model": model, "k": 1, "format": "jsonl"}))
            ),
            printed=True,
            work=lambda: suggest(articles, model, CommentOptions(k=1, jobs=self.options.jobs), target),
        )

    def _suggested(self, name: str) -> Path:
        return self.out / "suggestions" / f"{name}.jsonl"

    def _candidates(self, untitled: Untitled, generators: Sequence[str]) -> Stage:
        """Merge the titles of all systems into one file; an empty text where a system has none."""
        target = self.out / "candidates.jsonl"
        sources = {name: self._suggested(name) for name in generators}

        def work() -> None:
            write(target, [*suggested_texts(sources), *baseline_titles(self.corpus, untitled, self.options.jobs)])

        return Stage(
            name="candidates",
            outputs=[target],
            inputs=[self._folder, self.out / "articles.jsonl", *sources.values()],
            request={"systems": list(sources)},
            command=self._command("candidates"),
            work=work,
        )

    def _titles(self) -> Stage:
        """Score the titles."""
        target, options = self.out / "titles.json", self.options
        candidates, references = self.out / "candidates.jsonl", self.out / "references.jsonl"

        def study() -> StudyResult:
            rows = list(read(candidates, Candidate)), list(read(references, Reference))
            return self._study((titles_part(self.corpus, *rows, options),))

        return Stage(
            name="titles",
            outputs=[target],
            inputs=[self._folder, candidates, references],
            request={"resamples": options.resamples, "seed": options.seed},
            command=self._command("titles"),
            work=partial(write_result, target, study),
        )

    def _tables(self) -> Stage:
        missing = self.untitled if isinstance(self.untitled, str) else ""
        inputs = [self.out / f"{name}.json" for name in PARTS if not missing or name != "titles"]

        def work() -> None:
            none = StudyPart(key="headlines", title="Headlines", words=(Message("None: {reason}.", reason=missing),))
            made = (part for path in inputs for part in read_result(path, StudyResult).parts)
            parts = (*made, *([none] if missing else []))
            study = replace(self._study(parts), conclusion=tuple(_conclusion(parts)), settings=self._settings())
            write_study(self.out, study)

        return Stage(
            name="tables",
            outputs=[self.out / "study.json", self.out / "study.md"],
            inputs=inputs,
            request={"settings": self._settings()},
            command=self._command("tables"),
            work=work,
        )

    def _settings(self) -> tuple[tuple[str, str], ...]:
        options = self.options
        settings = {
            "corpus": str(self._folder),
            "tokenizer": self.corpus.tokenizer,
            "model for relevance": options.model or "none",
            "folds": f"{options.folds}, of whole articles",
            "resamples": f"{options.resamples:,} of the articles",
            "seed": str(options.seed),
            "generators of titles": f"{KIND}, at most {counted(options.epochs, 'epoch')}" if options.train else "none",
        }
        return tuple(settings.items())

    @property
    def _folder(self) -> Path:
        return Path(self.corpus.path)

    def _command(self, stage: str) -> str:
        options = self.options
        given = {
            "corpus": self._folder,
            "out": self.out,
            "model": options.model,
            "folds": options.folds,
            "resamples": options.resamples,
            "seed": options.seed,
            "stage": stage,
            "train": None if options.train else False,
        }
        return as_line(Command("study uses", settings=settings_of(given)))


def _conclusion(parts: Sequence[StudyPart]) -> Iterator[str]:
    """Conclusions of the study, one sentence per part.

    Args:
        parts: Its parts.

    Yields:
        The sentences.
    """
    tables = {table.key: table for part in parts for table in part.tables}
    ranking, votes, variance = (tables[key] for key in ("ranking-gains", "votes-gains", "variance"))
    at_5, pairs = (_cell(ranking, ranking.rows[0], name) for name in ("nDCG@5", "pairs in order"))
    pooled, within = (_cell(votes, votes.rows[0], name) for name in ("R², all comments", "R², within threads"))
    between = _cell(variance, variance.rows[0], "share")
    base = ranking.rows[0].name.partition(" − ")[2]
    yield f"Comment ranking: over {base}, the text adds {at_5} to nDCG@5 and {pairs} to the share of pairs in order."
    yield (
        f"Upvote prediction: over {base}, the text adds {pooled} to R² over all comments and {within} within threads. "
        f"Share of the variance of votes that is between articles: {between}."
    )
    if titles := tables.get("titles"):
        best = max(titles.rows, key=lambda row: _first(row, titles, "rouge-l"))
        yield f"Headlines: {best.name} has the highest ROUGE-L, {_cell(titles, best, 'rouge-l')}."


def _cell(table: StudyTable, row: StudyRow, column: str) -> str:
    """A value with its interval, as text."""
    return " ".join(cell_text(row.cells[table.head.index(column) - 1], row.digits)).strip()


def _first(row: StudyRow, table: StudyTable, column: str) -> float:
    """The value of a cell with an interval; 0 where there is none."""
    cell = row.cells[table.head.index(column) - 1]
    return cell[0] if isinstance(cell, tuple) else 0.0
