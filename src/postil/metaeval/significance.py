"""Whether one metric agrees with people better than another: differences of coefficients, with intervals and tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from postil.errors import UsageError
from postil.metaeval.correlation import Absent, why_not
from postil.metaeval.paired_tests import paired_tests
from postil.metaeval.permutation import PERMUTATIONS
from postil.metaeval.replicates import CONTROL_DRAWS, KENDALL_RESAMPLES, resampled
from postil.metaeval.resampling import RESAMPLES, SEED, counts_of, interval, p_value
from postil.records.names import CONTROL
from postil.records.ties import without_noise

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from postil.engine import Engine
    from postil.metaeval.coefficients import Coefficient
    from postil.metaeval.replicates import By, Replicates
    from postil.metaeval.table import Table

__all__ = ["Difference", "Differences", "differences", "holm"]

Floats: TypeAlias = "NDArray[np.float64]"
Integers: TypeAlias = "NDArray[np.int64]"


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
    `postil.metaeval.williams`; for Pearson and Spearman, by `pool` and `system`. *Permutation* (PERM-INPUT of Deutsch,
    Dror and Roth 2021): both metrics are standardised over all texts, then each item swaps all that they say of it with
    probability 1/2; p is how often the difference comes out as large as it was. For Spearman by `pool` the ranks are
    what is swapped; by `item` the item's two coefficients are; by `system` the means of the systems are taken after the
    swap. Kendall's coefficients have the bootstrap interval alone.

    A control is compared with the metric that it controls, with no other; a random one by the mean over its draws (for
    the interval: over its first `CONTROL_DRAWS`), with the bootstrap alone.

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
    asked = _Asked(table, coefficient, by, counts, jobs, engine)
    found = asked.replicates(table.oriented)
    exists = ~np.isnan(found.values) & ~np.isnan(found.samples).all(axis=0)
    columns = np.flatnonzero(exists)
    absent = [asked.gone(table.metrics[column], table.scores[:, column]) for column in np.flatnonzero(~exists)]
    pairs, alone = _pairs(asked, found, columns)
    rows = [
        asked.row(
            table.metrics[first],
            table.metrics[second],
            float(without_noise(found.values[first] - found.values[second], 1.0)),
            found.samples[:, first] - found.samples[:, second],
            int(found.n - max(found.dropped[first], found.dropped[second])),
        )
        for first, second in pairs
    ]
    if rows and not kendall:
        places = np.searchsorted(columns, pairs.T)
        tests = paired_tests(table, columns, places, coefficient, by, permutations=permutations, seed=seed)
        rows = [
            replace(row, p_williams=by_williams, p_permutation=p, p=p)
            for row, by_williams, p in zip(rows, *tests, strict=True)
        ]
    controls = list(_against_controls(asked, found, exists))
    return Differences(
        rows=tuple(_corrected([*rows, *(each for each in controls if isinstance(each, Difference))])),
        absent=(*absent, *alone, *(each for each in controls if isinstance(each, Absent))),
        notes=tuple(_notes(table, by, kendall=kendall)),
        resamples=resamples,
        permutations=permutations,
        seed=seed,
    )


@dataclass(frozen=True, eq=False, slots=True)
class _Asked:
    """What differences are asked for, and the rows that come of it."""

    table: Table
    coefficient: Coefficient
    by: By
    counts: NDArray[np.int32]
    jobs: int
    engine: Engine | None

    def replicates(self, scores: Floats, counts: NDArray[np.int32] | None = None) -> Replicates:
        table = self.table
        return resampled(
            scores,
            table.grades,
            table.item,
            table.system,
            self.counts if counts is None else counts,
            self.coefficient,
            self.by,
            jobs=self.jobs,
            engine=self.engine,
        )

    def row(self, first: str, second: str, value: float, samples: Floats, n: int) -> Difference:
        samples = without_noise(samples, 1.0)  # coefficients are sums of terms of size 1
        middle, p = interval(samples), p_value(samples)
        return Difference(
            first=first,
            second=second,
            coefficient=self.coefficient,
            by=self.by,
            value=value,
            low=middle.low,
            high=middle.high,
            n=n,
            p_bootstrap=p,
            p_williams=None,
            p_permutation=None,
            p=None if self.coefficient.startswith("kendall") else p,
            p_holm=None,
        )

    def gone(self, name: str, scores: Floats) -> Absent:
        return Absent(name, self.coefficient, self.by, why_not(self.table, scores, self.by))


def _pairs(asked: _Asked, found: Replicates, columns: Integers) -> tuple[Integers, list[Absent]]:
    """The columns that are compared, int64[k, 2], and the pairs of which no resample has both."""
    names = asked.table.metrics
    together, absent = [], []
    for first, second in combinations(columns.tolist(), 2):
        if not _comparable(names[first], names[second]):
            continue
        if np.isnan(found.samples[:, first] + found.samples[:, second]).all():
            both = f"{names[first]} and {names[second]}"
            absent.append(Absent(both, asked.coefficient, asked.by, "no resample has a coefficient of both"))
        else:
            together.append((first, second))
    return np.array(together, np.int64).reshape(-1, 2), absent


def _against_controls(asked: _Asked, found: Replicates, exists: NDArray[np.bool_]) -> Iterator[Difference | Absent]:
    """Each metric against its random controls."""
    table = asked.table
    for control, metric, draws in _controls(table):
        values = asked.replicates(draws, asked.counts[:0])
        some = draws[:, ~np.isnan(values.values)][:, :CONTROL_DRAWS]
        samples = found.samples[:, metric] - asked.replicates(some).samples.sum(axis=1) / max(1, some.shape[1])
        if not exists[metric] or not some.size or np.isnan(samples).all():
            yield asked.gone(control, draws[:, 0] if exists[metric] else table.scores[:, metric])
            continue
        yield asked.row(
            table.metrics[metric],
            control,
            float(found.values[metric] - np.nanmean(values.values)),
            samples,
            int(found.n - max(found.dropped[metric], values.dropped.max())),
        )


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
