"""Curves with bands, named where they end."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import UsageError
from postil.results.plots.figure import (
    COLORS,
    DASHES,
    GREY,
    INK,
    MUTED,
    SMALL,
    WIDTH,
    Dash,
    canvas,
    fit,
    grid,
    numbers,
    panel,
    style,
    text_width,
    ticks,
    write,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray


__all__ = ["Curve", "CurveMark", "curves"]

HEIGHT: Final = 290.0
LINE: Final = 13.0
"""Height of a name in points."""
AREA: Final = 200.0
"""Area of the largest point in square points."""


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A curve through n points.

    Args:
        name: Its label.
        x: float64[n], rising.
        y: float64[n].
        low: float64[n], the lower edge of its band; None where there is none.
        high: float64[n], the upper edge.
        sizes: float64[n], above 0, what the area of each point is proportional to, such as its number of texts; None
            for a line without points.
    """

    name: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None
    sizes: NDArray[np.float64] | None = None


@dataclass(frozen=True, slots=True)
class CurveMark:
    """A point of interest on a curve.

    Args:
        name: Its label.
        x: Its place.
        y: Its height.
    """

    name: str
    x: float
    y: float


@style()
def curves(
    series: Sequence[Curve],
    *,
    xlabel: str = "",
    ylabel: str = "",
    log: bool = False,
    log_y: bool = False,
    diagonal: bool = False,
    marks: Sequence[CurveMark] = (),
) -> Figure:
    """Draw curves with their bands; the names stand at the right, in the order of the curves' ends.

    Reliability curves have the predicted grade as x, the mean grade as y, the number of texts as sizes, and a diagonal.

    Args:
        series: At most 12 curves.
        xlabel: Label of x.
        ylabel: Label of y.
        log: True for a logarithmic x axis.
        log_y: True for a logarithmic y axis.
        diagonal: True for a square panel with one scale for x and y, and a dotted line where both are equal.
        marks: Points of interest, within the range of the curves, each with a line down to the axis.

    Raises:
        UsageError: No curve or more than 12, arrays of unlike length, x that does not rise or, with ``log``, is not
            positive, y that is not with ``log_y``, sizes that are not positive, or a band with one edge.
        MissingExtra: matplotlib is not installed.

    >>> figure = curves([Curve("f1-2", np.array([1.0, 2.0]), np.array([0.5, 0.6]))], ylabel="nCG@k")
    >>> [text.get_text() for text in figure.texts]
    ['f1-2', 'nCG@k']
    """
    most = len(COLORS) * len(DASHES)
    if not 1 <= len(series) <= most:
        raise UsageError(f"series: expected 1 to {most} curves, got {len(series)}")
    data = [_checked(each, log=log, log_y=log_y) for each in series]
    shown = [fit(each.name, 190) for each in series]
    names = max(map(text_width, shown)) + 42
    keyed = any(each.sizes is not None for each in series)
    left, above, below = 52.0, 8.0, 22.0 + 14 * (bool(xlabel) or keyed)
    high = max(HEIGHT, LINE * len(series))
    wide = high if diagonal else WIDTH - left - names
    figure = canvas(WIDTH, above + high + below)
    axes = panel(figure, left, above, wide, high)
    _dress(axes, data, log=log, log_y=log_y)
    if diagonal:
        _diagonal(axes)
    faint = min(0.14, 0.6 / len(data))  # so that many bands on one another do not hide the lines
    for number, (x, y, low, top) in enumerate(data):
        color, dash = COLORS[number % len(COLORS)], DASHES[number // len(COLORS)]
        if low is not None and top is not None:
            some = _apart(axes, x)
            axes.fill_between(x[some], low[some], top[some], color=color, alpha=faint, linewidth=0)
        marker = "o" if len(x) == 1 else ""
        axes.plot(x, y, color=color, linestyle=dash, linewidth=1.6, marker=marker, markersize=4, clip_on=False)
    if keyed:
        _sized(figure, axes, series, left + wide + names, above + high + 27)
    _names(figure, axes, data, shown, (left, above, wide, high))
    _mark(axes, marks, rising=all(y[-1] > y[0] for _, y, _, _ in data))
    if xlabel:
        write(figure, left + wide / 2, above + high + 27, fit(xlabel, WIDTH), align="center")
    if ylabel:
        write(figure, 8, above + high / 2, fit(ylabel, high), align="center", rotation=90)
    return figure


_Data = tuple["NDArray[np.float64]", "NDArray[np.float64]", "NDArray[np.float64] | None", "NDArray[np.float64] | None"]


def _checked(curve: Curve, *, log: bool, log_y: bool) -> _Data:
    x = numbers(f"{curve.name}: x", curve.x, [None])
    if not len(x) or np.any(np.diff(x) <= 0):
        raise UsageError(f"{curve.name}: x: expected at least one number, and numbers that rise")
    if log and x[0] <= 0:
        raise UsageError(f"{curve.name}: x: expected positive numbers on a logarithmic axis, got {x[0]:g}")
    y = numbers(f"{curve.name}: y", curve.y, [len(x)])
    if (curve.low is None) != (curve.high is None):
        raise UsageError(f"{curve.name}: expected a band with two edges")
    if curve.sizes is not None and numbers(f"{curve.name}: sizes", curve.sizes, [len(x)]).min() <= 0:
        raise UsageError(f"{curve.name}: sizes: expected positive numbers")
    low, high = (
        None if edge is None else numbers(f"{curve.name}: {name}", edge, [len(x)])
        for name, edge in (("low", curve.low), ("high", curve.high))
    )
    if log_y and any(each is not None and np.any(each <= 0) for each in (y, low, high)):
        raise UsageError(f"{curve.name}: y: expected positive numbers on a logarithmic axis")
    return x, y, low, high


def _dress(axes: Axes, data: Sequence[_Data], *, log: bool, log_y: bool) -> None:
    """Limits that hold all curves and bands, ticks and faint lines."""
    from matplotlib.ticker import LogLocator, NullLocator  # noqa: PLC0415

    first, last = min(x[0] for x, *_ in data), max(x[-1] for x, *_ in data)
    if first == last:
        first, last = (first / 2, last * 2) if log else (first - 0.5, last + 0.5)
    every = [values for _, *ys in data for values in ys if values is not None]
    low, high = min(values.min() for values in every), max(values.max() for values in every)
    if log_y:
        axes.set_yscale("log")
        room = (high / low) ** 0.04 if high > low else 2
        axes.set_ylim(low / room, high * room)
    else:
        room = 0.04 * (high - low) or 0.1
        axes.set_ylim(low - room, high + room)
    if log:
        axes.set_xscale("log")
    axes.set_xlim(first, last)
    for axis, steps, factor in (
        (axes.xaxis, log, last / first if log else 0),
        (axes.yaxis, log_y, high / low if log_y else 0),
    ):
        ticks(axis, 7)
        if steps:
            axis.set_major_locator(LogLocator(10, subs=(1, 2, 5) if factor < 100 else (1,), numticks=12))
            axis.set_minor_locator(NullLocator())
    grid(axes)


def _diagonal(axes: Axes) -> None:
    """The same limits for x and y, and the line where both are equal."""
    limits = (*axes.get_xlim(), *axes.get_ylim())
    ends = min(limits), max(limits)
    axes.set_xlim(*ends)
    axes.set_ylim(*ends)
    axes.plot(ends, ends, color=GREY, linestyle=DASHES[-1], linewidth=1, zorder=1)


def _sized(figure: Figure, axes: Axes, series: Sequence[Curve], right: float, y: float) -> None:
    """Points with areas by size, and a key that shows the largest; it ends at a place in points."""
    from matplotlib.lines import Line2D  # noqa: PLC0415

    largest = max(float(each.sizes.max()) for each in series if each.sizes is not None)
    for number, each in enumerate(series):
        if each.sizes is not None:
            areas = np.maximum(AREA * each.sizes / largest, 2)
            color = COLORS[number % len(COLORS)]
            axes.scatter(each.x, each.y, areas, color=color, alpha=MUTED, linewidths=0, clip_on=False, zorder=3)
    text = f"{largest:,.0f} texts"
    x, radius = right - text_width(text, SMALL), math.sqrt(AREA / math.pi)
    width, height = figure.get_size_inches() * 72
    key = Line2D([(x - radius - 4) / width], [1 - y / height], marker="o", markersize=2 * radius, color=GREY, mew=0)
    key.set_transform(figure.transFigure)
    figure.add_artist(key)
    write(figure, right, y, text, align="right", size=SMALL, alpha=MUTED)


def _mark(axes: Axes, marks: Sequence[CurveMark], *, rising: bool) -> None:
    """A ring at each point of interest, a dashed line down to the axis, and its name.

    Names stand off the curves, within the panel: of falling ones to the upper right, or to the lower left where another
    point lies to the right; of rising ones to the upper left, or to the lower right.
    """
    bottom = axes.get_ylim()[0]
    for mark in marks:
        axes.plot([mark.x] * 2, [bottom, mark.y], color=INK, alpha=MUTED, lw=0.9, linestyle=(0, (3, 2)))
        axes.plot([mark.x], [mark.y], color=INK, marker="o", markersize=6, markerfacecolor="none", clip_on=False)
        share = axes.transAxes.inverted().transform(axes.transData.transform((mark.x, mark.y)))[0]
        left = share > 0.3 if rising else share > 0.7 or (share > 0.3 and any(each.x > mark.x for each in marks))
        above = 6.0 + LINE * sum(each.x > mark.x for each in marks)
        offset = (-6.0 if left else 6.0, above if left == rising else -12.0)
        text = fit(mark.name, 220, SMALL)
        where = "right" if left else "left"
        axes.annotate(text, (mark.x, mark.y), offset, textcoords="offset points", ha=where, fontsize=SMALL)


def _apart(axes: Axes, x: NDArray[np.float64]) -> NDArray[np.intp]:
    """The first of all places that fall into each 1.5 points along the axis, and the last of all."""
    steps = axes.transData.transform(np.stack([x, np.zeros(len(x))], axis=1))[:, 0] // 1.5
    return np.flatnonzero(np.r_[True, np.diff(steps[:-1]) != 0, True][-len(x) :])


def _names(
    figure: Figure, axes: Axes, data: Sequence[_Data], shown: Sequence[str], place: tuple[float, float, float, float]
) -> None:
    """The name of each curve with a piece of its line, beside its end."""
    from matplotlib.lines import Line2D  # noqa: PLC0415

    left, above, wide, high = place
    width, height = figure.get_size_inches() * 72
    heights = [axes.transAxes.inverted().transform(axes.transData.transform((x[-1], y[-1])))[1] for x, y, _, _ in data]
    ends = [above + high * (1 - float(height)) for height in heights]
    for number, y in enumerate(_spread(ends, LINE, above, above + high)):
        color, dash = COLORS[number % len(COLORS)], DASHES[number // len(COLORS)]
        (last,) = axes.transData.transform([(data[number][0][-1], 0)])[:, 0] * 72 / figure.dpi
        pieces: list[tuple[list[float], list[float], Dash, float, float]] = [
            ([last + 2, left + wide + 14], [ends[number], y], "solid", 0.5, 0.6),
            ([left + wide + 16, left + wide + 34], [y, y], dash, 1, 1.8),
        ]
        for xs, ys, kind, alpha, lw in pieces:
            line = Line2D(
                np.array(xs) / width, 1 - np.array(ys) / height, color=color, linestyle=kind, alpha=alpha, lw=lw
            )
            line.set_transform(figure.transFigure)
            figure.add_artist(line)
        write(figure, left + wide + 39, y, shown[number])


def _spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places near the wanted ones, in their order, with at least a gap between neighbors, from low to high.

    >>> _spread([10.0, 11.0, 30.0], 4.0, 0.0, 31.0)
    [8.5, 12.5, 29.0]
    """
    order = np.argsort(wanted, kind="stable")
    # Neighbors that are too near become a block around their mean place; blocks that then touch are joined.
    blocks: list[list[float]] = []  # sum of the wanted places, number of names
    half = gap / 2

    def start(block: list[float]) -> float:
        total, number = block
        return min(max(total / number - half * number, low), high - gap * number)

    for each in order.tolist():
        blocks.append([wanted[each], 1])
        while len(blocks) > 1 and start(blocks[-2]) + gap * blocks[-2][1] > start(blocks[-1]):
            total, number = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += number
    places = [start(block) + gap * (number + 0.5) for block in blocks for number in range(int(block[1]))]
    return [places[place] for place in np.argsort(order, kind="stable").tolist()]
