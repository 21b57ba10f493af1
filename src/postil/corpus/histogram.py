"""Distributions of numbers, kept exactly as counts of each value, so that they add up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["EMPTY", "Histogram"]

MANY: Final = 1 << 20
"""Integers within a range below this are counted without sorting."""

POINTS: Final = 400
"""Number of pieces of a tail."""


@dataclass(frozen=True, eq=False)
class Histogram:
    """Frequencies of integer values; histograms add up.

    Args:
        values: int64[v] or float64[v], rising.
        counts: int64[v], each above 0.

    >>> votes = Histogram.of([0, 0, 7]) + Histogram.of([1])
    >>> votes.n, votes.mean, votes.quantile(0.5), votes.share(votes.values == 0)
    (4, 2.0, 0.5, 0.5)
    >>> print(Histogram.of([]).mean)
    None
    """

    values: NDArray[np.int64] | NDArray[np.float64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, values: ArrayLike) -> Histogram:
        """Count values.

        Args:
            values: Any number of them.
        """
        array = np.asarray(values)
        if array.dtype.kind in "iu" and len(array) and int(array.max()) - int(array.min()) < MANY:
            least = array.min()
            counts = np.bincount(array - least)
            places = counts.nonzero()[0]
            return cls(places + least.astype(np.int64), counts[places])
        return cls(*np.unique(array, return_counts=True))

    def __add__(self, other: Histogram) -> Histogram:
        """Both together."""
        if not self.n or not other.n:
            return other if not self.n else self
        values, places = np.unique(np.concatenate([self.values, other.values]), return_inverse=True)
        counts = np.zeros(len(values), dtype=np.int64)
        np.add.at(counts, places, np.concatenate([self.counts, other.counts]))
        return Histogram(values, counts)

    @cached_property
    def n(self) -> int:
        """Number of values."""
        return int(self.counts.sum())

    @cached_property
    def mean(self) -> float | None:
        """Their mean; None without any."""
        if not self.n:
            return None
        pairs = list(zip(self.values.tolist(), self.counts.tolist(), strict=True))
        if self.values.dtype.kind in "iu":
            return float(sum(value * count for value, count in pairs) / self.n)
        return math.fsum(value * (count / self.n) for value, count in pairs)

    @cached_property
    def sd(self) -> float | None:
        """Their standard deviation, over n - 1; None for fewer than two."""
        if self.mean is None or self.n < 2:
            return None
        off = self.values.astype(np.float64) - self.mean
        most = float(np.abs(off).max())
        return most and most * math.sqrt(float(self.counts @ (off / most) ** 2) / (self.n - 1))

    def quantile(self, part: float) -> float | None:
        """The quantile, interpolated linearly between neighbors (as in ``numpy.quantile``).

        Args:
            part: From 0 to 1.

        Returns:
            The value; None without any.
        """
        if not self.n:
            return None
        place = part * (self.n - 1)
        upto = np.cumsum(self.counts)
        low, high = (
            float(self.values[np.searchsorted(upto, spot, "right")]) for spot in (int(place), math.ceil(place))
        )
        return low + (high - low) * (place - int(place))

    def share(self, which: NDArray[np.bool_]) -> float | None:
        """Share of the values that are in a set.

        Args:
            which: bool[v], the values.

        Returns:
            From 0 to 1; None without any.
        """
        return int(self.counts[which].sum()) / self.n if self.n else None

    def at_least(self) -> NDArray[np.float64]:
        """Share of the values that are at least each value, float64[v], descending from 1."""
        return np.cumsum(self.counts[::-1])[::-1] / max(self.n, 1)

    def tail(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The complementary cumulative distribution, for logarithmic axes.

        Returns:
            x and the share of values that are at least x, float64[m] each; only x of 1 or more, of each of `POINTS`
            pieces by equal factors the two ends. Empty without positive values.
        """
        positive = self.values[self.values > 0].astype(np.float64)
        if not len(positive):
            return positive, positive
        x = np.unique(np.concatenate([[1], positive, positive[:-1] + 1]))  # nothing changes between these
        y = self.at_least()[np.searchsorted(self.values, x)]
        steps = np.floor(POINTS * np.log(x) / np.log(max(x[-1], 2)))
        kept = (np.diff(steps, prepend=-1) > 0) | (np.diff(steps, append=np.inf) > 0)
        return x[kept], y[kept]


EMPTY: Final = Histogram(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
"""No values."""
