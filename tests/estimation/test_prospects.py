"""Expected intervals of a running campaign."""

from __future__ import annotations

import math

import numpy as np
import pytest

from postil.estimation.designs import MORE_ITEMS, prospects
from postil.meta.estimation import Outputs
from postil.meta.parametric import student_quantile


def outputs(ratings: int, rater_variance: float | None, items: int = 12) -> Outputs:
    random = np.random.default_rng(3)
    grades = random.integers(1, 6, (items, 3)) + random.normal(size=(items, 1))
    return Outputs(np.zeros((items, 3, 0)), grades, np.full((items, 3), ratings), rater_variance)


def test_the_present_widths_are_those_of_paired_differences() -> None:
    """Averaged over pairs in squares, the intervals are those of a paired t test."""
    given = outputs(1, None)
    found = prospects(given, 12)
    variances = [np.var(given.grades[:, a] - given.grades[:, b], ddof=1) for a, b in ((0, 1), (0, 2), (1, 2))]
    half = student_quantile(0.975, 11) * math.sqrt(np.mean(variances) / 12)
    assert found.now.difference == pytest.approx(half, rel=1e-9)
    assert (found.now.items, found.more.items, found.planned, found.twice) == (12, 12 + MORE_ITEMS, None, None)


def test_more_of_either_narrows_intervals() -> None:
    found = prospects(outputs(2, 0.8), 20)
    assert found.planned
    assert found.twice
    for narrower, wider in ((found.more, found.planned), (found.planned, found.now), (found.twice, found.now)):
        assert (narrower.mean, narrower.difference) < (wider.mean, wider.difference)


def test_another_rating_brings_what_its_share_of_the_variance_says() -> None:
    found = prospects(outputs(2, 0.8), 12)
    assert found.twice
    lost = (found.now.mean**2 - found.twice.mean**2) / student_quantile(0.975, 11) ** 2
    assert lost == pytest.approx(0.8 * (1 / 2 - 1 / 3) / 12, rel=1e-9)


def test_systems_with_unlike_numbers_of_rated_items_count_by_their_mean() -> None:
    given = outputs(1, None)
    grades = given.grades.copy()
    grades[:6, 0] = np.nan
    counts = np.where(np.isnan(grades), 0, 1)
    assert prospects(Outputs(given.scores, grades, counts, None), 12).now.items == 10
