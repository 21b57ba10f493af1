"""Pieces of a text that a reader found, and the document that they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from postil.documents.document import PROSE, Block, Document
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable

    from postil.documents.document import BlockKind

__all__ = ["Piece", "assembled"]


class Piece(NamedTuple):
    """A block, and its text.

    Args:
        kind: Its role.
        text: Its text.
        level: Depth of a heading or an item, from 1; 0 for other kinds.
        page: Number of the page it begins on, from 1; None in documents without pages.
    """

    kind: BlockKind
    text: str
    level: int = 0
    page: int | None = None


def assembled(
    pieces: Iterable[Piece],
    source: str,
    *,
    title: str = "",
    lang: str | None = None,
    date: str | None = None,
    url: str | None = None,
    notes: tuple[str, ...] = (),
) -> Document:
    r"""Put pieces together: a blank line between them, none between items, between lines of contents and between notes.

    Args:
        pieces: The pieces in their order; empty ones are left out.
        source: Name of the file, or the address.
        title: The title.
        lang: The language that the document names.
        date: The date that it was published.
        url: Its address.
        notes: Remarks on how it was read.

    Raises:
        InvalidInput: There is no text.

    >>> given = [Piece("heading", "Tea", 1), Piece("item", "Green", 1), Piece("item", "Black", 1)]
    >>> assembled(given, "tea.md").text
    'Tea\n\nGreen\nBlack'
    """
    texts, blocks, place, before = list[str](), list[Block](), 0, ""
    for kind, text, level, page in pieces:
        if not text.strip():
            continue
        if texts:
            gap = "\n" if kind == before and kind in {"item", "contents", "note"} else "\n\n"
            texts.append(gap)
            place += len(gap)
        texts.append(text)
        blocks.append(Block(kind=kind, start=place, end=place + len(text), level=level, page=page))
        place += len(text)
        before = kind
    document = Document(
        text="".join(texts),
        blocks=tuple(blocks),
        source=source,
        title=title,
        lang=lang,
        date=date,
        url=url,
        notes=notes,
    )
    check_text(document)
    return document


def check_text(document: Document) -> None:
    """Raise where a document has no passage.

    Args:
        document: The document.

    Raises:
        InvalidInput: None of its blocks of prose has a letter or a digit.
    """
    for block in document.blocks:
        if block.kind in PROSE and any(map(str.isalnum, document.text[block.start : block.end])):
            return
    raise InvalidInput("expected passages, got none", where=document.source)
