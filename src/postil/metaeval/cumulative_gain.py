"""Rows in the order of their scores, and how much the top of them gains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from postil.records.ranking import best_first
from postil.records.ties import joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Ranked", "share_of_best"]


class Ranked:
    """Rows in the order of their scores, the rows of a tie as one block; with keys no row is tied.

    Args:
        scores: float64[n], high is good.
        grades: float64[n], 0 or more.
        keys: n keys that break ties.
    """

    def __init__(
        self, scores: NDArray[np.float64], grades: NDArray[np.float64], keys: Sequence[Any] | NDArray[Any] | None = None
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
        """The best order there is."""
        return cls(grades, grades)

    def gains(self, cuts: NDArray[np.int64], copies: NDArray[np.int32] | None = None) -> NDArray[np.float64]:
        """Gain at each cut of L lists, list l with ``copies[l, i]`` copies of row i: float64[L, cuts].

        Over a block, and over the copies of a row, the expected gain grows evenly: a straight line from end to end.
        """
        weights = (np.ones((1, len(self._order))) if copies is None else copies)[:, self._order].astype(np.float64)
        rows, gains = self._sums(weights), self._sums(weights * self._grades)
        apart = (rows[:, -1].max() + 1) * np.arange(len(rows))[:, None]  # the lists one after the other on one axis
        at = np.minimum(cuts, rows[:, -1:]) + apart
        return np.asarray(np.interp(at, (rows + apart).ravel(), gains.ravel()), np.float64)

    def _sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums of each list up to the end of each block, with a 0 before them."""
        sums = np.zeros((len(values), len(self._ends) + 1))
        sums[:, 1:] = np.cumsum(values, axis=1)[:, self._ends]
        return sums


def share_of_best(
    ranked: Ranked, best: Ranked, cuts: NDArray[np.int64], copies: NDArray[np.int32] | None = None
) -> NDArray[np.float64]:
    """Gain over the best possible gain.

    Args:
        ranked: Rows.
        best: The same in their best order.
        cuts: int64[c].
        copies: int32[L, n], how often each row is in each of L lists; by default once in one.

    Returns:
        float64[L, c], from 0 to 1; NaN where a list has no grade above 0.

    >>> scores, grades = np.array([3.0, 2.0, 1.0]), np.array([1.0, 0.0, 2.0])
    >>> share_of_best(Ranked(scores, grades), Ranked.best(grades), np.array([1, 3])).tolist()
    [[0.5, 1.0]]
    """
    gain, most = ranked.gains(cuts, copies), best.gains(cuts, copies)
    # Sums in different orders differ in their last digits: no gain is above the best.
    share = np.full(most.shape, np.nan)
    np.divide(np.minimum(gain, most), most, out=share, where=most > 0)
    return share
