"""Systems against a baseline, by paired bootstrap and paired permutation tests.

A corpus score is a function of the sum of the items' statistics. A resample of the items, or a permutation that swaps
two systems' items, changes that sum by a matrix product, and the scores of all sums are computed at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from postil.comparison.result import Comparison, ComparisonSettings, SystemComparison
from postil.data.explain import shown
from postil.data.fields import as_id
from postil.data.parts import Excluded
from postil.data.ranking import difference, without_noise
from postil.errors import InvalidInput, Undefined, UnknownName
from postil.messages import Message, Setting
from postil.meta.permutation import permutation_p
from postil.meta.resampling import DRAWS, Draws, blocks_of, bootstrap_counts, interval, means_of_resamples, p_value
from postil.meta.significance import holm
from postil.metrics.base import Metric, mean_of_items
from postil.results.base import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from numpy.typing import NDArray

    from postil.kernel.arrays import Floats, Int32s, Int64s
    from postil.meta.table import Scored

__all__ = ["compare", "compare_means", "compare_sums", "sacrebleu_p_value"]


def compare(
    scored: Scored,
    baseline: str | None = None,
    *,
    intersect: bool = False,
    lower_is_better: Collection[str] = (),
    draws: Draws = DRAWS,
    metric_of: Callable[[str, str], Metric] | None = None,
    sacrebleu: bool = False,
) -> Comparison:
    """Compare systems by their corpus scores: of summed statistics where rows have them, else means of item scores.

    Items are drawn with replacement, the same for every system (paired bootstrap; Koehn 2004), for the intervals and
    `p_bootstrap`. In the paired permutation test (approximate randomization; Noreen 1989; Riezler and Maxwell 2005)
    each item swaps the scores of system and baseline with probability 1/2, for means a flipped sign of their
    difference; ``p = (1 + #{|difference of the swapped| >= |difference|}) / (permutations + 1)``.

    Args:
        scored: Item scores. Corpus scores (rows without an item) and single draws of random controls are ignored.
        baseline: The system to compare with; by default the first.
        intersect: True to compare on shared items, where systems cover different ones.
        lower_is_better: Names of the metrics for which lower is better, beside those whose signatures say so.
        draws: Random draws: resamples of the items, and random sign flips.
        metric_of: Function that finds a metric by its name and signature; by default statistics are ignored, and means
            of item scores compared.
        sacrebleu: True for the p-values of sacreBLEU, from the same resamples and permutations as it draws with this
            seed; see `sacrebleu_p_value` and `permutation_p`.

    Raises:
        InvalidInput: Systems cover different items and `intersect` is not set, a text has two scores by one metric,
            there are no item scores, or statistics are not those of the scores.
        Undefined: Systems share fewer than two items.
        UnknownName: There is no such baseline or metric.

    >>> from postil.meta.table import Scored
    >>> from postil.data.rows import Score
    >>> texts = [("1", 0.1, 0.3), ("2", 0.2, 0.5), ("3", 0.3, 0.4)]
    >>> rows = [Score(item, "a", "meteor", score, "") for item, score, _ in texts]
    >>> rows += [Score(item, "b", "meteor", score, "") for item, _, score in texts]
    >>> found = compare(Scored(rows))
    >>> [(row.system, round(row.mean, 3), row.difference and round(row.difference, 3)) for row in found.systems]
    [('a', 0.2, None), ('b', 0.4, 0.2)]
    """
    systems = tuple(dict.fromkeys(system for _, system in scored.rows))
    lower_is_better = scored.falling(lower_is_better)
    baseline = systems[0] if baseline is None else as_id(baseline)
    UnknownName.check("system", baseline, systems)
    rows, left_out = on_shared_items(scored, systems, intersect=intersect)
    base, corpora = systems.index(baseline), _corpora(scored, metric_of)
    tests = _compare(scored, rows, base, corpora, draws, sacrebleu=sacrebleu)
    return Comparison(
        aggregation="corpus" if corpora else "item mean",
        baseline=baseline,
        items=len(rows),
        systems=tuple(_rows(tests, scored.metrics, systems, base, len(rows), sacrebleu=sacrebleu)),
        lower_is_better=tuple(name for name in scored.metrics if name in lower_is_better),
        left_out=left_out,
        notes=tuple(_notes(scored, systems)),
        settings=ComparisonSettings(
            resamples=draws.resamples,
            permutations=draws.permutations,
            seed=draws.seed,
            p_values="sacrebleu" if sacrebleu else "postil",
        ),
        summed=tuple(corpora),
        signatures={name: scored.signatures[name] for name in scored.metrics if scored.signatures[name]},
    )


@dataclass(frozen=True, slots=True, eq=False)
class BaselineTest:
    """Scores of systems by m metrics, compared with the baseline's.

    Args:
        scores: float64[systems, m].
        differences: float64[systems, m], score minus the baseline's.
        drawn: float64[R, systems, m], scores of each resample of the items.
        drawn_differences: float64[R, systems, m].
        p_randomization: float64[systems, m].
    """

    scores: Floats
    differences: Floats
    drawn: Floats
    drawn_differences: Floats
    p_randomization: Floats

    def p_bootstrap(self, system: int, metric: int, *, sacrebleu: bool = False) -> float:
        """Compute the p-value of one difference over the resamples.

        Args:
            system: Index of the system.
            metric: Index of the metric.
            sacrebleu: True for `sacrebleu_p_value`, False for `postil.meta.resampling.p_value`.
        """
        drawn = self.drawn_differences[:, system, metric]
        return sacrebleu_p_value(drawn, self.differences[system, metric]) if sacrebleu else p_value(drawn)


def compare_means(values: Floats, base: int, counts: Int32s, draws: Draws) -> BaselineTest:
    """Compare the means of item scores.

    Args:
        values: float64[items, systems, m], item scores.
        base: Index of the baseline.
        counts: int32[R, items], resample multiplicities.
        draws: Random draws: random sign flips.
    """
    apart = difference(values, values[:, [base]])
    # The tolerance of a difference of means is a share of the scores of the items where the two systems differ.
    magnitudes = np.where(apart != 0, np.maximum(np.abs(values), np.abs(values[:, [base]])), 0.0)
    return BaselineTest(
        scores=values.mean(axis=0),
        differences=without_noise(apart.mean(axis=0), magnitudes.mean(axis=0)),
        drawn=means_of_resamples(values, counts),
        drawn_differences=without_noise(means_of_resamples(apart, counts), means_of_resamples(magnitudes, counts)),
        p_randomization=_sign_flips(apart, magnitudes, draws),
    )


def compare_sums(
    statistics: Floats,
    score: Callable[[Floats], Floats],
    base: int,
    counts: Int32s,
    draws: Draws,
    *,
    sacrebleu: bool = False,
) -> BaselineTest:
    """Compare the corpus scores of one metric, which are those of summed statistics.

    Args:
        statistics: float64[items, systems, k].
        score: Function from sums of statistics, float64[n, k], to corpus scores, float64[n].
        base: Index of the baseline.
        counts: int32[R, items], resample multiplicities.
        draws: Random draws: random swaps of the two systems' items.
        sacrebleu: True to draw and count permutations as sacreBLEU does; see `permutation_p`.

    >>> from postil.meta.resampling import DRAWS, bootstrap_counts
    >>> statistics = np.array([[[1.0, 2.0], [2.0, 2.0]], [[0.0, 1.0], [3.0, 4.0]]])
    >>> counts = bootstrap_counts(2)
    >>> found = compare_sums(statistics, lambda sums: sums[:, 0] / sums[:, 1], 0, counts, DRAWS)
    >>> found.scores.round(3).tolist(), found.differences.round(3).tolist()
    ([[0.333], [0.833]], [[0.0], [0.5]])
    """
    items, systems, width = statistics.shape
    flat = statistics.reshape(items, -1)

    def scored(sums: Floats) -> Floats:
        return score(sums.reshape(-1, width)).reshape(-1, systems)

    scores = scored(flat.sum(axis=0))[0]
    drawn = np.concatenate([scored(block @ flat) for block in blocks_of(counts)])
    largest = np.maximum(np.abs(scores), np.abs(scores[base]))
    scale = np.where(largest > 0, largest, 1.0)  # the tolerance of permutation_p is for statistics of scale 1

    def statistic(swapped: Floats) -> Floats:
        # Both sums are made of what stays and what comes, so that no subtraction leaves rounding where 0 should be.
        stay, go = ((part @ flat).reshape(-1, systems, width) for part in (1.0 - swapped, swapped))
        return np.abs(scored(stay + go[:, [base]]) - scored(stay[:, [base]] + go)) / scale

    return BaselineTest(
        scores=scores[:, None],
        differences=difference(scores, scores[base])[:, None],
        drawn=drawn[..., None],
        drawn_differences=difference(drawn, drawn[:, [base]])[..., None],
        p_randomization=permutation_p(statistic, items, draws, sacrebleu=sacrebleu)[:, None],
    )


def sacrebleu_p_value(samples: Floats, observed: float) -> float:
    """Compute the p-value of a difference over resamples as sacreBLEU does.

    ``(1 + #{|sample| - mean |sample| > |observed|}) / (R + 1)``; no difference at all has the smallest p-value, since
    none of the resamples exceeds it.

    Args:
        samples: float64[R], the difference in each resample.
        observed: The difference.

    >>> sacrebleu_p_value(np.array([0.0, 0.1, 0.2, 0.9]), 0.3)
    0.4
    """
    sizes = np.abs(samples)
    return (1 + int(np.count_nonzero(sizes - sizes.mean() > abs(observed)))) / (1 + len(samples))


def _sign_flips(differences: Floats, magnitudes: Floats, draws: Draws) -> Floats:
    """Compute the p-values of approximate randomization of means, float64[systems, m].

    Args:
        differences: float64[items, systems, m].
        magnitudes: The same shape, the larger score of each difference, 0 where there is none.
        draws: Random draws.
    """
    flat, size = differences.reshape(len(differences), -1), magnitudes.sum(axis=0).ravel()
    flat = flat / np.where(size > 0, size, 1.0)  # the tolerance of permutation_p is for statistics of scale 1
    total = flat.sum(axis=0)
    found = permutation_p(lambda swapped: np.abs(total - 2 * (swapped @ flat)), len(flat), draws)
    return found.reshape(differences.shape[1:])


def _notes(scored: Scored, systems: tuple[str, ...]) -> Iterator[str]:
    """Notes on the rows that are ignored."""
    if scored.corpus:
        yield f"corpus scores ignored: {scored.corpus}; the item scores are compared"
    draws = len(scored.columns) - len(scored.metrics)
    if draws:
        yield f"single draws of random controls passed over: {draws}"
    if len(systems) == 1:
        what = "scores" if scored.statistics else "means"
        yield f"{systems[0]} is the only system, so there are {what} and nothing to compare them with"


def _compare(
    scored: Scored,
    rows: Int64s,
    base: int,
    corpora: Mapping[str, Metric],
    draws: Draws,
    *,
    sacrebleu: bool,
) -> dict[str, tuple[BaselineTest, int]]:
    """The comparison with the baseline by metric, and the metric's index in it."""
    found: dict[str, tuple[BaselineTest, int]] = {}
    counts = bootstrap_counts(len(rows), draws.resamples, draws.seed)
    means = [name for name in scored.metrics if name not in corpora and not sacrebleu]
    if means:
        values = scored.of(rows.ravel(), means).reshape(*rows.shape, len(means))
        test = compare_means(values, base, counts, draws)
        found = {name: (test, column) for column, name in enumerate(means)}
    for name in scored.metrics:
        if name in found:
            continue
        if name in corpora:
            statistics, score = scored.statistics[name][rows], corpora[name].score
        else:
            values = scored.of(rows.ravel(), [name]).reshape(*rows.shape, 1)
            statistics, score = np.concatenate([values, np.ones_like(values)], axis=-1), mean_of_items
        test = compare_sums(statistics, score, base, counts, draws, sacrebleu=sacrebleu)
        found[name] = test, 0
    return found


def _rows(
    tests: Mapping[str, tuple[BaselineTest, int]],
    metrics: tuple[str, ...],
    systems: tuple[str, ...],
    base: int,
    n: int,
    *,
    sacrebleu: bool,
) -> Iterator[SystemComparison]:
    """Rows of the comparison, metric by metric."""
    others = [number for number in range(len(systems)) if number != base]
    for metric in metrics:
        test, column = tests[metric]
        randomized = test.p_randomization[:, column]
        corrected = dict(zip(others, holm(randomized[others]).tolist(), strict=True))
        for number, system in enumerate(systems):
            around = interval(test.drawn[:, number, column])
            row = SystemComparison(
                metric=metric,
                system=system,
                n=n,
                mean=float(test.scores[number, column]),
                low=around.low,
                high=around.high,
            )
            if number == base:
                yield row
                continue
            of_difference = interval(test.drawn_differences[:, number, column])
            yield replace(
                row,
                difference=float(test.differences[number, column]),
                difference_low=of_difference.low,
                difference_high=of_difference.high,
                p_bootstrap=test.p_bootstrap(number, column, sacrebleu=sacrebleu),
                p_randomisation=float(randomized[number]),
                p_holm=corrected[number],
            )


def _corpora(scored: Scored, metric_of: Callable[[str, str], Metric] | None) -> dict[str, Metric]:
    """The metrics whose scores have statistics; checks these against the scores.

    Raises:
        InvalidInput: Statistics are not those of the metric, or do not have the scores.
    """
    found = {name: metric_of(name, scored.signatures[name]) for name in scored.statistics} if metric_of else {}
    for name, metric in found.items():
        statistics, values = scored.statistics[name], scored.of(np.arange(len(scored.rows)), [name])[:, 0]
        problem = ""
        if statistics.shape[1] != metric.width:
            problem = f"expected {metric.width} statistics of each text, got {statistics.shape[1]}"
        else:
            there = ~np.isnan(values)
            wrong = ~np.isclose(metric.items(statistics[there]), values[there], rtol=1e-6, atol=1e-9)
            if wrong.any():
                item, system = list(scored.rows)[np.flatnonzero(there)[wrong.argmax()]]
                problem = f"the score of item {shown(item)} by system {shown(system)} is not that of its statistics"
        if problem:
            said = Message(
                "{name}: {problem}; score again, or compare means of item scores: {means}",
                name=name,
                problem=problem,
                means=Setting("item_means", value=True),
            )
            raise InvalidInput(said, where=scored.where)
    return found


def on_shared_items(
    scored: Scored, systems: tuple[str, ...], *, intersect: bool
) -> tuple[NDArray[np.int64], tuple[Excluded, ...]]:
    """Select the items that every system has by every metric.

    Args:
        scored: The scores.
        systems: The systems, in the order of the result.
        intersect: Exclude items that not all systems cover; otherwise raise.

    Returns:
        int64[items, systems], the row of each text in ``scored``, and the excluded items.

    Raises:
        InvalidInput: Systems cover different items and `intersect` is not set.
        Undefined: They share fewer than two.
    """
    items = {item: number for number, item in enumerate(dict.fromkeys(item for item, _ in scored.rows))}
    numbers = {system: number for number, system in enumerate(systems)}
    rows = np.full((len(items), len(systems)), -1, np.int64)
    at = np.array([(items[item], numbers[system]) for item, system in scored.rows]).T
    rows[tuple(at)] = np.arange(len(scored.rows))
    values = scored.of(rows.ravel(), scored.metrics).reshape(*rows.shape, -1)
    values[rows < 0] = np.nan
    left_out = tuple(_lacking(values, scored.metrics, tuple(items), systems))
    if left_out and not intersect:
        problem = Message(
            "systems cover different items; {items}; give all systems the same items, or compare on those that they "
            "share: {intersect}",
            items="; ".join(map(str, left_out)),
            intersect=Setting("intersect", value=True),
        )
        raise InvalidInput(problem, where=scored.where)
    rows = rows[~np.isnan(values).any(axis=(1, 2))]
    if len(rows) < 2:
        missing = f": {'; '.join(map(str, left_out))}" if left_out else ""
        shared = "one item" if len(rows) else "no item"
        raise Undefined(f"systems share {shared}, and no interval can be had from fewer than two{missing}")
    return rows, left_out


def _lacking(
    values: NDArray[np.float64], metrics: tuple[str, ...], items: tuple[str, ...], systems: tuple[str, ...]
) -> Iterator[Excluded]:
    """Items without a score in float64[items, systems, metrics], by system and metric."""
    for number, system in enumerate(systems):
        missing = np.isnan(values[:, number])
        everything = missing.all(axis=1)
        if everything.any():
            yield Excluded.of(f"items that {system} lacks", [items[item] for item in np.flatnonzero(everything)])
        for column, metric in enumerate(metrics):
            some = missing[:, column] & ~everything
            if some.any():
                names = [items[item] for item in np.flatnonzero(some)]
                yield Excluded.of(f"items of {system} without a score by {metric}", names)
