"""The chapter of a budget: the cheapest plan, power against hours, widths against items, all plans, notes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.budgeting.view import (
    facets_table,
    head,
    next_command,
    noise_of_raters,
    plans_table,
    rows_of_best,
    uses_scores,
    verdict,
)
from postil.data.explain import counted
from postil.messages import Message
from postil.meta.parts import severity_remarks
from postil.results.numbers import DASH, number
from postil.results.page.blocks import Chapter, Facts, Paragraph, Picture, Section, facts, left_out, sentences
from postil.results.plots.lines import Curve, CurveMark, curves

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.budgeting.result import BudgetResult, BudgetRow

__all__ = ["chapter", "pictures"]

LOG: Final = 10.0
"""Ratio of the ends of an axis from which it is logarithmic."""


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
            (*facets, _components(result)),
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


def _components(result: BudgetResult) -> Facts:
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
    found: dict[int, list[BudgetRow]] = {}
    for row in rows_of_best(result):
        found.setdefault(row.raters, []).append(row)
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
