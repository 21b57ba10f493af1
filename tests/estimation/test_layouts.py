"""Plans of two layouts and of running campaigns: the formulas, and widths that estimates really have, by simulation."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.data.rows import Judgement
from postil.estimation.designs import LAYOUTS, MORE_ITEMS, Campaign, Components, Facets, prospects
from postil.estimation.result import SpreadComponents
from postil.meta.estimation import Outputs, estimated, outputs_of
from postil.meta.significance import student_quantile
from postil.meta.table import Judged

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.estimation.designs import Layout
    from postil.meta.choices import Rule


ITEMS, SYSTEMS, ANNOTATORS, RATINGS = 40, 6, 6, 3
EVEN = SpreadComponents(mean=1.0, difference=1.0)
FACETS = Facets(item=0.3, item_system=0.25, rater=0.5, item_rater=0.2, system_rater=0.1, residual=0.4)
CAMPAIGN = Campaign(
    components=Components(None, EVEN, EVEN).by_facets(FACETS, ANNOTATORS),
    items=ITEMS,
    systems=SYSTEMS,
    annotators=ANNOTATORS,
)


def variance(campaign: Campaign, *, difference: bool, k: int = RATINGS) -> float:
    return campaign.standard_error(ITEMS, k, difference=difference) ** 2


def test_formulas() -> None:
    f = 1 - RATINGS / ANNOTATORS
    item, output = (replace(CAMPAIGN, layout=layout) for layout in LAYOUTS.values())
    assert variance(item, difference=True) == pytest.approx(2 / 40 * (0.25 + (0.1 * f + 0.4) / 3))
    assert variance(output, difference=True) == pytest.approx(2 / 40 * (0.25 + ((0.5 + 0.2 + 0.1) * f + 0.4) / 3))
    mean = 1 / 40 * (0.3 + 0.25 + ((0.5 + 0.1) * f + 0.2 + 0.4) / 3)
    assert variance(item, difference=False) == pytest.approx(mean)
    assert variance(output, difference=False) == pytest.approx(mean)
    removed = replace(output, removed_from=2)
    assert variance(removed, difference=True) == pytest.approx(2 / 40 * (0.25 + ((0.2 + 0.1) * f + 0.4) / 3))
    assert variance(removed, difference=True, k=1) == variance(output, difference=True, k=1)
    everybody = variance(output, difference=True, k=ANNOTATORS)
    assert everybody == pytest.approx(2 / 40 * (0.25 + 0.4 / 6))
    assert everybody == pytest.approx(variance(item, difference=True, k=ANNOTATORS))


def test_scores_leave_a_share_of_the_items_and_outputs() -> None:
    total, left = SpreadComponents(mean=2.0, difference=1.0), SpreadComponents(mean=1.5, difference=0.25)
    components = Components(None, total, left).by_facets(FACETS, ANNOTATORS)
    assert components.residual.difference == pytest.approx(0.25 * 0.25)
    assert components.residual.mean == pytest.approx(0.75 * (0.3 + 0.25 + 0.2 / 6))


def test_hours_of_an_item_that_several_raters_read() -> None:
    timed = replace(CAMPAIGN, seconds_per_item=3600.0, seconds_per_rating=0.0)
    assert timed.hours(10, 2) == pytest.approx(20)
    output = replace(timed, layout=LAYOUTS["output"])
    assert output.hours(10, 2) == pytest.approx(10 * 6 * (1 - (4 / 6) ** 6))
    assert output.hours(10, 6) == pytest.approx(60)
    assert replace(output, annotators=None).hours(10, 2) == pytest.approx(120)


def chosen(rng: np.random.Generator, layout: Layout) -> NDArray[np.bool_]:
    """Raters drawn for each item, or for each output."""
    draws = rng.random((ITEMS, 1 if layout.shared else SYSTEMS, ANNOTATORS)).argsort(axis=2) < RATINGS
    return np.broadcast_to(draws, (ITEMS, SYSTEMS, ANNOTATORS))


def actual(layout: Layout, rule: Rule, draws: int, seed: int = 4) -> dict[str, float]:
    """Mean widths of the intervals of estimates, and errors of the estimates, of means and differences."""
    rng = np.random.default_rng(seed)
    first, second = np.triu_indices(SYSTEMS, 1)
    t = 2 * student_quantile(0.975, ITEMS - 1)
    found: dict[str, list[float]] = {"mean": [], "difference": [], "mean error": [], "difference error": []}
    for _ in range(draws):
        shapes = {
            "item": (ITEMS, 1, 1),
            "item_system": (ITEMS, SYSTEMS, 1),
            "rater": (1, 1, ANNOTATORS),
            "item_rater": (ITEMS, 1, ANNOTATORS),
            "system_rater": (1, SYSTEMS, ANNOTATORS),
            "residual": (ITEMS, SYSTEMS, ANNOTATORS),
        }
        parts = {
            name: np.sqrt(getattr(FACETS, name)) * _scaled(rng.normal(size=shape), name)
            for name, shape in shapes.items()
        }
        expected = (parts["rater"] + parts["system_rater"])[0].mean(axis=1)
        grades = np.where(chosen(rng, layout), sum(parts.values()), np.nan)
        there = np.argwhere(~np.isnan(grades)).tolist()
        rated = Judged([Judgement(f"{i:02}", f"s{s}", f"r{a}", float(grades[i, s, a])) for i, s, a in there])
        at = estimated(outputs_of(None, rated, severity=rule).outputs)
        v, error = at.covariance, at.means - expected
        between = v[first, first] + v[second, second] - 2 * v[first, second]
        found["mean"].append(float(t * np.sqrt(np.diag(v)).mean()))
        found["difference"].append(float(t * np.sqrt(between).mean()))
        found["mean error"].append(float((error**2).mean()))
        found["difference error"].append(float(((error[first] - error[second]) ** 2).mean()))
    return {name: float(np.mean(values)) for name, values in found.items()}


def _scaled(values: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Effects of the fixed raters, so that their variance is what was set in every draw."""
    if name == "rater":
        values = values - values.mean()
        return values / np.sqrt((values**2).sum() / (ANNOTATORS - 1))
    if name == "system_rater":
        values = values - values.mean(axis=2, keepdims=True)
        values -= values.mean(axis=1, keepdims=True)
        return values / np.sqrt((values**2).sum() / ((ANNOTATORS - 1) * (SYSTEMS - 1)))
    return values


def ratios(layout: Layout, rule: Rule, draws: int) -> dict[str, float]:
    """Planned widths over those of estimates, and planned variances over squared errors."""
    campaign = replace(CAMPAIGN, layout=layout, removed_from=None if rule == "keep" else 2)
    found = actual(layout, rule, draws)
    return {
        "mean": campaign.width(ITEMS, RATINGS) / found["mean"],
        "difference": campaign.width(ITEMS, RATINGS, difference=True) / found["difference"],
        "mean error": variance(campaign, difference=False) / found["mean error"],
        "difference error": variance(campaign, difference=True) / found["difference error"],
    }


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("rule", ["keep", "auto"])
def test_planned_widths_are_those_of_estimates(layout: Layout, rule: Rule) -> None:
    found = ratios(layout, rule, 60)
    assert [found["mean"], found["difference"]] == pytest.approx([1, 1], abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("rule", ["keep", "auto"])
def test_planned_widths_and_errors_in_two_thousand_draws(layout: Layout, rule: Rule) -> None:
    found = ratios(layout, rule, 2000)
    assert [found["mean"], found["difference"]] == pytest.approx([1, 1], abs=0.02)
    assert found["difference error"] == pytest.approx(1, abs=0.05)
    if not (layout.shared and rule == "auto"):  # there raters who were drawn more often weigh more in the mean of all
        assert found["mean error"] == pytest.approx(1, abs=0.05)


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
