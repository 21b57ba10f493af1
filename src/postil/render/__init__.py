"""Results as terminal tables, CSV, Markdown, LaTeX and pages. It sees `postil.records` and `postil.plots` only."""
