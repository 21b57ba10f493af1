"""Tables of plans of a rating campaign, the cheapest that is enough, and notes on what they rest on."""

from __future__ import annotations

import dataclasses
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from postil.budgeting.result import BudgetResult, BudgetRow
from postil.estimation.designs import FEWEST_ITEMS, LAYOUTS, cheapest, steps_to
from postil.estimation.result import BudgetComponents, BudgetFacet, SpreadComponents
from postil.meta.variance_components import component_intervals

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from postil.budgeting.result import BudgetSettings
    from postil.estimation.designs import Campaign
    from postil.meta.parts import Severity
    from postil.meta.resampling import Draws
    from postil.meta.variance_components import Design
    from postil.results.parts import Excluded

__all__ = ["budget", "facets_of"]

NOTICED: Final = 1.005
"""Ratio of squared errors that does not round to 1."""
COMPARED: Final = 60
"""Number of ratings per system that one, two and three raters are compared at."""
ROUGH_PILOT: Final = 20
"""Number of graded items below which a plan from a pilot is rough."""
ABSENT: Final = 0.1
"""Share of the variance, without severities that are removed, that the interval of an absent component stays below."""
PEEKING: Final = (
    "decide before you look: adding items after seeing the intervals is optional stopping, which makes them too narrow"
)


def budget(
    campaign: Campaign,
    settings: BudgetSettings,
    graded: tuple[int, ...] = (),
    *,
    facets: tuple[BudgetFacet, ...] = (),
    severity: Severity | None = None,
    notes: Iterable[str] = (),
    excluded: tuple[Excluded, ...] = (),
) -> BudgetResult:
    """Compute what numbers of graded items and raters give, and find the cheapest plan that is enough.

    With components by item, system and rater there are two layouts: the raters of an item rate all its systems, or they
    are drawn output by output.

    Args:
        campaign: The campaign.
        settings: Options of the command; ``settings.raters`` are the numbers of ratings per output to choose from.
        graded: Numbers of graded items; by default steps up to all.
        facets: Variance components of a pilot by item, system and rater, with intervals.
        severity: Severities of its annotators.
        notes: Notes on its ratings.
        excluded: Rows of it that are not in the numbers.
    """
    of = campaign.components
    wanted = settings.power is not None or settings.width is not None
    several = of.facets is not None and campaign.systems > 1
    layouts = [layout for layout in LAYOUTS.values() if several or layout.shared]
    campaigns = [dataclasses.replace(campaign, layout=layout) for layout in layouts]
    plans = []
    for each in campaigns if wanted else ():
        plan = cheapest(each, settings.raters, wanted=settings.power, width=settings.width)
        plans += [(each.hours(*plan), each, plan)] if plan else []
    best = min(plans, key=itemgetter(0), default=None)  # the first of equal ones: by item
    return BudgetResult(
        components=BudgetComponents(
            rater_variance=of.rater_variance,
            total=of.total,
            residual=of.residual,
            facets=facets,
            **{f"raters_by_{each.layout.name}": _of_one_rater(each) for each in campaigns if of.facets},
        ),
        rows=tuple(
            _row(each, n, k)
            for each in campaigns
            for k in settings.raters
            for n in graded or tuple(steps_to(campaign.items))
        ),
        cheapest=_row(best[1], *best[2]) if best else None,
        notes=(*_notes(campaigns, settings, missed=wanted and best is None), *notes, PEEKING),
        settings=settings,
        excluded=excluded,
        severity=severity,
    )


def facets_of(design: Design, given: Design, draws: Draws) -> tuple[BudgetFacet, ...]:
    """Variance components of a pilot, with intervals over resamples of its items.

    Args:
        design: Its ratings, without severities where they are removed: in a table with holes severities make other
            components uncertain.
        given: The same as they were given, for the component of severities.
        draws: Random draws of the items.

    Raises:
        Undefined: The components cannot be told apart.
    """
    values, ends = design.estimates(), component_intervals(design, draws)
    left = sum(max(0.0, value) for value in values.values())
    if given is not design and "rater" in values:
        values["rater"] = given.estimates()["rater"]
        ends["rater"] = component_intervals(given, draws)["rater"]
    total = sum(max(0.0, value) for value in values.values())
    return tuple(
        BudgetFacet(
            component=name,
            estimate=value,
            low=interval.low if interval else None,
            high=interval.high if interval else None,
            share=max(0.0, value) / total if total else None,
            absent=interval is not None and interval.high < ABSENT * left,
        )
        for name, value in values.items()
        for interval in (ends[name],)
    )


def _of_one_rater(campaign: Campaign) -> SpreadComponents:
    return SpreadComponents(mean=campaign.noise(1) or 0.0, difference=campaign.noise(1, difference=True) or 0.0)


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
        layout=campaign.layout.name,
    )


def _notes(campaigns: Sequence[Campaign], settings: BudgetSettings, *, missed: bool) -> Iterator[str]:
    campaign = campaigns[0]
    if missed:
        yield from _missed(campaign, settings)
    if campaign.components.rater_variance is None:
        yield "no output of the pilot has two ratings, so the variance of raters is unknown: only one rater is planned"
    elif campaign.items >= COMPARED:
        yield from _raters(campaign)
    if campaign.systems > 1:
        yield from _layouts(campaigns, settings)
    if settings.pilot:
        yield f"the {settings.pilot} graded items of the pilot are part of the plan, if both are drawn at random"
        if settings.pilot < ROUGH_PILOT:
            yield (
                "a plan from so small a pilot is rough: measured with 10 items, four fifths of the planned standard "
                "errors were within .86 to 1.19 of the actual ones"
            )


def _layouts(campaigns: Sequence[Campaign], settings: BudgetSettings) -> Iterator[str]:
    """A sentence on the two layouts."""
    if len(campaigns) == 1:
        yield "one rater for all systems of an item removes severity from differences: postil annotate plan --by-item"
        return
    n, k = min(COMPARED // 2, campaigns[0].items), settings.raters[0]
    item, output = (each.width(n, k, difference=True) for each in campaigns)
    rated = f"{n} items by {k} rater{'s' * (k != 1)}"
    if output <= NOTICED * item:
        yield f"the two layouts do not differ: a difference is {item:.2f} wide with {rated}, by item and by output"
        return
    yield (
        f"the raters of an item should rate all its systems (postil annotate plan --by-item): with {rated} a "
        f"difference is {item:.2f} wide, against {output:.2f} where raters are drawn output by output"
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
