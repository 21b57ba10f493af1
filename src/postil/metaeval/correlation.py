"""Correlations of metrics with human ratings, with bootstrap confidence intervals."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from postil.metaeval.accuracy import with_thresholds
from postil.metaeval.coefficients import ACCURACIES, OF_SYSTEMS, constant, means_by, ratio, rows_by
from postil.metaeval.fisher import degrees_of_freedom, fisher_interval
from postil.metaeval.permutation import PERMUTATIONS
from postil.metaeval.replicates import CONTROL_DRAWS, KENDALL_RESAMPLES, resampled
from postil.metaeval.resampling import RESAMPLES, SEED, interval, p_value, shared_counts
from postil.metaeval.system_accuracy import why_no_accuracy, with_chance
from postil.records.coefficients import TABLE
from postil.records.results import Correlation, UndefinedResult
from postil.records.results import replace as replace_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.engine import Engine
    from postil.metaeval.coefficients import Measure
    from postil.metaeval.replicates import By, Replicates
    from postil.metaeval.resampling import Counts
    from postil.metaeval.table import Table

__all__ = ["Correlations", "correlations", "row_of", "why_undefined"]

FEW: Final = 15
"""Degrees of freedom of Pearson's r below which few outliers are said to rule; of few items, half of them."""

Floats: TypeAlias = "NDArray[np.float64]"
Integers: TypeAlias = "NDArray[np.int32]"


@dataclass(frozen=True, slots=True)
class Correlations:
    """Coefficients, defined and undefined.

    Args:
        rows: The defined ones.
        absent: The undefined ones, each with the reason.
        replicates: Values of the metrics, by coefficient, for `postil.metaeval.significance.differences`.
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
    *,
    resamples: int = RESAMPLES,
    permutations: int = PERMUTATIONS,
    seed: int = SEED,
    kendall_resamples: int = KENDALL_RESAMPLES,
    jobs: int = 1,
    engine: Engine | None = None,
) -> Correlations:
    """Correlate every metric and control of a table with the mean ratings.

    Pearson's r (1895); Spearman's rho, which is r of the average ranks (1904); Kendall's tau-b (1945) and tau-c
    (Stuart 1953). ``acc-eq`` is pairwise accuracy with ties, at one threshold for all groups of texts (Deutsch, Foster,
    Freitag 2023; see `postil.metaeval.accuracy`). Ties are relative, by chains (`postil.records.ties`). The 95 %
    percentile bootstrap confidence intervals resample items, whose texts stay together (cluster bootstrap); that of
    Pearson's r by ``pool`` is on Fisher's scale and allows for outliers (`postil.metaeval.fisher`). For a
    random control they are over the mean of its first `CONTROL_DRAWS` draws in each resample.
    Without any, as with one item, a correlation is undefined; an accuracy has no interval then.

    Args:
        table: Scores and ratings of n texts.
        coefficients: Names of the coefficients.
        by: ``pool`` takes all texts together; ``item`` the texts of each item, then the mean over the items, except
            those whose scores or ratings are all the same; ``system`` each system's mean score and mean rating, over
            the items of the resample; ``within-system`` the texts of each system in the resample, then the mean over
            the systems, except those whose scores or ratings are all the same.
        resamples: Number of resamples, at least 1.
        permutations: Largest number of sign patterns, and of orders of the systems, for accuracies of systems.
        seed: Seed of the resamples.
        kendall_resamples: Largest number of resamples for Kendall's coefficients, which take longer.
        jobs: Number of threads; results do not depend on it.
        engine: Engine that computes the resamples; by default this process.

    Returns:
        For each coefficient the metrics in their order, then the random controls; and the undefined ones with reasons.

    Raises:
        UnknownName: There is no such coefficient or level.
        UsageError: Fewer than one resample.

    >>> from postil.metaeval.table import join
    >>> from postil.records.rows import Judgement, Score
    >>> scores = [Score(str(i), "a", "rouge-l", i / 4, "") for i in range(4)]
    >>> grades = [Judgement(str(i), "a", "ann", grade) for i, grade in enumerate([1, 3, 2, 4])]
    >>> (found,) = correlations(join(scores, grades), ["spearman"]).rows
    >>> found.value, found.n
    (0.8, 4)
    """
    rows: list[Correlation | UndefinedResult] = []
    replicates: dict[Measure, Replicates] = {}
    of_text = table.grades, table.item, table.system
    by_name = {name: table.oriented[:, [j]] for j, name in enumerate(table.metrics)} | dict(table.draws)
    degrees = np.full(len(table.metrics), np.nan)
    if by == "pool" and any(TABLE[name].linear for name in coefficients if name in TABLE):
        degrees = degrees_of_freedom(table.oriented, table.grades, table.starts)
    for coefficient in dict.fromkeys(coefficients):
        several = min(resamples, kendall_resamples) if coefficient.startswith("kendall") else resamples
        counts = shared_counts(len(table.starts), several, seed)

        def of(columns: Floats, counts: Counts = counts, coefficient: Measure = coefficient) -> Replicates:
            asked = coefficient, by
            return resampled(
                columns, *of_text, counts, *asked, permutations=permutations, seed=seed, jobs=jobs, engine=engine
            )

        found, these = of(table.oriented), list[Correlation | UndefinedResult]()
        replicates[coefficient] = found
        for j, metric in enumerate(table.metrics):
            reason = why_undefined(table, table.scores[:, j], by, coefficient)
            values, samples, dropped = found.values[[j]], found.samples[:, [j]], found.dropped[j]
            row = row_of(metric, coefficient, by, values, samples, found.n, dropped, reason)
            these.append(_on_fishers_scale(row, samples[:, 0], degrees[j], len(table.starts)))
        for control, draws in table.draws.items():
            drawn = of(draws, counts[:0])
            samples = of(draws[:, ~np.isnan(drawn.values)][:, :CONTROL_DRAWS]).samples
            reason, dropped = why_undefined(table, draws[:, 0], by, coefficient), drawn.dropped.max()
            these.append(row_of(control, coefficient, by, drawn.values, samples, drawn.n, dropped, reason))
        if TABLE[coefficient].ties:
            rows += with_thresholds(these, by_name, *of_text, by, seed=seed, jobs=jobs)
        else:
            rows += with_chance(these, by_name, *of_text, coefficient, permutations, seed)
    return replace(Correlations.of(rows), replicates=replicates, notes=tuple(_on_outliers(table, degrees)))


def _on_fishers_scale(
    row: Correlation | UndefinedResult, samples: Floats, degrees: float, items: int
) -> Correlation | UndefinedResult:
    """Give a row of Pearson's r over all texts the interval that allows for outliers, and its p-value."""
    if not isinstance(row, Correlation) or (row.coefficient, row.by) != ("pearson", "pool"):
        return row
    around = fisher_interval(row.value, samples, degrees, items)
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
    if not len(values) or (alone and coefficient not in ACCURACIES):
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


def why_undefined(table: Table, scores: Floats, by: By, coefficient: Measure) -> str:
    """Reason why the coefficient of scores with the mean ratings of a table is undefined, in words.

    Args:
        table: The table of n texts.
        scores: float64[n].
        by: Level.
        coefficient: Name of the coefficient.
    """
    if coefficient in OF_SYSTEMS:
        return why_no_accuracy(table.system)
    sides = [] if TABLE[coefficient].ties else [("score", scores), ("grade", table.grades)]
    return next(_reasons(table, sides, by))


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
