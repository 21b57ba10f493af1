"""Linear learners on arrays: logistic regression with an L2 penalty, ridge regression within groups of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from postil.errors import InvalidInput, Undefined, UsageError

if TYPE_CHECKING:
    from postil.kernel.arrays import Booleans, Floats, Int64s

__all__ = ["GroupedColumns", "Linear", "Logistic", "grouped_ridge"]

STEPS: Final = 100
"""Most Newton steps; about ten are enough."""
HALVINGS: Final = 40
"""Most halvings of a step that does not lower the loss."""
GRADIENT: Final = 1e-10
"""Largest entry of the gradient, per row, at the minimum."""

CLOSE: Final = 1e-10
"""Norm of the gradient, as a share of the first one, at which the weights are found."""


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """A linear function of standardized columns.

    Args:
        mean: float64[m], mean of each column in the rows that it was fitted on.
        scale: float64[m], standard deviation there (divisor n); of a constant column 0 or 1.
        weights: float64[m], weight of a standard deviation; 0 for a constant column.
        intercept: The value of a row of means.
    """

    mean: Floats
    scale: Floats
    weights: Floats
    intercept: float

    @classmethod
    def of(cls, table: Floats) -> Self:
        """The function of a `table`."""
        mean, scale, weights = (np.ascontiguousarray(column) for column in table[:-1].T)
        return cls(mean, scale, weights, float(table[-1, 2]))

    def table(self) -> Floats:
        """Mean, standard deviation and weight of each column, then 0, 1 and the intercept: float64[m + 1, 3]."""
        return np.vstack([np.column_stack([self.mean, self.scale, self.weights]), [0.0, 1.0, self.intercept]])

    def predict(self, columns: Floats) -> Floats:
        """The value of each row, float64[n], which does not depend on the rows around it.

        Args:
            columns: float64[n, m].
        """
        out = np.full(len(columns), self.intercept)
        for column in np.flatnonzero(self.weights):  # one by one, so that no batch changes the order of a sum
            out += (columns[:, column] - self.mean[column]) / self.scale[column] * self.weights[column]
        return out


class Logistic(Linear):
    """P(outcome) = 1 / (1 + exp(-logit)), where the logit is linear in standardized columns."""

    __slots__ = ()

    @classmethod
    def fit(cls, columns: Floats, outcomes: Booleans, l2: float = 1.0) -> Logistic:
        """Minimize sum_i ln(1 + exp(-y_i logit_i)) + l2 / 2 sum_j w_j^2, with y = 1 for True and -1 for False.

        The intercept is not penalized. This is scikit-learn's ``LogisticRegression(C=1 / l2)`` on standardized columns.

        Args:
            columns: float64[n, m].
            outcomes: bool[n].
            l2: Weight of the penalty, above 0.

        Raises:
            UsageError: The penalty is not above 0, or shapes differ.
            InvalidInput: A number is not finite.
            Undefined: All outcomes are the same.

        >>> model = Logistic.fit(np.arange(6.0)[:, None], np.array([0, 0, 1, 0, 1, 1], bool), l2=1.0)
        >>> model.predict(np.array([[0.0], [2.5], [5.0]])).round(3).tolist()
        [-1.272, 0.0, 1.272]
        """
        if columns.ndim != 2 or outcomes.shape != columns.shape[:1]:
            raise UsageError(f"expected one outcome per row, got shapes {columns.shape} and {outcomes.shape}")
        if not l2 > 0:
            raise UsageError(f"l2: expected a number above 0, got {l2}")
        if not np.isfinite(columns).all():
            raise InvalidInput("expected finite numbers", where="columns")
        true = outcomes.astype(np.float64)
        if len(true) == 0 or true.min() == true.max():
            raise Undefined("expected outcomes of both kinds, got one kind")
        mean, scale = columns.mean(axis=0), columns.std(axis=0)
        # A constant column's deviation may be a rounding error instead of 0.
        constant = scale <= 1e-12 * np.maximum(1.0, np.abs(mean))
        scale = np.where(constant, 1.0, scale)
        x = np.where(constant, 0.0, (columns - mean) / scale)
        x = np.hstack([x, np.ones((len(x), 1))])
        penalty = np.append(np.full(columns.shape[1], l2), 0.0)
        w = np.zeros(x.shape[1])
        w[-1] = np.log(true.sum() / (len(true) - true.sum()))
        loss = _loss(x, true, w, penalty)
        for _ in range(STEPS):
            # einsum, since BLAS may sum in another order on other numbers of threads
            p = 1 / (1 + np.exp(-np.clip(np.einsum("ni,i->n", x, w), -700, 700)))
            gradient = np.einsum("ni,n->i", x, p - true) + penalty * w
            if np.abs(gradient).max() <= GRADIENT * len(x):
                break
            curvature = np.einsum("ni,nj->ij", x * (p * (1 - p))[:, None], x) + np.diag(penalty + 1e-12)
            step = np.linalg.solve(curvature, gradient)
            for halving in range(HALVINGS):
                lower = _loss(x, true, tried := w - step / 2**halving, penalty)
                if lower <= loss:
                    break
            else:
                break  # no step lowers the loss: as exact as float64 is
            w, loss = tried, lower
        return cls(mean, scale, w[:-1], float(w[-1]))

    def probabilities(self, columns: Floats) -> Floats:
        """The probability of the outcome for each row, float64[n].

        Args:
            columns: float64[n, m].
        """
        return np.asarray(1 / (1 + np.exp(-np.clip(self.predict(columns), -700, 700))))


def _loss(x: Floats, true: Floats, w: Floats, penalty: Floats) -> float:
    logits = np.einsum("ni,i->n", x, w)
    return float(np.logaddexp(0, np.where(true > 0, -logits, logits)).sum() + (penalty * w**2).sum() / 2)


@dataclass(frozen=True, slots=True, eq=False)
class GroupedColumns:
    """n rows of m binary columns and d dense ones, in groups.

    Args:
        rows: int64[E], row of each entry of the binary columns that is 1.
        columns: int64[E], its column, from 0 to m - 1.
        binary: Number m of binary columns.
        dense: float64[n, d].
        groups: int64[n], group of each row, from 0.
    """

    rows: Int64s
    columns: Int64s
    binary: int
    dense: Floats
    groups: Int64s

    def centered(self, values: Floats) -> Floats:
        """Values of the rows, float64[n], less the means of their groups."""
        sizes = np.maximum(np.bincount(self.groups), 1)
        return np.asarray(values - (np.bincount(self.groups, values) / sizes)[self.groups], np.float64)

    def times(self, weights: Floats) -> Floats:
        """Product with the weights of the columns, float64[m + d]: float64[n]."""
        of_binary = np.bincount(self.rows, weights[self.columns], len(self.dense))
        return np.asarray(of_binary + self.dense @ weights[self.binary :], np.float64)

    def transposed_times(self, values: Floats) -> Floats:
        """Product of the transposed columns with values of the rows, float64[n]: float64[m + d]."""
        of_binary = np.bincount(self.columns, values[self.rows], self.binary)
        return np.concatenate([of_binary, self.dense.T @ values])


def grouped_ridge(columns: GroupedColumns, target: Floats, penalty: float) -> Floats:
    """Minimize ``sum (y - Xw)² + penalty |w|²`` with the columns X and the target y centered within their groups.

    By conjugate gradients on the normal equations (Hestenes and Stiefel 1952), so that time and memory are linear in
    the entries of the columns.

    Args:
        columns: The columns.
        target: float64[n], y.
        penalty: The penalty, above 0.

    Returns:
        float64[m + d], weights of the binary columns, then of the dense ones.

    >>> one = GroupedColumns(np.array([0, 2]), np.array([0, 0]), 1, np.zeros((4, 0)), np.array([0, 0, 1, 1]))
    >>> grouped_ridge(one, np.array([3.0, 1.0, 9.0, 5.0]), penalty=0.5).round(6).tolist()
    [2.0]
    """
    residual = columns.transposed_times(columns.centered(target))
    weights = np.zeros(len(residual))
    direction, square = residual.copy(), float(residual @ residual)
    least = CLOSE**2 * square
    for _ in range(10 * max(1, min(len(target), len(weights)))):
        if square <= least:
            break
        image = columns.transposed_times(columns.centered(columns.times(direction))) + penalty * direction
        step = square / float(direction @ image)
        weights += step * direction
        residual -= step * image
        before, square = square, float(residual @ residual)
        direction = residual + square / before * direction
    return weights
