"""Scores against human grades, one panel a metric: Figure 1 of Qin et al. (2018)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import UsageError
from postil.results.plots.figure import (
    BLUE,
    MUTED,
    SMALL,
    SWATCH,
    VERMILION,
    WIDTH,
    canvas,
    fit,
    numbers,
    panel,
    style,
    swatch,
    text_width,
    ticks,
    write,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

__all__ = ["ScatterPanel", "scatter"]

POINTS: Final = 2000
"""More texts than this are drawn as counts in cells."""

CELL: Final = 2.5
"""Side of a cell in points."""

LAYERS: Final = 6
"""Number of half transparent layers that points are distributed over, so that dense places are darker."""

SHADES: Final = 7
"""Maximum number of shades of counts."""

VALUES: Final = 50
"""Grades with more different values than this need no noise."""


@dataclass(frozen=True, slots=True, eq=False)
class ScatterPanel:
    """One metric's scores of n texts and the grades that people gave them.

    Args:
        title: The metric.
        scores: float64[n].
        grades: float64[n].
        note: A second line, such as the correlation with its interval.
    """

    title: str
    scores: NDArray[np.float64]
    grades: NDArray[np.float64]
    note: str = ""


@style()
def scatter(
    panels: Sequence[ScatterPanel],
    *,
    xlabel: str = "human grade",
    ylabel: str = "score",
    noise: float = 0.05,
    seed: int = 20181,
) -> Figure:
    """Draw scores against grades with the least-squares line of the score on the grade.

    Grades that take few values lie on one another, so the points, and they alone, are moved sideways by Gaussian noise,
    a text by the same in every panel; the line is that of the clean grades. Where a panel has more than 2,000 texts,
    cells are shaded by how many texts they hold and a key says what the shades stand for; nothing is sampled.

    Args:
        panels: One a metric, in order; four stand in a row.
        xlabel: Label of the grades.
        ylabel: Label of the scores.
        noise: Standard deviation of the noise, .05 in the paper; added where there are at most 50 different grades.
        seed: The seed of the noise.

    Raises:
        UsageError: No panel, arrays of unlike length, numbers that are not finite, or a negative noise.
        MissingExtra: matplotlib is not installed.

    >>> panel = ScatterPanel("meteor", np.array([0.1, 0.2, 0.4]), np.array([1.0, 2.0, 4.0]), "Pearson 1.00")
    >>> figure = scatter([panel])
    >>> [text.get_text() for text in figure.texts]
    ['meteor', 'Pearson 1.00', 'human grade', 'score']
    """
    if not panels:
        raise UsageError("panels: expected at least one")
    if not 0 <= noise < np.inf:
        raise UsageError(f"noise: expected a standard deviation from 0 up, got {noise:g}")
    data = [
        (numbers(f"{each.title}: scores", each.scores, [None]), numbers(f"{each.title}: grades", each.grades, [None]))
        for each in panels
    ]
    for each, (scores, grades) in zip(panels, data, strict=True):
        if len(scores) != len(grades) or not len(scores):
            raise UsageError(f"{each.title}: expected a grade for each score, got {len(grades)} and {len(scores)}")
    columns = len(panels) if len(panels) <= 4 else 3 if len(panels) in {5, 6, 9} else 4
    rows = -(-len(panels) // columns)
    left, gap, above, below, foot = 46.0, 34.0, 32.0, 20.0, 22.0
    wide = min(240.0, (WIDTH - left - 6 - gap * (columns - 1)) / columns)
    high = wide * 0.82
    dense = max(len(scores) for scores, _ in data) > POINTS
    width = left + columns * wide + (columns - 1) * gap + 6
    figure = canvas(width, rows * (above + high + below) + foot + 18 * dense)
    moved = [_moved(grades, noise, np.random.default_rng(seed)) for _, grades in data]
    low, top = min(x.min() for x in moved), max(x.max() for x in moved)
    room = 0.04 * (top - low) or 0.5
    drawn = []
    for number, (each, x, (scores, grades)) in enumerate(zip(panels, moved, data, strict=True)):
        row, column = divmod(number, columns)
        place = left + column * (wide + gap), above + row * (above + high + below)
        write(figure, place[0], place[1] - 21, fit(each.title, wide + gap - 4, bold=True), bold=True)
        write(figure, place[0], place[1] - 9, fit(each.note, wide + gap - 4, SMALL), size=SMALL, alpha=MUTED)
        axes = panel(figure, *place, wide, high)
        axes.set_xlim(low - room, top + room)
        margin = 0.04 * float(np.ptp(scores)) or 0.5
        axes.set_ylim(scores.min() - margin, scores.max() + margin)
        ticks(axes.xaxis, 5 if wide < 160 else 8)
        ticks(axes.yaxis, 5)
        _line(axes, grades, scores)
        drawn.append((axes, x, scores))
    if dense:
        _key(figure, width, _cells(drawn, wide, high))
    else:
        _points(drawn)
    bottom = rows * (above + high + below) + 9
    write(figure, left + (width - left - 6) / 2, bottom, fit(xlabel, width - left), align="center")
    middle = above + (rows * (above + high + below) - above - below) / 2
    write(figure, 8, middle, fit(ylabel, 2 * middle), align="center", rotation=90)
    return figure


def _moved(grades: NDArray[np.float64], noise: float, generator: np.random.Generator) -> NDArray[np.float64]:
    """Grades with noise, where they take few values."""
    return grades if len(np.unique(grades)) > VALUES else grades + generator.normal(0, noise, len(grades))


def _line(axes: Axes, grades: NDArray[np.float64], scores: NDArray[np.float64]) -> None:
    """The least-squares line of the score on the grade, where the grades differ."""
    if np.ptp(grades) > 0:
        off = grades - grades.mean()
        slope = off @ scores / (off @ off)
        ends = np.array([grades.min(), grades.max()])
        axes.plot(
            ends,
            scores.mean() + slope * (ends - grades.mean()),
            color=VERMILION,
            linewidth=1.6,
            solid_capstyle="round",
            zorder=3,
        )


def _points(drawn: Sequence[tuple[Axes, NDArray[np.float64], NDArray[np.float64]]]) -> None:
    """Each text is a dot: a line of hardly any length with round ends, which takes few bytes."""
    from matplotlib.patches import PathPatch  # noqa: PLC0415
    from matplotlib.path import Path  # noqa: PLC0415

    for axes, x, y in drawn:
        size = 3.4 if len(x) <= 300 else 2.4
        low, high = axes.get_xlim()
        short = (high - low) / 20000
        for layer in range(min(LAYERS, len(x))):
            dots = np.repeat(np.stack([x[layer::LAYERS], y[layer::LAYERS]], axis=1), 2, axis=0)
            dots[1::2, 0] += short
            codes = np.tile(np.array([Path.MOVETO, Path.LINETO], np.uint8), len(dots) // 2)
            path = Path(dots, codes)
            path.should_simplify = False
            axes.add_patch(
                PathPatch(path, fill=False, color=BLUE, alpha=0.5, lw=size, capstyle="round", snap=False, clip_on=False)
            )


def _cells(
    drawn: Sequence[tuple[Axes, NDArray[np.float64], NDArray[np.float64]]], wide: float, high: float
) -> list[tuple[str, float]]:
    """Shade cells by how many texts they hold; a step is a factor of 2, or of 4 or more where counts are large.

    Returns:
        Counts and opacity of each shade.
    """
    from matplotlib.patches import PathPatch  # noqa: PLC0415
    from matplotlib.path import Path  # noqa: PLC0415

    shape = round(wide / CELL), round(high / CELL)
    grids = [np.histogram2d(x, y, shape, (axes.get_xlim(), axes.get_ylim())) for axes, x, y in drawn]
    most = max(counts.max() for counts, _, _ in grids)
    base = next(base for base in (2, 4, 8, 16, 32, 64, 128) if base**SHADES > most)
    starts = base ** np.arange(SHADES)
    starts = starts[starts <= most]
    opacities = np.linspace(0.22, 1, len(starts))
    for (axes, _, _), (counts, xs, ys) in zip(drawn, grids, strict=True):
        shade = np.searchsorted(starts, counts, "right") - 1
        for number, opacity in enumerate(opacities):
            corners = []
            for column, row, length in _runs(shade == number):
                x0, x1, y0, y1 = xs[column], xs[column + 1], ys[row], ys[row + length]
                corners += [(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)]
            if corners:
                box = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
                path = Path(corners, np.tile(np.array(box, np.uint8), len(corners) // 5))
                path.should_simplify = False
                axes.add_patch(PathPatch(path, facecolor=BLUE, alpha=opacity, lw=0, antialiased=False, clip_on=False))
    ends = [*(starts[1:] - 1), None]
    names = [
        f"{start:,}" if end == start else f"{start:,}+" if end is None else f"{start:,}–{end:,}"
        for start, end in zip(starts.tolist(), ends, strict=True)
    ]
    return list(zip(names, opacities.tolist(), strict=True))


def _runs(cells: NDArray[np.bool_]) -> list[tuple[int, int, int]]:
    """Column, first row and length of each unbroken run of cells in a column, bool[columns, rows]."""
    edges = np.diff(np.pad(cells, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    columns, first = np.nonzero(edges == 1)
    _, end = np.nonzero(edges == -1)
    return list(zip(columns.tolist(), first.tolist(), (end - first).tolist(), strict=True))


def _key(figure: Figure, width: float, shades: Sequence[tuple[str, float]]) -> None:
    """Legend of the shades, at the lower right."""
    title = "texts in a cell"
    y = figure.get_size_inches()[1] * 72 - 9
    x = width - 6 - sum(text_width(name, SMALL) + 22 for name, _ in shades) - text_width(title, SMALL)
    write(figure, x, y, title, size=SMALL, alpha=MUTED)
    x += text_width(title, SMALL) + 8
    for name, opacity in shades:
        swatch(figure, x, y, BLUE, opacity)
        write(figure, x + SWATCH + 3, y, name, size=SMALL, alpha=MUTED)
        x += text_width(name, SMALL) + 22
