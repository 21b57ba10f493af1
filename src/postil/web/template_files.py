"""Templates of pages, which escape every value."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

__all__ = ["templates"]


@cache
def templates() -> Environment:
    """The environment of all templates; a variable that is missing is an error."""
    loader = PackageLoader("postil.web")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, auto_reload=False)
