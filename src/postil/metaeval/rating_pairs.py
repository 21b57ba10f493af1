"""Every two ratings of one text, and the tables of their labels that kappas and alphas are of."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from postil.metaeval.coefficients import ratio, starts_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.metaeval.score_matrix import Ratings

__all__ = ["RatingPairs", "Tables"]


class RatingPairs:
    """Every two ratings of one text, the annotators in the order of their names.

    Args:
        ratings: The ratings of n texts.
        item: int64[n], the item of each text.
        values: float64[k], the distinct grades, rising.

    Attributes:
        values: float64[k], the distinct grades.
        names: The annotators.
        labels: int64[2, p], the numbers of the two grades.
        item: int64[p], the item of the text.
        others: int64[p], how many other ratings each rating of the text has.
        codes: int64[g], every two annotators who share a text, as ``first * annotators + second``.
        shared: How many texts they share on average.
        tables: A table for each of them.
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
        """How often one label meets another, each pair in both orders: int64[k, k]."""
        size = len(self.values)
        cells = np.bincount(self.labels[0] * size + self.labels[1], minlength=size**2).reshape(size, size)
        return cells + cells.T


class Tables:
    """Tables of the labels of two ratings, one a group of rating pairs, added up for any number of copies of each item.

    Only the cells that occur are kept, sorted by group, first and second label.

    Args:
        labels: int64[2, p], the numbers of the two labels.
        group: int64[p], the table that each pair belongs to, from 0.
        item: int64[p], its item.
        values: float64[k], the grades that the labels stand for.
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
        # The rows and columns of each table that are not empty.
        self._rows = starts_of(self.group, self.first)
        self._across = np.lexsort((self.second, self.group))
        self._columns = starts_of(self.group[self._across], self.second[self._across])

    @cached_property
    def crossing(self) -> NDArray[np.int64]:
        """Every row with every column of the same table: int64[2, x], the numbers of both."""
        rows_of, columns_of = self.group[self._rows], self.group[self._across][self._columns]
        width = np.bincount(columns_of)
        row = np.repeat(np.arange(len(rows_of)), width[rows_of])
        first_column, first_crossing = (np.cumsum(size) - size for size in (width, width[rows_of]))
        return np.stack([row, np.arange(len(row)) + (first_column[rows_of] - first_crossing)[row]])

    def cells(self, copies: NDArray[np.int32], weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """How many pairs are in each cell, or the sum of their weights: float64[copies, cells]."""
        counted = copies[:, self._item] * (1.0 if weights is None else weights[self._order])
        return np.add.reduceat(counted, self._cells, axis=1)

    def sizes(self, cells: NDArray[np.float64]) -> NDArray[np.float64]:
        """How many pairs each table has: float64[copies, groups]."""
        return np.add.reduceat(cells, self._groups, axis=1)

    def share(self, cells: NDArray[np.float64], apart: float) -> NDArray[np.float64]:
        """The share of pairs with grades at most so far apart: float64[copies, groups], NaN where a table is empty."""
        near = np.abs(self._values[self.first] - self._values[self.second]) <= apart + 1e-9
        return ratio(self.sizes(cells * near), self.sizes(cells))

    def kappas(self, cells: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Each of Cohen's kappas of each table: float64[copies, groups], NaN where both have one and the same label."""
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
        """Each of Krippendorff's alphas of a single symmetric table: float64[copies], NaN where there is one label.

        ``1 - (n - 1) sum of o_ck d_ck / sum of n_c n_k d_ck`` over cells o and margins n. The ordinal distance d is
        that of the labels' middle ranks, squared, so it and the interval one differ in the labels' places only.
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
