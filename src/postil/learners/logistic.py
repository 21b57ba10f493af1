"""Linear functions of standardized columns, and logistic regression with an L2 penalty by Newton's method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import InvalidInput, Undefined, UsageError

if TYPE_CHECKING:
    from typing import Self

    from postil.kernel.arrays import Booleans, Floats

__all__ = ["Linear", "Logistic"]


STEPS: Final = 100
"""Most Newton steps; about ten are enough."""
HALVINGS: Final = 40
"""Most halvings of a step that does not lower the loss."""
GRADIENT: Final = 1e-10
"""Largest entry of the gradient, per row, at the minimum."""


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
