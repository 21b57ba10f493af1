"""Templates of pages, which escape every value."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from postil.web.folding import folding

__all__ = ["templates"]


@cache
def templates() -> Environment:
    """The environment of all templates; a variable that is missing is an error."""
    loader = PackageLoader("postil.web")
    found = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, auto_reload=False)
    found.filters["folding"] = folding
    return found
