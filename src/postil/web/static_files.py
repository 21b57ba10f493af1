"""Files of pages: static ones with their media types and entity tags, and templates, which escape every value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from jinja2 import Environment, PackageLoader, StrictUndefined

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["StaticFile", "StaticFiles", "templates"]

MEDIA_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A response with a static file.

    Args:
        status: 200; 304 where the browser has the file.
        content: Its content; empty with 304.
        media_type: Its media type.
        headers: Its entity tag, and how it may be cached.
    """

    status: int
    content: bytes
    media_type: str
    headers: tuple[tuple[str, str], ...]


class StaticFiles:
    """Some of the files in the folder ``static``, held in memory.

    Args:
        names: Names of the files; no others are served.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._contents = {name: (files("postil.web") / "static" / name).read_bytes() for name in names}
        self._tags = {name: f'"{sha256(content).hexdigest()[:20]}"' for name, content in self._contents.items()}

    def find(self, name: str, known: str = "") -> StaticFile | None:
        """Find a file.

        Args:
            name: Its name.
            known: Entity tag of the one that the browser has, if any.

        Returns:
            The response; None where there is no such file.
        """
        content = self._contents.get(name)
        if content is None:
            return None
        headers = ("etag", self._tags[name]), ("cache-control", "no-cache")
        same = known == self._tags[name]
        return StaticFile(304 if same else 200, b"" if same else content, MEDIA_TYPES[PurePath(name).suffix], headers)


@cache
def templates() -> Environment:
    """The environment of all templates; a variable that is missing is an error."""
    loader = PackageLoader("postil.web")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, auto_reload=False)
