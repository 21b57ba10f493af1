"""The elements of a page."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from postil.data.escaping import one_line
from postil.results.page.words import capital, isolated, plain
from postil.results.plots.picture import svg
from postil.results.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from msgspec import Struct

    from postil.results.plots import Figure

__all__ = [
    "Block",
    "Chapter",
    "Collapsed",
    "Facts",
    "Findings",
    "Heading",
    "Numbers",
    "Paragraph",
    "Picture",
    "Point",
    "Quote",
    "Quotes",
    "Rows",
    "Section",
    "collapsed",
    "facts",
    "first_open",
    "sentences",
]


Point: TypeAlias = tuple[str, str]
"""A name and a sentence about it."""

Rows: TypeAlias = "Sequence[Mapping[str, object] | Struct]"
"""Rows of a file."""

Numbers: TypeAlias = tuple[str, Rows]
"""Name of a file and its rows."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph.

    Args:
        text: Its sentences.
    """

    block: ClassVar = "paragraph"

    text: str


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading within a section.

    Args:
        text: Its words.
    """

    block: ClassVar = "heading"

    text: str


@dataclass(frozen=True, slots=True)
class Findings:
    """Findings: names with a sentence about each.

    Args:
        rows: Pairs of name and sentence.
    """

    block: ClassVar = "findings"

    rows: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """A list of names and values.

    Args:
        rows: Pairs of name and value; names may repeat.
    """

    block: ClassVar = "facts"

    rows: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Quote:
    """A text with its rating and scores.

    Args:
        where: Its items and its system.
        text: The text; None where it was not given.
        opinions: Triples of rater or metric, value on the scale of the ratings, and original score.
    """

    where: str
    text: str | None
    opinions: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Quotes:
    """A list of texts.

    Args:
        title: Its heading.
        rows: The texts.
    """

    block: ClassVar = "quotes"

    title: str
    rows: tuple[Quote, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture, drawn when it is asked for.

    Args:
        key: Its name among the pictures of a result, such as a metric.
        title: Short title.
        caption: Its caption.
        label: Description, for those who cannot see it.
        draw: Draws it.
    """

    block: ClassVar = "picture"

    key: str
    title: str
    caption: str
    label: str
    draw: Callable[[], Figure]

    @property
    def svg(self) -> str:
        """Its SVG element."""
        return svg(self.draw(), self.label)

    @property
    def html(self) -> str:
        """The picture and its caption as an element by itself."""
        return f"<figure>{self.svg}<figcaption>{escape(one_line(plain(self.caption)))}</figcaption></figure>"


@dataclass(frozen=True, slots=True)
class Collapsed:
    """A collapsed group of blocks.

    Args:
        title: Its summary.
        blocks: The blocks.
    """

    block: ClassVar = "collapsed"

    title: str
    blocks: tuple[Block, ...]


Block: TypeAlias = Heading | Paragraph | Findings | Facts | Quotes | Table | Picture | Collapsed


def first_open(pictures: Iterable[Picture]) -> Iterator[Block]:
    """The first of several pictures of a kind; the others, collapsed.

    Args:
        pictures: The pictures.
    """
    for index, picture in enumerate(pictures):
        yield Collapsed(f"The same by {isolated(picture.title)}", (picture,)) if index else picture


def collapsed(table: Table) -> Iterator[Collapsed]:
    """A table that is collapsed, if it has rows.

    Args:
        table: The table.
    """
    if table.rows:
        yield Collapsed(table.title, (table,))


def facts(*rows: Point) -> Facts:
    """The names and values of those that have a value.

    Args:
        rows: Pairs of name and value, which may be empty.
    """
    return Facts(tuple(row for row in rows if row[1]))


def sentences(notes: Iterable[str]) -> tuple[Paragraph, ...]:
    """A paragraph of each note.

    Args:
        notes: Sentences without a capital letter and a full stop.
    """
    return tuple(Paragraph(f"{capital(note)}.") for note in notes)


@dataclass(frozen=True, slots=True)
class Section:
    """A section.

    Args:
        key: Identifier, for its id.
        title: Its heading.
        blocks: Its blocks.
    """

    key: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Chapter:
    """The part of a page about one result.

    Args:
        key: Prefix of its ids, unique on the page.
        title: Its heading.
        data: One line about the data.
        conclusion: The findings.
        parts: The sections.
        numbers: All numbers in full, for the files beside the page; by default the rows of the view.
        leads: True where the other chapters of a page belong to this one, which gives the page its title.
    """

    key: str
    title: str
    data: str
    conclusion: tuple[Block, ...]
    parts: tuple[Section, ...]
    numbers: tuple[Numbers, ...] | None = None
    leads: bool = False
