"""Variance components of the ratings with intervals, and the reliability of the mean of any number of raters."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from postil.data.ranking import difference, without_noise
from postil.errors import Undefined
from postil.meta.column_correlations import ratio, starts_of
from postil.meta.parts import RaterCount, RaterLevel, RaterVariance, VarianceComponent
from postil.meta.resampling import DRAWS, bootstrap_counts, interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from postil.kernel.arrays import Floats, Int64s
    from postil.meta.resampling import Draws, Interval
    from postil.meta.table import Ratings, Table

__all__ = ["GROWTH", "Design", "Shared", "component_intervals", "design_of", "rater_variance", "resampled_components"]

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
    found: dict[str, Interval | None] = {}
    for name, values in resampled_components(design, draws).items():
        try:
            found[name] = interval(values)
        except Undefined:
            found[name] = None
    return found


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
