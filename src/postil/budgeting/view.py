"""View, chapter and pictures of the result of `postil budget`."""

from __future__ import annotations

from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.data.explain import counted
from postil.data.groups import grouped
from postil.estimation.designs import LAYOUTS
from postil.estimation.result import BudgetFacet, SpreadComponents
from postil.messages import Blank, Command, Message, Setting
from postil.meta.parts import severity_remarks
from postil.results.formats import noted
from postil.results.numbers import DASH, number
from postil.results.page.blocks import Chapter, Facts, Paragraph, Picture, Section, facts, left_out, sentences
from postil.results.plots.lines import Curve, CurveMark, curves
from postil.results.table import Count, Figure, Interval, Name, Number, Table, Text
from postil.results.views import View

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.budgeting.result import BudgetResult, BudgetRow

__all__ = ["chapter", "pictures", "view"]

ANNOTATORS: Final = 3
"""Number of annotators of the command to run next, where nothing tells it."""

NOTICED: Final = 0.005
"""Relative difference of widths from which the layouts differ."""

LOG: Final = 10.0
"""Ratio of the ends of an axis from which it is logarithmic."""


def view(result: BudgetResult) -> View:
    """One row per number of items and raters.

    Args:
        result: The result.
    """
    said = verdict(result)
    ahead = next_command(result)
    return View(
        line=_line(result),
        rows=result.rows,
        grids=[plans_table(result), *([facets_table(result)] if result.components.facets else ()), _components(result)],
        head=head(result),
        remarks=[
            *([said] if said else ()),
            *severity_remarks(result.severity),
            *noted(result.notes),
            *(f"excluded: {each}" for each in result.excluded),
            *([Message("next: {command}", command=ahead)] if ahead else ()),
        ],
    )


def head(result: BudgetResult) -> str:
    """One line about what is planned and what the plan rests on.

    Args:
        result: The result.
    """
    given = result.settings
    if given.pilot:
        used = f"scores explain {given.r_squared:.0%} of the variance" if given.r_squared else "scores not used"
        rests = f"from a pilot of {counted(given.pilot, 'graded item')}; {used.replace('%', ' %')}"
    else:
        rests = (
            f"assumed: SD {given.sd:g}, correlation of two ratings {given.reliability:g}, of two systems "
            f"{given.system_correlation:g}, R² of scores {given.r_squared:g}"
        )
    return f"{counted(given.items, 'item')}, {counted(given.systems, 'system')}; {rests}; target: {given.target}"


def plans_table(result: BudgetResult) -> Table:
    """The plans, with their widths and powers; those without scores where scores are used.

    Args:
        result: The result.
    """
    rows, of_several = shown_rows(result), result.settings.systems > 1
    layouts = len({row.layout for row in rows}) > 1
    fields = {"width of a mean": "mean_width"}
    if of_several:
        fields["of a difference"] = "difference_width"
    if uses_scores(result):
        fields["without scores"] = "human_difference_width" if of_several else "human_mean_width"
    if result.settings.difference is not None:
        fields |= {"power": "power", "of all pairs": "power_all"}

    def plan(row: BudgetRow) -> str:
        layout = f", {LAYOUTS[row.layout].title}" if layouts else ""
        return f"{counted(row.items, 'item')}, {counted(row.raters, 'rater')}{layout}"

    return Table(
        key="all-plans",
        caption="Expected widths of 95 % confidence intervals, and power",
        rows=rows,
        columns=(
            Name("plan", plan, only="page"),
            *([Text("layout", lambda row: LAYOUTS[row.layout].title, only="text")] if layouts else ()),
            Count("items", "items", only="text"),
            Count("raters", "raters", only="text"),
            Count("ratings", "ratings"),
            Figure("hours", lambda row: f"{row.hours:,.1f}"),
            *(Number(head, field, digits=2, zero=True) for head, field in fields.items()),
        ),
    )


def has_layouts(result: BudgetResult) -> bool:
    """True if there are plans of both layouts.

    Args:
        result: The result.
    """
    return len({row.layout for row in result.rows}) > 1


def shown_rows(result: BudgetResult) -> Sequence[BudgetRow]:
    """Plans of both layouts; of one where they do not differ.

    Args:
        result: The result.
    """
    for first, *others in grouped(((row.items, row.raters), row) for row in result.rows).values():
        if any(not _close(first.difference_width, row.difference_width) or first.hours != row.hours for row in others):
            return result.rows
    return rows_of_best(result)


def _close(width: float | None, other: float | None) -> bool:
    return width is None or other is None or abs(width - other) <= NOTICED * max(width, other)


def rows_of_best(result: BudgetResult) -> list[BudgetRow]:
    """Plans of the layout of the cheapest plan; by item where nothing was asked for.

    Args:
        result: The result.
    """
    layout = result.cheapest.layout if result.cheapest else "item"
    return [row for row in result.rows if row.layout == layout]


def uses_scores(result: BudgetResult) -> bool:
    """True if scores leave less variance than there is without them.

    Args:
        result: The result.
    """
    return result.components.residual != result.components.total


def facets_table(result: BudgetResult) -> Table:
    """The variance components of single ratings.

    Args:
        result: The result.
    """
    return Table(
        key="facets",
        caption="Variance components of single ratings, 95 % intervals over items in brackets; absent where the "
        "interval stays below a tenth of all variance",
        rows=result.components.facets,
        columns=(
            Name("component", "component", plain="variance component"),
            Interval("estimate", "estimate", plain="estimate [95 % CI]", zero=True),
            Figure("share", _share),
        ),
    )


def _share(row: BudgetFacet) -> str | None:
    if row.absent:
        return "absent"
    return None if row.share is None else f"{100 * row.share:.0f} %"


def noise_of_raters(result: BudgetResult) -> Iterator[tuple[str, SpreadComponents | None]]:
    """Yield the variance that one rater puts on an output's rating, by layout; None where it is unknown.

    Args:
        result: The result.
    """
    of = result.components
    told = [(each.title, getattr(of, f"raters_by_{each.name}")) for each in LAYOUTS.values()]
    known = [(title, spread) for title, spread in told if spread is not None]
    if not known:
        both = of.rater_variance
        yield "raters", None if both is None else SpreadComponents(mean=both, difference=both)
    for title, spread in known:
        yield f"raters, {title}" if len(known) > 1 else "raters", spread


def _components(result: BudgetResult) -> Table:
    of = result.components
    rows = [*noise_of_raters(result), ("items", of.total)]
    if uses_scores(result):
        rows.append(("… left by scores", of.residual))
    columns = (
        Name("variance of one output", itemgetter(0)),
        Number("of a mean", "mean", at=itemgetter(1), zero=True, none="unknown"),
        Number("of a difference (half)", "difference", at=itemgetter(1), zero=True, none="unknown"),
    )
    return Table(key="components", rows=rows, columns=columns)


def verdict(result: BudgetResult) -> str | None:
    """The cheapest plan in words; None where nothing was asked for, or nothing is enough.

    Args:
        result: The result.
    """
    best, given = result.cheapest, result.settings
    if best is None:
        return None
    reached = []
    if given.power is not None and best.power_all is not None:
        reached.append(f"finds a difference of {given.difference:g} in all pairs with power {best.power_all:.2f}")
    if given.width is not None:
        several = best.difference_width is not None
        width = best.difference_width if best.difference_width is not None else best.mean_width
        reached.append(f"gives intervals of {'differences' if several else 'means'} of width {width:.2f}")
    rated = f"{counted(best.items, 'item')} by {counted(best.raters, 'rater')} each"
    if has_layouts(result):
        rated += f", {LAYOUTS[best.layout].phrase}"
    return f"cheapest plan: {rated} ({best.ratings:,} ratings, {best.hours:,.1f} hours) {' and '.join(reached)}"


def next_command(result: BudgetResult) -> Command | None:
    """The command that assigns the cheapest plan; None without one.

    Args:
        result: The result.
    """
    best, given = result.cheapest, result.settings
    if best is None:
        return None
    annotators = given.annotators or max(ANNOTATORS, best.raters + 1)
    settings = [
        Setting("articles", Blank("articles.jsonl")),
        Setting("items", best.items),
        Setting("annotators", annotators),
        Setting("annotators_per_item", best.raters),
    ]
    if best.raters == 1 < annotators and given.overlap:
        settings.append(Setting("overlap", Blank(f"{given.overlap:g}")))
    if has_layouts(result) and LAYOUTS[best.layout].shared:
        settings.append(Setting("by_item", value=True))
    return Command("annotate plan", (Blank("candidates.jsonl"), Blank("grading.db")), tuple(settings))


def _line(result: BudgetResult) -> str:
    best: BudgetRow | None = result.cheapest
    size = f"{counted(len(result.rows), 'plan')} for {counted(result.settings.items, 'item')}"
    if best is None:
        return size
    return f"{size}; cheapest {counted(best.items, 'item')} by {counted(best.raters, 'rater')}, {best.hours:,.1f} hours"


def chapter(result: BudgetResult, key: str) -> Chapter:
    """The chapter of a budget.

    Args:
        result: The result.
        key: Prefix of the chapter's ids.
    """
    drawn = tuple(pictures(result))
    notes = [*severity_remarks(result.severity), *result.notes]
    facets = [facets_table(result)] if result.components.facets else []
    parts = (
        Section("plans", "Plans", (*drawn, plans_table(result))),
        Section(
            "components",
            "Variance components",
            (*facets, _variances(result)),
        ),
        Section("notes", "Notes", sentences(notes)),
        Section("data", "Data", (Facts(tuple(left_out(result.excluded))),) if result.excluded else ()),
        Section("settings", "Settings", (_settings(result),)),
    )
    ahead = next_command(result)
    following = [Paragraph(Message("Next: {command}", command=ahead))] if ahead else []
    return Chapter(
        key,
        "Items and raters of a campaign",
        head(result),
        (*sentences(filter(None, [verdict(result)])), *following),
        tuple(part for part in parts if part.blocks),
    )


def _variances(result: BudgetResult) -> Facts:
    of, used = result.components, uses_scores(result)
    raters = [
        (f"{name} of {kind}", None if noise is None else getattr(noise, field))
        for name, noise in noise_of_raters(result)
        for kind, field in (("a mean", "mean"), ("a difference, half", "difference"))
    ]
    values = (
        ("variance of raters within an output", of.rater_variance),
        *(raters if of.facets else ()),
        ("variance of a mean over items", of.total.mean),
        *([("… left by scores", of.residual.mean)] if used else ()),
        ("half the variance of a difference over items", of.total.difference),
        *([("… left by scores", of.residual.difference)] if used else ()),
    )
    return Facts(tuple((name, DASH if value is None else number(value)) for name, value in values))


def _settings(result: BudgetResult) -> Facts:
    given = result.settings
    wanted = (("difference", given.difference), ("power", given.power), ("width", given.width))
    return facts(
        ("command", given.command),
        ("target", given.target),
        ("raters", ", ".join(map(str, given.raters))),
        ("annotators", f"{given.annotators}" if given.annotators else ""),
        ("resamples of items, seed", f"{given.resamples:,}, {given.seed}" if given.resamples else ""),
        ("seconds per rating", f"{given.seconds_per_rating:g}"),
        ("seconds per item and rater", f"{given.seconds_per_item:g}"),
        *((f"wanted {name}", "" if value is None else f"{value:g}") for name, value in wanted),
        (
            "tests",
            "two-sided t tests; for all pairs at .05 divided by their number, a lower bound for Holm’s procedure",
        ),
        ("postil", given.postil),
    )


def pictures(result: BudgetResult) -> Iterator[Picture]:
    """Power against hours, one line per number of raters; width against items with and without scores.

    Args:
        result: The result.
    """
    yield from _power(result)
    yield from _widths(result)


def _by_raters(result: BudgetResult) -> dict[int, list[BudgetRow]]:
    found = grouped((row.raters, row) for row in rows_of_best(result))
    return {raters: rows for raters, rows in found.items() if len(rows) > 1}


def _power(result: BudgetResult) -> Iterator[Picture]:
    lines = _by_raters(result)
    if not lines or any(row.power_all is None for row in result.rows) or not any(row.hours for row in result.rows):
        return
    series = []
    best = result.cheapest
    for raters, rows in lines.items():
        corners = {row.items: row for row in rows}
        if best is not None and best.raters == raters:  # so that its mark is on the line
            corners[best.items] = best
        ordered = [corners[items] for items in sorted(corners)]
        hours, powers = (np.array([getattr(row, field) for row in ordered]) for field in ("hours", "power_all"))
        series.append(Curve(counted(raters, "rater"), hours, powers))
    marks = []
    if best is not None and best.power_all is not None:
        marks = [CurveMark(f"{best.items:,} items, {counted(best.raters, 'rater')}", best.hours, best.power_all)]
    every = [row.hours for row in result.rows]
    caption = f"Power to find a difference of {result.settings.difference:g} in all pairs, by hours of rating"
    draw = partial(
        curves, series, log=max(every) > LOG * min(every) > 0, marks=marks, xlabel="hours of rating", ylabel="power"
    )
    yield Picture("power", "Power", caption, f"{caption}; the numbers are in the table", draw)


def _widths(result: BudgetResult) -> Iterator[Picture]:
    several = result.settings.systems > 1
    lines = _by_raters(result)
    if not lines:
        return
    fewest = min(lines)
    rows = lines[fewest]
    n = np.array([row.items for row in rows], np.float64)
    width = np.array([row.difference_width if several else row.mean_width for row in rows], np.float64)
    alone = np.array([row.human_difference_width if several else row.human_mean_width for row in rows], np.float64)
    used = not np.array_equal(width, alone)
    series = [*([Curve("with scores", n, width)] if used else []), Curve("ratings alone", n, alone)]
    of = "a difference" if several else "a mean"
    caption = f"Expected width of the 95 % confidence interval of {of} by number of items, {counted(fewest, 'rater')}"
    draw = partial(
        curves, series, log=bool(n[-1] > LOG * n[0]), xlabel="graded items", ylabel=f"width of the interval of {of}"
    )
    yield Picture("widths", f"Intervals of {of}", caption, f"{caption}; the numbers are in the table", draw)
