"""Inter-annotator agreement: percent and adjacent agreement, kappas, Scott's pi, Krippendorff's alphas.

All follow from the pairs of ratings of one text, and from contingency tables of the labels of two annotators.
"""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.data.explain import shown
from postil.data.parts import Excluded
from postil.data.row_locations import LocatedRows, located
from postil.errors import Undefined
from postil.messages import Message
from postil.meta.column_correlations import ratio, starts_of
from postil.meta.parts import STATISTICS, Agreement, PairAgreement, Rater, few_items_remark
from postil.meta.resampling import DRAWS, NUMBERS, Counts, Draws, estimate, in_blocks, sums_by_item
from postil.meta.table import Judged, Key, Ratings, Table, excluded_texts, repeated_texts
from postil.results.base import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from postil.data.grades import Scale
    from postil.data.rows import Judgement

__all__ = ["FEWEST", "Tables", "agreement", "agreement_of_table"]

EMPTY: Final = 16
"""Number of products with zero that cost as much as to find a pair of ratings that counts."""

MOST_LABELS: Final = 100
"""Largest number of distinct ratings that are treated as labels; more of them are put into bins for kappas."""

BINS: Final = 10
"""Number of bins of equal width on the scale; a rating between two bins is in the upper one."""

FEWEST: Final = 10
"""Smallest number of texts with two ratings whose agreement beyond chance is shown.

Scott's pi with quadratic weights of two annotators who draw one of five grades at random is within .61 of 0 in 95 % of
cases with 10 texts, within .83 with 5. With one text no coefficient depends on the grades, if they differ: pi is -1.
"""

ENOUGH: Final = 20
"""Smallest mean number of texts shared by two annotators for which the mean of their kappas has an interval.

A resample that draws a text twice has fewer distinct ones, and kappas of few texts are biased downwards: the interval
would lie below the value.
"""

_NUMBERED: Final = (
    "the annotators of every text are numbered from 1, by position, so nobody can be told apart; it needs their names"
)

_PERHAPS_NUMBERED: Final = (
    "the annotators of every text are numbered from 1: if these are positions and not people, there is no Cohen's "
    "kappa and no bias of an annotator; Scott's pi and Krippendorff's alpha need no names"
)


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


def agreement(
    judgements: Iterable[Judgement],
    *,
    aspect: str | None = None,
    scale: Scale | None = None,
    labels: Sequence[float] | None = None,
    draws: Draws = DRAWS,
    numbered: bool = False,
    fewest: int = 1,
) -> Agreement:
    """Agreement statistics of all ratings, of each pair of annotators and of each annotator.

    A text is an item and a system. Cohen's kappa is ``1 - observed / expected disagreement`` of two annotators, with
    disagreement ``x != y``, ``|x - y|`` (linear) or ``(x - y)^2`` (quadratic) of the ratings themselves, not of their
    ranks. For many annotators there are two generalizations, see `STATISTICS`. Krippendorff's alpha (2011, "Computing
    Krippendorff's Alpha-Reliability") takes any number of ratings of a text. All are 1 for perfect agreement and 0 for
    chance. Intervals are 95 % percentile bootstrap confidence intervals over items. Several ratings of one text by one
    annotator count as one, their mean.

    Kappas need labels: where there are more than `MOST_LABELS` distinct ratings, they are of `BINS` bins of equal width
    from the lowest to the highest grade of the scale. Alphas are of the ratings themselves.

    Where the annotators of every text are numbered from 1, the numbers may be positions, which stand for nobody in
    particular: then there is no Cohen's kappa, no pair and no single annotator. Of texts with unequal numbers of
    ratings they are taken to be positions; where all texts have equally many, a note asks.

    Args:
        judgements: The ratings.
        aspect: The aspect to keep, where judgements have more than one.
        scale: Scale of the ratings; by default from the lowest to the highest one.
        labels: The ratings that can be given; by default those that occur. A mean of several ratings is added to them.
        draws: Random draws.
        numbered: True if numbers of annotators are positions, even where all texts have equally many ratings.
        fewest: Smallest number of texts with two ratings for which there are kappas and alphas; results that are shown
            have `FEWEST`.

    Raises:
        InvalidInput: A grade is not on the scale or not a label, or there are several aspects and none was chosen.
        UnknownName: There is no such aspect.
        Undefined: There is one annotator, or no text has ratings by two.

    >>> from postil.data.rows import Judgement
    >>> grades = {"ann": [1, 2, 3, 3], "bob": [1, 2, 3, 2]}
    >>> found = agreement(Judgement(i, "a", who, grade) for who in grades for i, grade in enumerate(grades[who]))
    >>> found.estimates["agreement"].value, round(found.estimates["kappa-quadratic-pairs"].value, 4)
    (0.75, 0.8)
    >>> found.confusion
    ((2, 0, 0), (0, 2, 1), (0, 1, 2))
    >>> [(rater.name, rater.severity.value) for rater in found.raters]
    [('ann', 0.25), ('bob', -0.25)]
    """
    judgements = located(judgements, "judgements")
    judged = Judged(LocatedRows(_labelled(judgements, aspect, labels), judgements.places), aspect, scale)
    keys = sorted(judged.rows)
    item = np.unique([name for name, _ in keys], return_inverse=True)[1]
    ratings = judged.of(keys)
    found = _of_ratings(ratings, item, keys.__getitem__, list(judged.repeated), labels, scale, draws, fewest)
    found = _unless_numbered(found, ratings, always=numbered)
    if fewest == 1:  # nobody is shown it
        return found
    few = few_items_remark(len(np.unique(item[ratings.counts > 1])))
    return replace(found, notes=(*few, *found.notes))


def agreement_of_table(table: Table, draws: Draws = DRAWS, *, fewest: int = 1) -> Agreement:
    """Agreement statistics of the ratings of a table; see `agreement`.

    Args:
        table: A table of n texts.
        draws: Random draws.
        fewest: Smallest number of texts with two ratings for which there are kappas and alphas.

    Raises:
        Undefined: There is one annotator, or no text has ratings by two.

    >>> from postil.meta.table import join
    >>> from postil.data.rows import Judgement, Score
    >>> grades = [Judgement(str(i), "a", who, i) for i in range(4) for who in ("ann", "bob")]
    >>> table = join([Score(str(i), "a", "bleu-4", 0.5, "") for i in range(3)], grades)
    >>> agreement_of_table(table).texts, agreement_of_table(table).estimates["agreement"].value
    (3, 1.0)
    """
    item, system = _places(table.items)[table.item], _places(table.systems)[table.system]
    order = np.lexsort((system, item))
    repeated = [table.key(text) for text in table.repeated.tolist()]
    ratings = table.ratings.of(order)
    found = _of_ratings(
        ratings, item[order], lambda text: table.key(order[text]), repeated, None, table.scale, draws, fewest
    )
    return _unless_numbered(found, ratings)


def _places(names: Sequence[str]) -> NDArray[np.int64]:
    """Place of each name in the order of the names."""
    return np.argsort(sorted(range(len(names)), key=names.__getitem__))


def _of_ratings(  # noqa: PLR0917 - the ratings, what names them, what is asked
    ratings: Ratings,
    of_text: NDArray[np.int64],
    key: Callable[[int], Key],
    repeated: Sequence[Key],
    labels: Sequence[float] | None,
    scale: Scale | None,
    draws: Draws,
    fewest: int,
) -> Agreement:
    """Agreement statistics of the ratings of n texts, in the order of items and systems by name.

    Args:
        ratings: The ratings.
        of_text: int64[n], the item of each text, ascending.
        key: Function from a text to its item and system.
        repeated: The texts that an annotator rated more than once.
        labels: The ratings that can be given.
        scale: Scale of the ratings, where it is known.
        draws: Random draws.
        fewest: Smallest number of texts with two ratings for which there are kappas and alphas.
    """
    if len(ratings.names) < 2:
        raise Undefined("agreement needs two annotators, and all grades are by {name}", name=ratings.names[0])
    several = ratings.counts > 1
    if not several.any():
        raise Undefined("agreement needs texts with the grades of two annotators, and every text has those of one")
    item = np.full(len(of_text), -1)
    item[several] = np.unique(of_text[several], return_inverse=True)[1]
    items = int(item.max()) + 1
    counts = draws.counts(items)
    values = np.unique(np.concatenate([ratings.grades, np.array([] if labels is None else labels, np.float64)]))
    few = len(values) <= MOST_LABELS
    pairs = RatingPairs(ratings, item, values)
    kinds = _Kinds(pairs, ()) if few else _Kinds.binned(ratings, item, values, scale)
    samples = _statistics(pairs, kinds.pairs, counts)
    absent = {name: _why_undefined(name, kinds.name(kinds.pairs.labels[0, 0])) for name in STATISTICS}
    absent = {name: why for name, why in absent.items() if np.isnan(samples[name][0])}
    of_annotators = tuple(_pairs(pairs, kinds))
    notes = tuple(_notes(pairs.shared, of_annotators, fewest))
    if (n := int(several.sum())) < fewest:
        why = Message(
            "too few texts with two grades to tell agreement from chance: {n}, and it takes {fewest}",
            n=n,
            fewest=fewest,
        )
        absent, notes = {name: why for name in STATISTICS if name.startswith(("kappa", "alpha"))}, ()
    return Agreement(
        texts=len(of_text),
        ratings=len(ratings.grades),
        labels=tuple(values.tolist()),
        bins=kinds.edges,
        estimates={name: estimate(samples[name], items) for name in STATISTICS if name not in absent},
        absent=absent,
        confusion=tuple(map(tuple, pairs.confusion().tolist())) if few else None,
        pairs=tuple(_unless_few(pair, fewest) for pair in of_annotators),
        raters=tuple(raters(ratings, item, values, counts, few=few)),
        left_out=(
            *excluded_texts(
                Message("graded by one annotator only, so in no pair"),
                list(map(key, np.flatnonzero(~several).tolist())),
            ),
            *repeated_texts(repeated),
        ),
        notes=(*kinds.notes(len(values)), *notes),
    )


@dataclasses.dataclass(frozen=True, slots=True)
class _Kinds:
    """Pairs of ratings as labels, for kappas: bins of the ratings with these edges, or without any the ratings."""

    pairs: RatingPairs
    edges: tuple[float, ...]

    @classmethod
    def binned(
        cls, ratings: Ratings, item: NDArray[np.int64], values: NDArray[np.float64], scale: Scale | None
    ) -> _Kinds:
        """Bins of equal width."""
        low, high = (scale.low, scale.high) if scale else (float(values[0]), float(values[-1]))
        edges = np.linspace(low, high, BINS + 1)
        places = np.floor((ratings.grades - low) / (high - low) * BINS + 1e-9).astype(np.int64)  # edges are inexact
        middles = (edges[:-1] + edges[1:]) / 2
        binned = dataclasses.replace(ratings, grades=middles[np.minimum(places, BINS - 1)])
        return cls(RatingPairs(binned, item, middles), tuple(edges.tolist()))

    def name(self, label: int) -> str:
        """Name of a label: the rating, or the ends of the bin."""
        if not self.edges:
            return shown(float(self.pairs.values[label]))
        low, high = (f"{edge:g}" for edge in self.edges[label : label + 2])
        return Message("{low} to {high}", low=low, high=high)

    def notes(self, distinct: int) -> Iterator[str]:
        """Note on the bins."""
        if self.edges:
            yield Message(
                "there are {distinct:,} distinct grades, so kappas and Scott's pi are of {n} bins of equal width from "
                "{low:g} to {high:g}; Krippendorff's alphas are of the grades themselves",
                distinct=distinct,
                n=BINS,
                low=self.edges[0],
                high=self.edges[-1],
            )


def _unless_few(pair: PairAgreement, fewest: int) -> PairAgreement:
    """Agreement of two annotators, without kappas where they share too few texts."""
    if pair.reason or pair.n >= fewest:
        return pair
    why = Message(
        "too few shared texts to tell agreement from chance: {n}, and it takes {fewest}", n=pair.n, fewest=fewest
    )
    return replace(pair, unweighted=None, linear=None, quadratic=None, reason=why)


def _unless_numbered(found: Agreement, ratings: Ratings, *, always: bool = False) -> Agreement:
    """The agreement without what needs people, where the annotators are positions; else with a note if they may be."""
    if not ratings.numbered:
        return found
    if not always and not ratings.positions:
        return replace(found, notes=(*found.notes, _PERHAPS_NUMBERED))
    lost = [name for name in STATISTICS if name.startswith("kappa-") and name.endswith("-pairs")]
    return replace(
        found,
        estimates={name: value for name, value in found.estimates.items() if name not in lost},
        absent={**found.absent, **dict.fromkeys(lost, _NUMBERED)},
        pairs=(),
        raters=(),
        notes=(),
    )


def _labelled(
    judgements: LocatedRows[Judgement], aspect: str | None, labels: Sequence[float] | None
) -> Iterator[Judgement]:
    """Yield the judgements; raise InvalidInput for a rating that is not a label."""
    known = None if labels is None else set(labels)
    for place, row in enumerate(judgements):
        if known is not None and aspect in (None, row.aspect) and row.grade not in known:
            raise judgements.places.error(
                place,
                "grade",
                f"expected one of the labels {', '.join(map(shown, sorted(known)))}, got {shown(row.grade)}",
            )
        yield row


def _notes(shared: float, pairs: Sequence[PairAgreement], fewest: int) -> Iterator[str]:
    """Notes on the kappas that are means over pairs."""
    without = [Message("{first} and {second}", first=pair.first, second=pair.second) for pair in pairs if pair.reason]
    if without:
        yield Excluded.of(Message("no kappa, so not in the mean over pairs"), without).message
    if shared < ENOUGH:
        yield Message(
            "two annotators share {shared:.1f} texts on average; kappas of fewer than {n} are pulled towards 0, and "
            "their mean over pairs is given without an interval: read the pooled ones",
            shared=shared,
            n=ENOUGH,
        )
    if few := sum(pair.n < fewest for pair in pairs):
        yield Message(
            "{few} of {pairs} pairs of annotators have no kappas of their own: they share fewer than {fewest} texts",
            few=few,
            pairs=len(pairs),
            fewest=fewest,
        )


def _why_undefined(name: str, label: str) -> str:
    """Reason why a statistic of all ratings is undefined."""
    if name.endswith("pairs"):
        return Message("every two annotators gave only one label to the texts that they share")
    return Message("all texts with two grades or more have only the label {label}", label=label)


def _statistics(pairs: RatingPairs, kinds: RatingPairs, counts: Counts) -> dict[str, NDArray[np.float64]]:
    """Every statistic of all items and for each row of multiplicities, or the former alone; NaN where undefined."""
    pooled, per_rating, items = pairs.pooled(), np.tile(1 / pairs.others, 2), counts.shape[1]
    # Krippendorff weighs each pair by 1 / (ratings of its text - 1), so that each rating counts once.
    counted = pooled.counter(items)
    weighed = counted if (per_rating == 1).all() else pooled.counter(items, per_rating)
    of_kinds = pooled if kinds is pairs else kinds.pooled()
    counted_kinds = counted if kinds is pairs else of_kinds.counter(items)

    def of_all(block: NDArray[np.int32]) -> dict[str, NDArray[np.float64]]:
        cells = counted(block)
        kappas = of_kinds.kappas(cells if kinds is pairs else counted_kinds(block))
        alphas = pooled.alphas(weighed(block))
        return {
            "agreement": pooled.share(cells, 0.0)[:, 0],
            "within-1": pooled.share(cells, 1.0)[:, 0],
            **{f"kappa-{kind}-pooled": kappa[:, 0] for kind, kappa in kappas.items()},
            **{f"alpha-{level}": alpha for level, alpha in alphas.items()},
        }

    samples = in_blocks(of_all, counts, 2 * len(pairs.item))
    of_enough = counts if kinds.shared >= ENOUGH else counts[:0]
    parts = [_kappas(part, of_enough) for part in kinds.tables.parts(items)]
    for kind in parts[0]:
        total, n = np.sum([part[kind] for part in parts], axis=0).T
        samples[f"kappa-{kind}-pairs"] = ratio(total, n)
    return samples


def _kappas(tables: Tables, counts: Counts) -> dict[str, NDArray[np.float64]]:
    """float64[1 + R, 2] by weighting: the sum of kappas by the pairs in their table, and that of these pairs."""
    counted = tables.counter(counts.shape[1])

    def sums(block: NDArray[np.int32]) -> dict[str, NDArray[np.float64]]:
        cells = counted(block)
        n, found = tables.sizes(cells), {}
        for kind, kappa in tables.kappas(cells).items():
            there = ~np.isnan(kappa)
            found[kind] = np.stack([(np.where(there, kappa, 0) * n).sum(axis=-1), (there * n).sum(axis=-1)], axis=1)
        return found

    return in_blocks(sums, counts, tables.width(counts.shape[1]))


def _pairs(pairs: RatingPairs, kinds: _Kinds) -> Iterator[PairAgreement]:
    """Agreement of every two annotators who share a text."""
    tables, labelled = pairs.tables, kinds.pairs.tables
    items = int(pairs.item.max()) + 1
    once = np.ones((1, items), np.int32)
    cells = tables.counter(items)(once)
    shared, equal = tables.sizes(cells)[0], tables.share(cells, 0.0)[0]
    kappas = {kind: kappa[0] for kind, kappa in labelled.kappas(labelled.counter(items)(once)).items()}
    label = labelled.first[starts_of(labelled.group)]
    for number, code in enumerate(pairs.codes.tolist()):
        first, second = (pairs.names[i] for i in divmod(code, len(pairs.names)))
        reason = ""
        if np.isnan(kappas["unweighted"][number]):
            name = kinds.name(label[number])
            reason = Message("{first} and {second} gave only the label {label}", first=first, second=second, label=name)
        of_pair = {kind: None if reason else float(kappa[number]) for kind, kappa in kappas.items()}
        yield PairAgreement(
            first=first,
            second=second,
            n=round(shared[number]),
            agreement=float(equal[number]),
            unweighted=of_pair["unweighted"],
            linear=of_pair["linear"],
            quadratic=of_pair["quadratic"],
            reason=reason,
        )


def raters(
    ratings: Ratings, item: NDArray[np.int64], values: NDArray[np.float64], counts: Counts, *, few: bool
) -> Iterator[Rater]:
    """Statistics of every annotator, in the order of their names.

    Args:
        ratings: The ratings of n texts, some of which have several.
        item: int64[n], the item of each text that has several ratings.
        values: float64[k], distinct ratings, ascending.
        counts: Integers[R, items], resample multiplicities.
        few: True if ratings are labels.
    """
    who, label = ratings.annotators, np.searchsorted(values, ratings.grades)
    text = np.repeat(np.arange(len(item)), ratings.counts)
    total = np.add.reduceat(ratings.grades, ratings.offsets[:-1])[text]
    several = np.flatnonzero(ratings.counts[text] > 1)
    several = several[np.argsort(who[several], kind="stable")]
    difference = ratings.grades[several] - (total - ratings.grades)[several] / (ratings.counts[text][several] - 1)
    starts, of_rating = starts_of(who[several]), item[text[several]]
    group = np.repeat(np.arange(len(starts)), np.diff([*starts, len(several)]))
    total_of = sums_by_item(of_rating, group, difference, counts.shape[1])
    number_of = sums_by_item(of_rating, group, np.ones(len(several)), counts.shape[1])

    def severity(block: NDArray[np.int32]) -> dict[str, NDArray[np.float64]]:
        return {"severity": ratio(total_of(block), number_of(block))}

    severities = in_blocks(severity, counts, len(several))["severity"]
    column = {int(number): at for at, number in enumerate(who[several[starts]])}
    shared = np.unique(who[several].astype(np.int64) * counts.shape[1] + of_rating)  # of annotators and items
    items = np.bincount(shared // counts.shape[1], minlength=len(ratings.names))
    for number, name in enumerate(ratings.names):
        mine = who == number
        histogram = np.bincount(label[mine], minlength=len(values))
        given = np.flatnonzero(histogram)
        yield Rater(
            name=name,
            n=int(mine.sum()),
            mean=float(ratings.grades[mine].mean()),
            severity=estimate(severities[:, column[number]], int(items[number])) if number in column else None,
            histogram=tuple(histogram.tolist()) if few else None,
            note=Message("gave only the label {label}", label=shown(float(values[given[0]])))
            if len(given) == 1
            else "",
        )
