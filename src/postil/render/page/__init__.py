"""Pages: results as one HTML file that opens from disk, and their tables as CSV and LaTeX."""

from __future__ import annotations

from postil.render.page.exports import RESULTS
from postil.render.page.whole import page

__all__ = ["RESULTS", "page"]
