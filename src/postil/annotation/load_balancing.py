"""Texts of someone who left, shared out among the others."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import numpy as np

__all__ = ["share_out"]

EXCHANGES: Final = (200, 30_000)
"""How many exchanges are looked at: so many for each text, and so many at most."""


def share_out(
    orphans: Sequence[int], others: Sequence[int], on: Sequence[Collection[int]], random: np.random.Generator
) -> dict[int, int]:
    """Who takes each text, where anyone can; see `postil.annotation.plan.Plan.reassign`.

    Args:
        orphans: The texts.
        others: Who can take texts.
        on: Who has each text already.
        random: The source of chance.
    """
    load = Counter(dict.fromkeys(others, 0))
    met: Counter[tuple[int, int]] = Counter()
    for team in on:
        load.update(person for person in team if person in load)
        met.update(pair for first, second in combinations(team, 2) for pair in ((first, second), (second, first)))
    able = {item: [other for other in others if other not in on[item]] for item in orphans}
    taken: dict[int, int] = {}
    for item in random.permutation(orphans).tolist():
        chance = random.random(len(able[item])).tolist()
        ranked = [
            (load[other], sum(met[other, mate] for mate in on[item]), chance[place], other)
            for place, other in enumerate(able[item])
        ]
        if ranked:
            taken[item] = min(ranked)[-1]
            load[taken[item]] += 1
            for mate in on[item]:
                met[taken[item], mate] += 1
                met[mate, taken[item]] += 1
    while _level(taken, able, load):
        pass
    _mix(taken, able, on, random)
    return taken


def _level(taken: dict[int, int], able: Mapping[int, Sequence[int]], load: Counter[int]) -> bool:
    """Pass one text on, from one who has most to one who has two fewer or less, over others if need be.

    Returns:
        Whether there was a way.
    """
    gives: dict[int, dict[int, int]] = {person: {} for person in load}
    for item, person in taken.items():
        for other in able[item]:
            if other != person:
                gives[person].setdefault(other, item)
    for start in sorted(load, key=lambda person: (-load[person], person)):
        came: dict[int, int] = {start: start}
        reached = [start]
        for person in reached:
            if load[person] <= load[start] - 2:
                load[start] -= 1
                load[person] += 1
                taker = person
                while taker != start:
                    giver = came[taker]
                    taken[gives[giver][taker]] = taker
                    taker = giver
                return True
            for other in gives[person]:
                if other not in came:
                    came[other] = person
                    reached.append(other)
    return False


def _mix(
    taken: dict[int, int], able: Mapping[int, Sequence[int]], on: Sequence[Collection[int]], random: np.random.Generator
) -> None:
    """Let two who took texts exchange them wherever that evens out how many texts every two annotators share."""
    items = sorted(taken)
    met: Counter[tuple[int, int]] = Counter()
    for item, team in enumerate(on):
        whole = [*team, taken[item]] if item in taken else team
        met.update(pair for first, second in combinations(whole, 2) for pair in ((first, second), (second, first)))
    if len(items) < 2:
        return
    for one, two in random.integers(0, len(items), (min(EXCHANGES[0] * len(items), EXCHANGES[1]), 2)).tolist():
        first, second = items[one], items[two]
        mine, yours = taken[first], taken[second]
        if mine == yours or yours not in able[first] or mine not in able[second]:
            continue
        lost = [*((mine, mate) for mate in on[first]), *((yours, mate) for mate in on[second])]
        won = [*((yours, mate) for mate in on[first]), *((mine, mate) for mate in on[second])]
        change = Counter(tuple(sorted(pair)) for pair in won)
        change.subtract(tuple(sorted(pair)) for pair in lost)
        if sum(by * by + 2 * by * met[pair] for pair, by in change.items()) <= 0:
            for (left, right), by in change.items():
                met[left, right] += by
                met[right, left] += by
            taken[first], taken[second] = yours, mine
