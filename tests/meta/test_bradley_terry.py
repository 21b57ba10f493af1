"""Strengths by paired preferences: what a maximum of the likelihood must be, and data that have none."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from postil.comparison.preferences import Pairs, groups_apart

FIRST, SECOND = np.array(list(combinations(range(4), 2))).T
RANDOM = np.random.default_rng(11)
COUNTS = RANDOM.integers(1, 30, (9, len(FIRST), 3)).astype(float)


@pytest.mark.parametrize("ties", [False, True])
def test_wins_and_ties_are_as_many_as_the_model_expects(ties: bool) -> None:
    counts = COUNTS if ties else COUNTS * [1, 0, 1]
    pairs = Pairs(4, FIRST, SECOND, ties=ties)
    found = pairs.fit(counts)
    expected = pairs.probabilities(found) * counts.sum(axis=2, keepdims=True)
    credit = np.array([1, 0.5, 0])
    for system in range(4):
        won = [(of[:, system == FIRST] @ credit).sum(axis=1) for of in (counts, expected)]
        lost = [(of[:, system == SECOND] @ (1 - credit)).sum(axis=1) for of in (counts, expected)]
        np.testing.assert_allclose(won[0] + lost[0], won[1] + lost[1], rtol=1e-6)
    np.testing.assert_allclose(counts[..., 1].sum(axis=1), expected[..., 1].sum(axis=1), rtol=1e-6)
    np.testing.assert_allclose(found.values.sum(axis=1), 0, atol=1e-9)
    assert not found.separated.any()


def test_names_and_directions_of_pairs_do_not_matter() -> None:
    pairs = Pairs(4, FIRST, SECOND, ties=True)
    turned = Pairs(4, SECOND, FIRST, ties=True)
    np.testing.assert_allclose(turned.fit(COUNTS[..., ::-1]).values, pairs.fit(COUNTS).values, atol=1e-8)
    order = np.array([2, 0, 3, 1])
    renamed = Pairs(4, order[FIRST], order[SECOND], ties=True)
    np.testing.assert_allclose(renamed.fit(COUNTS).values[:, order], pairs.fit(COUNTS).values, atol=1e-8)


@pytest.mark.parametrize(
    "counts",
    [
        [[5, 0, 0], [5, 0, 0], [5, 0, 0], [2, 0, 3], [3, 0, 2], [1, 0, 4]],  # one always wins
        [[5, 0, 0]] * 6,
        [[0, 4, 0]] * 6,  # ties alone
        [[1e6, 0, 0]] * 6,
    ],
)
def test_separated_systems_have_finite_strengths(counts: list[list[float]]) -> None:
    pairs = Pairs(4, FIRST, SECOND, ties=True)
    found = pairs.fit(np.array([counts], float))
    assert found.separated.tolist() == [True]
    assert np.isfinite(found.values).all()
    assert np.isfinite(pairs.covariance(found, np.array([counts], float))).all()
    if counts[0][0]:
        assert found.values[0].argmax() == 0
    else:
        np.testing.assert_allclose(found.values, 0, atol=1e-9)


def test_ties_bound_strengths_only_beside_a_cycle_of_wins() -> None:
    pairs = Pairs(3, np.array([0, 1]), np.array([1, 2]), ties=True)
    found = pairs.fit(np.array([[[5.0, 1, 0], [2, 0, 0]], [[5, 1, 0], [2, 0, 2]], [[5, 0, 0], [2, 1, 2]]]))
    assert found.separated.tolist() == [True, False, True]
    assert np.abs(found.values).max() < 5


def test_a_resample_without_the_ties_of_the_data_is_fitted_without() -> None:
    counts = COUNTS[:1] * [1, 0, 1]
    with_ties, without = (Pairs(4, FIRST, SECOND, ties=ties).fit(counts) for ties in (True, False))
    np.testing.assert_allclose(with_ties.values, without.values, atol=1e-6)
    assert with_ties.ties[0] < 1e-9


def test_the_curvature_is_that_of_the_likelihood() -> None:
    pairs = Pairs(2, np.array([0]), np.array([1]), ties=False)
    counts = np.array([[[30.0, 0, 10]]])
    covariance = pairs.covariance(pairs.fit(counts), counts)[0]
    assert covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1] == pytest.approx(1 / 30 + 1 / 10)


def test_groups_of_a_chain() -> None:
    assert groups_apart(5, np.arange(4), np.arange(1, 5)) == [[0, 1, 2, 3, 4]]
