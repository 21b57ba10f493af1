"""Texts with two ratings or more, and correlations of one part of the ratings with another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.data.ties import without_noise
from postil.errors import Undefined
from postil.meta.column_correlations import pearson, rows_by, starts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from postil.meta.coefficients import By
    from postil.meta.table import Table

__all__ = ["SHARED", "MultipleRatings", "Splits"]

SHARED: Final = 10
"""Smallest number of shared texts for two annotators to count as a pair."""
DECIMALS: Final = 9
"""Number of decimals of grades that annotators are ordered by; those behind may be noise of floats."""


@dataclass(frozen=True, slots=True, eq=False)
class MultipleRatings:
    """The t texts with two ratings or more, and their r ratings.

    Args:
        item: int32[t], ascending from 0 without a gap.
        system: int32[t].
        sizes: int64[t], number of ratings of each text.
        annotators: int32[r], ascending within each text.
        grades: float64[r].
    """

    item: NDArray[np.int32]
    system: NDArray[np.int32]
    sizes: NDArray[np.int64]
    annotators: NDArray[np.int32]
    grades: NDArray[np.float64]

    @classmethod
    def of(cls, table: Table) -> MultipleRatings:
        """Select the texts of a table that have two ratings or more.

        Raises:
            Undefined: There is one annotator only, or no text has two ratings.
        """
        ratings = table.ratings
        if len(ratings.names) < 2:
            raise Undefined(f"the only annotator is {ratings.names[0]}, so there is nobody to agree with")
        texts = ratings.counts >= 2
        if not texts.any():
            raise Undefined("no text has ratings by two annotators")
        several = np.repeat(texts, ratings.counts)
        return cls(
            item=np.unique(table.item[texts], return_inverse=True)[1].astype(np.int32),
            system=table.system[texts],
            sizes=ratings.counts[texts],
            annotators=ratings.annotators[several],
            grades=ratings.grades[several],
        )

    @property
    def starts(self) -> NDArray[np.int64]:
        """int64[t], index of the first rating of each text."""
        return np.cumsum(self.sizes) - self.sizes

    @property
    def text(self) -> NDArray[np.int64]:
        """int64[r], text of each rating."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @property
    def rest(self) -> NDArray[np.float64]:
        """float64[r], mean of the other ratings of the text."""
        total = np.repeat(np.add.reduceat(self.grades, self.starts), self.sizes)
        sizes = np.repeat(np.add.reduceat(np.abs(self.grades), self.starts), self.sizes)
        return without_noise(total - self.grades, sizes) / np.repeat(self.sizes - 1, self.sizes)

    def shuffled(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """float64[r], ratings in random order within each text."""
        return self.grades[np.lexsort((rng.random(len(self.grades)), self.text))]

    def splits(self, n: int, seed: int, *, by_annotator: bool = False) -> Splits:
        """Split the ratings of each text at random into two groups, whose sizes differ by at most one.

        Args:
            n: Number of splits.
            seed: Their seed.
            by_annotator: True to order the annotators at random once per split, not once per text: where all rate all
                texts, a group is of the same annotators in each.
        """
        coins = np.random.Generator(np.random.PCG64(seed).advance(n * len(self.grades)))  # after all shuffles
        rng, sides = np.random.default_rng(seed), np.empty((n, len(self.grades)), bool)
        pairs = bool((self.sizes == 2).all())
        starts, text = self.starts, self.text
        ranks = self._ranks() if by_annotator else self.annotators
        for side in sides:
            if by_annotator:
                keys = rng.random(int(ranks.max()) + 1)[ranks]
                coin = np.full(len(self.sizes), bool(coins.integers(0, 2)))
            else:
                keys, coin = rng.random(len(self.grades)), coins.integers(0, 2, len(self.sizes)).astype(bool)
            if pairs:  # the same as below, faster
                side[::2] = (keys[::2] > keys[1::2]) ^ coin
                side[1::2] = ~side[::2]
                continue
            place = np.arange(len(keys)) - np.repeat(starts, self.sizes)
            side[np.lexsort((keys, text))] = (place % 2).astype(bool) ^ np.repeat(coin, self.sizes)
        return Splits(self, sides)

    def _ranks(self) -> NDArray[np.int64]:
        """int64[r], rank of the annotator of each rating, by texts and grades: neither names nor constants matter."""
        keys, every = [], np.unique(self.annotators, return_inverse=True)[1].astype(np.int32)
        for ratings in rows_by(every):
            apart = np.round(self.grades[ratings] - self.grades[ratings[0]], DECIMALS) + 0.0
            keys.append((self.text[ratings].tolist(), apart.tolist()))
        ranks = np.empty(len(keys), np.int64)
        ranks[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
        return ranks[every]

    def pairs_of_annotators(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Pearson correlation of each pair over the texts that both rated, and the number of these texts."""
        text, every = self.text, np.arange(len(self.grades))
        apart = range(1, int(self.sizes.max()))
        rows = [every[:-step][text[:-step] == text[step:]] for step in apart]
        first = np.concatenate(rows)
        second = first + np.repeat(apart, list(map(len, rows)))
        pair = self.annotators[first].astype(np.int64) * 2**32 + self.annotators[second]
        order = np.argsort(pair, kind="stable")
        starts = starts_of(pair[order])
        shared = np.diff([*starts, len(order)])
        found = pearson(self.grades[first[order], None], self.grades[second[order]], starts)[:, 0]
        counts = (shared >= SHARED) & ~np.isnan(found)
        return found[counts], shared[counts]

    def pairs_of_ratings(self, orders: Iterable[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Pearson correlation of the first and the second rating of each text, one per order."""
        start = np.zeros(1, np.int64)
        found = np.concatenate(
            [pearson(order[self.starts, None], order[self.starts + 1], start)[0] for order in orders]
        )
        return np.asarray(found[~np.isnan(found)], np.float64)

    def why_undefined(self, by: By) -> str:
        """Reason why ratings have no correlation with ratings, in words."""
        if len(self.sizes) < 2:
            return "only one text has two ratings"
        if by == "system" and len(np.unique(self.system)) < 2:
            return "only one system"
        if by == "item" and np.bincount(self.item).max() < 2:
            return "no item has two texts with two ratings"
        if by == "within-system" and np.bincount(self.system).max() < 2:
            return "no system has two texts with two ratings"
        if self.item[-1] < 1:
            return "only one item, so there is no interval over items"
        return "the grades of one side are all the same"


@dataclass(frozen=True, slots=True, eq=False)
class Splits:
    """Random splits of the ratings of texts into two groups; made by `MultipleRatings.splits`.

    Args:
        rated: The t texts and their r ratings.
        sides: bool[splits, r], True in the first group.
    """

    rated: MultipleRatings
    sides: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.sides)

    def first(self, n: int) -> Splits:
        """The first n splits."""
        return Splits(self.rated, self.sides[:n])

    def __iter__(self) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Mean ratings of the first and of the second group, float64[t] twice, for each split."""
        grades, pairs = self.rated.grades, bool((self.rated.sizes == 2).all())
        for side in self.sides:
            if pairs:  # the same as below, faster
                first, second = grades[::2], grades[1::2]
                yield np.where(side[::2], first, second), np.where(side[::2], second, first)
            else:
                yield self._means(side), self._means(~side)

    def _means(self, group: NDArray[np.bool_]) -> NDArray[np.float64]:
        grades, starts = self.rated.grades, self.rated.starts
        total, size = (np.add.reduceat(each * group, starts) for each in (grades, np.abs(grades)))
        return np.asarray(without_noise(total, size) / np.add.reduceat(group.astype(np.int64), starts), np.float64)
