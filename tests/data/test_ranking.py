from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.data.ranking import Ranking, best_first
from postil.errors import InvalidInput, UsageError

SCORES = st.sampled_from([0.0, -0.0, 0.5, 1.0, -1.0, float("inf"), float("-inf")]) | st.floats(allow_nan=False)
TEXT_ROWS = st.dictionaries(st.text(max_size=3), SCORES)
NUMBER_ROWS = st.dictionaries(st.integers(-(2**63), 2**63 - 1), SCORES)


@given(TEXT_ROWS | NUMBER_ROWS, st.integers(0, 12))
def test_the_order_is_that_of_sorting(rows: dict[Any, float], k: int) -> None:
    keys, scores = list(rows), list(rows.values())
    expected = sorted(rows.items(), key=lambda row: (-row[1], row[0]))
    whole = Ranking.from_scores(keys, scores)
    assert list(whole) == expected
    assert list(Ranking.from_scores(keys, scores, k=k)) == expected[:k]
    assert list(whole.top(k)) == expected[:k]
    assert [keys[i] for i in best_first(scores, keys=keys, k=k)] == [key for key, _ in expected[:k]]


@given(st.lists(SCORES), st.integers(0, 12))
def test_without_keys_the_first_wins_a_tie(scores: list[float], k: int) -> None:
    expected = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
    assert best_first(scores).tolist() == expected
    assert best_first(scores, k=k).tolist() == expected[:k]


def test_a_large_tie_at_the_cut() -> None:
    generator = np.random.default_rng(7)
    keys = generator.permutation(50_000)
    scores = np.where(keys % 1000 == 0, 2.0, 1.0)
    # 50 keys have score 2, all others tie: 0, 1000, … 49000, then 1, 2, 3.
    assert keys[best_first(scores, keys=keys, k=53)].tolist() == [*range(0, 50_000, 1000), 1, 2, 3]


def test_a_ranking_is_a_frozen_value() -> None:
    ranking = Ranking.from_scores(["b", "a"], [1, 1])
    assert ranking == Ranking.from_scores(["a", "b"], [1.0, 1.0])
    assert hash(ranking) == hash(Ranking.from_scores(["a", "b"], [1.0, 1.0]))
    assert ranking != Ranking.from_scores(["a", "b"], [1.0, 2.0])
    assert ranking != Ranking.from_scores(["a"], [1.0])
    assert ranking != [("a", 1.0), ("b", 1.0)]
    with pytest.raises(ValueError, match=r"read-only"):
        ranking.scores[0] = 3
    with pytest.raises(AttributeError):
        ranking.scores = np.zeros(2)  # type: ignore[misc]
    assert [type(part) for part in next(iter(ranking))] == [str, float]
    assert [type(part) for part in next(iter(Ranking.from_scores(np.array([3, 4]), [1, 2])))] == [int, float]


def test_the_caller_keeps_its_array() -> None:
    scores = np.array([1.0, 2.0])
    Ranking.from_scores(["a", "b"], scores)
    scores[0] = 5.0


def test_an_empty_ranking() -> None:
    assert list(Ranking.from_scores([], [])) == []
    assert len(Ranking.from_scores(["a"], [1.0]).top(0)) == 0


@pytest.mark.parametrize(
    ("keys", "scores", "message"),
    [
        (["a", "b"], [1.0, float("nan")], "scores[1]: expected a number, got NaN"),
        (["a", "b", "a"], [1, 2, 3], "keys[2]: 'a' stands there twice; a key has one score"),
        ([3, 1, 3], [1, 2, 3], "keys[2]: 3 stands there twice; a key has one score"),
        (["a", 1], [1, 2], "keys[0]: expected all text or all integers of at most 64 bits, got 'a'"),
        ([1, True], [1, 2], "keys[1]: expected all text or all integers of at most 64 bits, got True"),
        ([1, 2**63], [1, 2], "keys[1]: expected all text or all integers of at most 64 bits, got 9223372036854775808"),
        ([1.5], [1], "keys[0]: expected all text or all integers of at most 64 bits, got 1.5"),
        (["a"], [1, 2], "keys: expected as many keys as scores, got 1 and 2"),
        (["a"], ["x"], "scores: expected numbers"),
        (["a"], [[1]], "scores: expected one number a key, got an array of 2 dimensions"),
    ],
)
def test_what_is_refused(keys: Any, scores: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Ranking.from_scores(keys, scores)
    assert str(caught.value) == message


def test_a_negative_k() -> None:
    with pytest.raises(UsageError, match=r"^k counts from 0 up, got -1$"):
        best_first([1.0], k=-1)
    with pytest.raises(UsageError, match=r"^k counts from 0 up, got -1$"):
        Ranking.from_scores(["a"], [1.0]).top(-1)
