"""Bars: amounts, shares of ratings, and distributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import UsageError
from postil.results.plots.figure import (
    BLUE,
    GREY,
    INK,
    MUTED,
    SMALL,
    WIDTH,
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
    from numpy.typing import ArrayLike, NDArray

__all__ = ["SpreadPanel", "amounts", "histograms", "spreads"]

LINE: Final = 17.0
"""Height of a bar's line in points."""

THICK: Final = 0.66
"""Share of the height that the bar takes."""

LEAST: Final = 0.0005
"""Smaller shares are not rounded to 0."""

BARS: Final = 60
"""Maximum number of bars in a panel."""

STEPS: Final = (1, 2, 5)
"""A bar is one of these times a power of 10 wide."""

BEYOND: Final = 0.01
"""So much of a long tail is not drawn."""


@style()
def amounts(names: Sequence[str], counts: ArrayLike, *, aside: int = 0) -> Figure:
    """Draw how many there are of each kind, as bars from the left with the numbers and shares behind them.

    Args:
        names: n names, from top to bottom.
        counts: int64[n].
        aside: Number of last bars that are no kinds, such as all others together; they are drawn in grey.

    Raises:
        UsageError: No name, an array of another shape, negative counts or nothing but zeros.
        MissingExtra: matplotlib is not installed.

    >>> figure = amounts(["sport", "politics", "2 others"], [1500, 400, 100], aside=1)
    >>> [text.get_text() for text in figure.texts]
    ['sport', '1,500 (75.0 %)', 'politics', '400 (20.0 %)', '2 others', '100 (5.0 %)']
    """
    if not names:
        raise UsageError("names: expected at least one")
    values = numbers("counts", counts, [len(names)])
    if np.any(values < 0) or not values.any():
        raise UsageError("counts: expected numbers from 0 up, and one above")
    shown = [fit(name, 190) for name in names]
    shares = values / values.sum()
    notes = [
        f"{value:,.0f} ({'<0.1' if 0 < share < LEAST else f'{100 * share:.1f}'} %)"
        for value, share in zip(values.tolist(), shares.tolist(), strict=True)
    ]
    left = max(map(text_width, shown)) + 12
    wide = WIDTH - left - max(text_width(note, SMALL) for note in notes) - 12
    figure = canvas(WIDTH, LINE * len(names) + 8)
    axes = panel(figure, left, 4, wide, LINE * len(names))
    axes.set_axis_off()
    axes.set_xlim(0, float(values.max()))
    axes.set_ylim(len(names) - 0.5, -0.5)
    kinds = len(names) - aside
    colors = [BLUE] * kinds + [GREY] * aside
    axes.barh(np.arange(len(names)), values, height=THICK, color=colors, alpha=0.85, linewidth=0)
    for number, (name, note, value) in enumerate(zip(shown, notes, values.tolist(), strict=True)):
        y = 4 + LINE * (number + 0.5)
        write(figure, left - 6, y, name, align="right", alpha=1 if number < kinds else MUTED)
        write(figure, left + wide * value / float(values.max()) + 5, y, note, size=SMALL, alpha=MUTED)
    return figure


@style()
def histograms(annotators: Sequence[str], labels: Sequence[str], counts: ArrayLike) -> Figure:
    """Draw how often each annotator gave each label, as shares; a line shows the shares of all annotators together.

    Args:
        annotators: a names.
        labels: l labels, from low to high.
        counts: int64[a, l].

    Raises:
        UsageError: No annotator, no label, an array of another shape or negative counts.
        MissingExtra: matplotlib is not installed.

    >>> figure = histograms(["ann", "bo"], ["1", "2"], [[3, 1], [2, 2]])
    >>> [text.get_text() for text in figure.texts]
    ['ann', 'n = 4', 'bo', 'n = 4', 'line: all annotators together']
    """
    if not annotators or not labels:
        raise UsageError("expected at least one annotator and one label")
    table = numbers("counts", counts, [len(annotators), len(labels)])
    if np.any(table < 0):
        raise UsageError("counts: expected numbers from 0 up")
    columns = min(len(annotators), 4 if len(annotators) in {4, 7, 8} or len(labels) > 7 else 5)
    rows = -(-len(annotators) // columns)
    left, gap, above, below, foot = 34.0, 14.0, 28.0, 22.0, 14.0
    wanted = len(labels) * (max(text_width(label, SMALL) for label in labels) + 6)
    wide = min(max(150.0, wanted), (WIDTH - left - 4 - gap * (columns - 1)) / columns)
    high = 70.0
    figure = canvas(left + columns * wide + (columns - 1) * gap + 4, rows * (above + high + below) + foot)
    totals = table.sum(axis=1, keepdims=True)
    shares = table / np.maximum(totals, 1)
    everyone = table.sum(axis=0) / max(table.sum(), 1)
    top = max(shares.max(), everyone.max(), 0.01) * 1.05
    shown = _ticks(labels, wide)
    for number, annotator in enumerate(annotators):
        row, column = divmod(number, columns)
        x, y = left + column * (wide + gap), above + row * (above + high + below)
        total = f"n = {int(totals[number, 0]):,}"
        write(figure, x, y - 19, fit(annotator, wide, bold=True), bold=True)
        write(figure, x, y - 8, total, size=SMALL, alpha=MUTED)
        axes = panel(figure, x, y, wide, high)
        _bars(axes, shares[number], everyone, top)
        axes.set_xticks(range(len(labels)), shown)
        axes.tick_params(labelleft=column == 0)
    height = figure.get_size_inches()[1] * 72
    write(figure, left, height - 8, "line: all annotators together", size=SMALL, alpha=MUTED)
    return figure


def _ticks(labels: Sequence[str], wide: float) -> list[str]:
    """Labels that fit side by side; where they do not, every second, third … is left out."""
    room = wide / len(labels)
    shown = [fit(label, max(room, 60.0) - 2, SMALL) for label in labels]
    step = -(-max(text_width(label, SMALL) + 3 for label in shown) // room)
    return [label if number % step == 0 else "" for number, label in enumerate(shown)]


def _bars(axes: Axes, shares: NDArray[np.float64], everyone: NDArray[np.float64], top: float) -> None:
    from matplotlib.ticker import MaxNLocator, PercentFormatter  # noqa: PLC0415

    axes.bar(np.arange(len(shares)), shares, width=0.78, color=BLUE, alpha=0.85, linewidth=0)
    axes.stairs(everyone, np.arange(len(shares) + 1) - 0.5, color=INK, alpha=MUTED, linewidth=1, baseline=None)
    axes.set_xlim(-0.6, len(shares) - 0.4)
    axes.set_ylim(0, top)
    axes.yaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 2.5, 5, 10]))
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.tick_params(axis="x", length=0)


@dataclass(frozen=True, slots=True, eq=False)
class SpreadPanel:
    """Frequencies of values.

    Args:
        title: Title of the panel.
        values: int64[v], rising.
        counts: int64[v].
        note: A second line, such as the mean.
    """

    title: str
    values: NDArray[np.int64] | NDArray[np.float64]
    counts: NDArray[np.int64]
    note: str = ""


@style()
def spreads(panels: Sequence[SpreadPanel], *, xlabel: str = "", ylabel: str = "", together: bool = False) -> Figure:
    """Draw how values are distributed, a panel each, as shares of bars of equal width.

    Where a long tail would press all else together, the highest 1 % are not drawn and the panel says so.

    Args:
        panels: One to four.
        xlabel: Label of the values.
        ylabel: Label of the shares.
        together: True if all panels share the x axis.

    Raises:
        UsageError: No panel or more than four, arrays of unlike length, values that do not rise, or no counts.
        MissingExtra: matplotlib is not installed.

    >>> panel = SpreadPanel("title", np.array([3, 4, 7]), np.array([2, 5, 1]), "mean 4.1")
    >>> [text.get_text() for text in spreads([panel], xlabel="words").texts]
    ['title', 'mean 4.1', 'words']
    """
    if not 1 <= len(panels) <= 4:
        raise UsageError(f"panels: expected 1 to 4, got {len(panels)}")
    data = [_checked(each) for each in panels]
    low, high = min(values[0] for values, _ in data), max(_upto(*each) for each in data)
    left, gap, above, high_of, below = 40.0, 36.0, 32.0, 110.0, 36.0
    wide = min(260.0, (WIDTH - left - 6 - gap * (len(panels) - 1)) / len(panels))
    figure = canvas(left + len(panels) * wide + gap * (len(panels) - 1) + 6, above + high_of + below)
    for number, (each, (values, counts)) in enumerate(zip(panels, data, strict=True)):
        ends = (low, high) if together else (values[0], _upto(values, counts))
        x = left + number * (wide + gap)
        write(figure, x, above - 21, fit(each.title, wide, bold=True), bold=True)
        write(figure, x, above - 9, fit(each.note, wide + gap - 4, SMALL), size=SMALL, alpha=MUTED)
        axes = panel(figure, x, above, wide, high_of)
        step = _spread_bars(axes, values, counts, ends)
        beyond = counts[values > ends[1]].sum() / counts.sum()
        parts = [xlabel, f"{step:,} a bar" if step > 1 else "", f"{100 * beyond:.1f} % beyond" if beyond else ""]
        text = fit(", ".join(filter(None, parts)), wide + gap - 4, SMALL)
        write(figure, x + wide / 2, above + high_of + 27, text, size=SMALL, align="center")
    if ylabel:
        write(figure, 8, above + high_of / 2, fit(ylabel, above + high_of), align="center", rotation=90)
    return figure


def _checked(each: SpreadPanel) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    values = numbers(f"{each.title}: values", each.values, [None])
    counts = numbers(f"{each.title}: counts", each.counts, [len(values)])
    if np.any(np.diff(values) <= 0):
        raise UsageError(f"{each.title}: values: expected numbers that rise")
    if np.any(counts < 0) or not counts.any():
        raise UsageError(f"{each.title}: counts: expected numbers from 0 up, and one above")
    return values, counts


def _upto(values: NDArray[np.float64], counts: NDArray[np.float64]) -> float:
    """End of the axis: the highest value, or before the highest 1 % if these would take a third of it."""
    most = values[np.searchsorted(np.cumsum(counts), (1 - BEYOND) * counts.sum())]
    return float(most if values[-1] - values[0] > 1.5 * (most - values[0]) > 0 else values[-1])


def _spread_bars(
    axes: Axes, values: NDArray[np.float64], counts: NDArray[np.float64], ends: tuple[float, float]
) -> int:
    """Draw the bars; how many whole numbers each one holds."""
    low, high = ends
    step = next(s * 10**power for power in range(19) for s in STEPS if (high - low + 1) / (s * 10**power) <= BARS)
    edges = np.arange(low // step, high // step + 2) * step - 0.5
    shares = 100 * np.histogram(values, edges, weights=counts)[0] / counts.sum()
    axes.bar(edges[:-1], shares, width=step * 0.86, align="edge", color=BLUE, alpha=0.85, linewidth=0)
    axes.set_xlim(edges[0] - 0.5 * step, edges[-1] + 0.5 * step)
    axes.set_ylim(0, float(shares.max()) * 1.05)
    ticks(axes.xaxis, 5, integer=True)
    ticks(axes.yaxis, 4)
    grid(axes, "y")
    return int(step)
