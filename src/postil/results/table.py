"""Tables: the rows of a result, and columns that say where a value is and what kind of value it is.

A table is declared once. A terminal and Markdown print numbers as programs do, with a hyphen for a minus; LaTeX and
HTML typeset them. Digits belong to a column, signs and brackets to the writer.

>>> from fractions import Fraction
>>> columns = (Name("fraction", str), Number("value", float), Count("above the line", "numerator"))
>>> table = Table(key="fractions", rows=[Fraction(-1, 4)], columns=columns)
>>> table.grid()
[['fraction', 'value', 'above the line'], ['-1/4', '-.250', '-1']]
>>> table.grid(typeset=True)
[['fraction', 'value', 'above the line'], ['-1/4', '−.250', '-1']]
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from operator import methodcaller
from typing import Any, ClassVar, Final, Literal, TypeAlias

from postil.data.groups import nested
from postil.results.numbers import DASH, grade, number, p_value, plain_numbers, signed

__all__ = [
    "Cell",
    "Column",
    "Count",
    "Figure",
    "Interval",
    "Kind",
    "Marks",
    "Name",
    "Number",
    "PValue",
    "Record",
    "Row",
    "Share",
    "Table",
    "Text",
    "Value",
    "crossed",
]

Kind: TypeAlias = Literal["", "control", "people", "group"]
Record: TypeAlias = Any
"""A row: a struct of a result, of any kind."""

Value: TypeAlias = Any
"""A thing that a column finds in a row; its kind says which."""

Field: TypeAlias = str | Callable[[Record], Value]
"""The place of a value: the name of a field of a row, or a function of it."""

MANY: Final = 5
SHORT: Final = 16
"""Limits for `Table.narrow`: the number of columns above which, and the length of names up to which, it holds."""

LINES: Final = 1000
"""Largest number of lines of a table on a page; the CSV files have all."""


_MINUS: Final = re.compile(r"(?<![\w.])-(?=[\d.])|(?<=e)-(?=\d)")
"""A hyphen that is a minus, unlike that of a range or a date."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell.

    Args:
        plain: Its text on a terminal and in Markdown.
        text: The main text where it is typeset.
        detail: Secondary text there, such as an interval.
        strong: True if it is significantly different from 0; a star follows.
        words: True for words, False for a number.
        best: True if it stands out, such as the highest of its comparable group.
    """

    plain: str
    text: str
    detail: str = ""
    strong: bool = False
    words: bool = False
    best: bool = False

    def __str__(self) -> str:
        return f"{self.text} {self.detail}".strip() + "*" * self.strong


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table.

    Args:
        name: Its name on a page.
        cells: Its cells.
        kind: ``control`` for a control, ``people`` for human ratings, ``group`` for the title of the lines below,
            which has no cells.
        full: The full name, where ``name`` is a short one.
        plain: The name on a terminal and in Markdown.
    """

    name: str
    cells: tuple[Cell, ...]
    kind: Kind = ""
    full: str = ""
    plain: str = ""


@dataclass(frozen=True, slots=True)
class Column(ABC):
    """A column of words or numbers.

    Args:
        head: Its head.
        of: Place of its value.
        at: Function to the part of a row that `of` is a field or a function of; that part may be None.
        plain: Its head on a terminal and in Markdown, where that is another one.
        none: Text on a terminal of a cell without a value.
        dash: Text of such a cell where it is typeset.
        only: ``page`` for a column of pages alone, ``text`` for one of all other formats.
    """

    head: str
    of: Field
    _: KW_ONLY
    at: Callable[[Record], Value] | None = None
    plain: str = ""
    none: str = "-"
    dash: str = DASH
    only: Literal["", "page", "text"] = ""
    words: ClassVar[bool] = False

    def value(self, row: Record, of: Field | None = None) -> Value:
        """The value of a row; None where there is none.

        Args:
            row: The row.
            of: Its place; by default the field of the column.
        """
        of = self.of if of is None else of
        part = row if self.at is None else self.at(row)
        if part is None:
            return None
        return of(part) if callable(of) else getattr(part, of)

    def cell(self, row: Record) -> Cell:
        """The cell of a row.

        Args:
            row: The row.
        """
        value = self.value(row)
        return Cell(self.none, self.dash) if value is None else self.shown(value, row)

    @property
    def decimals(self) -> dict[str, int]:
        """Number of decimals of each field that it prints with some."""
        return {}

    @abstractmethod
    def shown(self, value: Value, row: Record) -> Cell:
        """The cell of a row with a value.

        Args:
            value: The value.
            row: The row.
        """

    def line(self, row: Record, kind: Kind, cells: tuple[Cell, ...]) -> Row:
        """The line of a row, where this is the first column.

        Args:
            row: The row.
            kind: Its kind.
            cells: Its other cells.
        """
        cell = self.cell(row)
        return Row(cell.text, cells, kind, f"{cell}", cell.plain)


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(Column):
    """Words; a pair of words is a range.

    Args:
        plainly: Place of the words of a terminal, if they are others.
    """

    plainly: Field | None = None
    apart: ClassVar[tuple[str, str]] = ("-", "–")
    words: ClassVar[bool] = True

    def shown(self, value: Value, row: Record) -> Cell:
        """See `Column`."""
        plain, text = self.said(value, row)
        return Cell(plain, text, words=self.words)

    def said(self, value: str | tuple[str, ...], row: Record) -> tuple[str, str]:
        """The words of a terminal, and those that are typeset."""
        if self.plainly is not None:
            return self.value(row, self.plainly), str(value)
        if isinstance(value, str):
            return value, DASH if value == "-" else value
        plain, text = (between.join(value) for between in self.apart)
        return plain, text


@dataclass(frozen=True, slots=True)
class Figure(Text):
    """A number that is printed in a way of its own, or several in one cell."""

    words: ClassVar[bool] = False

    def said(self, value: Value, _row: Record) -> tuple[str, str]:
        """See `Text`."""
        return value, DASH if value == "-" else _MINUS.sub("−", value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Name(Text):
    """The names of the rows; a pair of names is a difference.

    Args:
        full: Place of the full name, for what is printed, if the name on a page is a short one.
    """

    full: Field | None = None
    apart: ClassVar[tuple[str, str]] = (" - ", " − ")

    def line(self, row: Record, kind: Kind, cells: tuple[Cell, ...]) -> Row:
        """See `Column`."""
        plain, name = self.said(self.value(row), row)
        full = name
        if self.full is not None:
            plain, full = self.said(self.value(row, self.full), row)
        return Row(name, cells, kind, full, plain)


@dataclass(frozen=True, slots=True, kw_only=True)
class Number(Column):
    """A number.

    Args:
        digits: Number of decimals.
        zero: True for a 0 before the point on a terminal and in Markdown.
        signed: True for a plus sign before what is above 0, where it is typeset; or a function of the row.
        plus: True for one on a terminal and in Markdown as well, before the ends of an interval too.
        grade: True for a number on the scale of the ratings: two decimals, and its 0, in all formats.
        rank: Place of the rank that stands beside the number on a page, if there is one.
        best: Function that is true for a value that stands out.
        strong: Place of what is true where the number differs significantly from 0.
        unmarked: Text after a number that does not, on a terminal, where one that does has a star; None without stars.
        low: Place of the lower end of its confidence interval, if there is one.
        high: Place of the upper end.
    """

    digits: int = 3
    zero: bool = False
    signed: bool | Callable[[Record], bool] = False
    plus: bool = False
    grade: bool = False
    rank: Field | None = None
    best: Callable[[Record], bool] | None = None
    strong: Field | None = None
    unmarked: str | None = None
    low: Field | None = None
    high: Field | None = None

    @property
    def decimals(self) -> dict[str, int]:
        """See `Column`."""
        digits = 2 if self.grade else self.digits
        return {of: digits for of in (self.of, self.low, self.high) if isinstance(of, str)}

    def shown(self, value: Value, row: Record) -> Cell:
        """See `Column`."""
        low, high, rank = (None if of is None else self.value(row, of) for of in (self.low, self.high, self.rank))
        plus = self.signed(row) if callable(self.signed) else self.signed
        values = [value, *(end for end in (low, high) if end is not None)]
        (plain, *plain_ends), (text, *ends) = self.printed(values, plus)
        detail, plain_detail = (f"[{', '.join(each)}]" if each else "" for each in (ends, plain_ends))
        strong, best = (
            self.strong is not None and self.value(row, self.strong),
            self.best is not None and self.best(row),
        )
        mark = "" if self.unmarked is None else "*" if strong else self.unmarked
        detail = detail if rank is None else f"({rank})"
        return Cell(f"{plain} {plain_detail}".rstrip() + mark, text, detail, strong, best=best)

    def printed(self, values: Sequence[float], plus: bool) -> tuple[list[str], list[str]]:  # noqa: FBT001
        """The numbers of a cell as a terminal has them, and typeset; the first may have a plus sign."""
        if self.grade:
            texts = list(map(grade, values))
            return texts, texts
        first, *ends = values
        plain = plain_numbers(values, self.digits, zero=self.zero, plus=self.plus)
        return plain, [(signed if plus else number)(first, self.digits), *(number(end, self.digits) for end in ends)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval(Number):
    """A number with its confidence interval, where there is one."""

    low: Field | None = "low"
    high: Field | None = "high"


@dataclass(frozen=True, slots=True, kw_only=True)
class Count(Column):
    """A number of things.

    Args:
        separated: True for separators of thousands on a terminal as well.
    """

    separated: bool = True

    def shown(self, value: Value, _row: Record) -> Cell:
        """See `Column`."""
        return Cell(f"{value:,}" if self.separated else f"{value}", f"{value:,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PValue(Column):
    """A p-value.

    Args:
        zero: True for a 0 before the point on a terminal and in Markdown.
        least: True if a terminal and Markdown say of what is below .0001 that it is.
    """

    zero: bool = True
    least: bool = False

    @property
    def decimals(self) -> dict[str, int]:
        """See `Column`."""
        return {self.of: 4} if isinstance(self.of, str) else {}

    def shown(self, value: Value, _row: Record) -> Cell:
        """See `Column`."""
        text = p_value(value)
        plain = text if self.least and text.startswith("<") else f"{value:.4f}"
        return Cell(plain if self.zero else plain.removeprefix("0"), text)


@dataclass(frozen=True, slots=True)
class Share(Column):
    """A share, in percent."""

    def shown(self, value: Value, _row: Record) -> Cell:
        """See `Column`."""
        return Cell(text := f"{100 * value:.0f} %", text)


@dataclass(frozen=True, slots=True)
class Marks(Column):
    """Yes or no; yes stands out."""

    words: ClassVar[bool] = True

    def shown(self, value: Value, _row: Record) -> Cell:
        """See `Column`."""
        return Cell(text := "yes" if value else "no", text, words=True, best=bool(value))


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table.

    Args:
        key: Identifier, for ids and file names.
        rows: Its rows.
        columns: Its columns, that of the names first.
        caption: Its caption, on a page.
        kind: Function that tells controls and people from metrics, and the titles of groups, which a page alone has.
        long: True for a table that is too long to be printed.
        groups: True if a terminal and Markdown have the titles of groups as well.
    """

    key: str = "table"
    rows: Sequence[Record]
    columns: Sequence[Column]
    caption: str = ""
    kind: Callable[[Record], Kind] | None = None
    long: bool = False
    groups: bool = False
    block: ClassVar = "table"

    @property
    def head(self) -> tuple[str, ...]:
        """The heads of a page."""
        return tuple(column.head for column in self._of("text"))

    @cached_property
    def lines(self) -> tuple[Row, ...]:
        """The lines of a page, at most `LINES`."""
        return tuple(self._lines(self.rows[:LINES], self._of("text")))

    @property
    def title(self) -> str:
        """The caption, which says where there are more rows than lines."""
        more = f" (the first {LINES:,} rows of {len(self.rows):,})" if len(self.rows) > LINES else ""
        return self.caption + more

    @property
    def narrow(self) -> bool:
        """True for a table of many columns and short names, which gets a narrow first column on a page."""
        names = [self.head[0], *(line.name for line in self.lines if line.kind != "group")]
        return len(self.head) > MANY and max(map(len, names)) <= SHORT

    def words(self, column: int) -> bool:
        """True if a column of a page holds words rather than numbers, and no names.

        Args:
            column: Its index in the head.
        """
        return column > 0 and self._of("text")[column].words

    def shows(self, names: Sequence[str]) -> bool:
        """True if a head or a line of a page has one of these names in it.

        Args:
            names: Names of metrics.
        """
        texts = [*self.head, *(text for line in self.lines for text in (line.full or line.name, *map(str, line.cells)))]
        return any(name in text for text in texts for name in names)

    def grid(self, *, typeset: bool = False, page: bool = False) -> list[list[str]]:
        """Its cells as text, without the titles of groups.

        Args:
            typeset: True as LaTeX and HTML have them, False as a terminal and Markdown have them.
            page: True for the lines and columns of a page.
        """
        first, *others = columns = self._of("text" if page else "page")
        lines = self.lines if page else self._lines(self.rows, columns)
        grid = [[first.head if page else first.plain or first.head]]
        grid[0] += [column.head if typeset else column.plain or column.head for column in others]
        for line in lines:
            if line.kind != "group" or (self.groups and not page):
                cells = [str(cell) if typeset else cell.plain for cell in line.cells] or [""] * len(others)
                grid.append([line.full if typeset else line.plain, *cells])
        return grid

    def _of(self, others: Literal["page", "text"]) -> Sequence[Column]:
        return [column for column in self.columns if column.only != others]

    def _lines(self, rows: Sequence[Record], columns: Sequence[Column]) -> Iterator[Row]:
        name, *others = columns
        for row in rows:
            kind = self.kind(row) if self.kind is not None else ""
            cells = () if kind == "group" else tuple(column.cell(row) for column in others)
            yield name.line(row, kind, cells)


def crossed(
    rows: Sequence[Record],
    name: Column,
    head: Field,
    cell: Column,
    *,
    key: str,
    caption: str = "",
    beside: Sequence[Column] = (),
) -> Table:
    """A table of rows that are cells: a line for all rows of a name, and a column for each head.

    Args:
        rows: The rows of a result.
        name: Column of the names.
        head: Place of the head of the column that a row is in.
        cell: Column of the values, without its head.
        key: Key of the table.
        caption: Its caption.
        beside: Columns after the names: of the first row of each line.

    >>> from fractions import Fraction
    >>> rows = [Fraction(1, 2), Fraction(1, 4), Fraction(3, 4)]
    >>> name = Name("over", lambda row: f"{row.denominator}")
    >>> crossed(rows, name, lambda row: f"{row.numerator}", Number("", float), key="parts").grid()
    [['over', '1', '3'], ['2', '.500', '-'], ['4', '.250', '.750']]
    """
    heads = [Text("", head).value(row) for row in rows]
    lines = nested((name.value(row), each, row) for row, each in zip(rows, heads, strict=True))
    first = (replace(column, at=lambda line: next(iter(line.values()))) for column in (name, *beside))
    cells = (replace(cell, head=each, at=methodcaller("get", each)) for each in dict.fromkeys(heads))
    return Table(key=key, caption=caption, rows=list(lines.values()), columns=(*first, *cells))
