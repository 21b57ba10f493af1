"""Options of documents: how they are read, and what of them is a passage."""

from __future__ import annotations

from functools import cache
from pkgutil import iter_modules
from typing import Annotated, Literal, TypeAlias

from postil.documents import readers
from postil.options import Flag, options

__all__ = ["PassageSplit", "SourceOptions", "document_kinds"]

PassageSplit: TypeAlias = Literal["sentences", "paragraphs", "lines"]
"""Unit of a document that is a passage."""


@cache
def document_kinds() -> tuple[str, ...]:
    """Formats of documents: the names of the modules of `postil.documents.readers`.

    >>> document_kinds()
    ('html', 'markdown', 'pdf', 'text', 'wikitext')
    """
    return tuple(sorted(each.name for each in iter_modules(readers.__path__)))


@options(group="Reading pages")
class SourceOptions:
    """Options of reading documents.

    Args:
        kind: Format of a document whose name or beginning does not tell it.
        follow: Fetch the page of each entry of a feed, instead of taking its text in the feed.
    """

    kind: Annotated[
        str | None, Flag(metavar="KIND", names=" or ".join(", ".join(document_kinds()).rsplit(", ", 1)))
    ] = None
    follow: bool = False
