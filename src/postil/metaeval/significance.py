"""Whether one metric agrees with people better than another: differences of coefficients, with intervals and tests."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

import numpy as np

from postil.errors import Undefined, UsageError
from postil.metaeval.correlation import (
    CONTROL_DRAWS,
    KENDALL_RESAMPLES,
    Absent,
    correlate_groups,
    dense_ranks,
    resampled,
    why_not,
)
from postil.metaeval.resampling import RESAMPLES, SEED, counts_of, interval, p_value
from postil.metaeval.table import CONTROL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from postil.engine import Engine
    from postil.metaeval.correlation import By, Coefficient, Replicates
    from postil.metaeval.table import Table

__all__ = [
    "PERMUTATIONS",
    "Difference",
    "Differences",
    "Williams",
    "differences",
    "holm",
    "permutation_p",
    "student_p",
    "williams",
]

Floats: TypeAlias = "NDArray[np.float64]"
Integers: TypeAlias = "NDArray[np.int64]"
Statistic: TypeAlias = "Callable[[Floats], Floats]"

T = TypeVar("T", float, "NDArray[np.float64]")

PERMUTATIONS: Final = 10_000
"""How many times items are swapped at random where no number is given."""

CHUNK: Final = 256
"""How many permutations are worked on at a time."""

SLACK: Final = 1e-10
"""By how much rounding may change a statistic or a correlation."""

NODES, WEIGHTS = np.polynomial.legendre.leggauss(64)


@dataclass(frozen=True, slots=True)
class Williams:
    """Williams' test.

    Args:
        t: The statistic; positive where the first correlation is higher.
        df: Degrees of freedom, n - 3.
        p: Two-sided.
    """

    t: float
    df: int
    p: float


@dataclass(frozen=True, slots=True)
class Difference:
    """How much better one metric agrees with people than another.

    Args:
        first: A metric.
        second: Another metric, or a random control of the first.
        coefficient: Which coefficient.
        by: What it is over.
        value: The coefficient of the first minus that of the second (of a control: minus the mean over its draws).
        low: The lower end of the 95 % interval over resamples of the items, the same for both.
        high: The upper end.
        n: How many texts, items or systems both are over; by item the fewer of the two.
        p_bootstrap: By the same resamples; see `resampling.p_value`.
        p_williams: By Williams' test, which takes the texts for independent; None where it does not apply.
        p_permutation: By permutation of items; None where there is no such test.
        p: The one to go by: `p_permutation` where there is one, else `p_bootstrap`; None for Kendall's coefficients,
            whose few resamples bear no correction.
        p_holm: `p` corrected for the number of rows of its kind, pairs of metrics or metrics with controls.
    """

    first: str
    second: str
    coefficient: Coefficient
    by: By
    value: float
    low: float
    high: float
    n: int
    p_bootstrap: float
    p_williams: float | None
    p_permutation: float | None
    p: float | None
    p_holm: float | None


@dataclass(frozen=True, slots=True)
class Differences:
    """What `differences` found.

    Args:
        rows: The differences.
        absent: Metrics and controls that have none, and why.
        notes: What else to know, in words.
        resamples: How many resamples were drawn.
        permutations: How many permutations.
        seed: The seed of both.
    """

    rows: tuple[Difference, ...]
    absent: tuple[Absent, ...]
    notes: tuple[str, ...]
    resamples: int
    permutations: int
    seed: int


def differences(
    table: Table,
    coefficient: Coefficient = "pearson",
    by: By = "pool",
    *,
    resamples: int = RESAMPLES,
    kendall_resamples: int = KENDALL_RESAMPLES,
    permutations: int = PERMUTATIONS,
    seed: int = SEED,
    jobs: int = 1,
    engine: Engine | None = None,
) -> Differences:
    """Every metric against every other on the same texts, and against its own random controls.

    All tests are two-sided. *Bootstrap*: items are drawn with replacement, the same for both metrics. *Williams*: see
    `williams`; for Pearson and Spearman, by `pool` and `system`. *Permutation* (PERM-INPUT of Deutsch, Dror and Roth
    2021): both metrics are standardised over all texts, then each item swaps all that they say of it with probability
    1/2; p is how often the difference comes out as large as it was. For Spearman by `pool` the ranks are what is
    swapped; by `item` the item's two coefficients are; by `system` the means of the systems are taken after the swap.
    Kendall's coefficients have the bootstrap interval alone.

    A control is compared with the metric that it controls, with no other.

    A random control ``control:shuffled(X)`` is compared with the metric X by the mean over its draws (for the interval:
    over its first `CONTROL_DRAWS` draws), with the bootstrap alone.

    Args:
        table: Scores and grades.
        coefficient: Which coefficient.
        by: What it is over; see `correlations`.
        resamples: How many resamples of the items.
        kendall_resamples: The most resamples for Kendall's coefficients.
        permutations: How many permutations.
        seed: The seed.
        jobs: Threads; the numbers do not depend on it.
        engine: Where resamples are gone through, if not here.

    Returns:
        The pairs in the order of the metrics, the earlier one first, then the controls.

    Raises:
        UnknownName: There is no such coefficient or level.
        UsageError: Fewer than one resample or permutation.

    >>> from postil.metaeval.table import join
    >>> from postil.records.rows import Judgement, Score
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
    if permutations < 1:
        raise UsageError(f"expected at least one permutation, got {permutations}")
    kendall = coefficient.startswith("kendall")
    resamples = min(resamples, kendall_resamples) if kendall else resamples
    counts = counts_of(len(table.starts), resamples, seed)

    def of(scores: Floats, counts: NDArray[np.int32] = counts) -> Replicates:
        of_text = table.grades, table.item, table.system
        return resampled(scores, *of_text, counts, coefficient, by, jobs=jobs, engine=engine)

    def row(first: str, second: str, value: float, samples: Floats, n: int) -> Difference:
        samples = samples.round(12)  # so that one metric, scaled, does not differ from itself
        middle, p = interval(samples), p_value(samples)
        headline = None if kendall else p
        return Difference(
            first, second, coefficient, by, value, middle.low, middle.high, n, p, None, None, headline, None
        )

    def gone(name: str, scores: Floats) -> Absent:
        return Absent(name, coefficient, by, why_not(table, scores, by))

    found = of(table.oriented)
    exists = _exists(found)
    absent = [gone(table.metrics[column], table.scores[:, column]) for column in np.flatnonzero(~exists)]
    columns = np.flatnonzero(exists)
    together = []
    for pair in combinations(range(len(columns)), 2):
        first, second = columns[list(pair)]
        if not _comparable(table.metrics[first], table.metrics[second]):
            continue
        if np.isnan(found.samples[:, first] + found.samples[:, second]).all():
            both = f"{table.metrics[first]} and {table.metrics[second]}"
            absent.append(Absent(both, coefficient, by, "no resample has a coefficient of both"))
        else:
            together.append(pair)
    pairs = np.array(together, np.int64).reshape(-1, 2)
    rows = [
        row(
            table.metrics[first],
            table.metrics[second],
            float(found.values[first] - found.values[second]),
            found.samples[:, first] - found.samples[:, second],
            int(found.n - max(found.dropped[first], found.dropped[second])),
        )
        for first, second in columns[pairs]
    ]
    if rows and not kendall:
        rows = _tested(rows, table, columns, pairs.T, permutations=permutations, seed=seed)

    controls = []
    for control, metric, draws in _controls(table):
        values = of(draws, counts[:0])
        some = draws[:, ~np.isnan(values.values)][:, :CONTROL_DRAWS]
        samples = found.samples[:, metric] - of(some).samples.sum(axis=1) / max(1, some.shape[1])
        if not exists[metric] or not some.size or np.isnan(samples).all():
            absent.append(gone(control, draws[:, 0] if exists[metric] else table.scores[:, metric]))
            continue
        controls.append(
            row(
                table.metrics[metric],
                control,
                float(found.values[metric] - np.nanmean(values.values)),
                samples,
                int(found.n - max(found.dropped[metric], values.dropped.max())),
            )
        )
    return Differences(
        rows=tuple(_corrected([*rows, *controls])),
        absent=tuple(absent),
        notes=tuple(_notes(table, by, kendall=kendall)),
        resamples=resamples,
        permutations=permutations,
        seed=seed,
    )


def williams(r12: float, r13: float, r23: float, n: int) -> Williams:
    """Test whether two correlations differ that share a variable (Williams 1959; Steiger 1980).

    With ``d = 1 - r12^2 - r13^2 - r23^2 + 2 r12 r13 r23``,
    ``t = (r12 - r13) sqrt((n - 1) (1 + r23) / (2 d (n - 1) / (n - 3) + (r12 + r13)^2 (1 - r23)^3 / 4))``
    has Student's t distribution with n - 3 degrees of freedom if the two are equal. It takes the n points for
    independent, which several texts for one item are not.

    Args:
        r12: Correlation of people and the first metric.
        r13: Correlation of people and the second metric.
        r23: Correlation of the two metrics. Where it is 1 they are one metric: t is 0 and p is 1.
        n: How many points the correlations are over.

    Raises:
        Undefined: Fewer than four points, or the statistic divides by 0, as where one metric is the other with its sign
            turned.
        UsageError: No three variables have these correlations.

    >>> williams(0.80, 0.72, 0.89, n=26)  # Howell, Statistical Methods for Psychology, 6th edition, page 262
    Williams(t=1.36..., df=23, p=0.18...)
    """
    determinant = _determinant(r12, r13, r23)
    if not max(abs(r12), abs(r13), abs(r23)) <= 1 + SLACK or determinant < -SLACK:
        raise UsageError(f"no three variables have the correlations {r12:g}, {r13:g} and {r23:g}")
    if n < 4:
        raise Undefined(f"Williams' test needs at least 4 points, got {n}")
    t = float(_williams_t(np.array(r12), np.array(r13), np.array(r23), n))
    if math.isnan(t):
        raise Undefined(f"Williams' test divides by 0 for the correlations {r12:g}, {r13:g} and {r23:g}")
    return Williams(t, n - 3, float(student_p(t, n - 3)))


def student_p(t: ArrayLike, df: int) -> Floats:
    """Two-sided p-value of Student's t distribution.

    ``p = integral from 0 to arctan(sqrt(df) / |t|) of sin^(df - 1) / integral from 0 to pi / 2 of the same``, each by
    Gauss-Legendre quadrature over the part where the integrand is not negligible. Relative error below 1e-11 up to a
    million degrees of freedom.

    Args:
        t: Any shape; finite or infinite.
        df: Degrees of freedom, at least 1.

    Returns:
        float64 of the shape of t, in [0, 1].

    >>> student_p([0.0, 2.0, 12.706], df=1).round(4).tolist()
    [1.0, 0.2952, 0.05]
    """

    def mass(angle: Floats) -> Floats:
        start = np.arcsin(np.sin(angle) * np.exp(-40 / (df - 1))) if df > 1 else np.zeros_like(angle)
        half = (angle - start) / 2
        heights: Floats = np.sin(start[..., None] + half[..., None] * (1 + NODES)) ** (df - 1)
        return np.asarray(half * (WEIGHTS * heights).sum(axis=-1))

    sizes = np.abs(np.asarray(t, np.float64))
    p = mass(np.arctan2(math.sqrt(df), sizes)) / mass(np.full_like(sizes, np.pi / 2))
    return np.asarray(p, np.float64)


def holm(p: ArrayLike) -> Floats:
    """p-values corrected for their number, step-down (Holm 1979).

    The i-th smallest of m is multiplied by ``m - i + 1``; none may be below a smaller one's, nor above 1.

    Args:
        p: float64[m].

    Returns:
        float64[m], in the order of p. Those at most alpha are the rejected ones when the chance of any false rejection
        is to be at most alpha.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p, np.float64)
    order = np.argsort(values, kind="stable")
    corrected = np.empty_like(values)
    steps = values[order] * np.arange(len(values), 0, -1)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return corrected


def permutation_p(statistic: Statistic, items: int, permutations: int, seed: int) -> Floats:
    """p-values by swapping whole items at random.

    ``p = (1 + #{statistic >= observed}) / (permutations + 1)``; where swapping leaves no statistic (NaN, as for
    a metric that has become constant) it counts as reaching the observed one.

    Args:
        statistic: From float64[b, items], 1 where an item is swapped and 0 where not, to float64[b, k].
        items: How many items there are.
        permutations: How many times they are swapped.
        seed: The seed.

    Returns:
        float64[k].
    """
    observed = statistic(np.zeros((1, items)))
    reached = np.zeros(observed.shape[1], np.int64)
    random = np.random.default_rng(seed)
    for start in range(0, permutations, CHUNK):
        swapped = random.integers(0, 2, (min(CHUNK, permutations - start), items), dtype=np.int8)
        reached += (~(statistic(swapped.astype(np.float64)) < observed - SLACK)).sum(axis=0)
    return (1 + reached) / (1 + permutations)


def _exists(found: Replicates) -> NDArray[np.bool_]:
    """bool[M], whether a column has a coefficient and an interval."""
    return ~np.isnan(found.values) & ~np.isnan(found.samples).all(axis=0)


def _controls(table: Table) -> Iterator[tuple[str, int, Floats]]:
    """Each random control of a metric of the table, the metric's column, and its draws."""
    for control, draws in table.draws.items():
        match = CONTROL.fullmatch(control)
        if match and match["metric"] in table.metrics:
            yield control, table.column(match["metric"]), draws


def _comparable(first: str, second: str) -> bool:
    """Whether two metrics are compared: a control only with the metric that it controls."""
    of_first, of_second = CONTROL.fullmatch(first), CONTROL.fullmatch(second)
    if of_first and of_second:
        return False
    control, metric = (of_first, second) if of_first else (of_second, first)
    return control is None or control["metric"] == metric


def _corrected(rows: Sequence[Difference]) -> list[Difference]:
    """With Holm's correction, over pairs of metrics and over pairs of a metric and its control."""
    done: dict[int, float] = {}
    for family in (False, True):
        members = [
            (place, row.p)
            for place, row in enumerate(rows)
            if row.p is not None and any(map(CONTROL.fullmatch, (row.first, row.second))) is family
        ]
        done.update(zip((place for place, _ in members), holm([p for _, p in members]).tolist(), strict=True))
    return [replace(row, p_holm=done.get(place)) for place, row in enumerate(rows)]


def _notes(table: Table, by: By, *, kendall: bool) -> Iterator[str]:
    if kendall:
        yield "Kendall's coefficients have no test here; look at the intervals"
    elif by == "item":
        yield "Williams' test does not apply to the mean of the items' coefficients"
    elif by == "pool" and len(table.starts) < len(table):
        yield "Williams' test takes all texts for independent, and here items have several"


def _tested(
    rows: Sequence[Difference], table: Table, columns: Integers, pairs: Integers, *, permutations: int, seed: int
) -> list[Difference]:
    """The pairs with p-values by Williams and by permutation."""
    by, spearman = rows[0].by, rows[0].coefficient == "spearman"
    both = np.column_stack([table.oriented[:, columns], table.grades])
    williams_p: list[float] | None = None
    if by == "item":
        of_item = correlate_groups(both[:, :-1], both[:, -1], table.starts, rows[0].coefficient)
        statistic = _swapping_coefficients(of_item, pairs)
    elif by == "system":
        scores, size = _standardised(both), np.bincount(table.system)
        cell = table.item.astype(np.int64) * len(size) + table.system
        sums = np.array([np.bincount(cell, column, len(table.starts) * len(size)) for column in scores.T])
        sums = sums.reshape(len(sums), -1, len(size)).swapaxes(0, 1) / size
        statistic = _swapping_systems(sums, pairs, spearman=spearman)
        means = sums.sum(axis=0).T
        williams_p = _williams_p(_standardised(_average_ranks(means) if spearman else means), pairs)
    else:
        points = _standardised(_average_ranks(both) if spearman else both)
        statistic = _swapping_rows(points, table.starts, pairs)
        williams_p = _williams_p(points, pairs)
    found = permutation_p(statistic, len(table.starts), permutations, seed).tolist()
    return [
        replace(
            row,
            p_williams=None if williams_p is None or math.isnan(williams_p[pair]) else williams_p[pair],
            p_permutation=found[pair],
            p=found[pair],
        )
        for pair, row in enumerate(rows)
    ]


def _williams_p(points: Floats, pairs: Integers) -> list[float]:
    """For each pair of columns of standardised points, grades last; NaN where the test does not apply."""
    n = len(points)
    if n < 4:
        return [math.nan] * pairs.shape[1]
    first, second = pairs
    between = (points.T @ points / n).clip(-1, 1)
    t = _williams_t(between[first, -1], between[second, -1], between[first, second], n)
    found: list[float] = np.where(np.isnan(t), np.nan, student_p(np.nan_to_num(t), n - 3)).tolist()
    return found


def _determinant(r12: T, r13: T, r23: T) -> T:
    """Of the matrix of three correlations; the same to the last bit when the metrics change places."""
    return (1 - r23**2) - (r12**2 + r13**2) + 2 * (r12 * r13) * r23


def _williams_t(r12: Floats, r13: Floats, r23: Floats, n: int) -> Floats:
    """The statistic, NaN where it divides by 0."""
    determinant = np.maximum(0, _determinant(r12, r13, r23))
    spread = 2 * determinant * (n - 1) / (n - 3) + (r12 + r13) ** 2 * np.maximum(0, 1 - r23) ** 3 / 4
    t = np.full(r12.shape, np.nan)
    top = (r12 - r13) * np.sqrt((n - 1) * np.maximum(0, 1 + r23))
    np.divide(top, np.sqrt(spread), out=t, where=(spread > SLACK**2) & (1 + r23 > SLACK))
    return np.where(1 - r23 < SLACK, 0.0, t)


def _swapping_rows(points: Floats, starts: Integers, pairs: Integers) -> Statistic:
    """The difference of two columns' correlations with the last one, over standardised float64[n, m + 1]."""
    n, m = len(points), points.shape[1] - 1
    scores, grades = points[:, :-1], points[:, -1:]
    agreement = (scores * grades).sum(axis=0)
    of_item = np.add.reduceat(np.hstack([scores, scores**2, scores * grades]), starts)
    first, second = pairs

    def statistic(swapped: Floats) -> Floats:
        # What the swapped items bring to the first metric, they take from the second: sums, squares, products.
        sums = (swapped @ of_item).reshape(-1, 3, m)
        moved = sums[..., second] - sums[..., first]

        def correlation(metric: Integers, moved: Floats) -> Floats:
            variance = n + moved[:, 1] - moved[:, 0] ** 2 / n
            spread = np.sqrt(n * np.where(variance > n * SLACK, variance, np.nan))
            return np.asarray((agreement[metric] + moved[:, 2]) / spread)

        return np.abs(correlation(first, moved) - correlation(second, -moved))

    return statistic


def _swapping_coefficients(of_item: Floats, pairs: Integers) -> Statistic:
    """The difference of two columns' means, over float64[items, m], NaN where an item has no coefficient."""
    there = ~np.isnan(of_item)
    both = np.hstack([np.where(there, of_item, 0.0), there])
    total = both.sum(axis=0).reshape(2, -1)
    first, second = pairs

    def statistic(swapped: Floats) -> Floats:
        sums = (swapped @ both).reshape(-1, *total.shape)
        moved = sums[..., second] - sums[..., first]

        def mean(metric: Integers, moved: Floats) -> Floats:
            value, n = np.moveaxis(total[:, metric] + moved, 1, 0)
            return np.asarray(np.divide(value, n, out=np.full(n.shape, np.nan), where=n > 0))

        return np.abs(mean(first, moved) - mean(second, -moved))

    return statistic


def _swapping_systems(of_item: Floats, pairs: Integers, *, spearman: bool) -> Statistic:
    """The difference of two columns' correlations with the last one, over systems' means.

    They are sums over the items of float64[items, m + 1, systems].
    """
    means = of_item.sum(axis=0)
    m, systems = means.shape[0] - 1, means.shape[1]
    flat = of_item[:, :-1].reshape(-1, m * systems)
    first, second = pairs

    def points(values: Floats) -> Floats:
        values = _ranks_of_rows(values) if spearman else values
        values = values - values.mean(axis=-1, keepdims=True)
        size = np.sqrt((values**2).sum(axis=-1, keepdims=True))
        return np.asarray(np.divide(values, size, out=np.full(values.shape, np.nan), where=size > SLACK))

    grades = points(means[-1])

    def statistic(swapped: Floats) -> Floats:
        sums = (swapped @ flat).reshape(-1, m, systems)
        moved = sums[:, second] - sums[:, first]
        return np.abs((points(means[first] + moved) - points(means[second] - moved)) @ grades)

    return statistic


def _standardised(columns: Floats) -> Floats:
    """Columns with mean 0 and variance 1."""
    away = columns / np.abs(columns).max(axis=0, initial=np.finfo(np.float64).tiny)  # so that no square overflows
    away = away - away.mean(axis=0)
    return np.asarray(away / away.std(axis=0), np.float64)


def _average_ranks(columns: Floats) -> Floats:
    """Ranks of each column, ties share the mean of theirs."""
    out = np.empty(columns.shape)
    for column, ranks in enumerate(dense_ranks(columns, np.zeros(1, np.int64)).T):
        size = np.bincount(ranks)
        out[:, column] = (np.cumsum(size) - (size - 1) / 2)[ranks]
    return out


def _ranks_of_rows(values: Floats) -> Floats:
    """The same along the last axis, for many short rows."""
    values = values.round(12)
    order = np.argsort(values, axis=-1)
    ordered = np.take_along_axis(values, order, axis=-1)
    last = ordered.shape[-1] - 1
    position = np.broadcast_to(np.arange(last + 1), ordered.shape)
    changes = np.diff(ordered, axis=-1) != 0
    edge = np.ones((*changes.shape[:-1], 1), bool)
    start = np.maximum.accumulate(np.where(np.concatenate([edge, changes], axis=-1), position, 0), axis=-1)
    ends = np.where(np.concatenate([changes, edge], axis=-1), position, last)[..., ::-1]
    end = np.minimum.accumulate(ends, axis=-1)[..., ::-1]
    out = np.empty(values.shape)
    np.put_along_axis(out, order, 1 + (start + end) / 2, axis=-1)
    return out
