"""The elements of a page."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, ClassVar, Final, Literal, TypeAlias

from postil.escaping import one_line
from postil.plots import svg
from postil.render import table
from postil.render.page.words import isolated, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from postil.plots import Figure
    from postil.render.page.summary import Point

__all__ = [
    "Block",
    "Cell",
    "Chapter",
    "Collapsed",
    "Facts",
    "Findings",
    "Heading",
    "Paragraph",
    "Picture",
    "Quote",
    "Quotes",
    "Row",
    "Section",
    "SomeTable",
    "Table",
    "first_open",
]

WIDE: Final = 5
SHORT: Final = 16
"""Limits for `Table.narrow`: the number of columns above which, and the length of labels up to which, it holds."""


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
class Cell:
    """A cell.

    Args:
        text: The main text.
        detail: Secondary text, such as an interval.
        value: The number that the text rounds; None for words.
        strong: True if it is significantly different from 0; a star follows.
        words: True for words, False for a number.
        best: True if it is the highest of its comparable group.
    """

    text: str
    detail: str = ""
    value: float | None = None
    strong: bool = False
    words: bool = False
    best: bool = False

    def __str__(self) -> str:
        return f"{self.text} {self.detail}".strip() + "*" * self.strong


@dataclass(frozen=True, slots=True)
class Row:
    """A row.

    Args:
        name: Label of the row.
        cells: Its cells.
        kind: ``control`` for a control, ``people`` for human ratings, ``group`` for the title of the rows below,
            which has no cells.
        full: The full name, where ``name`` is a short one.
    """

    name: str
    cells: tuple[Cell, ...]
    kind: Literal["", "control", "people", "group"] = ""
    full: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Args:
        key: Identifier, for ids and file names.
        caption: Its caption.
        head: Labels of the columns, that of the row labels first.
        lines: The rows.
    """

    block: ClassVar = "table"

    key: str
    caption: str
    head: tuple[str, ...]
    lines: tuple[Row, ...]

    def words(self, column: int) -> bool:
        """True if a column holds words rather than numbers.

        Args:
            column: Its index in the head.
        """
        return column > 0 and any(line.cells[column - 1].words for line in self.lines if line.cells)

    @property
    def title(self) -> str:
        """Its caption."""
        return self.caption

    @property
    def long(self) -> bool:
        """True for a table that is too long to be printed."""
        return self.key in {"all-differences"}

    @property
    def narrow(self) -> bool:
        """True for a table of many columns and short row labels, which gets a narrow first column."""
        names = [self.head[0], *(line.name for line in self.lines if line.kind != "group")]
        return len(self.head) > WIDE and max(map(len, names)) <= SHORT

    @property
    def grid(self) -> list[list[str]]:
        """Its cells as text, without the titles of groups."""
        lines = [line for line in self.lines if line.kind != "group"]
        return [list(map(plain, self.head)), *([line.full or line.name, *map(str, line.cells)] for line in lines)]


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


SomeTable: TypeAlias = Table | table.Table
Block: TypeAlias = Heading | Paragraph | Findings | Facts | Quotes | SomeTable | Picture | Collapsed


def first_open(pictures: Iterable[Picture]) -> Iterator[Block]:
    """The first of several pictures of a kind; the others, collapsed.

    Args:
        pictures: The pictures.
    """
    for index, picture in enumerate(pictures):
        yield Collapsed(f"The same by {isolated(picture.title)}", (picture,)) if index else picture


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
    """

    key: str
    title: str
    data: str
    conclusion: tuple[Block, ...]
    parts: tuple[Section, ...]
