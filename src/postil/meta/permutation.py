"""Paired permutation tests (approximate randomization) with items as clusters; sign-flip test.

A permutation swaps the scores of two metrics on some items. It changes a coefficient by sums over the swapped items, so
many permutations of all pairs of metrics are matrix products, without sorting or correlating again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from postil.data.ranking import TOLERANCE, dense_ranks, difference
from postil.meta.column_correlations import ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from postil.kernel.arrays import Floats, Int32s, Int64s
    from postil.meta.resampling import Draws

__all__ = [
    "Statistic",
    "average_ranks",
    "permutation_p",
    "sign_flips",
    "sign_patterns",
    "standardized",
    "swapping_coefficients",
    "swapping_groups",
    "swapping_rows",
    "swapping_systems",
]

Statistic: TypeAlias = "Callable[[Floats], Floats]"
"""Function from float64[b, items], 1 where an item is swapped and 0 elsewhere, to float64[b, k]."""

CHUNK: Final = 256
"""Number of permutations per block."""

NUMBERS: Final = 2**21
"""Largest number of floating-point numbers in a whole block; more leave the processor's cache."""

ONE_THREAD: Final = 2**18
"""Largest number of multiplications of a matrix product that linear algebra leaves to one thread."""

FEW_COLUMNS: Final = 16
"""Largest number of columns of a product of which a second thread does little but wait."""

SLACK: Final = TOLERANCE
"""Largest difference of two equal statistics, whose scale is 1."""

LEAST_VARIANCE: Final = 1e-10
"""Variance, as a share of that before swapping, below which a column counts as constant."""


def permutation_p(statistic: Statistic, items: int, draws: Draws, *, sacrebleu: bool = False) -> Floats:
    """Compute p-values by swapping whole items at random.

    ``p = (1 + #{statistic >= observed}) / (permutations + 1)``; where swapping leaves no statistic (NaN, as for
    a metric that has become constant) it counts as reaching the observed one.

    Args:
        statistic: Function that computes k statistics of each permutation.
        items: Number of items.
        draws: Random draws.
        sacrebleu: True to draw the permutations that sacreBLEU draws, and to count as it does those whose statistic
            exceeds the observed one; no difference at all then has the smallest p-value.

    Returns:
        float64[k].
    """
    observed = statistic(np.zeros((1, items)))
    reached, permutations = np.zeros(observed.shape[1], np.int64), draws.permutations
    random = np.random.default_rng(draws.seed)
    for start in range(0, permutations, CHUNK):
        size = min(CHUNK, permutations - start), items
        if sacrebleu:  # 32 bits at a time, and whole chunks are a multiple of that, so that chunks change no bit
            chosen = random.integers(2, size=size, dtype=bool)
            reached += (statistic(chosen.astype(np.float64)) > observed + SLACK).sum(axis=0)
            continue
        swapped = _bits(random, *size)
        step = CHUNK if size[0] * items <= NUMBERS else CHUNK // 8
        for at in range(0, size[0], step):
            reached += (~(statistic(swapped[at : at + step].astype(np.float64)) < observed - SLACK)).sum(axis=0)
    return (1 + reached) / (1 + permutations)


def _bits(random: np.random.Generator, rows: int, columns: int) -> NDArray[np.uint8]:
    """The numbers that ``random.integers(0, 2, (rows, columns), dtype=np.int8)`` draws, the first bit of each byte.

    The generator is where it would be after it if the number of bytes is a multiple of 8.
    """
    words = random.integers(0, 2**64, -(-rows * columns // 8), dtype=np.uint64)
    first: NDArray[np.uint8] = words.astype("<u8", copy=False).view(np.uint8)[: rows * columns] >> np.uint8(7)
    return first.reshape(rows, columns)


def sign_flips(first: Floats, second: Floats, flips: int, seed: int) -> Floats:
    """Sign-flip test: p-values by flipping the signs of topics' differences, each with probability 1/2.

    Exact, over all sign patterns, where there are at most ``flips`` of them; else over as many random ones and the
    observed one.

    Args:
        first: float64[topics, k].
        second: The same shape; compared with the first.
        flips: Largest number of sign patterns.
        seed: Seed of the random ones.

    Returns:
        float64[k], two-sided, of the mean difference of each column.

    >>> sign_flips(np.array([[1.0, 1.0], [1.0, 0.0]]), np.array([[0.0, 0.0], [0.0, 1.0]]), flips=100, seed=1).tolist()
    [0.5, 1.0]
    """
    differences = difference(first, second)
    topics = len(differences)
    total = differences.sum(axis=0)
    # The rounding error of a sum is relative to the scores in it, not to the sum.
    scores = np.where(differences != 0, np.maximum(np.abs(first), np.abs(second)), 0.0)
    reach = np.abs(total) - TOLERANCE * scores.sum(axis=0)
    exact, blocks = sign_patterns(topics, flips, seed)
    reached, patterns = np.full(differences.shape[1], 0 if exact else 1), 0 if exact else 1
    for flipped in blocks:
        patterns += len(flipped)
        reached += (np.abs(total - 2 * (flipped.astype(np.float64) @ differences)) >= reach).sum(axis=0)
    return np.asarray(reached / patterns, np.float64)


def sign_patterns(items: int, most: int, seed: int) -> tuple[bool, Iterator[Int64s]]:
    """Sign patterns of items: all of them where they are at most a number, else as many random ones.

    Args:
        items: Number of items.
        most: Largest number of patterns.
        seed: Seed of the random ones.

    Returns:
        True if these are all patterns; and blocks int64[b, items], 1 where a sign is flipped and 0 elsewhere.

    >>> exact, blocks = sign_patterns(2, 4, seed=1)
    >>> exact, [block.tolist() for block in blocks]
    (True, [[[0, 0], [1, 0], [0, 1], [1, 1]]])
    """
    exact = items < 63 and 2**items <= most
    patterns = 2**items if exact else most

    def blocks() -> Iterator[Int64s]:
        random = np.random.default_rng(seed)
        for start in range(0, patterns, CHUNK):
            size = min(CHUNK, patterns - start)
            if exact:
                yield np.arange(start, start + size)[:, None] >> np.arange(items) & 1
            else:
                yield random.integers(0, 2, (size, items))

    return exact, blocks()


def swapping_rows(points: Floats, starts: Int64s, pairs: Int64s) -> Statistic:
    """Statistic: difference of two columns' correlations with the last one.

    Args:
        points: float64[n, m + 1], standardized scores by m metrics, and mean ratings.
        starts: int64[k], first row of each item.
        pairs: int64[2, k], columns to compare.
    """
    correlations = _swapping(points, starts, pairs)

    def statistic(swapped: Floats) -> Floats:
        first, second = correlations(swapped)
        return np.asarray(np.abs(first - second))

    return statistic


def swapping_groups(groups: Sequence[tuple[Int32s, Floats]], pairs: Int64s) -> Statistic:
    """Statistic: difference of two columns' mean correlation with the last one, over groups of rows.

    Args:
        groups: Item of each row, int32[n], and what `swapping_rows` takes, standardized within the group; a column that
            is constant there is 0, and the group has no coefficient of it.
        pairs: int64[2, k], columns to compare.
    """
    parts = []
    for item, points in groups:
        if points[:, -1].any():
            items, starts = np.unique(item, return_index=True)
            parts.append((items, _swapping(points, starts, pairs)))

    def statistic(swapped: Floats) -> Floats:
        total, n = np.zeros((2, 2, len(swapped), pairs.shape[1]))
        for items, correlations in parts:
            both = correlations(swapped[:, items])
            total += np.nan_to_num(both)
            n += ~np.isnan(both)
        first, second = ratio(total, n)
        return np.asarray(np.abs(first - second))

    return statistic


def _swapped_sums(swapped: Floats, of_item: Floats) -> Floats:
    """Sums over the swapped items, float64[b, c]; few columns in parts that one thread multiplies."""
    rows, columns = len(swapped), of_item.shape[1]
    if columns > FEW_COLUMNS or rows * swapped.shape[1] * columns <= ONE_THREAD:
        return np.asarray(swapped @ of_item)
    step, sums = max(1, ONE_THREAD // (rows * columns)), np.zeros((rows, columns))
    for at in range(0, len(of_item), step):
        sums += swapped[:, at : at + step] @ of_item[at : at + step]
    return sums


def _swapping(points: Floats, starts: Int64s, pairs: Int64s) -> Statistic:
    """Function to correlations of both columns with the last one, float64[2, b, k]; NaN where a column is constant."""
    n, m = len(points), points.shape[1] - 1
    scores, grades = points[:, :-1], points[:, -1:]
    agreement = (scores * grades).sum(axis=0)
    size = np.where(scores.any(axis=0), float(n), 0.0)  # sum of squares
    of_item = np.add.reduceat(np.hstack([scores, scores**2, scores * grades]), starts)
    first, second = pairs

    def correlations(swapped: Floats) -> Floats:
        # Swapped items add to the sums, squares and products of the first metric what they take from the second.
        sums = _swapped_sums(swapped, of_item).reshape(-1, 3, m)
        moved = sums[..., second] - sums[..., first]

        def correlation(metric: Int64s, moved: Floats) -> Floats:
            variance = size[metric] + moved[:, 1] - moved[:, 0] ** 2 / n
            spread = np.sqrt(n * np.where(variance > n * LEAST_VARIANCE, variance, np.nan))
            return np.asarray((agreement[metric] + moved[:, 2]) / spread)

        return np.stack([correlation(first, moved), correlation(second, -moved)])

    return correlations


def swapping_coefficients(of_item: Floats, pairs: Int64s) -> Statistic:
    """Statistic: difference of two columns' means.

    Args:
        of_item: float64[items, m], coefficient of each item; NaN where it is undefined.
        pairs: int64[2, k], columns to compare.
    """
    there = ~np.isnan(of_item)
    both = np.hstack([np.where(there, of_item, 0.0), there])
    total = both.sum(axis=0).reshape(2, -1)
    first, second = pairs

    def statistic(swapped: Floats) -> Floats:
        sums = _swapped_sums(swapped, both).reshape(-1, *total.shape)
        moved = sums[..., second] - sums[..., first]

        def mean(metric: Int64s, moved: Floats) -> Floats:
            value, n = np.moveaxis(total[:, metric] + moved, 1, 0)
            return np.asarray(np.divide(value, n, out=np.full(n.shape, np.nan), where=n > 0))

        return np.abs(mean(first, moved) - mean(second, -moved))

    return statistic


def swapping_systems(of_item: Floats, pairs: Int64s, *, spearman: bool) -> Statistic:
    """Statistic: difference of two columns' correlations with the last one, over systems' means.

    Args:
        of_item: float64[items, m + 1, systems], contribution of each item to the means.
        pairs: int64[2, k], columns to compare.
        spearman: True to rank the means first.
    """
    means = of_item.sum(axis=0)
    m, systems = means.shape[0] - 1, means.shape[1]
    flat = of_item[:, :-1].reshape(-1, m * systems)
    first, second = pairs

    def points(values: Floats) -> Floats:
        values = _ranks_of_rows(values) if spearman else values
        values = values - values.mean(axis=-1, keepdims=True)
        size = np.sqrt((values**2).sum(axis=-1, keepdims=True))
        return np.asarray(np.divide(values, size, out=np.full(values.shape, np.nan), where=size > LEAST_VARIANCE))

    grades = points(means[-1])

    def statistic(swapped: Floats) -> Floats:
        sums = _swapped_sums(swapped, flat).reshape(-1, m, systems)
        moved = sums[:, second] - sums[:, first]
        return np.abs((points(means[first] + moved) - points(means[second] - moved)) @ grades)

    return statistic


def standardized(columns: Floats) -> Floats:
    """Columns with mean 0 and variance 1.

    >>> standardized(np.array([[1.0], [2.0]])).tolist()
    [[-1.0], [1.0]]
    """
    away = columns / np.abs(columns).max(axis=0, initial=np.finfo(np.float64).tiny)  # so that no square overflows
    away = away - away.mean(axis=0)
    return np.asarray(away / away.std(axis=0), np.float64)


def average_ranks(columns: Floats, magnitudes: Floats | None = None) -> Floats:
    """Rank each column from 1; ties share the mean of their ranks.

    Args:
        columns: float64[n, M].
        magnitudes: float64[n, M], see `postil.data.ranking.tied`; by default the numbers' own.

    >>> average_ranks(np.array([[0.5], [0.1], [0.5]])).tolist()
    [[2.5], [1.0], [2.5]]
    """
    out = np.empty(columns.shape)
    for column, ranks in enumerate(dense_ranks(columns, magnitudes=magnitudes).T):
        size = np.bincount(ranks)
        out[:, column] = (np.cumsum(size) - (size - 1) / 2)[ranks]
    return out


def _ranks_of_rows(values: Floats) -> Floats:
    """Rank along the last axis, for many short rows of means of standardized scores.

    The mean magnitude of standardized scores is at most 1, so that a tie of their means is a gap of at most
    `TOLERANCE`.
    """
    order = np.argsort(values, axis=-1)
    ordered = np.take_along_axis(values, order, axis=-1)
    last = ordered.shape[-1] - 1
    position = np.broadcast_to(np.arange(last + 1), ordered.shape)
    changes = np.diff(ordered, axis=-1) > TOLERANCE
    edge = np.ones((*changes.shape[:-1], 1), bool)
    start = np.maximum.accumulate(np.where(np.concatenate([edge, changes], axis=-1), position, 0), axis=-1)
    ends = np.where(np.concatenate([changes, edge], axis=-1), position, last)[..., ::-1]
    end = np.minimum.accumulate(ends, axis=-1)[..., ::-1]
    out = np.empty(values.shape)
    np.put_along_axis(out, order, 1 + (start + end) / 2, axis=-1)
    return out
