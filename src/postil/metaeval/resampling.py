"""Drawing items with replacement: the cluster bootstrap that every interval of this room rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import Undefined, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = [
    "RESAMPLES",
    "SEED",
    "Estimate",
    "Interval",
    "counts_of",
    "estimate",
    "in_blocks",
    "interval",
    "p_value",
]

SEED: Final = 20181
"""The seed where none is given."""

RESAMPLES: Final = 1000
"""How many times items are drawn where no number is given."""

CELLS: Final = 2**21
"""How many numbers are worked on at a time."""


@dataclass(frozen=True, slots=True)
class Interval:
    """The middle 95 % of resampled values.

    Args:
        low: The 2.5th percentile.
        high: The 97.5th percentile.
    """

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with the middle 95 % of its resamples.

    Args:
        value: The value.
        low: The 2.5th percentile; None where there are not two items to draw, and as in `Agreement.notes`.
        high: The 97.5th percentile.
    """

    value: float
    low: float | None
    high: float | None


def counts_of(clusters: int, resamples: int = RESAMPLES, seed: int = SEED) -> NDArray[np.int32]:
    """How often each cluster occurs in each resample.

    Args:
        clusters: How many clusters (items) there are.
        resamples: How many times as many are drawn with replacement.
        seed: The seed; the same seed gives the same resamples.

    Returns:
        int32[resamples, clusters]; every row sums to ``clusters``.

    Raises:
        UsageError: Fewer than one resample.

    >>> counts_of(4, resamples=2, seed=1).tolist()
    [[0, 1, 1, 2], [2, 0, 0, 2]]
    """
    if resamples < 1:
        raise UsageError(f"expected at least one resample, got {resamples}")
    drawn = np.random.default_rng(seed).integers(0, clusters, (resamples, clusters))
    drawn += clusters * np.arange(resamples)[:, None]
    return np.bincount(drawn.ravel(), minlength=resamples * clusters).astype(np.int32).reshape(resamples, clusters)


def interval(samples: NDArray[np.float64]) -> Interval:
    """The percentile interval at 95 %.

    Args:
        samples: float64[R], a value for each resample; NaN where it is undefined, which is passed over.

    Raises:
        Undefined: No resample has a value.

    >>> interval(np.arange(101.0))
    Interval(low=2.5, high=97.5)
    """
    if np.isnan(samples).all():
        raise Undefined("no resample of the items has a value, so there is no interval")
    low, high = np.nanpercentile(samples, (2.5, 97.5))
    return Interval(float(low), float(high))


def p_value(samples: NDArray[np.float64]) -> float:
    """Two-sided: how often resamples fall on the rarer side of 0, twice, counting one more resample at 0.

    It is about .05 where 0 is an end of the 95 % interval, and never below ``2 / (R + 1)``.

    Args:
        samples: float64[R], a value for each resample; NaN where it is undefined, which is passed over.

    >>> p_value(np.arange(1.0, 100.0)), p_value(np.array([-1.0, 1.0]))
    (0.02, 1.0)
    """
    samples = samples[~np.isnan(samples)]
    rarer = int(min(np.count_nonzero(samples <= 0), np.count_nonzero(samples >= 0)))
    return min(1.0, 2 * (rarer + 1) / (len(samples) + 1))


def estimate(samples: NDArray[np.float64], items: int) -> Estimate:
    """A value and its interval, if it has one.

    Args:
        samples: float64[1 + R], the value and that of each resample; NaN where it is undefined.
        items: How many items were drawn from.

    >>> estimate(np.arange(102.0), items=2), estimate(np.arange(102.0), items=1)
    (Estimate(value=0.0, low=3.5, high=98.5), Estimate(value=0.0, low=None, high=None))
    """
    value, drawn = float(samples[0]), samples[1:]
    if items < 2 or np.isnan(drawn).all():
        return Estimate(value, None, None)
    around = interval(drawn)
    return Estimate(value, around.low, around.high)


def in_blocks(
    statistics: Callable[[NDArray[np.int32]], dict[str, NDArray[np.float64]]], counts: NDArray[np.int32], width: int
) -> dict[str, NDArray[np.float64]]:
    """Statistics of resamples, of so many at a time that their working columns fit into memory.

    Args:
        statistics: From int32[b, items] to float64[b, …] by name; row by row.
        counts: int32[R, items], see `counts_of`.
        width: How many numbers are worked on for each resample.

    Returns:
        float64[R, …] by name.
    """
    step = max(1, CELLS // width)
    blocks = [statistics(counts[start : start + step]) for start in range(0, len(counts), step)]
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}
