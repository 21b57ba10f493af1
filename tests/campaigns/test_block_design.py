from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from postil.campaigns.item_assignment import block_design


def made(people: int, size: int, count: int, seed: int = 1) -> list[tuple[int, ...]]:
    return block_design(people, size, count, np.random.default_rng(seed))


def times(found: list[tuple[int, ...]], people: int) -> list[int]:
    counted = Counter(person for team in found for person in team)
    return [counted[person] for person in range(people)]


def meetings(found: list[tuple[int, ...]], people: int) -> list[int]:
    counted = Counter(pair for team in found for pair in combinations(team, 2))
    return [counted[pair] for pair in combinations(range(people), 2)]


def spread(counts: list[int]) -> int:
    return max(counts) - min(counts)


@given(st.integers(1, 12), st.data(), st.integers(0, 60), st.integers(0, 99))
@examples(60)
def test_everyone_is_in_equally_many_in_every_beginning(
    people: int, data: st.DataObject, count: int, seed: int
) -> None:
    size = data.draw(st.sampled_from([1, 2, people])) if people > 1 else 1
    found = made(people, size, count, seed)
    assert [len(set(team)) for team in found] == [size] * count
    assert all(spread(times(found[:stop], people)) <= 1 for stop in range(1, count + 1))


@given(st.integers(2, 15), st.integers(1, 230), st.integers(0, 99))
@examples(60)
def test_two_of_two_meet_equally_often_in_every_beginning(people: int, count: int, seed: int) -> None:
    found = made(people, 2, count, seed)
    met = Counter[tuple[int, ...]]()
    for team in found:
        met[team] += 1
        assert met[team] <= 1 + min(met[pair] for pair in combinations(range(people), 2))
    assert spread(times(found, people)) <= 1


@given(st.integers(4, 9), st.data(), st.integers(0, 99))
@examples(8)
def test_larger_teams_are_as_even_as_may_be(people: int, data: st.DataObject, seed: int) -> None:
    size = data.draw(st.integers(3, people - 1))
    found = made(people, size, data.draw(st.integers(1, 80)), seed)
    assert [len(set(team)) for team in found] == [size] * len(found)
    assert spread(times(found, people)) <= 1
    # How often one meets all others is settled by the number of their teams. With such sums r, the evenest table is
    # (r_i + r_j) / (n - 2) - sum of r / ((n - 1) (n - 2)); it need not be of whole numbers.
    sums = [(size - 1) * n for n in times(found, people)]
    for (first, second), n in zip(combinations(range(people), 2), meetings(found, people), strict=True):
        even = (sums[first] + sums[second]) / (people - 2) - sum(sums) / (people - 1) / (people - 2)
        assert abs(n - even) < 2


@pytest.mark.parametrize(
    ("people", "size", "count", "once"),
    [
        (7, 3, 7, 1),  # Fano's plane
        (9, 3, 12, 1),  # the affine plane of order 3
        (6, 3, 10, 2),
        (8, 4, 14, 3),  # extended Hamming code
        (13, 4, 13, 1),  # the projective plane of order 3
    ],
)
def test_finds_designs_where_they_exist(people: int, size: int, count: int, once: int) -> None:
    assert set(meetings(made(people, size, count), people)) == {once}


def test_finds_one_apart_where_numbers_are_large() -> None:
    found = made(8, 3, 386)  # 386 * 3 / 28 = 41.4 meetings
    assert (spread(times(found, 8)), spread(meetings(found, 8))) == (1, 1)


def test_every_pair_is_equally_likely_everywhere() -> None:
    """Chi-squared over 10 pairs: 27.9 is passed once in a thousand, and each place of the sequence is looked at."""
    sequences = [made(5, 2, 10, seed) for seed in range(600)]
    for place in range(10):
        counted = Counter(found[place] for found in sequences)
        assert sum((counted[pair] - 60) ** 2 / 60 for pair in combinations(range(5), 2)) < 27.9


def test_stretches_are_balanced() -> None:
    """So what stands together in the sequence is shared out evenly."""
    found = made(5, 2, 1_000)
    for start, stop in pairwise(range(0, 1_001, 50)):
        assert spread(times(found[start:stop], 5)) <= 2
        assert spread(meetings(found[start:stop], 5)) <= 2


def test_the_seed_decides() -> None:
    assert made(6, 3, 20, 4) == made(6, 3, 20, 4) != made(6, 3, 20, 5)
