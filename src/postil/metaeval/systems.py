"""Comparison of systems with a baseline by their item scores, and means of systems beside their mean ratings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from postil.errors import UnknownName, UsageError
from postil.metaeval.coefficients import means_by
from postil.metaeval.permutation import PERMUTATIONS, permutation_p
from postil.metaeval.resampling import RESAMPLES, SEED, bootstrap_counts, estimate, interval, p_value
from postil.metaeval.score_matrix import Scored
from postil.metaeval.shared_items import on_shared_items
from postil.metaeval.significance import holm
from postil.records.results import (
    Comparison,
    ComparisonSettings,
    SystemComparison,
    SystemMean,
    UndefinedResult,
    replace,
)
from postil.records.ties import dense_ranks, difference, without_noise

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from numpy.typing import NDArray

    from postil.metaeval.table import Table
    from postil.records.results import Estimate
    from postil.records.row_locations import RowLocations
    from postil.records.rows import Score

__all__ = ["SystemMeans", "compare", "mean_estimates", "system_means"]

Floats: TypeAlias = "NDArray[np.float64]"

CHUNK: Final = 256
"""Number of resamples per block."""


def compare(
    scores: Iterable[Score],
    baseline: str | None = None,
    *,
    intersect: bool = False,
    lower_is_better: Collection[str] = (),
    resamples: int = RESAMPLES,
    permutations: int = PERMUTATIONS,
    seed: int = SEED,
    places: RowLocations | None = None,
) -> Comparison:
    """Compare systems by their item scores.

    Items are drawn with replacement, the same for every system (paired bootstrap; Koehn 2004), for the intervals and
    `p_bootstrap`. In the paired permutation test (approximate randomization; Noreen 1989; Riezler and Maxwell 2005)
    each item swaps the scores of system and baseline with probability 1/2, which flips the sign of their difference;
    ``p = (1 + #{|mean of the flipped differences| >= |difference|}) / (permutations + 1)``.

    Args:
        scores: Item scores. Corpus scores (rows without an item) and single draws of random controls are ignored.
        baseline: The system to compare with; by default the first.
        intersect: True to compare on shared items, where systems cover different ones.
        lower_is_better: Names of the metrics for which lower is better, beside those whose signatures say so.
        resamples: Number of resamples of the items, at least 1.
        permutations: Number of random sign flips, at least 1.
        seed: Seed of both.
        places: Locations of the rows, for messages.

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
    >>> [(row.system, round(row.mean, 3), row.difference and round(row.difference, 3)) for row in compare(rows).systems]
    [('a', 0.2, None), ('b', 0.4, 0.2)]
    """
    if permutations < 1:
        raise UsageError(f"expected at least one permutation, got {permutations}")
    scored = Scored(scores, places)
    systems = tuple(dict.fromkeys(system for _, system in scored.rows))
    for name in lower_is_better:
        if name not in scored.metrics:
            raise UnknownName("metric", name, scored.metrics)
    lower_is_better = {*lower_is_better, *scored.lower_is_better}
    baseline = systems[0] if baseline is None else baseline
    if baseline not in systems:
        raise UnknownName("system", baseline, systems)
    values, left_out = on_shared_items(scored, systems, intersect=intersect, where=places.where if places else "scores")
    rows = _rows(values, scored.metrics, systems, baseline, resamples=resamples, permutations=permutations, seed=seed)
    return Comparison(
        aggregation="item mean",
        baseline=baseline,
        items=len(values),
        systems=tuple(rows),
        lower_is_better=tuple(name for name in scored.metrics if name in lower_is_better),
        left_out=left_out,
        notes=tuple(_notes(scored, systems)),
        settings=ComparisonSettings(resamples=resamples, permutations=permutations, seed=seed),
    )


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


def mean_estimates(values: Floats, *, resamples: int = RESAMPLES, seed: int = SEED) -> list[Estimate]:
    """Mean score of each system with its 95 % confidence interval over items, the same resamples for all systems.

    Args:
        values: float64[items, systems].
        resamples: Number of resamples of the items, at least 1.
        seed: The seed.

    >>> [each.value for each in mean_estimates(np.array([[0.0, 1.0], [1.0, 1.0]]))]
    [0.5, 1.0]
    """
    drawn = _drawn(values[..., None], bootstrap_counts(len(values), resamples, seed))[..., 0]
    samples = np.concatenate([values.mean(axis=0)[None], drawn])
    return [estimate(samples[:, system], len(values)) for system in range(values.shape[1])]


def system_means(table: Table) -> SystemMeans:
    """Mean scores and mean ratings of the systems of a table, as in the last table of the paper's supplement.

    Equal means share the better rank; rank 1 is the best system.

    Args:
        table: Scores and ratings. The means of a system are over its own texts, so systems that were judged on
            different items are not strictly comparable; `SystemMean.n` shows it.

    >>> from postil.metaeval.table import join
    >>> from postil.records.rows import Judgement, Score
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


def _notes(scored: Scored, systems: tuple[str, ...]) -> Iterator[str]:
    """Notes on the rows that are ignored."""
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
) -> Iterator[SystemComparison]:
    """Rows of the comparison of float64[items, systems, metrics], metric by metric."""
    base = systems.index(baseline)
    n = len(values)
    apart = difference(values, values[:, [base]])
    # The tolerance of a difference of means is a share of the scores of the items where the two systems differ.
    magnitudes = np.where(apart != 0, np.maximum(np.abs(values), np.abs(values[:, [base]])), 0.0)
    means, differences = values.mean(axis=0), without_noise(apart.mean(axis=0), magnitudes.mean(axis=0))
    counts = bootstrap_counts(n, resamples, seed)
    drawn, drawn_differences = _drawn(values, counts), without_noise(_drawn(apart, counts), _drawn(magnitudes, counts))
    randomized = _randomized(apart, magnitudes, permutations, seed)
    others = [number for number in range(len(systems)) if number != base]
    for column, metric in enumerate(metrics):
        corrected = dict(zip(others, holm(randomized[others, column]).tolist(), strict=True))
        for number, system in enumerate(systems):
            around = interval(drawn[:, number, column])
            row = SystemComparison(
                metric=metric,
                system=system,
                n=n,
                mean=float(means[number, column]),
                low=around.low,
                high=around.high,
            )
            if number == base:
                yield row
                continue
            of_difference = interval(drawn_differences[:, number, column])
            yield replace(
                row,
                difference=float(differences[number, column]),
                difference_low=of_difference.low,
                difference_high=of_difference.high,
                p_bootstrap=p_value(drawn_differences[:, number, column]),
                p_randomisation=float(randomized[number, column]),
                p_holm=corrected[number],
            )


def _drawn(values: Floats, counts: NDArray[np.int32]) -> Floats:
    """float64[R, systems, metrics], means of each resample of the items."""
    flat = values.reshape(len(values), -1)
    parts = [counts[start : start + CHUNK].astype(np.float64) @ flat for start in range(0, len(counts), CHUNK)]
    return np.concatenate(parts).reshape(len(counts), *values.shape[1:]) / len(values)


def _randomized(differences: Floats, magnitudes: Floats, permutations: int, seed: int) -> Floats:
    """Compute the p-values of approximate randomization, float64[systems, metrics].

    Args:
        differences: float64[items, systems, metrics].
        magnitudes: The same shape, the larger score of each difference, 0 where there is none.
        permutations: Number of sign patterns.
        seed: Their seed.
    """
    flat, size = differences.reshape(len(differences), -1), magnitudes.sum(axis=0).ravel()
    flat = flat / np.where(size > 0, size, 1.0)  # the tolerance of permutation_p is for statistics of scale 1
    total = flat.sum(axis=0)
    found = permutation_p(lambda swapped: np.abs(total - 2 * (swapped @ flat)), len(flat), permutations, seed)
    return found.reshape(differences.shape[1:])


def _no_order(metric: str, signs: Floats, people: Floats) -> str | None:
    """Reason why tau-b of two orders, given as signs of all pairs, is undefined; None where it is defined."""
    if len(signs) < 2:
        return "there is only one system"
    if not signs.any():
        return f"{metric} gives all systems the same mean"
    return None if people.any() else "people give all systems the same mean grade"
