"""Values with their intervals, one a line: a forest plot."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from postil.errors import UsageError
from postil.results.plots.figure import (
    BLUE,
    GREY,
    INK,
    MUTED,
    SIZE,
    SMALL,
    WIDTH,
    canvas,
    fit,
    grid,
    panel,
    printed,
    style,
    text_width,
    ticks,
    write,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["IntervalRow", "Landmark", "RowSet", "intervals"]

LINE = 16.0
LABEL = 12.0
"""Heights of a line and of a landmark's name in points."""
BAR = 11.0
"""Width of the column of a set of rows in points."""
MOST_SETS = 16
"""Largest number of sets of rows that there is room for."""


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """A value with its interval.

    Args:
        name: Label of the value.
        value: The value.
        low: Lower end of the interval; None where there is none.
        high: Upper end.
        group: Rows of one group that follow one another stand under its name.
        control: True if it is there for comparison only, drawn in grey.
        behind: A second interval, such as that of less data, drawn as a thin line under a thick one.
    """

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    group: str = ""
    control: bool = False
    behind: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class RowSet:
    """Rows that belong together, drawn as a bar beside them.

    Args:
        name: Its label, a letter or two.
        rows: Places of its rows.
    """

    name: str
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Landmark:
    """A value to compare all rows with, such as how well people agree with one another.

    Args:
        name: Its label.
        value: Its position.
    """

    name: str
    value: float


@style()
def intervals(
    rows: Sequence[IntervalRow],
    *,
    landmarks: Sequence[Landmark] = (),
    sets: Sequence[RowSet] = (),
    xlabel: str = "",
    digits: int = 3,
) -> Figure:
    """Draw values with their intervals, and the same in numbers beside them.

    Args:
        rows: From top to bottom.
        landmarks: Values to compare with, drawn as vertical lines.
        sets: Sets of rows, drawn as a column of bars each; none where there are more than `MOST_SETS`.
        xlabel: Label of the values.
        digits: Places after the point.

    Raises:
        UsageError: No row, numbers that are not finite, or an interval with one end or its ends swapped.
        MissingExtra: matplotlib is not installed.

    >>> figure = intervals([IntervalRow("meteor", 0.42, 0.38, 0.46)], landmarks=[Landmark("ceiling", 0.865)])
    >>> [text.get_text() for text in figure.texts]
    ['ceiling .865', 'meteor', '.420 [.380, .460]']
    """
    _check(rows, landmarks)
    values = [_in_words(row, digits) for row in rows]
    groups = [
        (name, list(each)) for name, each in groupby(zip(rows, values, strict=True), key=lambda row: row[0].group)
    ]
    indent = 8.0 if any(name for name, _ in groups) else 0.0
    names = min(230.0, max(text_width(fit(row.name, 230)) for row in rows) + indent)
    names = max(names, *(min(230.0, text_width(name, bold=True)) for name, _ in groups))
    right = max(text_width(value, SMALL) for value in values)
    sets = sets if len(sets) <= MOST_SETS else ()
    left, wide = names + 14, WIDTH - names - right - 30 - BAR * len(sets)
    marks, levels = _levels(landmarks, _limits(rows, landmarks), left, wide, digits)
    above = 2 + LABEL * max(levels, bool(sets))
    lines = sum(len(each) + (name != "") + 0.5 * (number > 0) for number, (name, each) in enumerate(groups))
    high = lines * LINE + 4
    figure = canvas(WIDTH, above + high + 22 + 14 * bool(xlabel))
    axes = panel(figure, left, above, wide, high)
    axes.set_xlim(*_limits(rows, landmarks))
    axes.set_ylim(high, 0)
    _dress(axes)
    for mark, text, place, level in marks:
        ends = [-LABEL * (level + 1), high]
        axes.plot([mark.value] * 2, ends, color=INK, alpha=MUTED, lw=0.9, linestyle=(0, (3, 2)), clip_on=False)
        write(figure, place - 4, above - LABEL * (level + 0.5) - 1, text, align="right", size=SMALL)
    y = 2.0
    middles: list[float] = []
    for number, (name, each) in enumerate(groups):
        y += 0.5 * LINE * (number > 0)
        if name:
            write(figure, 2, above + y + LINE / 2, fit(name, names, bold=True), bold=True)
            y += LINE
        for row, value in each:
            faint = MUTED if row.control else 1
            write(figure, 2 + indent, above + y + LINE / 2, fit(row.name, names - indent), alpha=faint)
            write(figure, WIDTH - 2, above + y + LINE / 2, value, align="right", size=SMALL, alpha=faint)
            _row(axes, row, y + LINE / 2)
            middles.append(above + y + LINE / 2)
            y += LINE
    _draw_sets(figure, sets, WIDTH - right - 8 - BAR * len(sets), above, middles)
    if xlabel:
        write(figure, left + wide / 2, above + high + 27, fit(xlabel, WIDTH - left, SIZE), align="center")
    return figure


def _check(rows: Sequence[IntervalRow], landmarks: Sequence[Landmark]) -> None:
    if not rows:
        raise UsageError("rows: expected at least one")
    for row in rows:
        ends = [end for end in (row.low, row.high) if end is not None]
        if not all(map(math.isfinite, [row.value, *ends, *(row.behind or ())])):
            raise UsageError(f"{row.name}: expected finite numbers")
        if len(ends) == 1 or (ends and not ends[0] <= ends[1]):
            raise UsageError(f"{row.name}: expected an interval from low to high, got {row.low} and {row.high}")
    for mark in landmarks:
        if not math.isfinite(mark.value):
            raise UsageError(f"{mark.name}: expected a finite number")


def _in_words(row: IntervalRow, digits: int) -> str:
    value = printed(row.value, digits)
    if row.low is None or row.high is None:
        return value
    return f"{value} [{printed(row.low, digits)}, {printed(row.high, digits)}]"


def _limits(rows: Sequence[IntervalRow], landmarks: Sequence[Landmark]) -> tuple[float, float]:
    every = [end for row in rows for end in (row.value, row.low, row.high, *(row.behind or ())) if end is not None]
    every += [mark.value for mark in landmarks]
    low, high = min(every), max(every)
    room = 0.04 * (high - low) or 0.1
    return low - room, high + room


def _levels(
    landmarks: Sequence[Landmark], limits: tuple[float, float], left: float, wide: float, digits: int
) -> tuple[list[tuple[Landmark, str, float, int]], int]:
    """Text, place and level of each landmark, and how many levels there are.

    Names end at their lines. One that would reach over a line to its left stands a level above that line's name, so no
    name lies on another name or on a line.
    """
    placed: list[tuple[Landmark, str, float, int]] = []
    for mark in sorted(landmarks, key=lambda mark: mark.value):
        place = left + wide * (mark.value - limits[0]) / (limits[1] - limits[0])
        text = fit(f"{mark.name} {printed(mark.value, digits)}", place - 6, SMALL)
        begin = place - text_width(text, SMALL) - 10
        level = max((level + 1 for _, _, line, level in placed if line > begin), default=0)
        placed.append((mark, text, place, level))
    return placed, max((level + 1 for *_, level in placed), default=0)


def _dress(axes: Axes) -> None:
    axes.spines["left"].set_visible(False)
    axes.set_yticks([])
    ticks(axes.xaxis, 8)
    grid(axes, "x")
    low, high = axes.get_xlim()
    if low < 0 < high:
        axes.axvline(0, color=INK, linewidth=0.6)


def _row(axes: Axes, row: IntervalRow, y: float) -> None:
    color = GREY if row.control else BLUE
    if row.behind:
        axes.plot(row.behind, [y, y], color=INK, alpha=MUTED, linewidth=0.8, solid_capstyle="butt")
    if row.low is not None and row.high is not None:
        wide = 4.0 if row.behind else 1.6
        axes.plot([row.low, row.high], [y, y], color=color, linewidth=wide, solid_capstyle="round")
    size = 7.0 if row.behind else 5.5
    axes.plot([row.value], [y], color=color, marker="o", markersize=size, markeredgewidth=0)


def _draw_sets(figure: Figure, sets: Sequence[RowSet], left: float, above: float, middles: Sequence[float]) -> None:
    """A column per set: its name above, and a bar beside each of its rows, with a thin line over those between."""
    from matplotlib.lines import Line2D  # noqa: PLC0415

    width, height = figure.get_size_inches() * 72
    for number, each in enumerate(sets):
        x = left + BAR * (number + 0.5)
        write(figure, x, above - LABEL / 2, each.name, align="center", size=SMALL)
        ends = [(middles[row] - LINE / 2 + 2, middles[row] + LINE / 2 - 2, 4.0) for row in each.rows]
        for top, bottom, thick in [(ends[0][0], ends[-1][1], 0.8), *ends]:
            place = [x / width] * 2, [1 - top / height, 1 - bottom / height]
            line = Line2D(*place, color=INK, alpha=MUTED, linewidth=thick, solid_capstyle="butt")
            line.set_transform(figure.transFigure)
            figure.add_artist(line)
