"""Assignment of items to annotators: balanced block designs of items or articles, and even loads after changes."""

from __future__ import annotations

import math
from collections import Counter
from itertools import chain, combinations
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from postil.data.groups import grouped

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence

__all__ = ["assign_items", "block_design", "distribute_items", "generator"]

Unit: TypeAlias = tuple[int, ...]
"""Numbers of the items that are assigned together: one, or all of an article."""
TRIES: Final = (40_000, 400, 600_000)
"""Number of swaps tried for blocks of three or more: a base, an increment per pair of annotators, and the maximum."""

TEMPERATURE: Final = (0.8, 0.2)
"""First and last temperature of simulated annealing: a worse swap is accepted with probability ``exp(-loss / t)``.

A swap with the smallest loss, 2, is accepted with probability 0.08 at first and 0.00005 at the end.
"""


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
    """Assign items to annotators; see `postil.campaigns.plan.plan`.

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
        units = list(map(tuple, grouped((keys[item][0], item) for item in shuffled).values()))
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


def block_design(annotators: int, size: int, count: int, random: np.random.Generator) -> list[tuple[int, ...]]:
    """Draw a balanced and otherwise random sequence of blocks of annotators.

    In every prefix of the sequence the loads of two annotators differ by at most one. With blocks of two, the overlaps
    of two pairs also differ by at most one in every prefix. With larger blocks that holds at the end, wherever a search
    finds it; such a design does not always exist (a Steiner system is a special case).

    Args:
        annotators: Number of annotators.
        size: Number of annotators per block.
        count: Number of blocks.
        random: Random number generator.

    Returns:
        The blocks, as numbers of annotators from 0, ascending.

    >>> block_design(4, 2, 6, np.random.default_rng(1)) == block_design(4, 2, 6, np.random.default_rng(1))
    True
    """
    if size == 2:
        return list(_pairs(annotators, count, random))
    found, shared = _greedy_blocks(annotators, size, count, random)
    if 2 < size < annotators:
        _anneal(found, shared, size, random)
    return [tuple(sorted(block)) for block in found]


def _pairs(people: int, count: int, random: np.random.Generator) -> Iterator[tuple[int, ...]]:
    """Repeat the sequence of all pairs, each time with the annotators permuted."""
    cycle_of_pairs = _all_pairs(people)
    for start in range(0, count, len(cycle_of_pairs)):
        names = random.permutation(people).tolist()
        for first, second in cycle_of_pairs[: count - start]:
            yield tuple(sorted((names[first], names[second])))


def _all_pairs(people: int) -> list[tuple[int, int]]:
    """List every pair cycle_of_pairs, such that in every prefix the loads of two annotators differ by at most one.

    For an even number of annotators the rounds of a tournament do (the circle method). For an odd number the pairs are
    the edges of Hamiltonian cycles (Walecki's construction): of each cycle every second edge, then the edge of the
    annotator left over, then the rest.
    """
    last = people - 1
    if people % 2 == 0:
        return [
            (last, turn) if step == 0 else ((turn + step) % last, (turn - step) % last)
            for turn in range(last)
            for step in range(people // 2)
        ]
    pairs = []
    for turn in range(last // 2):
        zigzag = [(turn + (step + 1) // 2 * (1 if step % 2 else -1)) % last for step in range(last)]
        cycle = [*zigzag, last]
        edges = [(cycle[place], cycle[(place + 1) % people]) for place in range(people)]
        pairs += [*edges[0 : last - 1 : 2], edges[last], *edges[1:last:2]]
    return pairs


def _greedy_blocks(
    people: int, size: int, count: int, random: np.random.Generator
) -> tuple[list[set[int]], list[list[int]]]:
    """Build blocks greedily from the annotators with the smallest loads and, among them, the smallest overlaps.

    Returns:
        The blocks, and the overlap of each two annotators.
    """
    found = []
    load = [0] * people
    shared = [[0] * people for _ in range(people)]
    for _ in range(count):
        fewest = min(load)
        chance = random.random(people).tolist()
        least_loaded = [person for person in range(people) if load[person] == fewest]
        rest = [person for person in range(people) if load[person] > fewest]
        block, free = (least_loaded, rest) if len(least_loaded) <= size else ([], least_loaded)
        overlap = [sum(shared[person][other] for other in block) for person in range(people)]
        while len(block) < size:
            chosen = min(free, key=lambda person: (overlap[person], chance[person]))
            free.remove(chosen)
            block.append(chosen)
            for person in free:
                overlap[person] += shared[person][chosen]
        for person in block:
            load[person] += 1
        for first, second in combinations(block, 2):
            shared[first][second] += 1
            shared[second][first] += 1
        found.append(set(block))
    return found, shared


def _anneal(found: list[set[int]], shared: list[list[int]], size: int, random: np.random.Generator) -> None:
    """Make overlaps equal by simulated annealing: two blocks swap a member each, which leaves all loads as they are.

    The cost is the sum of squared overlaps. The search ends at its lower bound, or after `TRIES`.
    """
    people = len(shared)
    pairs = math.comb(people, 2)
    total = len(found) * math.comb(size, 2)
    least, over = divmod(total, pairs)
    best_possible = over * (least + 1) ** 2 + (pairs - over) * least**2
    cost = sum(shared[first][second] ** 2 for first, second in combinations(range(people), 2))
    last = found[-4 * pairs :]  # swaps of the last blocks can even out all
    best, kept = cost, [set(block) for block in last]
    if len(last) < 2:
        return
    tries = min(TRIES[0] + TRIES[1] * pairs, TRIES[2])
    for temperature, (of_first, of_second, of_leaver, of_joiner, luck) in _chances(tries, random):
        if cost == best_possible:
            break
        one, two = last[int(of_first * len(last))], last[int(of_second * len(last))]
        only_one, only_two = sorted(one - two), sorted(two - one)
        if not only_one:
            continue
        leaver, joiner = only_one[int(of_leaver * len(only_one))], only_two[int(of_joiner * len(only_two))]
        # The change of the cost, from the overlaps of the two who swap alone: (n + 1)^2 - n^2 = 2 n + 1.
        more, less = shared[joiner], shared[leaver]
        worse = 4 * (len(only_one) - 1)
        worse += 2 * sum(more[person] - less[person] for person in only_one if person != leaver)
        worse -= 2 * sum(more[person] - less[person] for person in only_two if person != joiner)
        if worse > 0 and luck >= math.exp(-worse / temperature):
            continue
        cost += worse
        for out, into, others in ((leaver, joiner, only_one), (joiner, leaver, only_two)):
            for person in others:
                if person != out:
                    shared[out][person] -= 1
                    shared[person][out] -= 1
                    shared[into][person] += 1
                    shared[person][into] += 1
        one.remove(leaver)
        one.add(joiner)
        two.remove(joiner)
        two.add(leaver)
        if cost < best:
            best, kept = cost, [set(block) for block in last]
    found[-len(last) :] = kept if cost > best else last


def _chances(tries: int, random: np.random.Generator) -> Iterator[tuple[float, list[float]]]:
    """Temperature and five random numbers for each try."""
    for part in np.array_split(np.linspace(*TEMPERATURE, tries), 1 + tries // 10_000):
        yield from zip(part.tolist(), random.random((len(part), 5)).tolist(), strict=True)


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
