"""Teams of annotators, such that everyone is in equally many and everyone meets everyone equally often."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["teams"]

TRIES: Final = (40_000, 400, 600_000)
"""How many exchanges between teams of three or more are looked at: so many, so many for two people, so many at most."""

WARMTH: Final = (0.8, 0.2)
"""How readily an exchange for the worse is made, from first to last: with probability ``exp(-loss / warmth)``."""


def teams(people: int, size: int, count: int, random: np.random.Generator) -> list[tuple[int, ...]]:
    """So many teams of people, in a balanced and otherwise random sequence.

    In every beginning of the sequence two people are in equally many teams, give or take one. With teams of two, two
    pairs also meet equally often, give or take one, in every beginning. With larger teams that holds at the end,
    wherever a search finds it; it does not always exist (a Steiner system is a case of it).

    Args:
        people: How many people there are, numbered from 0.
        size: How many are in a team.
        count: How many teams.
        random: The source of chance. Everyone, and every two people, are in each place of it equally likely.

    Returns:
        The teams, each in rising order.

    >>> teams(4, 2, 6, np.random.default_rng(1)) == teams(4, 2, 6, np.random.default_rng(1))
    True
    """
    if size == 2:
        return list(_pairs(people, count, random))
    found = _one_by_one(people, size, count, random)
    if 2 < size < people:
        _exchange(found, people, size, random)
    return [tuple(sorted(team)) for team in found]


def _pairs(people: int, count: int, random: np.random.Generator) -> Iterator[tuple[int, ...]]:
    """All pairs, again and again, each time under other names."""
    once = _all_pairs(people)
    for start in range(0, count, len(once)):
        names = random.permutation(people).tolist()
        for first, second in once[: count - start]:
            yield tuple(sorted((names[first], names[second])))


def _all_pairs(people: int) -> list[tuple[int, int]]:
    """Every pair once, such that in every beginning two people have equally many, give or take one.

    An even number of people play a tournament: rounds in which everybody meets one other (the circle method). With an
    odd number the pairs are the edges of Hamiltonian cycles (Walecki's construction), and of each cycle come first
    every second edge, then the one that meets the person left over, then the rest.
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


def _one_by_one(people: int, size: int, count: int, random: np.random.Generator) -> list[set[int]]:
    """Each team of those who are in the fewest so far, and of those who have met one another least."""
    found = []
    times = [0] * people
    met = [[0] * people for _ in range(people)]
    for _ in range(count):
        fewest = min(times)
        chance = random.random(people).tolist()
        behind = [person for person in range(people) if times[person] == fewest]
        ahead = [person for person in range(people) if times[person] > fewest]
        team, free = (behind, ahead) if len(behind) <= size else ([], behind)
        together = [sum(met[person][other] for other in team) for person in range(people)]
        while len(team) < size:
            chosen = min(free, key=lambda person: (together[person], chance[person]))
            free.remove(chosen)
            team.append(chosen)
            for person in free:
                together[person] += met[person][chosen]
        for person in team:
            times[person] += 1
        for first, second in combinations(team, 2):
            met[first][second] += 1
            met[second][first] += 1
        found.append(set(team))
    return found


def _exchange(found: list[set[int]], people: int, size: int, random: np.random.Generator) -> None:
    """Let two teams exchange a member each, until everyone meets everyone equally often or the tries are used up.

    The exchange keeps how many teams each person is in. What is made small is the sum of the squares of the meetings.
    """
    met = [[0] * people for _ in range(people)]
    for team in found:
        for first, second in combinations(team, 2):
            met[first][second] += 1
            met[second][first] += 1
    pairs = math.comb(people, 2)
    total = len(found) * math.comb(size, 2)
    least, over = divmod(total, pairs)
    best_possible = over * (least + 1) ** 2 + (pairs - over) * least**2
    cost = sum(met[first][second] ** 2 for first, second in combinations(range(people), 2))
    last = found[-4 * pairs :]
    best, kept = cost, [set(team) for team in last]
    if len(last) < 2:
        return
    tries = min(TRIES[0] + TRIES[1] * pairs, TRIES[2])
    for warm, (of_first, of_second, of_leaver, of_joiner, mood) in _chances(tries, random):
        if cost == best_possible:
            break
        one, two = last[int(of_first * len(last))], last[int(of_second * len(last))]
        only_one, only_two = sorted(one - two), sorted(two - one)
        if not only_one:
            continue
        leaver, joiner = only_one[int(of_leaver * len(only_one))], only_two[int(of_joiner * len(only_two))]
        more, less = met[joiner], met[leaver]
        worse = 4 * (len(only_one) - 1)
        worse += 2 * sum(more[person] - less[person] for person in only_one if person != leaver)
        worse -= 2 * sum(more[person] - less[person] for person in only_two if person != joiner)
        if worse > 0 and mood >= math.exp(-worse / warm):
            continue
        cost += worse
        for out, into, others in ((leaver, joiner, only_one), (joiner, leaver, only_two)):
            for person in others:
                if person != out:
                    met[out][person] -= 1
                    met[person][out] -= 1
                    met[into][person] += 1
                    met[person][into] += 1
        one.remove(leaver)
        one.add(joiner)
        two.remove(joiner)
        two.add(leaver)
        if cost < best:
            best, kept = cost, [set(team) for team in last]
    found[-len(last) :] = kept if cost > best else last


def _chances(tries: int, random: np.random.Generator) -> Iterator[tuple[float, list[float]]]:
    """For each try how warm it is, and five random numbers."""
    for part in np.array_split(np.linspace(*WARMTH, tries), 1 + tries // 10_000):
        yield from zip(part.tolist(), random.random((len(part), 5)).tolist(), strict=True)
