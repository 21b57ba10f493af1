"""How closely metrics follow human grades, with intervals over resamples of the items."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from postil.metaeval.coefficients import constant, means_by, ratio
from postil.metaeval.replicates import CONTROL_DRAWS, KENDALL_RESAMPLES, resampled
from postil.metaeval.resampling import RESAMPLES, SEED, counts_of, interval, p_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from postil.engine import Engine
    from postil.metaeval.coefficients import Coefficient
    from postil.metaeval.replicates import By, Replicates
    from postil.metaeval.table import Table

__all__ = ["Absent", "Correlation", "Correlations", "correlations", "row_of", "why_not"]

Floats: TypeAlias = "NDArray[np.float64]"
Integers: TypeAlias = "NDArray[np.int32]"


@dataclass(frozen=True, slots=True)
class Correlation:
    """A coefficient of one metric with the human grades.

    Args:
        metric: The metric.
        coefficient: Which coefficient.
        by: What it is over.
        value: The coefficient, from -1 to 1; high is good, whichever way the metric points. For a random control the
            mean over its draws.
        low: The lower end of the 95 % interval over resamples of the items.
        high: The upper end.
        p: How sure it is that the coefficient is not 0; see `resampling.p_value`.
        n: How many texts, items or systems it is over.
        dropped: Items left out since they have one text, or their scores or their grades are all the same (``by`` item
            only).
        sd: Of a random control, the standard deviation over its draws.
    """

    metric: str
    coefficient: Coefficient
    by: By
    value: float
    low: float
    high: float
    p: float
    n: int
    dropped: int = 0
    sd: float | None = None

    def row(self) -> dict[str, str | float | int]:
        """The fields in order, ``sd`` only where there is one."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class Absent:
    """A number that does not exist.

    Args:
        metric: The metric.
        coefficient: Which coefficient.
        by: What it would be over.
        reason: Why not, in words.
    """

    metric: str
    coefficient: Coefficient
    by: By
    reason: str


@dataclass(frozen=True, slots=True)
class Correlations:
    """What `correlations` found.

    Args:
        rows: The coefficients.
        absent: Those that do not exist.
    """

    rows: tuple[Correlation, ...]
    absent: tuple[Absent, ...]

    @classmethod
    def of(cls, found: Sequence[Correlation | Absent]) -> Correlations:
        """Both kinds, told apart."""
        return cls(
            rows=tuple(each for each in found if isinstance(each, Correlation)),
            absent=tuple(each for each in found if isinstance(each, Absent)),
        )


def correlations(
    table: Table,
    coefficients: Sequence[Coefficient] = ("pearson", "spearman", "kendall-b"),
    by: By = "pool",
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    kendall_resamples: int = KENDALL_RESAMPLES,
    jobs: int = 1,
    engine: Engine | None = None,
) -> Correlations:
    """Every metric and control of a table against the grades.

    Pearson's r (1895); Spearman's rho, which is r of the average ranks (1904); Kendall's tau-b (1945) and tau-c
    (Stuart 1953). Ties are relative, by chains (`postil.records.ties`). Intervals resample the items, whose texts
    stay together (cluster bootstrap, percentiles). For a random control they are over the mean of its first
    `CONTROL_DRAWS` draws in each resample.

    Args:
        table: Scores and grades of n texts.
        coefficients: Which coefficients.
        by: ``pool`` takes all texts together; ``item`` the texts of each item, then the mean over the items, less
            those whose scores or grades are all the same; ``system`` each system's mean score and mean grade, over the
            items of the resample.
        resamples: How many resamples.
        seed: Their seed.
        kendall_resamples: The most resamples for Kendall's coefficients, which take longer.
        jobs: Threads; the numbers do not depend on it.
        engine: Where resamples are gone through, if not here.

    Returns:
        The metrics in their order, then the random controls, for each coefficient; and what does not exist, with why.

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
    rows: list[Correlation | Absent] = []
    for coefficient in dict.fromkeys(coefficients):
        several = min(resamples, kendall_resamples) if coefficient.startswith("kendall") else resamples
        counts = counts_of(len(table.starts), several, seed)

        def of(columns: Floats, counts: Integers = counts, coefficient: Coefficient = coefficient) -> Replicates:
            of_text = table.grades, table.item, table.system
            return resampled(columns, *of_text, counts, coefficient, by, jobs=jobs, engine=engine)

        found = of(table.oriented)
        for j, metric in enumerate(table.metrics):
            reason = why_not(table, table.scores[:, j], by)
            values, samples, dropped = found.values[[j]], found.samples[:, [j]], found.dropped[j]
            rows.append(row_of(metric, coefficient, by, values, samples, found.n, dropped, reason))
        for control, draws in table.draws.items():
            drawn = of(draws, counts[:0])
            samples = of(draws[:, ~np.isnan(drawn.values)][:, :CONTROL_DRAWS]).samples
            reason, dropped = why_not(table, draws[:, 0], by), drawn.dropped.max()
            rows.append(row_of(control, coefficient, by, drawn.values, samples, drawn.n, dropped, reason))
    return Correlations.of(rows)


def row_of(  # noqa: PLR0917 - the columns of a row
    metric: str, coefficient: Coefficient, by: By, values: Floats, samples: Floats, n: int, dropped: int, reason: str
) -> Correlation | Absent:
    """The mean of several coefficients and what resamples say of it; absent if there is none, or none in any resample.

    Args:
        metric: The metric.
        coefficient: Which coefficient.
        by: What it is over.
        values: float64[d], one for each draw; NaN is passed over.
        samples: float64[R, k], of which the mean is taken in each resample; NaN is passed over.
        n: How many points there are.
        dropped: How many of them have no coefficient.
        reason: Why not, should it be absent.
    """
    values = values[~np.isnan(values)]
    means = ratio(np.nansum(samples, axis=1), (~np.isnan(samples)).sum(axis=1).astype(np.float64))
    if not len(values) or np.isnan(means).all():
        return Absent(metric, coefficient, by, reason)
    middle = interval(means)
    return Correlation(
        metric=metric,
        coefficient=coefficient,
        by=by,
        value=float(values.mean()),
        low=middle.low,
        high=middle.high,
        p=p_value(means),
        n=int(n - dropped),
        dropped=int(dropped),
        sd=float(values.std(ddof=1)) if len(values) > 1 else None,
    )


def why_not(table: Table, scores: Floats, by: By) -> str:
    """Why there is no coefficient of scores with the grades of a table, in words.

    Args:
        table: The texts.
        scores: float64[n].
        by: What the coefficient would be over.
    """
    return next(_reasons(table, [("score", scores), ("grade", table.grades)], by))


def _reasons(table: Table, sides: Sequence[tuple[str, Floats]], by: By) -> Iterator[str]:
    if len(table) < 2:
        yield "only one text"
    if by == "item" and len(table.starts) == len(table):
        yield "no item has two texts"
    if by == "system" and len(table.systems) < 2:
        yield "only one system"
    for what, column in sides:
        yield from _alike(what, column, table, by)
    if len(table.starts) < 2:
        yield "only one item, so there is no interval over items"
    yield f"in every {'item' if by == 'item' else 'resample'} the scores or the grades are all the same"


def _alike(what: str, column: Floats, table: Table, by: By) -> Iterator[str]:
    first, values = np.zeros(1, np.int64), column[:, None]
    if constant(values, first).all():
        yield f"every {what} is {column[0]:g}"
    if by == "item" and constant(values, table.starts).all():
        yield f"in every item the {what}s are all the same"
    means, magnitudes = means_by(table.system, values)
    if by == "system" and constant(means, first, magnitudes=magnitudes).all():
        yield f"every system's mean {what} is {means[0, 0]:g}"
