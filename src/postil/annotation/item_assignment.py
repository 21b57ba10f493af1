"""Assignment of items to annotators: balanced block designs of single items or of whole articles, with an overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from postil.annotation.block_design import block_design

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Sequence

__all__ = ["Assigned", "assign_items", "generator"]

Unit: TypeAlias = tuple[int, ...]
"""Numbers of the items that are assigned together: one, or all of an article."""


class Assigned(NamedTuple):
    """Items of each annotator.

    Args:
        items: Numbers of the items of each annotator, without gold items.
        overlapping: Numbers of the items with one annotator more.
    """

    items: list[list[int]]
    overlapping: frozenset[int]


def assign_items(
    keys: Sequence[tuple[str, str]],
    annotators: int,
    annotators_per_item: int,
    *,
    seed: int,
    gold: Collection[int],
    balance: Literal["system", "article"],
    overlap: float,
    by_item: bool,
) -> Assigned:
    """Assign items to annotators; see `postil.annotation.plan.plan`.

    Args:
        keys: Article and system of each item.
        annotators: Number of annotators.
        annotators_per_item: Number of annotators per item.
        seed: Random seed.
        gold: Numbers of the gold items, which are not assigned.
        balance: Attribute of items that is spread evenly over annotators.
        overlap: Share of the items (of the articles, by item) with one annotator more.
        by_item: True to assign the items of an article to the same annotators.

    >>> keys = [(article, system) for article in "abcde" for system in "xy"]
    >>> found = assign_items(keys, 3, 1, seed=1, gold=[], balance="system", overlap=0.2, by_item=True)
    >>> [len(mine) for mine in found.items], len(found.overlapping)
    ([4, 4, 4], 2)
    """
    random = generator(seed, "teams", 0)
    shuffled = [item for item in random.permutation(len(keys)).tolist() if item not in gold]
    units: list[Unit] = [(item,) for item in shuffled]
    groups: dict[Unit, str | int]
    # Every stretch of the sequence of blocks is balanced, so units of one system (or article) stand together.
    if by_item:
        units = _articles(shuffled, keys)
        groups = {unit: -len(unit) for unit in units}  # largest first: loads in items differ by one article at most
    else:
        groups = {unit: keys[unit[0]][balance == "system"] for unit in units}
    units.sort(key=groups.__getitem__)
    chosen = _chosen([groups[unit] for unit in units], overlap, generator(seed, "overlap", 0))
    rest = [unit for place, unit in enumerate(units) if place not in chosen]
    assigned = _blocks(rest, annotators, annotators_per_item, random)
    more = [units[place] for place in sorted(chosen)]
    if more:
        twice = _blocks(more, annotators, annotators_per_item + 1, generator(seed, "overlap", 1))
        assigned = _joined(twice, assigned, random)
    return Assigned(
        [[item for unit in mine for item in unit] for mine in assigned],
        frozenset(item for unit in more for item in unit),
    )


def _articles(shuffled: Sequence[int], keys: Sequence[tuple[str, str]]) -> list[Unit]:
    found: dict[str, list[int]] = {}
    for item in shuffled:
        found.setdefault(keys[item][0], []).append(item)
    return list(map(tuple, found.values()))


def _chosen(groups: Sequence[Hashable], share: float, random: np.random.Generator) -> set[int]:
    """Places of a share of a sequence whose groups stand together: of each group the same share, within one."""
    count, size = round(share * len(groups)), len(groups)
    distinct = list(dict.fromkeys(groups))
    rank = dict(zip(distinct, random.permutation(len(distinct)).tolist(), strict=True))
    order = sorted(range(size), key=lambda place: rank[groups[place]])
    return {place for turn, place in enumerate(order) if (turn + 1) * count // size > turn * count // size}


def _blocks(units: Sequence[Unit], annotators: int, size: int, random: np.random.Generator) -> list[list[Unit]]:
    """Units of each annotator, in a balanced block design."""
    assigned: list[list[Unit]] = [[] for _ in range(annotators)]
    if units:
        for unit, block in zip(units, block_design(annotators, size, len(units), random), strict=True):
            for number in block:
                assigned[number].append(unit)
    return assigned


def _joined(first: Sequence[list[Unit]], second: Sequence[list[Unit]], random: np.random.Generator) -> list[list[Unit]]:
    """Join two designs, the larger loads of one with the smaller ones of the other.

    Loads of each differ by one at most, so those of both do: the second is permuted, which changes nothing in it.
    """
    tie = random.permutation(len(first)).tolist()

    def ascending(design: Sequence[list[Unit]]) -> list[int]:
        return sorted(range(len(design)), key=lambda number: (len(design[number]), _items(design[number]), tie[number]))

    joined = list(map(list, first))
    for number, other in zip(ascending(first), reversed(ascending(second)), strict=True):
        joined[number] += second[other]
    return joined


def _items(units: Sequence[Unit]) -> int:
    return sum(map(len, units))


def generator(seed: int, purpose: str, number: int) -> np.random.Generator:
    """Make a random number generator for one purpose, so that a change in one leaves the draws of the others alone.

    Args:
        seed: Random seed.
        purpose: Name of the purpose.
        number: Number of the generator for this purpose.
    """
    return np.random.default_rng([seed, *purpose.encode(), number])
