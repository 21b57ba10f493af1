"""The chapters and pictures of comparisons: systems against a baseline, preferences, interleaved suggestions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from postil.comparison.view import compared_table
from postil.data.explain import counted
from postil.results.formats import listed
from postil.results.names import is_control
from postil.results.numbers import interval, number, signed
from postil.results.page.blocks import (
    SIGNIFICANTLY,
    VERDICTS,
    Chapter,
    Facts,
    Findings,
    Paragraph,
    Picture,
    Section,
    capital,
    collapsed,
    finding,
    first_open,
    isolated,
    left_out,
)
from postil.results.page.chapters import DRAWN, resampled, viewed, with_weights
from postil.results.plots.forest import IntervalRow, intervals

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.comparison.result import Comparison, InterleavingResult, PreferencesResult, SystemComparison
    from postil.results.page.blocks import Point
    from postil.results.table import Table

__all__ = ["chapter", "compared", "interleaved", "pictures", "preferences", "strengths"]

SYSTEMS: Final = 20
"""Number of systems that a sentence names."""


def chapter(found: Comparison, key: str) -> Chapter:
    """The chapter of systems against a baseline.

    Args:
        found: The comparison.
        key: Prefix of the chapter's ids.
    """
    metrics = [name for name in dict.fromkeys(row.metric for row in found.systems) if not is_control(name)]
    systems = len({row.system for row in found.systems})
    shown = (_table(found), *first_open(pictures(found)))
    controls = collapsed(_controls(found))
    parts = (
        Section("comparison", "Differences from the baseline", (*shown, *controls)),
        Section("data", "Data", (Facts((*left_out(found.left_out),)),)),
        Section(
            "settings",
            "Settings",
            (*resampled(found.settings, found.notes, found.signatures, found.lower_is_better),),
        ),
    )
    said = f"{counted(systems, 'system')}, {counted(found.items, 'item')}, {counted(len(metrics), 'metric')}"
    conclusion = (Findings(tuple(compared(found))), Paragraph(SIGNIFICANTLY))
    made = Chapter(
        key, f"Systems against {isolated(found.baseline)}", said, conclusion, parts, (("comparison", found.systems),)
    )
    return with_weights(made, found.weights, found.signatures)


def compared(found: Comparison) -> list[Point]:
    """Findings of each metric on the systems, compared with the baseline.

    Args:
        found: The comparison.
    """
    points = []
    for name in dict.fromkeys(row.metric for row in found.systems):
        rows = [row for row in found.systems if row.metric == name and row.difference is not None]
        if name.startswith("control:") or not rows:
            continue
        groups: dict[str, list[str]] = {}
        for row in rows:
            value = row.difference or 0
            side = finding(value, row.difference_low, row.difference_high, row.p_holm)
            groups.setdefault(side, []).append(f"{isolated(row.system)} ({signed(value)})")
        said = "; ".join(
            f"{side} {isolated(found.baseline)}: {listed(groups[side], most=SYSTEMS)}"
            for side in VERDICTS
            if side in groups
        )
        low = ". Lower is better here" if name in found.lower_is_better else ""
        points.append((name, f"{capital(said)}{low}."))
    return points


def _table(found: Comparison) -> Table:
    """Systems against the baseline."""
    items = counted(found.items, "item")
    kind = "corpus scores" if found.summed else "means"
    caption = f"Systems against {isolated(found.baseline)}, {kind} over {items}; 95 % confidence intervals in brackets"
    metrics = {row.metric for row in found.systems if not is_control(row.metric)}
    return compared_table(found, metrics, caption=f"{caption} (* Holm-adjusted p < .05)")


def _controls(found: Comparison) -> Table:
    """The same by controls."""
    controls = {row.metric for row in found.systems if is_control(row.metric)}
    return compared_table(found, controls, "compared-controls", "The same by controls")


def pictures(found: Comparison) -> Iterator[Picture]:
    """The difference of each system from the baseline, for each metric that is no control.

    Args:
        found: The comparison.
    """
    for metric in dict.fromkeys(row.metric for row in found.systems if not row.metric.startswith("control:")):
        rows = [row for row in found.systems if row.metric == metric]
        if picture := _against_baseline(metric, rows, found.baseline):
            yield picture


def _against_baseline(metric: str, rows: Sequence[SystemComparison], baseline: str) -> Picture | None:
    """Each system's score minus the baseline's, by one metric."""
    drawn = [
        IntervalRow(row.system, row.difference, row.difference_low, row.difference_high)
        for row in rows
        if row.difference is not None
    ]
    if not drawn:
        return None
    few = f", the first {DRAWN} of {len(drawn):,} systems" if len(drawn) > DRAWN else ""
    drawn = drawn[:DRAWN]
    said = "; ".join(f"{row.name} {number(row.value)} {interval(row.low, row.high)}" for row in drawn)
    draw = partial(intervals, drawn, xlabel=f"{metric} minus that of {baseline}")
    caption = f"{isolated(metric)} minus that of {isolated(baseline)}, 95 % confidence intervals{few}"
    return Picture(metric, metric, caption, f"Difference of {metric} from {baseline}: {said}", draw)


def preferences(result: PreferencesResult, key: str) -> Chapter:
    """The chapter of paired preferences.

    Args:
        result: The result.
        key: Prefix of the chapter's ids.
    """
    return viewed(result, key, *strengths(result))


def strengths(result: PreferencesResult) -> Iterator[Picture]:
    """The strengths of systems by paired preferences.

    Args:
        result: The result.
    """
    if result.systems:
        title = "Strengths of systems by paired preferences, 95 % confidence intervals"
        rows = [IntervalRow(row.system, row.strength, row.low, row.high) for row in result.systems[:DRAWN]]
        said = "; ".join(f"{row.name} {number(row.value)}" for row in rows)
        draw = partial(intervals, rows, xlabel="strength")
        yield Picture("strengths", "strengths", title, f"{title}: {said}", draw)


def interleaved(result: InterleavingResult) -> Iterator[Picture]:
    """The preferences of readers.

    Args:
        result: The result.
    """
    title = "Preferences of readers, 95 % confidence intervals"
    rows = [
        IntervalRow(row.measure, row.preference, row.low, row.high, f"{row.model} over {row.baseline}")
        for row in result.rows
    ]
    said = "; ".join(f"{row.group} by {row.name} {number(row.value)}" for row in rows)
    draw = partial(intervals, rows, xlabel="preference")
    yield Picture("preferences", "preferences", title, f"{title}: {said}", draw)
