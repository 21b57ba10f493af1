"""Systems against a baseline by their item scores, and systems' mean scores beside people's grades."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from postil.errors import UnknownName, UsageError
from postil.metaeval.coefficients import means_by
from postil.metaeval.correlation import Absent
from postil.metaeval.permutation import PERMUTATIONS, permutation_p
from postil.metaeval.resampling import RESAMPLES, SEED, counts_of, interval, p_value
from postil.metaeval.score_matrix import Scored
from postil.metaeval.shared_items import on_shared_items
from postil.metaeval.significance import holm
from postil.records.ties import dense_ranks, difference, without_noise

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from numpy.typing import NDArray

    from postil.metaeval.table import LeftOut, Table
    from postil.records.row_locations import Places
    from postil.records.rows import Score

__all__ = ["Compared", "Comparison", "SystemMeans", "compare", "system_means"]

Floats: TypeAlias = "NDArray[np.float64]"

CHUNK: Final = 256
"""How many resamples are summed at a time."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A system's mean by one metric, and how it differs from the baseline's.

    Args:
        metric: The metric.
        system: The system.
        n: How many items the mean is over.
        mean: Mean of the item scores.
        low: The 2.5th percentile of the mean over resamples of the items.
        high: The 97.5th percentile.
        difference: Mean minus the baseline's mean; like all that follows None for the baseline itself.
        difference_low: The 2.5th percentile of the difference over the same resamples for both.
        difference_high: The 97.5th percentile.
        p_bootstrap: Two-sided, by the same resamples; see `p_value`.
        p_randomisation: Two-sided, by approximate randomisation.
        p_holm: `p_randomisation` corrected for the number of systems, by Holm within the metric.
    """

    metric: str
    system: str
    n: int
    mean: float
    low: float
    high: float
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    p_bootstrap: float | None = None
    p_randomisation: float | None = None
    p_holm: float | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Systems against a baseline.

    Args:
        rows: Metric by metric, each system in turn.
        metrics: Names of the metrics.
        systems: Names of the systems.
        baseline: The system that the others are compared with.
        lower_is_better: The metrics whose small numbers are good ones; differences keep their sign for them.
        items: How many items all systems share.
        left_out: Items that not every system covers, where these were to be left out.
        notes: What else to know, in words.
        resamples: How many resamples.
        permutations: How many draws of signs.
        seed: The seed of both.
    """

    rows: tuple[Compared, ...]
    metrics: tuple[str, ...]
    systems: tuple[str, ...]
    baseline: str
    lower_is_better: tuple[str, ...]
    items: int
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]
    resamples: int
    permutations: int
    seed: int


def compare(
    scores: Iterable[Score],
    baseline: str | None = None,
    *,
    intersect: bool = False,
    lower_is_better: Collection[str] = (),
    resamples: int = RESAMPLES,
    permutations: int = PERMUTATIONS,
    seed: int = SEED,
    places: Places | None = None,
) -> Comparison:
    """Compare systems by their item scores.

    Items are drawn with replacement, the same for every system (paired bootstrap; Koehn 2004), for the intervals and
    `p_bootstrap`. In approximate randomisation (Noreen 1989; Riezler and Maxwell 2005) each item swaps the scores of
    system and baseline with probability 1/2, which turns the sign of their difference;
    ``p = (1 + #{|mean of the turned differences| >= |difference|}) / (permutations + 1)``.

    Args:
        scores: Item scores. Corpus scores (rows without an item) and single draws of random controls are passed over.
        baseline: The system to compare with; by default the first.
        intersect: Compare on the items that all systems share, where they cover different ones.
        lower_is_better: Names of the metrics whose small numbers are good ones.
        resamples: How many resamples.
        permutations: How many draws of signs.
        seed: The seed.
        places: Where the rows stand, for messages.

    Raises:
        InvalidInput: Systems cover different items and `intersect` is not set, a text has two scores by one metric, or
            there are no item scores.
        Undefined: Systems share fewer than two items.
        UnknownName: There is no such baseline or metric.
        UsageError: Fewer than one resample or permutation.

    >>> from postil.records.rows import Score
    >>> texts = [("1", 0.1, 0.3), ("2", 0.2, 0.5), ("3", 0.3, 0.4)]
    >>> rows = [Score(item, "a", "meteor", score, "") for item, score, _ in texts]
    >>> rows += [Score(item, "b", "meteor", score, "") for item, _, score in texts]
    >>> [(row.system, round(row.mean, 3), row.difference and round(row.difference, 3)) for row in compare(rows).rows]
    [('a', 0.2, None), ('b', 0.4, 0.2)]
    """
    if permutations < 1:
        raise UsageError(f"expected at least one permutation, got {permutations}")
    scored = Scored(scores, places)
    systems = tuple(dict.fromkeys(system for _, system in scored.rows))
    for name in lower_is_better:
        if name not in scored.metrics:
            raise UnknownName("metric", name, scored.metrics)
    baseline = systems[0] if baseline is None else baseline
    if baseline not in systems:
        raise UnknownName("system", baseline, systems)
    values, left_out = on_shared_items(scored, systems, intersect=intersect, where=places.where if places else "scores")
    rows = _rows(values, scored.metrics, systems, baseline, resamples=resamples, permutations=permutations, seed=seed)
    return Comparison(
        rows=tuple(rows),
        metrics=scored.metrics,
        systems=systems,
        baseline=baseline,
        lower_is_better=tuple(name for name in scored.metrics if name in lower_is_better),
        items=len(values),
        left_out=left_out,
        notes=tuple(_notes(scored, systems)),
        resamples=resamples,
        permutations=permutations,
        seed=seed,
    )


@dataclass(frozen=True, slots=True, eq=False)
class SystemMeans:
    """Mean score and mean grade of every system, and how alike they order the systems.

    Args:
        systems: Names of the s systems.
        metrics: Names of the m metrics.
        n: int64[s], how many texts each system's means are over.
        means: float64[s, m], mean scores, as they came.
        grades: float64[s], mean grades.
        ranks: int64[s, m], 1 is the best system by the metric; equal means share the better rank.
        grade_ranks: int64[s], the same by people.
        taus: Kendall's tau-b between each metric's means and the grades; None where it does not exist.
        absent: Why, for each metric without a tau.
    """

    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    n: NDArray[np.int64]
    means: Floats
    grades: Floats
    ranks: NDArray[np.int64]
    grade_ranks: NDArray[np.int64]
    taus: tuple[float | None, ...]
    absent: tuple[Absent, ...]


def system_means(table: Table) -> SystemMeans:
    """The systems of a table side by side, as in the last table of the paper's supplement.

    Args:
        table: Scores and grades. Every system's means are over its own texts, so that systems which were judged on
            different items are not strictly comparable; `n` shows it.

    >>> from postil.metaeval.table import join
    >>> from postil.records.rows import Judgement, Score
    >>> texts = (("a", 0.1, 2), ("b", 0.4, 3), ("c", 0.3, 5))
    >>> table = join(
    ...     [Score("1", system, "meteor", score, "") for system, score, _ in texts],
    ...     [Judgement("1", system, "ann", grade) for system, _, grade in texts],
    ... )
    >>> found = system_means(table)
    >>> found.ranks[:, 0].tolist(), found.grade_ranks.tolist(), found.taus
    ([3, 1, 2], [3, 2, 1], (0.3333333333333333,))
    """
    n = np.bincount(table.system)
    means, magnitudes = means_by(table.system, np.column_stack([table.oriented, table.grades]))
    places = dense_ranks(means, magnitudes=magnitudes)
    signs = np.sign(places[:, None] - places[None])  # of each system against each other
    ranks = 1 + (signs < 0).sum(axis=1)
    taus: list[float | None] = []
    absent: list[Absent] = []
    for column, metric in enumerate(table.metrics):
        reason = _no_order(metric, signs[..., column], signs[..., -1])
        if reason:
            absent.append(Absent(metric, "kendall-b", "system", reason))
            taus.append(None)
            continue
        untied = np.abs(signs[..., [column, -1]]).sum(axis=(0, 1))
        taus.append(float((signs[..., column] * signs[..., -1]).sum() / np.sqrt(untied.prod())))
    return SystemMeans(
        systems=table.systems,
        metrics=table.metrics,
        n=n,
        means=np.where(table.lower_is_better, -means[:, :-1], means[:, :-1]),
        grades=means[:, -1],
        ranks=ranks[:, :-1],
        grade_ranks=ranks[:, -1],
        taus=tuple(taus),
        absent=tuple(absent),
    )


def _notes(scored: Scored, systems: tuple[str, ...]) -> Iterator[str]:
    """What else to know, in words."""
    if scored.corpus:
        yield f"corpus scores ignored: {scored.corpus}; the means of item scores are compared"
    draws = len(scored.columns) - len(scored.metrics)
    if draws:
        yield f"single draws of random controls passed over: {draws}"
    if len(systems) == 1:
        yield f"{systems[0]} is the only system, so there are means and nothing to compare them with"


def _rows(
    values: Floats,
    metrics: tuple[str, ...],
    systems: tuple[str, ...],
    baseline: str,
    *,
    resamples: int,
    permutations: int,
    seed: int,
) -> Iterator[Compared]:
    """Every row of the comparison of float64[items, systems, metrics]."""
    base = systems.index(baseline)
    n = len(values)
    apart = difference(values, values[:, [base]])
    # Differences of means are compared by the scores in them: those of the items where the two systems differ.
    magnitudes = np.where(apart != 0, np.maximum(np.abs(values), np.abs(values[:, [base]])), 0.0)
    means, differences = values.mean(axis=0), without_noise(apart.mean(axis=0), magnitudes.mean(axis=0))
    counts = counts_of(n, resamples, seed)
    drawn, drawn_differences = _drawn(values, counts), without_noise(_drawn(apart, counts), _drawn(magnitudes, counts))
    randomised = _randomised(apart, magnitudes, permutations, seed)
    others = [number for number in range(len(systems)) if number != base]
    for column, metric in enumerate(metrics):
        corrected = dict(zip(others, holm(randomised[others, column]).tolist(), strict=True))
        for number, system in enumerate(systems):
            around = interval(drawn[:, number, column])
            of_mean = (metric, system, n, float(means[number, column]), around.low, around.high)
            if number == base:
                yield Compared(*of_mean)
                continue
            of_difference = interval(drawn_differences[:, number, column])
            yield Compared(
                *of_mean,
                difference=float(differences[number, column]),
                difference_low=of_difference.low,
                difference_high=of_difference.high,
                p_bootstrap=p_value(drawn_differences[:, number, column]),
                p_randomisation=float(randomised[number, column]),
                p_holm=corrected[number],
            )


def _drawn(values: Floats, counts: NDArray[np.int32]) -> Floats:
    """Means of each resample of the items: float64[R, systems, metrics]."""
    flat = values.reshape(len(values), -1)
    parts = [counts[start : start + CHUNK].astype(np.float64) @ flat for start in range(0, len(counts), CHUNK)]
    return np.concatenate(parts).reshape(len(counts), *values.shape[1:]) / len(values)


def _randomised(differences: Floats, magnitudes: Floats, permutations: int, seed: int) -> Floats:
    """Compute the p-values of approximate randomization, float64[systems, metrics].

    Args:
        differences: float64[items, systems, metrics].
        magnitudes: The same shape, the larger score of each difference, 0 where there is none.
        permutations: Number of sign patterns.
        seed: Their seed.
    """
    flat, size = differences.reshape(len(differences), -1), magnitudes.sum(axis=0).ravel()
    flat = flat / np.where(size > 0, size, 1.0)  # so that the slack of a test is a share of the scores
    total = flat.sum(axis=0)
    found = permutation_p(lambda swapped: np.abs(total - 2 * (swapped @ flat)), len(flat), permutations, seed)
    return found.reshape(differences.shape[1:])


def _no_order(metric: str, signs: Floats, people: Floats) -> str | None:
    """Why there is no tau between two orders, given as signs of all pairs."""
    if len(signs) < 2:
        return "there is only one system"
    if not signs.any():
        return f"{metric} gives all systems the same mean"
    return None if people.any() else "people give all systems the same mean grade"
