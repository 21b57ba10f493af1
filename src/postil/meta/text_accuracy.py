"""Pairwise accuracy with ties (``acc-eq``): calibration, resamples, chance, and the paired permutation test.

For chance the grades are permuted in place of the scores, which comes to the same. So the differences of scores stay,
and the kernel has value and chance of one pass over the pairs. Its sums are integers, which are the same with any
number of threads.
"""

from __future__ import annotations

import dataclasses
import math
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.data.ranking import TOLERANCE, dense_ranks, joined
from postil.kernel import both_right, calibrate, right_pairs
from postil.meta.column_correlations import Texts, means_by, ratio, starts_of
from postil.meta.parts import Correlation, UndefinedResult
from postil.meta.permutation import SLACK
from postil.meta.resampling import DRAWS, Draws, means_of_systems
from postil.results.base import replace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from postil.kernel.arrays import Floats, Int32s, Int64s

__all__ = ["AccuracyResampling", "Pairs", "fewer_draws", "group_sizes", "swapping_pairs", "with_thresholds"]

MOST_DRAWS: Final = 100
"""Largest number of random orders of the grades."""

LEAST_DRAWS: Final = 4
"""Smallest number of them."""

MOST_PAIRS: Final = 200_000_000
"""Number of draws times pairs above which there are fewer draws."""

SCALE: Final = 2**60
"""Sum of the weights of all pairs where the weights are not whole numbers to begin with."""

MOST_EXPONENT: Final = 900
"""Exponent of 2 of the largest scores that are taken as they are."""


@dataclasses.dataclass(frozen=True, eq=False)
class Pairs:
    """The points of a level, in groups of two or more, whose pairs are right or wrong.

    Args:
        scores: float64[n, M]; ties are equal to the last bit.
        sizes: float64[n, M], magnitudes of the terms that scores were computed from.
        ranks: int32[n], ranks of the mean ratings within the group.
        starts: int64[k], first point of each group.
        item: int32[n], item of each point; of systems empty.
        groups: Number of groups, those of one point included.
    """

    scores: Floats
    sizes: Floats
    ranks: Int32s
    starts: Int64s
    item: Int32s
    groups: int

    @classmethod
    def of(cls, texts: Texts, by: str) -> Pairs:
        """Arrange texts, or the means of their systems, at a level."""
        both = _bounded(np.column_stack([texts.scores, texts.grades]))
        if by == "system":
            means, sizes = means_by(np.unique(texts.system, return_inverse=True)[1].astype(np.int32), both)
            return cls._grouped(means, sizes, np.zeros(len(means), np.int32), np.zeros(0, np.int32))
        group = {"item": texts.item, "within-system": texts.system}.get(by, np.zeros(len(both), np.int32))
        return cls._grouped(both, np.abs(both), group, texts.item)

    @classmethod
    def _grouped(cls, both: Floats, sizes: Floats, group: Int32s, item: Int32s) -> Pairs:
        order = np.argsort(group, kind="stable")
        begins = starts_of(group[order])
        several = np.repeat(np.diff([*begins, len(order)]) > 1, np.diff([*begins, len(order)]))
        order = order[several]
        starts = starts_of(group[order]) if len(order) else np.zeros(0, np.int64)
        both, sizes = both[order], sizes[order]
        return cls(
            scores=_ties_joined(both[:, :-1], starts, sizes[:, :-1]),
            sizes=sizes[:, :-1].copy(),
            ranks=dense_ranks(both[:, -1:], starts, sizes[:, -1:])[:, 0].copy(),
            starts=starts,
            item=item[order] if len(item) else item,
            groups=len(begins),
        )

    @cached_property
    def numbers(self) -> Int64s:
        """int64[k], number of pairs of each group."""
        sizes = np.diff([*self.starts, len(self.ranks)])
        return np.asarray(sizes * (sizes - 1) // 2, np.int64)

    @cached_property
    def tied(self) -> Int64s:
        """int64[k], number of pairs of each group that people tie."""
        changes = starts_of(self.group, self.ranks[np.lexsort((self.ranks, self.group))])
        runs = np.diff([*changes, len(self.ranks)])
        return np.bincount(self.group[changes], runs * (runs - 1) // 2, len(self.starts)).astype(np.int64)

    @property
    def ranges(self) -> Floats:
        """float64[M], largest difference within a group, less what may be rounding."""
        widest = np.maximum.reduceat(self.scores, self.starts) - np.minimum.reduceat(self.scores, self.starts)
        slack = TOLERANCE * np.maximum.reduceat(np.abs(self.sizes), self.starts)
        return np.asarray((widest - slack).max(axis=0), np.float64)

    @property
    def group(self) -> Int64s:
        """int64[n], group of each point."""
        return np.repeat(np.arange(len(self.starts)), np.diff([*self.starts, len(self.ranks)]))

    @cached_property
    def weights(self) -> Int64s:
        """int64[k], weight of a pair of each group such that all groups weigh the same, exactly if that is possible."""
        least = math.lcm(*np.unique(self.numbers).tolist())
        if least * len(self.numbers) <= SCALE:
            return least // self.numbers
        return np.rint(SCALE / len(self.numbers) / self.numbers).astype(np.int64)

    @property
    def fixed(self) -> tuple[Int64s, float]:
        """int64[k], expected gain from a tie of a metric in random order, in units of 1 / `SCALE`; and the sum without.

        A random order has a pair right with the probability that people tie it, or half that they do not.
        """
        share = self.tied / self.numbers
        gains = (3 * share - 1) / 2 / self.numbers / len(self.numbers)
        return np.rint(SCALE * gains).astype(np.int64), float(((1 - share) / 2).mean())

    def orders(self, draws: int, seed: int) -> Int32s:
        """int32[n, 1 + draws], the ranks, and the ranks in random orders within each group."""
        random = np.random.default_rng(seed)
        shuffled = (self.ranks[np.lexsort((random.random(len(self.ranks)), self.group))] for _ in range(draws))
        return np.column_stack([self.ranks, *shuffled])

    @property
    def scale(self) -> int:
        """Weight of all pairs."""
        return int((self.weights * self.numbers).sum())

    @property
    def slack(self) -> int:
        """Weight by which two equally good thresholds may differ."""
        return int(TOLERANCE * self.scale)

    def calibrated(self, jobs: int = 1) -> Floats:
        """float64[M], the smallest of the best thresholds of each metric."""
        nothing = np.zeros(0, np.int64)
        orders = self.ranks[:, None].copy()
        return calibrate(self.scores, self.sizes, orders, self.starts, self.weights, nothing, self.slack, jobs)[0]


def group_sizes(item: Int32s, system: Int32s, by: str) -> Int64s:
    """Number of points in each group of a level.

    >>> item, system = np.array([0, 0, 1]), np.array([0, 1, 0])
    >>> [group_sizes(item, system, by).tolist() for by in ("pool", "item", "system", "within-system")]
    [[3], [2, 1], [2], [2, 1]]
    """
    if by == "system":
        return np.array([len(np.unique(system))])
    group = {"item": item, "within-system": system}.get(by, np.zeros(len(item), np.int32))
    return np.asarray(np.unique(group, return_counts=True)[1], np.int64)


@dataclasses.dataclass(frozen=True, eq=False)
class AccuracyResampling:
    """Pairwise accuracy of columns with one column, on all items and on resamples, at the thresholds of all.

    Args:
        pairs: The points of the level.
        epsilons: float64[M], thresholds.
        texts: The texts, their numbers bounded so that no sum overflows.
        by: Level.
    """

    pairs: Pairs
    epsilons: Floats
    texts: Texts
    by: str

    @classmethod
    def of(cls, texts: Texts, by: str, jobs: int = 1) -> AccuracyResampling:
        """Calibrate the threshold of each column of scores on the grades.

        >>> from postil.meta.column_correlations import Texts
        >>> scores, grades = np.array([[0.125], [0.0], [0.5], [1.0], [1.5]]), np.array([1.0, 1.0, 2.0, 4.0, 4.0])
        >>> texts = Texts(scores, grades, np.arange(5, dtype=np.int32), np.zeros(5, np.int32))
        >>> work = AccuracyResampling.of(texts, "pool")
        >>> work.epsilons.tolist(), work(np.ones((1, 5), np.int32)).tolist()
        ([0.125], [[0.9]])
        """
        bounded = dataclasses.replace(texts, scores=_bounded(texts.scores), grades=_bounded(texts.grades))
        pairs = Pairs.of(bounded, by)
        return cls(pairs, pairs.calibrated(jobs), bounded, by)

    def __call__(self, counts: Int32s, jobs: int = 1) -> Floats:
        """float64[R, M], one row per row of resample multiplicities int32[R, items]; NaN where there is no pair.

        Copies of a text are no pair.
        """
        return {"item": self._drawn_items, "system": self._systems}.get(self.by, self._copied)(counts, jobs)

    @cached_property
    def of_item(self) -> Floats:
        """float64[k, M], accuracy within each item that has two texts."""
        pairs, each = self.pairs, np.zeros(len(self.pairs.ranks), np.int32)
        right = right_pairs(pairs.scores, pairs.ranks, pairs.starts, each, np.ones((1, 1), np.int32), self.epsilons)[0]
        return np.asarray(right / pairs.numbers[:, None], np.float64)

    def _drawn_items(self, counts: Int32s, _jobs: int) -> Floats:
        drawn = counts[:, self.pairs.item[self.pairs.starts]].astype(np.float64)
        return ratio(drawn @ self.of_item, np.repeat(drawn.sum(axis=1, keepdims=True), len(self.epsilons), axis=1))

    def _copied(self, counts: Int32s, jobs: int) -> Floats:
        pairs = self.pairs
        return _accuracies(pairs.scores, pairs.ranks, pairs.starts, pairs.item, counts, self.epsilons, jobs)

    def _systems(self, counts: Int32s, jobs: int) -> Floats:
        means, sizes, there = means_of_systems(self.texts, counts)
        resamples, systems, width = means.shape
        means, sizes = means.reshape(-1, width), sizes.reshape(-1, width)
        starts, each = systems * np.arange(resamples), np.arange(len(means), dtype=np.int32)
        scores = _ties_joined(means[:, :-1], starts, sizes[:, :-1])
        ranks = dense_ranks(means[:, -1:], starts, sizes[:, -1:])[:, 0].copy()
        # Means of a resample that are epsilon apart may be so but for rounding.
        epsilons = self.epsilons + TOLERANCE * sizes[:, :-1].max(axis=0)
        once = there.reshape(1, -1).astype(np.int32)
        right = right_pairs(scores, ranks, starts, each, once, epsilons, jobs)[0]
        present = there.sum(axis=1)
        number = (present * (present - 1) / 2)[:, None]
        return ratio(right.astype(np.float64), np.repeat(number, right.shape[1], axis=1))


def _excess(columns: Floats) -> Int32s:
    """int32[M], exponents of 2 to divide columns by so that no sum and no difference overflows; mostly 0."""
    exponents = np.frexp(np.abs(columns).max(axis=0, initial=0.0))[1] - MOST_EXPONENT
    return np.asarray(np.maximum(0, exponents), np.int32)


def _bounded(columns: Floats) -> Floats:
    return np.asarray(np.ldexp(columns, -_excess(columns)), np.float64)


def _ties_joined(scores: Floats, starts: Int64s, sizes: Floats) -> Floats:
    out = np.empty(scores.shape)
    for column, (values, magnitudes) in enumerate(zip(scores.T, sizes.T, strict=True)):
        out[:, column] = joined(values, starts, magnitudes)
    return out


def _accuracies(  # noqa: PLR0917 - the kernel's arguments
    scores: Floats, ranks: Int32s, starts: Int64s, item: Int32s, counts: Int32s, epsilons: Floats, jobs: int
) -> Floats:
    """float64[R, M], mean over the groups that have a pair in the resample."""
    if not len(starts):
        return np.full((len(counts), scores.shape[1]), np.nan)
    right = right_pairs(scores, ranks, starts, item, np.ascontiguousarray(counts), epsilons, jobs)
    copies = counts[:, item].astype(np.int64)
    number = (np.add.reduceat(copies, starts, axis=1) ** 2 - np.add.reduceat(copies**2, starts, axis=1)) // 2
    shares = right / np.maximum(1, number)[..., None]
    filled = (number > 0).sum(axis=1, keepdims=True).astype(np.float64)
    return ratio(shares.sum(axis=1), np.repeat(filled, shares.shape[2], axis=1))


def fewer_draws(item: Int32s, system: Int32s, by: str, most: int = MOST_DRAWS) -> int:
    """Number of random orders of the grades, or of splits: the most, or fewer where there are many pairs of texts.

    >>> texts = np.zeros(10_000, np.int32), np.arange(10_000, dtype=np.int32) % 16
    >>> [fewer_draws(*texts, by) for by in ("pool", "system", "within-system")]
    [4, 100, 64]
    """
    sizes = group_sizes(item, system, by)
    pairs = int((sizes * (sizes - 1) // 2).sum())
    return min(most, max(LEAST_DRAWS, MOST_PAIRS // max(1, pairs)))


def with_thresholds(
    rows: Sequence[Correlation | UndefinedResult],
    columns: Mapping[str, Floats],
    texts: Texts,
    by: str,
    draws: Draws = DRAWS,
) -> list[Correlation | UndefinedResult]:
    """Add to rows of ``acc-eq`` the fields that are theirs alone.

    Chance is the accuracy of a metric's own scores, permuted among the texts of each group and calibrated anew each
    time; ``p`` is the share of random orders, with the observed one among them, whose accuracy is at least as high.
    Rows over several draws or splits have ``pairs`` and ``p`` alone, against the chance of the first.

    Args:
        rows: Rows of one measure; undefined ones stay as they are.
        columns: float64[n, d] by metric: its scores, the draws of a random control or the halves of several splits.
        texts: The texts; the columns stand for their scores, and of d splits they have grades of float64[n, d].
        by: Level.
        draws: Random draws; it has the seed of the orders.
    """
    there = [row.metric for row in rows if isinstance(row, Correlation)]
    if not there:
        return list(rows)
    first, grades = np.column_stack([columns[name][:, 0] for name in there]), texts.grades
    pairs = Pairs.of(dataclasses.replace(texts, scores=first, grades=grades.reshape(len(grades), -1)[:, 0]), by)
    number, several = int(pairs.numbers.sum()), fewer_draws(texts.item, texts.system, by)
    orders, (gains, least) = pairs.orders(several, draws.seed), pairs.fixed
    given = pairs.scores, pairs.sizes, orders, pairs.starts, pairs.weights, gains, pairs.slack, draws.jobs
    scaled, plain, best = calibrate(*given)
    ranges = pairs.ranges
    with np.errstate(over="ignore"):
        epsilons = np.minimum(np.ldexp(scaled, _excess(first)), np.finfo(np.float64).max)
    drawn = best[:, 1:-1] / pairs.scale
    low, high = np.percentile(drawn, (2.5, 97.5), axis=1)
    out: list[Correlation | UndefinedResult] = []
    for row in rows:
        if not isinstance(row, Correlation):
            out.append(row)
            continue
        j = there.index(row.metric)
        reached = np.count_nonzero(drawn[j] >= row.value - TOLERANCE)
        found = replace(row, pairs=number, p=float((1 + reached) / (1 + several)))
        if columns[row.metric].shape[1] == 1 and grades.ndim == 1:
            found = replace(
                found,
                epsilon=float(epsilons[j]),
                plain=min(row.value, float(plain[j] / pairs.scale)),  # equal but for rounding where epsilon is 0
                ties=float((pairs.tied / pairs.numbers).mean()),
                chance=float(drawn[j].mean()),
                chance_low=float(low[j]),
                chance_high=float(high[j]),
                chance_fixed=float(least + best[j, -1] / SCALE),
                draws=several,
                all_tied=bool(ranges[j] <= scaled[j]) or None,
            )
        out.append(found)
    return out


def swapping_pairs(texts: Texts, by: str, compared: Int64s, draws: Draws = DRAWS) -> list[float]:
    """Compute two-sided p-values by swapping what two metrics say of a pair of texts, each with probability 1/2.

    PERM-BOTH of Deutsch, Dror and Roth (2021), for accuracies at calibrated thresholds. A pair of texts that both have
    right, or wrong, changes nothing; of m others with one weight as many as a binomial variable are swapped.

    Args:
        texts: The texts.
        by: Level.
        compared: int64[2, k], columns to compare.
        draws: Random draws.

    Returns:
        One p-value per compared pair of columns.

    >>> from postil.meta.column_correlations import Texts
    >>> from postil.meta.resampling import Draws
    >>> scores = np.array([[1.0, 3.0], [2.0, 2.0], [3.0, 1.0], [4.0, 4.0], [5.0, 5.0]])
    >>> texts = Texts(scores, np.arange(5.0), np.arange(5, dtype=np.int32), np.zeros(5, np.int32))
    >>> [p] = swapping_pairs(texts, "pool", np.array([[0], [1]]), Draws(permutations=999, seed=1))
    >>> 0.2 < p < 0.3
    True
    """
    pairs, permutations = Pairs.of(texts, by), draws.permutations
    numbers, kind = np.unique(pairs.numbers, return_inverse=True)
    both = both_right(
        pairs.scores,
        pairs.ranks,
        pairs.starts,
        kind.astype(np.int32),
        len(numbers),
        pairs.calibrated(draws.jobs),
        draws.jobs,
    )
    right = np.diagonal(both, axis1=1, axis2=2)
    weights = 1 / (len(pairs.numbers) * numbers)
    random = np.random.default_rng(draws.seed)
    found = []
    for first, second in compared.T.tolist():
        disagree = right[:, first] + right[:, second] - 2 * both[:, first, second]
        observed = abs(weights @ (right[:, first] - right[:, second]))
        drawn = np.zeros(permutations)
        for weight, number in zip(weights, disagree, strict=True):
            drawn += weight * (2.0 * random.binomial(number, 0.5, permutations) - number)
        found.append(float((1 + np.count_nonzero(np.abs(drawn) >= observed - SLACK)) / (1 + permutations)))
    return found
