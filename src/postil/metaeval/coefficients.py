"""Coefficients of columns with one column: Pearson's, Spearman's and Kendall's, within groups of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import numpy as np

from postil.kernel import rank_correlations

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "COEFFICIENTS",
    "Coefficient",
    "correlate_groups",
    "dense_ranks",
    "pearson",
    "ratio",
    "rounded",
    "scaled",
    "starts_of",
]

Floats: TypeAlias = "NDArray[np.float64]"
Integers: TypeAlias = "NDArray[np.int32]"

Coefficient: TypeAlias = Literal["pearson", "spearman", "kendall-b", "kendall-c"]
"""What is computed."""

COEFFICIENTS: Final[tuple[Coefficient, ...]] = get_args(Coefficient)
"""Every coefficient."""

DECIMALS: Final = 12
"""Numbers that are the same when rounded to so many decimals are ties."""


def correlate_groups(
    x: Floats,
    y: Floats,
    starts: NDArray[np.int64],
    coefficient: Coefficient,
    weights: Integers | None = None,
) -> Floats:
    """A coefficient of columns with one column, within each group of neighbouring rows.

    Args:
        x: float64[n, M].
        y: float64[n].
        starts: int64[k], the first row of each group.
        coefficient: Which coefficient.
        weights: int32[n], how many equal rows each row stands for; by default 1.

    Returns:
        float64[k, M]; NaN where either side is constant.

    >>> x, y = np.array([[1.0], [2.0], [3.0], [5.0], [5.0]]), np.array([1.0, 3.0, 2.0, 1.0, 2.0])
    >>> correlate_groups(x, y, np.array([0, 3]), "spearman").tolist()
    [[0.5], [nan]]
    """
    weights = np.ones(len(y), np.int32) if weights is None else weights
    if coefficient == "pearson":
        return pearson(x, y, starts, weights)
    ranks, of_y = dense_ranks(x, starts), dense_ranks(y[:, None], starts)[:, 0]
    out = np.empty((len(starts), x.shape[1]))
    for group, (start, end) in enumerate(zip(starts.tolist(), [*starts[1:].tolist(), len(y)], strict=True)):
        rows = slice(start, end)
        each = np.arange(end - start, dtype=np.int32)
        out[group] = rank_correlations(ranks[rows], of_y[rows], each, weights[None, rows], coefficient)
    return out


def pearson(x: Floats, y: Floats, starts: NDArray[np.int64], weights: Integers) -> Floats:
    """Pearson's coefficient in two passes over the rows: the means, then the distances from them.

    Args:
        x: float64[n, M].
        y: float64[n].
        starts: int64[k], the first row of each group.
        weights: int32[n], how many equal rows each row stands for.

    Returns:
        float64[k, M] in [-1, 1]; NaN where either side is constant.
    """
    both = scaled(np.column_stack([x, y]))
    group = np.repeat(np.arange(len(starts)), np.diff([*starts, len(y)]))
    heavy = weights[:, None].astype(np.float64)
    total = np.maximum(1.0, np.add.reduceat(heavy, starts))
    away = scaled(both - (np.add.reduceat(heavy * both, starts) / total)[group])
    squares = np.add.reduceat(heavy * away**2, starts)
    products = np.add.reduceat(heavy * away[:, :-1] * away[:, -1:], starts)

    compared, there = rounded(np.column_stack([x, y])), heavy > 0
    highest = np.maximum.reduceat(np.where(there, compared, -np.inf), starts)
    lowest = np.minimum.reduceat(np.where(there, compared, np.inf), starts)
    squares[highest <= lowest] = 0.0
    return ratio(products, np.sqrt(squares[:, :-1]) * np.sqrt(squares[:, -1:])).clip(-1.0, 1.0)


def dense_ranks(values: Floats, starts: NDArray[np.int64]) -> Integers:
    """Ranks within each group of rows, from 0 without a gap; numbers that agree to 12 decimals share one.

    Args:
        values: float64[n, M].
        starts: int64[k], the first row of each group.

    Returns:
        int32[n, M].

    >>> dense_ranks(np.array([[0.5], [0.1], [0.5], [7.0]]), np.array([0, 3])).tolist()
    [[1], [0], [1], [0]]
    """
    compared = rounded(values)
    sizes = np.diff([*starts, len(values)])
    group = np.repeat(np.arange(len(starts)), sizes)
    out = np.empty(values.shape, np.int32)
    for j in range(values.shape[1]):
        order = np.lexsort((compared[:, j], group))
        new = np.r_[False, np.diff(compared[order, j]) != 0]
        new[starts] = False
        rank = np.cumsum(new)
        out[order, j] = rank - np.repeat(rank[starts], sizes)
    return out


def starts_of(*columns: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """The first row of each group of neighbouring rows that are the same in every column.

    >>> starts_of(np.array([0, 0, 0, 1]), np.array([3, 3, 4, 4])).tolist()
    [0, 2, 3]
    """
    changes = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return np.flatnonzero(np.concatenate([[True], changes]))


def rounded(values: Floats) -> Floats:
    """Numbers as they are compared: to 12 decimals; those that are too large for it as they are."""
    with np.errstate(over="ignore"):
        found = np.round(values, DECIMALS)
    return np.asarray(np.where(np.isfinite(found), found, values), np.float64)


def scaled(values: Floats) -> Floats:
    """Columns divided by a power of two, so that no square overflows and no digit is lost."""
    exponents = np.frexp(np.abs(values).max(axis=0, initial=0.0))[1]
    return np.asarray(np.ldexp(values, -exponents), np.float64)


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """The quotient; NaN where the denominator is not above 0."""
    out = np.full(numerator.shape, np.nan)
    np.divide(numerator, denominator, out=out, where=denominator > 0)
    return out
