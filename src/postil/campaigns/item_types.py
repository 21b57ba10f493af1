"""Types of items: what annotators see beside a text, and which rows the items come from."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from postil.errors import UsageError
from postil.messages import Listed, Setting

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CONTEXTS", "FORMER", "HEADINGS", "ITEM_TYPES", "ItemRows", "ItemType", "parse_context"]

ItemType: TypeAlias = Literal[
    "text", "comment", "answer", "summary", "translation", "passage", "comments", "outputs", "passages"
]
"""Type of the items. The last three are former names; see `FORMER`."""

ItemRows: TypeAlias = Literal["articles", "candidates", "passages"]
"""Rows that items come from: the comments of articles (or references of a plan), candidates, or passages."""

ITEM_TYPES: Final = ("text", "comment", "answer", "summary", "translation", "passage")

FORMER: Final[Mapping[ItemType, tuple[ItemType, ItemRows]]] = MappingProxyType(
    {"comments": ("comment", "articles"), "outputs": ("comment", "candidates"), "passages": ("passage", "passages")}
)
"""Item type and rows that a former name stands for."""

HEADINGS: Final[Mapping[ItemType, tuple[str, str]]] = MappingProxyType(
    {
        "text": ("Text", "Article"),
        "comment": ("Comment", "Article"),
        "answer": ("Answer", "Question"),
        "summary": ("Summary", "Source"),
        "translation": ("Translation", "Source"),
        "passage": ("Passage", "Topic"),
    }
)
"""English headings of a text and of the article or source that it belongs to."""

CONTEXTS: Final = ("article", "source", "thread")
"""Contexts that have a meaning of their own; other names are columns."""


def parse_context(given: str) -> tuple[str, ...]:
    """Parse the names of what is shown with each text.

    Args:
        given: ``none``, or names of `CONTEXTS` and of columns, separated by commas.

    Raises:
        UsageError: A name is empty or stands twice, or ``none`` is one of several.

    >>> parse_context("article,hint"), parse_context("none")
    (('article', 'hint'), ())
    """
    names = tuple(name.strip() for name in given.split(","))
    if names == ("none",):
        return ()
    if not all(names) or len(set(names)) < len(names) or "none" in names:
        raise UsageError(
            "{context}: expected none, or distinct names of {names} and columns, separated by commas; got '{got}'",
            context=Setting("context"),
            names=Listed(CONTEXTS, last=", "),
            got=given,
        )
    return names
