"""Tables of plans of a rating campaign, the cheapest that is enough, and notes on what they rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.metaeval.rating_budget import FEWEST_ITEMS, cheapest, steps_to
from postil.records.results import BudgetComponents, BudgetResult, BudgetRow, SpreadComponents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.metaeval.rating_budget import Campaign
    from postil.records.results import BudgetSettings, Excluded

__all__ = ["budget"]

NOTICED: Final = 1.005
"""Ratio of squared errors that does not round to 1."""
COMPARED: Final = 60
"""Number of ratings per system that one, two and three raters are compared at."""
ROUGH_PILOT: Final = 20
"""Number of graded items below which a plan from a pilot is rough."""


def budget(
    campaign: Campaign,
    settings: BudgetSettings,
    graded: tuple[int, ...] = (),
    *,
    excluded: tuple[Excluded, ...] = (),
) -> BudgetResult:
    """Compute what numbers of graded items and raters give, and find the cheapest plan that is enough.

    Args:
        campaign: The campaign.
        settings: Options of the command; ``settings.raters`` are the numbers of ratings per output to choose from.
        graded: Numbers of graded items; by default steps up to all.
        excluded: Rows of the pilot that are not in the numbers.
    """
    of = campaign.components
    wanted = settings.power is not None or settings.width is not None
    best = cheapest(campaign, settings.raters, wanted=settings.power, width=settings.width) if wanted else None
    return BudgetResult(
        components=BudgetComponents(
            rater_variance=of.rater_variance,
            total=SpreadComponents(mean=of.total_mean, difference=of.total_difference),
            residual=SpreadComponents(mean=of.residual_mean, difference=of.residual_difference),
        ),
        rows=tuple(_row(campaign, n, k) for k in settings.raters for n in graded or tuple(steps_to(campaign.items))),
        cheapest=_row(campaign, best.items, best.raters) if best else None,
        notes=tuple(_notes(campaign, settings, missed=wanted and best is None)),
        settings=settings,
        excluded=excluded,
    )


def _row(campaign: Campaign, n: int, k: int) -> BudgetRow:
    several, true = campaign.systems > 1, campaign.difference
    return BudgetRow(
        items=n,
        raters=k,
        ratings=n * campaign.systems * k,
        hours=campaign.hours(n, k),
        mean_width=campaign.width(n, k),
        difference_width=campaign.width(n, k, difference=True) if several else None,
        human_difference_width=campaign.width(n, k, difference=True, scores=False) if several else None,
        human_mean_width=campaign.width(n, k, scores=False),
        power=campaign.power(n, k, true) if several and true is not None else None,
        power_all=campaign.power(n, k, true, campaign.pairs) if several and true is not None else None,
    )


def _notes(campaign: Campaign, settings: BudgetSettings, *, missed: bool) -> Iterator[str]:
    if missed:
        yield from _missed(campaign, settings)
    if campaign.components.rater_variance is None:
        yield "no output of the pilot has two ratings, so the variance of raters is unknown: only one rater is planned"
    elif campaign.items >= COMPARED:
        yield from _raters(campaign)
    if campaign.systems > 1:
        yield "one rater for all systems of an item removes severity from differences: postil annotate plan --by-item"
    if settings.scores_used and not campaign.components.residual_mean and campaign.components.rater_variance:
        yield (
            "predictions miss grades by less than raters differ, so the scores share the raters' errors; what they "
            "leave counts as 0, and the plans are cautious"
        )
    if settings.pilot:
        yield f"the {settings.pilot} graded items of the pilot are part of the plan, if both are drawn at random"
        if settings.pilot < ROUGH_PILOT:
            yield (
                "a plan from so small a pilot is rough: measured with 10 items, four fifths of the planned standard "
                "errors were within .86 to 1.19 of the actual ones"
            )
    yield (
        "decide before you look: adding items after seeing the intervals is optional stopping, which makes them too "
        "narrow"
    )


def _raters(campaign: Campaign) -> Iterator[str]:
    """Squared errors of more raters on fewer items, at equal numbers of ratings."""
    one, two, three = (
        campaign.standard_error(COMPARED // k, k, difference=campaign.systems > 1) ** 2 for k in (1, 2, 3)
    )
    if one > 0 and two / one >= NOTICED:
        yield (
            f"one rater on more items beats more raters on fewer: {COMPARED // 2} items by two raters have "
            f"{two / one:.2f} times the squared error of {COMPARED} items by one, {COMPARED // 3} items by three "
            f"{three / one:.2f} times; more raters pay where all items are graded, or where an item costs something "
            "whoever rates it"
        )
    else:
        yield (
            f"one rater on more items beats more raters on fewer wherever items differ: measured on five sets, "
            f"{COMPARED // 2} items by two raters had 1.4 to 1.6 times the squared error of {COMPARED} items by one; "
            "in these variances they do not differ beyond what scores predict"
        )


def _missed(campaign: Campaign, settings: BudgetSettings) -> Iterator[str]:
    """Sentences on the most that all items by all raters give."""
    n, k = campaign.items, max(settings.raters)
    by = f"even all {n:,} items by {k} rater{'s' * (k != 1)} give"
    if settings.power is not None and campaign.difference is not None:
        reached = campaign.power(n, k, campaign.difference, campaign.pairs)
        if reached < settings.power:
            least = campaign.least_difference(n, k, settings.power)
            yield (
                f"{by} a power of {reached:.2f}: the least difference found with power {settings.power:g} in all "
                f"pairs is {least:.2f}"
            )
    if settings.width is not None:
        several = campaign.systems > 1
        reached = campaign.width(n, k, difference=several)
        if reached > settings.width:
            yield f"{by} intervals of {'differences' if several else 'means'} of width {reached:.2f}"
    if campaign.items < FEWEST_ITEMS:
        yield f"a plan has at least {FEWEST_ITEMS} items"
