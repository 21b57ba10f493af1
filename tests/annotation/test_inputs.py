"""Random samples of articles for a campaign."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from postil.annotation.inputs import sampled_items
from postil.annotation.models import Item
from postil.errors import UsageError

ITEMS = [Item(item=f"a{n}", system=system, text="") for n in range(10) for system in "xyz"]


def articles(items: list[Item], count: int, seed: int) -> set[str]:
    return {item.item for item in sampled_items(items, count, seed)[0]}


def test_every_sample_is_as_likely_as_any_other() -> None:
    """Over 4,000 seeds, within 4 standard errors: each article is in 3 of 10, each pair in 1 of 15."""
    drawn = [articles(ITEMS, 3, seed) for seed in range(4000)]
    for size, share in ((1, 3 / 10), (2, 3 / 45)):
        counts = Counter(some for sample in drawn for some in combinations(sorted(sample), size))
        error = (4000 * share * (1 - share)) ** 0.5
        assert all(
            abs(counts[some] - 4000 * share) < 4 * error
            for some in combinations(sorted(f"a{n}" for n in range(10)), size)
        )


@given(st.permutations(ITEMS), st.integers(1, 10), st.integers(1, 10), st.integers(0, 99))
@examples(25)
def test_samples_of_one_seed_are_nested_whatever_the_order(items: list[Item], one: int, two: int, seed: int) -> None:
    smaller, larger = sorted((one, two))
    sampled, there = sampled_items(items, larger, seed)
    assert (len(sampled), there) == (3 * larger, 10)
    assert sampled == [item for item in items if item in sampled]
    assert articles(items, smaller, seed) <= articles(ITEMS, larger, seed)


def test_gold_items_stay_and_count_for_nothing() -> None:
    gold = [Item(item="g", system="x", text="", gold=3.0), Item(item="a0", system="w", text="", gold=1.0)]
    for seed in range(20):
        sampled, there = sampled_items([*gold, *ITEMS], 2, seed)
        assert there == 10
        assert sampled[:2] == gold
        assert len({item.item for item in sampled if item.gold is None}) == 2
    with pytest.raises(UsageError, match="from 1 to 10, the number of articles"):
        sampled_items([*gold, *ITEMS], 11, 1)
