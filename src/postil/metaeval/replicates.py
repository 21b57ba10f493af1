"""Coefficients of columns on all rows and on bootstrap resamples of the items, the same ones for every column."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import numpy as np

from postil.errors import UnknownName
from postil.metaeval.accuracy import POOL_RESAMPLES, AccuracyResampling, group_sizes
from postil.metaeval.coefficients import correlate_groups, ratio, rows_by, starts_of
from postil.metaeval.permutation import PERMUTATIONS
from postil.metaeval.resampled_rows import CHUNK, RankedRows, SummedRows, resampled_sums
from postil.metaeval.resampling import RESAMPLES, SEED, bootstrap_counts
from postil.metaeval.system_accuracy import SOFT_RESAMPLES, SoftResampling, pairwise_accuracy, require_systems
from postil.records.coefficients import known

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from postil.engine import Engine
    from postil.metaeval.coefficients import Coefficient, Measure
    from postil.metaeval.resampling import Counts
    from postil.metaeval.table import Table

__all__ = ["CONTROL_DRAWS", "KENDALL_RESAMPLES", "LEVELS", "By", "Replicates", "replicate", "resampled"]

Floats: TypeAlias = "NDArray[np.float64]"
Integers: TypeAlias = "NDArray[np.int32]"

By: TypeAlias = Literal["pool", "item", "system", "within-system"]
"""Aggregation level: all texts; the texts of each item, then the mean over items; the means of systems; the texts of
each system, then the mean over systems."""

LEVELS: Final[tuple[By, ...]] = get_args(By)
"""All levels."""

KENDALL_RESAMPLES: Final = 200
"""Default largest number of resamples for Kendall's coefficients."""

CONTROL_DRAWS: Final = 10
"""Number of draws of a random control that the interval is over; the value is over all."""


@dataclass(frozen=True, slots=True, eq=False)
class Replicates:
    """A coefficient of M columns on all rows, and on the same R resamples of the items for every column.

    Args:
        names: Names of the columns.
        values: float64[M]; NaN where the column is constant, so that there is no coefficient.
        samples: float64[R, M]; NaN where it is constant in the resample, and everywhere if there is only one item.
        n: Number of texts, items or systems.
        dropped: int64[M], number of items or systems without a coefficient (``by`` item and within-system only).
    """

    names: tuple[str, ...]
    values: Floats
    samples: Floats
    n: int
    dropped: NDArray[np.int64]


def replicate(
    scores: Floats,
    table: Table,
    coefficient: Measure,
    by: By,
    *,
    names: Sequence[str] = (),
    resamples: int = RESAMPLES,
    seed: int = SEED,
    jobs: int = 1,
) -> Replicates:
    """Correlate columns with the mean ratings of a table, on all rows and on resamples of the items.

    The same seed and number give the same resamples, so that differences between columns are paired.

    Args:
        scores: float64[n, M], higher is better.
        table: The table of ratings, items and systems.
        coefficient: Name of the coefficient.
        by: Level; see `postil.metaeval.correlation.correlations`.
        names: Names of the columns; by default the table's metrics, or numbers if there are more or fewer columns.
        resamples: Number of resamples, at least 1.
        seed: Seed of the resamples.
        jobs: Number of threads; results do not depend on it.

    Raises:
        UnknownName: There is no such coefficient or level.
        UsageError: Fewer than one resample.
    """
    counts = bootstrap_counts(len(table.starts), resamples, seed)
    if not names:
        names = table.metrics if len(table.metrics) == scores.shape[1] else [str(j) for j in range(scores.shape[1])]
    return resampled(scores, table.grades, table.item, table.system, counts, coefficient, by, names=names, jobs=jobs)


def resampled(  # noqa: PLR0917 - two sides, what groups them, what is asked
    scores: Floats,
    grades: Floats,
    item: Integers,
    system: Integers,
    counts: Counts,
    coefficient: Measure,
    by: By,
    *,
    names: Sequence[str] = (),
    permutations: int = PERMUTATIONS,
    seed: int = SEED,
    jobs: int = 1,
    engine: Engine | None = None,
) -> Replicates:
    """Correlate columns with one column, on all rows and on given resamples of the items.

    Args:
        scores: float64[n, M].
        grades: float64[n].
        item: int32[n], ascending from 0 without a gap.
        system: int32[n], from 0.
        counts: Integers[R, items], resample multiplicities, see `bootstrap_counts`; R may be 0.
        coefficient: Name of the coefficient.
        by: Level; see `postil.metaeval.correlation.correlations`.
        names: Names of the columns.
        permutations: Largest number of sign patterns for ``spa``.
        seed: Seed of the random ones.
        jobs: Number of threads.
        engine: Engine that computes the resamples; by default this process.

    Raises:
        UnknownName: There is no such coefficient or level.
        UsageError: It compares systems, and the level is another.
    """
    soft = known(coefficient).soft
    if by not in LEVELS:
        raise UnknownName("level", by, LEVELS)
    require_systems(coefficient, by)
    if coefficient == "pa" or coefficient == "spa":  # noqa: PLR1714 - for the type checker
        texts = scores, grades, item, system
        ranking = SoftResampling.of(*texts, permutations, seed) if soft else _Ordering(*texts)
        counts = counts[:SOFT_RESAMPLES] if soft else counts
        samples = np.full((len(counts), scores.shape[1]), np.nan)
        if samples.size and counts.shape[1] > 1:
            samples = _mapped(ranking, _blocks(counts), jobs, engine)
        none_dropped = np.zeros(scores.shape[1], np.int64)
        return Replicates(tuple(names), ranking.values(jobs), samples, len(np.unique(system)), none_dropped)
    work: _Resampling | AccuracyResampling
    if coefficient == "acc-eq":
        counts = counts[:POOL_RESAMPLES] if by == "pool" else counts
        work = AccuracyResampling.of(scores, grades, item, system, by, jobs)
    else:
        work = _Resampling(scores, grades, item, system, coefficient, by)
    ones = np.ones((1, counts.shape[1]), np.int32)
    found = _mapped(work, _blocks(counts, ones), jobs, engine)
    dropped = np.zeros(scores.shape[1], np.int64)
    if isinstance(work, AccuracyResampling):
        dropped += (group_sizes(item, system, by) < 2).sum()
    elif by == "item":
        dropped = np.isnan(work.of_item).sum(axis=0)
    elif by == "within-system":
        dropped = np.isnan(work.of_system).sum(axis=0)
    n = {"pool": len(scores), "item": counts.shape[1]}.get(by) or len(np.unique(system))
    samples = found[1:] if counts.shape[1] > 1 else np.full_like(found[1:], np.nan)
    return Replicates(tuple(names), found[0], samples, n, dropped)


def _mapped(
    work: _Resampling | AccuracyResampling | _Ordering | SoftResampling,
    blocks: Iterator[Integers],
    jobs: int,
    engine: Engine | None,
) -> Floats:
    return np.vstack([work(block, jobs) for block in blocks] if engine is None else list(engine.map(work, blocks)))


def _blocks(counts: Counts, first: Integers | None = None) -> Iterator[Integers]:
    """Some first rows and the rows of some counts, `CHUNK` at a time."""
    start = 0
    if first is not None:
        start = CHUNK - len(first)
        yield np.vstack([first, counts[:start]])
    for at in range(start, len(counts), CHUNK):
        yield counts[at : at + CHUNK].astype(np.int32)


@dataclass(frozen=True, eq=False)
class _Resampling:
    """Function from multiplicities int32[R, items] to coefficients float64[R, M], sent to the workers of an engine."""

    scores: Floats
    grades: Floats
    item: Integers
    system: Integers
    coefficient: Coefficient
    by: By

    def __call__(self, counts: Integers, jobs: int = 1) -> Floats:
        if self.by == "pool" or self.by == "within-system":  # noqa: PLR1714 - for the type checker
            return self._within_groups(counts, jobs)
        if self.by == "system":
            return _over_systems(self.scores, self.grades, self.item, self.system, counts, self.coefficient)
        exists = ~np.isnan(self.of_item)
        sums = resampled_sums(counts, np.where(exists, self.of_item, 0.0))
        return ratio(sums, resampled_sums(counts, exists.astype(np.float64)))

    @cached_property
    def of_item(self) -> Floats:
        """The coefficient within each item, float64[items, M]."""
        return correlate_groups(self.scores, self.grades, starts_of(self.item), self.coefficient)

    @cached_property
    def of_system(self) -> Floats:
        """The coefficient within each system, float64[systems, M]."""
        order = np.concatenate(rows_by(self.system))
        return correlate_groups(self.scores[order], self.grades[order], starts_of(self.system[order]), self.coefficient)

    @cached_property
    def groups(self) -> list[tuple[Integers | slice, RankedRows | SummedRows]]:
        """All rows, or those of each system, with their items."""
        kind = SummedRows if self.coefficient == "pearson" else partial(RankedRows, self.coefficient)
        if self.by == "pool":
            return [(slice(None), kind(self.scores, self.grades, self.item))]
        groups: list[tuple[Integers | slice, RankedRows | SummedRows]] = []
        for rows in rows_by(self.system):
            items, item = np.unique(self.item[rows], return_inverse=True)
            groups.append((items, kind(self.scores[rows], self.grades[rows], item.astype(np.int32))))
        return groups

    def _within_groups(self, counts: Integers, jobs: int) -> Floats:
        """float64[R, M], mean over the groups whose rows in the resample have a coefficient."""
        total, there = np.zeros((2, len(counts), self.scores.shape[1]))
        for items, rows in self.groups:
            found = rows.correlate(np.ascontiguousarray(counts[:, items]), jobs)
            total += np.nan_to_num(found)
            there += ~np.isnan(found)
        return ratio(total, there)


@dataclass(frozen=True, eq=False)
class _Ordering:
    """Function from multiplicities int32[R, items] to pairwise accuracies float64[R, M]."""

    scores: Floats
    grades: Floats
    item: Integers
    system: Integers

    def __call__(self, counts: Integers, jobs: int = 1) -> Floats:
        del jobs
        return pairwise_accuracy(*_system_means(self.scores, self.grades, self.item, self.system, counts))

    def values(self, jobs: int = 1) -> Floats:
        """float64[M], over all items."""
        return np.asarray(self(np.ones((1, int(self.item.max()) + 1), np.int32), jobs)[0])


def _over_systems(  # noqa: PLR0917
    x: Floats, y: Floats, item: Integers, system: Integers, counts: Integers, coefficient: Coefficient
) -> Floats:
    """float64[R, M], over the means of the systems that have rows in the resample."""
    means, magnitudes, there = _system_means(x, y, item, system, counts)
    resamples, systems, columns = means.shape
    means, starts = means.reshape(-1, columns), systems * np.arange(resamples)
    weights, magnitudes = there.ravel().astype(np.int32), magnitudes.reshape(-1, columns)
    return correlate_groups(means[:, :-1], means[:, -1], starts, coefficient, weights=weights, magnitudes=magnitudes)


def _system_means(
    x: Floats, y: Floats, item: Integers, system: Integers, counts: Integers
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Systems' means and means of magnitudes, float64[R, S, M + 1]; bool[R, S], True for systems with rows."""
    values = np.column_stack([np.ones(len(y)), x, y, np.abs(x), np.abs(y)])
    sums = np.stack([resampled_sums(counts[:, item[rows]], values[rows]) for rows in rows_by(system)], axis=1)
    means, magnitudes = np.split(sums[..., 1:] / np.maximum(1.0, sums[..., :1]), 2, axis=2)
    return means, magnitudes, sums[..., 0] > 0
