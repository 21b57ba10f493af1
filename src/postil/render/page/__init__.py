"""Pages: results as one HTML file that opens from disk, and their tables as CSV and LaTeX."""

from __future__ import annotations

from postil.render.page.assemble import page
from postil.render.page.exports import RESULTS

__all__ = ["RESULTS", "page"]
