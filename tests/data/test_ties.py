from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from postil.data.ranking import _counted_ranks, dense_ranks, difference, joined, tied, without_noise

FINITE = st.floats(-1e60, 1e60, allow_nan=False)


def test_neighbors_tie_by_chains() -> None:
    # Each is within 1e-12 of the next, the first and the last are not.
    chain = np.array([1.0 + 1.8e-12, 1.0, 1.0 + 0.9e-12, 2.0])
    assert dense_ranks(chain[:, None])[:, 0].tolist() == [0, 0, 0, 1]
    assert not tied(chain[0], chain[1])
    assert joined(chain).tolist() == [1.0, 1.0, 1.0, 2.0]


def test_a_bridge_in_another_group_joins_nothing() -> None:
    rows = np.array([1.0, 1.0 + 1.8e-12, 1.0 + 0.9e-12])
    assert dense_ranks(rows[:, None], np.array([0, 2]))[:, 0].tolist() == [0, 1, 0]
    assert joined(rows, np.array([0, 2])).tolist() == rows.tolist()


@pytest.mark.parametrize("size", [1e-300, 1e-100, 1e-12, 1.0, 1e60, 1e300])
def test_ties_do_not_depend_on_the_magnitude(size: float) -> None:
    values = size * np.array([0.1 + 0.2, 0.3, 0.3 + 1e-11, -0.3, 0.0])
    assert dense_ranks(values[:, None])[:, 0].tolist() == [2, 2, 3, 0, 1]


def test_infinities_tie_with_themselves_alone() -> None:
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


def test_nothing_has_no_ties() -> None:
    assert dense_ranks(np.empty((0, 2))).shape == (0, 2)
    assert joined(np.empty(0)).tolist() == []


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
