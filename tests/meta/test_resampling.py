from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.errors import Undefined, UsageError
from postil.meta.resampling import RESAMPLES, SEED, Interval, bootstrap_counts, interval, p_value


@given(st.integers(1, 30), st.integers(1, 20), st.integers(0, 2**32))
def test_counts_are_of_as_many_draws_as_there_are_clusters(clusters: int, resamples: int, seed: int) -> None:
    counts = bootstrap_counts(clusters, resamples, seed)
    assert counts.shape == (resamples, clusters)
    assert counts.dtype == np.int32
    assert counts.min() >= 0
    assert (counts.sum(axis=1) == clusters).all()
    assert np.array_equal(counts, bootstrap_counts(clusters, resamples, seed))


def test_counts_are_of_the_draws_of_the_generator() -> None:
    drawn = np.random.default_rng(SEED).integers(0, 7, (RESAMPLES, 7))
    assert np.array_equal(bootstrap_counts(7), [np.bincount(row, minlength=7) for row in drawn])


def test_another_seed_draws_others() -> None:
    assert not np.array_equal(bootstrap_counts(10, 5, seed=1), bootstrap_counts(10, 5, seed=2))


def test_every_cluster_is_drawn_as_often() -> None:
    # A cluster comes Binomial(10, 1/10) times: mean 1, variance .9; over 20,000 resamples the sd of the mean is .007.
    assert bootstrap_counts(10, 20_000).mean(axis=0) == pytest.approx(1, abs=0.035)


def test_at_least_one_resample() -> None:
    with pytest.raises(UsageError, match="at least one resample, got 0"):
        bootstrap_counts(3, 0)


def test_the_interval_passes_over_undefined_resamples() -> None:
    # 0 to 40 has its 2.5th percentile at .025 * 40 = 1 and its 97.5th at 39.
    samples = np.r_[np.nan, np.arange(41.0), np.nan]
    assert interval(samples) == Interval(1.0, 39.0)


def test_no_interval_without_values() -> None:
    with pytest.raises(Undefined, match="no resample"):
        interval(np.array([np.nan, np.nan]))


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        # rarer side of 0, then 2 (rarer + 1) / (R + 1)
        ([1.0] * 99, 2 / 100),
        ([-1.0] * 99, 2 / 100),
        ([1.0] * 97 + [-1.0] * 2, 6 / 100),
        ([1.0] * 97 + [0.0] * 2, 6 / 100),  # 0 is on either side
        ([0.0] * 99, 1.0),
        ([1.0] * 49 + [-1.0] * 50, 1.0),  # 2 * 50 / 100
        ([1.0] * 98 + [np.nan], 2 / 99),  # the undefined one does not count
    ],
)
def test_p_value(samples: list[float], expected: float) -> None:
    assert p_value(np.array(samples)) == pytest.approx(expected, rel=1e-15)


@given(st.lists(st.floats(-1, 1, allow_nan=False), min_size=1, max_size=50))
def test_the_p_value_knows_no_direction(samples: list[float]) -> None:
    found = p_value(np.array(samples))
    assert 2 / (len(samples) + 1) <= found <= 1
    assert found == p_value(-np.array(samples))
