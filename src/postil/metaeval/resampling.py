"""Drawing items with replacement: the cluster bootstrap that every interval of this room rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import Undefined, UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["RESAMPLES", "SEED", "Interval", "counts_of", "interval", "p_value"]

SEED: Final = 20181
"""The seed where none is given."""

RESAMPLES: Final = 1000
"""How many times items are drawn where no number is given."""


@dataclass(frozen=True, slots=True)
class Interval:
    """The middle 95 % of resampled values.

    Args:
        low: The 2.5th percentile.
        high: The 97.5th percentile.
    """

    low: float
    high: float


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
