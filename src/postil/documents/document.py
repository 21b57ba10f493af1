"""A document as its readers give it, whatever its format: a plain text, and the blocks that it consists of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, get_args

from postil.data.parts import OptionalPart, Part
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = [
    "PROSE",
    "Block",
    "BlockKind",
    "Document",
    "FailedPage",
    "Piece",
    "Reader",
    "assembled",
    "language_tag",
]

BlockKind: TypeAlias = Literal[
    "heading", "paragraph", "item", "quote", "caption", "code", "table", "contents", "note", "margin"
]
"""Role of a block: ``contents`` is a line of a table of contents or an index, ``note`` a footnote or a reference, and
``margin`` what surrounds the text: front matter, page headers, page numbers, menus."""

PROSE: Final[frozenset[BlockKind]] = frozenset({"paragraph", "quote", "item"})
"""Kinds of blocks that hold passages; the others are shown, but never ranked."""
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")


class Block(OptionalPart, frozen=True, kw_only=True):
    """A block of a document.

    Args:
        kind: Its role.
        start: Index of its first character in the text of the document.
        end: Index after its last character.
        level: Depth of a heading or an item, from 1; 0 for other kinds.
        page: Number of the page it begins on, from 1; None in documents without pages.

    Raises:
        ValueError: It is empty, or its kind is unknown.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    page: int | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end or self.kind not in get_args(BlockKind):
            raise ValueError(f"expected a block of text, got {self.kind} from {self.start} to {self.end}")


class Document(Part, frozen=True, kw_only=True):
    r"""A document.

    Args:
        text: Its text without mark-up: what is between two blocks is white space. All offsets are of its Unicode
            code points. Of a plain text it is the text itself.
        blocks: Its blocks, in the order of the text; they do not overlap.
        source: Name of the file or the address it was read from.
        title: Its title; empty without one.
        lang: Its language as it says itself, a BCP 47 tag; None if it does not.
        date: The date that it was published, ``YYYY-MM-DD``; None if it does not say.
        url: The address under which a reader finds it; None if there is none.
        notes: Remarks on how it was read.

    Raises:
        ValueError: The blocks overlap, are out of order, or end after the text.

    >>> page = Document(
    ...     text="Tea\n\nIt rained.",
    ...     blocks=(Block(kind="heading", start=0, end=3, level=1), Block(kind="paragraph", start=5, end=15)),
    ...     source="tea.md",
    ... )
    >>> [page.text_of(block) for block in page.blocks]
    ['Tea', 'It rained.']
    """

    text: str
    blocks: tuple[Block, ...]
    source: str
    title: str = ""
    lang: str | None = None
    date: str | None = None
    url: str | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        end = 0
        for block in self.blocks:
            if block.start < end or block.end > len(self.text):
                raise ValueError(f"blocks overlap, or end after the text, at {block.start}")
            end = block.end

    def text_of(self, block: Block) -> str:
        """The text of a block.

        Args:
            block: The block.
        """
        return self.text[block.start : block.end]


@dataclass(frozen=True, kw_only=True)
class Reader:
    """The reader of a format of documents; each module of `postil.documents.readers` has one, ``READER``.

    Args:
        read: Function that makes the document of its bytes, its name or address, and the encoding that a server named.
        endings: Endings of the names of files in this format.
        media: Media types that tell this format; addresses of these are fetched.
        signature: Expression of the first kilobyte of such a file; None where only its name tells the format.
        binary: True where a file is no text. Its signature alone tells the format, whatever its name is.
    """

    read: Callable[[bytes, str, str | None], Document]
    endings: tuple[str, ...]
    media: tuple[str, ...] = ()
    signature: re.Pattern[bytes] | None = None
    binary: bool = False


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


def language_tag(said: str) -> str | None:
    """The language that a document names, a BCP 47 tag; None if it is none.

    Args:
        said: The name.

    >>> language_tag(" en_GB "), language_tag("English")
    ('en-GB', None)
    """
    found = _LANGUAGE.fullmatch(said.strip().replace("_", "-"))
    return None if found is None else found[0]


class FailedPage(Part, frozen=True, kw_only=True):
    """A page that could not be read or ranked.

    Args:
        source: Name of its file, or its address.
        problem: The problem, in one sentence.
    """

    source: str
    problem: str
