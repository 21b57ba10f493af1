"""Correlations of columns with one column on resamples of rows, from what is the same in all resamples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.data.ties import dense_ranks
from postil.kernel import rank_correlations
from postil.meta.column_correlations import constant, pearson, ratio, scaled, starts_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from postil.kernel.arrays import Booleans, Floats, Int32s, Int64s
    from postil.meta.column_correlations import Ranked
    from postil.meta.resampling import Counts

__all__ = ["CHUNK", "RankedRows", "SummedRows", "means_of_groups", "resampled_sums", "sums_by_item"]


CHUNK: Final = 128
"""Number of resamples per block, the same on every engine, so that sums are the same to the last bit."""

CELLS: Final = 64
"""Largest number of different pairs of ranks that are counted before they are correlated."""

NUMBERS: Final = 2**23
"""Largest number of numbers in a working array."""


@dataclass(frozen=True, eq=False)
class SummedRows:
    """Rows whose Pearson correlations follow from sums per item.

    Args:
        x: float64[n, M].
        y: float64[n].
        item: int32[n], ascending from 0 without a gap.
    """

    x: Floats
    y: Floats
    item: Int32s

    @cached_property
    def of_item(self) -> Floats:
        """float64[items, 2 + 3 M + 1], numbers of rows, sums, squares and products with y of centered columns."""
        both = scaled(np.column_stack([self.x, self.y]))
        both = scaled(both - both.mean(axis=0))
        columns = np.column_stack([np.ones(len(self.y)), both, both**2, both[:, :-1] * both[:, -1:]])
        return np.asarray(np.add.reduceat(columns, starts_of(self.item)), np.float64)

    @cached_property
    def constant(self) -> Booleans:
        """bool[M], True where x or y is constant."""
        found = constant(np.column_stack([self.x, self.y]), np.zeros(1, np.int64))[0]
        return np.asarray(found[:-1] | found[-1])

    def __call__(self, counts: Int32s, jobs: int = 1) -> Floats:
        """Correlate the columns with y, each row repeated by the multiplicity of its item.

        Args:
            counts: int32[R, items], resample multiplicities.
            jobs: Ignored.

        Returns:
            float64[R, M]; NaN where x or y is constant.
        """
        del jobs
        # Where a resample's mean is so far from 0 that digits cancel, or the resample is constant, the two-pass formula
        # runs on its rows.
        m = self.x.shape[1] + 1
        sums = resampled_sums(counts, self.of_item)
        means, squares, products = np.split(sums[:, 1:] / np.maximum(1.0, sums[:, :1]), [m, 2 * m], axis=1)
        variances = squares - means**2
        doubtful = variances <= 1e-6 * squares
        doubtful = (doubtful[:, :-1] | doubtful[:, -1:]) & ~self.constant
        spread = np.sqrt(np.maximum(variances, 0.0))
        out = ratio(products - means[:, :-1] * means[:, -1:], spread[:, :-1] * spread[:, -1:]).clip(-1.0, 1.0)
        out[:, self.constant] = np.nan
        for resample in np.flatnonzero(doubtful.any(axis=1)):
            columns = doubtful[resample]
            weights = counts[resample][self.item]
            out[resample, columns] = pearson(self.x[:, columns], self.y, np.zeros(1, np.int64), weights=weights)[0]
        return out


@dataclass(frozen=True, eq=False)
class RankedRows:
    """Rows whose rank correlations follow from ranks that are the same in all resamples.

    Args:
        coefficient: Spearman's or one of Kendall's.
        x: float64[n, M].
        y: float64[n].
        item: int32[n], ascending from 0 without a gap.
    """

    coefficient: Ranked
    x: Floats
    y: Floats
    item: Int32s

    @cached_property
    def ranks(self) -> tuple[Int32s, Int32s]:
        """int32[n, M] and int32[n], dense ranks of x and y."""
        ranks = dense_ranks(np.column_stack([self.x, self.y]))
        return np.ascontiguousarray(ranks[:, :-1]), np.ascontiguousarray(ranks[:, -1])

    @cached_property
    def cells(self) -> tuple[Floats, Int32s, Int32s] | None:
        """Numbers of rows of each item per pair of ranks, float64[items, c], and the ranks, int32[c, 1] and int32[c].

        None where there are several columns, or many pairs.
        """
        x, y = self.ranks
        width = int(y.max()) + 1
        if x.shape[1] != 1 or (int(x.max()) + 1) * width > CELLS:
            return None
        pair = x[:, 0].astype(np.int64) * width + y
        pairs = np.flatnonzero(np.bincount(pair))
        number = np.zeros(pairs[-1] + 1, np.int64)
        number[pairs] = np.arange(len(pairs))
        items = int(self.item[-1]) + 1
        rows = np.bincount(self.item * np.int64(len(pairs)) + number[pair], minlength=items * len(pairs))
        first, second = (pairs // width).astype(np.int32), (pairs % width).astype(np.int32)
        return rows.reshape(items, -1).astype(np.float64), first[:, None], second

    def __call__(self, counts: Int32s, jobs: int = 1) -> Floats:
        """Correlate the columns with y, each row repeated by the multiplicity of its item.

        Args:
            counts: int32[R, items], resample multiplicities.
            jobs: Number of threads.

        Returns:
            float64[R, M]; NaN where x or y is constant.
        """
        if self.cells is None:
            return rank_correlations(*self.ranks, self.item, counts, self.coefficient, jobs)
        rows, x, y = self.cells  # equal rows are one row with a weight; sums of integers are exact
        weights = resampled_sums(counts, rows).astype(np.int32)
        return rank_correlations(x, y, np.arange(len(y), dtype=np.int32), weights, self.coefficient, jobs)


def sums_by_item(item: Int64s, group: Int64s, values: Floats, items: int) -> Callable[[Int32s], Floats]:
    """Function from int32[b, items], resample multiplicities, to float64[b, groups], sums of values in each resample.

    Args:
        item: int64[n], item of each value.
        group: int64[n], group of each value, ascending from 0 without a gap.
        values: float64[n].
        items: Number of items.

    >>> sums_by_item(np.array([0, 1, 1]), np.array([0, 0, 1]), np.array([1.0, 2, 4]), 2)(np.array([[1, 3]])).tolist()
    [[7.0, 12.0]]
    """
    groups = int(group[-1]) + 1
    if items * groups <= NUMBERS:
        of_item = np.asarray(np.bincount(item * groups + group, values, items * groups), np.float64).reshape(items, -1)
        return lambda counts: resampled_sums(counts, of_item)
    starts = starts_of(group)
    return lambda counts: np.asarray(np.add.reduceat(counts[:, item] * values, starts, axis=1), np.float64)


def resampled_sums(counts: Counts, of_item: Floats) -> Floats:
    """Sums over the items of each resample.

    Args:
        counts: int32 or uint8[R, items], resample multiplicities.
        of_item: float64[items, k].

    Returns:
        float64[R, k].
    """
    step = CHUNK if counts.shape[1] * CHUNK <= NUMBERS else CHUNK // 4
    sums = [counts[at : at + step] @ of_item for at in range(0, len(counts), step)]
    return np.vstack(sums).astype(np.float64, copy=False) if sums else np.zeros((0, of_item.shape[1]))


def means_of_groups(values: Floats, counts: Counts) -> Floats:
    """Means over the groups of each resample that have a value.

    Args:
        values: float64[groups, M]; NaN where there is none.
        counts: int32 or uint8[R, groups], resample multiplicities.

    Returns:
        float64[R, M]; NaN where no drawn group has a value.
    """
    there = ~np.isnan(values)
    sums = resampled_sums(counts, np.where(there, values, 0.0))
    return ratio(sums, resampled_sums(counts, there.astype(np.float64)))
