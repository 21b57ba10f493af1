"""Computation of each coefficient: on texts and on resamples, its tests, and further fields of its rows.

A coefficient is an entry of `KINDS` here, and of `postil.meta.coefficients.TABLE`, where its names are. Kinds are
classes, since they differ in behavior: resamples, tests and fields of rows. Names are compared nowhere.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from postil.meta.coefficients import TABLE, By, Coefficient, Measure, known
from postil.meta.column_correlations import Ranked, Texts, constant, means_by, pearson, rank_coefficient, rows_by
from postil.meta.permutation import (
    average_ranks,
    permutation_p,
    standardized,
    swapping_coefficients,
    swapping_groups,
    swapping_rows,
    swapping_systems,
)
from postil.meta.resampling import (
    DRAWS,
    Counts,
    Draws,
    GroupResampling,
    OnGroups,
    OnResamples,
    RankedRows,
    Replicates,
    SummedRows,
    means_of_systems,
    on_resamples,
)
from postil.meta.significance import williams_p
from postil.meta.system_accuracy import (
    SoftResampling,
    pairs_without_items,
    pairwise_accuracy,
    swapped_pairwise,
    swapped_soft,
    why_no_accuracy,
    with_chance,
)
from postil.meta.text_accuracy import AccuracyResampling, group_sizes, swapping_pairs, with_thresholds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from postil.kernel.arrays import Floats, Int32s, Int64s
    from postil.meta.parts import Correlation, UndefinedResult
    from postil.meta.table import Table

__all__ = ["KINDS", "Correlated", "Kind", "kind_of"]

Rows: TypeAlias = "Sequence[Correlation | UndefinedResult]"


@dataclass(frozen=True, slots=True)
class Kind(ABC):
    """A coefficient, as far as it is computed.

    Args:
        name: Its name.
    """

    name: Measure

    @property
    def facts(self) -> Coefficient:
        """Its names, and its demands on texts and systems."""
        return TABLE[self.name]

    def resampled(self, texts: Texts, counts: Counts, by: By, draws: Draws = DRAWS) -> Replicates:
        """Compute it on all texts and on given resamples of the items.

        Args:
            texts: The texts.
            counts: Integers[R, items], resample multiplicities, of which it takes the first if it takes fewer; R may
                be 0.
            by: Level; see `postil.meta.correlation.correlations`.
            draws: Random draws, and where they are computed.

        Raises:
            UnknownName: There is no such level.
            UsageError: It does not exist at that level.
        """
        self.facts.check(by)
        return self._resampled(texts, counts[: self.facts.most.get(by)], by, draws)

    @abstractmethod
    def _resampled(self, texts: Texts, counts: Counts, by: By, draws: Draws) -> Replicates: ...

    @abstractmethod
    def tested(
        self, table: Table, columns: Int64s, pairs: Int64s, by: By, draws: Draws
    ) -> list[dict[str, float | None]]:
        """Test differences between metrics by permutation.

        Args:
            table: Scores and ratings.
            columns: int64[m], columns of the metrics that have a coefficient.
            pairs: int64[2, k], positions in ``columns`` of the metrics to compare.
            by: Level.
            draws: Random draws.

        Returns:
            The p-values of each pair, by the names of the fields of a difference; nothing where there is no test.
        """

    def notes(self, table: Table, by: By) -> Iterator[str]:
        """Notes on its tests."""
        del table, by
        yield from ()

    def completed(  # noqa: PLR0917 - the rows, what they are of
        self,
        rows: Rows,
        columns: Mapping[str, Floats],
        texts: Texts,
        by: By,
        draws: Draws,
        patterns: int | None = None,
    ) -> Rows:
        """Add to its rows the fields that are theirs alone.

        Args:
            rows: Its rows; undefined ones stay as they are.
            columns: float64[n, d] by metric: its scores, the draws of a random control or the halves of several splits.
            texts: The texts; the columns stand for their scores, and of several splits they have grades of each.
            by: Level.
            draws: Random draws.
            patterns: Largest number of sign patterns; by default as many as permutations.
        """
        del columns, texts, by, draws, patterns
        return rows

    def why_undefined(self, table: Table, scores: Floats, by: By) -> str:
        """Reason why that of scores with the mean ratings of a table is undefined, in words.

        Args:
            table: The table of n texts.
            scores: float64[n].
            by: Level.
        """
        if self.facts.of_systems:
            return why_no_accuracy(table.system)
        sides = [] if self.facts.ties else [("score", scores), ("grade", table.grades)]
        return next(_reasons(table, sides, by))


@dataclass(frozen=True, slots=True)
class Correlated(Kind):
    """A coefficient of correlation, which is computed within groups of rows.

    Args:
        name: Its name.
        on: The coefficient within groups of rows.
        rows: Function from columns, a column and the item of each row to one of multiplicities of the items.
        swaps: Numbers that the tests of differences swap, where it is Pearson's of values or of ranks; None for any
            other one, which has no test.
    """

    on: OnGroups
    rows: Callable[[Floats, Floats, Int32s], OnResamples]
    swaps: Literal["values", "ranks"] | None = None

    def _resampled(self, texts: Texts, counts: Counts, by: By, draws: Draws) -> Replicates:
        work = GroupResampling(texts, self.on, self.rows, by)
        found = on_resamples(work, counts, draws, np.ones((1, counts.shape[1]), np.int32))
        of_groups = {"item": lambda: work.of_item, "within-system": lambda: work.of_system}.get(by)
        dropped = np.isnan(of_groups()).sum(axis=0) if of_groups else 0
        return Replicates.of(found, texts, counts, by, dropped)

    def tested(
        self, table: Table, columns: Int64s, pairs: Int64s, by: By, draws: Draws
    ) -> list[dict[str, float | None]]:
        """Williams' test, and the paired permutation test that swaps items."""
        if self.swaps is None:
            return []
        ranks = self.swaps == "ranks"
        both = np.column_stack([table.oriented[:, columns], table.grades])
        by_williams = [math.nan] * pairs.shape[1]
        if by == "item":
            statistic = swapping_coefficients(self.on(both[:, :-1], both[:, -1], table.starts), pairs)
        elif by == "system":
            scores, size = standardized(both), np.bincount(table.system)
            cell = table.item.astype(np.int64) * len(size) + table.system
            sums = np.array([np.bincount(cell, column, len(table.starts) * len(size)) for column in scores.T])
            sums = sums.reshape(len(sums), -1, len(size)).swapaxes(0, 1) / size
            statistic = swapping_systems(sums, pairs, spearman=ranks)
            means = sums.sum(axis=0).T
            by_williams = williams_p(standardized(average_ranks(means, np.ones_like(means)) if ranks else means), pairs)
        elif by == "within-system":
            groups = [(table.item[rows], _standardized(both[rows], ranks=ranks)) for rows in rows_by(table.system)]
            statistic = swapping_groups(groups, pairs)
        else:
            points = standardized(average_ranks(both) if ranks else both)
            statistic = swapping_rows(points, table.starts, pairs)
            by_williams = williams_p(points, pairs)
        found: list[float] = permutation_p(statistic, len(table.starts), draws).tolist()
        return [
            {"p_williams": None if math.isnan(williams) else williams, "p_permutation": p, "p": p}
            for williams, p in zip(by_williams, found, strict=True)
        ]

    def notes(self, table: Table, by: By) -> Iterator[str]:
        """A reason why there is no test, or why Williams' does not apply."""
        if self.facts.untested:
            yield self.facts.untested
        elif by in {"item", "within-system"}:
            groups = "items" if by == "item" else "systems"
            yield f"Williams' test does not apply to the mean of the {groups}' coefficients"
        elif by == "pool" and len(table.starts) < len(table):
            yield "Williams' test takes all texts for independent, and here items have several"


@dataclass(frozen=True, slots=True)
class PairAccuracy(Kind):
    """Accuracy with ties in ranking the pairs of texts of a group, or of systems."""

    def _resampled(self, texts: Texts, counts: Counts, by: By, draws: Draws) -> Replicates:
        work = AccuracyResampling.of(texts, by, draws.jobs)
        found = on_resamples(work, counts, draws, np.ones((1, counts.shape[1]), np.int32))
        return Replicates.of(found, texts, counts, by, int((group_sizes(texts.item, texts.system, by) < 2).sum()))

    def tested(
        self, table: Table, columns: Int64s, pairs: Int64s, by: By, draws: Draws
    ) -> list[dict[str, float | None]]:
        """The test that swaps what two metrics say of single pairs of texts."""
        return _both(swapping_pairs(table.texts(table.oriented[:, columns]), by, pairs, draws))

    def completed(  # noqa: PLR0917
        self,
        rows: Rows,
        columns: Mapping[str, Floats],
        texts: Texts,
        by: By,
        draws: Draws,
        patterns: int | None = None,
    ) -> Rows:
        """Add the threshold, and the accuracy by chance."""
        del patterns
        return with_thresholds(rows, columns, texts, by, draws)


@dataclass(frozen=True, slots=True)
class SystemAccuracy(Kind):
    """Accuracy in ranking systems, by their means or, where it is soft, by p-values of their texts."""

    def _resampled(self, texts: Texts, counts: Counts, by: By, draws: Draws) -> Replicates:
        soft = SoftResampling.of(texts, draws) if self.facts.soft else None
        every = np.ones((1, counts.shape[1]), np.int32)
        found = np.full((1 + len(counts), texts.scores.shape[1]), np.nan)
        found[0] = soft.values(draws.jobs) if soft else _means_ranked(texts, every)[0]
        if found[1:].size and counts.shape[1] > 1:
            found[1:] = on_resamples(soft or partial(_means_ranked, texts), counts, draws)
        return Replicates.of(found, texts, counts, by)

    def tested(
        self, table: Table, columns: Int64s, pairs: Int64s, by: By, draws: Draws
    ) -> list[dict[str, float | None]]:
        """The tests that swap two metrics' standardized scores of single texts."""
        del by
        swapped = swapped_soft if self.facts.soft else swapped_pairwise
        return _both(swapped(table.texts(_standardized(table.oriented[:, columns])), pairs, draws).tolist())

    def notes(self, table: Table, by: By) -> Iterator[str]:
        """The pairs of systems that are left out."""
        del by
        if self.facts.soft and (note := pairs_without_items(table)):
            yield note

    def completed(  # noqa: PLR0917
        self,
        rows: Rows,
        columns: Mapping[str, Floats],
        texts: Texts,
        by: By,
        draws: Draws,
        patterns: int | None = None,
    ) -> Rows:
        """Add the number of pairs, and the accuracy by chance."""
        del by
        return with_chance(rows, columns, texts, draws, patterns, soft=self.facts.soft)


def _ranked(name: Ranked, *, swaps: Literal["ranks"] | None = None) -> Correlated:
    return Correlated(name, partial(rank_coefficient, name), partial(RankedRows, name), swaps=swaps)


KINDS: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        each.name: each
        for each in (
            Correlated("pearson", pearson, SummedRows, swaps="values"),
            _ranked("spearman", swaps="ranks"),
            _ranked("kendall-b"),
            _ranked("kendall-c"),
            PairAccuracy("acc-eq"),
            SystemAccuracy("pa"),
            SystemAccuracy("spa"),
        )
    }
)
"""The coefficients, by name."""


def kind_of(name: str) -> Kind:
    """The coefficient of a name, as it is computed.

    Args:
        name: The name.

    Raises:
        UnknownName: There is none.
    """
    return KINDS[known(name).name]


def _both(found: Sequence[float]) -> list[dict[str, float | None]]:
    return [{"p_both": p, "p": p} for p in found]


def _means_ranked(texts: Texts, counts: Int32s, _jobs: int = 1) -> Floats:
    """Pairwise accuracies of the systems' means, float64[R, M]."""
    return pairwise_accuracy(*means_of_systems(texts, counts))


def _reasons(table: Table, sides: Sequence[tuple[str, Floats]], by: By) -> Iterator[str]:
    if len(table) < 2:
        yield "only one text"
    if by == "item" and len(table.starts) == len(table):
        yield "no item has two texts"
    if by == "system" and len(table.systems) < 2:
        yield "only one system"
    if by == "within-system" and np.bincount(table.system).max() < 2:
        yield "no system has two texts"
    for what, column in sides:
        yield from _alike(what, column, table, by)
    if len(table.starts) < 2:
        yield "only one item, so there is no interval over items"
    where = {"item": "item", "within-system": "system"}.get(by, "resample")
    yield f"in every {where} the scores or the grades are all the same"


def _alike(what: str, column: Floats, table: Table, by: By) -> Iterator[str]:
    first, values = np.zeros(1, np.int64), column[:, None]
    if constant(values, first).all():
        yield f"every {what} is {column[0]:g}"
    if by == "item" and constant(values, table.starts).all():
        yield f"in every item the {what}s are all the same"
    if by == "within-system" and all(constant(values[rows], first).all() for rows in rows_by(table.system)):
        yield f"in every system the {what}s are all the same"
    means, magnitudes = means_by(table.system, values)
    if by == "system" and constant(means, first, magnitudes=magnitudes).all():
        yield f"every system's mean {what} is {means[0, 0]:g}"


def _standardized(both: Floats, *, ranks: bool = False) -> Floats:
    """Standardized scores or ranks of some rows, float64[n, m]; 0 in constant columns."""
    varied = ~constant(both, np.zeros(1, np.int64))[0]
    points = np.zeros(both.shape)
    points[:, varied] = standardized(average_ranks(both[:, varied]) if ranks else both[:, varied])
    return points
