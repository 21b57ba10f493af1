"""Plots: arrays in, figures out. The only package with matplotlib, which is loaded when something is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.data.escaping import printed
from postil.plots.bars import SpreadPanel, amounts, histograms, spreads
from postil.plots.forest import IntervalRow, Landmark, RowSet, intervals
from postil.plots.heatmaps import confusion, matrix
from postil.plots.lines import Curve, CurveMark, curves
from postil.plots.picture import save, svg
from postil.plots.points import ScatterPanel, scatter

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Figure  # the type of pictures, for the layers above

__all__ = [
    "Curve",
    "CurveMark",
    "IntervalRow",
    "Landmark",
    "RowSet",
    "ScatterPanel",
    "SpreadPanel",
    "amounts",
    "confusion",
    "curves",
    "histograms",
    "intervals",
    "matrix",
    "printed",
    "save",
    "scatter",
    "spreads",
    "svg",
]
