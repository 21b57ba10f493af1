"""Accuracy in ranking systems: pairwise accuracy (``pa``), soft pairwise accuracy (``spa``), and their tests.

The paired permutation tests swap single texts (PERM-BOTH): a permutation swaps two metrics' standardized scores of some
texts. What the first metric then has is its own sums over the texts that stay, and the other's over those that are
swapped. Both are had once per permutation for all metrics, and every pair of metrics adds two of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import permutations as orders_of
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.data.parts import Excluded
from postil.data.ranking import TOLERANCE, dense_ranks
from postil.kernel import order_counts
from postil.meta.column_correlations import Texts, means_by, ratio, rows_by, scaled
from postil.meta.parts import Correlation, UndefinedResult
from postil.meta.permutation import CHUNK, sign_patterns
from postil.meta.resampling import CELLS, Draws
from postil.results.base import replace as replace_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from postil.kernel.arrays import Booleans, Floats, Int32s, Int64s
    from postil.meta.table import Table

__all__ = [
    "SOFT_SPLITS",
    "SoftResampling",
    "better_shares",
    "fewer_patterns",
    "pairs_without_items",
    "pairwise_accuracy",
    "swapped_pairwise",
    "swapped_soft",
    "texts_of",
    "why_no_accuracy",
    "with_chance",
]

PATTERNS: Final = 1000
"""Largest number of sign patterns in a resample and in a permutation."""

SOFT_SPLITS: Final = 20
"""Largest number of random splits of the ratings for ``spa``."""

BLOCK: Final = 128
"""Number of resamples or of orders of systems per block."""

ROUNDING: Final = 1e-15
"""Rounding error of a sum, as a share of the sum of the magnitudes of its terms."""


def why_no_accuracy(system: Int32s) -> str:
    """Reason why systems have no accuracy of their ranking, in words.

    Args:
        system: int32[n].
    """
    return "only one system" if len(np.unique(system)) < 2 else "no two systems share an item"


def pairs_without_items(table: Table) -> str:
    """Note on pairs of systems that share no item and are in no soft pairwise accuracy; empty where there is none.

    Args:
        table: The table.
    """
    there = (texts_of(table.item, table.system) < len(table)).astype(np.int64)
    first, second = np.nonzero(np.triu(there.T @ there == 0, 1))
    names = [f"{table.systems[a]} and {table.systems[b]}" for a, b in zip(first, second, strict=True)]
    return f"spa is without {Excluded.of('pairs of systems that share no item', names)}" if names else ""


def pairwise_accuracy(means: Floats, magnitudes: Floats, there: Booleans) -> Floats:
    """Shares of the pairs of systems that columns order as the last one does (Kocmi et al. 2021).

    A pair is right where both sides tie, or both order it the same way.

    Args:
        means: float64[R, S, M + 1], mean scores of S systems by M metrics, and mean ratings, in R resamples.
        magnitudes: The same shape; what decides ties of means, see `postil.meta.column_correlations.means_by`.
        there: bool[R, S], True for systems that have a text in the resample.

    Returns:
        float64[R, M] in [0, 1]; NaN where fewer than two systems have a text.

    >>> means = np.array([[[1.0, 3.0], [1.0, 2.0], [5.0, 9.0]]])
    >>> pairwise_accuracy(means, means, np.ones((1, 3), bool)).round(4).tolist()
    [[0.6667]]
    """
    resamples, systems, width = means.shape
    starts = systems * np.arange(resamples)
    flat = dense_ranks(means.reshape(-1, width), starts, magnitudes.reshape(-1, width)).reshape(means.shape)
    first, second = np.triu_indices(systems, 1)
    out = np.empty((resamples, width - 1))
    for at in range(0, resamples, BLOCK):
        ranks, pair = flat[at : at + BLOCK], there[at : at + BLOCK]
        signs = np.sign(ranks[:, first] - ranks[:, second])
        both = (pair[:, first] & pair[:, second])[..., None]
        right = ((signs[..., :-1] == signs[..., -1:]) & both).sum(axis=1)
        out[at : at + BLOCK] = ratio(right.astype(np.float64), np.repeat(both.sum(axis=1), width - 1, axis=1) * 1.0)
    return out


@dataclass(frozen=True, slots=True, eq=False)
class Contests:
    """Scores of S systems on items, made to be summed over items with random signs, and the P pairs that share an item.

    With the signs of some items flipped, the sum of the differences of two systems changes by twice the sum over the
    flipped items. So it is at least as large as the observed one where the sum over the flipped items is not above 0.

    Args:
        columns: float64[items, M, C], scores around the mean of the item, 0 where a system has none; then the
            differences of pairs whose systems lack different items, or whose difference is too small to be had from
            these; then a column of 0.
        ends: int32[P, 2], two of the C columns whose difference is that of the pair.
        systems: int32[P, 2], the systems of the pair, numbered as in ``np.unique``.
        slack: float64[M, P], largest sum over flipped items that counts as 0.
        shared: bool[items, P], items that have texts of both.
        size: Number of systems.
    """

    columns: Floats
    ends: Int32s
    systems: Int32s
    slack: Floats
    shared: Booleans
    size: int

    @classmethod
    def of(cls, values: Floats, item: Int32s, system: Int32s) -> Contests:
        """Arrange the scores of texts.

        Args:
            values: float64[n, M].
            item: int32[n], from 0 without a gap.
            system: int32[n].
        """
        texts = texts_of(item, system)
        there = texts < len(item)
        cells = np.append(scaled(values), np.zeros((1, values.shape[1])), axis=0)[texts].swapaxes(1, 2)
        systems = there.shape[1]
        first, second = np.triu_indices(systems, 1)
        some = (there[:, first] & there[:, second]).any(axis=0)
        first, second = first[some], second[some]
        shared = there[:, first] & there[:, second]
        gaps = np.array([np.abs((of[:, first] - of[:, second]) * shared).sum(axis=0) for of in cells.swapaxes(0, 1)])
        away = cells - (cells.sum(axis=2) / there.sum(axis=1, keepdims=True))[..., None]
        away *= there[:, None]
        sizes = np.abs(away).sum(axis=0)
        noise = ROUNDING * (sizes[:, first] + sizes[:, second])
        apart = (there[:, first] != there[:, second]).any(axis=0) | (noise > 0.1 * TOLERANCE * gaps).any(axis=0)
        alone = (cells[..., first[apart]] - cells[..., second[apart]]) * shared[:, None, apart]
        columns = np.concatenate([away, alone, np.zeros((*cells.shape[:2], 1))], axis=2)
        ends = np.column_stack([first, second]).astype(np.int32)
        ends[apart, 0] = systems + np.arange(apart.sum())
        ends[apart, 1] = columns.shape[2] - 1
        # A sum of signed differences changes by twice the sum over the flipped items.
        slack = np.maximum(TOLERANCE / 2 * gaps, np.where(apart, 0.0, noise))
        return cls(columns, ends, np.column_stack([first, second]).astype(np.int32), slack, shared, systems)

    def better(self, flips: Iterable[Int64s | Floats], drawn: Int64s | None = None, jobs: int = 1) -> Int64s:
        """Number of sign patterns that make either system of a pair at least as good as it is: int64[M, P, 2].

        Args:
            flips: [b, items] of 0 and 1, blocks of patterns, 1 where the sign of an item is flipped.
            drawn: int64[items], items of a resample; by default each one once.
            jobs: Number of threads.
        """
        columns = self.columns if drawn is None else self.columns[drawn]
        items, metrics, width = columns.shape
        flat = columns.reshape(items, -1).T
        out = np.zeros((metrics, len(self.ends), 2), np.int64)
        own = np.column_stack([np.arange(metrics), np.zeros(metrics)]).astype(np.int32)
        for block in flips:
            sums = (flat @ np.asarray(block, np.float64).T).reshape(metrics, width, len(block))
            out += order_counts(sums, np.zeros((1, width, len(block))), own, self.ends, self.slack, jobs)
        return out

    def matrices(self, counts: Int64s, patterns: int) -> Floats:
        """float64[M, S, S], share of the patterns for each ordered pair; NaN for pairs without a shared item."""
        out = np.full((len(counts), self.size, self.size), np.nan)
        first, second = self.systems.T
        out[:, first, second] = counts[..., 0] / patterns
        out[:, second, first] = counts[..., 1] / patterns
        return out


def texts_of(item: Int32s, system: Int32s) -> Int64s:
    """Row of the text of each item and system, int64[items, S]; the number of rows where there is none.

    >>> texts_of(np.array([0, 0, 1]), np.array([7, 9, 7])).tolist()
    [[0, 1], [2, 3]]
    """
    numbers = np.unique(system, return_inverse=True)[1]
    texts = np.full((int(item.max()) + 1, int(numbers.max()) + 1), len(item))
    texts[item, numbers] = np.arange(len(item))
    return texts


def better_shares(values: Floats, item: Int32s, system: Int32s, flips: Iterable[Int64s], jobs: int = 1) -> Floats:
    """Compute one-sided p-values of each system being better than each other one, for every column.

    p of two systems is the share of sign patterns with ``sum(±d) >= sum(d)``, where d are the differences of their
    scores on the items that both have. Equal sums count for both orders of the two.

    Args:
        values: float64[n, M].
        item: int32[n], from 0 without a gap.
        system: int32[n].
        flips: int64[b, items] of 0 and 1, blocks of sign patterns, 1 where the sign of an item's difference is flipped.
        jobs: Number of threads.

    Returns:
        float64[M, S, S]; NaN for pairs that share no item.

    >>> flips = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> item, system = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> better_shares(np.array([[5.0], [3.0], [4.0], [4.0]]), item, system, [flips]).tolist()
    [[[nan, 0.5], [1.0, nan]]]
    """
    contests, blocks = Contests.of(values, item, system), list(flips)
    return contests.matrices(contests.better(blocks, jobs=jobs), sum(map(len, blocks)))


def fewer_patterns(items: int, permutations: int) -> int:
    """Number of sign patterns where many accuracies are needed: all if there are few items, else at most `PATTERNS`.

    >>> fewer_patterns(12, 10_000), fewer_patterns(20, 10_000)
    (10000, 1000)
    """
    return permutations if 2 ** min(items, 62) <= permutations else min(permutations, PATTERNS)


@dataclass(frozen=True, eq=False)
class SoftResampling:
    """Soft pairwise accuracy of columns with the last one, on all items and on resamples.

    Args:
        contests: The systems' scores.
        permutations: Largest number of sign patterns.
        seed: Seed of the patterns.
    """

    contests: Contests
    permutations: int
    seed: int

    @classmethod
    def of(cls, texts: Texts, draws: Draws) -> SoftResampling:
        """Arrange the scores and grades of texts."""
        contests = Contests.of(np.column_stack([texts.scores, texts.grades]), texts.item, texts.system)
        return cls(contests, draws.permutations, draws.seed)

    def values(self, jobs: int = 1) -> Floats:
        """float64[M], over all items; NaN where no two systems share an item."""
        items = len(self.contests.columns)
        exact, blocks = sign_patterns(items, self.permutations, self.seed)
        counts = self.contests.better(blocks, jobs=jobs)
        return _soft(counts, np.ones(counts.shape[1], bool), 2**items if exact else self.permutations)

    def __call__(self, counts: Int32s, jobs: int = 1) -> Floats:
        """float64[R, M], one row per resample.

        Copies of an item have signs of their own.

        Args:
            counts: int32[R, items], resample multiplicities.
            jobs: Number of threads.
        """
        contests = self.contests
        blocks = sign_patterns(len(contests.columns), min(self.permutations, PATTERNS), self.seed)[1]
        flips = [block.astype(np.float64) for block in blocks]
        patterns = sum(map(len, flips))
        together = counts @ contests.shared.astype(np.float64) > 0
        items = np.arange(counts.shape[1])
        out = np.empty((len(counts), contests.columns.shape[1] - 1))
        for row, (multiplicities, pairs) in enumerate(zip(counts, together, strict=True)):
            out[row] = _soft(contests.better(flips, np.repeat(items, multiplicities), jobs), pairs, patterns)
        return out


def _soft(better: Int64s, pairs: Booleans, patterns: int) -> Floats:
    """float64[M], from counts int64[M + 1, P, 2] over some pairs."""
    away = np.abs(better[:-1, pairs] - better[-1:, pairs]).sum(axis=(1, 2)).astype(np.float64)
    return 1.0 - ratio(away, np.full(len(away), 2.0 * patterns * pairs.sum()))


def with_chance(
    rows: Sequence[Correlation | UndefinedResult],
    columns: Mapping[str, Floats],
    texts: Texts,
    draws: Draws,
    patterns: int | None = None,
    *,
    soft: bool,
) -> list[Correlation | UndefinedResult]:
    """Add to rows of ``pa`` or ``spa`` the fields that are theirs alone: ``pairs``, ``chance``, ``draws``, ``exact``.

    Chance is the mean accuracy when the systems swap their rows of a metric's means or p-values, over all orders of the
    systems where these are at most ``permutations``, else over as many random ones; ``p`` is the share of orders with
    an accuracy at least as high, of random ones with the observed one among them.

    Args:
        rows: Rows of one accuracy; undefined ones stay as they are.
        columns: float64[n, d] by metric: its scores, or the draws of a random control, whose accuracies are averaged.
        texts: The texts; the columns stand for their scores, and of d draws they have grades of float64[n, d].
        draws: Random draws: there are at most as many orders of the systems as permutations.
        patterns: Largest number of sign patterns; by default as many as permutations.
        soft: True for ``spa``.
    """
    wanted = [row.metric for row in rows if isinstance(row, Correlation)]
    if not wanted:
        return list(rows)
    given, people = [columns[name] for name in wanted], texts.grades.reshape(len(texts.grades), -1)
    every, exact = np.column_stack([*given, people]), None
    if soft:
        exact, blocks = sign_patterns(int(texts.item.max()) + 1, patterns or draws.permutations, draws.seed)
        verdicts = better_shares(every, texts.item, texts.system, blocks)
    else:
        means, magnitudes = means_by(np.unique(texts.system, return_inverse=True)[1].astype(np.int32), every)
        ranks = dense_ranks(means, magnitudes=magnitudes).T
        verdicts = np.sign(ranks[:, :, None] - ranks[:, None]).astype(np.float64)
        verdicts[:, *np.diag_indices(len(means))] = np.nan
    of_people = verdicts[-people.shape[1] :]
    drawn, orders = _orders(verdicts.shape[1], draws.permutations, draws.seed)
    accuracies = _reordered(verdicts, of_people, orders, soft=soft)
    found = {}
    for name, end, width in zip(
        wanted, np.cumsum([each.shape[1] for each in given]), map(len, map(np.transpose, given)), strict=True
    ):
        found[name] = _against_chance(accuracies[:, end - width : end].mean(axis=1), drawn)
    pairs = int(np.count_nonzero(~np.isnan(of_people[0]))) // 2
    return [
        replace_row(row, **found[row.metric], pairs=pairs, draws=drawn, exact=exact)
        if isinstance(row, Correlation)
        else row
        for row in rows
    ]


def _orders(systems: int, most: int, seed: int) -> tuple[int, Int64s]:
    """Number of orders of the systems for the comparison with chance, and the orders, the observed one first."""
    number = math.factorial(systems)
    if number <= most:
        return number, np.array(list(orders_of(range(systems))))
    observed = np.arange(systems)[None]
    drawn = np.random.default_rng([seed, 2]).permuted(np.repeat(observed, most, axis=0), axis=1)
    return most, np.concatenate([observed, drawn])


def _reordered(of_metrics: Floats, of_people: Floats, orders: Int64s, *, soft: bool) -> Floats:
    """Accuracies float64[orders, M] when systems take the verdicts on other systems.

    Args:
        of_metrics: float64[M, S, S], verdict on each ordered pair; NaN for pairs without one.
        of_people: float64[d, S, S], that of people on the same pairs; metric m is compared with number m mod d.
        orders: int64[orders, S].
        soft: True if verdicts are probabilities; else right or wrong.
    """
    systems = of_metrics.shape[1]
    first, second = np.nonzero(~np.isnan(of_people[0]))
    out = np.empty((len(orders), len(of_metrics)))
    for at in range(0, len(orders), BLOCK):
        block = orders[at : at + BLOCK]
        places = block[:, first] * systems + block[:, second]
        there = ~np.isnan(of_metrics[0].ravel()[places])
        for metric, verdicts in enumerate(of_metrics):
            one, other = verdicts.ravel()[places], of_people[metric % len(of_people), first, second]
            away = np.abs(one - other) if soft else (one != other).astype(np.float64)
            out[at : at + BLOCK, metric] = 1 - ratio(
                np.where(there, away, 0.0).sum(axis=1), there.sum(axis=1).astype(np.float64)
            )
    return out


def _against_chance(accuracies: Floats, drawn: int) -> dict[str, float]:
    """Fields ``chance`` and ``p`` from the accuracies of all orders; or of the observed one and the random ones."""
    accuracies = accuracies[~np.isnan(accuracies)]
    reached = np.count_nonzero(accuracies >= accuracies[0] - TOLERANCE)
    others = accuracies[len(accuracies) > drawn :]
    return {"chance": float(others.mean()), "p": float(reached / len(accuracies))}


def swapped_pairwise(texts: Texts, pairs: Int64s, draws: Draws) -> Floats:
    """Test differences in pairwise accuracy.

    Args:
        texts: The texts, with standardized scores.
        pairs: int64[2, k], columns to compare.
        draws: Random draws.

    Returns:
        float64[k], two-sided p-values.
    """
    points, numbers = texts.scores, np.unique(texts.system, return_inverse=True)[1].astype(np.int32)
    means, magnitudes = means_by(numbers, texts.grades[:, None])
    ranks = dense_ranks(means, magnitudes=magnitudes)[:, 0]
    better, worse = np.nonzero(ranks[:, None] > ranks)
    one, other = np.nonzero(np.triu(ranks[:, None] == ranks, 1))
    of_system = rows_by(numbers)
    observed = means_by(numbers, points)[0][..., None]

    def right(means: Floats) -> Int64s:  # float64[S, k, b], so that a pair of systems is a difference of two blocks
        found = np.zeros(means.shape[1:], np.int64)
        for a, b in zip(better, worse, strict=True):
            found += means[a] - means[b] > TOLERANCE
        for a, b in zip(one, other, strict=True):
            found += np.abs(means[a] - means[b]) <= TOLERANCE
        return found

    def statistic(swapped: Floats) -> Int64s:
        by_text = np.ascontiguousarray(swapped.T)
        lent = np.stack([points[rows].T @ by_text[rows] / len(rows) for rows in of_system])
        first, second = ((observed - lent)[:, metric] + lent[:, by] for metric, by in (pairs, pairs[::-1]))
        return np.asarray(np.abs(right(first) - right(second)).T)

    step = max(1, min(CHUNK, CELLS // max(len(points), len(ranks) * pairs.shape[1])))
    return _p_values(statistic, len(points), draws, step)


def swapped_soft(texts: Texts, pairs: Int64s, draws: Draws) -> Floats:
    """Test differences in soft pairwise accuracy.

    All permutations have the same sign patterns, at most `PATTERNS` of them, and there are as many permutations at
    most. The p-values of people stay.

    Args:
        texts: The texts, with standardized scores.
        pairs: int64[2, k], columns to compare.
        draws: Random draws: the largest number of permutations is that of sign patterns, too.

    Returns:
        float64[k], two-sided p-values.
    """
    contests, most = Contests.of(texts.grades[:, None], texts.item, texts.system), min(draws.permutations, PATTERNS)
    flips = list(sign_patterns(len(contests.shared), most, draws.seed)[1])
    people = contests.better(flips)
    rows, ends = _columns(contests, texts.item, texts.system)
    signs = np.concatenate(flips).astype(np.float64).T
    n, metrics = texts.scores.shape
    sums = np.append(texts.scores, np.zeros((1, metrics)), axis=0).T[:, rows.T]  # [m, columns, items]
    shape = metrics, rows.shape[1], signs.shape[1]
    everything = (sums.reshape(-1, len(rows)) @ signs).reshape(shape)
    together = np.concatenate([pairs, pairs[::-1]], axis=1).T.astype(np.int32)
    # The sums of swapped scores are as large as those of the two metrics on average, which is all that rounding needs.
    sizes = np.abs(sums).sum(axis=2)[together].sum(axis=1) / 2
    slack = TOLERANCE / 2 * (sizes[:, ends[:, 0]] + sizes[:, ends[:, 1]])

    def statistic(swapped: Floats) -> Int64s:
        chosen = np.append(swapped[0], 0.0)[rows.T]
        lent = ((sums * chosen).reshape(-1, len(rows)) @ signs).reshape(shape)
        better = order_counts(everything - lent, lent, together, ends, slack, draws.jobs)
        first, second = np.split(np.abs(better - people).sum(axis=(1, 2)), 2)
        return np.asarray(np.abs(first - second))[None]

    return _p_values(statistic, n, replace(draws, permutations=most), 1)


def _columns(contests: Contests, item: Int32s, system: Int32s) -> tuple[Int64s, Int32s]:
    """Text of each item in each of C columns, int64[items, C], n for none, and the two columns of each pair of systems.

    A column is a system; systems that lack different items have two columns for their pair, with the items of both.
    """
    texts = texts_of(item, system)
    n, systems = len(item), texts.shape[1]
    first, second = contests.systems.T
    apart = ((texts[:, first] == n) != (texts[:, second] == n)).any(axis=0)
    shared = contests.shared[:, apart]
    both = [np.where(shared, texts[:, end[apart]], n) for end in (first, second)]
    ends = contests.systems.copy()
    ends[apart] = systems + np.arange(2 * apart.sum(), dtype=np.int32).reshape(2, -1).T
    return np.concatenate([texts, *both], axis=1), ends


def _p_values(statistic: Callable[[Floats], Int64s], texts: int, draws: Draws, step: int) -> Floats:
    """Shares of permutations, the observed one among them, with a statistic at least as large as the observed one.

    Args:
        statistic: Function from float64[b, texts], 1 where a text is swapped, to int64[b, k].
        texts: Number of texts.
        draws: Random draws.
        step: Number of permutations at once.
    """
    observed = statistic(np.zeros((1, texts)))
    random, permutations = (
        np.random.default_rng([draws.seed, 1]),
        draws.permutations,
    )  # apart from the sign patterns, which have the seed alone
    reached = np.ones(observed.shape[1])
    for start in range(0, permutations, step):
        size = min(step, permutations - start)
        swapped = np.stack([random.integers(0, 2, texts, np.int8) for _ in range(size)]).astype(np.float64)
        reached += (statistic(swapped) >= observed).sum(axis=0)
    return reached / (1 + permutations)
