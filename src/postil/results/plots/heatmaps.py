"""Square tables of shaded cells: differences of all pairs, and who meant what by a label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import UsageError
from postil.results.plots.figure import (
    BLUE,
    INK,
    MUTED,
    SIZE,
    SMALL,
    STRONGEST,
    SWATCH,
    VERMILION,
    canvas,
    fit,
    numbers,
    panel,
    printed,
    style,
    swatch,
    text_width,
    write,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

__all__ = ["confusion", "matrix"]

WRITTEN: Final = 12
"""With more names than this, cells hold no numbers."""

NAME: Final = 190.0
"""Room for a name in points."""


@style()
def matrix(
    names: Sequence[str],
    values: ArrayLike,
    marks: ArrayLike | None = None,
    *,
    digits: int = 3,
    note: str = "row − column",
    mark_note: str = "",
) -> Figure:
    """Draw the differences of all pairs, blue where positive and orange where negative.

    Args:
        names: m names.
        values: float64[m, m], row minus column; NaN where there is none. The diagonal is not read.
        marks: bool[m, m], the differences that are set in bold or, with more than 12 names, get a dot.
        digits: Places after the point.
        note: Legend of a cell.
        mark_note: Legend of the marks.

    Raises:
        UsageError: Fewer than two names, or arrays of another shape.
        MissingExtra: matplotlib is not installed.

    >>> figure = matrix(["meteor", "bleu-1"], [[0, 0.031], [-0.031, 0]], [[False, True], [True, False]])
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['+.031', '−.031']
    """
    m = len(names)
    if m < 2:
        raise UsageError(f"names: expected at least two, got {m}")
    cells = numbers("values", values, [m, m], absent=True)
    marked = np.zeros((m, m), np.bool_) if marks is None else numbers("marks", marks, [m, m]) != 0
    others = ~np.eye(m, dtype=np.bool_)
    known = others & ~np.isnan(cells)
    most = float(np.abs(cells[known]).max(initial=0)) or 1.0
    side = 42.0 if m <= 8 else 36.0 if m <= WRITTEN else 20.0 if m <= 24 else 14.0
    written = m <= WRITTEN
    # The line below, from left to right: texts, and one None for the colors.
    ends = printed(-most, digits, sign=True), printed(most, digits, sign=True)
    notes = [note, ends[0], None, ends[1]]
    notes += [f"{'bold' if written else 'dot'}: {mark_note}"] if mark_note else []
    notes += ["empty: undefined"] if np.any(others & ~known) else []
    figure, axes = _table(names, side, 22.0 if written else side, below=30, least=_width(notes))
    for row, column in np.argwhere(others).tolist():
        value, mark = float(cells[row, column]), bool(marked[row, column])
        if not known[row, column]:
            _empty(axes, row, column)
            continue
        _cell(axes, row, column, BLUE if value > 0 else VERMILION, abs(value) / most)
        if written:
            _number(axes, row, column, printed(value, digits, sign=True), bold=mark)
        elif mark:
            axes.plot([column + 0.5], [row + 0.5], color=INK, marker="o", markersize=3, mew=0, clip_on=False)
    for place in range(m):
        axes.plot([place + 0.4, place + 0.6], [place + 0.5] * 2, color=INK, alpha=0.35, linewidth=0.8)
    _notes(figure, notes)
    return figure


@style()
def confusion(
    labels: Sequence[str], counts: ArrayLike, *, row: str = "one annotator", column: str = "another annotator"
) -> Figure:
    """Draw how often one annotator gave one label and another annotator another to the same text.

    Args:
        labels: l labels, from low to high.
        counts: int64[l, l].
        row: Annotator of the rows' labels.
        column: Annotator of the columns' labels.

    Raises:
        UsageError: No label, an array of another shape or negative counts.
        MissingExtra: matplotlib is not installed.

    >>> [text.get_text() for text in confusion(["1", "2"], [[1200, 3], [4, 5]]).axes[0].texts]
    ['1,200', '3', '4', '5']
    """
    if not labels:
        raise UsageError("labels: expected at least one")
    table = numbers("counts", counts, [len(labels), len(labels)])
    if np.any(table < 0):
        raise UsageError("counts: expected numbers from 0 up")
    shown = [f"{int(count):,}" for count in table.ravel()]
    side = max(32.0, max(text_width(count, SMALL) for count in shown) + 10)
    titles = fit(row, NAME), fit(column, NAME)
    figure, axes = _table(labels, side, max(24.0, (text_width(titles[0]) + 4) / len(labels)), titles=titles)
    most = max(float(table.max()), 1)
    for (y, x), count in np.ndenumerate(table):
        _cell(axes, y, x, BLUE, float(count) / most)
        _number(axes, y, x, shown[y * len(labels) + x])
    return figure


def _table(
    names: Sequence[str],
    side: float,
    tall: float,
    *,
    below: float = 4,
    least: float = 0,
    titles: tuple[str, str] | None = None,
) -> tuple[Figure, Axes]:
    """A picture with names to the left and on top of a square table, slanted where they are long.

    Args:
        names: m names.
        side: Width of a cell in points.
        tall: Height of a cell.
        below: Room below the table.
        least: The picture is at least this wide.
        titles: Titles of the rows and of the columns.

    Returns:
        The picture, and axes in which a cell has sides of 1 and the first one stands at the upper left.
    """
    m = len(names)
    shown = [fit(name, NAME) for name in names]
    longest = max(map(text_width, shown))
    slanted = longest > side - 4
    extra = 18.0 if titles else 0.0
    left = longest + 12 + extra
    above = extra + (10 + longest * 0.71 + SIZE if slanted else 20)
    right = max(4.0, longest * 0.71 - side / 2 + SIZE if slanted else 0)
    over = text_width(titles[1]) + 4 if titles else 0
    figure = canvas(max(left + max(m * side + right, over), least), above + m * tall + below)
    for number, name in enumerate(shown):
        write(figure, left - 6, above + (number + 0.5) * tall, name, align="right")
        middle = left + (number + 0.5) * side
        if slanted:
            write(figure, middle, above - 7, name, rotation=45)
        else:
            write(figure, middle, above - 9, name, align="center")
    if titles:
        write(figure, 9, above + m * tall / 2, titles[0], align="center", rotation=90)
        write(figure, left + max(m * side, over) / 2, 9, titles[1], align="center")
    axes = panel(figure, left, above, m * side, m * tall)
    axes.set_axis_off()
    axes.set_xlim(0, m)
    axes.set_ylim(m, 0)
    return figure, axes


def _cell(axes: Axes, row: int, column: int, color: str, share: float) -> None:
    from matplotlib.patches import Rectangle  # noqa: PLC0415

    alpha = round(STRONGEST * share, 2)
    axes.add_patch(Rectangle((column + 0.02, row + 0.02), 0.96, 0.96, fc=color, alpha=alpha, lw=0, clip_on=False))


def _empty(axes: Axes, row: int, column: int) -> None:
    from matplotlib.patches import Rectangle  # noqa: PLC0415

    box = Rectangle((column + 0.06, row + 0.06), 0.88, 0.88, fill=False, ec=INK, alpha=0.35, lw=0.6, clip_on=False)
    axes.add_patch(box)


def _number(axes: Axes, row: int, column: int, text: str, *, bold: bool = False) -> None:
    weight = "bold" if bold else "normal"
    place = column + 0.5, row + 0.5
    axes.text(*place, text, ha="center", va="center_baseline", fontsize=SMALL, fontweight=weight)


SHADES: Final = (-1, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 1)
"""The shades in the key."""


def _width(notes: Sequence[str | None]) -> float:
    return sum(len(SHADES) * SWATCH if note is None else text_width(note, SMALL) + 14 for note in notes)


def _notes(figure: Figure, notes: Sequence[str | None]) -> None:
    """Legend of cells, colors and marks, in a line below."""
    y = figure.get_size_inches()[1] * 72 - 9
    x = 2.0
    for number, note in enumerate(notes):
        if note is None:
            for share in SHADES:
                swatch(figure, x, y, BLUE if share > 0 else VERMILION, STRONGEST * abs(share))
                x += SWATCH
            x += 4
        else:
            write(figure, x, y, note, size=SMALL, alpha=MUTED)
            x += text_width(note, SMALL) + (4 if None in notes[number + 1 : number + 2] else 14)
