"""Correlations of metrics with human ratings, with bootstrap confidence intervals."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.meta.coefficient_kinds import kind_of
from postil.meta.coefficients import TABLE, linear
from postil.meta.column_correlations import ratio
from postil.meta.fisher import degrees_of_freedom, fisher_interval
from postil.meta.parts import Correlation, UndefinedResult
from postil.meta.resampling import DRAWS, interval, p_value
from postil.results.base import replace as replace_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.kernel.arrays import Floats
    from postil.meta.coefficient_kinds import Kind
    from postil.meta.coefficients import By, Measure
    from postil.meta.replicates import Replicates
    from postil.meta.resampling import Counts, Draws
    from postil.meta.table import Table

__all__ = ["CONTROL_DRAWS", "Correlations", "correlations", "row_of"]

CONTROL_DRAWS: Final = 10
"""Number of draws of a random control that the interval is over; the value is over all."""

FEW: Final = 15
"""Degrees of freedom of Pearson's r below which few outliers are said to rule; of few items, half of them."""


@dataclass(frozen=True, slots=True)
class Correlations:
    """Coefficients, defined and undefined.

    Args:
        rows: The defined ones.
        absent: The undefined ones, each with the reason.
        replicates: Values of the metrics, by coefficient, for `postil.meta.significance.differences`.
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
    Freitag 2023; see `postil.meta.accuracy`). Ties are relative, by chains (`postil.data.ties`). The 95 %
    percentile bootstrap confidence intervals resample items, whose texts stay together (cluster bootstrap); that of
    Pearson's r by ``pool`` is on Fisher's scale and allows for outliers (`postil.meta.fisher`). For a
    random control they are over the mean of its first `CONTROL_DRAWS` draws in each resample.
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
            samples = of(drawn_scores[:, ~np.isnan(drawn.values)][:, :CONTROL_DRAWS]).samples
            reason, dropped = kind.why_undefined(table, drawn_scores[:, 0], by), drawn.dropped.max()
            these.append(row_of(control, coefficient, by, drawn.values, samples, drawn.n, dropped, reason))
        rows += kind.completed(these, by_name, table.texts(table.oriented), by, draws)
    return replace(Correlations.of(rows), replicates=replicates, notes=tuple(_on_outliers(table, degrees)))


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
