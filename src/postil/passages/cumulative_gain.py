"""Cumulative gain of ranked rows, tied rows as blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from postil.data.ranking import best_first
from postil.data.ties import joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Ranked", "share_of_best"]


class Ranked:
    """Rows in the order of their scores, the rows of a tie as one block; with keys no row is tied.

    Args:
        scores: float64[n], higher is better.
        grades: float64[n], 0 or more.
        keys: n keys that break ties.
    """

    def __init__(
        self,
        scores: NDArray[np.float64],
        grades: NDArray[np.float64],
        keys: Sequence[str] | Sequence[int] | None = None,
    ) -> None:
        scores = joined(scores)
        self._order = best_first(scores, keys=keys)
        self._grades = grades[self._order]
        falling = scores[self._order]
        last = np.ones(len(scores), bool)
        if keys is None:
            last[:-1] = falling[1:] != falling[:-1]
        self._ends = np.flatnonzero(last)

    @classmethod
    def best(cls, grades: NDArray[np.float64]) -> Ranked:
        """Rows in the order of their grades.

        Args:
            grades: float64[n].
        """
        return cls(grades, grades)

    def gains(
        self,
        cutoffs: NDArray[np.int64],
        counts: NDArray[np.int32] | None = None,
        groups: NDArray[np.intp] | None = None,
    ) -> NDArray[np.float64]:
        """Gain of L lists at each rank cutoff, float64[L, cutoffs].

        Over a block, and over the copies of a row, the expected gain grows evenly: a straight line from end to end.

        Args:
            cutoffs: int64[c], rank cutoffs.
            counts: int32[L, g], number of copies of the rows of each group in each list; by default one list with one
                of each row.
            groups: int64[n], group of each row, with ``counts``.
        """
        rows, blocks = self._copies(int(cutoffs.max()), counts, groups)
        gains = self._sums(rows * self._grades[: rows.shape[1]], blocks)
        rows = self._sums(rows, blocks)
        # One call of interp for all lists: each list has its own stretch of the axis.
        apart = (rows[:, -1].max() + 1) * np.arange(len(rows))[:, None]
        at = np.minimum(cutoffs, rows[:, -1:]) + apart
        return np.asarray(np.interp(at, (rows + apart).ravel(), gains.ravel()), np.float64)

    def _copies(
        self, longest: int, counts: NDArray[np.int32] | None, groups: NDArray[np.intp] | None
    ) -> tuple[NDArray[np.float64], int]:
        """Copies of the best rows in each list, and their number of blocks, which hold the largest cutoff in all lists.

        Rows below the largest cutoff are never looked at, and there may be many of them.
        """
        most = len(self._ends)
        blocks = min(int(np.searchsorted(self._ends, longest - 1)) + 1, most)
        while True:
            rows = self._order[: self._ends[blocks - 1] + 1]
            if counts is None or groups is None:
                return np.ones((1, len(rows))), blocks
            copies = counts[:, groups[rows]].astype(np.float64)
            if blocks == most or copies.sum(axis=1).min() >= longest:
                return copies, blocks
            blocks = min(blocks + blocks // 4 + 1, most)

    def _sums(self, values: NDArray[np.float64], blocks: int) -> NDArray[np.float64]:
        """Sums of each list up to the end of each of the first blocks, with a 0 before them."""
        sums = np.zeros((len(values), blocks + 1))
        sums[:, 1:] = np.cumsum(values, axis=1)[:, self._ends[:blocks]]
        return sums


def share_of_best(
    ranked: Ranked,
    best: Ranked,
    cutoffs: NDArray[np.int64],
    counts: NDArray[np.int32] | None = None,
    groups: NDArray[np.intp] | None = None,
) -> NDArray[np.float64]:
    """Gain divided by the best possible gain.

    Args:
        ranked: Rows in their order.
        best: The same rows in their best order.
        cutoffs: int64[c], rank cutoffs.
        counts: int32[L, g], see `Ranked.gains`.
        groups: int64[n], see `Ranked.gains`.

    Returns:
        float64[L, c], from 0 to 1; NaN where a list has no grade above 0.

    >>> scores, grades = np.array([3.0, 2.0, 1.0]), np.array([1.0, 0.0, 2.0])
    >>> share_of_best(Ranked(scores, grades), Ranked.best(grades), np.array([1, 3])).tolist()
    [[0.5, 1.0]]
    """
    gain, most = ranked.gains(cutoffs, counts, groups), best.gains(cutoffs, counts, groups)
    # Sums in different orders differ in their last digits, so a best ranking could come out above 1.
    share = np.full(most.shape, np.nan)
    np.divide(np.minimum(gain, most), most, out=share, where=most > 0)
    return share
