"""Learned combinations of scores: ridge and isotonic regression of human ratings on scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias

import numpy as np

from postil.errors import Undefined
from postil.messages import Setting
from postil.metaeval.coefficients import constant
from postil.metaeval.grade_mapping import interpolated, isotonic_points
from postil.records.ties import joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["PENALTY", "CombinationMethod", "Isotonic", "Model", "Ridge", "assign_items", "isotonic_fit", "ridge_fit"]

Floats: TypeAlias = "NDArray[np.float64]"

CombinationMethod: TypeAlias = Literal["ridge", "isotonic", "boosting"]
"""Learner: ridge regression, isotonic regression of one column, or boosted trees."""

PENALTY: Final = 0.01
"""Default ridge penalty, for columns of standard deviation 1 and a mean squared error."""

ROUNDING: Final = 1e-12
"""Share of the largest gradient from which on a bounded weight leaves its bound."""


class Model(Protocol):
    """A fitted combination of m columns."""

    def predict(self, scores: Floats) -> Floats:
        """Predict grades, float64[n], from scores, float64[n, m]; one row's grade depends on that row alone."""


@dataclass(frozen=True, slots=True, eq=False)
class Ridge:
    """A linear combination of standardized columns.

    Args:
        mean: float64[m], mean of each column in the rows that it was fitted on.
        spread: float64[m], standard deviation there (divisor n); 0 for a constant column.
        weights: float64[m], grades per standard deviation; 0 for a constant column.
        intercept: Mean grade of the rows.
    """

    mean: Floats
    spread: Floats
    weights: Floats
    intercept: float

    def predict(self, scores: Floats) -> Floats:
        """See `Model.predict`."""
        out = np.full(len(scores), self.intercept)
        for column in np.flatnonzero(self.weights):  # one by one, so that no batch changes the order of a sum
            out += (scores[:, column] - self.mean[column]) / self.spread[column] * self.weights[column]
        return out


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

    def predict(self, scores: Floats) -> Floats:
        """See `Model.predict`."""
        return interpolated(self.known, self.levels, -scores[:, 0] if self.falls else scores[:, 0])


def assign_items(items: Sequence[str], folds: int) -> NDArray[np.int32]:
    """Assign items to folds: number k of the items sorted by name is in fold k mod F.

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
            problem = f"there is only one item ({items[0]}), so there are no texts of other items to fit on"
            raise Undefined(f"{problem}; give scores and judgements of more items")
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
) -> Ridge:
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
    return Ridge(mean, spread, weights, level)


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


def _solved(gram: Floats, moment: Floats, free: NDArray[np.bool_]) -> Floats:
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
