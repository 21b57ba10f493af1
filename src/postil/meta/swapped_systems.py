"""Paired permutation tests of accuracies in ranking systems that swap single texts (PERM-BOTH).

A permutation swaps two metrics' standardized scores of some texts. What the first metric then has is its own sums over
the texts that stay, and the other's over those that are swapped. Both are had once per permutation for all metrics, and
every pair of metrics adds two of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from postil.data.ties import TOLERANCE, dense_ranks
from postil.kernel import order_counts
from postil.meta.column_correlations import means_by, rows_by
from postil.meta.permutation import CHUNK, sign_patterns
from postil.meta.resampling import CELLS
from postil.meta.system_accuracy import PATTERNS, Contests, texts_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from postil.kernel.arrays import Floats, Int32s, Int64s
    from postil.meta.column_correlations import Texts
    from postil.meta.resampling import Draws

__all__ = ["swapped_pairwise", "swapped_soft"]


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
