"""How closely metrics follow human grades, with intervals over resamples of the items."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import numpy as np

from postil.errors import UnknownName
from postil.kernel import rank_correlations
from postil.metaeval.resampling import RESAMPLES, SEED, counts_of, interval, p_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from postil.engine import Engine
    from postil.metaeval.table import Table

__all__ = [
    "COEFFICIENTS",
    "CONTROL_DRAWS",
    "KENDALL_RESAMPLES",
    "LEVELS",
    "Absent",
    "By",
    "Coefficient",
    "Correlation",
    "Correlations",
    "Replicates",
    "correlate_groups",
    "correlations",
    "dense_ranks",
    "replicate",
    "resampled",
    "row_of",
    "why_not",
]

Floats: TypeAlias = "NDArray[np.float64]"
Integers: TypeAlias = "NDArray[np.int32]"

Coefficient: TypeAlias = Literal["pearson", "spearman", "kendall-b", "kendall-c"]
"""What is computed."""

By: TypeAlias = Literal["pool", "item", "system"]
"""What it is computed over: all texts; the texts of each item, then the mean over items; the systems' means."""

COEFFICIENTS: Final[tuple[Coefficient, ...]] = get_args(Coefficient)
"""Every coefficient."""

LEVELS: Final[tuple[By, ...]] = get_args(By)
"""Every level."""

KENDALL_RESAMPLES: Final = 200
"""The most resamples for Kendall's coefficients, where no other number is given."""

CHUNK: Final = 128
"""So many resamples are gone through at once, wherever that is done, so that sums come out the same to the last bit."""

CONTROL_DRAWS: Final = 10
"""How many draws of a random control the interval is over; the value is over all."""

DECIMALS: Final = 12
"""Numbers that are the same when rounded to so many decimals are ties."""


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


@dataclass(frozen=True, slots=True, eq=False)
class Replicates:
    """A coefficient of M columns on all rows, and on the same R resamples of the items for every column.

    Args:
        names: The columns.
        values: float64[M]; NaN where the column is constant, so that there is no coefficient.
        samples: float64[R, M]; NaN where it is constant in the resample, and everywhere if there is only one item.
        n: How many texts, items or systems there are.
        dropped: int64[M], how many of the items had no coefficient (``by`` item only).
    """

    names: tuple[str, ...]
    values: Floats
    samples: Floats
    n: int
    dropped: NDArray[np.int64]


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
    (Stuart 1953). Scores and grades that agree to 12 decimals are ties. Intervals resample the items, whose texts
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


def replicate(
    scores: Floats,
    table: Table,
    coefficient: Coefficient,
    by: By,
    *,
    names: Sequence[str] = (),
    resamples: int = RESAMPLES,
    seed: int = SEED,
    jobs: int = 1,
) -> Replicates:
    """A coefficient of columns with the grades of a table, on all rows and on resamples of the items.

    The same seed and number give the same resamples, so that differences between columns are paired.

    Args:
        scores: float64[n, M], high is good.
        table: Whose grades, items and systems.
        coefficient: Which coefficient.
        by: What it is over; see `correlations`.
        names: Of the columns; by default the table's metrics, or numbers if there are more or fewer columns.
        resamples: How many resamples.
        seed: Their seed.
        jobs: Threads; the numbers do not depend on it.

    Raises:
        UnknownName: There is no such coefficient or level.
        UsageError: Fewer than one resample.
    """
    counts = counts_of(len(table.starts), resamples, seed)
    if not names:
        names = table.metrics if len(table.metrics) == scores.shape[1] else [str(j) for j in range(scores.shape[1])]
    return resampled(scores, table.grades, table.item, table.system, counts, coefficient, by, names=names, jobs=jobs)


def resampled(  # noqa: PLR0917 - two sides, what groups them, what is asked
    scores: Floats,
    grades: Floats,
    item: Integers,
    system: Integers,
    counts: Integers,
    coefficient: Coefficient,
    by: By,
    *,
    names: Sequence[str] = (),
    jobs: int = 1,
    engine: Engine | None = None,
) -> Replicates:
    """The same without a table.

    Args:
        scores: float64[n, M].
        grades: float64[n].
        item: int32[n], rising from 0 without a gap.
        system: int32[n], from 0.
        counts: int32[R, items], how often each item is drawn, see `counts_of`; R may be 0.
        coefficient: Which coefficient.
        by: What it is over; see `correlations`.
        names: Of the columns.
        jobs: Threads.
        engine: Where resamples are gone through, if not here.

    Raises:
        UnknownName: There is no such coefficient or level.
    """
    if coefficient not in COEFFICIENTS:
        raise UnknownName("coefficient", coefficient, COEFFICIENTS)
    if by not in LEVELS:
        raise UnknownName("level", by, LEVELS)
    counts = np.vstack([np.ones((1, counts.shape[1]), np.int32), counts])
    work = _Resampling(scores, grades, item, system, coefficient, by)
    if engine is None:
        found = work(counts, jobs)
    else:
        found = np.vstack(list(engine.map(work, (counts[at : at + CHUNK] for at in range(0, len(counts), CHUNK)))))
    dropped = np.zeros(scores.shape[1], np.int64)
    if by == "item":
        dropped = np.isnan(work.of_item).sum(axis=0)
    n = {"pool": len(scores), "item": counts.shape[1], "system": len(np.unique(system))}[by]
    samples = found[1:] if counts.shape[1] > 1 else np.full_like(found[1:], np.nan)
    return Replicates(tuple(names), found[0], samples, n, dropped)


@dataclass(frozen=True, eq=False)
class _Resampling:
    """What is done to resamples, here or elsewhere: counts int32[R, items] to coefficients float64[R, M]."""

    scores: Floats
    grades: Floats
    item: Integers
    system: Integers
    coefficient: Coefficient
    by: By

    def __call__(self, counts: Integers, jobs: int = 1) -> Floats:
        if self.by == "pool":
            return _over_rows(self.scores, self.grades, self.item, counts, self.coefficient, jobs)
        if self.by == "system":
            return _over_systems(self.scores, self.grades, self.item, self.system, counts, self.coefficient)
        exists = ~np.isnan(self.of_item)
        sums = _drawn(counts, np.where(exists, self.of_item, 0.0))
        return _ratio(sums, _drawn(counts, exists.astype(np.float64)))

    @cached_property
    def of_item(self) -> Floats:
        """The coefficient within each item, float64[items, M]."""
        return correlate_groups(self.scores, self.grades, _starts(self.item), self.coefficient)


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
    means = _ratio(np.nansum(samples, axis=1), (~np.isnan(samples)).sum(axis=1).astype(np.float64))
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


def correlate_groups(
    x: Floats,
    y: Floats,
    starts: NDArray[np.int64],
    coefficient: Coefficient,
    weights: Integers | None = None,
) -> Floats:
    """A coefficient of columns with one column, within each group of neighbouring rows.

    Args:
        x: float64[n, M].
        y: float64[n].
        starts: int64[k], the first row of each group.
        coefficient: Which coefficient.
        weights: int32[n], how many equal rows each row stands for; by default 1.

    Returns:
        float64[k, M]; NaN where either side is constant.

    >>> x, y = np.array([[1.0], [2.0], [3.0], [5.0], [5.0]]), np.array([1.0, 3.0, 2.0, 1.0, 2.0])
    >>> correlate_groups(x, y, np.array([0, 3]), "spearman").tolist()
    [[0.5], [nan]]
    """
    weights = np.ones(len(y), np.int32) if weights is None else weights
    if coefficient == "pearson":
        return _pearson(x, y, starts, weights)
    ranks, of_y = dense_ranks(x, starts), dense_ranks(y[:, None], starts)[:, 0]
    out = np.empty((len(starts), x.shape[1]))
    for group, (start, end) in enumerate(zip(starts.tolist(), [*starts[1:].tolist(), len(y)], strict=True)):
        rows = slice(start, end)
        each = np.arange(end - start, dtype=np.int32)
        out[group] = rank_correlations(ranks[rows], of_y[rows], each, weights[None, rows], coefficient)
    return out


def _pearson(x: Floats, y: Floats, starts: NDArray[np.int64], weights: Integers) -> Floats:
    """Two passes over the rows: the means, then the distances from them."""
    both = _scaled(np.column_stack([x, y]))
    group = np.repeat(np.arange(len(starts)), np.diff([*starts, len(y)]))
    heavy = weights[:, None].astype(np.float64)
    total = np.maximum(1.0, np.add.reduceat(heavy, starts))
    away = _scaled(both - (np.add.reduceat(heavy * both, starts) / total)[group])
    squares = np.add.reduceat(heavy * away**2, starts)
    products = np.add.reduceat(heavy * away[:, :-1] * away[:, -1:], starts)

    rounded, there = _rounded(np.column_stack([x, y])), heavy > 0
    highest = np.maximum.reduceat(np.where(there, rounded, -np.inf), starts)
    lowest = np.minimum.reduceat(np.where(there, rounded, np.inf), starts)
    squares[highest <= lowest] = 0.0
    return _ratio(products, np.sqrt(squares[:, :-1]) * np.sqrt(squares[:, -1:])).clip(-1.0, 1.0)


def _over_rows(  # noqa: PLR0917
    x: Floats, y: Floats, item: Integers, counts: Integers, coefficient: Coefficient, jobs: int
) -> Floats:
    """float64[R, M]; every row as often as its item is drawn."""
    start = np.zeros(1, np.int64)
    if coefficient != "pearson":
        ranks = dense_ranks(np.column_stack([x, y]), start)
        return rank_correlations(
            np.ascontiguousarray(ranks[:, :-1]), np.ascontiguousarray(ranks[:, -1]), item, counts, coefficient, jobs
        )
    # Sums of each item, times how often it is drawn. They start from columns whose mean is 0 over all rows; where a
    # resample lies so far from it that digits cancel, or is constant, the rows are gone through once more.
    both = _scaled(np.column_stack([x, y]))
    both = _scaled(both - both.mean(axis=0))
    of_item = np.add.reduceat(
        np.column_stack([np.ones(len(y)), both, both**2, both[:, :-1] * both[:, -1:]]), _starts(item)
    )
    m = both.shape[1]
    sums = _drawn(counts, of_item)
    means, squares, products = np.split(sums[:, 1:] / sums[:, :1], [m, 2 * m], axis=1)
    variances = squares - means**2
    doubtful = variances <= 1e-6 * squares
    doubtful = doubtful[:, :-1] | doubtful[:, -1:]
    spread = np.sqrt(np.maximum(variances, 0.0))
    out = _ratio(products - means[:, :-1] * means[:, -1:], spread[:, :-1] * spread[:, -1:]).clip(-1.0, 1.0)
    constant = np.isnan(_pearson(x, y, start, np.ones(len(y), np.int32))[0])
    out[:, constant] = np.nan
    doubtful &= ~constant
    for resample in np.flatnonzero(doubtful.any(axis=1)):
        columns = doubtful[resample]
        out[resample, columns] = _pearson(x[:, columns], y, start, counts[resample][item])[0]
    return out


def _over_systems(  # noqa: PLR0917
    x: Floats, y: Floats, item: Integers, system: Integers, counts: Integers, coefficient: Coefficient
) -> Floats:
    """float64[R, M]; a point is a system's mean over its rows in the resample, if it has any."""
    order = np.argsort(system, kind="stable")
    values = np.column_stack([np.ones(len(y)), x, y])
    sums = np.stack(
        [
            _drawn(counts[:, item[rows]], values[rows])
            for rows in np.split(order, np.flatnonzero(np.diff(system[order])) + 1)
        ],
        axis=1,
    )
    resamples, systems, columns = sums.shape
    sums = sums.reshape(-1, columns)
    means = sums[:, 1:] / np.maximum(1.0, sums[:, :1])
    there = (sums[:, 0] > 0).astype(np.int32)
    return correlate_groups(means[:, :-1], means[:, -1], systems * np.arange(resamples), coefficient, there)


def _drawn(counts: Integers, of_item: Floats) -> Floats:
    """Sums over the items of each resample: int32[R, items] times float64[items, k]."""
    sums = [counts[at : at + CHUNK] @ of_item for at in range(0, len(counts), CHUNK)]
    return np.vstack(sums).astype(np.float64, copy=False) if sums else np.zeros((0, of_item.shape[1]))


def _starts(item: Integers) -> NDArray[np.int64]:
    return np.flatnonzero(np.r_[True, np.diff(item) != 0])


def _rounded(values: Floats) -> Floats:
    with np.errstate(over="ignore"):
        rounded = np.round(values, DECIMALS)
    return np.asarray(np.where(np.isfinite(rounded), rounded, values), np.float64)


def _scaled(values: Floats) -> Floats:
    """Columns divided by a power of two, so that no square overflows and no digit is lost."""
    exponents = np.frexp(np.abs(values).max(axis=0, initial=0.0))[1]
    return np.asarray(np.ldexp(values, -exponents), np.float64)


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    out = np.full(numerator.shape, np.nan)
    np.divide(numerator, denominator, out=out, where=denominator > 0)
    return out


def dense_ranks(values: Floats, starts: NDArray[np.int64]) -> Integers:
    """Ranks within each group of rows, from 0 without a gap; numbers that agree to 12 decimals share one.

    Args:
        values: float64[n, M].
        starts: int64[k], the first row of each group.

    Returns:
        int32[n, M].

    >>> dense_ranks(np.array([[0.5], [0.1], [0.5], [7.0]]), np.array([0, 3])).tolist()
    [[1], [0], [1], [0]]
    """
    rounded = _rounded(values)
    sizes = np.diff([*starts, len(values)])
    group = np.repeat(np.arange(len(starts)), sizes)
    out = np.empty(values.shape, np.int32)
    for j in range(values.shape[1]):
        order = np.lexsort((rounded[:, j], group))
        new = np.r_[False, np.diff(rounded[order, j]) != 0]
        new[starts] = False
        rank = np.cumsum(new)
        out[order, j] = rank - np.repeat(rank[starts], sizes)
    return out


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
        yield from _alike(what, _rounded(column), table, by)
    if len(table.starts) < 2:
        yield "only one item, so there is no interval over items"
    yield f"in every {'item' if by == 'item' else 'resample'} the scores or the grades are all the same"


def _alike(what: str, column: Floats, table: Table, by: By) -> Iterator[str]:
    if np.ptp(column) == 0:
        yield f"every {what} is {column[0]:g}"
    highest, lowest = (pick.reduceat(column, table.starts) for pick in (np.maximum, np.minimum))
    if by == "item" and (highest == lowest).all():
        yield f"in every item the {what}s are all the same"
    means = _rounded(np.bincount(table.system, column) / np.bincount(table.system))
    if by == "system" and np.ptp(means) == 0:
        yield f"every system's mean {what} is {means[0]:g}"
