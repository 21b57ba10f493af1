"""nDCG and pairwise accuracy of threads: parity with scikit-learn, brute force, ties, excluded threads."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.data.rows import Article, Comment
from postil.errors import InvalidInput, Undefined
from postil.threads.evaluation import NEAR, PAIRWISE, RatedThread, compare_orders, gains, ndcg, pairwise, values_of
from postil.threads.thread import Thread

ROWS = st.lists(st.tuples(st.integers(-2, 3), st.integers(-3, 40)), min_size=2, max_size=9)


def usable(rows: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    scores, values = np.array(rows, np.float64).T
    if len(np.unique(values)) < 2:
        values[0] += 1
    if values.max() <= 0:
        values += 1 - values.max()
    return scores, values


@pytest.mark.slow  # scikit-learn is long to import
def test_ndcg_is_that_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    draw = np.random.default_rng(1)
    for k in range(1, 13):
        scores, values = draw.integers(-2, 3, 10), draw.integers(-3, 40, 10).astype(np.float64)
        gain = gains(values, "votes")
        assert ndcg(scores.astype(np.float64), gain, k) == pytest.approx(metrics.ndcg_score([gain], [scores], k=k))


def test_ndcg_of_ties_is_the_mean_over_their_orders() -> None:
    scores, gain = np.array([2.0, 1.0, 1.0, 1.0, 0.0]), np.array([0.0, 3.0, 1.0, 0.0, 2.0])
    discounts = np.array([1, 1 / np.log2(3), 1 / 2, 0, 0])
    orders = [order for order in permutations(range(5)) if np.all(np.diff(scores[list(order)]) <= 0)]
    found = [gain[list(order)] @ discounts for order in orders]
    assert ndcg(scores, gain, 3) == pytest.approx(np.mean(found) / (np.array([3.0, 2, 1, 0, 0]) @ discounts))
    assert len(orders) == 6


@given(ROWS)
def test_pairs_are_counted(rows: list[tuple[int, int]]) -> None:
    scores, values = usable(rows)
    pairs = [(a, b) for a, b in combinations(range(len(rows)), 2) if values[a] != values[b]]
    right = [np.sign(scores[a] - scores[b]) * np.sign(values[a] - values[b]) for a, b in pairs]
    assert pairwise(scores, values) == pytest.approx(np.mean([(1 + each) / 2 for each in right]))
    assert pairwise(np.exp(scores), values) == pairwise(scores, values)
    assert pairwise(-scores, values) == pytest.approx(1 - pairwise(scores, values))


@given(ROWS, st.permutations(range(9)))
def test_neighbors_in_time_are_at_most_three_apart(rows: list[tuple[int, int]], dates: list[int]) -> None:
    scores, values = usable(rows)
    times = np.array(dates[: len(rows)], np.float64)
    place = np.argsort(np.argsort(times))
    pairs = [
        (a, b) for a, b in combinations(range(len(rows)), 2) if values[a] != values[b] and abs(place[a] - place[b]) <= 3
    ]
    thread = RatedThread(values, gains(values, "votes"), times)
    found, _ = compare_orders([thread], {"x": [scores]}, np.ones((2, 1), np.int32), compared=())
    right = [(1 + np.sign(scores[a] - scores[b]) * np.sign(values[a] - values[b])) / 2 for a, b in pairs]
    values_found = {(row.scorer, row.measure): row.value for row in found}
    assert values_found["x", NEAR] == pytest.approx(np.mean(right))
    assert values_found["random", NEAR] == pytest.approx(0.5)


def test_gains() -> None:
    assert gains(np.array([-98.0, 0.0, 3.0]), "votes").tolist() == [0, 0, 2]
    assert gains(np.array([2.0, 4.5]), "grades", lowest=1.0).tolist() == [1, 3.5]


def thread(*comments: tuple[int | None, float | None]) -> Thread:
    made = (Comment(str(at), "text", upvotes=votes, grade=grade) for at, (votes, grade) in enumerate(comments))
    return Thread.of(Article("a", "t", tuple(made)))


@pytest.mark.parametrize(
    ("comments", "target", "reason"),
    [
        (((3, None),), "votes", "fewer than two comments"),
        (((3, None), (None, None)), "votes", "a comment has no upvotes"),
        (((3, 1.0), (3, None)), "grades", "a comment has no grade"),
        (((3, None), (3, None)), "votes", "all comments have the same votes"),
        (((1, 2.0), (3, 2.0)), "grades", "all comments have the same grade"),
        (((0, None), (-3, None)), "votes", "no comment has more than 0 votes"),
    ],
)
def test_threads_without_an_order(comments: tuple, target: str, reason: str) -> None:
    with pytest.raises(Undefined, match=reason):
        values_of(thread(*comments), target)


def test_orders_are_compared_on_the_same_threads_and_resamples() -> None:
    threads = [
        RatedThread(np.array(each, np.float64), gains(np.array(each, np.float64), "votes"))
        for each in ((7, 1, 0), (0, 1))
    ]
    up, down = [np.array([3.0, 2, 1]), np.array([0.0, 1])], [np.array([1.0, 2, 3]), np.array([0.0, 1])]
    rows, differences = compare_orders(
        threads, {"up": up, "down": down}, np.array([[2, 0], [0, 2], [1, 1]], np.int32), compared=["up"], cutoffs=(1,)
    )
    found = {(row.scorer, row.measure): (row.value, row.n, row.comments) for row in rows}
    assert found["up", "ndcg@1"] == (1, 2, 5)
    assert found["down", PAIRWISE] == (0.5, 2, 5)
    assert found["random", "ndcg@1"][0] == pytest.approx((4 / 3 / 3 + 0.5) / 2)
    assert ("up", NEAR) not in found  # without dates
    (by_length, *_) = [row for row in differences if (row.minus, row.measure) == ("down", PAIRWISE)]
    assert (by_length.value, round(by_length.low, 3), round(by_length.high, 3)) == (0.5, 0.025, 0.975)
    assert {row.scorer for row in differences} == {"up"}
    for wrong in ([np.zeros(3)], [np.zeros(3), np.zeros(3)], [np.zeros(3), np.array([0, np.nan])]):
        with pytest.raises(InvalidInput, match="expected a number for each comment"):
            compare_orders(threads, {"x": wrong}, np.ones((1, 2), np.int32), compared=())
