"""Resamples: of rows, of clusters, over seeds and items."""

from __future__ import annotations

import itertools
import math
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from postil.errors import Undefined, UsageError
from postil.meta.parts import Difference
from postil.meta.resampling import (
    RESAMPLES,
    SEED,
    Draws,
    Interval,
    RankedRows,
    bootstrap_counts,
    crossed_estimate,
    interval,
    p_value,
)
from postil.meta.significance import significance_clusters

if TYPE_CHECKING:
    from numpy.typing import NDArray


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


scipy_stats = pytest.importorskip("scipy.stats")

ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=30)


@pytest.mark.parametrize("coefficient", ["spearman", "kendall-b", "kendall-c"])
@given(rows=ROWS)
@examples(25)
def test_counted_pairs_of_ranks_have_the_coefficients_of_their_rows(
    coefficient: str, rows: list[tuple[int, int, int]]
) -> None:
    rows.sort()
    names, x, y = np.array(rows, float).T
    item = np.unique(names, return_inverse=True)[1].astype(np.int32)
    ranked = RankedRows(coefficient, x[:, None], y, item)  # type: ignore[arg-type]
    of_item, first, second = ranked.cells
    assert of_item.sum() == len(rows)
    assert len(set(zip(first[:, 0].tolist(), second.tolist(), strict=True))) == len(second)
    counts = bootstrap_counts(int(item[-1]) + 1, 10, seed=len(rows))
    for found, drawn in zip(ranked(counts)[:, 0], counts, strict=True):
        again = np.repeat(np.arange(len(rows)), drawn[item])
        one, other = x[again], y[again]
        if not len(again) or np.ptp(one) == 0 or np.ptp(other) == 0:
            assert math.isnan(found)
        elif coefficient == "spearman":
            assert found == pytest.approx(scipy_stats.spearmanr(one, other).statistic, abs=1e-12)
        else:
            expected = scipy_stats.kendalltau(one, other, variant=coefficient[-1]).statistic
            assert found == pytest.approx(expected, abs=1e-12)


def test_many_pairs_of_ranks_and_several_columns_are_not_counted() -> None:
    x, y = np.array(list(itertools.product(range(9), repeat=2)), float).T
    item = np.arange(len(y), dtype=np.int32)
    assert RankedRows("spearman", x[:, None], y, item).cells is None
    assert RankedRows("spearman", np.column_stack([x, x])[:9], y[:9], item[:9]).cells is None
    assert RankedRows("spearman", x[:9, None], y[:9], item[:9]).cells is not None


def ranks(p: dict[str, float | None]) -> list[int]:
    """Ranks of metrics a, b, … of falling correlation, of two-sided p-values by pair."""
    names = sorted({*"".join(p)})
    rows = [
        Difference(
            first=second,
            second=first,
            coefficient="pearson",
            by="pool",
            value=-0.1,
            low=None,
            high=None,
            n=9,
            p=p[first + second],
        )
        for first, second in combinations(names, 2)
        if first + second in p
    ]
    values = {name: 1 - place / 10 for place, name in enumerate(names)}
    found = significance_clusters(dict(reversed(values.items())), rows)
    assert list(found) == names
    return list(found.values())


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        ({"ab": 1.0, "ac": 1.0, "bc": 1.0}, [1, 1, 1]),
        ({"ab": 0.1, "ac": 0.0, "bc": 0.0}, [1, 2, 3]),  # one-sided, .05
        ({"ab": 0.11, "ac": 0.0, "bc": 1.0}, [1, 1, 2]),
        ({"ab": 1.0, "ac": 0.0, "ad": 1.0, "bc": 1.0, "bd": 1.0, "cd": 1.0}, [1, 1, 2, 2]),
        ({"ab": 1.0, "ac": 0.0, "ad": 0.0, "bc": 0.0, "bd": 1.0, "cd": 0.0}, [1, 1, 2, 3]),
        ({"ab": 0.0, "ac": 1.0, "bc": 1.0}, [1, 2, 2]),  # c is not compared with the cluster of a any more
        ({"ab": None, "ac": None}, [1, 1, 1]),  # no test
    ],
)
def test_ranks_of_the_metrics_task(p: dict[str, float | None], expected: list[int]) -> None:
    assert ranks(p) == expected


def test_without_a_permutation_test_the_bootstrap_counts() -> None:
    kind = {"coefficient": "kendall-b", "by": "pool", "value": 0.1, "low": 0.0, "high": 0.2, "n": 9}
    row = Difference(first="a", second="b", **kind, p_bootstrap=0.04)
    assert significance_clusters({"a": 0.5, "b": 0.4}, [row]) == {"a": 1, "b": 2}


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
    assert apart.high - apart.low > 1.0 > (one.high or 0.0) - (one.low or 0.0)


def test_the_score_of_a_resample_is_that_of_its_sums_not_the_mean_of_items() -> None:
    ratio = np.array([[[9.0, 10.0], [0.0, 1.0]]])
    found = crossed_estimate(ratio, mean, draws=Draws(resamples=50, seed=1))
    assert found.value == pytest.approx(9 / 11)
    assert (found.low, found.high) == pytest.approx((0.0, 0.9))  # the first item twice, or the second
