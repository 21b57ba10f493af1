"""Scores on the scale of the ratings: as they are, or by fits that have not seen the item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from postil.data.ties import joined
from postil.errors import check_least
from postil.meta.audit_parts import UndefinedMapping
from postil.meta.column_correlations import scaled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from postil.kernel.arrays import Floats, Int32s, Int64s
    from postil.meta.table import Table

__all__ = [
    "CONSTANT",
    "FOLDS",
    "Fit",
    "MappedGrades",
    "Mapping",
    "cross_fitted",
    "interpolated",
    "isotonic",
    "isotonic_points",
    "linear",
    "map_to_grades",
    "scale_of",
]


Fit: TypeAlias = "Callable[[Floats, Floats, Floats], Floats]"
"""Function from known scores, their grades and other scores to grades of these."""

Mapping: TypeAlias = Literal["none", "isotonic", "rounded", "linear"]
"""Mapping of scores to the scale of the ratings: none; by isotonic regression; by that and the nearest grade that
occurs; by linear regression."""

FOLDS: Final = 5
"""Default number of folds of items."""

CONSTANT: Final = "control:constant"
"""Control that gives every text the mean rating of the other folds."""


@dataclass(frozen=True, slots=True, eq=False)
class MappedGrades:
    """Grades that metrics and controls predict for n texts.

    Args:
        names: Metric and mapping of each of p columns.
        grades: float64[n, p].
        absent: Metrics and mappings without predictions, and why.
    """

    names: tuple[tuple[str, Mapping], ...]
    grades: Floats
    absent: tuple[UndefinedMapping, ...]


def map_to_grades(table: Table, folds: int = FOLDS) -> MappedGrades:
    """Predict the mean rating of each text from its score, by every metric and mapping.

    Fits are cross-fitted by item: item i is in fold i mod K, and a text is predicted by a fit on the texts of the other
    folds. A metric whose every score lies on the scale is there as it is, too (``none``), unless lower is better.

    Args:
        table: Scores and ratings of n texts.
        folds: Largest number of folds, at least 2; there are no more than items.

    Returns:
        The metrics in their order, each with its mappings, then `CONSTANT`.

    Raises:
        UsageError: Fewer than two folds.

    >>> from postil.meta.table import join
    >>> from postil.data.rows import Judgement, Score
    >>> table = join(
    ...     [Score(str(i), "a", "rouge-l", i / 8) for i in range(4)],
    ...     [Judgement(str(i), "a", "ann", i + 1) for i in range(4)],
    ... )
    >>> mapped = map_to_grades(table, folds=2)
    >>> for name, column in zip(mapped.names, mapped.grades.T):
    ...     print(*name, column.tolist())
    rouge-l isotonic [2.0, 2.0, 3.0, 3.0]
    rouge-l rounded [2.0, 2.0, 3.0, 3.0]
    rouge-l linear [1.0, 2.0, 3.0, 4.0]
    control:constant isotonic [3.0, 2.0, 3.0, 2.0]
    control:constant rounded [3.0, 2.0, 3.0, 2.0]
    """
    check_least(2, folds=folds)
    items = len(table.starts)
    names: list[tuple[str, Mapping]] = []
    columns: list[Floats] = []
    absent: list[UndefinedMapping] = []
    for metric, mapping, column in _mapped(table, table.item % min(folds, items)):
        if column is None:
            reason = "there is only one item, so there are no texts of other items to fit the scores on"
            absent.append(UndefinedMapping(metric=metric, mapping=mapping, reason=reason))
        else:
            names.append((metric, mapping))
            columns.append(column)
    grades = np.column_stack(columns) if columns else np.empty((len(table), 0))
    return MappedGrades(tuple(names), grades, tuple(absent))


def scale_of(table: Table) -> tuple[float, float]:
    """Lowest and highest grade of the scale; where it is not known, the lowest and highest rating."""
    if table.scale:
        return table.scale.low, table.scale.high
    return float(table.ratings.grades.min()), float(table.ratings.grades.max())


def isotonic(scores: Floats, grades: Floats, at: Floats) -> Floats:
    """Predict grades by isotonic regression: the rising function of the scores with the least squared error.

    Texts with equal scores are one point, weighted by their number; pool adjacent violators. Between two points it is
    linear, and outside it is that of the nearest end.

    Args:
        scores: float64[n], equal to the last bit where they are a tie (`postil.data.ties.joined`).
        grades: float64[n].
        at: float64[k], scores to predict grades for.

    Returns:
        float64[k].

    >>> scores, grades = np.array([1.0, 2.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 2.0, 5.0])
    >>> isotonic(scores, grades, np.array([0.0, 1.0, 1.5, 2.0, 3.0, 3.5, 4.0])).round(6).tolist()
    [1.0, 1.0, 1.666667, 2.333333, 2.333333, 3.666667, 5.0]
    """
    return interpolated(*isotonic_points(scores, grades), at)


def isotonic_points(scores: Floats, grades: Floats) -> tuple[Floats, Floats]:
    """Fit an isotonic regression; see `isotonic`.

    Args:
        scores: float64[n].
        grades: float64[n].

    Returns:
        The ascending scores without repetition and the grade predicted at each, float64[k] both.

    >>> scores, levels = isotonic_points(np.array([1.0, 2.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0, 2.0]))
    >>> scores.tolist(), levels.round(6).tolist()
    ([1.0, 2.0, 3.0], [1.0, 2.333333, 2.333333])
    """
    known, point = np.unique(scores, return_inverse=True)
    return known, _rising(np.asarray(np.bincount(point, grades), np.float64), np.bincount(point))


def interpolated(known: Floats, levels: Floats, at: Floats) -> Floats:
    """Predict grades by the lines between points, outside by the nearest end.

    Args:
        known: float64[k], ascending scores.
        levels: float64[k], grade at each.
        at: float64[n], scores to predict grades for.

    Returns:
        float64[n].
    """
    at = at.clip(known[0], known[-1])
    right = np.searchsorted(known, at)
    left = np.maximum(right - 1, 0)
    step = np.where(right > left, known[right] - known[left], 1.0)
    return np.asarray(levels[left] + (at - known[left]) / step * (levels[right] - levels[left]), np.float64)


def _rising(totals: Floats, sizes: Int64s) -> Floats:
    """Levels of a rising step function of least squared error, by pooling adjacent points that fall."""
    blocks: list[tuple[float, float, int, int]] = []  # level, total, size, number of points
    for total, size in zip(totals.tolist(), sizes.tolist(), strict=True):
        level, points = total / size, 1
        while blocks and blocks[-1][0] >= level:
            _, before, weight, number = blocks.pop()
            total, size, points = total + before, size + weight, points + number  # noqa: PLW2901 - the block grows
            level = total / size
        blocks.append((level, total, size, points))
    return np.repeat([block[0] for block in blocks], [block[3] for block in blocks])


def linear(scores: Floats, grades: Floats, at: Floats) -> Floats:
    """Predict grades by the least-squares line; the mean grade where all scores are equal.

    Args:
        scores: float64[n].
        grades: float64[n].
        at: float64[k], scores to predict grades for.

    Returns:
        float64[k], not cut to a scale.

    >>> linear(np.array([1.0, 2.0, 4.0]), np.array([3.0, 5.0, 9.0]), np.array([0.0, 3.0])).tolist()
    [1.0, 7.0]
    """
    if (scores == scores[0]).all():
        return np.full(len(at), grades.mean())
    away = scores - scores.mean()
    exponent = -np.frexp(np.abs(away).max())[1]  # squares of tiny scores would underflow
    away = np.ldexp(away, exponent)
    slope = away @ (grades - grades.mean()) / (away @ away)
    return np.asarray(grades.mean() + slope * np.ldexp(at - scores.mean(), exponent).clip(-1e100, 1e100), np.float64)


def _mapped(table: Table, fold: Int32s) -> Iterator[tuple[str, Mapping, Floats | None]]:
    """Metric, mapping and float64[n], None where there is one fold."""
    low, high = scale_of(table)

    def rounded(column: Floats | None) -> Floats | None:
        return None if column is None else _nearest(column, np.unique(table.ratings.grades))

    for number, metric in enumerate(table.metrics):
        raw, scores = table.scores[:, number], joined(scaled(table.oriented[:, number]))
        if not table.lower_is_better[number] and raw.min() >= low and raw.max() <= high:
            yield metric, "none", raw
        risen = cross_fitted(isotonic, scores, table.grades, fold)
        yield metric, "isotonic", risen
        yield metric, "rounded", rounded(risen)
        line = cross_fitted(linear, scores, table.grades, fold)
        yield metric, "linear", None if line is None else line.clip(low, high)
    mean = cross_fitted(linear, np.zeros(len(table)), table.grades, fold)
    yield CONSTANT, "isotonic", mean
    yield CONSTANT, "rounded", rounded(mean)


def cross_fitted(fit: Fit, scores: Floats, grades: Floats, fold: Int32s) -> Floats | None:
    """Predict the texts of each fold by a fit on the others.

    Args:
        fit: The fit.
        scores: float64[n] or float64[n, m].
        grades: float64[n].
        fold: int32[n], from 0 without a gap.

    Returns:
        float64[n]; None where there is one fold.
    """
    if not fold.any():
        return None
    out = np.empty(len(grades))
    for number in range(fold.max() + 1):
        new = fold == number
        out[new] = fit(scores[~new], grades[~new], scores[new])
    return out


def _nearest(values: Floats, grades: Floats) -> Floats:
    """The nearest of ascending grades; the lower one half way."""
    middles = (grades[:-1] + grades[1:]) / 2
    return grades[np.searchsorted(middles.round(9), values.round(9))]
