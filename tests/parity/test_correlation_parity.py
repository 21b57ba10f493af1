"""Coefficients are those of scipy, on all rows and on every resample written out."""

from __future__ import annotations

import numpy as np
import pytest

from postil.meta.coefficient_kinds import kind_of
from postil.meta.coefficients import LEVELS, TABLE
from postil.meta.column_correlations import Texts
from postil.meta.resampling import bootstrap_counts

pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore")]

stats = pytest.importorskip("scipy.stats")

THEIRS = {
    "pearson": stats.pearsonr,
    "spearman": stats.spearmanr,
    "kendall-b": stats.kendalltau,
    "kendall-c": lambda x, y: stats.kendalltau(x, y, variant="c"),
}

COEFFICIENTS = [name for name, each in TABLE.items() if not each.accuracy]


def theirs(x, y, coefficient):
    """NaN where a side is constant."""
    if len(set(x)) < 2 or len(set(y)) < 2:
        return np.nan
    return float(THEIRS[coefficient](x, y)[0])


def plainly(x, y, item, system, drawn, coefficient, by):  # noqa: PLR0917 - what a resample is made of
    """One column, one resample: the items' rows one after the other, as often as they were drawn."""
    copies = [np.flatnonzero(item == at) for at, often in enumerate(drawn) for _ in range(often)]
    every = np.concatenate(copies)
    if by == "pool":
        return theirs(x[every], y[every], coefficient)
    if by == "item":
        values = [theirs(x[copy], y[copy], coefficient) for copy in copies]
        values = [value for value in values if not np.isnan(value)]
        return np.mean(values) if values else np.nan
    if by == "within-system":
        values = [theirs(x[rows], y[rows], coefficient) for rows in (every[system[every] == s] for s in range(6))]
        values = [value for value in values if not np.isnan(value)]
        return np.mean(values) if values else np.nan
    of = [[row for row in every if system[row] == each] for each in sorted(set(system[every].tolist()))]
    means = [[float(f"{side[each].mean():.12e}") for each in of] for side in (x, y)]  # the ties of rounding
    return theirs(*map(np.array, means), coefficient) if len(of) > 1 else np.nan


def made(seed, levels):
    """Items of 1 to 7 texts by some of 6 systems; scores and grades with many ties or few."""
    rng = np.random.default_rng(seed)
    of = [np.sort(rng.permutation(6)[: rng.integers(1, 7)]) for _ in range(14)]
    item = np.repeat(np.arange(14), list(map(len, of))).astype(np.int32)
    y = rng.integers(1, 6, len(item)) / 1.0
    x = y[:, None] + rng.normal(0, 2, (len(item), 3))
    x = np.round(x * levels) / levels
    return x, y, item, np.concatenate(of).astype(np.int32)


@pytest.mark.parametrize("by", LEVELS)
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize(("seed", "levels"), [(0, 1), (1, 3), (2, 1e6)])
def test_every_resample_is_that_of_the_rows_written_out(by, coefficient, seed, levels):
    x, y, item, system = made(seed, levels)
    counts = bootstrap_counts(14, 25, seed)
    found = kind_of(coefficient).resampled(Texts(x, y, item, system), counts, by)
    ours = np.vstack([found.values, found.samples])
    expected = [
        [plainly(column, y, item, system, drawn, coefficient, by) for column in x.T]
        for drawn in [np.ones(14, int), *counts]
    ]
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-12)
    assert not np.isnan(ours).all()


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("ties", [2, 5, 50, 10**6])
def test_many_rows(coefficient, ties):
    rng = np.random.default_rng(ties)
    y = rng.integers(0, ties, 3000) / 7
    x = np.stack([y * (1 + each) + rng.normal(0, ties / 7, 3000) for each in range(4)], axis=1)
    x[:, 1] = np.round(x[:, 1])
    x[:, 2] = x[:, 2] > 0
    x[:, 3] *= 1e9
    every = np.arange(3000, dtype=np.int32)
    counts = np.zeros((0, 3000), np.int32)
    found = kind_of(coefficient).resampled(Texts(x, y, every, np.zeros(3000, np.int32)), counts, "pool")
    np.testing.assert_allclose(found.values, [theirs(column, y, coefficient) for column in x.T], rtol=0, atol=1e-12)


@pytest.mark.parametrize("by", ["pool", "item"])
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("size", [1e-100, 1e-30, 1e-13, 1e-3, 1.0, 1e12, 1e60])
def test_scores_of_any_magnitude(by, coefficient, size):
    x, y, item, system = made(3, 4)
    x *= size
    x[:, 1] = size * np.random.default_rng(4).random(len(y))
    found = kind_of(coefficient).resampled(Texts(x, y, item, system), np.zeros((0, 14), np.int32), by)
    once = np.ones(14, int)
    expected = [plainly(column, y, item, system, once, coefficient, by) for column in x.T]
    np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("by", ["pool", "item"])
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_scores_of_all_magnitudes_in_one_table(by, coefficient):
    _, y, item, system = made(5, 1)
    x = 10 ** np.random.default_rng(5).uniform(-100, 60, (len(y), 3))
    found = kind_of(coefficient).resampled(Texts(x, y, item, system), np.zeros((0, 14), np.int32), by)
    expected = [plainly(column, y, item, system, np.ones(14, int), coefficient, by) for column in x.T]
    np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-12)
