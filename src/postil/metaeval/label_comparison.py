"""A filter learned from labels against the ranker's score: areas under the ROC curve, and precision at a coverage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from postil.metaeval.resampling import estimate, in_blocks
from postil.records.results.calibration import FilterComparison
from postil.records.ties import without_noise

if TYPE_CHECKING:
    from postil.metaeval.arrays import Booleans, Floats, Int32s, Int64s

__all__ = ["COVERAGE", "LEAST_SHOWN", "compared", "first_of", "ordered"]


COVERAGE: Final = 0.3
"""Share of the articles that the precision is of."""

LEAST_SHOWN: Final = 10
"""Smallest number of articles with a suggestion that a precision is told of."""


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


def ordered(article: Int64s, *keys: Floats) -> tuple[Int64s, Int64s]:
    """Order the labels by article and descending keys.

    Args:
        article: int64[n], the number of each label's article, from 0 without a gap.
        *keys: float64[n] each, the first one first.

    Returns:
        The labels in order, int64[n], and the place in it where each article begins, int64[articles].
    """
    order = np.lexsort((*(-key for key in reversed(keys)), article))
    return order, np.searchsorted(article[order], np.arange(int(article.max()) + 1))


def first_of(values: Floats, scores: Floats, article: Int64s) -> Int64s:
    """The label that is first of its article by a value, and of tied ones by the ranker's score, int64[articles].

    Args:
        values: float64[n].
        scores: float64[n].
        article: int64[n], the number of each label's article, from 0 without a gap.
    """
    order, starts = ordered(article, values, scores)
    return np.asarray(order[starts])


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
