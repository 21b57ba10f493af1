"""Decimal marks in tables: numbers by the mark that is named, and columns in which a mark may be another thing."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from postil.data.explain import shown
from postil.data.reading import DECIMALS
from postil.errors import InvalidInput
from postil.messages import Listed, Message, Setting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


__all__ = ["MARKS", "NumberMarks", "number_text"]

MARKS: Final = tuple(Setting("decimal", mark) for mark in DECIMALS)
"""The settings that name them."""


LARGE: Final = 100
"""Least number without a mark beside which thousands are likely to have one."""


_MARKED: Final = {
    mark: re.compile(rf"[-+]?\d{{1,3}}(?:{re.escape(other)}\d{{3}})+(?:{re.escape(mark)}\d*)?", re.ASCII)
    for mark, other in zip(DECIMALS, reversed(DECIMALS), strict=True)
}
"""Numbers with separators of thousands, by the decimal mark."""


_POINTS: Final = re.compile(r"[-+]?[1-9]\d*(?:\.\d{3})+(?:,\d*)?", re.ASCII)
"""Numbers whose points all have three digits after them, as separators of thousands have."""


_COMMAS: Final = re.compile(r"[-+]?[1-9]\d*(?:,\d{3})+", re.ASCII)


def number_text(text: str, decimal: str) -> str | None:
    """Number as Python writes it; None where it is none by the decimal mark that is named.

    Args:
        text: The number; the other mark may separate thousands, in groups of three digits.
        decimal: The decimal mark, of `DECIMALS`.

    >>> [number_text(text, ",") for text in ("1.000", "1.234,5", "2,5", "40", "1.5", "many")]
    ['1000', '1234.5', '2.5', '40', None, None]
    >>> [number_text(text, ".") for text in ("1.000", "1,234.5", "2,5")]
    ['1.000', '1234.5', None]
    """
    other = DECIMALS[decimal == DECIMALS[0]]
    if other in text:
        if not _MARKED[decimal].fullmatch(text):
            return None
        text = text.replace(other, "")
    text = text.replace(decimal, ".")
    return None if _value(text) is None else text


def _value(text: str) -> float | None:
    """Value of a number with a decimal point; None where it is none."""
    with suppress(ValueError):
        value = float(text)
        if math.isfinite(value) and "_" not in text:
            return value
    return None


class _Seen(NamedTuple):
    """A cell.

    Args:
        line: Its line.
        text: Its text.
    """

    line: int
    text: str


@dataclass(slots=True)
class _Column:
    """Marks in the cells of a column.

    Args:
        point: The first number whose points may separate thousands.
        beside: The first number that speaks for it: one of 100 or more without a point, or with a decimal comma.
        decimal_point: The first number whose point is none of thousands.
        comma: The first number whose commas may separate thousands.
        decimal_comma: True if there is a number whose comma is none of thousands.
        both: The first number that none but a decimal comma or a second point explains.
        commas: The first number with several commas.
        large: The first number of 100 or more without a mark.
    """

    point: _Seen | None = None
    beside: _Seen | None = None
    decimal_point: _Seen | None = None
    comma: _Seen | None = None
    decimal_comma: bool = False
    both: _Seen | None = None
    commas: _Seen | None = None
    large: _Seen | None = None

    def open_in(self, text: str) -> bool:
        """True if cells, one after the other, may say more than is known."""
        return ("." in text and self.decimal_point is None) or ("," in text and not self.decimal_comma)

    def see(self, line: int, cell: str, *, large: bool) -> None:
        """Take note of a cell; of large numbers without a mark only if ``large``."""
        text = cell.strip()
        if "." in text:
            self._see_point(_Seen(line, text))
        elif "," in text:
            self._see_comma(_Seen(line, text))
        elif large and self.large is None and len(text) >= len("100"):
            value = _value(text)
            if value is not None and abs(value) >= LARGE:
                self.large = _Seen(line, text)
                self.beside = self.beside or self.large

    def _see_point(self, seen: _Seen) -> None:
        if _POINTS.fullmatch(seen.text):
            self.point = self.point or seen
            if "," in seen.text or seen.text.count(".") > 1:
                self.both = self.both or seen
        elif _value(seen.text) is not None:
            self.decimal_point = self.decimal_point or seen

    def _see_comma(self, seen: _Seen) -> None:
        if _COMMAS.fullmatch(seen.text):
            self.comma = self.comma or seen
            if seen.text.count(",") > 1:
                self.commas = self.commas or seen
        elif _value(seen.text.replace(",", ".")) is not None:
            self.decimal_comma = True
        else:
            return
        self.beside = self.beside or seen

    def doubt(self) -> tuple[_Seen, _Seen] | None:
        """A number with a mark of two meanings, and one that speaks against reading it as a decimal mark."""
        if self.point and not self.decimal_point and (beside := self.both or self.beside):
            return self.point, beside
        beside = self.commas or self.decimal_point or self.large
        return (self.comma, beside) if self.comma and beside and not self.decimal_comma else None


class NumberMarks:
    """Marks in the columns of numbers of a table, as its rows come.

    A column is in doubt where every number with a point has three digits after it and does not begin with 0, and a
    number with a decimal comma or a second point stands in it, or, in a table with semicolons between columns, one of
    100 or more without a point; and where every number with a comma has three digits after it, and one has a decimal
    point or several commas, or, in a table with semicolons, one is 100 or more without a mark. Numbers such as 4.125
    and 3.875, or 4,125 and 3,875 with semicolons, alone are what they are.

    Args:
        where: The table.
        columns: Place of each column of numbers, by its name.
        semicolons: True if semicolons stand between columns, as where commas are decimal.
        marks: The settings that name the decimal mark.
    """

    def __init__(
        self, where: str, columns: Mapping[str, int], *, semicolons: bool, marks: tuple[Setting, ...] = MARKS
    ) -> None:
        self._where, self._semicolons, self._marks = where, semicolons, marks
        self._columns = [(name, place, _Column()) for name, place in columns.items()]

    def see(self, lines: Sequence[int], rows: Sequence[Sequence[object]]) -> None:
        """Take note of a batch of rows.

        Args:
            lines: Their lines.
            rows: Their cells.

        Raises:
            InvalidInput: A number has two points, or point and comma, and no other number of the column says how to
                read it; names it.
        """
        for name, place, column in self._columns:
            cells = [row[place] for row in rows]
            large = self._semicolons and not (column.large or column.decimal_point or column.decimal_comma)
            if not large and not column.open_in("".join(cell for cell in cells if isinstance(cell, str))):
                continue
            for line, cell in zip(lines, cells, strict=True):
                if isinstance(cell, str):
                    column.see(line, cell, large=large)
            if column.both or column.commas:
                self._settle(name, column)

    def settle(self) -> None:
        """Refuse a column in doubt, when all rows have come.

        Raises:
            InvalidInput: There is one; names two numbers of it, and what decides.
        """
        for name, _, column in self._columns:
            self._settle(name, column)

    def _settle(self, name: str, column: _Column) -> None:
        doubt = column.doubt()
        if doubt is None:
            return
        seen, beside = doubt
        mark, decimal = ("point", "a decimal point") if "." in seen.text else ("comma", "a decimal comma")
        same = f", beside {shown(beside.text)} in line {beside.line}" if beside != seen else ""
        problem = Message(
            "{expected}, so that the {mark} may be {decimal} or separate thousands; say which is: {settings}",
            expected=f"expected numbers with one decimal mark, got {shown(seen.text)}{same}",
            mark=mark,
            decimal=decimal,
            settings=Listed(self._marks, last=" or "),
        )
        raise InvalidInput(problem, where=self._where, line=seen.line, field=name)
