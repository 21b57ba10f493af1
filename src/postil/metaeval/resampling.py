"""Cluster bootstrap over items: resamples, percentile confidence intervals, p-values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import Undefined, UsageError
from postil.records.results import Estimate

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = [
    "RESAMPLES",
    "SEED",
    "Interval",
    "bootstrap_counts",
    "estimate",
    "in_blocks",
    "interval",
    "p_value",
]

SEED: Final = 20181
"""Default seed."""

RESAMPLES: Final = 1000
"""Default number of resamples."""

CELLS: Final = 2**21
"""Largest number of values in a working array."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % percentile bootstrap confidence interval.

    Args:
        low: The 2.5th percentile.
        high: The 97.5th percentile.
    """

    low: float
    high: float


def bootstrap_counts(clusters: int, resamples: int = RESAMPLES, seed: int = SEED) -> NDArray[np.int32]:
    """Draw resample multiplicities: the number of times that each cluster occurs in each resample.

    Args:
        clusters: Number of clusters (items).
        resamples: Number of resamples, each of as many clusters with replacement; at least 1.
        seed: The seed; the same seed gives the same resamples.

    Returns:
        int32[resamples, clusters]; every row sums to ``clusters``.

    Raises:
        UsageError: Fewer than one resample.

    >>> bootstrap_counts(4, resamples=2, seed=1).tolist()
    [[0, 1, 1, 2], [2, 0, 0, 2]]
    """
    if resamples < 1:
        raise UsageError(f"expected at least one resample, got {resamples}")
    drawn = np.random.default_rng(seed).integers(0, clusters, (resamples, clusters))
    drawn += clusters * np.arange(resamples)[:, None]
    return np.bincount(drawn.ravel(), minlength=resamples * clusters).astype(np.int32).reshape(resamples, clusters)


def interval(samples: NDArray[np.float64]) -> Interval:
    """The 95 % percentile interval.

    Args:
        samples: float64[R], one value per resample; NaN where it is undefined, which is ignored.

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
    """Two-sided bootstrap p-value: twice the share of resamples on the rarer side of 0, one more resample counted at 0.

    It is about .05 where 0 is an end of the 95 % interval, and never below ``2 / (R + 1)``.

    Args:
        samples: float64[R], one value per resample; NaN where it is undefined, which is ignored.

    >>> p_value(np.arange(1.0, 100.0)), p_value(np.array([-1.0, 1.0]))
    (0.02, 1.0)
    """
    samples = samples[~np.isnan(samples)]
    rarer = int(min(np.count_nonzero(samples <= 0), np.count_nonzero(samples >= 0)))
    return min(1.0, 2 * (rarer + 1) / (len(samples) + 1))


def estimate(samples: NDArray[np.float64], items: int) -> Estimate:
    """A value with its interval, if it has one.

    Args:
        samples: float64[1 + R], the value and that of each resample; NaN where it is undefined.
        items: Number of items that were resampled.

    >>> estimate(np.arange(102.0), items=2), estimate(np.arange(102.0), items=1)
    (Estimate(value=0.0, low=3.5, high=98.5), Estimate(value=0.0, low=None, high=None))
    """
    value, drawn = float(samples[0]), samples[1:]
    if items < 2 or np.isnan(drawn).all():
        return Estimate(value=value, low=None, high=None)
    around = interval(drawn)
    return Estimate(value=value, low=around.low, high=around.high)


def in_blocks(
    statistics: Callable[[NDArray[np.int32]], dict[str, NDArray[np.float64]]], counts: NDArray[np.int32], width: int
) -> dict[str, NDArray[np.float64]]:
    """Compute statistics of resamples in blocks whose working arrays fit into memory.

    Args:
        statistics: Function from int32[b, items] to float64[b, …] by name, row by row.
        counts: int32[R, items], resample multiplicities; see `bootstrap_counts`.
        width: Number of values that it works on per resample.

    Returns:
        float64[R, …] by name.
    """
    step = max(1, CELLS // width)
    blocks = [statistics(counts[start : start + step]) for start in range(0, len(counts), step)]
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}
