"""Intervals over seeds and items: what they are over, and that one seed is the usual bootstrap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.meta.resampling import Draws, bootstrap_counts, crossed_estimate, interval

if TYPE_CHECKING:
    from numpy.typing import NDArray


def mean(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return sums[:, 0] / sums[:, 1]


def stats(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.stack([values, np.ones_like(values)], axis=2)


def test_one_run_is_the_bootstrap_over_items() -> None:
    values = np.random.default_rng(1).random((1, 40))
    found = crossed_estimate(stats(values), mean, draws=Draws(resamples=300, seed=5))
    usual = interval(bootstrap_counts(40, 300, 5) @ values[0] / 40)
    assert found.value == pytest.approx(values.mean())
    assert (found.low, found.high) == pytest.approx((usual.low, usual.high))


def test_equal_runs_add_nothing_and_different_ones_widen_the_interval() -> None:
    values = np.random.default_rng(2).random((1, 40))
    one = crossed_estimate(stats(values), mean, draws=Draws(resamples=500, seed=5))
    same = crossed_estimate(stats(np.repeat(values, 4, axis=0)), mean, draws=Draws(resamples=500, seed=5))
    apart = crossed_estimate(stats(values + np.arange(4.0)[:, None]), mean, draws=Draws(resamples=500, seed=5))
    assert (same.value, same.low, same.high) == pytest.approx((one.value, one.low, one.high))
    assert apart.low is not None
    assert apart.high is not None
    assert apart.high - apart.low > 1.0 > (one.high or 0.0) - (one.low or 0.0)


def test_the_score_of_a_resample_is_that_of_its_sums_not_the_mean_of_items() -> None:
    ratio = np.array([[[9.0, 10.0], [0.0, 1.0]]])
    found = crossed_estimate(ratio, mean, draws=Draws(resamples=50, seed=1))
    assert found.value == pytest.approx(9 / 11)
    assert (found.low, found.high) == pytest.approx((0.0, 0.9))  # the first item twice, or the second
