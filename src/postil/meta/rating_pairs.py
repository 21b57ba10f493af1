"""Pairs of ratings of one text, and contingency tables of their labels, from which kappas and alphas follow."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.meta.column_correlations import ratio, starts_of
from postil.meta.resampled_rows import NUMBERS, sums_by_item

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from postil.meta.score_matrix import Ratings

__all__ = ["RatingPairs", "Tables"]

EMPTY: Final = 16
"""Number of products with zero that cost as much as to find a pair of ratings that counts."""


class RatingPairs:
    """Pairs of ratings of one text, the annotators in the order of their names.

    Args:
        ratings: The ratings of n texts.
        item: int64[n], the item of each text.
        values: float64[k], distinct ratings, ascending.

    Attributes:
        values: float64[k], distinct ratings.
        names: The annotators.
        labels: int64[2, p], label ids of the two ratings.
        item: int64[p], the item of the text.
        others: int64[p], number of other ratings of the text for each of its ratings.
        codes: int64[g], pairs of annotators who share a text, as ``first * annotators + second``.
        shared: Mean number of texts that a pair shares.
        tables: One table per pair.
    """

    def __init__(self, ratings: Ratings, item: NDArray[np.int64], values: NDArray[np.float64]) -> None:
        text, pair = [], []
        for size in np.unique(ratings.counts[ratings.counts > 1]):
            texts = np.flatnonzero(ratings.counts == size)
            within = np.stack(np.triu_indices(size, 1))
            text.append(np.repeat(texts, within.shape[1]))
            pair.append((ratings.offsets[texts][:, None] + within[:, None, :]).reshape(2, -1))
        of_text, both = np.concatenate(text), np.concatenate(pair, axis=1)
        self.values, self.names = values, ratings.names
        first, second = ratings.annotators[both].astype(np.int64)
        self.labels = np.searchsorted(values, ratings.grades[both])
        self.item = item[of_text]
        self.others = ratings.counts[of_text] - 1
        self.codes, group = np.unique(first * len(self.names) + second, return_inverse=True)
        self.shared = len(group) / len(self.codes)
        self.tables = Tables(self.labels, group, self.item, values)

    def pooled(self) -> Tables:
        """One table of all pairs, each in both orders."""
        both = np.concatenate([self.labels, self.labels[::-1]], axis=1)
        return Tables(both, np.zeros(both.shape[1], np.int64), np.tile(self.item, 2), self.values)

    def confusion(self) -> NDArray[np.int64]:
        """int64[k, k], number of pairs by label, each pair in both orders."""
        size = len(self.values)
        cells = np.bincount(self.labels[0] * size + self.labels[1], minlength=size**2).reshape(size, size)
        return cells + cells.T


class Tables:
    """Contingency tables of the labels of two ratings, one per group of rating pairs, for any item multiplicities.

    Only the cells that occur are kept, sorted by group, first and second label.

    Args:
        labels: int64[2, p], label ids of the two ratings.
        group: int64[p], the table that each pair belongs to, from 0.
        item: int64[p], item of each pair.
        values: float64[k], ratings that the label ids stand for.
    """

    def __init__(
        self, labels: NDArray[np.int64], group: NDArray[np.int64], item: NDArray[np.int64], values: NDArray[np.float64]
    ) -> None:
        order = np.lexsort((labels[1], labels[0], group))
        self._order, self._item = order, item[order]
        self._cells = starts_of(group[order], *labels[:, order])
        at = order[self._cells]
        self.group, self.first, self.second = group[at], labels[0, at], labels[1, at]
        self._groups = starts_of(self.group)
        self._values = values
        self._positions = (values - values[0]) / (values[-1] - values[0] if len(values) > 1 else 1)  # from 0 to 1
        # Empty rows and columns add nothing to the expected disagreement.
        self._rows = starts_of(self.group, self.first)
        self._across = np.lexsort((self.second, self.group))
        self._columns = starts_of(self.group[self._across], self.second[self._across])

    @cached_property
    def crossing(self) -> NDArray[np.int64]:
        """int64[2, x], every row with every column of the same table."""
        rows_of, columns_of = self.group[self._rows], self.group[self._across][self._columns]
        width = np.bincount(columns_of)
        row = np.repeat(np.arange(len(rows_of)), width[rows_of])
        first_column, first_crossing = (np.cumsum(size) - size for size in (width, width[rows_of]))
        return np.stack([row, np.arange(len(row)) + (first_column[rows_of] - first_crossing)[row]])

    def parts(self, items: int) -> Iterator[Tables]:
        """Split into tables whose pairs per item and cell fit into memory, unless nearly all of them are 0."""
        groups, pairs = len(self._groups), len(self._item)
        if not NUMBERS < items * len(self._cells) <= EMPTY * pairs:
            yield self
            return
        of_group, of_cell = np.append(self._groups, len(self._cells)), np.append(self._cells, pairs)
        step = max(1, NUMBERS // (items * int(np.diff(of_group).max())))
        for begin in range(0, groups, step):
            low, high = of_group[begin], of_group[min(begin + step, groups)]
            cell = np.repeat(np.arange(low, high), np.diff(of_cell[low : high + 1]))
            labels = np.stack([self.first[cell], self.second[cell]])
            yield Tables(labels, self.group[cell] - begin, self._item[of_cell[low] : of_cell[high]], self._values)

    def width(self, items: int) -> int:
        """Number of values that `counter` and `kappas` work on for each row of multiplicities."""
        summed = items if items * len(self._cells) <= NUMBERS else len(self._item)
        return max(summed, int(self.crossing.shape[1]))

    def counter(
        self, items: int, weights: NDArray[np.float64] | None = None
    ) -> Callable[[NDArray[np.int32]], NDArray[np.float64]]:
        """Function from int32[b, items] to float64[b, cells], number of pairs per cell, or the sum of their weights."""
        weight = np.ones(len(self._item)) if weights is None else weights[self._order]
        cell = np.repeat(np.arange(len(self._cells)), np.diff([*self._cells, len(self._item)]))
        return sums_by_item(self._item, cell, weight, items)

    def sizes(self, cells: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[counts, groups], number of pairs per table."""
        return np.add.reduceat(cells, self._groups, axis=1)

    def share(self, cells: NDArray[np.float64], apart: float) -> NDArray[np.float64]:
        """float64[counts, groups], share of pairs at most `apart` apart; NaN where a table is empty."""
        near = np.abs(self._values[self.first] - self._values[self.second]) <= apart + 1e-9
        return ratio(self.sizes(cells * near), self.sizes(cells))

    def kappas(self, cells: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """float64[counts, groups] by weighting, kappa of each table; NaN where all ratings have one label."""
        row, column = self.crossing
        of_row, of_column = self.first[self._rows][row], self.second[self._across][self._columns][column]
        observed = _distances(self._positions[self.first] - self._positions[self.second])
        expected = _distances(self._positions[of_row] - self._positions[of_column])
        starts = starts_of(self.group[self._rows][row])
        n = self.sizes(cells)
        rows = np.add.reduceat(cells, self._rows, axis=1)[:, row]
        columns = np.add.reduceat(cells[:, self._across], self._columns, axis=1)[:, column]
        kappas = {}
        for kind, distance in observed.items():
            by_chance = np.add.reduceat(rows * columns * expected[kind], starts, axis=1)
            kappas[kind] = 1 - ratio(n * self.sizes(cells * distance), by_chance)
        return kappas

    def alphas(self, cells: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """float64[counts] by level, Krippendorff's alpha of a single symmetric table; NaN where there is one label.

        ``1 - (n - 1) sum of o_ck d_ck / sum of n_c n_k d_ck`` over cells o and margins n. The ordinal distance d is
        the squared difference of the labels' middle ranks, so it and the interval one differ in positions only.
        """
        margins = np.add.reduceat(cells, self._rows, axis=1)
        labels = self.first[self._rows]
        first, second = np.searchsorted(labels, self.first), np.searchsorted(labels, self.second)
        n = margins.sum(axis=1)
        several = np.count_nonzero(margins, axis=1) > 1

        def alpha(observed: NDArray[np.float64], expected: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.asarray(1 - (n - 1) * ratio(observed, np.where(several, expected, 0)))

        def by_place(place: NDArray[np.float64]) -> NDArray[np.float64]:
            place = place - (margins * place).sum(axis=1, keepdims=True) / n[:, None]
            observed = (cells * (place[:, first] - place[:, second]) ** 2).sum(axis=1)
            return alpha(observed, 2 * n * (margins * place**2).sum(axis=1))

        return {
            "nominal": alpha((cells * (first != second)).sum(axis=1), n**2 - (margins**2).sum(axis=1)),
            "ordinal": by_place(np.cumsum(margins, axis=1) - margins / 2),
            "interval": by_place(np.tile(self._positions[labels], (len(cells), 1))),
        }


def _distances(difference: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    return {"unweighted": (difference != 0) * 1.0, "linear": np.abs(difference), "quadratic": difference**2}
