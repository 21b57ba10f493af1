"""Bars: how many there are of each kind, and how often each annotator gave each label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import UsageError
from postil.plots.figure import (
    BLUE,
    GREY,
    INK,
    MUTED,
    SMALL,
    WIDTH,
    canvas,
    fit,
    numbers,
    panel,
    style,
    text_width,
    write,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

__all__ = ["amounts", "histograms"]

LINE: Final = 17.0
"""Height of a bar's line in points."""

THICK: Final = 0.66
"""Share of the height that the bar takes."""

LEAST: Final = 0.0005
"""Smaller shares are not rounded to 0."""


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

    places = np.arange(len(shares))
    axes.bar(places, shares, width=0.78, color=BLUE, alpha=0.85, linewidth=0)
    axes.stairs(everyone, np.arange(len(shares) + 1) - 0.5, color=INK, alpha=MUTED, linewidth=1, baseline=None)
    axes.set_xlim(-0.6, len(shares) - 0.4)
    axes.set_ylim(0, top)
    axes.yaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 2.5, 5, 10]))
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.tick_params(axis="x", length=0)
