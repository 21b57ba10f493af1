"""The pictures of a page, by `postil.plots`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.meta.coefficients import TABLE, titled
from postil.meta.parts import Points
from postil.page.blocks import Picture
from postil.page.tables import metric_lines
from postil.page.words import isolated
from postil.plots.forest import IntervalRow, Landmark, intervals
from postil.plots.heatmaps import matrix
from postil.plots.points import ScatterPanel, scatter
from postil.results.names import HALVES, LENGTH, PEOPLE, control
from postil.results.numbers import interval, number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.comparison.preferences_result import PreferencesResult
    from postil.comparison.result import Comparison, SystemComparison
    from postil.page.lookup import Lookup

__all__ = [
    "DRAWN",
    "PANELS",
    "baseline_pictures",
    "correlations",
    "differences",
    "matrices",
    "scatters",
    "strengths",
]

PANELS: Final = 12
"""Number of metrics that are drawn against ratings."""

PAIRED: Final = 40
"""Number of metrics in the matrix of all pairs."""

DRAWN: Final = 60
"""Number of systems that are drawn beside a baseline."""


def correlations(look: Lookup) -> Iterator[Picture]:
    """A forest of metrics, with their controls, for each coefficient."""
    grouped = any(look.controls.values()) or any(len(members) > 1 for members in look.families.values())
    groups = {"": "without a metric"} | ({} if grouped else dict.fromkeys(look.families, ""))
    for coefficient in look.coefficients:
        rows = [
            IntervalRow(line.name, row.value, row.low, row.high, groups.get(family, family), line.kind == "control")
            for family, line in metric_lines(look)
            if (row := line.rows.get(coefficient))
        ]
        if not rows:
            continue
        marks = []
        halves = look.people.get((HALVES, coefficient))
        if halves and halves.by == look.result.settings.by:
            marks.append(Landmark(PEOPLE[HALVES], halves.value))
        ceiling = look.result.human.ceiling
        if TABLE[coefficient].linear and ceiling is not None and look.result.settings.by == "pool":
            marks.append(Landmark("ceiling", ceiling))
        title = titled(coefficient)
        label = f"{title} of each metric with human ratings, 95 % confidence intervals; numbers are in the table above"
        gray = "; controls in gray" if any(row.control for row in rows) else ""
        caption = f"{title} with human ratings, 95 % confidence intervals{gray}"
        draw = partial(intervals, rows, landmarks=marks, xlabel=title)
        yield Picture(coefficient, title, caption, label, draw)


def differences(look: Lookup) -> Iterator[Picture]:
    """A forest of each weighted metric minus its unweighted form and its controls, for each coefficient."""
    for coefficient in look.coefficients:
        rows = []
        for name in look.metrics:
            for other in look.against(name):
                if row := look.difference(name, other, coefficient):
                    title = f"− {control(other) if other.startswith('control:') else f'unweighted {other}'}"
                    rows.append(IntervalRow(title, row.value, row.low, row.high, name))
        if rows:
            title = titled(coefficient)
            caption = f"{title} of metrics minus their unweighted forms and controls, 95 % confidence intervals"
            draw = partial(intervals, rows, xlabel=f"difference of {title}")
            yield Picture(f"differences-{coefficient}", title, caption, caption, draw)


def matrices(look: Lookup) -> list[Picture]:
    """The differences of all pairs of metrics, for each coefficient; none for two metrics."""
    names = [*look.metrics, *(name for name in look.loose if name == LENGTH)]
    if len(names) < 3:
        return []
    made = []
    for coefficient in look.coefficients:
        there = _strongest([name for name in names if (name, coefficient) in look.rows], look, coefficient, PAIRED)
        values = np.full((len(there), len(there)), np.nan)
        marks = np.zeros(values.shape, np.bool_)
        for at in np.ndindex(values.shape):
            row = look.difference(there[at[0]], there[at[1]], coefficient) if at[0] != at[1] else None
            if row is None:
                continue
            values[at] = row.value
            marks[at] = row.significant if coefficient in look.tested else row.excludes_zero
        if np.isnan(values).all():
            continue
        note = f"interval excludes 0, {'Holm-adjusted p < .05' if coefficient in look.tested else 'no test'}"
        shown_names = [control(name) if name == LENGTH else name for name in there]
        title = titled(coefficient)
        label = f"Differences of {title} between all pairs of metrics; the numbers are in the tables of this section"
        which = (
            "all pairs of metrics" if len(there) < PAIRED else f"the {PAIRED} metrics with the strongest correlations"
        )
        caption = f"Differences of {title} between {which}"
        draw = partial(matrix, shown_names, values, marks, mark_note=note)
        made.append(Picture(f"pairs-{coefficient}", title, caption, label, draw))
    return made


def scatters(look: Lookup) -> tuple[Picture | None, int]:
    """Draw scores against ratings, one panel per metric: what the coefficients above the panels are over.

    Returns:
        The picture, and the number of metrics that are not in it.
    """
    by = look.result.settings.by
    points = _system_points(look) if by == "system" else look.result.points
    names = [name for name in look.metrics if points and name in points.scores]
    if not points or not names or not points.grades:
        return None, 0
    chosen = _strongest(names, look, look.main, PANELS)
    grades = np.asarray(points.grades, np.float64)
    panels = []
    for name in chosen:
        rows = [(each, look.rows.get((name, each))) for each in look.coefficients[:2]]
        within = {"item": " within items", "within-system": " within systems"}.get(by, "")
        said = [f"{titled(each)}{within} {number(row.value)}" for each, row in rows if row]
        note = ", ".join(said + ["lower is better"] * (name in look.result.settings.lower_is_better))
        panels.append(ScatterPanel(name, np.asarray(points.scores[name], np.float64), grades, note))
    count = f"{len(grades):,} {'system means' if by == 'system' else 'texts'}"
    label = f"Score against mean human rating for {len(panels)} metrics, {count}, with a least-squares line"

    together = "Each text’s score and mean rating, with the least-squares line of all texts together; coefficients are "
    caption = {
        "system": "Each system’s mean score and mean rating, with the least-squares line",
        "item": f"{together}means over items, not those of the points; ratings with few values are jittered",
        "within-system": f"{together}means over systems, not those of the points; ratings with few values are jittered",
        "pool": "Each text’s score and mean rating, with the least-squares line; ratings with few values are jittered",
    }.get(by, "Each text’s score and mean rating")
    draw = partial(scatter, panels, noise=0.0) if by == "system" else partial(scatter, panels)
    return Picture("scores", "Scores against ratings", caption, label, draw), len(names) - len(panels)


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


def baseline_pictures(found: Comparison) -> Iterator[Picture]:
    """The difference of each system from the baseline, for each metric that is no control."""
    for metric in dict.fromkeys(row.metric for row in found.systems if not row.metric.startswith("control:")):
        rows = [row for row in found.systems if row.metric == metric]
        if picture := _against_baseline(metric, rows, found.baseline):
            yield picture


def _system_points(look: Lookup) -> Points:
    """The systems' means as points."""
    systems = look.result.systems
    return Points(
        grades=tuple(row.grade for row in systems),
        scores={
            name: tuple(row.means[name] for row in systems)
            for name in look.metrics
            if all(name in row.means for row in systems)
        },
    )


def _strongest(names: Sequence[str], look: Lookup, coefficient: str, most: int) -> list[str]:
    """The metrics with the strongest correlations, in the order in which they came."""

    def strength(name: str) -> float:
        row = look.rows.get((name, coefficient))
        return abs(row.value) if row else -1

    chosen = set(sorted(names, key=strength, reverse=True)[:most])
    return [name for name in names if name in chosen]


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
