from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.comments import commenter
from postil.comments.commenter import team_draft
from postil.corpus.duplicates import jaccard_similarity

WORDS = ["rain", "Rain!", "sun", "storm and wind", "Storm and wind.", "coat", "我爱雨", "", "😂"]
LISTS = st.lists(st.sampled_from(WORDS), max_size=6)


def draft(first: list[str], second: list[str], k: int, coins: tuple[int, ...]) -> list[tuple[int, int]]:
    """Team draft with given coins, of texts told apart by `jaccard_similarity`, until one team has no text to pick."""
    lists = (first, second)
    picked: list[tuple[int, int]] = []

    def left(team: int) -> list[int]:
        chosen = [lists[other][at] for other, at in picked]
        return [at for at, text in enumerate(lists[team]) if all(jaccard_similarity(text, o) < 0.6 for o in chosen)]

    while len(picked) < k:
        team = 1 - picked[-1][0] if len(picked) % 2 else coins[len(picked) // 2]
        if not left(team):
            break
        picked.append((team, left(team)[0]))
    return picked


@given(LISTS, LISTS, st.integers(0, 7), st.integers())
def test_each_team_picks_its_best_text_that_is_left(first: list[str], second: list[str], k: int, seed: int) -> None:
    found = team_draft(first, second, k, seed)
    coins = tuple(team for team, _ in found[::2])
    expected = draft(first, second, k, (*coins, 0, 0, 0, 0))
    assert found == expected[: len(found)]
    assert len(found) == k or len(found) % 2 == 0
    texts = [(first, second)[team][at] for team, at in found]
    assert all(jaccard_similarity(a, b) < 0.6 for n, a in enumerate(texts) for b in texts[:n])


@given(LISTS, LISTS, st.integers(1, 5))
def test_the_list_ends_where_a_coin_has_no_choice(first: list[str], second: list[str], k: int) -> None:
    found = team_draft(first, second, k, 0)
    coins = tuple(team for team, _ in found[::2])
    whole = min(k, len(found) + 2)
    both = [len(draft(first, second, k, (*coins, coin, 0, 0, 0))) >= whole for coin in (0, 1)]
    assert len(found) == k or not all(both)


@given(LISTS, LISTS, st.integers(1, 5))
def test_a_reader_who_does_not_care_prefers_neither(first: list[str], second: list[str], k: int) -> None:
    """Over all coins, each team has each rank equally often, whatever the lists."""
    ranks: Counter[tuple[int, int]] = Counter()
    with pytest.MonkeyPatch.context() as patch:
        for coins in product((0, 1), repeat=3):
            patch.setattr(commenter, "_coin", lambda _, rank, coins=coins: coins[rank // 2])
            ranks.update((rank, team) for rank, (team, _) in enumerate(team_draft(first, second, k, 0)))
    assert all(ranks[rank, 0] == ranks[rank, 1] for rank in range(k))


def test_both_begin_equally_often() -> None:
    lists = [["rain", "sun", "coat"], ["storm", "ice", "hail"]]
    first = [team_draft(*lists, 3, seed) for seed in range(400)]
    assert 160 < sum(picks[0][0] for picks in first) < 240
    # The coin of the second round is another one.
    assert 160 < sum(picks[0][0] == picks[2][0] for picks in first) < 240


def test_the_same_seed_gives_the_same_list() -> None:
    lists = [["rain", "sun", "coat"], ["storm", "ice", "hail"]]
    assert [team_draft(*lists, 3, seed=b"i-1")] * 2 == [team_draft(*lists, 3, seed=b"i-1") for _ in range(2)]
    assert [[team for team, _ in team_draft(*lists, 3, seed)] for seed in range(4)] == SEEDED


SEEDED = [[0, 1, 0], [1, 0, 0], [1, 0, 1], [0, 1, 0]]
