"""The pictures of correlations and of their audit."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.correlation.audit_view import MAPPINGS, row_label
from postil.correlation.findings import Lookup, metric_lines
from postil.meta.coefficients import TABLE, titled
from postil.meta.parts import HALVES, PEOPLE, Points
from postil.results.names import LENGTH, control, is_control
from postil.results.numbers import number
from postil.results.page.blocks import Picture
from postil.results.plots.forest import IntervalRow, Landmark, intervals
from postil.results.plots.heatmaps import matrix
from postil.results.plots.lines import Curve, curves
from postil.results.plots.points import ScatterPanel, scatter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.correlation.result import AltTest, Calibration, CorrelationResult
    from postil.meta.parts import RaterVariance

__all__ = [
    "PANELS",
    "alternative_test",
    "correlations",
    "differences",
    "matrices",
    "pictures",
    "raters",
    "reliability",
    "scatters",
]

PANELS: Final = 12
"""Number of metrics that are drawn against ratings."""

PAIRED: Final = 40
"""Number of metrics in the matrix of all pairs."""

DRAWN: Final = 60
"""Number of rows of the alternative annotator test that are drawn."""

CURVES: Final = 12
"""Number of metrics with a reliability curve."""

MEANINGS: Final[Mapping[str, str]] = {
    "none": "none (scores as they are)",
    "rounded": "rounded (to a rating)",
}


def pictures(result: CorrelationResult) -> Iterator[Picture]:
    """The pictures of a result.

    Args:
        result: The result.
    """
    look = Lookup(result)
    yield from correlations(look)
    yield from differences(look)
    yield from matrices(look)
    yield from filter(None, scatters(look)[:1])
    if result.audit is not None:
        yield from alternative_test(result.audit.alt_test)
        yield from reliability(result.audit.calibration)
        yield from raters(result.audit.raters)


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


def alternative_test(test: AltTest) -> Iterator[Picture]:
    """The average advantage probability of each metric and control, by mapping."""
    rows = [
        IntervalRow(
            f"{row_label(row.metric)}, passed" if row.passed else row_label(row.metric),
            row.rho,
            row.low,
            row.high,
            MEANINGS.get(mapping, mapping),
            is_control(row.metric),
        )
        for mapping in MAPPINGS
        for row in test.rows
        if row.mapping == mapping
    ]
    if not rows:
        return
    few = f", the first {DRAWN} of {len(rows):,}" if len(rows) > DRAWN else ""
    caption = (
        "Average advantage probability rho: share of texts on which a metric is at least as close to the other "
        f"annotators as an annotator is; 95 % confidence intervals{few}; controls in gray"
    )
    label = f"{caption}; the numbers are in the table below"
    draw = partial(intervals, rows[:DRAWN], xlabel="average advantage probability rho")
    yield Picture("alt-test", "Alternative annotator test", caption, label, draw)


def reliability(found: Sequence[Calibration]) -> Iterator[Picture]:
    """Reliability curves of the metrics, one picture per mapping."""
    for mapping in ("isotonic", "none", "linear", "rounded"):
        rows = [row for row in found if row.mapping == mapping and row.bins and not is_control(row.metric)]
        if not rows:
            continue
        title = MEANINGS.get(mapping, mapping)
        few = f", the first {CURVES} of {len(rows):,} metrics" if len(rows) > CURVES else ""
        lines = [
            Curve(
                row.metric,
                np.array([each.predicted for each in row.bins]),
                np.array([each.grade for each in row.bins]),
                sizes=np.array([each.n for each in row.bins], np.float64),
            )
            for row in rows[:CURVES]
        ]
        caption = (
            f"Mean rating of the texts to which a metric gives a rating, mapping {title}; on the dotted "
            f"line it is calibrated, and the area of a point is the number of texts{few}"
        )
        draw = partial(curves, lines, xlabel="predicted rating", ylabel="mean rating", diagonal=True)
        key = "reliability" if mapping == "isotonic" else f"reliability-{mapping}"
        yield Picture(key, title, caption, f"Reliability curves, mapping {mapping}", draw)


def raters(found: RaterVariance) -> Iterator[Picture]:
    """The ceiling and the dependability with more raters."""
    lines = []
    for level in found.levels:
        for name in ("ceiling", "phi"):
            points = [(each.k, value) for each in level.growth if (value := getattr(each, name)) is not None]
            if points:
                k, values = np.array(points).T
                lines.append(Curve(f"{name} by {level.by}", k, values))
    if lines:
        title = "Gain from more raters"
        caption = f"{title}: ceiling of Pearson’s coefficient, and dependability phi of the mean rating"
        draw = partial(curves, lines, log=True, xlabel="raters per text", ylabel="reliability")
        yield Picture("raters", title, caption, f"{caption}; the numbers are in the table below", draw)
