"""Reliability of human ratings: variance components, means of any number of raters, human reference points."""

from __future__ import annotations

import math
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from postil.data.ranking import difference, without_noise
from postil.errors import Undefined, UsageError
from postil.meta.coefficient_kinds import kind_of
from postil.meta.coefficients import TABLE, By, Measure
from postil.meta.column_correlations import Texts, pearson, ratio, rows_by, starts_of
from postil.meta.correlation import Correlations, row_of
from postil.meta.parts import (
    CEILING,
    HALVES,
    ONE,
    AnnotatorCorrelation,
    Correlation,
    HumanAgreement,
    RaterCount,
    RaterLevel,
    RaterVariance,
    UndefinedResult,
    VarianceComponent,
)
from postil.meta.resampling import DRAWS, Counts, Draws, Interval, bootstrap_counts, interval
from postil.meta.severity import severities
from postil.meta.system_accuracy import SOFT_SPLITS, fewer_patterns, why_no_accuracy
from postil.meta.text_accuracy import fewer_draws

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.kernel.arrays import Floats, Int64s
    from postil.meta.table import Ratings, Table

__all__ = [
    "GROWTH",
    "SHARED",
    "SPLITS",
    "Design",
    "MultipleRatings",
    "Shared",
    "Splits",
    "ceiling",
    "component_intervals",
    "design_of",
    "human_agreement",
    "rater_variance",
    "resampled_components",
]

GROWTH: Final = (1, 2, 3, 5, 10)
"""Numbers of raters for which reliability is given."""

BLOCK: Final = 2**22
"""Largest number of sums that are in memory at a time."""

LARGEST: Final = 1e140
"""Largest grade whose square can be summed over all pairs of grades."""

Shared: TypeAlias = tuple[str, ...]
"""Facets that two grades share, in the order of the design."""


def rater_variance(table: Table) -> RaterVariance:
    """Estimate variance components of the ratings, and the reliability of mean ratings at each level.

    The estimates are Koch's symmetric sums (1967, 1968), unbiased whichever texts and grades are missing, and those of
    the analysis of variance where none is. Coefficients are those of generalizability theory (Brennan 2001). One below
    0 is given as it is, and counts as 0 in shares and coefficients.

    The facets are item, system and rater; item and system alone where raters do not meet again, so that their part
    cannot be told from the rest; text and rater, or text alone, where every item has one text.

    Args:
        table: A table of n texts; an annotator's name tells that two grades are by one person.

    Returns:
        The components; by level g, phi and the ceiling with the k raters that a text has (harmonic mean) and with other
        numbers of raters. With the reason alone where the components cannot be told apart.

    >>> from postil.meta.table import join
    >>> from postil.data.rows import Judgement, Score
    >>> grades = [(9, 2, 5, 8), (6, 1, 3, 2), (8, 4, 6, 8), (7, 1, 2, 6), (10, 5, 6, 9), (6, 2, 4, 7)]
    >>> rows = [Judgement(item, "a", who, grades[item][who]) for item in range(6) for who in range(4)]
    >>> table = join([Score(item, "a", "m", item, "") for item in range(6)], rows)
    >>> found = rater_variance(table)  # the table of Shrout and Fleiss (1979)
    >>> [(each.component, round(each.estimate, 2)) for each in found.components]
    [('text', 2.56), ('rater', 5.24), ('residual', 1.02)]
    >>> round(found.levels[0].g, 2), round(found.levels[0].phi, 2)
    (0.91, 0.62)
    """
    try:
        found = design_of(table.ratings, table.item.astype(np.int64), table.system.astype(np.int64))
        estimates = found.estimates()
    except Undefined as why:
        return RaterVariance(design="", components=(), levels=(), reason=why.message)
    counted = {name: max(0.0, value) for name, value in estimates.items()}
    total = sum(counted.values())
    k = float(1 / np.mean(1 / table.ratings.counts))
    return RaterVariance(
        design=found.words,
        components=tuple(
            VarianceComponent(component=name, estimate=value, share=counted[name] / total if total else None)
            for name, value in estimates.items()
        ),
        levels=tuple(level.reliability(k) for level in _levels(counted, table)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """Ratings with the facets whose components can be told apart; made by `design_of`.

    Args:
        words: The design in words.
        facets: int64[r] by name, the level of each rating.
        grades: float64[r].
        sums: See `_symmetric_sums`.
        rest: ``residual`` for the component of all facets, or ``within`` for what remains below them.
    """

    words: str
    facets: Mapping[str, NDArray[np.int64]]
    grades: NDArray[np.float64]
    sums: Mapping[Shared, float]
    rest: str

    def estimates(self) -> dict[str, float]:
        """Variance components by name.

        Raises:
            Undefined: Some pairs of ratings that tell them apart do not exist.
        """
        return _components(tuple(self.facets), self.sums, self.rest)


def design_of(ratings: Ratings, item: NDArray[np.int64], system: NDArray[np.int64]) -> Design:
    """The facets whose variance components some ratings tell apart.

    Args:
        ratings: Ratings of n texts.
        item: int64[n], item of each text.
        system: int64[n], system of each text.

    Raises:
        Undefined: The ratings tell no components apart, or they are too large.
    """
    counts = ratings.counts
    if counts.max() < 2:
        raise Undefined("no text has two grades")
    if len(np.unique(item)) < 2:
        raise Undefined("there is only one item")
    if np.abs(ratings.grades).max() > LARGEST:
        raise Undefined(f"grades beyond {LARGEST:g} have no variance that can be represented")
    text = np.repeat(np.arange(len(counts)), counts)
    rater = ratings.annotators.astype(np.int64)
    if len(np.unique(item)) == len(counts):
        crossed, nested = {"text": text, "rater": rater}, {"text": text}
        words = "text x rater", "ratings within text"
    else:
        nested = {"item": item[text], "system": system[text]}
        crossed = {**nested, "rater": rater}
        words = "item x system x rater", "ratings within item x system"
    if not ratings.positions:
        sums = _symmetric_sums(crossed, ratings.grades)
        if all((*others, "rater") in sums for others in facet_subsets(tuple(nested))[:-1]):
            return Design(words[0], crossed, ratings.grades, {**sums, tuple(crossed): 0.0}, "residual")
    return Design(words[1], nested, ratings.grades, _symmetric_sums(nested, ratings.grades), "within")


def facet_subsets(facets: Shared) -> list[Shared]:
    """All subsets of some facets, from none to all.

    Args:
        facets: The facets.
    """
    return [shared for size in range(len(facets) + 1) for shared in combinations(facets, size)]


def _symmetric_sums(facets: Mapping[str, NDArray[np.int64]], grades: NDArray[np.float64]) -> dict[Shared, float]:
    """Half the mean squared difference of two grades that share exactly some facets, where there are such grades.

    Args:
        facets: int64[r] by name, the level of each grade.
        grades: float64[r].
    """
    subsets = facet_subsets(tuple(facets))
    at_least = {}
    for shared in subsets:
        group = _cells([np.zeros(len(grades), np.int64), *(facets[name] for name in shared)])
        n = np.bincount(group)
        away = difference(grades, (np.bincount(group, grades) / n)[group])
        # Over all pairs of a group, the squares of the differences sum to n times those of the deviations.
        at_least[shared] = int((n * (n - 1)).sum()), float(n @ np.bincount(group, away**2))
    found = {}
    for shared in subsets:
        more = [((-1) ** (len(each) - len(shared)), *at_least[each]) for each in subsets if {*shared} <= {*each}]
        pairs = sum(sign * n for sign, n, _ in more)
        if pairs:
            found[shared] = math.fsum(sign * squares for sign, _, squares in more) / pairs
    return found


def _components(facets: Shared, sums: Mapping[Shared, float], rest: str) -> dict[str, float]:
    """Variance components by name, of one facet, of two, and the rest.

    Two grades that share exactly some facets differ by every component with another facet in it, so that
    ``sums[()] - sums[shared]`` is the sum of the components of these facets alone.

    Args:
        facets: Facets of the design.
        sums: See `_symmetric_sums`; of all facets, 0 where no two grades share them all.
        rest: ``residual`` for the component of all facets, or ``within`` for what remains below them.
    """
    for shared in facet_subsets(facets):
        if shared not in sums:
            alone = f"no two grades share just the {' and the '.join(shared)}"
            problem = alone if shared else f"every two grades share the {' or the '.join(facets)}"
            raise Undefined(f"{problem}, so the components cannot be told apart")
    found = {}
    for component in facet_subsets(facets)[1:]:
        parts = [((-1) ** (len(component) - len(shared)), sums[shared]) for shared in facet_subsets(component)]
        value = -math.fsum(sign * each for sign, each in parts)
        name = rest if rest == "residual" and component == facets else ":".join(component)
        found[name] = float(without_noise(value, math.fsum(each for _, each in parts)))
    return found if rest == "residual" else {**found, rest: sums[facets]}


@dataclass(frozen=True, slots=True)
class _Level:
    """True and error variance of mean ratings at one level.

    Args:
        by: Level.
        of: Objects whose variance is the true one, in words.
        true: True variance.
        by_rater: Error variance of relative decisions, with one rater.
        more_by_rater: Error variance that absolute decisions add, with one rater.
        of_items: Error variance of relative decisions by the choice of the items, which more raters leave as it is. It
            is no error for what reads the same items.
        more_of_items: The same that absolute decisions add.
    """

    by: str
    of: str
    true: float
    by_rater: float
    more_by_rater: float = 0.0
    of_items: float = 0.0
    more_of_items: float = 0.0

    def mean_of(self, k: float) -> RaterCount:
        """Reliability of the mean of k raters."""
        relative = self.of_items + self.by_rater / k
        absolute = relative + self.more_of_items + self.more_by_rater / k
        seen = self.true + self.of_items
        return RaterCount(
            k=k,
            g=self.true / (self.true + relative) if self.true else None,
            phi=self.true / (self.true + absolute) if self.true else None,
            ceiling=math.sqrt(seen / (seen + self.by_rater / k)) if seen else None,
        )

    def reliability(self, k: float) -> RaterLevel:
        """Reliability with k raters, and its growth with their number."""
        now = self.mean_of(k)
        return RaterLevel(
            by=self.by,
            k=k,
            g=now.g,
            phi=now.phi,
            ceiling=now.ceiling,
            growth=tuple(self.mean_of(float(several)) for several in GROWTH),
            reason=None if self.true else f"the estimated variance between {self.of} is 0",
        )


def _levels(components: Mapping[str, float], table: Table) -> Iterator[_Level]:
    """Yield the levels at which there is a reliability.

    Args:
        components: Variance components, none below 0.
        table: The table.
    """
    of = defaultdict(float, components)
    rest = of["residual"] + of["within"]
    if "text" in components:
        yield _Level("pool", "texts", of["text"], rest, of["rater"])
        return
    n = float(1 / np.mean(1 / np.bincount(table.system)))
    within_item, error = of["system"] + of["item:system"], of["system:rater"] + rest
    yield _Level("pool", "texts", of["item"] + within_item, of["item:rater"] + error, of["rater"])
    yield _Level("item", "texts of an item", within_item, error)
    yield _Level(
        "system",
        "systems",
        of["system"],
        of["system:rater"] + rest / n,
        of["rater"] + of["item:rater"] / n,
        of["item:system"] / n,
        of["item"] / n,
    )


def component_intervals(design: Design, draws: Draws = DRAWS) -> dict[str, Interval | None]:
    """95 % percentile intervals of variance components, over resamples of the items.

    Args:
        design: The ratings, whose components exist.
        draws: Random draws of the items.

    Returns:
        An interval by component; None where no resample has a value.
    """
    return {
        name: None if np.isnan(values).all() else interval(values)
        for name, values in resampled_components(design, draws).items()
    }


def resampled_components(design: Design, draws: Draws = DRAWS) -> dict[str, Floats]:
    """Variance components of resamples of the items.

    An item that is drawn twice is two items of which no rating is compared with one of the other: they are the same
    text, so that their differences of 0 would make every component too small.

    Args:
        design: The ratings, whose components exist.
        draws: Random draws of the items.

    Returns:
        float64[R] by component; NaN where a resample does not tell it apart.
    """
    facets = tuple(design.facets)
    item = np.unique(next(iter(design.facets.values())), return_inverse=True)[1]  # the first facet is the item, or text
    drawn = bootstrap_counts(int(item.max()) + 1, draws.resamples, draws.seed).astype(np.float64)
    centered = difference(design.grades, np.full(len(item), design.grades.mean()))
    at_least = {
        shared: _pairs(item, [design.facets[name] for name in shared if name != facets[0]], centered, drawn)
        if facets[0] not in shared
        else _within_items(item, [design.facets[name] for name in shared], centered, drawn)
        for shared in facet_subsets(facets)
    }
    sums = _exactly(facets, at_least)
    if design.rest == "residual":
        sums[facets] = np.zeros(len(drawn))
    found = {}
    for component in facet_subsets(facets)[1:]:
        parts = [(-1) ** (len(component) - len(shared)) * sums[shared] for shared in facet_subsets(component)]
        name = design.rest if design.rest == "residual" and component == facets else ":".join(component)
        found[name] = without_noise(-np.sum(parts, axis=0), np.sum(np.abs(parts), axis=0))
    return found if design.rest == "residual" else {**found, design.rest: sums[facets]}


def _exactly(facets: Shared, at_least: Mapping[Shared, tuple[Floats, Floats]]) -> dict[Shared, Floats]:
    """Half the mean squared difference of two ratings that share exactly some facets, by inclusion and exclusion."""
    found = {}
    for shared in facet_subsets(facets):
        more = [
            ((-1) ** (len(each) - len(shared)), *at_least[each])
            for each in facet_subsets(facets)
            if {*shared} <= {*each}
        ]
        pairs = np.sum([sign * n for sign, n, _ in more], axis=0)
        squares = np.sum([sign * values for sign, _, values in more], axis=0)
        found[shared] = ratio(squares, np.where(pairs > 0.5, pairs, 0.0))
    return found


def _cells(groups: list[Int64s]) -> Int64s:
    """int64[r], a number for each combination of levels."""
    found = np.zeros(len(groups[0]), np.int64)
    for group in groups:
        found = np.unique(found * (group.max() + 1) + group, return_inverse=True)[1]
    return found


def _within_items(item: Int64s, groups: list[Int64s], values: Floats, drawn: Floats) -> tuple[Floats, Floats]:
    """Numbers of ordered pairs that share facets with the item among them, and half their squares, by resample."""
    cell = _cells([item, *groups])
    first = np.unique(cell, return_index=True)[1]
    n, total, squares = (np.bincount(cell, each) for each in (np.ones(len(cell)), values, values**2))
    of_item = item[first]
    pairs, half = (np.bincount(of_item, each) for each in (n * (n - 1), n * squares - total**2))
    return drawn @ pairs, drawn @ half


def _pairs(item: Int64s, groups: list[Int64s], values: Floats, drawn: Floats) -> tuple[Floats, Floats]:
    """The same where the item is not among the facets; ratings of two draws of one item make no pair."""
    group = _cells([np.zeros(len(item), np.int64), *groups])
    cell = _cells([group, item])
    first = np.unique(cell, return_index=True)[1]
    n, total, squares = (np.bincount(cell, each) for each in (np.ones(len(cell)), values, values**2))
    of_item, starts = item[first], starts_of(group[first])
    pairs, half = np.empty(len(drawn)), np.empty(len(drawn))
    step = max(1, BLOCK // len(first))
    for begin in range(0, len(drawn), step):
        times = drawn[begin : begin + step][:, of_item]
        of = [np.add.reduceat(times * each, starts, axis=1) for each in (n, total, squares)]
        pairs[begin : begin + step] = (of[0] * (of[0] - 1)).sum(axis=1)
        half[begin : begin + step] = (of[0] * of[2] - of[1] ** 2).sum(axis=1)
    copies = drawn * (drawn - 1)
    own_pairs, own_half = (np.bincount(of_item, each) for each in (n**2, n * squares - total**2))
    return pairs - copies @ own_pairs, half - copies @ own_half


SHARED: Final = 10
"""Smallest number of shared texts for two annotators to count as a pair."""
DECIMALS: Final = 9
"""Number of decimals of grades that annotators are ordered by; those behind may be noise of floats."""

SPLITS: Final = 100
"""Default number of random splits."""


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


def ceiling(reliability: float | None, k: float) -> float:
    """The reliability ceiling: an expected upper bound of the correlation of anything with the mean of k ratings.

    The square root of the reliability of that mean, ``k r / (1 + (k - 1) r)`` (Spearman 1910, Brown 1910). It bounds
    the correlation in the population; in a sample a metric can exceed it by chance.

    Args:
        reliability: r, the correlation of two single ratings of a text; None if it is undefined.
        k: Number of ratings that the mean is over.

    Raises:
        Undefined: r is undefined, or it is not above 0.

    >>> round(ceiling(0.597, 2), 3)
    0.865
    """
    if reliability is None:
        raise Undefined("two ratings of a text have no correlation, since one side's grades are all the same")
    if reliability <= 0:
        raise Undefined(f"two ratings of a text correlate {reliability:.3f}, and a ceiling needs more than 0")
    return math.sqrt(k * reliability / (1 + (k - 1) * reliability))


def human_agreement(
    table: Table,
    coefficients: Sequence[Measure] = ("pearson", "spearman", "kendall-b"),
    by: By = "pool",
    draws: Draws = DRAWS,
    *,
    as_given: bool = False,
    splits: int = SPLITS,
) -> tuple[HumanAgreement, tuple[UndefinedResult, ...]]:
    """Human reference points for the correlations of metrics, over the texts with two ratings or more.

    A constant of an annotator is no disagreement, so ratings are taken without severities
    (`postil.meta.severity`) where these are significant. Others stay, since fractions of a grade that are chance
    would break the ties of grades at random. For the same reason halves are then drawn annotator by annotator, so that
    in complete tables a constant stays on one side: of 2,273 answers with two annotators .24 above and below,
    split-half Spearman within items is .549, and text by text it would be .138.

    *Split-half correlation*: each text's ratings are split at random into two groups whose sizes differ by at most one,
    and the groups' means correlated; the mean over the splits (``sd`` is over them). Groups are drawn text by text, and
    annotator by annotator where severities are taken out. It is not a reliability: it is not
    stepped up from half the ratings to all of them. In its interval each resample of the items takes one of the splits
    in turn, which covers the chance in both. *One annotator against the others*: for each annotator, the coefficient
    between the annotator's ratings and the means of the other ratings of the same texts, at the level; the mean over
    annotators, weighted by their number of texts. In its interval each resample of the items takes all annotators. It
    exists for coefficients of correlation. *Reliability ceiling*: see `ceiling`.

    Args:
        table: A table of n texts; an annotator's name is only an id, and texts may have different annotators.
        coefficients: Names of the coefficients.
        by: Level; see `postil.meta.correlation.correlations`.
        draws: Random draws; the seed is that of the splits, too.
        as_given: True to leave severities in the ratings.
        splits: Number of random splits, at least 1.

    Returns:
        The reference points, and the undefined ones with reasons, among them the ceiling.

    Raises:
        Undefined: There is one annotator only, or no text has two ratings.
        UnknownName: There is no such coefficient or level.
        UsageError: Fewer than one split.

    >>> from postil.meta.table import join
    >>> from postil.data.rows import Judgement, Score
    >>> scores = [Score(str(i), "a", "length", i, "") for i in range(12)]
    >>> judges = {"ann": 0, "bob": 6}
    >>> grades = [Judgement(str(i), "a", who, i + (i == differs)) for i in range(12) for who, differs in judges.items()]
    >>> found, _ = human_agreement(join(scores, grades), ["pearson"])
    >>> round(found.reliability, 4), found.rule, found.k, round(found.ceiling, 4)
    (0.9937, 'annotators', 2.0, 0.9984)
    """
    if splits < 1:
        raise UsageError(f"expected at least one split, got {splits}")
    given = MultipleRatings.of(table)
    found = severities(table.ratings)
    adjusts = found is not None and found.significant and found.told_apart and not as_given
    rated = MultipleRatings.of(replace(table, ratings=found.adjusted)) if found and adjusts else given
    halves = rated.splits(splits, draws.seed, by_annotator=adjusts)
    work = _Resampling(rated, table.ratings.names, draws.counts(int(rated.item[-1]) + 1), draws)
    names = tuple(dict.fromkeys(coefficients))
    rows = [work.split_half(halves, name, by) for name in names]
    against = [work.one_against_others(name, by) for name in names if not TABLE[name].accuracy]
    rows += [row for row, _ in against]
    reliability, rule, pairs = _reliability(given, splits, draws.seed)
    varying = bool((table.ratings.counts < len(table.ratings.names)).any())
    k = float(1 / np.mean(1 / table.ratings.counts))
    highest = beside = None
    try:
        highest = ceiling(reliability, k)
    except Undefined as why:
        rows.append(UndefinedResult(metric=CEILING, coefficient="pearson", by="pool", reason=why.message))
    if varying and adjusts:
        with suppress(Undefined):
            beside = ceiling(_reliability(rated, splits, draws.seed)[0], k)
    sorted_rows = Correlations.of(rows)
    return HumanAgreement(
        rows=sorted_rows.rows,
        reliability=reliability,
        rule=rule,
        pairs=pairs,
        k=k,
        ceiling=highest,
        n=len(given.sizes),
        left_out=len(table) - len(given.sizes),
        adjusted=adjusts,
        varying=varying,
        adjusted_ceiling=beside,
        annotators=tuple(one for _, several in against for one in several),
    ), sorted_rows.absent


@dataclass(frozen=True, slots=True, eq=False)
class _Resampling:
    """Correlations of ratings with ratings on resamples of the items."""

    rated: MultipleRatings
    names: tuple[str, ...]
    counts: Counts
    draws: Draws

    def split_half(self, halves: Splits, coefficient: Measure, by: By) -> Correlation | UndefinedResult:
        rated, kind = self.rated, kind_of(coefficient)
        counts = self.counts
        if kind.facts.ties:
            halves = halves.first(fewer_draws(rated.item, rated.system, by, len(halves)))
        if kind.facts.soft:
            halves, counts = halves.first(SOFT_SPLITS), counts[: kind.facts.most.get(by)]
        step, patterns = len(halves), fewer_patterns(self.counts.shape[1], self.draws.permutations)
        draws = replace(self.draws, permutations=patterns)
        parts = [
            kind.resampled(Texts(one[:, None], other, rated.item, rated.system), counts[split::step], by, draws)
            for split, (one, other) in enumerate(halves)
        ]
        values, samples = (np.concatenate(each) for each in zip(*((p.values, p.samples) for p in parts), strict=True))
        dropped = max(int(part.dropped[0]) for part in parts)
        why = why_no_accuracy(rated.system) if kind.facts.of_systems else rated.why_undefined(by)
        row = row_of(HALVES, coefficient, by, values, samples, parts[0].n, dropped, why)
        ones, others = map(np.column_stack, zip(*halves, strict=True))
        texts = Texts(ones, others, rated.item, rated.system)
        return kind.completed([row], {HALVES: ones}, texts, by, self.draws, patterns)[0]

    def one_against_others(
        self, coefficient: Measure, by: By
    ) -> tuple[Correlation | UndefinedResult, list[AnnotatorCorrelation]]:
        """The mean over annotators of the coefficient with the mean of the others, and that of each annotator."""
        rated, rest, text = self.rated, self.rated.rest, self.rated.text
        kind = kind_of(coefficient)
        counts = self.counts[: kind.facts.most.get(by)]
        rows, weights, values, samples = [], [], [], []
        for number, ratings in zip(np.unique(rated.annotators).tolist(), rows_by(rated.annotators), strict=True):
            texts = text[ratings]
            value = np.nan
            if len(texts) > 1:
                items, item = np.unique(rated.item[texts], return_inverse=True)
                of = item.astype(np.int32), np.unique(rated.system[texts], return_inverse=True)[1].astype(np.int32)
                sides = Texts(rated.grades[ratings, None], rest[ratings], *of)
                part = kind.resampled(sides, counts[:, items].copy(), by, self.draws)
                value = float(part.values[0])
                weights.append(len(texts))
                values.append(value)
                samples.append(part.samples[:, 0])
            rows.append(
                AnnotatorCorrelation(
                    annotator=self.names[number],
                    coefficient=coefficient,
                    by=by,
                    value=None if math.isnan(value) else value,
                    n=len(texts),
                )
            )
        shape = len(weights), len(counts)
        each = np.column_stack([np.array(values), np.array(samples).reshape(shape)]) if weights else np.zeros((0, 1))
        share = np.array(weights, np.float64)[:, None] * ~np.isnan(each)
        means = ratio((share * np.nan_to_num(each)).sum(axis=0), share.sum(axis=0))
        n = {"pool": len(rated.sizes), "item": int(rated.item[-1]) + 1}.get(by) or len(np.unique(rated.system))
        why = rated.why_undefined(by) if weights else "no annotator has two texts that others rated as well"
        return row_of(ONE, coefficient, by, means[:1], means[1:, None], n, 0, why), rows


def _reliability(
    rated: MultipleRatings, splits: int, seed: int
) -> tuple[float | None, Literal["annotators", "ratings"], int]:
    """Pearson correlation of two single ratings of a text, the rule it is the mean by, and the number of pairs."""
    each, shared = rated.pairs_of_annotators()
    if len(each):
        return float(np.average(each, weights=shared)), "annotators", len(each)
    rng = np.random.default_rng(seed)
    each = rated.pairs_of_ratings(rated.shuffled(rng) for _ in range(splits))  # no two annotators share enough texts
    return float(each.mean()) if len(each) else None, "ratings", len(each)
