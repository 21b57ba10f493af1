"""Measures of rankings within threads, against their definitions over all orders of ties."""

from __future__ import annotations

from itertools import combinations, pairwise, permutations
from math import log, log2

import numpy as np
import pytest

from postil.studies.uses.votes import RANK_MEASURES as MEASURES
from postil.studies.uses.votes import centered_ranks, thread_measures


def ndcg(scores: list[float], votes: list[float], k: int) -> float:
    """Mean over all orders that the scores allow."""
    gains = [log(1 + max(vote, 0)) for vote in votes]

    def dcg(order: tuple[int, ...]) -> float:
        return sum(gains[at] / log2(rank + 2) for rank, at in enumerate(order[:k]))

    orders = [
        order
        for order in permutations(range(len(scores)))
        if all(scores[one] >= scores[two] for one, two in pairwise(order))
    ]
    ideal = dcg(tuple(sorted(range(len(gains)), key=lambda at: -gains[at])))
    return sum(map(dcg, orders)) / len(orders) / ideal


def pairs(scores: list[float], votes: list[float]) -> float:
    """Share of pairs in order."""
    different = [(one, two) for one, two in combinations(range(len(votes)), 2) if votes[one] != votes[two]]
    right = [
        0.5 if scores[one] == scores[two] else float((scores[one] > scores[two]) == (votes[one] > votes[two]))
        for one, two in different
    ]
    return sum(right) / len(right)


THREADS = [
    ([1.0, 2.0, 2.0, 0.0, 2.0, 1.0], [5.0, -2.0, 9.0, 0.0, 1.0, 1.0]),
    ([0.0, 0.0, 0.0], [0.0, 4.0, 0.0]),
    ([3.0, 1.0], [1.0, 7.0]),
]


def test_measures_are_means_over_all_orders_of_ties() -> None:
    scores, votes = (np.concatenate([each[side] for each in THREADS]) for side in (0, 1))
    found = thread_measures(np.column_stack([scores, -scores]), votes, np.array([0, 6, 9]))
    assert found.shape == (3, 2, len(MEASURES))
    for thread, (given, voted) in enumerate(THREADS):
        for column, sign in enumerate((1, -1)):
            signed = [sign * each for each in given]
            expected = [ndcg(signed, voted, 1), ndcg(signed, voted, 5), pairs(signed, voted)]
            assert found[thread, column][[0, 1, 4]] == pytest.approx(expected)


def test_correlations_are_those_within_each_thread() -> None:
    scores, votes = np.array([[1.0], [2.0], [3.0], [9.0], [9.0]]), np.array([2.0, 1.0, 3.0, 0.0, 5.0])
    found = thread_measures(scores, votes, np.array([0, 3]))[:, 0, 2:]
    np.testing.assert_allclose(found, [[0.5, 1 / 3, 2 / 3], [0, 0, 0.5]])


def test_centered_ranks_have_mean_0_in_every_thread() -> None:
    values = np.random.default_rng(1).integers(0, 4, (30, 2)).astype(float)
    starts = np.array([0, 7, 8, 20])
    ranks = centered_ranks(values, starts)
    np.testing.assert_allclose(np.add.reduceat(ranks, starts), 0, atol=1e-12)
    assert np.all(np.abs(ranks) < 0.5)
    assert (np.sign(np.diff(ranks[8:20], axis=0)) == np.sign(np.diff(values[8:20], axis=0))).all()
