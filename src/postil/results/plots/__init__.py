"""Plots: arrays in, figures out. The only package with matplotlib, which is loaded when something is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Figure  # the type of pictures, for those that show them
