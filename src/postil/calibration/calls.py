"""`postil calibrate` and `postil.calibrate`: the filter learned from labels, and its precision at each coverage."""

from __future__ import annotations

import hashlib
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Unpack

import msgspec
import numpy as np

from postil.calibration.encoder import encoded, encoding_work
from postil.calibration.fit import LabelFit, fit_labels
from postil.calibration.options import CalibrateOptions
from postil.calibration.result import CalibrationResult, FilterComparison, ShowColumn
from postil.comments.articles import checked_articles
from postil.comments.retrieval import Retriever
from postil.comments.sentence_vectors import MODEL, NUMBERS, SIGNATURE, drop_encoded
from postil.comments.show_filter import COVERAGE, DEPTH, FILE, FORMAT, ShowFilter, Threshold
from postil.corpus.store import Corpus
from postil.data.arguments import check_arguments, options_of
from postil.data.atomic_file import check_folder
from postil.data.explain import counted
from postil.data.fields import plain_id
from postil.data.frames import ColumnNames, open_rows
from postil.data.groups import grouped
from postil.data.model_folders import ModelWriter, changing, training_folder
from postil.data.options import InputOptions
from postil.data.parts import Excluded
from postil.data.row_files import read
from postil.data.rows import Article, Draft
from postil.data.suggestions import REPLACED, TIED, Label, majority
from postil.encoders.encoder_options import is_address
from postil.errors import InvalidInput, Undefined
from postil.messages import Blank, Command, Message, Setting
from postil.meta.resampling import Draws

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from postil.corpus.passes import OnProgress
    from postil.data.frames import Table
    from postil.data.progress import OnMessage
    from postil.data.streams import FilePath
    from postil.endpoint.dry_run import DryRunResult
    from postil.endpoint.limits import Price
    from postil.kernel.arrays import Floats, Int64s
    from postil.keywords import CalibrateKeywords

__all__ = [
    "calibrate",
    "calibrate_files",
    "calibrate_model",
    "estimate_calibration",
    "fit_model_labels",
    "match_labels",
    "read_labels",
]

_UNKNOWN: Final = "label of an unknown article, or one without a word"
_NO_COMMENT: Final = "label of a text that no comment of the model is"


def calibrate(
    model: FilePath,
    labels: Table,
    articles: Table | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    missing: Sequence[str] = (),
    options: CalibrateOptions | None = None,
    **keywords: Unpack[CalibrateKeywords],
) -> CalibrationResult:
    """Learn from labels which suggestions of a model are worth showing, and keep that in the model's folder.

    Args:
        model: Folder of a model ``ir-t`` or ``ir-tc``.
        labels: Table of labels: article, text, show, and optionally reason, annotator, rank, title, content.
        articles: Table of the articles of the labels, for labels without a title; by default ``options.articles``.
        columns: Columns of the tables by field, such as ``{"show": "good", "articles.title": "headline"}``.
        missing: Texts of cells that hold no value, such as ``["n/a"]``; ``"articles=n/a"`` is of that table alone.
        options: Options; by default those of the command. Their ``out`` is another folder to write.
        keywords: Fields of the options, in place of an object.

    Returns:
        Precision against coverage with intervals, on articles that the fit has not seen. Where the labels allow no
        filter, the ``reason``; nothing is written then.

    Raises:
        InvalidInput: A table or the model is invalid, or no label is of a known article and of a comment of the model.
        UsageError: The folder to write exists, or the model is being changed.
        MissingExtra: The ranker needs torch, which is not installed.
        PostilError: The operating system reports an error.
    """
    check_arguments(calibrate, locals())
    options = options_of(CalibrateOptions, options, keywords)
    if options.out is not None:
        check_folder(options.out)
    names = ColumnNames({"labels": Label, "articles": Draft}, columns, missing=missing)
    opened = open_rows(labels, Label, "labels", names)
    where = opened.places.where
    rows = _some(list(opened), where)
    found = options.articles if articles is None else articles
    known = () if found is None else checked_articles(open_rows(found, Draft, "articles", names))
    return calibrate_model(model, rows, {article.id: article for article in known}, options, where=where)


def calibrate_files(
    model: str,
    labels: Sequence[str],
    options: CalibrateOptions,
    *,
    inputs: InputOptions | None = None,
    on_message: OnMessage = lambda _: None,
    on_progress: OnProgress = lambda _what, things, _total=None: nullcontext(iter(things)),
) -> CalibrationResult:
    """Fit a model's filter to labels, and keep it in the model's folder.

    Args:
        model: The folder of a model ``ir-t`` or ``ir-tc``.
        labels: Files of label rows.
        options: Options of the command.
        inputs: Options of reading the files.
        on_message: Callback for status messages.
        on_progress: Progress bar.

    Returns:
        The result; without a filter and with the reason where the labels allow none, and then nothing is written.

    Raises:
        InvalidInput: A file or the model is invalid, or no label is of this model.
        UsageError: The model generates comments, or the folder to write exists.
        PostilError: The operating system reports an error.
    """
    if options.out is not None:
        check_folder(options.out)
    rows, articles = _label_files(labels, options, inputs, on_message)
    where = ", ".join(labels)
    return calibrate_model(model, rows, articles, options, where=where, on_message=on_message, on_progress=on_progress)


def calibrate_model(
    model: FilePath,
    labels: Sequence[Label],
    articles: Mapping[str, Article],
    options: CalibrateOptions,
    *,
    where: str = "labels",
    on_message: OnMessage = lambda _: None,
    on_progress: OnProgress = lambda _what, things, _total=None: nullcontext(iter(things)),
) -> CalibrationResult:
    """Fit a model's filter to labels; see `calibrate_files`.

    Args:
        model: The folder of a model ``ir-t`` or ``ir-tc``.
        labels: The labels.
        articles: Articles by id, for labels without a title.
        options: Options of the command, whose files are not read.
        where: Name of the labels, for messages.
        on_message: Callback for status messages.
        on_progress: Progress bar.
    """
    with changing(model) if options.out is None else nullcontext(Path(model)) as folder:
        retriever = Retriever.open(folder, jobs=options.jobs)
        if options.encoder is not None:
            retriever = encoded(retriever, options, on_message, on_progress)
        result, learned = fit_model_labels(
            retriever, labels, articles, Draws(resamples=options.resamples, seed=options.seed), where=where
        )
        if learned is not None:
            _write(retriever, learned, options.out)
            drop_encoded(training_folder(options.out or folder))
            to = options.out or model
            kind = "filter" if result.filter == "learned" else "the ranker's score, calibrated, is the filter"
            settings = [Setting("model", f"{to}"), Setting("coverage", ".3")]
            if is_address(options.encoder or ""):
                settings.append(Setting("encoder", options.encoder))
            on_message(
                Message(
                    "{kind} in {to}; go on with: {command}",
                    kind=kind,
                    to=f"{to}",
                    command=Command("comment", (Blank("ARTICLES"),), tuple(settings)),
                )
            )
        elif options.out is not None:
            on_message(f"{options.out} is not written: these labels make no filter")
        elif (kept := retriever.show_filter) is not None:
            on_message(f"{model} keeps the filter that it has, of {counted(kept.labels, 'label')}")
        else:
            on_message(f"{model} is not changed: these labels make no filter")
    return result


def _label_files(
    labels: Sequence[str], options: CalibrateOptions, inputs: InputOptions | None, on_message: OnMessage
) -> tuple[list[Label], dict[str, Article]]:
    """The labels of files, and the articles of the options by id."""
    rows = read_labels(labels, inputs, on_message)
    if options.articles is None:
        return rows, {}
    given = (inputs or InputOptions()).readings({"labels": Label, "articles": Draft}, on_message)
    known = checked_articles(read(options.articles, Draft, given["articles"]), on_message=on_message)
    return rows, {article.id: article for article in known}


def read_labels(files: Sequence[str], inputs: InputOptions | None, on_message: OnMessage) -> list[Label]:
    """Read files of label rows.

    Args:
        files: The files; ``-`` for standard input.
        inputs: Options of reading them.
        on_message: Callback for status messages.

    Raises:
        InvalidInput: A row is invalid, which is named, or none has an answer.
    """
    given = (inputs or InputOptions()).readings({"labels": Label, "articles": Draft}, on_message)
    return _some([row for file in files for row in read(file, Label, given["labels"])], ", ".join(files))


def _some(labels: list[Label], where: str) -> list[Label]:
    """Refuse a table of which no row has an answer."""
    if not labels:
        raise InvalidInput("expected at least one label with an answer, got none", where=where)
    return labels


def estimate_calibration(
    model: str,
    labels: Sequence[str],
    options: CalibrateOptions,
    price: Price | None = None,
    *,
    inputs: InputOptions | None = None,
    on_message: OnMessage = lambda _: None,
) -> DryRunResult:
    """Estimate what `calibrate_files` would ask of the endpoint of an encoder; nothing is asked.

    Vectors that the model or an interrupted run has of an encoder of this name are taken as those of the same one.

    Args:
        model: The folder of a model ``ir-t`` or ``ir-tc``.
        labels: Files of label rows.
        options: Options of the command.
        price: Price of tokens.
        inputs: Options of reading the files.
        on_message: Callback for status messages.

    Raises:
        InvalidInput: A file, the model or the corpus is invalid.
        UsageError: The encoder is behind no endpoint, its name there or the corpus is missing, or the model generates
            comments.
        MissingExtra: httpx2 is not installed.
    """
    rows, articles = _label_files(labels, options, inputs, on_message)
    known = {**articles, **_titled(rows)}
    asked = [known[name] for name in dict.fromkeys(row.article for row in rows) if name in known]
    return encoding_work(Retriever.open(model, jobs=options.jobs), asked, options, price, on_message)


def _write(retriever: Retriever, learned: ShowFilter, out: FilePath | None) -> None:
    """Write a model with a filter: its other files are shared with the model as it is."""
    model, sentences = retriever.model, retriever.sentences
    about: Mapping[str, object] = {"labels": learned.labels, "hash": learned.labels_hash}
    metadata = {**model.metadata, "calibration": about}
    fresh = sentences is not None and sentences.signature != model.config.get(SIGNATURE)
    config = dict(model.config)
    if sentences is not None:
        config.pop(MODEL, None)  # of an encoder behind an endpoint, in whose place may be another one
        config |= sentences.settings()
    with ModelWriter(out or model.path, model.kind, config, metadata, replace=out is None) as new:
        new.path(FILE).write_bytes(learned.encoded())
        if fresh and sentences is not None:
            sentences.save(new)
        before = [name for name in model.files if name.startswith("encoder/")] if fresh else []
        new.share(model, without=[FILE, *before])


def match_labels(
    labels: Sequence[Label], *, corpus: FilePath | None, model: FilePath | None, where: str
) -> dict[str, Article]:
    """Find the articles of labels in a corpus, and check that labels are of its comments, before it is trained on.

    Args:
        labels: The labels.
        corpus: The corpus that a model is trained on or gets the articles of; None for none.
        model: The model that gets the articles, whatever their split; None for one that is trained on those of train.
        where: Name of the labels, for messages.

    Returns:
        Articles by id, of labels without a title.

    Raises:
        InvalidInput: No label is of a known article and of a comment that the model will have; or the corpus or the
            model is damaged.
    """
    untitled = {label.article for label in labels if label.title is None}
    texts = {label.text for label in labels}
    articles: dict[str, Article] = {}
    stored: set[str] = set()
    if model is not None:
        stored |= texts.intersection(Retriever.open(model).pool.texts)
    if corpus is not None:
        opened = Corpus.open(corpus)
        for split in opened.splits:
            for article in opened.articles(split):
                if article.id in untitled:
                    articles[article.id] = article
                if model is not None or split == "train":
                    stored |= texts.intersection(comment.text for comment in article.comments)
    known = [label for label in labels if label.title is not None or label.article in articles]
    if not any(label.text in stored for label in known):
        reasons = ((_UNKNOWN, len(labels) - len(known)), (_NO_COMMENT, len(known)))
        remedy = "labels of its suggestions, with titles"
        remedy += f" or of articles of {corpus}" if corpus is not None else ""
        raise _no_label(len(labels), str(model or corpus), reasons, remedy, where)
    return articles


def _no_label(labels: int, of: str, reasons: Iterable[tuple[str, int]], remedy: str, where: str) -> InvalidInput:
    """The error for labels of which none can be fitted."""
    why = ", ".join(f"{reason}: {count:,}" for reason, count in reasons if count)
    problem = f"none of {labels:,} labels is of a known article and of a comment of {of} ({why})"
    return InvalidInput(Message("{problem}; give {remedy}", problem=problem, remedy=remedy), where=where)


def fit_model_labels(
    retriever: Retriever,
    labels: Sequence[Label],
    articles: Mapping[str, Article],
    draws: Draws,
    *,
    where: str = "labels",
) -> tuple[CalibrationResult, ShowFilter | None]:
    """Fit the filter of a model to labels.

    Several answers about one text are one: that of most annotators, of whom each counts with the last answer.

    Args:
        retriever: The model.
        labels: The labels.
        articles: Articles by id, for labels without a title.
        draws: Random draws of the articles, for intervals.
        where: Name of the labels, for messages.

    Returns:
        The result, and the filter; None where the labels allow none.

    Raises:
        InvalidInput: No label is of a known article, or of a comment that the model has.
    """
    found = {**articles, **_titled(labels)}
    answers, excluded = _answers(labels, found, retriever)
    stored = {text for _, text in answers}.intersection(retriever.pool.texts)
    others = [f"{article}: {text}" for article, text in answers if text not in stored]
    if not stored:
        reasons = [*((each.why, each.n) for each in excluded), (_NO_COMMENT, len(others))]
        remedy = Message("labels of its suggestions")
        if any(each.why == _UNKNOWN for each in excluded):
            remedy = Message(
                "the articles of the labels ({articles}), or labels of its suggestions with titles",
                articles=Setting("articles", Blank("FILE"), json="by their titles"),
            )
        raise _no_label(len(labels), str(retriever.model.path), reasons, remedy, where)
    if others:
        used = "; used all the same" if retriever.sentences is None else ", which has no source to read"
        excluded.append(Excluded.of(f"{_NO_COMMENT}{used}", others))
    if retriever.sentences is not None:
        answers = {of: show for of, show in answers.items() if of[1] in stored}
    labeled = _Labeled.of(retriever, answers, found)
    shown, names = np.array(list(answers.values())), retriever.show_columns
    deepest = max((label.rank or 1 for label in labels), default=1)
    digest = hashlib.sha256(msgspec.json.encode([(*of, show) for of, show in answers.items()], enc_hook=plain_id))
    result = CalibrationResult(
        labels=len(answers),
        articles=int(labeled.article.max()) + 1,
        shown=int(shown.sum()),
        labels_hash=digest.hexdigest()[:16],
        excluded=tuple(excluded),
        resamples=draws.resamples,
        seed=draws.seed,
    )
    try:
        fit = fit_labels(labeled.columns, shown, labeled.article, draws, first=labeled.first, blocks=_blocks(names))
    except Undefined as error:
        return msgspec.structs.replace(result, reason=error.message), None
    linear = fit.kept.logistic
    learned = ShowFilter(
        format=FORMAT,
        columns=tuple(names[at] for at in fit.kept.columns.tolist()),
        mean=tuple(linear.mean.tolist()),
        scale=tuple(linear.scale.tolist()),
        weights=tuple(linear.weights.tolist()),
        intercept=linear.intercept,
        slope=fit.kept.slope,
        offset=fit.kept.offset,
        depth=fit.depth,
        thresholds=tuple(
            Threshold(
                threshold=each.threshold,
                coverage=each.coverage,
                precision=each.pooled,
                measured=each.precision,
                low=each.low,
                high=each.high,
            )
            for each in fit.points
        ),
        labels=len(answers),
        labels_hash=result.labels_hash,
        reorders=fit.reorders,
    )
    return _reported(result, fit, names, deepest), learned


def _titled(labels: Sequence[Label]) -> dict[str, Article]:
    """The articles of labels that have a title, by id; of several ones the first."""
    return {
        each.article: Article(each.article, each.title, (), content=each.content, lang=each.lang)
        for each in reversed(labels)
        if each.title is not None
    }


def _answers(
    labels: Sequence[Label], articles: Mapping[str, Article], retriever: Retriever
) -> tuple[Mapping[tuple[str, str], bool], list[Excluded]]:
    """The answers by article and text, sorted; and the labels that are not in them."""
    known: list[Label] = []
    unknown: list[str] = []
    for label in labels:
        article = articles.get(label.article)
        if article is None or not retriever.has_input(article):
            unknown.append(f"{label.article}: {label.text}")
        else:
            known.append(label)
    found = majority(known)
    left = ((_UNKNOWN, unknown), (REPLACED, found.replaced), (TIED, found.ties))
    return found.answers, [Excluded.of(why, rows) for why, rows in left if rows]


@dataclass(frozen=True, slots=True, eq=False)
class _Labeled:
    """Columns of the labels and first suggestions that a filter is fitted to.

    Args:
        columns: float64[n, m], of the labeled texts.
        article: int64[n], the number of each text's article.
        first: For each article float64[k, m], of its first suggestions, where a filter may choose among them; none
            where it reads no sentence vectors.
    """

    columns: Floats
    article: Int64s
    first: tuple[Floats, ...]

    @classmethod
    def of(cls, retriever: Retriever, answers: Iterable[tuple[str, str]], articles: Mapping[str, Article]) -> _Labeled:
        texts = grouped(answers)
        known = [articles[each] for each in texts]
        places = _places(retriever, known, list(texts.values()))
        rows = retriever.show_rows(known, list(texts.values()), places)
        first: tuple[Floats, ...] = ()
        if retriever.sentences is not None:
            suggested = retriever.first(known, DEPTH)
            said = [[one.text for one in found.suggestions] for found, _ in suggested]
            first = tuple(retriever.show_rows(known, said, [place for _, place in suggested]))
        return cls(np.concatenate(rows), np.repeat(np.arange(len(rows)), [len(each) for each in rows]), first)


def _places(retriever: Retriever, articles: Sequence[Article], texts: Sequence[Sequence[str]]) -> list[Int64s]:
    """Index in the pool of each text under an article: of its candidates where one says it, else of any comment.

    Without sentence vectors, which are looked up by it, 0.
    """
    if retriever.sentences is None:
        return [np.zeros(len(some), np.int64) for some in texts]
    pool = retriever.pool
    wanted = {text for some in texts for text in some}
    anywhere: dict[str, int] = {}
    for at, text in enumerate(pool.texts):
        if text in wanted:
            anywhere.setdefault(text, at)
    found = []
    for some, near in zip(texts, retriever.candidates(articles), strict=True):
        here = dict(zip(reversed(pool.texts.texts(near)), reversed(near.tolist()), strict=True))
        found.append(np.array([here.get(text, anywhere.get(text, -1)) for text in some], np.int64))
    return found


def _blocks(names: Sequence[str]) -> list[Int64s]:
    """Sets of columns that a filter is fitted to, of which the best is kept: the fewest first.

    One or two hundred labels teach the weights of five columns better than of thirty.
    """
    whole = np.arange(len(names))
    encoded = np.flatnonzero(np.isin(names, NUMBERS))
    return [encoded, np.append(0, encoded), whole] if len(encoded) else [whole]


def _reported(result: CalibrationResult, fit: LabelFit, names: Sequence[str], deepest: int) -> CalibrationResult:
    notes = []
    if deepest > fit.depth and not fit.reorders:
        drawn = f"the labels of an article are drawn among its first {deepest} suggestions"
        notes.append(f"{drawn}, and comment chooses from the first {fit.depth}, which may be better than these")
    notes += _compared(fit)
    if fit.auc.low is not None and fit.auc.low <= 0.5:
        notes.append("the interval of the AUC holds .5: these labels do not show that the filter is better than chance")
    read = [names[at] for at in fit.kept.columns.tolist()] if fit.kept.kind == "learned" else names[:1]
    weights = sorted(zip(read, fit.kept.logistic.weights.tolist(), strict=False), key=lambda pair: -abs(pair[1]))
    return msgspec.structs.replace(
        result,
        depth=fit.depth,
        reorders=fit.reorders,
        filter=fit.kept.kind,
        penalty=fit.kept.penalty,
        base_rate=fit.base_rate,
        first_rate=fit.first_rate,
        auc=fit.auc,
        ranker_auc=fit.ranker_auc,
        comparisons=fit.comparisons,
        points=fit.points,
        columns=tuple(ShowColumn(name=name, weight=weight) for name, weight in weights),
        further=fit.further,
        notes=tuple(notes),
    )


def _compared(fit: LabelFit) -> list[str]:
    """Note on the learned filter beside the ranker's score, where it is not shown to be better."""
    figures = {each.measure: _figures(each) for each in fit.comparisons}
    if fit.kept.kind == "score":
        refused = (
            "the filter learned from these labels is refused: on articles that the fit has not seen it does worse than "
            f"the ranker's score: {', '.join(figures.values())}; the score itself, calibrated, is the filter"
        )
        return [refused]
    doubted = [figures[each.measure] for each in fit.comparisons if (each.difference.low or 0) <= 0]
    if not doubted:
        return []
    return [f"these labels do not show that the filter is better than the ranker's score: {', '.join(doubted)}"]


def _figures(row: FilterComparison) -> str:
    """Both figures of a comparison, and their difference with its interval."""
    name, unit, form = (
        ("AUC", 1, ".3f") if row.measure == "auc" else (f"precision at coverage {COVERAGE:g}", 100, ".1f")
    )
    learned, score, change = (unit * each.value for each in (row.learned, row.score, row.difference))
    low, high = row.difference.low, row.difference.high
    ends = "" if low is None or high is None else f" [{unit * low:+{form}}, {unit * high:+{form}}]"
    percent = "" if unit == 1 else " %"
    return f"{name} {learned:{form}}{percent} against {score:{form}}{percent} (difference {change:+{form}}{ends})"
