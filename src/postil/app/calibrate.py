"""`postil calibrate`: the filter learned from labels, and the precision that it gives at each coverage."""

from __future__ import annotations

import hashlib
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
import numpy as np

from postil.app.options import InputOptions, SeedOptions, ThreadOptions
from postil.commenters.model_changes import changing
from postil.commenters.retrieval import Retriever
from postil.commenters.show_filter import FILE, ShowFilter, Threshold
from postil.commenters.store import ModelWriter, check_free
from postil.corpus.store import Corpus
from postil.errors import InvalidInput, Undefined
from postil.metaeval.label_fit import fit_labels
from postil.options import Flag, options
from postil.records.labels import Label, majority
from postil.records.results import CalibrationResult, Excluded, ShowColumn
from postil.records.row_files import read
from postil.records.rows import Article

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.app.progress import OnMessage
    from postil.metaeval.label_fit import LabelFit
    from postil.records.row_files import FilePath

__all__ = [
    "CalibrateOptions",
    "articles_of",
    "calibrate_files",
    "calibrate_model",
    "fit_model_labels",
    "read_labels",
]

EXAMPLES: Final = 5
"""Number of excluded labels that are named."""


@options
class CalibrateOptions(SeedOptions, ThreadOptions):
    """Options of `postil calibrate`.

    Args:
        articles: The articles of the labels, where the rows of labels have no titles; a table of any format.
        out: Folder to write the calibrated model to; by default the model itself is changed.
        resamples: Number of resamples of the articles, for confidence intervals.
    """

    articles: Annotated[str | None, Flag(metavar="FILE")] = None
    out: Annotated[str | None, Flag(("--out", "-o"), metavar="DIR")] = None
    resamples: Annotated[int, Flag(min=1)] = 1000


@dataclass(frozen=True, slots=True)
class _Answer:
    """The answer that stands for a text under an article."""

    article: str
    text: str
    show: bool


def calibrate_files(
    model: str,
    labels: Sequence[str],
    options: CalibrateOptions,
    *,
    inputs: InputOptions | None = None,
    on_message: OnMessage = lambda _: None,
) -> CalibrationResult:
    """Fit a model's filter to labels, and keep it in the model's folder.

    Args:
        model: The folder of a model ``ir-t`` or ``ir-tc``.
        labels: Files of label rows.
        options: Options of the command.
        inputs: Options of reading the files.
        on_message: Callback for status messages.

    Returns:
        The result; without a filter and with the reason where the labels allow none, and then nothing is written.

    Raises:
        InvalidInput: A file or the model is invalid, or no label is of this model.
        UsageError: The model generates comments, or the folder to write exists.
        PostilError: The operating system reports an error.
    """
    if options.out is not None:
        check_free(options.out)
    rows = read_labels(labels, inputs, on_message)
    articles: dict[str, Article] = {}
    if options.articles is not None:
        given = (inputs or InputOptions()).readings({"labels": Label, "articles": Article}, on_message)
        articles = {article.id: article for article in read(options.articles, Article, given["articles"])}
    return calibrate_model(model, rows, articles, options, where=labels[0], on_message=on_message)


def calibrate_model(
    model: str,
    labels: Sequence[Label],
    articles: Mapping[str, Article],
    options: CalibrateOptions,
    *,
    where: str = "labels",
    on_message: OnMessage = lambda _: None,
) -> CalibrationResult:
    """Fit a model's filter to labels; see `calibrate_files`.

    Args:
        model: The folder of a model ``ir-t`` or ``ir-tc``.
        labels: The labels.
        articles: Articles by id, for labels without a title.
        options: Options of the command, whose files are not read.
        where: Name of the labels, for messages.
        on_message: Callback for status messages.
    """
    with changing(model) if options.out is None else nullcontext(Path(model)) as folder:
        retriever = Retriever.open(folder, jobs=options.jobs)
        result, learned = fit_model_labels(
            retriever, labels, articles, resamples=options.resamples, seed=options.seed, where=where
        )
        if learned is not None:
            _write(retriever, learned, options.out)
            to = options.out or model
            on_message(f"filter in {to}; go on with: postil comment ARTICLES --model {to} --coverage .3")
        elif options.out is not None:
            on_message(f"{options.out} is not written: these labels make no filter")
        elif (kept := retriever.show_filter) is not None:
            on_message(f"{model} keeps the filter that it has, of {kept.labels:,} labels")
        else:
            on_message(f"{model} is not changed: these labels make no filter")
    return result


def articles_of(corpus: FilePath, labels: Iterable[Label]) -> dict[str, Article]:
    """Find the articles of labels without a title in a corpus, whatever their split.

    Args:
        corpus: The corpus.
        labels: The labels.

    Raises:
        InvalidInput: The corpus is damaged.
    """
    wanted = {label.article for label in labels if label.title is None}
    if not wanted:
        return {}
    opened = Corpus.open(corpus)
    splits = (opened.articles(split) for split in opened.splits)
    return {article.id: article for split in splits for article in split if article.id in wanted}


def read_labels(files: Sequence[str], inputs: InputOptions | None, on_message: OnMessage) -> list[Label]:
    """Read files of label rows.

    Args:
        files: The files; ``-`` for standard input.
        inputs: Options of reading them.
        on_message: Callback for status messages.

    Raises:
        InvalidInput: A row is invalid; names it.
    """
    given = (inputs or InputOptions()).readings({"labels": Label, "articles": Article}, on_message)
    return [row for file in files for row in read(file, Label, given["labels"])]


def fit_model_labels(
    retriever: Retriever,
    labels: Sequence[Label],
    articles: Mapping[str, Article],
    *,
    resamples: int,
    seed: int,
    where: str = "labels",
) -> tuple[CalibrationResult, ShowFilter | None]:
    """Fit the filter of a model to labels.

    Several answers about one text are one: that of most annotators, of whom each counts with the last answer.

    Args:
        retriever: The model.
        labels: The labels.
        articles: Articles by id, for labels without a title.
        resamples: Number of resamples of the articles, for intervals.
        seed: Random seed.
        where: Name of the labels, for messages.

    Returns:
        The result, and the filter; None where the labels allow none.

    Raises:
        InvalidInput: No label is of a known article, or of a comment that the model has.
    """
    found = {**articles, **{each.article: _article(each) for each in reversed(labels) if each.title is not None}}
    answers, excluded = _answers(labels, found, retriever)
    pool, wanted = retriever.pool.texts, {each.text for each in answers}
    stored = {text for text in map(pool.__getitem__, range(len(pool))) if text in wanted}
    if not stored:
        problem = (
            f"none of {len(labels):,} labels is of a known article and of a comment that {retriever.model.path} has"
        )
        raise InvalidInput(f"{problem}; give --articles, or the labels of this model", where=where)
    others = [f"{each.article}: {each.text}" for each in answers if each.text not in stored]
    if others:
        why = "label of a text that no comment of the model is; used all the same"
        excluded.append(Excluded(why=why, n=len(others), examples=tuple(others[:EXAMPLES])))
    columns, numbers = _rows(retriever, answers, found)
    shown = np.array([each.show for each in answers])
    names = retriever.show_columns
    deepest = max((label.rank or 1 for label in labels), default=1)
    digest = hashlib.sha256(msgspec.json.encode([(each.article, each.text, each.show) for each in answers]))
    result = CalibrationResult(
        labels=len(answers),
        articles=int(numbers.max()) + 1,
        shown=int(shown.sum()),
        labels_hash=digest.hexdigest()[:16],
        excluded=tuple(excluded),
        resamples=resamples,
        seed=seed,
    )
    try:
        fit = fit_labels(columns, columns[:, 0], shown, numbers, resamples=resamples, seed=seed)
    except Undefined as error:
        return msgspec.structs.replace(result, reason=str(error)), None
    learned = ShowFilter(
        columns=names,
        logistic=fit.logistic,
        slope=fit.slope,
        offset=fit.offset,
        depth=fit.depth,
        thresholds=tuple(
            Threshold(threshold=each.threshold, coverage=each.coverage, precision=each.pooled) for each in fit.points
        ),
        labels=len(answers),
        labels_hash=result.labels_hash,
    )
    return _reported(result, fit, names, deepest), learned


def _article(label: Label) -> Article:
    return Article(label.article, label.title or "", (), content=label.content, lang=label.lang)


def _answers(
    labels: Sequence[Label], articles: Mapping[str, Article], retriever: Retriever
) -> tuple[list[_Answer], list[Excluded]]:
    """One answer per article and text, sorted; and the labels that are not in it."""
    known: list[Label] = []
    unknown: list[str] = []
    for label in labels:
        article = articles.get(label.article)
        if article is None or not retriever.has_input(article):
            unknown.append(f"{label.article}: {label.text}")
        else:
            known.append(label)
    given, ties = majority(known)
    answers = [_Answer(article_id, text, show) for (article_id, text), show in given.items()]
    return answers, [
        Excluded(why=why, n=len(rows), examples=tuple(rows[:EXAMPLES]))
        for why, rows in (
            ("label of an unknown article, or one without a word", unknown),
            ("text that as many would show as would not", ties),
        )
        if rows
    ]


def _rows(
    retriever: Retriever, answers: Sequence[_Answer], articles: Mapping[str, Article]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The columns of each answer, and the number of its article."""
    texts: dict[str, list[str]] = {}
    for each in answers:
        texts.setdefault(each.article, []).append(each.text)
    rows = retriever.show_rows([articles[each] for each in texts], list(texts.values()))
    return np.concatenate(rows), np.repeat(np.arange(len(rows)), [len(each) for each in rows])


def _reported(result: CalibrationResult, fit: LabelFit, names: Sequence[str], deepest: int) -> CalibrationResult:
    notes = []
    if deepest > fit.depth:
        drawn = f"the labels of an article are drawn among its first {deepest} suggestions"
        notes.append(f"{drawn}, and comment chooses from the first {fit.depth}, which may be better than these")
    if fit.auc.low is not None and fit.auc.low <= 0.5:
        notes.append("the interval of the AUC holds .5: these labels do not show that the filter is better than chance")
    weights = sorted(zip(names, fit.logistic.weights.tolist(), strict=True), key=lambda pair: -abs(pair[1]))
    return msgspec.structs.replace(
        result,
        depth=fit.depth,
        penalty=fit.penalty,
        base_rate=fit.base_rate,
        first_rate=fit.first_rate,
        auc=fit.auc,
        ranker_auc=fit.ranker_auc,
        points=fit.points,
        columns=tuple(ShowColumn(name=name, weight=weight) for name, weight in weights),
        notes=tuple(notes),
    )


def _write(retriever: Retriever, learned: ShowFilter, out: FilePath | None) -> None:
    """Write a model with a filter: its other files are shared with the model as it is."""
    model = retriever.model
    about: Mapping[str, object] = {"labels": learned.labels, "hash": learned.labels_hash}
    metadata = {**model.metadata, "calibration": about}
    with ModelWriter(out or model.path, model.kind, model.config, metadata, replace=out is None) as new:
        new.path(FILE).write_bytes(learned.encoded())
        new.link(model, without=[FILE])
