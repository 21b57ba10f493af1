"""Plans of campaigns: worked values, monotonicity, and the cheapest of all plans."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from postil.estimation.designs import Campaign, Components, assumed, cheapest, components_of, steps_to
from postil.estimation.result import SpreadComponents
from postil.meta.estimation import Outputs

NONE = SpreadComponents(mean=0.0, difference=0.0)
WORKED = Campaign(components=assumed(1, 0.5, 0.3, 0.25), items=200, systems=4, difference=0.5)


def test_worked_value_of_these_items() -> None:
    campaign = Campaign(components=WORKED.components, items=200, systems=4, target="items")
    assert campaign.standard_error(40, 2, difference=True) == pytest.approx(0.151658, abs=1e-6)


def test_one_rater_on_more_items_beats_more_raters_on_fewer() -> None:
    errors = [WORKED.standard_error(60 // k, k, difference=True) for k in (1, 2, 3)]
    assert errors == sorted(errors)


def test_more_raters_pay_where_all_items_are_rated() -> None:
    errors = [WORKED.standard_error(200, k, difference=True) for k in (1, 2, 3)]
    assert errors == sorted(errors, reverse=True)


@pytest.mark.parametrize("target", ["population", "items"])
def test_more_items_never_hurt(target: str) -> None:
    campaign = Campaign(components=WORKED.components, items=50, systems=3, target=target)  # type: ignore[arg-type]
    widths = [campaign.width(n, 2, difference=True) for n in range(8, 51)]
    assert widths == sorted(widths, reverse=True)
    assert campaign.width(50, 2) <= campaign.width(50, 2, scores=False) + 1e-12


@pytest.mark.parametrize(("wanted", "width"), [(0.8, None), (None, 0.4), (0.6, 0.9)])
def test_no_plan_is_cheaper(wanted: float | None, width: float | None) -> None:
    found = cheapest(WORKED, (1, 2, 3), wanted=wanted, width=width)

    def reaches(n: int, k: int) -> bool:
        strong = wanted is None or WORKED.power(n, k, 0.5, WORKED.pairs) >= wanted
        return strong and (width is None or WORKED.width(n, k, difference=True) <= width)

    every = [(n, k) for n, k in itertools.product(range(8, 201), (1, 2, 3)) if reaches(n, k)]
    least = min(WORKED.hours(*plan) for plan in every)
    assert found in every
    assert WORKED.hours(*found) == least


def test_no_plan() -> None:
    assert cheapest(WORKED, (1,), wanted=None, width=0.001) is None


@pytest.mark.parametrize(("items", "found"), [(7, None), (8, (8, 1))])
def test_plans_have_at_least_eight_items(items: int, found: tuple[int, int] | None) -> None:
    campaign = dataclasses.replace(WORKED, items=items)
    assert cheapest(campaign, (1, 2), wanted=None, width=1000) == found


def test_least_difference_has_the_power() -> None:
    least = WORKED.least_difference(40, 2, 0.8)
    assert WORKED.power(40, 2, least, WORKED.pairs) == pytest.approx(0.8, abs=1e-6)


def test_components_are_those_that_made_the_ratings() -> None:
    random = np.random.default_rng(7)
    items, systems, k = 4000, 3, 2
    common = random.normal(0, 0.6, (items, 1))
    expected = common + random.normal(0, 0.8, (items, systems))
    ratings = expected[..., None] + random.normal(0, 1.2, (items, systems, k))
    within = float(ratings.var(axis=2, ddof=1).mean())
    counts = np.full((items, systems), k)
    found = components_of(Outputs(np.zeros((items, systems, 0)), ratings.mean(axis=2), counts, within), None)
    assert found.rater_variance == pytest.approx(1.44, rel=0.05)
    assert found.total.mean == pytest.approx(1.0, rel=0.05)
    assert found.total.difference == pytest.approx(0.64, rel=0.05)
    assert found.residual == found.total


def test_components_are_never_negative() -> None:
    counts = np.full((9, 1), 2)
    grades = np.arange(9.0)[:, None] / 100
    found = components_of(Outputs(np.zeros((9, 1, 0)), grades, counts, 5.0), None)
    assert found == Components(5.0, NONE, NONE)


def test_steps_end_with_all_items() -> None:
    assert list(steps_to(200)) == [8, 10, 15, 20, 30, 40, 60, 80, 100, 150, 200]
    assert list(steps_to(5)) == [5]
