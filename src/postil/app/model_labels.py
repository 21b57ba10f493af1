"""Labels of suggestions and the models that they are of: matched, and a filter fitted to them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from postil.commenters.retrieval import Retriever
from postil.commenters.show_filter import FORMAT, ShowFilter, Threshold
from postil.corpus.store import Corpus
from postil.errors import InvalidInput, Undefined
from postil.metaeval.label_comparison import COVERAGE
from postil.metaeval.label_fit import fit_labels
from postil.records.ids import plain_id
from postil.records.labels import REPLACED, TIED, majority
from postil.records.results import CalibrationResult, Excluded, ShowColumn
from postil.records.rows import Article

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.metaeval.label_fit import LabelFit
    from postil.metaeval.resampling import Draws
    from postil.records.labels import Label
    from postil.records.results.calibration import FilterComparison
    from postil.records.row_files import FilePath

__all__ = ["fit_model_labels", "match_labels"]

_UNKNOWN: Final = "label of an unknown article, or one without a word"
_NO_COMMENT: Final = "label of a text that no comment of the model is"


@dataclass(frozen=True, slots=True)
class _Answer:
    """The answer that stands for a text under an article."""

    article: str
    text: str
    show: bool


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
    found = {**articles, **{each.article: _article(each) for each in reversed(labels) if each.title is not None}}
    answers, excluded = _answers(labels, found, retriever)
    stored = {each.text for each in answers}.intersection(retriever.pool.texts)
    others = [f"{each.article}: {each.text}" for each in answers if each.text not in stored]
    if not stored:
        reasons = [*((each.why, each.n) for each in excluded), (_NO_COMMENT, len(others))]
        remedy = "the articles, or labels of its suggestions with titles"
        raise _no_label(len(labels), str(retriever.model.path), reasons, remedy, where)
    if others:
        excluded.append(Excluded.of(f"{_NO_COMMENT}; used all the same", others))
    columns, numbers = _rows(retriever, answers, found)
    shown = np.array([each.show for each in answers])
    names = retriever.show_columns
    deepest = max((label.rank or 1 for label in labels), default=1)
    digest = hashlib.sha256(
        msgspec.json.encode([(each.article, each.text, each.show) for each in answers], enc_hook=plain_id)
    )
    result = CalibrationResult(
        labels=len(answers),
        articles=int(numbers.max()) + 1,
        shown=int(shown.sum()),
        labels_hash=digest.hexdigest()[:16],
        excluded=tuple(excluded),
        resamples=draws.resamples,
        seed=draws.seed,
    )
    try:
        fit = fit_labels(columns, shown, numbers, draws)
    except Undefined as error:
        return msgspec.structs.replace(result, reason=error.message), None
    linear = fit.kept.logistic
    learned = ShowFilter(
        format=FORMAT,
        columns=names,
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
    found = majority(known)
    answers = [_Answer(article_id, text, show) for (article_id, text), show in found.answers.items()]
    left = ((_UNKNOWN, unknown), (REPLACED, found.replaced), (TIED, found.ties))
    return answers, [Excluded.of(why, rows) for why, rows in left if rows]


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
    notes += _compared(fit)
    if fit.auc.low is not None and fit.auc.low <= 0.5:
        notes.append("the interval of the AUC holds .5: these labels do not show that the filter is better than chance")
    read = names if fit.kept.kind == "learned" else names[:1]
    weights = sorted(zip(read, fit.kept.logistic.weights.tolist(), strict=False), key=lambda pair: -abs(pair[1]))
    return msgspec.structs.replace(
        result,
        depth=fit.depth,
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
