"""Ties of scores: equality up to rounding, relative to the size of the numbers, by chains.

Scores of smoothed metrics are meaningful down to 1e-12 and below, so no fixed number of decimals can tell rounding
noise from a difference. Two numbers are a tie where they differ by at most `TOLERANCE` of the larger magnitude. Among
many, the sorted neighbors that tie form chains, and each chain is one tie, so that ties are transitive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["TOLERANCE", "dense_ranks", "difference", "joined", "tied", "without_noise"]

Floats: TypeAlias = "NDArray[np.float64]"

TOLERANCE: Final = 1e-12
"""Largest relative difference of two numbers that are a tie."""

PARTS: Final = 60
"""Parts of a grade that are counted, not sorted: the mean of up to six whole ratings has a whole number of them."""

MOST_PARTS: Final = 1e9
"""Largest magnitude of a number that is counted, in parts; see `TOLERANCE`."""


def tied(one: Floats | float, other: Floats | float, magnitudes: Floats | float | None = None) -> NDArray[np.bool_]:
    """Test which numbers are equal up to rounding: ``|one - other| <= TOLERANCE * magnitude``.

    Args:
        one: float64[...]; infinities are allowed, and tie with themselves alone.
        other: float64[...], of a shape that broadcasts with `one`.
        magnitudes: float64[...], the size of what the numbers were computed from, where that is not the larger of
            their own magnitudes: of differences and means, the largest score in them.

    Returns:
        bool[...].

    >>> tied(np.array([0.3, 3e-13, 0.0]), np.array([0.1 + 0.2, 4e-13, 1e-300])).tolist()
    [True, False, False]
    """
    if magnitudes is None:
        magnitudes = np.maximum(np.abs(one), np.abs(other))
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(one - other) <= TOLERANCE * magnitudes
    return np.asarray((one == other) | (near & np.isfinite(one) & np.isfinite(other)))


def difference(one: Floats, other: Floats) -> Floats:
    """Subtract, with exactly 0 where the two are a tie.

    >>> difference(np.array([0.1 + 0.2, 4e-20]), np.array([0.3, 2e-20])).tolist()
    [0.0, 2e-20]
    """
    return np.where(tied(one, other), 0.0, one - other)


def without_noise(values: Floats | float, magnitudes: Floats | float) -> Floats:
    """Replace sums that are nothing but rounding by 0: those of at most `TOLERANCE` of the size of their terms.

    Args:
        values: float64[...], sums or means of terms that may cancel.
        magnitudes: float64[...], sums or means of the magnitudes of the same terms.

    >>> without_noise(np.array([0.1 + 0.2 - 0.3, 1e-17]), np.array([0.6, 1e-17])).tolist()
    [0.0, 1e-17]
    """
    return np.where(np.abs(values) <= TOLERANCE * np.asarray(magnitudes), 0.0, values)


def dense_ranks(
    columns: Floats, starts: NDArray[np.int64] | None = None, magnitudes: Floats | None = None
) -> NDArray[np.int32]:
    """Rank each column within each group of neighboring rows, from 0 without a gap; a tie shares one rank.

    Args:
        columns: float64[n, M].
        starts: int64[k], the first row of each group; by default all rows are one group.
        magnitudes: float64[n, M], see `tied`; by default the numbers' own.

    Returns:
        int32[n, M].

    >>> dense_ranks(np.array([[0.3], [0.1], [0.1 + 0.2], [7.0]]), np.array([0, 3])).tolist()
    [[1], [0], [1], [0]]
    """
    starts = np.zeros(min(1, len(columns)), np.int64) if starts is None else starts
    out = np.empty(columns.shape, np.int32)
    for column, values in enumerate(np.ascontiguousarray(columns.T)):
        if len(starts) == 1 and magnitudes is None and (counted := _counted_ranks(values)) is not None:
            out[:, column] = counted
            continue
        order, begins = _chain(values, starts, None if magnitudes is None else magnitudes[:, column])
        ranks = np.cumsum(begins)
        out[order, column] = ranks - np.repeat(ranks[starts], np.diff([*starts, len(columns)]))
    return out


def _counted_ranks(values: Floats) -> NDArray[np.int64] | None:
    """Dense ranks of multiples of 1 / `PARTS` in a small range, without sorting; None for other numbers."""
    with np.errstate(over="ignore"):
        parts = values[:64] * PARTS
        if (parts != np.rint(parts)).any():  # most columns that are no grades end here
            return None
        parts = values * PARTS
    lowest, highest = parts.min(), parts.max()
    # They are 1 apart and at most MOST_PARTS, so that no two of them tie.
    near = max(-lowest, highest) <= MOST_PARTS and highest - lowest <= 16 * len(values)
    if not near or (parts != np.rint(parts)).any():
        return None
    place = (parts - lowest).astype(np.int64)
    return np.asarray((np.cumsum(np.bincount(place) > 0) - 1)[place], np.int64)


def joined(values: Floats, starts: NDArray[np.int64] | None = None, magnitudes: Floats | None = None) -> Floats:
    """Replace each number by the lowest of its chain, so that ties become equal to the last bit.

    Args:
        values: float64[n].
        starts: int64[k], the first row of each group, ties being within groups; by default all rows are one group.
        magnitudes: float64[n], see `tied`; by default the numbers' own.

    Returns:
        float64[n], in the same order but for ties.

    >>> joined(np.array([0.1 + 0.2, 0.3, 5.0, -np.inf])).tolist()
    [0.3, 0.3, 5.0, -inf]
    """
    starts = np.zeros(min(1, len(values)), np.int64) if starts is None else starts
    out = np.empty(len(values))
    order, begins = _chain(values, starts, magnitudes)
    lowest = np.maximum.accumulate(np.where(begins, np.arange(len(values)), 0))
    out[order] = values[order][lowest]
    return out


def _chain(
    values: Floats, starts: NDArray[np.int64], magnitudes: Floats | None
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The rows sorted within their groups, and True where a sorted row begins a chain."""
    group = np.repeat(np.arange(len(starts)), np.diff([*starts, len(values)])) if len(starts) > 1 else None
    # The order of equal numbers matters to magnitudes alone, and a sort that is not stable is faster.
    kind: Literal["stable", "quicksort"] = "quicksort" if magnitudes is None else "stable"
    order = np.argsort(values, kind=kind) if group is None else np.lexsort((values, group))
    ascending = values[order]
    sizes = None
    if magnitudes is not None:
        of_row = magnitudes[order]
        sizes = np.maximum(of_row[1:], of_row[:-1])
    begins = np.ones(len(values), bool)
    begins[1:] = ~tied(ascending[1:], ascending[:-1], sizes)
    begins[starts] = True
    return order, begins
