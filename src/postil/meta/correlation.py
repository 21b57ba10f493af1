"""Correlations of metrics with human ratings: intervals, tests of their differences, the order of systems' means."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.data.ranking import dense_ranks, without_noise
from postil.meta.coefficient_kinds import Kind, kind_of
from postil.meta.coefficients import TABLE, By, Measure, linear
from postil.meta.column_correlations import means_by, ratio
from postil.meta.parts import Correlation, Difference, SystemMean, UndefinedResult
from postil.meta.resampling import DRAWS, Counts, Draws, Replicates, interval, p_value
from postil.meta.significance import degrees_of_freedom, fisher_interval, holm
from postil.results.base import replace as replace_row
from postil.results.names import CONTROL, metric_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.kernel.arrays import Booleans, Floats, Int64s
    from postil.meta.table import Table

__all__ = [
    "CONTROL_DRAWS",
    "Correlations",
    "Differences",
    "SystemMeans",
    "correlations",
    "differences",
    "from_baseline",
    "pair_row",
    "row_of",
    "system_means",
]

CONTROL_DRAWS: Final = 10
"""Number of draws of a random control that are resampled for its interval, which is around the mean of all draws."""

FEW: Final = 15
"""Degrees of freedom of Pearson's r below which few outliers are said to rule; of few items, half of them."""


@dataclass(frozen=True, slots=True)
class Correlations:
    """Coefficients, defined and undefined.

    Args:
        rows: The defined ones.
        absent: The undefined ones, each with the reason.
        replicates: Values of the metrics, by coefficient, for `postil.meta.correlation.differences`.
        notes: Notes on the intervals.
    """

    rows: tuple[Correlation, ...]
    absent: tuple[UndefinedResult, ...]
    replicates: Mapping[Measure, Replicates] = field(default_factory=dict, compare=False, repr=False)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, found: Sequence[Correlation | UndefinedResult]) -> Correlations:
        """Separate defined and undefined coefficients."""
        return cls(
            rows=tuple(each for each in found if isinstance(each, Correlation)),
            absent=tuple(each for each in found if isinstance(each, UndefinedResult)),
        )

    def only(self, coefficient: Measure, by: By, metrics: Sequence[str]) -> Correlations | None:
        """The same for one coefficient and some metrics; None if it was not computed at that level.

        Args:
            coefficient: Name of the coefficient.
            by: Level.
            metrics: Names of the metrics, all those of the table; random controls are left out.
        """

        def asked(row: Correlation | UndefinedResult) -> bool:
            return (row.coefficient, row.by) == (coefficient, by) and row.metric in metrics

        rows, absent = tuple(filter(asked, self.rows)), tuple(filter(asked, self.absent))
        if not rows and not absent:
            return None
        return Correlations(rows, absent, {coefficient: self.replicates[coefficient]})


def correlations(
    table: Table,
    coefficients: Sequence[Measure] = ("pearson", "spearman", "kendall-b"),
    by: By = "pool",
    draws: Draws = DRAWS,
) -> Correlations:
    """Correlate every metric and control of a table with the mean ratings.

    Pearson's r (1895); Spearman's rho, which is r of the average ranks (1904); Kendall's tau-b (1945) and tau-c
    (Stuart 1953). ``acc-eq`` is pairwise accuracy with ties, at one threshold for all groups of texts (Deutsch, Foster,
    Freitag 2023; see `postil.meta.text_accuracy`). Ties are relative, by chains (`postil.data.ranking`). The 95 %
    percentile bootstrap confidence intervals resample items, whose texts stay together (cluster bootstrap); that of
    Pearson's r by ``pool`` is on Fisher's scale and allows for outliers (`postil.meta.significance`). For a
    random control they are over the mean of its first `CONTROL_DRAWS` draws in each resample, around that of all draws.
    Without any, as with one item, a correlation is undefined; an accuracy has no interval then.

    Args:
        table: Scores and ratings of n texts.
        coefficients: Names of the coefficients.
        by: ``pool`` takes all texts together; ``item`` the texts of each item, then the mean over the items, except
            those whose scores or ratings are all the same; ``system`` each system's mean score and mean rating, over
            the items of the resample; ``within-system`` the texts of each system in the resample, then the mean over
            the systems, except those whose scores or ratings are all the same.
        draws: Random draws: resamples, of which some coefficients take fewer, and for accuracies of systems at most as
            many sign patterns, and orders of the systems, as permutations.

    Returns:
        For each coefficient the metrics in their order, then the random controls; and the undefined ones with reasons.

    Raises:
        UnknownName: There is no such coefficient or level.
        UsageError: A coefficient does not exist at the level.

    >>> from postil.meta.table import join
    >>> from postil.data.rows import Judgement, Score
    >>> scores = [Score(str(i), "a", "rouge-l", i / 4, "") for i in range(4)]
    >>> grades = [Judgement(str(i), "a", "ann", grade) for i, grade in enumerate([1, 3, 2, 4])]
    >>> (found,) = correlations(join(scores, grades), ["spearman"]).rows
    >>> found.value, found.n
    (0.8, 4)
    """
    rows: list[Correlation | UndefinedResult] = []
    replicates: dict[Measure, Replicates] = {}
    by_name = {name: table.oriented[:, [j]] for j, name in enumerate(table.metrics)} | dict(table.draws)
    degrees = np.full(len(table.metrics), np.nan)
    if by == "pool" and linear(coefficients):
        degrees = degrees_of_freedom(table.oriented, table.grades, table.starts)
    for coefficient in dict.fromkeys(coefficients):
        kind = kind_of(coefficient)
        counts = draws.counts(len(table.starts), kind.facts.most.get(by))

        def of(columns: Floats, counts: Counts = counts, kind: Kind = kind) -> Replicates:
            return kind.resampled(table.texts(columns), counts, by, draws)

        found, these = of(table.oriented), list[Correlation | UndefinedResult]()
        replicates[coefficient] = found
        for j, metric in enumerate(table.metrics):
            reason = kind.why_undefined(table, table.scores[:, j], by)
            values, samples, dropped = found.values[[j]], found.samples[:, [j]], found.dropped[j]
            row = row_of(metric, coefficient, by, values, samples, found.n, dropped, reason)
            if kind.facts.linear and by == "pool":
                row = _on_fishers_scale(row, samples[:, 0], degrees[j], len(table.starts))
            these.append(row)
        for control, drawn_scores in table.draws.items():
            drawn = of(drawn_scores, counts[:0])
            samples = _around(drawn.values, of(drawn_scores[:, ~np.isnan(drawn.values)][:, :CONTROL_DRAWS]), kind)
            reason, dropped = kind.why_undefined(table, drawn_scores[:, 0], by), drawn.dropped.max()
            these.append(row_of(control, coefficient, by, drawn.values, samples, drawn.n, dropped, reason))
        rows += kind.completed(these, by_name, table.texts(table.oriented), by, draws)
    return replace(Correlations.of(rows), replicates=replicates, notes=tuple(_on_outliers(table, degrees)))


def _around(values: Floats, some: Replicates, kind: Kind) -> Floats:
    """Resamples of some draws of a random control, moved so that they are around the mean of all its draws.

    The mean of few draws differs from that of all by the chance of the draws, and an interval around it could lie
    beside the value that it belongs to.

    Args:
        values: float64[d], the coefficient of every draw; NaN is ignored.
        some: Those of the draws that are resampled, all of them defined.
        kind: The coefficient.

    Returns:
        float64[R, k], within the bounds of the coefficient.
    """
    if not some.values.size:
        return some.samples
    moved = without_noise(np.nanmean(values) - some.values.mean(), 1.0)
    return np.clip(some.samples + moved, 0.0 if kind.facts.accuracy else -1.0, 1.0) if moved else some.samples


def _on_fishers_scale(
    row: Correlation | UndefinedResult, samples: Floats, degrees: float, items: int
) -> Correlation | UndefinedResult:
    """Give a row of Pearson's r over all texts the interval that allows for outliers, and its p-value."""
    around = fisher_interval(row.value, samples, degrees, items) if isinstance(row, Correlation) else None
    if around is None:
        return row
    return replace_row(row, low=around.low, high=around.high, p=around.p)


def _on_outliers(table: Table, degrees: Floats) -> Iterator[str]:
    """A note on metrics of which few outliers rule Pearson's r over all texts."""
    few = degrees < min(FEW, len(table.starts) / 2)
    if few.any():
        names = ", ".join(name for name, rules in zip(table.metrics, few.tolist(), strict=True) if rules)
        yield (
            f"few outliers rule pearson by pool of {names}: other items may have outliers that these have not, so its "
            "interval may hold in fewer than 95 % of samples (.76 to .97 in simulations); ranks have no outliers"
        )


def row_of(  # noqa: PLR0917 - the columns of a row
    metric: str, coefficient: Measure, by: By, values: Floats, samples: Floats, n: int, dropped: int, reason: str
) -> Correlation | UndefinedResult:
    """Mean of several coefficients with its interval and p-value; undefined without a value or a resampled value.

    An accuracy is defined without a resampled value, too, and then has no interval: its p-value is against chance.

    Args:
        metric: The metric.
        coefficient: Name of the coefficient.
        by: Level.
        values: float64[d], one value per draw; NaN is ignored.
        samples: float64[R, k], averaged within each resample; NaN is ignored.
        n: Number of points.
        dropped: Number of points without a coefficient.
        reason: The reason to report if it is undefined.
    """
    values = values[~np.isnan(values)]
    means = ratio(np.nansum(samples, axis=1), (~np.isnan(samples)).sum(axis=1).astype(np.float64))
    alone = bool(np.isnan(means).all())
    if not len(values) or (alone and not TABLE[coefficient].accuracy):
        return UndefinedResult(metric=metric, coefficient=coefficient, by=by, reason=reason)
    around = None if alone else interval(means)
    return Correlation(
        metric=metric,
        coefficient=coefficient,
        by=by,
        value=float(values.mean()),
        low=around.low if around else None,
        high=around.high if around else None,
        p=p_value(means),
        n=int(n - dropped),
        dropped=int(dropped),
        sd=float(values.std(ddof=1)) if len(values) > 1 else None,
    )


@dataclass(frozen=True, slots=True)
class Differences:
    """Differences, defined and undefined.

    Args:
        rows: The differences.
        absent: Metrics and controls without one, with the reason.
        notes: Notes on the tests, in words.
    """

    rows: tuple[Difference, ...]
    absent: tuple[UndefinedResult, ...]
    notes: tuple[str, ...]


def differences(
    table: Table,
    coefficient: Measure = "pearson",
    by: By = "pool",
    draws: Draws = DRAWS,
    *,
    found: Replicates | None = None,
) -> Differences:
    """Compare every metric with every other on the same texts, and with its own controls.

    All tests are two-sided. *Bootstrap*: items are drawn with replacement, the same for both metrics. *Williams*: see
    `postil.meta.significance`; for Pearson and Spearman, by `pool` and `system`. *Paired permutation test* (approximate
    randomization with items as clusters; PERM-INPUT of Deutsch, Dror and Roth 2021): both metrics are standardized over
    all texts, then each item swaps their scores with probability 1/2; p is the share of permutations with a difference
    at least as large as the observed one. For Spearman by `pool` the ranks are swapped; by `item` the item's two
    coefficients; by `system` the means of the systems are taken after the swap. By `within-system` each system is
    treated as all texts are by `pool`, and the mean taken over the systems. Kendall's coefficients have the bootstrap
    interval alone. Accuracies have PERM-BOTH of the same paper: for ``pa`` and ``spa`` both metrics are standardized
    over all texts, and each text by itself swaps their scores (see `postil.meta.system_accuracy`); for ``acc-eq``
    each pair of texts swaps which metric has it right (see `postil.meta.text_accuracy`).

    A control is compared with the metric that it controls only; a random one by the mean over its draws (for the width
    of the interval: over its first `CONTROL_DRAWS`), with the bootstrap alone.

    Args:
        table: Scores and ratings.
        coefficient: Name of the coefficient.
        by: Level; see `postil.meta.correlation.correlations`.
        draws: Random draws.
        found: Replicates of the metrics where they are known: `postil.meta.correlation.correlations` with the same
            options has them.

    Returns:
        The pairs in the order of the metrics, the earlier one first, then the controls.

    Raises:
        UnknownName: There is no such coefficient or level.
        UsageError: The coefficient does not exist at the level.

    >>> from postil.meta.table import join
    >>> from postil.data.rows import Judgement, Score
    >>> texts = [(str(i), i, i * 7 % 10, i + i % 3) for i in range(20)]
    >>> table = join(
    ...     [Score(item, "a", "good", score, "") for item, score, _, _ in texts]
    ...     + [Score(item, "a", "bad", score, "") for item, _, score, _ in texts],
    ...     [Judgement(item, "a", "ann", grade) for item, _, _, grade in texts],
    ... )
    >>> (row,) = differences(table).rows
    >>> row.first, row.second, row.low < row.value < row.high, row.p == row.p_permutation
    ('good', 'bad', True, True)
    """
    kind = kind_of(coefficient)
    work = _Differencing(table, kind, by, draws.counts(len(table.starts), kind.facts.most.get(by)), draws)
    found = work.replicates(table.oriented) if found is None else found
    exists = ~np.isnan(found.values)
    if not kind.facts.accuracy:  # a difference of accuracies has a test without a resampled value
        exists &= ~np.isnan(found.samples).all(axis=0)
    columns = np.flatnonzero(exists)
    absent = [work.undefined(table.metrics[column], table.scores[:, column]) for column in np.flatnonzero(~exists)]
    pairs, alone = _pairs(work, found, columns)
    rows = [pair_row(kind, by, table, found, pair) for pair in pairs.tolist()]
    tests = kind.tested(table, columns, np.searchsorted(columns, pairs.T), by, draws) if rows else []
    if tests:
        rows = [replace_row(row, **fields) for row, fields in zip(rows, tests, strict=True)]
    controls = list(_against_controls(work, found, exists))
    return Differences(
        rows=tuple(_adjusted([*rows, *(each for each in controls if isinstance(each, Difference))])),
        absent=(*absent, *alone, *(each for each in controls if isinstance(each, UndefinedResult))),
        notes=tuple(kind.notes(table, by)),
    )


@dataclass(frozen=True, eq=False, slots=True)
class _Differencing:
    """Differences in one coefficient at one level."""

    table: Table
    kind: Kind
    by: By
    counts: Counts
    draws: Draws

    def replicates(self, scores: Floats, counts: Counts | None = None) -> Replicates:
        texts = self.table.texts(scores)
        return self.kind.resampled(texts, self.counts if counts is None else counts, self.by, self.draws)

    def undefined(self, name: str, scores: Floats) -> UndefinedResult:
        return self.absent(name, self.kind.why_undefined(self.table, scores, self.by))

    def absent(self, name: str, reason: str) -> UndefinedResult:
        return UndefinedResult(metric=name, coefficient=self.kind.name, by=self.by, reason=reason)


def _row(  # noqa: PLR0917 - the columns of a row
    kind: Kind, by: By, names: Sequence[str], value: float, samples: Floats, n: int
) -> Difference:
    """Difference of two metrics with its bootstrap interval and p-value, which are None without a resampled value.

    Args:
        kind: The coefficient.
        by: Level.
        names: The two metrics.
        value: The difference.
        samples: float64[R], the difference in each resample; NaN is ignored.
        n: Number of points.
    """
    samples = without_noise(samples, 1.0)  # coefficients are sums of terms of size 1
    alone = bool(np.isnan(samples).all())
    around = None if alone else interval(samples)
    p = None if alone else p_value(samples)
    return Difference(
        first=names[0],
        second=names[1],
        coefficient=kind.name,
        by=by,
        value=value,
        low=around.low if around else None,
        high=around.high if around else None,
        n=n,
        p_bootstrap=p,
        p=None if kind.facts.untested else p,
    )


def pair_row(kind: Kind, by: By, table: Table, found: Replicates, pair: Sequence[int]) -> Difference:
    """Difference of two metrics of a table.

    Args:
        kind: The coefficient.
        by: Level.
        table: The table.
        found: Its coefficients.
        pair: Columns of the two metrics.
    """
    one, other = pair
    return _row(
        kind,
        by,
        [table.metrics[one], table.metrics[other]],
        float(without_noise(found.values[one] - found.values[other], 1.0)),
        found.samples[:, one] - found.samples[:, other],
        int(found.n - max(found.dropped[one], found.dropped[other])),
    )


def _pairs(work: _Differencing, found: Replicates, columns: Int64s) -> tuple[Int64s, list[UndefinedResult]]:
    """Columns to compare, int64[k, 2], and the pairs of which no resample has both."""
    names = work.table.metrics
    together, absent = [], []
    for first, second in combinations(columns.tolist(), 2):
        if not _comparable(names[first], names[second]):
            continue
        if not work.kind.facts.accuracy and np.isnan(found.samples[:, first] + found.samples[:, second]).all():
            absent.append(work.absent(f"{names[first]} and {names[second]}", "no resample has a coefficient of both"))
        else:
            together.append((first, second))
    return np.array(together, np.int64).reshape(-1, 2), absent


def _against_controls(
    work: _Differencing, found: Replicates, exists: Booleans
) -> Iterator[Difference | UndefinedResult]:
    """Compare each metric with its random controls."""
    table = work.table
    for control, metric, draws in _controls(table):
        values = work.replicates(draws, work.counts[:0])
        some = draws[:, ~np.isnan(values.values)][:, :CONTROL_DRAWS]
        drawn = _around(values.values, work.replicates(some), work.kind)
        samples = found.samples[:, metric] - drawn.sum(axis=1) / max(1, some.shape[1])
        if not exists[metric] or not some.size or (not work.kind.facts.accuracy and np.isnan(samples).all()):
            yield work.undefined(control, draws[:, 0] if exists[metric] else table.scores[:, metric])
            continue
        yield _row(
            work.kind,
            work.by,
            [table.metrics[metric], control],
            float(found.values[metric] - np.nanmean(values.values)),
            samples,
            int(found.n - max(found.dropped[metric], values.dropped.max())),
        )


def _controls(table: Table) -> Iterator[tuple[str, int, Floats]]:
    """Random controls of the metrics of a table, each with the metric's column and its draws."""
    for control, draws in table.draws.items():
        if metric_of(control) in table.metrics:
            yield control, table.column(metric_of(control)), draws


def _comparable(first: str, second: str) -> bool:
    """True if two metrics are compared: a control only with the metric that it controls."""
    of_first, of_second = CONTROL.fullmatch(first), CONTROL.fullmatch(second)
    if of_first and of_second:
        return False
    control, metric = (of_first, second) if of_first else (of_second, first)
    return control is None or control["metric"] == metric


def from_baseline(rows: Sequence[Difference], baseline: str) -> tuple[Difference, ...]:
    """The differences of metrics and controls from one metric: each minus it, adjusted by Holm for these alone.

    Args:
        rows: Differences in one coefficient, as `differences` gives them.
        baseline: The metric.
    """
    turned = (row if row.second == baseline else row.reversed() for row in rows if baseline in {row.first, row.second})
    return tuple(_adjusted(list(turned)))


def _adjusted(rows: Sequence[Difference]) -> list[Difference]:
    """Add p adjusted by Holm, over pairs of metrics and over pairs of a metric and its control."""
    done: dict[int, float] = {}
    for family in (False, True):
        members = [
            (place, row.p)
            for place, row in enumerate(rows)
            if row.p is not None and any(map(CONTROL.fullmatch, (row.first, row.second))) is family
        ]
        done.update(zip((place for place, _ in members), holm([p for _, p in members]).tolist(), strict=True))
    return [replace_row(row, p_holm=done.get(place)) for place, row in enumerate(rows)]


@dataclass(frozen=True, slots=True)
class SystemMeans:
    """Means of every system, and rank correlations of these means.

    Args:
        rows: The systems.
        orders: By metric, Kendall's tau-b of the systems' mean scores with their mean ratings; None where undefined.
        absent: The metrics without a tau-b, with the reason.
    """

    rows: tuple[SystemMean, ...]
    orders: dict[str, float | None]
    absent: tuple[UndefinedResult, ...]


def system_means(table: Table) -> SystemMeans:
    """Mean scores and mean ratings of the systems of a table, as in the last table of the paper's supplement.

    Equal means share the better rank; rank 1 is the best system.

    Args:
        table: Scores and ratings. The means of a system are over its own texts, so systems that were judged on
            different items are not strictly comparable; `SystemMean.n` shows it.

    >>> from postil.meta.table import join
    >>> from postil.data.rows import Judgement, Score
    >>> texts = (("a", 0.1, 2), ("b", 0.4, 3), ("c", 0.3, 5))
    >>> table = join(
    ...     [Score("1", system, "meteor", score, "") for system, score, _ in texts],
    ...     [Judgement("1", system, "ann", grade) for system, _, grade in texts],
    ... )
    >>> found = system_means(table)
    >>> [row.ranks["meteor"] for row in found.rows], [row.rank for row in found.rows], found.orders
    ([3, 1, 2], [3, 2, 1], {'meteor': 0.3333333333333333})
    """
    means, magnitudes = means_by(table.system, np.column_stack([table.oriented, table.grades]))
    places = dense_ranks(means, magnitudes=magnitudes)
    signs = np.sign(places[:, None] - places[None])  # of each system minus each other system
    ranks = 1 + (signs < 0).sum(axis=1)
    orders: dict[str, float | None] = {}
    absent: list[UndefinedResult] = []
    for column, metric in enumerate(table.metrics):
        reason = _no_order(metric, signs[..., column], signs[..., -1])
        if reason:
            absent.append(UndefinedResult(metric=metric, coefficient="kendall-b", by="system", reason=reason))
            orders[metric] = None
            continue
        untied = np.abs(signs[..., [column, -1]]).sum(axis=(0, 1))
        orders[metric] = float((signs[..., column] * signs[..., -1]).sum() / np.sqrt(untied.prod()))
    scores = np.where(table.lower_is_better, -means[:, :-1], means[:, :-1])
    rows = (
        SystemMean(
            system=system,
            n=n,
            grade=grade,
            rank=rank[-1],
            means=dict(zip(table.metrics, score, strict=True)),
            ranks=dict(zip(table.metrics, rank, strict=False)),  # the last rank is that of the mean rating
        )
        for system, n, grade, score, rank in zip(
            table.systems,
            np.bincount(table.system).tolist(),
            means[:, -1].tolist(),
            scores.tolist(),
            ranks.tolist(),
            strict=True,
        )
    )
    return SystemMeans(rows=tuple(rows), orders=orders, absent=tuple(absent))


def _no_order(metric: str, signs: Floats, people: Floats) -> str | None:
    """Reason why tau-b of two orders, given as signs of all pairs, is undefined; None where it is defined."""
    if len(signs) < 2:
        return "there is only one system"
    if not signs.any():
        return f"{metric} gives all systems the same mean"
    return None if people.any() else "people give all systems the same mean grade"
