"""`postil calibrate` and `postil.calibrate`: the filter learned from labels, and its precision at each coverage."""

from __future__ import annotations

import hashlib
import math
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, Unpack

import msgspec
import numpy as np

from postil.calibration.options import CalibrateOptions
from postil.calibration.result import CalibrationResult, CoveragePoint, FilterComparison, ShowColumn
from postil.comments.articles import checked_articles
from postil.comments.retrieval import Retriever
from postil.comments.sentence_vectors import NUMBERS, SIGNATURE, drop_encoded, encode_model
from postil.comments.show_filter import DEPTH, FILE, FORMAT, ShowFilter, Threshold
from postil.comments.store import ModelWriter, changing, training_folder
from postil.corpus.store import Corpus
from postil.data.arguments import check_arguments, options_of
from postil.data.atomic_file import check_folder
from postil.data.explain import counted
from postil.data.fields import plain_id
from postil.data.frames import ColumnNames, open_rows
from postil.data.groups import grouped
from postil.data.options import InputOptions
from postil.data.parts import Estimate, Excluded
from postil.data.ranking import without_noise
from postil.data.row_files import read
from postil.data.rows import Article, Draft
from postil.data.suggestions import REPLACED, TIED, Label, majority
from postil.encoders.sentences import sentence_encoder
from postil.errors import InvalidInput, Undefined, UsageError
from postil.learners.linear import Logistic
from postil.messages import Blank, Command, Message, Setting
from postil.meta.grade_fits import isotonic_fit
from postil.meta.resampling import Draws, bootstrap_counts, estimate, in_blocks
from postil.meta.significance import NORMAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from postil.corpus.passes import OnProgress
    from postil.data.frames import Table
    from postil.data.progress import OnMessage
    from postil.data.streams import FilePath
    from postil.kernel.arrays import Booleans, Floats, Int32s, Int64s
    from postil.keywords import CalibrateKeywords

__all__ = [
    "COVERAGE",
    "FOLDS",
    "LEAST",
    "FittedFilter",
    "LabelFit",
    "calibrate",
    "calibrate_files",
    "calibrate_model",
    "fit_labels",
    "fit_model_labels",
    "match_labels",
    "read_labels",
    "wilson_interval",
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
        missing: Texts of cells that hold no value, such as ``["n/a"]``.
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
    rows, where = list(opened), opened.places.where
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
    rows = read_labels(labels, inputs, on_message)
    articles: dict[str, Article] = {}
    if options.articles is not None:
        given = (inputs or InputOptions()).readings({"labels": Label, "articles": Draft}, on_message)
        known = checked_articles(read(options.articles, Draft, given["articles"]), on_message=on_message)
        articles = {article.id: article for article in known}
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
            retriever = _encoded(retriever, options, on_message, on_progress)
        result, learned = fit_model_labels(
            retriever, labels, articles, Draws(resamples=options.resamples, seed=options.seed), where=where
        )
        if learned is not None:
            _write(retriever, learned, options.out)
            drop_encoded(training_folder(options.out or folder))
            to = options.out or model
            kind = "filter" if result.filter == "learned" else "the ranker's score, calibrated, is the filter"
            settings = Setting("model", f"{to}"), Setting("coverage", ".3")
            on_message(
                Message(
                    "{kind} in {to}; go on with: {command}",
                    kind=kind,
                    to=f"{to}",
                    command=Command("comment", (Blank("ARTICLES"),), settings),
                )
            )
        elif options.out is not None:
            on_message(f"{options.out} is not written: these labels make no filter")
        elif (kept := retriever.show_filter) is not None:
            on_message(f"{model} keeps the filter that it has, of {counted(kept.labels, 'label')}")
        else:
            on_message(f"{model} is not changed: these labels make no filter")
    return result


def read_labels(files: Sequence[str], inputs: InputOptions | None, on_message: OnMessage) -> list[Label]:
    """Read files of label rows.

    Args:
        files: The files; ``-`` for standard input.
        inputs: Options of reading them.
        on_message: Callback for status messages.

    Raises:
        InvalidInput: A row is invalid; names it.
    """
    given = (inputs or InputOptions()).readings({"labels": Label, "articles": Draft}, on_message)
    return [row for file in files for row in read(file, Label, given["labels"])]


def _encoded(
    retriever: Retriever, options: CalibrateOptions, on_message: OnMessage, on_progress: OnProgress
) -> Retriever:
    """The retriever with the vectors of an encoder; as it is where it has them."""
    model, encoder = retriever.model, sentence_encoder(options.encoder or "")
    if retriever.sentences is not None and retriever.sentences.signature == encoder.signature:
        return retriever
    if options.corpus is None:
        raise UsageError(
            "{model} has no vectors of this encoder; name the corpus that it was trained on with {corpus}",
            model=str(model.path),
            corpus=Setting("corpus", "DIR"),
        )
    corpus = Corpus.open(options.corpus)
    sentences = encode_model(
        encoder,
        retriever.pool,
        corpus,
        contents=model.kind == "ir-tc",
        folder=training_folder(options.out or model.path),
        jobs=options.jobs,
        on_message=on_message,
        on_progress=on_progress,
    )
    return retriever.encoded_by(sentences)


def _write(retriever: Retriever, learned: ShowFilter, out: FilePath | None) -> None:
    """Write a model with a filter: its other files are shared with the model as it is."""
    model, sentences = retriever.model, retriever.sentences
    about: Mapping[str, object] = {"labels": learned.labels, "hash": learned.labels_hash}
    metadata = {**model.metadata, "calibration": about}
    fresh = sentences is not None and sentences.signature != model.config.get(SIGNATURE)
    config = {**model.config, **(sentences.settings() if sentences is not None else {})}
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
    return InvalidInput(f"{problem}; give {remedy}", where=where)


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
    titled = {
        each.article: Article(each.article, each.title, (), content=each.content, lang=each.lang)
        for each in reversed(labels)
        if each.title is not None
    }
    found = {**articles, **titled}
    answers, excluded = _answers(labels, found, retriever)
    stored = {text for _, text in answers}.intersection(retriever.pool.texts)
    others = [f"{article}: {text}" for article, text in answers if text not in stored]
    if not stored:
        reasons = [*((each.why, each.n) for each in excluded), (_NO_COMMENT, len(others))]
        remedy = "the articles, or labels of its suggestions with titles"
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
            Threshold(threshold=each.threshold, coverage=each.coverage, precision=each.pooled) for each in fit.points
        ),
        labels=len(answers),
        labels_hash=result.labels_hash,
        reorders=fit.reorders,
    )
    return _reported(result, fit, names, deepest), learned


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


FOLDS: Final = 9
"""Number of folds of articles."""

LEAST: Final = 30
"""Smallest number of labels that a filter is learned from."""

LEAST_OF_A_KIND: Final = 5
"""Smallest number of labels to show, and not to."""

PENALTIES: Final = (3.0, 10.0, 30.0, 100.0)
"""L2 penalties to choose from, of columns of standard deviation 1."""

INNER_FOLDS: Final = 3
"""Number of folds on which a penalty is chosen."""

_CALIBRATION_PENALTY: Final = 1.0
"""Penalty of the slope of a standardized logit, so that few labels that a column separates give no certainty."""
COVERAGE: Final = 0.3
"""Share of the articles that the precision is of."""
LEAST_SHOWN: Final = 10
"""Smallest number of articles with a suggestion that a precision is told of."""


@dataclass(frozen=True, slots=True, eq=False)
class FittedFilter:
    """The probability of being worth showing, 1 / (1 + exp(-(slope * logit + offset))).

    Args:
        kind: ``learned``, the filter over several columns, or ``score``, the ranker's score alone.
        columns: int64[c], the columns that it reads.
        logistic: The logit of a row of these.
        slope: Slope of the calibration of logits.
        offset: Offset of the calibration.
        penalty: The L2 penalty.
        probabilities: float64[n], of each label out of fold.
    """

    kind: Literal["learned", "score"]
    columns: Int64s
    logistic: Logistic
    slope: float
    offset: float
    penalty: float
    probabilities: Floats

    def calibrated(self, logits: Floats) -> Floats:
        """Probabilities of logits out of fold, which have no intercept.

        Args:
            logits: float64[n].
        """
        offset = self.offset + self.slope * self.logistic.intercept
        return np.asarray(1 / (1 + np.exp(-np.clip(self.slope * logits + offset, -700, 700))))


@dataclass(frozen=True, slots=True, eq=False)
class LabelFit:
    """A fit, and its report.

    Args:
        kept: The filter.
        depth: Number of first suggestions of an article that a filter chooses from.
        reorders: True if the filter orders these, beyond those that have labels.
        points: The distinct thresholds, from the lowest coverage to the whole.
        base_rate: Share of the labels to show.
        first_rate: Share of the articles whose first suggestion is one to show.
        comparisons: The filter over all columns against the ranker's score.
        auc: Area under the ROC curve of the probability.
        ranker_auc: Area under the ROC curve of the ranker's score.
    """

    kept: FittedFilter
    depth: int
    reorders: bool
    points: tuple[CoveragePoint, ...]
    base_rate: Estimate
    first_rate: Estimate
    comparisons: tuple[FilterComparison, ...]
    auc: Estimate
    ranker_auc: Estimate


def fit_labels(
    columns: Floats,
    shown: Booleans,
    article: Int64s,
    draws: Draws,
    *,
    first: Sequence[Floats] = (),
    blocks: Sequence[Int64s] = (),
    folds: int = FOLDS,
) -> LabelFit:
    """Fit the probability of being worth showing.

    The fit is logistic regression with an L2 penalty; columns, penalty and calibration are chosen on labels of other
    articles. Every number is of probabilities out of fold: of a fit without the labels of the same article. A fit that
    orders these articles worse than the ranker's score does is refused, and the calibrated score is kept.

    Args:
        columns: float64[n, m]; the first one is the score by which the ranker orders the suggestions of an article.
        shown: bool[n], the labels.
        article: int64[n], the number of each label's article, from 0.
        draws: Random draws of the articles.
        first: For each article float64[k, m], the columns of its first suggestions, labeled or not, among which the
            filter chooses; none if it chooses among as many as have labels.
        blocks: Sets of columns of which the filter may read one; by default all columns.
        folds: Largest number of folds of articles.

    Raises:
        Undefined: The labels are too few, of one kind, or cannot be told apart; the message says which.
    """
    articles = int(article.max(initial=-1)) + 1
    _check(shown, articles)
    scores = columns[:, 0]
    sets = blocks or [np.arange(columns.shape[1])]
    ends = np.cumsum([0, *map(len, first)])
    whole = np.concatenate([columns, *first])
    owner = np.concatenate([article, np.repeat(np.arange(len(first)), np.diff(ends))])
    every = _out_of_fold(columns, shown, article, article % min(folds, articles), sets=sets, rows=(whole, owner))
    logits = every[: len(columns)]
    counts = bootstrap_counts(articles, draws.resamples, draws.seed)
    comparisons = compared(logits, scores, shown, article, counts)
    learned = _learned(columns, shown, article, logits, sets)
    worse = learned is None or any(each.difference.value < 0 for each in comparisons)
    kept = _calibrated_score(columns, shown, np.arange(1) if first else sets[0]) if worse else learned
    if kept is None:
        raise Undefined(_no_filter(comparisons, ordered=learned is not None))
    sizes = np.bincount(article, minlength=articles)
    of_first = first_of(scores, scores, article)
    rates = in_blocks(
        lambda drawn: {
            "base": drawn @ np.bincount(article, shown, articles) / np.maximum(drawn @ sizes, 1),
            "first": drawn @ shown[of_first] / articles,
        },
        counts,
        articles,
    )
    area, _ = comparisons
    reorders = bool(first) and kept.kind == "learned"
    if reorders:
        lowest = float(every.min())  # of an article without suggestions
        best = np.array([some.max(initial=lowest) for some in np.split(every[len(columns) :], ends[1:-1])])
        points = _expected_points(best, logits, shown, article, counts)
    else:
        points = _points(kept.probabilities, scores, shown, article)
    return LabelFit(
        kept=kept,
        depth=DEPTH if reorders else int(np.median(sizes)),
        reorders=reorders,
        points=tuple(points),
        base_rate=estimate(rates["base"], articles),
        first_rate=estimate(rates["first"], articles),
        comparisons=comparisons,
        auc=area.score if kept.kind == "score" else area.learned,
        ranker_auc=area.score,
    )


def _learned(
    columns: Floats, shown: Booleans, article: Int64s, logits: Floats, sets: Sequence[Int64s]
) -> FittedFilter | None:
    """The filter over a set of columns, calibrated by logits out of fold; None if their order is none."""
    calibration = Logistic.fit(logits[:, None], shown, _CALIBRATION_PENALTY)
    slope = float(calibration.weights[0] / calibration.scale[0])
    if slope <= 0:
        return None
    offset = calibration.intercept - slope * float(calibration.mean[0])
    chosen, penalty = _choice(columns, shown, article, sets)
    whole = Logistic.fit(columns[:, chosen], shown, penalty)
    found = FittedFilter("learned", chosen, whole, slope, offset - slope * whole.intercept, penalty, logits)
    return replace(found, probabilities=found.calibrated(logits))


def _calibrated_score(columns: Floats, shown: Booleans, names: Int64s) -> FittedFilter | None:
    """The first column as a filter, the others with weight 0; None if its order is no better than chance."""
    fitted = Logistic.fit(columns[:, :1], shown, _CALIBRATION_PENALTY)
    if fitted.weights[0] <= 0:
        return None
    others = len(names) - 1
    mean, weights = (np.append(part, np.zeros(others)) for part in (fitted.mean, fitted.weights))
    whole = Logistic(mean, np.append(fitted.scale, np.ones(others)), weights, fitted.intercept)
    probabilities = whole.probabilities(columns)
    return FittedFilter("score", names, whole, 1.0, 0.0, _CALIBRATION_PENALTY, probabilities)


def _no_filter(comparisons: Sequence[FilterComparison], *, ordered: bool) -> str:
    """The reason for no filter: the ranker's order is no better than chance, and so is the learned one, or it is worse.

    Args:
        comparisons: The learned filter against the ranker's score.
        ordered: True if the learned order is better than chance.
    """
    (auc, score), (precision, other) = ((each.learned.value, each.score.value) for each in comparisons)
    if ordered:
        found = (
            f"the filter does worse than the ranker's score (AUC {auc:.2f} against {score:.2f}, precision at coverage "
            f"{COVERAGE:g} {100 * precision:.0f} % against {100 * other:.0f} %), whose order is no better than chance"
        )
    else:
        found = f"its order is no better than chance (AUC {auc:.2f}), and neither is the ranker's ({score:.2f})"
    told = "what to show cannot be told from what not to show by these labels: on articles that the fit has not seen"
    return f"{told} {found}; label more suggestions"


def _check(shown: Booleans, articles: int) -> None:
    wanted = f"a filter needs at least {LEAST}, with {LEAST_OF_A_KIND} of each kind, of {LEAST_SHOWN} articles or more"
    n, yes = len(shown), int(shown.sum())
    if n < LEAST or min(yes, n - yes) < LEAST_OF_A_KIND or articles < LEAST_SHOWN:
        raise Undefined(
            f"{n} labels of {articles} articles, {yes} to show and {n - yes} not: {wanted}; label more suggestions"
        )


def _out_of_fold(
    columns: Floats,
    shown: Booleans,
    article: Int64s,
    fold: Int64s,
    *,
    sets: Sequence[Int64s],
    rows: tuple[Floats, Int64s],
) -> Floats:
    """Logits of rows by fits without the labels of their articles, each with columns and penalty chosen there.

    An intercept would be the higher, the fewer of the left-out labels are to show, and so order folds by the opposite
    of their labels; that of the calibration stands for all.

    Args:
        columns: float64[n, m].
        shown: bool[n].
        article: int64[n].
        fold: int64[n], the fold of each label.
        sets: Sets of columns to choose from.
        rows: float64[r, m], and int64[r], the article of each.

    Returns:
        float64[r].
    """
    wanted, owner = rows
    logits = np.zeros(len(wanted))
    of_article = np.zeros(int(article.max()) + 1, np.int64)
    of_article[article] = fold
    for number in np.unique(fold).tolist():
        others = fold != number
        if shown[others].all() or not shown[others].any():
            continue
        chosen, penalty = _choice(columns[others], shown[others], article[others], sets)
        model = Logistic.fit(columns[others][:, chosen], shown[others], penalty)
        left = of_article[owner] == number
        logits[left] = model.predict(wanted[left][:, chosen]) - model.intercept
    return logits


def _choice(columns: Floats, shown: Booleans, article: Int64s, sets: Sequence[Int64s]) -> tuple[Int64s, float]:
    """The set of columns and the penalty with the lowest log loss on labels of other articles.

    Of tied ones it is the first set, and the largest penalty.
    """
    fold = np.unique(article, return_inverse=True)[1] % INNER_FOLDS
    sign = np.where(shown, -1.0, 1.0)

    def loss(chosen: Int64s, penalty: float) -> float:
        logits = np.zeros(len(shown))
        for number in range(INNER_FOLDS):
            others = fold != number
            logits[~others] = _predicted(
                columns[others][:, chosen], shown[others], penalty, columns[~others][:, chosen]
            )
        return round(float(np.logaddexp(0, sign * logits).sum()), 9)

    tried = [(loss(chosen, penalty), at, -penalty) for at, chosen in enumerate(sets) for penalty in PENALTIES]
    _, at, negative = min(tried)
    return sets[at], -negative


def _predicted(columns: Floats, shown: Booleans, penalty: float, others: Floats) -> Floats:
    """Logits of other rows; the same for all where the labels are of one kind."""
    yes = int(shown.sum())
    if yes in {0, len(shown)}:
        return np.full(len(others), math.log((yes + 0.5) / (len(shown) - yes + 0.5)))
    return Logistic.fit(columns, shown, penalty).predict(others)


def _points(probabilities: Floats, scores: Floats, shown: Booleans, article: Int64s) -> list[CoveragePoint]:
    """Coverage and precision at each threshold that tells articles apart.

    An article's first suggestion is that with the highest probability, whatever the threshold.
    """
    articles = int(article.max()) + 1
    first = first_of(probabilities, scores, article)
    best, good = probabilities[first], shown[first].astype(np.float64)
    pooled = isotonic_fit(best[:, None], good).predict(best[:, None])
    levels = np.unique(best)[::-1]
    points = []
    for level, lower in zip(levels, [*levels[1:], 0.0], strict=True):
        above = best >= level
        n = int(above.sum())
        if n < min(LEAST_SHOWN, articles):
            continue
        low, high = wilson_interval(int(good[above].sum()), n)
        points.append(
            CoveragePoint(
                coverage=n / articles,
                threshold=0.0 if n == articles else float(level + lower) / 2,
                precision=float(good[above].mean()),
                low=low,
                high=high,
                pooled=min(1.0, max(0.0, float(pooled[above].mean()))),
                articles=n,
            )
        )
    return points


def _expected_points(
    best: Floats, logits: Floats, shown: Booleans, article: Int64s, counts: Int32s
) -> list[CoveragePoint]:
    """Coverage and expected precision at each threshold, where the most probable of an article may have no label.

    The precision is the mean of the articles' largest probabilities. (An isotonic regression on the labels is too high
    there, by .03 to .09 in simulations, since these are at the end of its range.) Its interval is over resamples of the
    articles, with the calibration fitted to each, and the filter held fixed.

    Args:
        best: float64[articles], the largest logit of an article's first suggestions, out of fold.
        logits: float64[n], of the labels, out of fold.
        shown: bool[n], the labels.
        article: int64[n], the number of each label's article.
        counts: int32[R, articles], resample multiplicities.
    """
    articles = len(best)
    levels = np.unique(best)[::-1]
    order = np.argsort(-best, kind="stable")
    ends = np.searchsorted(-best[order], -levels, side="right") - 1

    def precisions(drawn: Int32s) -> dict[str, Floats]:
        slope, offset = _calibrations(logits, shown, drawn[:, article].astype(np.float64))
        probabilities = _sigmoid(slope[:, None] * best[order] + offset[:, None])
        weights = drawn[:, order].astype(np.float64)
        above, sums = (np.cumsum(each, axis=1)[:, ends] for each in (weights, weights * probabilities))
        return {"precision": np.divide(sums, above, out=np.full(sums.shape, np.nan), where=above > 0)}

    samples = in_blocks(precisions, counts, max(len(logits), articles))["precision"]
    slope, offset = (float(each[0]) for each in _calibrations(logits, shown, np.ones((1, len(logits)))))
    values = _sigmoid(slope * levels + offset)
    points = []
    for at, (level, lower) in enumerate(zip(values, [*values[1:], 0.0], strict=True)):
        n = int(ends[at]) + 1
        if n < min(LEAST_SHOWN, articles):
            continue
        found = estimate(samples[:, at], articles)
        low, high = (found.value if end is None else end for end in (found.low, found.high))
        points.append(
            CoveragePoint(
                coverage=n / articles,
                threshold=0.0 if n == articles else float(level + lower) / 2,
                precision=found.value,
                low=min(low, found.value),
                high=max(high, found.value),
                pooled=found.value,
                articles=n,
            )
        )
    return points


def _calibrations(logits: Floats, shown: Booleans, weights: Floats) -> tuple[Floats, Floats]:
    """Slopes and offsets of logistic regressions on one column, as `Logistic.fit`, each with other weights of the rows.

    Args:
        logits: float64[n].
        shown: bool[n].
        weights: float64[R, n].

    Returns:
        float64[R] each.
    """
    scale = float(logits.std()) or 1.0
    column = (logits - logits.mean()) / scale
    slope, offset = np.zeros(len(weights)), np.zeros(len(weights))
    for _ in range(_STEPS):
        chance = _sigmoid(slope[:, None] * column + offset[:, None])
        wrong, bend = weights * (chance - shown), weights * chance * (1 - chance)
        down = (wrong * column).sum(axis=1) + _CALIBRATION_PENALTY * slope
        base = wrong.sum(axis=1)
        aa, ab, bb = (
            (bend * column**2).sum(axis=1) + _CALIBRATION_PENALTY,
            (bend * column).sum(axis=1),
            bend.sum(axis=1),
        )
        bb += _TINY  # labels of one kind in a resample have no best offset
        determinant = aa * bb - ab**2
        slope, offset = slope - (bb * down - ab * base) / determinant, offset - (aa * base - ab * down) / determinant
        offset = np.clip(offset, -_LARGEST, _LARGEST)
    return slope / scale, offset - slope * float(logits.mean()) / scale


def _sigmoid(logits: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(logits, -700, 700))))


_STEPS: Final = 12
"""Newton steps of a calibration in two parameters; six are enough."""
_TINY: Final = 1e-9
_LARGEST: Final = 30.0
"""Largest size of an offset."""


def wilson_interval(good: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % confidence interval of a share of independent cases.

    Args:
        good: Number of cases that count.
        n: Number of cases, at least 1.

    >>> [round(end, 3) for end in wilson_interval(10, 10)], [round(end, 3) for end in wilson_interval(5, 10)]
    ([0.722, 1.0], [0.237, 0.763])
    """
    share = good / n
    middle = share + NORMAL**2 / (2 * n)
    half = NORMAL * math.sqrt(share * (1 - share) / n + NORMAL**2 / (4 * n * n))
    low, high = ((middle + sign * half) / (1 + NORMAL**2 / n) for sign in (-1, 1))
    return max(0.0, min(low, share)), min(1.0, max(high, share))  # an end of 0 or 1 may be off by a rounding error


def compared(
    learned: Floats, scores: Floats, shown: Booleans, article: Int64s, counts: Int32s
) -> tuple[FilterComparison, ...]:
    """Compare what a filter was learned to say with the ranker's score, on the same resamples of articles.

    Args:
        learned: float64[n], what the filter says of each label, out of fold.
        scores: float64[n], the ranker's score.
        shown: bool[n], the labels.
        article: int64[n], the number of each label's article, from 0.
        counts: int32[R, articles], resample multiplicities.

    Returns:
        The rows ``auc`` and ``precision``.

    >>> one = np.ones((1, 2), np.int32)
    >>> found = compared(np.array([1.0, 0]), np.array([0.0, 1]), np.array([True, False]), np.array([0, 1]), one)
    >>> [(each.measure, each.learned.value, each.score.value, each.difference.value) for each in found]
    [('auc', 1.0, 0.0, 1.0), ('precision', 0.5, 0.5, 0.0)]
    """
    articles = counts.shape[1]
    rows = []
    for measure, statistic in (("auc", _areas), ("precision", _precisions)):
        first, second = (statistic(values, scores, shown, article, counts) for values in (learned, scores))
        rows.append(
            FilterComparison(
                measure=measure,
                learned=estimate(first, articles),
                score=estimate(second, articles),
                difference=estimate(without_noise(first - second, 1.0), articles),
            )
        )
    return tuple(rows)


def first_of(values: Floats, scores: Floats, article: Int64s) -> Int64s:
    """The label that is first of its article by a value, and of tied ones by the ranker's score, int64[articles].

    Args:
        values: float64[n].
        scores: float64[n].
        article: int64[n], the number of each label's article, from 0 without a gap.
    """
    order = np.lexsort((-scores, -values, article))
    return np.asarray(order[np.searchsorted(article[order], np.arange(int(article.max()) + 1))])


def _areas(values: Floats, _: Floats, shown: Booleans, article: Int64s, counts: Int32s) -> Floats:
    """Area under the ROC curve of all labels and of resamples of articles, float64[1 + R]."""
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(values[order]) > 0))
    yes, owner = shown[order], article[order]

    def areas(drawn: Int32s) -> dict[str, Floats]:
        weights = drawn[:, owner].astype(np.float64)
        good = np.add.reduceat(weights * yes, starts, axis=1)
        bad = np.add.reduceat(weights * ~yes, starts, axis=1)
        below = np.cumsum(bad, axis=1) - bad / 2
        total = good.sum(axis=1) * bad.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return {"auc": np.where(total > 0, (good * below).sum(axis=1) / total, np.nan)}

    return in_blocks(areas, counts, len(values))["auc"]


def _precisions(values: Floats, scores: Floats, shown: Booleans, article: Int64s, counts: Int32s) -> Floats:
    """Precision of the first suggestions at `COVERAGE`, of all articles and of resamples of them, float64[1 + R]."""
    first = first_of(values, scores, article)
    first = first[np.argsort(-values[first], kind="stable")]
    best = values[first]
    ends = np.flatnonzero(np.append(np.diff(best) < 0, True))  # tied articles are above a threshold together
    articles = len(first)
    least = max(COVERAGE * articles - 1e-9, min(LEAST_SHOWN, articles))

    def precisions(drawn: Int32s) -> dict[str, Floats]:
        weights = drawn[:, article[first]].astype(np.float64)
        above = np.cumsum(weights, axis=1)[:, ends]
        good = np.cumsum(weights * shown[first], axis=1)[:, ends]
        at = (above >= least).argmax(axis=1)[:, None]
        return {"precision": (np.take_along_axis(good, at, 1) / np.take_along_axis(above, at, 1))[:, 0]}

    return in_blocks(precisions, counts, articles)["precision"]
