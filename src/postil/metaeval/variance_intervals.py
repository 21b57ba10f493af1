"""Bootstrap intervals of variance components, over items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import Undefined
from postil.metaeval.coefficients import ratio, starts_of
from postil.metaeval.resampling import DRAWS, bootstrap_counts, interval
from postil.metaeval.variance_components import facet_subsets
from postil.records.ties import difference, without_noise

if TYPE_CHECKING:
    from collections.abc import Mapping

    from postil.metaeval.arrays import Floats, Int64s
    from postil.metaeval.resampling import Draws, Interval
    from postil.metaeval.variance_components import Design, Shared

__all__ = ["component_intervals", "resampled_components"]


BLOCK: Final = 2**22
"""Largest number of sums that are in memory at a time."""


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
