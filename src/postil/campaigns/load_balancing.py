"""Reassignment of items: equal loads by augmenting paths, even overlaps of annotators by swaps."""

from __future__ import annotations

from collections import Counter
from itertools import chain, combinations
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import numpy as np

__all__ = ["distribute_items"]

SWAPS_PER_ITEM: Final = 200
"""Number of swaps tried per item."""

MAX_SWAPS: Final = 30_000
"""Upper bound on the number of swaps tried."""


def distribute_items(
    unassigned: Sequence[int],
    annotators: Sequence[int],
    assigned: Sequence[Collection[int]],
    random: np.random.Generator,
) -> dict[int, int]:
    """Choose an annotator for each unassigned item; see `postil.campaigns.plan.Plan.reassign`.

    Args:
        unassigned: Numbers of the items.
        annotators: Numbers of the annotators who can take items.
        assigned: Annotators of every item of the campaign.
        random: Random number generator.

    Returns:
        Annotator by item; items that every annotator already has are missing.
    """
    everyone = Counter(chain.from_iterable(assigned))
    load = Counter({person: everyone[person] for person in annotators})
    shared = _overlaps(assigned)
    eligible = {item: [other for other in annotators if other not in assigned[item]] for item in unassigned}
    taken: dict[int, int] = {}
    for item in random.permutation(unassigned).tolist():
        tie = random.random(len(eligible[item])).tolist()
        ranked = [
            (load[other], sum(shared[other, mate] for mate in assigned[item]), tie[index], other)
            for index, other in enumerate(eligible[item])
        ]
        if ranked:
            taken[item] = min(ranked)[-1]
            load[taken[item]] += 1
            for mate in assigned[item]:
                shared[taken[item], mate] += 1
                shared[mate, taken[item]] += 1
    while _augment(taken, eligible, load):
        pass
    _swap(taken, eligible, assigned, random)
    return taken


def _overlaps(assigned: Iterable[Collection[int]]) -> Counter[tuple[int, int]]:
    """Number of shared items of each pair of annotators, under both orders of the pair."""
    shared: Counter[tuple[int, int]] = Counter()
    for annotators, items in Counter(map(tuple, assigned)).items():  # few distinct ones
        for first, second in combinations(annotators, 2):
            shared[first, second] += items
            shared[second, first] += items
    return shared


def _augment(taken: dict[int, int], eligible: Mapping[int, Sequence[int]], load: Counter[int]) -> bool:
    """Move one item along an augmenting path to reduce the largest load.

    Returns:
        True if there was such a path.
    """
    # An edge leads from each annotator to everyone who could take one of their items. Moving an item along every edge
    # of a path lowers the load of its first annotator by one and raises that of its last; those between keep theirs.
    # So a path to a load lower by two or more evens loads out, even where no single item can move directly.
    movable: dict[int, dict[int, int]] = {person: {} for person in load}
    for item, person in taken.items():
        for other in eligible[item]:
            if other != person:
                movable[person].setdefault(other, item)
    for start in sorted(load, key=lambda person: (-load[person], person)):
        parent: dict[int, int] = {start: start}
        queue = [start]
        for person in queue:  # breadth-first; the list grows while it is read
            if load[person] <= load[start] - 2:
                load[start] -= 1
                load[person] += 1
                taker = person
                while taker != start:
                    giver = parent[taker]
                    taken[movable[giver][taker]] = taker
                    taker = giver
                return True
            for other in movable[person]:
                if other not in parent:
                    parent[other] = person
                    queue.append(other)
    return False


def _swap(
    taken: dict[int, int],
    eligible: Mapping[int, Sequence[int]],
    assigned: Sequence[Collection[int]],
    random: np.random.Generator,
) -> None:
    """Swap the takers of two items wherever that makes overlaps more even; loads stay as they are."""
    items = sorted(taken)
    if len(items) < 2:
        return
    shared = _overlaps([*people, taken[item]] if item in taken else people for item, people in enumerate(assigned))
    swaps = random.integers(0, len(items), (min(SWAPS_PER_ITEM * len(items), MAX_SWAPS), 2))
    for one, two in swaps.tolist():
        first, second = items[one], items[two]
        mine, yours = taken[first], taken[second]
        if mine == yours or yours not in eligible[first] or mine not in eligible[second]:
            continue
        lost = [*((mine, mate) for mate in assigned[first]), *((yours, mate) for mate in assigned[second])]
        won = [*((yours, mate) for mate in assigned[first]), *((mine, mate) for mate in assigned[second])]
        change = Counter(tuple(sorted(pair)) for pair in won)
        change.subtract(tuple(sorted(pair)) for pair in lost)
        # (n + d)^2 - n^2 = d^2 + 2 d n: the change of the sum of squares, which is least where overlaps are equal.
        # Swaps that leave it unchanged are made too: they lead out of plateaus.
        if sum(by * by + 2 * by * shared[pair] for pair, by in change.items()) <= 0:
            for (left, right), by in change.items():
                shared[left, right] += by
                shared[right, left] += by
            taken[first], taken[second] = yours, mine
