"""A linear function of standardized columns, as ridge and logistic regression fit it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

__all__ = ["Linear"]


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
