"""Coefficients of columns on all rows and on bootstrap resamples of the items, the same ones for every column."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from postil.meta.column_correlations import ratio, rows_by, starts_of
from postil.meta.resampled_rows import CHUNK, means_of_groups, resampled_sums

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from postil.kernel.arrays import Booleans, Floats, Int32s, Int64s
    from postil.meta.coefficients import By
    from postil.meta.column_correlations import Texts
    from postil.meta.resampling import Counts, Draws

__all__ = ["GroupResampling", "OnGroups", "OnResamples", "Replicates", "means_of_systems", "on_resamples"]


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
