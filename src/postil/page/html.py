"""Chapters as one self-contained HTML page."""

from __future__ import annotations

import platform
from base64 import b64encode
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from postil.messages import Message, spoken
from postil.page.exports import RESULTS
from postil.page.words import NAME, clean, plain
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markupsafe import Markup

    from postil.page.blocks import Chapter

__all__ = ["html"]

SHORT: Final = 30
"""Largest number of characters of a name without line breaks."""


def html(title: str, chapters: Sequence[Chapter], beside: Mapping[str, str]) -> str:
    """A page.

    Args:
        title: Its title.
        chapters: Its chapters.
        beside: Relative URL of each file beside the page, by its name.
    """
    import jinja2  # noqa: PLC0415 - optional

    style = _file("tokens.css") + _file("page.css")

    def links(stem: str) -> list[tuple[str, str]]:
        kinds = {"csv": "CSV", "tex": "LaTeX"}
        return [(beside[f"{stem}.{end}"], kind) for end, kind in kinds.items() if f"{stem}.{end}" in beside]

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, finalize=_finalize, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"marked": _marked, "plain": plain}
    return environment.from_string(_file("page.html")).render(
        title=title,
        level=2 if len(chapters) == 1 else 3,
        chapters=chapters,
        links=links,
        results=beside[RESULTS],
        style=style,
        style_hash=b64encode(sha256(style.encode()).digest()).decode(),
        made_by=_made_by(),
    )


def _finalize(value: object) -> object:
    """Put a message into words, and remove invalid characters from a text before it is escaped."""
    value = spoken(value) if isinstance(value, Message) else value
    return clean(value) if type(value) is str else value  # what is marked as HTML is of a class of its own


def _marked(text: str) -> Markup:
    """A sentence as HTML, with its names marked as such."""
    from markupsafe import Markup  # noqa: PLC0415 - comes with jinja2

    def shown(name: str) -> Markup:
        return Markup('<bdi class="{}">{}</bdi>').format("short" if len(name) <= SHORT else "name", name)

    pieces = NAME.split(clean(spoken(text)))  # words and names in turn
    return Markup().join(shown(plain(piece)) if place % 2 else plain(piece) for place, piece in enumerate(pieces))


def _file(name: str) -> str:
    return (files("postil.page") / name).read_text(encoding="utf-8")


def _made_by() -> str:
    packages = [f"postil {VERSION}", f"Python {platform.python_version()}"]
    for name in ("numpy", "matplotlib"):
        try:
            packages.append(f"{name} {version(name)}")
        except PackageNotFoundError:  # installed without its description
            packages.append(name)
    return ", ".join(packages)
