"""Ridge regression within groups, on binary sparse columns beside dense ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from postil.kernel.arrays import Floats, Int64s

__all__ = ["GroupedColumns", "grouped_ridge"]


CLOSE: Final = 1e-10
"""Norm of the gradient, as a share of the first one, at which the weights are found."""


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
