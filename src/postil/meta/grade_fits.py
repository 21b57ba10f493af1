"""Fits of human ratings on scores: isotonic, linear and ridge regression, boosted trees, and grades out of fold."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np

from postil.data.ranking import joined
from postil.errors import Undefined, check_least
from postil.learners.boosting import Trees, boosting_fit
from postil.learners.linear import Linear
from postil.messages import Setting
from postil.meta.choices import PENALTY
from postil.meta.column_correlations import constant, scaled
from postil.meta.parts import UndefinedMapping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.kernel.arrays import Booleans, Floats, Int32s, Int64s
    from postil.meta.table import Table

__all__ = [
    "CONSTANT",
    "FOLDS",
    "LEARNERS",
    "CombinationMethod",
    "Fit",
    "Isotonic",
    "Learner",
    "MappedGrades",
    "Model",
    "Terms",
    "assign_items",
    "cross_fitted",
    "interpolated",
    "isotonic",
    "isotonic_fit",
    "linear",
    "map_to_grades",
    "penalized",
    "ridge_fit",
    "scale_of",
]

Fit: TypeAlias = "Callable[[Floats, Floats, Floats], Floats]"
"""Function from known scores, their grades and other scores to grades of these."""

MappingName: TypeAlias = Literal["none", "isotonic", "rounded", "linear"]
"""Mapping of scores to the scale of the ratings: none; by isotonic regression; by that and the nearest grade that
occurs; by linear regression."""

FOLDS: Final = 5
"""Default number of folds of items."""

CONSTANT: Final = "control:constant"
"""Control that gives every text the mean rating of the other folds."""

CombinationMethod: TypeAlias = Literal["ridge", "isotonic", "boosting"]
"""Learner: ridge regression, isotonic regression of one column, or boosted trees."""

ROUNDING: Final = 1e-12
"""Share of the largest gradient from which on a bounded weight leaves its bound."""


@dataclass(frozen=True, slots=True, eq=False)
class MappedGrades:
    """Grades that metrics and controls predict for n texts.

    Args:
        names: Metric and mapping of each of p columns.
        grades: float64[n, p].
        absent: Metrics and mappings without predictions, and why.
    """

    names: tuple[tuple[str, MappingName], ...]
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
    names: list[tuple[str, MappingName]] = []
    columns: list[Floats] = []
    absent: list[UndefinedMapping] = []
    for metric, mapping, column in _mapped(table, table.item % min(folds, items)):
        if column is None:
            reason = "there is only one item, so there are no texts of other items to fit the scores on"
            absent.append(UndefinedMapping(metric=metric, mapping=mapping, reason=reason))
        else:
            names.append((metric, mapping))
            columns.append(column)
    return MappedGrades(tuple(names), np.column_stack(columns) if columns else np.empty((len(table), 0)), tuple(absent))


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
        scores: float64[n], equal to the last bit where they are a tie (`postil.data.ranking.joined`).
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


def _mapped(table: Table, fold: Int32s) -> Iterator[tuple[str, MappingName, Floats | None]]:
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


class Model(Protocol):
    """A fitted combination of m columns."""

    def predict(self, scores: Floats) -> Floats:
        """Predict grades, float64[n], from scores, float64[n, m]; one row's grade depends on that row alone."""


@dataclass(frozen=True, slots=True, eq=False)
class Isotonic:
    """A rising function of one column, linear between points and flat outside.

    Args:
        known: float64[k], ascending scores, negated where lower is better.
        levels: float64[k], grade at each, which do not fall.
        falls: True if lower is better.
    """

    known: Floats
    levels: Floats
    falls: bool

    def table(self) -> Floats:
        """Points and the grade at each, float64[k, 2]."""
        return np.column_stack([self.known, self.levels])

    def predict(self, scores: Floats) -> Floats:
        """See `Model.predict`."""
        return interpolated(self.known, self.levels, -scores[:, 0] if self.falls else scores[:, 0])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Terms:
    """Terms of a fit, beside scores and grades, for m columns.

    Args:
        penalty: Ridge penalty.
        falls: bool[m], True where lower is better, which isotonic regression reads.
        bounds: int8[m], 1 where the grade may not fall with a column, -1 where it may not rise, else 0.
        monotone: True if boosted trees also keep the sign of the ridge weight of the other columns.
        seed: Seed of boosted trees.
    """

    penalty: float
    falls: Booleans
    bounds: NDArray[np.int8]
    monotone: bool = False
    seed: int = 0


class Learner(NamedTuple):
    """A way to fit a combination.

    Args:
        name: Its name, as commands take it.
        fit: Function of scores, float64[n, m], grades, float64[n], and terms to a model.
        single: True if it takes one metric.
        linear: True if it fits a ridge regression, whose weights are told: alone, or beside its own model.
        beside: Name of the learner of the controls alone.
        package: Distribution that fits it; empty for none.
    """

    name: CombinationMethod
    fit: Callable[[Floats, Floats, Terms], Model]
    single: bool = False
    linear: bool = True
    beside: CombinationMethod = "ridge"
    package: str = ""


def assign_items(items: Sequence[str], folds: int) -> Int32s:
    """Assign items to folds: number k of the items sorted by name is in fold k mod F.

    So neither a seed nor the order of rows matters.

    Args:
        items: Names of the items, sorted and without repetition.
        folds: F, at least 2.

    Returns:
        int32[items], from 0 to F - 1.

    Raises:
        Undefined: There are fewer items than folds.

    >>> assign_items(["a", "b", "c"], 2).tolist()
    [0, 1, 0]
    """
    if len(items) < folds:
        if len(items) < 2:
            raise Undefined(
                f"there is only one item ({items[0]}), so there are no texts of other items to fit on; give scores and "
                "judgements of more items"
            )
        raise Undefined(
            "{folds} folds need at least as many items, and {count} have scores and ratings; give {fewer} or fewer, or "
            "judgements of more items",
            folds=folds,
            count=len(items),
            fewer=Setting("folds", len(items)),
        )
    return (np.arange(len(items)) % folds).astype(np.int32)


def ridge_fit(
    scores: Floats, grades: Floats, penalty: float = PENALTY, rising: NDArray[np.int8] | None = None
) -> Linear:
    """Fit a ridge regression: minimize ``sum (y - a - Zw)² + penalty · n · |w|²``.

    Z are the columns less their means, over their standard deviations (divisor n); the intercept a is not penalized.
    Bounded weights are found by the active sets of Lawson and Hanson (1974, chapter 23).

    Args:
        scores: float64[n, m]; n at least 1.
        grades: float64[n], y.
        penalty: Penalty, at least 0. With 0 and columns that are linearly dependent, the weights have the least norm.
        rising: int8[m], 1 where a weight may not be below 0, -1 where it may not be above 0; by default no bounds.

    >>> model = ridge_fit(np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]]), np.array([2.0, 4.0, 6.0]), penalty=1.0)
    >>> model.weights.round(6).tolist(), model.intercept, model.predict(np.array([[4.0, 9.0]])).tolist()
    ([0.816497, 0.0], 4.0, [6.0])
    """
    n, m = scores.shape
    mean = scores.mean(axis=0)
    away = scores - mean
    exponent = np.frexp(np.abs(away).max(axis=0, initial=0.0))[1]  # squares of tiny scores would underflow
    spread = np.ldexp(np.sqrt((np.ldexp(away, -exponent) ** 2).mean(axis=0)), exponent)
    spread[constant(scores, np.zeros(1, np.int64))[0]] = 0.0
    varies = np.flatnonzero(spread)
    standard = away[:, varies] / spread[varies]
    level = float(grades.mean())
    gram = standard.T @ standard / n + penalty * np.eye(len(varies))
    weights = np.zeros(m)
    bounds = np.zeros(m, np.int8) if rising is None else rising
    weights[varies] = _bounded(gram, standard.T @ (grades - level) / n, bounds[varies])
    return Linear(mean, spread, weights, level)


def _bounded(gram: Floats, moment: Floats, rising: NDArray[np.int8]) -> Floats:
    """Minimize ``w'Gw / 2 - b'w`` where some weights have a sign: float64[m]."""
    sign = np.where(rising < 0, -1.0, 1.0)
    gram, moment, bounded = gram * sign * sign[:, None], moment * sign, rising != 0
    free = ~bounded
    found = _solved(gram, moment, free)
    for _ in range(10 * len(moment)):
        gradient = np.where(free, 0.0, moment - gram @ found)
        if not gradient.size or gradient.max() <= ROUNDING * np.abs(moment).max():
            break
        free[gradient.argmax()] = True
        while True:
            wanted = _solved(gram, moment, free)
            beyond = free & bounded & (wanted <= 0)
            if not beyond.any():
                break
            # As far towards the solution as the bounds allow; what meets its bound there stays on it.
            steps = found[beyond] / (found[beyond] - wanted[beyond] + (found[beyond] == wanted[beyond]))
            found += steps.min() * (wanted - found)
            free[np.flatnonzero(beyond)[steps <= steps.min()]] = False
            found[~free] = 0.0
        found = wanted
    return found * sign + 0.0  # without a negative zero


def _solved(gram: Floats, moment: Floats, free: Booleans) -> Floats:
    """The minimum over some weights, with all others 0."""
    out = np.zeros(len(moment))
    out[free] = np.linalg.lstsq(gram[np.ix_(free, free)], moment[free], rcond=None)[0]
    return out


def isotonic_fit(scores: Floats, grades: Floats, *, falls: bool = False) -> Isotonic:
    """Fit an isotonic regression of one column by pooling adjacent violators.

    Args:
        scores: float64[n, 1].
        grades: float64[n].
        falls: True if lower is better.

    >>> model = isotonic_fit(np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([1.0, 3.0, 2.0, 4.0]))
    >>> model.predict(np.array([[0.0], [1.5], [2.5], [9.0]])).tolist()
    [1.0, 1.75, 2.5, 4.0]
    """
    known, levels = isotonic_points(joined(-scores[:, 0] if falls else scores[:, 0]), grades)
    inside = np.zeros(len(known), bool)
    inside[1:-1] = (levels[1:-1] == levels[:-2]) & (levels[1:-1] == levels[2:])  # of a block; its ends say the same
    return Isotonic(known[~inside], levels[~inside], falls)


def penalized(scores: Floats, grades: Floats, terms: Terms) -> Linear:
    """Fit the ridge regression of some terms.

    Args:
        scores: float64[n, m].
        grades: float64[n].
        terms: The terms.
    """
    return ridge_fit(scores, grades, terms.penalty, terms.bounds)


def _isotonic(scores: Floats, grades: Floats, terms: Terms) -> Isotonic:
    return isotonic_fit(scores, grades, falls=bool(terms.falls[0]))


def _boosted(scores: Floats, grades: Floats, terms: Terms) -> Trees:
    signs = terms.bounds
    if terms.monotone:
        signs = np.where(signs, signs, np.sign(penalized(scores, grades, terms).weights)).astype(np.int8)
    return boosting_fit(scores, grades, signs, terms.seed)


LEARNERS: Final[Mapping[str, Learner]] = MappingProxyType(
    {
        each.name: each
        for each in (
            Learner("ridge", penalized),
            Learner("isotonic", _isotonic, single=True, linear=False),
            Learner("boosting", _boosted, beside="boosting", package="scikit-learn"),
        )
    }
)
"""The learners, by name."""
