"""Plain arrays in, pictures out; the one room that knows matplotlib, which is loaded when something is drawn."""

from __future__ import annotations

from postil.draw.bars import amounts, histograms
from postil.draw.cells import confusion, matrix
from postil.draw.forest import IntervalRow, Landmark, intervals
from postil.draw.lines import Curve, curves
from postil.draw.picture import save, svg
from postil.draw.points import ScatterPanel, scatter
from postil.draw.spreads import SpreadPanel, spreads

__all__ = [
    "Curve",
    "IntervalRow",
    "Landmark",
    "ScatterPanel",
    "SpreadPanel",
    "amounts",
    "confusion",
    "curves",
    "histograms",
    "intervals",
    "matrix",
    "save",
    "scatter",
    "spreads",
    "svg",
]
