"""Cluster bootstrap over items: random draws, percentile confidence intervals, p-values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from postil.errors import Undefined, UsageError
from postil.results.parts import Estimate

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from postil.engine import Engine

__all__ = [
    "DRAWS",
    "PERMUTATIONS",
    "RESAMPLES",
    "SEED",
    "Counts",
    "Draws",
    "Interval",
    "bootstrap_counts",
    "crossed_estimate",
    "estimate",
    "in_blocks",
    "interval",
    "p_value",
]

Counts: TypeAlias = "NDArray[np.int32] | NDArray[np.uint8]"
"""Resample multiplicities, resamples by items."""

T = TypeVar("T", "NDArray[np.int32]", "NDArray[np.uint8]")

SEED: Final = 20181
"""Default seed."""

RESAMPLES: Final = 1000
"""Default number of resamples."""

PERMUTATIONS: Final = 10_000
"""Default number of permutations."""

CELLS: Final = 2**21
"""Largest number of values in a working array."""


@dataclass(frozen=True, slots=True)
class Draws:
    """Random draws of intervals and tests, and where they are computed.

    Args:
        resamples: Number of resamples of the items, at least 1.
        permutations: Number of permutations, at least 1; the largest one of sign patterns and of orders.
        seed: Seed of all of them.
        jobs: Number of threads; results do not depend on it.
        engine: Engine that computes resamples; by default this process.

    Raises:
        UsageError: Fewer than one resample or permutation.
    """

    resamples: int = RESAMPLES
    permutations: int = PERMUTATIONS
    seed: int = SEED
    jobs: int = 1
    engine: Engine | None = None

    def __post_init__(self) -> None:
        for what, number in (("resample", self.resamples), ("permutation", self.permutations)):
            if number < 1:
                raise UsageError(f"expected at least one {what}, got {number}")

    def counts(self, clusters: int, most: int | None = None) -> NDArray[np.uint8]:
        """Draw what `bootstrap_counts` draws, in bytes; the same array for all who ask while one of them keeps it.

        Args:
            clusters: Number of clusters (items).
            most: Largest number of resamples.

        Returns:
            uint8[resamples, clusters], read-only.

        >>> counts = Draws(resamples=2, seed=1).counts(4)
        >>> counts.tolist(), Draws(resamples=1, seed=1).counts(4).base is counts
        ([[0, 1, 1, 2], [2, 0, 0, 2]], True)
        """
        resamples = min(self.resamples, most or self.resamples)
        found = _SHARED.get((clusters, self.seed))
        if found is None or len(found) < resamples:
            # A cluster is in a resample 256 times with a probability below 1e-500.
            found = _counted(self, np.empty((resamples, clusters), np.uint8))
            found.flags.writeable = False
            _SHARED[clusters, self.seed] = found
        return found if len(found) == resamples else found[:resamples]


DRAWS: Final = Draws()
"""The default ones."""


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
    return _counted(Draws(resamples=resamples, seed=seed), np.empty((resamples, clusters), np.int32))


_SHARED: Final[WeakValueDictionary[tuple[int, int], NDArray[np.uint8]]] = WeakValueDictionary()


def _counted(draws: Draws, out: T) -> T:
    """Multiplicities, row by row, which draws the same numbers as all rows at once."""
    random, clusters = np.random.default_rng(draws.seed), out.shape[1]
    for row in out:
        row[:] = np.bincount(random.integers(0, clusters, clusters), minlength=clusters)
    return out


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
    """Bootstrap p-value, two-sided: twice the share of resamples on the rarer side of 0, with one more counted at 0.

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
    statistics: Callable[[NDArray[np.int32]], dict[str, NDArray[np.float64]]], counts: Counts, width: int
) -> dict[str, NDArray[np.float64]]:
    """Compute statistics of all items, and of resamples, in blocks whose working arrays fit into memory.

    Args:
        statistics: Function from int32[b, items] to float64[b, …] by name, row by row.
        counts: Integers[R, items], resample multiplicities; see `bootstrap_counts`.
        width: Number of values that it works on per resample.

    Returns:
        float64[1 + R, …] by name.
    """
    step = max(1, CELLS // width)
    blocks = [statistics(np.ones((1, counts.shape[1]), np.int32))]
    blocks += [statistics(counts[at : at + step].astype(np.int32)) for at in range(0, len(counts), step)]
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


def crossed_estimate(
    stats: NDArray[np.float64],
    score: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    draws: Draws,
) -> Estimate:
    """The mean corpus score of several runs of a system, with a 95 % interval over runs and items.

    Runs and items are resampled independently, since every run answers every item: a resample scores each drawn run on
    the same drawn items. With one run the interval is over items alone.

    Args:
        stats: Statistics of each run's candidates, float64[runs, items, k], which add up to those of the corpus.
        score: Function from sums of statistics, float64[m, k], to corpus scores, float64[m].
        draws: Random draws.

    >>> from postil.meta.resampling import Draws
    >>> runs = np.array([[[1.0, 1], [0, 1]], [[1, 1], [1, 1]]])
    >>> crossed_estimate(runs, lambda sums: sums[:, 0] / sums[:, 1], Draws(resamples=200, seed=1))
    Estimate(value=0.75, low=0.0, high=1.0)
    """
    runs, items = stats.shape[:2]
    resamples = draws.resamples
    counts = bootstrap_counts(items, resamples, draws.seed).astype(np.float64)
    drawn = bootstrap_counts(runs, resamples, draws.seed + 1) if runs > 1 else np.ones((resamples, 1), dtype=np.int32)
    scores = np.stack([score(counts @ run) for run in stats], axis=1)  # [resamples, runs]
    samples = (scores * drawn).sum(axis=1) / runs
    return estimate(np.concatenate([[score(stats.sum(axis=1)).mean()], samples]), items)
