"""What a page is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, Literal, TypeAlias

from postil.render.page.words import plain

if TYPE_CHECKING:
    from postil.render.page.summary import Point

__all__ = [
    "Block",
    "Cell",
    "Chapter",
    "Facts",
    "Fold",
    "Line",
    "Part",
    "Picture",
    "Quote",
    "Quotes",
    "Sheet",
    "Verdicts",
    "Words",
]

WIDE: Final = 5
SHORT: Final = 16
"""A table with more columns than that, and only names as short as this, is laid out narrowly."""


@dataclass(frozen=True, slots=True)
class Words:
    """A paragraph.

    Args:
        text: What it says.
    """

    block: ClassVar = "words"

    text: str


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Names, and a sentence about each.

    Args:
        rows: Name and sentence.
    """

    block: ClassVar = "verdicts"

    rows: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Short names, and what they stand for here.

    Args:
        rows: Name and value; a name may come more than once.
    """

    block: ClassVar = "facts"

    rows: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Quote:
    """A text, and what several opinions say of it.

    Args:
        where: What it answers and who wrote it.
        text: The text; None where it was not given.
        opinions: Whose opinion, what it is on the scale of the grades, and what it was before.
    """

    where: str
    text: str | None
    opinions: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Quotes:
    """Texts, one below another.

    Args:
        title: What is said of them.
        rows: The texts.
    """

    block: ClassVar = "quotes"

    title: str
    rows: tuple[Quote, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell.

    Args:
        text: What is read first.
        detail: What stands beside it, such as an interval.
        value: The number behind the text, in full.
        strong: Whether a test says that it is not 0; a star follows.
        words: Whether it holds words rather than numbers.
        best: Whether it is the highest of those that it may be held against.
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
class Line:
    """A row.

    Args:
        name: What the row is about.
        cells: Its cells.
        kind: ``control`` where it is there for comparison only, ``people`` where it is about people, ``group`` where
            it is the title of the rows below it and has no cells.
        full: The name in full, where ``name`` is a short one.
    """

    name: str
    cells: tuple[Cell, ...]
    kind: Literal["", "control", "people", "group"] = ""
    full: str = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table.

    Args:
        key: A word for ids and labels.
        caption: What stands in it.
        head: What each column holds, beginning with the names.
        lines: The rows.
    """

    block: ClassVar = "sheet"

    key: str
    caption: str
    head: tuple[str, ...]
    lines: tuple[Line, ...]

    def words(self, column: int) -> bool:
        """Whether a column holds words rather than numbers.

        Args:
            column: Its place in the head.
        """
        return column > 0 and any(line.cells[column - 1].words for line in self.lines if line.cells)

    @property
    def narrow(self) -> bool:
        """Whether its many columns need the room that its short names leave."""
        names = [self.head[0], *(line.name for line in self.lines if line.kind != "group")]
        return len(self.head) > WIDE and max(map(len, names)) <= SHORT

    @property
    def grid(self) -> list[list[str]]:
        """The same as text, without the titles of groups."""
        lines = [line for line in self.lines if line.kind != "group"]
        return [list(map(plain, self.head)), *([line.full or line.name, *map(str, line.cells)] for line in lines)]


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture.

    Args:
        title: What it is of, in a few words.
        caption: What stands below it.
        svg: The picture.
    """

    block: ClassVar = "picture"

    title: str
    caption: str
    svg: str


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks that are closed until they are asked for.

    Args:
        title: What is in it.
        blocks: The blocks.
    """

    block: ClassVar = "fold"

    title: str
    blocks: tuple[Block, ...]


Block: TypeAlias = Words | Verdicts | Facts | Quotes | Sheet | Picture | Fold


@dataclass(frozen=True, slots=True)
class Part:
    """A section.

    Args:
        key: A word for its id.
        title: Its heading.
        blocks: What it holds.
    """

    key: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Chapter:
    """All about one result.

    Args:
        key: A word that tells its ids from those of other chapters.
        title: Its heading.
        data: What the numbers are over, in a line.
        conclusion: What they say.
        parts: The sections.
    """

    key: str
    title: str
    data: str
    conclusion: tuple[Block, ...]
    parts: tuple[Part, ...]
