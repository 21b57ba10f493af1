"""Results as terminal tables, CSV, Markdown, LaTeX and pages. It sees `postil.records` and `postil.plots` only."""

from __future__ import annotations

from postil.render.views import View, show, view_of

__all__ = ["View", "show", "view_of"]
