"""Rankings, and the ties among scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from postil.data.ranking import (
    Ranking,
    _counted_ranks,
    best_first,
    dense_ranks,
    difference,
    joined,
    tied,
    without_noise,
)
from postil.errors import InvalidInput, UsageError
from refusals import refused

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
    given_scores = np.array([1.0, 2.0])
    Ranking.from_scores(["a", "b"], given_scores)
    given_scores[0] = 5.0  # it is the caller's still
    assert [type(part) for part in next(iter(Ranking.from_scores(np.array([3, 4]), [1, 2])))] == [int, float]


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
    assert refused(InvalidInput, Ranking.from_scores, keys, scores) == message


def test_a_negative_k() -> None:
    said = "k counts from 0 up, got -1"
    assert refused(UsageError, best_first, [1.0], k=-1) == said
    assert refused(UsageError, Ranking.from_scores(["a"], [1.0]).top, -1) == said


FINITE = st.floats(-1e60, 1e60, allow_nan=False)


def test_neighbors_tie_by_chains() -> None:
    # Each is within 1e-12 of the next, the first and the last are not.
    chain = np.array([1.0 + 1.8e-12, 1.0, 1.0 + 0.9e-12, 2.0])
    assert dense_ranks(chain[:, None])[:, 0].tolist() == [0, 0, 0, 1]
    assert not tied(chain[0], chain[1])
    assert joined(chain).tolist() == [1.0, 1.0, 1.0, 2.0]

    # A bridge in another group joins nothing.
    rows = np.array([1.0, 1.0 + 1.8e-12, 1.0 + 0.9e-12])
    assert dense_ranks(rows[:, None], np.array([0, 2]))[:, 0].tolist() == [0, 1, 0]
    assert joined(rows, np.array([0, 2])).tolist() == rows.tolist()


@pytest.mark.parametrize("size", [1e-300, 1e-100, 1e-12, 1.0, 1e60, 1e300])
def test_ties_do_not_depend_on_the_magnitude(size: float) -> None:
    values = size * np.array([0.1 + 0.2, 0.3, 0.3 + 1e-11, -0.3, 0.0])
    assert dense_ranks(values[:, None])[:, 0].tolist() == [2, 2, 3, 0, 1]


def test_infinities_tie_with_themselves_alone_and_nothing_with_nothing() -> None:
    assert dense_ranks(np.empty((0, 2))).shape == (0, 2)
    assert joined(np.empty(0)).tolist() == []
    values = np.array([np.inf, 1e308, -np.inf, np.inf, -1e308, -np.inf])
    assert dense_ranks(values[:, None])[:, 0].tolist() == [3, 2, 0, 3, 1, 0]


def test_differences_are_compared_by_the_scores_in_them() -> None:
    one, other = np.array([0.3, 0.7]), np.array([0.1, 0.5])
    assert (one - other)[0] != (one - other)[1]
    assert difference(one, other)[0] != 0
    assert tied(*(one - other), np.array(0.7))
    assert difference(np.array([0.1 + 0.2]), np.array([0.3])).tolist() == [0.0]
    gaps = np.array([[2e-13], [1e-13]])
    assert dense_ranks(gaps)[:, 0].tolist() == [1, 0]
    assert dense_ranks(gaps, magnitudes=np.array([[1.0], [1.0]]))[:, 0].tolist() == [0, 0]


def test_sums_that_cancel_are_zero() -> None:
    terms = np.array([0.1, 0.2, -0.3])
    assert terms.sum() != 0
    assert without_noise(terms.sum(), np.abs(terms).sum()) == 0
    assert without_noise(np.array(1e-100), 1e-100) == 1e-100


@given(arrays(np.float64, st.integers(1, 30), elements=FINITE))
def test_joined_numbers_have_the_order_of_the_ranks(values: np.ndarray) -> None:
    found = joined(values)
    ranks = dense_ranks(values[:, None])[:, 0]
    assert np.unique(found, return_inverse=True)[1].tolist() == ranks.tolist()
    np.testing.assert_allclose(found, values, rtol=1e-10)
    assert joined(found).tolist() == found.tolist()


@given(st.lists(st.tuples(st.integers(-3000, 3000), st.integers(1, 6)), min_size=1, max_size=40), st.booleans())
def test_counted_ranks_are_those_of_sorting(grades: list[tuple[int, int]], other: bool) -> None:
    values = np.array([total / n for total, n in grades] + [1 / 7] * other)
    counted = _counted_ranks(np.tile(values, 500))
    exact = all(n in {1, 2, 4} for _, n in grades)  # a third times 60 may round to a number that is not whole
    if other:
        assert counted is None
    elif exact and np.ptp(values) <= 100:
        assert counted is not None
    expected = dense_ranks(values[:, None], magnitudes=np.abs(values)[:, None])
    np.testing.assert_array_equal(dense_ranks(values[:, None]), expected)
    if counted is not None:
        np.testing.assert_array_equal(counted, np.tile(expected[:, 0], 500))
