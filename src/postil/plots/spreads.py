"""Distributions of whole numbers, such as lengths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import UsageError
from postil.plots.figure import BLUE, MUTED, SMALL, WIDTH, canvas, fit, grid, numbers, panel, style, ticks, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

__all__ = ["SpreadPanel", "spreads"]

BARS: Final = 60
"""Maximum number of bars in a panel."""

STEPS: Final = (1, 2, 5)
"""A bar is one of these times a power of 10 wide."""

BEYOND: Final = 0.01
"""So much of a long tail is not drawn."""


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
        step = _bars(axes, values, counts, ends)
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


def _bars(axes: Axes, values: NDArray[np.float64], counts: NDArray[np.float64], ends: tuple[float, float]) -> int:
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
