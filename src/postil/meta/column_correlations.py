"""Correlations by moments and by ranks of columns with one column, within groups of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from postil.data.ranking import TOLERANCE, dense_ranks, without_noise
from postil.kernel import rank_correlations

if TYPE_CHECKING:
    from postil.kernel.arrays import Booleans, Floats, Int32s, Int64s

__all__ = [
    "Texts",
    "constant",
    "correlate_ranks",
    "means_by",
    "partial_correlations",
    "pearson",
    "rank_coefficient",
    "ratio",
    "rows_by",
    "scaled",
    "starts_of",
]

Ranked: TypeAlias = Literal["spearman", "kendall-b", "kendall-c"]
"""Name of a coefficient of ranks."""


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """Columns beside one column, and what groups their rows.

    Args:
        scores: float64[n, M], higher is better.
        grades: float64[n], mean ratings.
        item: int32[n], ascending from 0 without a gap.
        system: int32[n], from 0.
    """

    scores: Floats
    grades: Floats
    item: Int32s
    system: Int32s


def rank_coefficient(
    coefficient: Ranked,
    x: Floats,
    y: Floats,
    starts: Int64s,
    *,
    weights: Int32s | None = None,
    magnitudes: Floats | None = None,
) -> Floats:
    """Correlate the ranks of columns with those of one column within each group of contiguous rows.

    Args:
        coefficient: Its name.
        x: float64[n, M].
        y: float64[n].
        starts: int64[k], first row of each group.
        weights: int32[n], multiplicity of each row; by default 1.
        magnitudes: float64[n, M + 1], magnitudes of the terms that x and y were computed from, see
            `postil.data.ranking.tied`; by default their own.

    Returns:
        float64[k, M]; NaN where either side is constant.

    >>> x, y = np.array([[1.0], [2.0], [3.0], [5.0], [5.0]]), np.array([1.0, 3.0, 2.0, 1.0, 2.0])
    >>> rank_coefficient("spearman", x, y, np.array([0, 3])).tolist()
    [[0.5], [nan]]
    """
    ranks = dense_ranks(np.column_stack([x, y]), starts, magnitudes)
    return correlate_ranks(ranks[:, :-1], ranks[:, -1], starts, coefficient, weights)


def correlate_ranks(
    x: Int32s,
    y: Int32s,
    starts: Int64s,
    coefficient: Ranked,
    weights: Int32s | None = None,
) -> Floats:
    """Correlate ranks with ranks within each group of contiguous rows.

    Args:
        x: int32[n, M], dense ranks within each group, see `postil.data.ranking.dense_ranks`.
        y: int32[n], likewise.
        starts: int64[k], first row of each group.
        coefficient: Name of the coefficient.
        weights: int32[n], multiplicity of each row; by default 1.

    Returns:
        float64[k, M]; NaN where either side is constant.
    """
    ranks, of_y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    weights = np.ones(len(y), np.int32) if weights is None else weights
    out = np.empty((len(starts), x.shape[1]))
    for group, (start, end) in enumerate(zip(starts.tolist(), [*starts[1:].tolist(), len(y)], strict=True)):
        rows = slice(start, end)
        each = np.arange(end - start, dtype=np.int32)
        out[group] = rank_correlations(ranks[rows], of_y[rows], each, weights[None, rows], coefficient)
    return out


def pearson(
    x: Floats,
    y: Floats,
    starts: Int64s,
    *,
    weights: Int32s | None = None,
    magnitudes: Floats | None = None,
) -> Floats:
    """Pearson correlations by the two-pass formula: means first, then deviations.

    Args:
        x: float64[n, M].
        y: float64[n].
        starts: int64[k], first row of each group.
        weights: int32[n], multiplicity of each row; by default 1.
        magnitudes: float64[n, M + 1], as in `rank_coefficient`.

    Returns:
        float64[k, M] in [-1, 1]; NaN where either side is constant.
    """
    weights = np.ones(len(y), np.int32) if weights is None else weights
    both = scaled(np.column_stack([x, y]))
    group = np.repeat(np.arange(len(starts)), np.diff([*starts, len(y)]))
    heavy = weights[:, None].astype(np.float64)
    total = np.maximum(1.0, np.add.reduceat(heavy, starts))
    away = np.where(heavy > 0, both - (np.add.reduceat(heavy * both, starts) / total)[group], 0.0)
    # Scaled per group: with one exponent for all, the squares of a group of small scores would underflow.
    largest = np.maximum.reduceat(np.abs(away), starts)
    away = np.ldexp(away, -np.frexp(largest)[1][group])
    squares = np.add.reduceat(heavy * away**2, starts)
    products = np.add.reduceat(heavy * away[:, :-1] * away[:, -1:], starts)

    squares[constant(np.column_stack([x, y]), starts, weights, magnitudes)] = 0.0
    return ratio(products, np.sqrt(squares[:, :-1]) * np.sqrt(squares[:, -1:])).clip(-1.0, 1.0)


def constant(
    values: Floats, starts: Int64s, weights: Int32s | None = None, magnitudes: Floats | None = None
) -> Booleans:
    """Find the groups in which all rows are tied.

    Args:
        values: float64[n, M].
        starts: int64[k], first row of each group.
        weights: int32[n], multiplicity of each row, 0 to ignore it; by default 1.
        magnitudes: float64[n, M], see `postil.data.ranking.tied`; by default the numbers' own.

    Returns:
        bool[k, M].

    >>> constant(np.array([[0.3], [0.1 + 0.2], [0.3], [3e-13]]), np.array([0, 2])).tolist()
    [[True], [False]]
    """
    weights = np.ones(len(values), np.int32) if weights is None else weights
    there = np.flatnonzero(weights)
    sizes = np.add.reduceat((weights > 0).astype(np.int64), starts)
    out = np.ones((len(starts), values.shape[1]), bool)
    if not len(there):
        return out
    present, filled = values[there], sizes > 0
    begins = (np.cumsum(sizes) - sizes)[filled]
    highest, lowest = np.maximum.reduceat(present, begins), np.minimum.reduceat(present, begins)
    sized = np.abs(present) if magnitudes is None else magnitudes[there]
    # A chain of as many ties as rows cannot span more than this, so most columns need no sorting.
    with np.errstate(over="ignore"):
        near = highest - lowest <= 2 * sizes[filled, None] * TOLERANCE * np.maximum.reduceat(sized, begins)
    out[filled] = near
    for column in np.flatnonzero(near.any(axis=0)):
        of_column = None if magnitudes is None else magnitudes[there, column : column + 1]
        ranks = dense_ranks(present[:, [column]], begins, of_column)[:, 0]
        out[filled, column] = np.maximum.reduceat(ranks, begins) == 0
    return out


def means_by(group: Int32s, columns: Floats) -> tuple[Floats, Floats]:
    """Means of rows by group, and means of their magnitudes.

    Args:
        group: int32[n], from 0 to k - 1 without a gap.
        columns: float64[n, M].

    Returns:
        The means and the means of the magnitudes, float64[k, M] both. The latter decide ties of means, whose terms may
        cancel; see `postil.data.ranking.tied`.

    >>> [each.tolist() for each in means_by(np.array([0, 0, 1]), np.array([[1.0], [-3.0], [5.0]]))]
    [[[-1.0], [5.0]], [[2.0], [5.0]]]
    """
    n = np.bincount(group)[:, None]
    means, magnitudes = (
        np.column_stack([np.bincount(group, column) for column in each.T]) / n for each in (columns, np.abs(columns))
    )
    return means, magnitudes


def starts_of(*columns: Int32s | Int64s | Floats) -> Int64s:
    """First row of each group of contiguous rows that are the same in every column.

    >>> starts_of(np.array([0, 0, 0, 1]), np.array([3, 3, 4, 4])).tolist()
    [0, 2, 3]
    """
    changes = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return np.flatnonzero(np.concatenate([[True], changes]))


def rows_by(group: Int32s) -> list[Int64s]:
    """Rows of each group, ascending.

    Args:
        group: int32[n], any numbers.

    >>> [rows.tolist() for rows in rows_by(np.array([1, 0, 1]))]
    [[1], [0, 2]]
    """
    order = np.argsort(group, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(group[order])) + 1)


def scaled(values: Floats) -> Floats:
    """Columns divided by a power of two, so that no square overflows and no digit is lost."""
    if values.ndim == 2 and values.shape[1] <= 8:  # NumPy is slow along the columns of a narrow array
        largest = np.array([max(column.max(initial=0.0), -column.min(initial=0.0)) for column in values.T])
    else:
        largest = np.abs(values).max(axis=0, initial=0.0)
    exponents = np.frexp(largest)[1]
    with np.errstate(over="ignore"):
        powers = np.ldexp(1.0, -exponents)
    # The product is the same to the last bit, and faster, unless the power is too large for a number.
    return np.asarray(values * powers if np.isfinite(powers).all() else np.ldexp(values, -exponents), np.float64)


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Quotient; NaN where the denominator is not above 0."""
    out = np.full(numerator.shape, np.nan)
    np.divide(numerator, denominator, out=out, where=denominator > 0)
    return out


def partial_correlations(plain: Floats, one_with_third: Floats, other_with_third: Floats) -> Floats:
    """Correlations of two variables given a third: ``(r_xy - r_xz r_yz) / sqrt((1 - r_xz^2) (1 - r_yz^2))``.

    Args:
        plain: float64[...], r_xy.
        one_with_third: float64[...], r_xz.
        other_with_third: float64[...], r_yz, of a shape that broadcasts.

    Returns:
        float64[...] in [-1, 1]; NaN where one of the three is, or the third determines one of the two.

    >>> partial_correlations(np.array([0.5, 0.5]), np.array([0.0, 1.0]), np.array([0.6, 0.5])).tolist()
    [0.625, nan]
    """
    explained = one_with_third * other_with_third
    rest = [1 - each**2 for each in (one_with_third, other_with_third)]
    spread = np.sqrt(np.where(np.minimum(*rest) > TOLERANCE, rest[0] * rest[1], 0.0))
    return ratio(without_noise(plain - explained, np.abs(plain) + np.abs(explained)), spread).clip(-1.0, 1.0)
