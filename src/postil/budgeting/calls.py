"""Numbers of items and raters for a campaign: `postil.budget`, its command, the tables of plans and the cheapest."""

from __future__ import annotations

import dataclasses
from operator import itemgetter
from typing import TYPE_CHECKING, Final, Unpack, cast

from postil.budgeting.options import BudgetOptions
from postil.budgeting.result import BudgetResult, BudgetRow, BudgetSettings
from postil.data.arguments import check_arguments, options_of, parted
from postil.data.frames import refuse_other_form
from postil.errors import Undefined, UsageError
from postil.estimation.calls import rated_outputs
from postil.estimation.designs import (
    ESTIMATORS,
    FEWEST_ITEMS,
    LAYOUTS,
    Campaign,
    Components,
    Facets,
    assumed,
    cheapest,
    components_of,
    shared_noise,
    steps_to,
)
from postil.estimation.result import BudgetComponents, BudgetFacet, SpreadComponents
from postil.messages import Blank, Setting
from postil.meta.estimation import Predictions, RatedOutputs, Target, estimated
from postil.meta.rated import JudgedKeywords, Rated
from postil.meta.reliability import Design, component_intervals, design_of
from postil.meta.resampling import Draws
from postil.meta.severity import untold
from postil.results.base import replace
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from postil.data.frames import Column, Table
    from postil.data.options import JudgedInputOptions
    from postil.data.parts import Excluded
    from postil.data.progress import OnMessage
    from postil.keywords import BudgetKeywords
    from postil.meta.parts import Severity
    from postil.meta.rated import Scores

__all__ = ["budget", "budget_files"]

PILOT: Final = Setting("judgements", Blank("FILE"))
"""The ratings of a pilot."""

SYSTEMS: Final = 2
"""Assumed number of systems."""
RELIABILITY: Final = 0.5
SYSTEM_CORRELATION: Final = 0.3
ANNOTATORS: Final = 3
"""Smallest number of annotators of a plan, unless one is asked for."""

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
    scores: Mapping[str, Column] | Scores | None = None,
    grades: Column | Table | None = None,
    *,
    judgements: Table | None = None,
    options: BudgetOptions | None = None,
    **keywords: Unpack[BudgetKeywords],
) -> BudgetResult:
    """Plan a rating campaign: interval widths, power and hours for numbers of graded items and of raters.

    From the scores and ratings of a pilot, in the two forms of `postil.estimate`, or from the assumptions of options
    alone.

    Args:
        scores: n scores by metric, or a result, or a table (item, system, metric, score). Without any the plans use the
            ratings alone.
        grades: Human rating of each of n texts: a number, or a list with one number per annotator. None and NaN stand
            for no rating.
        judgements: Table of human ratings (item, system, annotator, grade, and aspect where there is more than one).
        options: Options; by default those of the command.
        keywords: Fields of the options, in place of an object, and ways to read the data, as of `postil.correlate`.

    Returns:
        The ``rows``, one per number of graded items and of raters, the ``cheapest`` plan, and ``notes``.

    Raises:
        InvalidInput: Columns differ in length, something is no number, or there is no grade.
        UsageError: The number of items or an assumption is missing, or an argument is of the other form.
        UnknownName: A metric or field does not exist.
        Undefined: The pilot is too small.

    >>> found = budget(options=BudgetOptions(items=200, sd=1.0, difference=0.5))
    >>> found.cheapest.items, found.cheapest.raters, found.cheapest.ratings
    (56, 1, 112)
    """
    check_arguments(budget, locals())
    given, fields = parted(keywords, JudgedKeywords)
    options = options_of(BudgetOptions, options, fields)
    if scores is None and grades is None and judgements is None:
        refuse_other_form("without ratings; expected none with assumptions", **given)
        return _of_assumptions(options)
    return _of_pilot(Rated.of(scores, grades, judgements, given, aspect=options.aspect), options)


def budget_files(
    scores: Sequence[str],
    pilot: str | None,
    options: BudgetOptions,
    *,
    command: str = "",
    inputs: JudgedInputOptions | None = None,
    on_message: OnMessage = lambda _: None,
) -> BudgetResult:
    """Plan a campaign from files of a pilot, or from assumptions.

    Args:
        scores: Files of score rows; ``-`` for standard input. None to plan without scores.
        pilot: A file of judgement rows; None to plan from assumptions.
        options: The options.
        command: The command line, if there was one.
        inputs: Options of reading the files.
        on_message: Callback for status messages.

    Raises:
        UsageError: A name or a combination of options is wrong.
        InvalidInput: A file is invalid; the message has the location.
        Undefined: The pilot is too small, or no output has both scores and ratings.
    """
    if pilot is not None:
        return _of_pilot(Rated.files(scores, pilot, inputs, on_message, aspects=[options.aspect]), options, command)
    if inputs is not None and inputs.maxima is not None:
        raise _without_pilot("maxima")
    if scores:
        raise UsageError("scores without ratings tell nothing of people: give a pilot, {pilot}", pilot=PILOT)
    return _of_assumptions(options, command)


def _without_pilot(name: str) -> UsageError:
    """Refusal of a setting that only a pilot has."""
    return UsageError("{setting} is for a pilot, and there is none: {pilot}", setting=Setting(name), pilot=PILOT)


def _of_assumptions(options: BudgetOptions, command: str = "") -> BudgetResult:
    """Plan a campaign without a pilot."""
    for name in ("items", "sd"):
        if getattr(options, name) is None:
            raise UsageError("without a pilot ({pilot}) {setting} is needed", pilot=PILOT, setting=Setting(name))
    for name, given in (("metrics", options.metrics), ("aspect", options.aspect), ("scale", options.scale)):
        if given:
            raise _without_pilot(name)
    settings = _settings(options, options.items or 0, options.systems or SYSTEMS, command)
    settings = replace(
        settings,
        sd=options.sd,
        reliability=RELIABILITY if options.reliability is None else options.reliability,
        system_correlation=SYSTEM_CORRELATION if options.system_correlation is None else options.system_correlation,
        r_squared=options.r_squared or 0.0,
    )
    components = assumed(
        settings.sd or 0.0, settings.reliability or 0.0, settings.system_correlation or 0.0, settings.r_squared or 0.0
    )
    return _planned(_campaign(components, settings), settings, _graded(options, settings.items))


def _of_pilot(pilot: Rated, options: BudgetOptions, command: str = "") -> BudgetResult:
    """Plan a campaign from the scores and ratings of a pilot."""
    for name in ("systems", "sd", "reliability", "system_correlation", "r_squared"):
        if getattr(options, name) is not None:
            raise UsageError(
                "{setting} is an assumption, and the pilot tells it; leave one of them out", setting=Setting(name)
            )
    rated = rated_outputs(pilot, options)
    outputs = rated.outputs
    size = _size(rated, options, scored=pilot.scores is not None)
    found = estimated(outputs, cast("Target", options.target), scores=ESTIMATORS[options.method].scores)
    fit = found.fit if found.used else None
    settings = _settings(options, options.items or len(rated.items), len(rated.systems), command)
    annotators = options.annotators or max(ANNOTATORS, rated.annotators, *settings.raters)
    settings = replace(
        settings,
        pilot=size,
        scores_used=found.used,
        r_squared=fit.r_squared if fit else None,
        annotators=annotators,
        raters=settings.raters if outputs.rater_variance is not None else (1,),
    )
    components = components_of(outputs, fit)
    if not components.total.mean and not components.rater_variance:
        raise Undefined(
            "all grades of each system in the pilot are equal, so nothing tells how much they vary; grade more, or "
            "plan from assumptions: {sd}",
            sd=Setting("sd", Blank("GRADES")),
        )
    facets, campaign = _facets(rated, options), _campaign(components, settings)
    if facets:
        settings = replace(settings, resamples=options.resamples, seed=options.seed)
        of = Facets.of({row.component: row.estimate for row in facets})
        campaign = dataclasses.replace(
            campaign,
            components=components.by_facets(of, annotators),
            annotators=annotators,
            removed_from=_removed_from(options, rated),
        )
    return _planned(
        campaign,
        settings,
        _graded(options, settings.items),
        facets=facets,
        severity=rated.severity,
        notes=_on_pilot(rated, fit),
        excluded=rated.excluded,
    )


def _size(rated: RatedOutputs, options: BudgetOptions, *, scored: bool) -> int:
    """Number of graded items of a pilot that is large enough."""
    outputs = rated.outputs
    pilot = int(outputs.rated_items.sum())
    if pilot < FEWEST_ITEMS:
        raise Undefined(
            "a pilot needs at least {least} graded items, and there are {pilot}; grade more, or plan from assumptions: "
            "{sd}",
            least=FEWEST_ITEMS,
            pilot=pilot,
            sd=Setting("sd", Blank("GRADES")),
        )
    if (outputs.n < 2).any():
        few = rated.systems[int(outputs.n.argmin())]
        raise Undefined(f"{few} has one graded item in the pilot, and variances need two")
    if not scored and options.items is None:
        raise UsageError(
            "without scores the number of items is unknown: {items}, {pilot} of which are graded",
            items=Setting("items", Blank("N")),
            pilot=pilot,
        )
    if options.items is not None and options.items < pilot:
        raise UsageError(
            "{items}: expected at least the {pilot} graded ones, got {got}",
            items=Setting("items"),
            pilot=pilot,
            got=options.items,
        )
    return pilot


def _facets(rated: RatedOutputs, options: BudgetOptions) -> tuple[BudgetFacet, ...]:
    """Variance components by item, system and rater; none where they cannot be told apart."""
    try:
        design = given = design_of(rated.single, *rated.places)
        if rated.single is not rated.single_given:
            given = design_of(rated.single_given, *rated.places)
        return _components(design, given, Draws(resamples=options.resamples, seed=options.seed))
    except Undefined:
        return ()


def _on_pilot(rated: RatedOutputs, fit: Predictions | None) -> Iterator[str]:
    """Notes on the ratings of a pilot."""
    if rated.severity is None and rated.outputs.rater_variance is not None:
        yield from untold(rated.single_given)
    if fit is not None:
        yield from shared_noise(rated.outputs, fit, rated.signatures)


def _removed_from(options: BudgetOptions, rated: RatedOutputs) -> int | None:
    """Smallest number of ratings per output with which severities will be removed; None if they are kept.

    That is where second ratings connect annotators: of all outputs, or of those that overlap.
    """
    if rated.severity is None or not rated.severity.removed:
        return None
    return 1 if options.overlap > 0 else 2


def _settings(options: BudgetOptions, items: int, systems: int, command: str) -> BudgetSettings:
    if systems < 2 and options.difference is not None:
        raise UsageError("{difference} needs two systems, and there is one", difference=Setting("difference"))
    return BudgetSettings(
        items=items,
        systems=systems,
        target=options.target,
        raters=tuple(sorted(set(options.raters))) or tuple(k for k in (1, 2, 3) if k <= (options.annotators or k)),
        seconds_per_rating=options.seconds_per_rating,
        seconds_per_item=options.seconds_per_item,
        postil=VERSION,
        difference=options.difference,
        power=options.power if options.difference is not None else None,
        width=options.width,
        annotators=options.annotators,
        overlap=options.overlap,
        command=command,
    )


def _campaign(components: Components, settings: BudgetSettings) -> Campaign:
    return Campaign(
        components=components,
        items=settings.items,
        systems=settings.systems,
        target=cast("Target", settings.target),
        difference=settings.difference,
        seconds_per_rating=settings.seconds_per_rating,
        seconds_per_item=settings.seconds_per_item,
    )


def _graded(options: BudgetOptions, items: int) -> tuple[int, ...]:
    for n in options.graded:
        if n > items:
            raise UsageError(
                "{graded}: expected at most the {items} items, got {n}", graded=Setting("graded"), items=items, n=n
            )
    return tuple(sorted(set(options.graded)))


def _planned(
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
            **{
                f"raters_by_{each.layout.name}": SpreadComponents(
                    mean=each.noise(1) or 0.0, difference=each.noise(1, difference=True) or 0.0
                )
                for each in campaigns
                if of.facets
            },
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


def _components(design: Design, given: Design, draws: Draws) -> tuple[BudgetFacet, ...]:
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
