"""Cluster bootstrap over items: draws, coefficients on resamples, percentile intervals, p-values.

All intervals of a command rest on the same resamples: one matrix with the number of times that each resample has each
item. Two metrics see the same resamples, so the interval of their difference has the percentiles of the differences.
Pearson's r on all resamples is a product of the matrix with the sums of each item; rank correlations go over values
that were sorted once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from postil.data.parts import Estimate
from postil.data.ranking import dense_ranks
from postil.errors import Undefined, UsageError
from postil.kernel import rank_correlations
from postil.meta.column_correlations import Ranked, Texts, constant, pearson, ratio, rows_by, scaled, starts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from postil.engine import Engine
    from postil.kernel.arrays import Booleans, Floats, Int32s, Int64s
    from postil.meta.coefficients import By

__all__ = [
    "BLOCK",
    "CHUNK",
    "DRAWS",
    "PERMUTATIONS",
    "RESAMPLES",
    "SEED",
    "Counts",
    "Draws",
    "GroupResampling",
    "Interval",
    "OnGroups",
    "OnResamples",
    "RankedRows",
    "Replicates",
    "SummedRows",
    "blocks_of",
    "bootstrap_counts",
    "crossed_estimate",
    "estimate",
    "in_blocks",
    "interval",
    "mean_estimates",
    "means_of_groups",
    "means_of_resamples",
    "means_of_systems",
    "on_resamples",
    "p_value",
    "resampled_sums",
    "sums_by_item",
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

_SHARED: Final[WeakValueDictionary[tuple[int, int], NDArray[np.uint8]]] = WeakValueDictionary()

CHUNK: Final = 128
"""Number of resamples per block, the same on every engine, so that sums are the same to the last bit."""

FEW_CELLS: Final = 64
"""Largest number of different pairs of ranks that are counted before they are correlated."""

NUMBERS: Final = 2**23
"""Largest number of numbers in a working array."""


BLOCK: Final = 256
"""Number of resamples per block."""


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


def mean_estimates(values: Floats, draws: Draws = DRAWS) -> list[Estimate]:
    """Mean score of each system with its 95 % confidence interval over items, the same resamples for all systems.

    Args:
        values: float64[items, systems].
        draws: Random draws.

    >>> [each.value for each in mean_estimates(np.array([[0.0, 1.0], [1.0, 1.0]]))]
    [0.5, 1.0]
    """
    drawn = means_of_resamples(values, bootstrap_counts(len(values), draws.resamples, draws.seed))
    samples = np.concatenate([values.mean(axis=0)[None], drawn])
    return [estimate(samples[:, system], len(values)) for system in range(values.shape[1])]


def means_of_resamples(values: Floats, counts: Int32s) -> Floats:
    """Means of each resample of the items, float64[R, …].

    Args:
        values: float64[items, …].
        counts: int32[R, items], resample multiplicities.
    """
    flat = values.reshape(len(values), -1)
    parts = [block @ flat for block in blocks_of(counts)]
    return np.concatenate(parts).reshape(len(counts), *values.shape[1:]) / len(values)


def blocks_of(counts: Int32s) -> Iterator[Floats]:
    """Blocks of resamples as numbers to multiply with, float64[at most BLOCK, items].

    Args:
        counts: int32[R, items], resample multiplicities.
    """
    return (counts[start : start + BLOCK].astype(np.float64) for start in range(0, len(counts), BLOCK))


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
        if x.shape[1] != 1 or (int(x.max()) + 1) * width > FEW_CELLS:
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


@dataclass(frozen=True, slots=True, eq=False)
class Replicates:
    """A coefficient of M columns on all rows, and on the same R resamples of the items for every column.

    Args:
        values: float64[M]; NaN where the column is constant, so that there is no coefficient.
        samples: float64[R, M]; NaN where it is constant in the resample, and everywhere if there is only one item.
        n: Number of texts, items or systems.
        dropped: int64[M], number of items or systems without a coefficient (``by`` item and within-system only).
    """

    values: Floats
    samples: Floats
    n: int
    dropped: Int64s

    @classmethod
    def of(cls, found: Floats, texts: Texts, counts: Counts, by: By, dropped: Int32s | int = 0) -> Replicates:
        """Take the values of all rows, then those of each resample, float64[1 + R, M], apart."""
        n = {"pool": len(texts.grades), "item": counts.shape[1]}.get(by) or len(np.unique(texts.system))
        samples = found[1:] if counts.shape[1] > 1 else np.full_like(found[1:], np.nan)
        return cls(found[0], samples, n, np.zeros(found.shape[1], np.int64) + dropped)


class OnGroups(Protocol):
    """Function from columns and a column to coefficients within groups of contiguous rows, float64[k, M].

    `postil.meta.column_correlations.pearson` is one, and says what is asked.
    """

    def __call__(
        self,
        x: Floats,
        y: Floats,
        starts: Int64s,
        /,
        *,
        weights: Int32s | None = None,
        magnitudes: Floats | None = None,
    ) -> Floats:
        """Correlate the columns with the column."""


class OnResamples(Protocol):
    """Function from multiplicities of items, int32[r, items], to coefficients, float64[r, M]."""

    def __call__(self, counts: Int32s, /, jobs: int = 1) -> Floats:
        """Compute them in some threads."""


def on_resamples(work: OnResamples, counts: Counts, draws: Draws, first: Int32s | None = None) -> Floats:
    """Apply a function to multiplicities of items, `CHUNK` rows at a time, where they are to be computed.

    Args:
        work: The function.
        counts: Integers[R, items].
        draws: The threads, or the engine.
        first: Rows before these, fewer than `CHUNK`.
    """
    blocks = _blocks(counts, first)
    engine, jobs = draws.engine, draws.jobs
    return np.vstack([work(block, jobs) for block in blocks] if engine is None else list(engine.map(work, blocks)))


def _blocks(counts: Counts, first: Int32s | None = None) -> Iterator[Int32s]:
    """Some first rows and the rows of some counts, `CHUNK` at a time."""
    start = 0
    if first is not None:
        start = CHUNK - len(first)
        yield np.vstack([first, counts[:start]])
    for at in range(start, len(counts), CHUNK):
        yield counts[at : at + CHUNK].astype(np.int32)


@dataclass(frozen=True, eq=False)
class GroupResampling:
    """Function from multiplicities int32[R, items] to coefficients float64[R, M], sent to the workers of an engine.

    Args:
        texts: The texts.
        on: The coefficient within groups of rows.
        rows: Function from columns, a column and the item of each row to one of multiplicities of the items.
        by: Level.
    """

    texts: Texts
    on: OnGroups
    rows: Callable[[Floats, Floats, Int32s], OnResamples]
    by: By

    def __call__(self, counts: Int32s, jobs: int = 1) -> Floats:
        """Correlate on resamples."""
        if self.by in {"pool", "within-system"}:
            return self._within_groups(counts, jobs)
        if self.by == "system":
            return self._over_systems(counts)
        return means_of_groups(self.of_item, counts)

    @cached_property
    def of_item(self) -> Floats:
        """The coefficient within each item, float64[items, M]."""
        return self.on(self.texts.scores, self.texts.grades, starts_of(self.texts.item))

    @cached_property
    def of_system(self) -> Floats:
        """The coefficient within each system, float64[systems, M]."""
        texts, order = self.texts, np.concatenate(rows_by(self.texts.system))
        return self.on(texts.scores[order], texts.grades[order], starts_of(texts.system[order]))

    @cached_property
    def groups(self) -> list[tuple[Int32s | slice, OnResamples]]:
        """All rows, or those of each system, with their items."""
        texts = self.texts
        if self.by == "pool":
            return [(slice(None), self.rows(texts.scores, texts.grades, texts.item))]
        groups: list[tuple[Int32s | slice, OnResamples]] = []
        for rows in rows_by(texts.system):
            items, item = np.unique(texts.item[rows], return_inverse=True)
            groups.append((items, self.rows(texts.scores[rows], texts.grades[rows], item.astype(np.int32))))
        return groups

    def _within_groups(self, counts: Int32s, jobs: int) -> Floats:
        """float64[R, M], mean over the groups whose rows in the resample have a coefficient."""
        total, there = np.zeros((2, len(counts), self.texts.scores.shape[1]))
        for items, rows in self.groups:
            found = rows(np.ascontiguousarray(counts[:, items]), jobs)
            total += np.nan_to_num(found)
            there += ~np.isnan(found)
        return ratio(total, there)

    def _over_systems(self, counts: Int32s) -> Floats:
        """float64[R, M], over the means of the systems that have rows in the resample."""
        means, magnitudes, there = means_of_systems(self.texts, counts)
        resamples, systems, columns = means.shape
        means, starts = means.reshape(-1, columns), systems * np.arange(resamples)
        weights, magnitudes = there.ravel().astype(np.int32), magnitudes.reshape(-1, columns)
        return self.on(means[:, :-1], means[:, -1], starts, weights=weights, magnitudes=magnitudes)


def means_of_systems(texts: Texts, counts: Int32s) -> tuple[Floats, Floats, Booleans]:
    """Systems' means and means of magnitudes, float64[R, S, M + 1]; bool[R, S], True for systems with rows.

    Args:
        texts: The texts.
        counts: int32[R, items], resample multiplicities.
    """
    x, y = texts.scores, texts.grades
    values = np.column_stack([np.ones(len(y)), x, y, np.abs(x), np.abs(y)])
    of_systems = rows_by(texts.system)
    sums = np.stack([resampled_sums(counts[:, texts.item[rows]], values[rows]) for rows in of_systems], axis=1)
    means, magnitudes = np.split(sums[..., 1:] / np.maximum(1.0, sums[..., :1]), 2, axis=2)
    return means, magnitudes, sums[..., 0] > 0
