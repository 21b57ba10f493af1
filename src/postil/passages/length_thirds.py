"""Length-stratified nCG: the gain of a ranking among passages of similar length."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.data.ties import dense_ranks, joined
from postil.meta.column_correlations import ratio, starts_of
from postil.meta.resampled_rows import sums_by_item

if TYPE_CHECKING:
    from postil.kernel.arrays import Booleans, Floats, Int32s, Int64s


__all__ = ["THIRDS", "ListThirds", "PooledThirds", "defined_mean", "length_thirds"]

THIRDS: Final = 3
"""Number of strata of a list."""

WIDTH: Final = 64
"""Number of rows at the top of a list that are looked at first: most resamples have k rows among them."""

CELLS: Final = 2**20
"""Largest number of values in a working array."""


def length_thirds(words: Int64s, lists: Int64s) -> Int64s:
    """Cut each list of passages into thirds by their number of words.

    A passage is in the third ``floor(3 (s + t) / (2 n))`` of its list of n passages, where s of them are shorter and
    t are not longer, itself among these: the third in which the middle of the passages of its length lies. So passages
    of one length are never parted, and the order of the rows has no influence. A third can be empty.

    Args:
        words: int64[n], number of words of each passage.
        lists: int64[n], list of each passage.

    Returns:
        int64[n], 0 for the short, 1 for the middle, 2 for the long third.

    >>> length_thirds(np.array([9, 4, 7, 7, 7, 30]), np.zeros(6, np.int64)).tolist()
    [2, 0, 1, 1, 1, 2]
    """
    order = np.lexsort((words, lists))
    starts = starts_of(lists[order])
    blocks = starts_of(lists[order], words[order])
    sizes = np.diff([*starts, len(words)])
    which = np.searchsorted(starts, blocks, side="right") - 1
    ends = np.append(blocks[1:], len(words))
    # s and t are the places of the block's two ends within its list.
    third = THIRDS * (blocks + ends - 2 * starts[which]) // (2 * sizes[which])
    found = np.empty(len(words), np.int64)
    found[order] = np.repeat(third, ends - blocks)
    return found


def defined_mean(values: Floats, axis: int) -> Floats:
    """Mean of the values that are not NaN; NaN where all are.

    Args:
        values: float64[...].
        axis: The axis that the mean is over.
    """
    there = ~np.isnan(values)
    return ratio(np.where(there, values, 0.0).sum(axis=axis), there.sum(axis=axis).astype(np.float64))


@dataclass(frozen=True, eq=False)
class ListThirds:
    """Thirds of several lists, each list ranked by itself.

    Args:
        grades: float64[n], 0 or more; each list has one above 0.
        lists: int64[n], list of each passage, from 0 without a gap.
        thirds: int64[n], see `length_thirds`.
        counts: int32[R, lists], multiplicities of the lists in each resample.
        k: The rank cutoff within a third.
    """

    grades: Floats
    lists: Int64s
    thirds: Int64s
    counts: Int32s
    k: int

    def gains(self, scores: Floats) -> tuple[Floats, Floats]:
        """Compute length-stratified nCG of a ranking.

        Args:
            scores: float64[n], higher is better; ties have their expected gain.

        Returns:
            float64[1 + R], the mean over lists of the mean over their thirds, then that of each resample; float64[3],
            the mean over lists of each third, NaN where it has no grade above 0 in any.
        """
        shares = _share(self._gains(scores), self._best).reshape(-1, THIRDS)
        by_list = defined_mean(shares, 1)
        return np.append(by_list.mean(), self.counts @ by_list / len(by_list)), defined_mean(shares, 0)

    @cached_property
    def _strata(self) -> tuple[Int64s, Int64s, Int64s]:
        """Rows by stratum, the stratum of each of them, and the first row of each stratum that has any."""
        stratum = self.lists * THIRDS + self.thirds
        order = np.argsort(stratum, kind="stable")
        return order, stratum[order], starts_of(stratum[order])

    @cached_property
    def _best(self) -> Floats:
        return self._gains(self.grades)

    def _gains(self, scores: Floats) -> Floats:
        """Expected gain at k within each third of each list, float64[3 lists]."""
        rows, stratum, starts = self._strata
        # One integer per tie of a stratum, ascending from its best: sorted faster than two columns.
        place = stratum * len(rows) - dense_ranks(scores[rows][:, None], starts)[:, 0]
        down = np.argsort(place)
        blocks = np.flatnonzero(_changes(place[down]))
        sizes = np.diff(blocks, append=len(rows))
        within = stratum[blocks]
        above = blocks - starts[np.searchsorted(starts, blocks, side="right") - 1]
        sums = np.add.reduceat(self.grades[rows[down]], blocks)
        taken = sums * ((self.k - above) / sizes).clip(0.0, 1.0)
        return np.asarray(np.bincount(within, taken, THIRDS * (int(self.lists.max()) + 1)), np.float64)


@dataclass(frozen=True, eq=False)
class PooledThirds:
    """Thirds of one list of the passages of several groups; the groups are resampled, and the thirds stay.

    Args:
        grades: float64[n], 0 or more, one above 0.
        groups: int64[n], group of each passage, from 0 without a gap.
        thirds: int64[n], see `length_thirds`.
        counts: int32[R, groups], multiplicities of the groups in each resample.
        k: The rank cutoff within a third.
    """

    grades: Floats
    groups: Int64s
    thirds: Int64s
    counts: Int32s
    k: int

    def gains(self, scores: Floats) -> tuple[Floats, Floats]:
        """Compute length-stratified nCG of a ranking.

        Args:
            scores: float64[n], higher is better; ties have their expected gain.

        Returns:
            float64[1 + R], the mean over the thirds, then that of each resample, NaN where it drew no grade above 0;
            float64[3], nCG of each third.
        """
        shares = _share(self._gains(scores), self._best)
        return defined_mean(shares, 1), shares[0]

    @cached_property
    def _counts(self) -> Int32s:
        """All groups once, then the resamples."""
        return np.vstack([np.ones((1, self.counts.shape[1]), np.int32), self.counts])

    @cached_property
    def _best(self) -> Floats:
        return self._gains(self.grades)

    def _gains(self, scores: Floats) -> Floats:
        """Expected gain at k within each third, of all passages and of each resample, float64[1 + R, 3]."""
        found = np.zeros((len(self._counts), THIRDS))
        for third in range(THIRDS):
            rows = np.flatnonzero(self.thirds == third)
            if len(rows):
                found[:, third] = _top_gains(scores[rows], self.grades[rows], self.groups[rows], self._counts, self.k)
        return found


def _share(gain: Floats, most: Floats) -> Floats:
    """Gain / best gain; NaN where that is 0. Sums in different orders differ in their last digits, hence the cut."""
    return ratio(np.minimum(gain, most), most)


def _top_gains(scores: Floats, grades: Floats, groups: Int64s, counts: Int32s, k: int) -> Floats:
    """Expected gain at one rank cutoff in each resample, float64[R], from no more of the list than it takes.

    Args:
        scores: float64[n], higher is better.
        grades: float64[n].
        groups: int64[n].
        counts: int32[R, groups].
        k: The rank cutoff.
    """
    scores = joined(scores)
    order = np.argsort(-scores, kind="stable")
    begins = _changes(scores[order])
    block, ends = np.cumsum(begins) - 1, np.append(np.flatnonzero(begins)[1:], len(order))
    found = np.zeros(len(counts))
    left, width = np.arange(len(counts)), max(WIDTH, 2 * k)
    while len(left):
        blocks = int(block[min(width, len(order)) - 1]) + 1
        top = order[: ends[blocks - 1]]
        drawn, item = np.unique(groups[top], return_inverse=True)
        ones = np.ones(len(top))
        sums = [sums_by_item(item, block[: len(top)], values, len(drawn)) for values in (ones, grades[top])]
        short = np.zeros(len(left), bool)
        step = max(1, CELLS // blocks)
        for at in range(0, len(left), step):
            some = left[at : at + step]
            rows, gains = (each(counts[some][:, drawn]) for each in sums)
            taken = k - (np.cumsum(rows, axis=1) - rows)
            found[some] = (gains * (taken / np.maximum(rows, 1.0)).clip(0.0, 1.0)).sum(axis=1)
            short[at : at + step] = rows.sum(axis=1) < k
        left, width = left[short & (len(top) < len(order))], 8 * width
    return found


def _changes(values: Floats | Int64s) -> Booleans:
    """True where a value is not the one before it."""
    found = np.ones(len(values), bool)
    found[1:] = values[1:] != values[:-1]
    return found
