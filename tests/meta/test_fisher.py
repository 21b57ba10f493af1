"""Intervals of Pearson's r over all texts, and Student's t."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.meta.correlation import correlations
from postil.meta.resampling import Draws, bootstrap_counts
from postil.meta.significance import degrees_of_freedom, fisher_interval, power, student_quantile
from rated_tables import rated_table

if TYPE_CHECKING:
    from postil.meta.table import Table

EACH = 4


def texts(random: np.random.Generator, items: int, outliers: float) -> tuple[np.ndarray, np.ndarray]:
    """Scores and grades of four texts per item; a share of the scores is far above the others."""
    n = items * EACH
    grades = np.clip(np.round(3 + random.normal(size=n) + 0.5 * np.repeat(random.normal(size=items), EACH)), 1, 5)
    scores = 0.2 * (grades - 3) + 0.5 * random.normal(size=n)
    far = random.random(n) < outliers
    scores = np.where(far, 8 + 3 * random.normal(size=n), scores)
    return scores, np.where(far, np.where(random.random(n) < 0.8, 5, 2), grades)


def joined(scores: np.ndarray, grades: np.ndarray) -> Table:
    items, systems = divmod(np.arange(len(scores)), EACH)
    return rated_table({"x": scores}, grades, items=items, systems=systems)


@pytest.mark.parametrize(("outliers", "least", "percentiles"), [(0.01, 0.89, 0.84), (0.0, 0.92, 0.97)])
def test_it_holds_where_percentiles_do_not(outliers: float, least: float, percentiles: float) -> None:
    random, items, draws = np.random.default_rng(7), 50, 300
    truth = np.corrcoef(*texts(random, 200_000, outliers))[0, 1]
    counts = bootstrap_counts(items, 300, seed=1)
    starts = np.arange(0, items * EACH, EACH)
    held = plain = 0
    for _ in range(draws):
        x, y = texts(random, items, outliers)
        of_item = np.add.reduceat(np.column_stack([np.ones(len(x)), x, y, x * x, y * y, x * y]), starts)
        n, sx, sy, xx, yy, xy = (counts @ of_item).T
        samples = (n * xy - sx * sy) / np.sqrt((n * xx - sx**2) * (n * yy - sy**2))
        (degrees,) = degrees_of_freedom(x[:, None], y, starts)
        found = fisher_interval(np.corrcoef(x, y)[0, 1], samples, degrees, items)
        held += found.low <= truth <= found.high
        low, high = np.percentile(samples, [2.5, 97.5])
        plain += low <= truth <= high
    assert held / draws >= least
    assert plain / draws <= percentiles


def test_a_row_has_it_by_pool_alone() -> None:
    table = joined(*texts(np.random.default_rng(2), 30, 0.02))
    (row,) = correlations(table, ["pearson"], draws=Draws(resamples=200)).rows
    assert row.low < row.value < row.high
    # Symmetric on Fisher's scale, and .05 at its end.
    middle = (np.arctanh(row.low) + np.arctanh(row.high)) / 2
    assert middle == pytest.approx(np.arctanh(row.value))
    for coefficient, by in (("pearson", "item"), ("pearson", "system"), ("spearman", "pool")):
        (other,) = correlations(table, [coefficient], by, draws=Draws(resamples=200)).rows
        samples = correlations(table, [coefficient], by, draws=Draws(resamples=200)).replicates[coefficient].samples
        assert (other.low, other.high) == pytest.approx(tuple(np.percentile(samples, [2.5, 97.5])))


def test_few_influences_make_it_wider() -> None:
    samples = np.tanh(0.4 + 0.1 * np.random.default_rng(1).normal(size=500))
    widths = []
    for degrees in (1.0, 2.0, 5.5, 40.0, np.inf):
        found = fisher_interval(np.tanh(0.4), samples, degrees, 30)
        widths.append(np.arctanh(found.high) - 0.4)
    assert widths[0] == widths[1]
    assert np.array(widths[1:]) / widths[-1] == pytest.approx(
        [student_quantile(0.975, df) / student_quantile(0.975, 29) for df in (2, 5, 29, 29)]
    )


def test_metrics_that_few_texts_rule_are_named() -> None:
    random = np.random.default_rng(5)
    scores, grades = texts(random, 60, 0)
    assert not correlations(joined(scores, grades), ["pearson"], draws=Draws(resamples=20)).notes
    scores[7], grades[7] = 30, 1
    for coefficients, by, told in ((["pearson"], "pool", 1), (["pearson"], "item", 0), (["spearman"], "pool", 0)):
        notes = correlations(joined(scores, grades), coefficients, by, draws=Draws(resamples=20)).notes
        assert len(notes) == told
        assert all(note.startswith("few outliers rule pearson by pool of x: ") for note in notes)


def test_p_is_five_percent_where_an_end_is_0() -> None:
    samples = np.tanh(0.4 + 0.1 * np.random.default_rng(1).normal(size=500))
    found = fisher_interval(np.tanh(0.4), samples, 12.0, 30)
    half = np.arctanh(found.high) - 0.4
    at_end = fisher_interval(np.tanh(half), np.tanh(np.arctanh(samples) - 0.4 + half), 12.0, 30)
    assert (at_end.low, at_end.p) == (pytest.approx(0, abs=1e-6), pytest.approx(0.05, abs=1e-6))


def test_where_fishers_scale_ends_there_are_percentiles() -> None:
    assert fisher_interval(1.0, np.ones(9), 5.0, 30) is None
    assert fisher_interval(0.5, np.array([0.2, *np.ones(30)]), 5.0, 30) is None
    assert fisher_interval(0.5, np.array([0.2, 0.5, 0.7]), 5.0, 1) is None
    grades = np.array([1.0, 2, 3, 4] * 3)
    (row,) = correlations(joined(2 * grades, grades), ["pearson"], draws=Draws(resamples=20)).rows
    assert (row.value, row.low, row.high) == pytest.approx((1, 1, 1))
    # Two items: one degree of freedom.
    (row,) = correlations(joined(*texts(np.random.default_rng(3), 2, 0)), ["pearson"], draws=Draws(resamples=50)).rows
    assert -1 <= row.low <= row.value <= row.high <= 1


def test_large_and_small_numbers_have_the_same_degrees_of_freedom() -> None:
    x, y = texts(np.random.default_rng(4), 40, 0.02)
    starts = np.arange(0, len(x), EACH)
    columns = np.column_stack([x, 1e150 * x, 1e-150 * x, np.ones(len(x))])
    found = degrees_of_freedom(columns, y, starts)
    assert found[1:3] == pytest.approx(found[0])
    assert np.isnan(found[3])


stats = pytest.importorskip("scipy.stats")


@pytest.mark.parametrize("df", [1, 2, 3, 9, 39, 200, 10_000])
@pytest.mark.parametrize("p", [0.55, 0.9, 0.975, 0.99999])
def test_quantile(p: float, df: int) -> None:
    assert student_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-11)


@pytest.mark.parametrize("df", [1, 2, 9, 39, 999])
@pytest.mark.parametrize("shift", [0.5, 2.0, 6.0])
def test_power(shift: float, df: int) -> None:
    critical = stats.t.ppf(0.975, df)
    expected = stats.nct.sf(critical, df, shift) + stats.nct.cdf(-critical, df, shift)
    assert power(shift, df) == pytest.approx(expected, abs=1e-11)
    assert power(-shift, df) == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("df", [1, 9, 999])
def test_without_a_difference_power_is_the_level(df: int) -> None:
    assert power(0.0, df, level=0.01) == pytest.approx(0.01, abs=1e-12)
