"""Cells of tables as values of fields: text, or numbers as a spreadsheet stores them; decimal marks of columns."""

from __future__ import annotations

import ast
import json
import math
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, time
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, Self

import msgspec
from msgspec import inspect

from postil.data.escaping import without_apostrophe
from postil.data.explain import column_setting, file_setting, mismatch, shown, without_number
from postil.data.fields import is_integer, is_number
from postil.data.reading import DECIMALS, Reading
from postil.errors import InvalidInput, UsageError
from postil.messages import Listed, Message, Setting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from postil.data.rows import Row

__all__ = [
    "MARKS",
    "BrokenCell",
    "CellField",
    "MergedCell",
    "NumberMarks",
    "ShownNumber",
    "constants_of",
    "decoded",
    "number_text",
    "truth",
]

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
    and 3.875, or 4,125 and 3,875 with semicolons, alone are what they are: means of graders have a point as well, and
    to refuse every such column would stop tables that are right.

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


# Spreadsheets write their own words into CSV, in the language of the program.
_TRUE: Final = (
    *("true", "yes", "y", "t", "on", "1", "1.0"),
    *("wahr", "ja", "vrai", "oui", "verdadero", "sí", "si", "vero", "sì", "verdadeiro", "sim", "waar", "sant", "sann"),
    *("sand", "tosi", "prawda", "pravda", "igaz", "adevărat", "doğru", "истина", "да", "істина", "αληθης", "αληθής"),
    *("真", "是"),
)
_FALSE: Final = (
    *("false", "no", "n", "f", "off", "0", "0.0"),
    *("falsch", "nein", "faux", "non", "falso", "não", "nee", "onwaar", "falskt", "usann", "falsk", "epätosi", "fałsz"),
    *("nepravda", "hamis", "fals", "yanlış", "yanliş", "ложь", "нет", "хибність", "ψευδης", "ψευδής", "假", "否"),
)

WORDS: Final[Mapping[str, bool]] = MappingProxyType({**dict.fromkeys(_TRUE, True), **dict.fromkeys(_FALSE, False)})
"""Meaning of each word, without case."""


def truth(value: object) -> bool | None:
    """Read a value as true or false; None if it is neither.

    Args:
        value: True, False, 1, 0, or text: one of `WORDS`, in any case.

    >>> [truth(value) for value in (True, "TRUE", "WAHR", 1.0, "faux", "0", 2, "maybe")]
    [True, True, True, True, False, False, None, None]
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return bool(value) if value in {0, 1} else None
    return WORDS.get(value.strip().casefold()) if isinstance(value, str) else None


class BrokenCell(str):
    """A cell without a value: its text says what was expected, what is there and what to do.

    >>> BrokenCell("a value, got an error")
    'a value, got an error'
    """

    __slots__ = ("message",)
    message: str

    def __new__(cls, message: str) -> Self:
        """Keep the message, whose settings each interface spells."""
        made = super().__new__(cls, message)
        made.message = message
        return made


@dataclass(frozen=True, slots=True)
class ShownNumber:
    """A number to write, and how a workbook shows it.

    Args:
        value: The number, which stays whole.
        digits: Number of decimals.
        mark: Text after it.
        bold: True for bold digits.
        underlined: True for a line below them.
    """

    value: float
    digits: int
    mark: str = ""
    bold: bool = False
    underlined: bool = False


class MergedCell(BrokenCell):
    """A cell of several that were merged in one column: only an id is the same in all of them.

    Args:
        problem: Text that says what was expected, what is there and what to do.
        shared: The value of the cells.

    >>> MergedCell("a value in each cell, got merged cells (A2:A3)", "q1").shared
    'q1'
    """

    __slots__ = ("shared",)

    def __new__(cls, problem: str, shared: object) -> Self:
        """Make the text that a cell is, with the value beside it."""
        made = super().__new__(cls, problem)
        made.shared = shared
        return made

    shared: object


def _kind(wanted: inspect.Type) -> str:
    """Kind of a field: id, text, number, integer, truth, date, checked by its own, or json for lists and objects."""
    options = wanted.types if isinstance(wanted, inspect.UnionType) else (wanted,)
    if own := _own_check(wanted):
        return own.get("kind", "checked")
    for option in options:
        if isinstance(option, inspect.Metadata):
            return _kind(option.type)
    kinds = {type(option) for option in options}
    if inspect.StrType in kinds:
        return "id" if inspect.IntType in kinds else "text"
    if inspect.FloatType in kinds:
        return "number"
    if inspect.IntType in kinds:
        return "integer"
    return "truth" if inspect.BoolType in kinds else "json"


def _own_check(wanted: inspect.Type) -> Mapping[str, str]:
    """Words for the values of a field that has a check of its own, and its kind if that is named; empty for others."""
    options = wanted.types if isinstance(wanted, inspect.UnionType) else (wanted,)
    extras = [option.extra or {} for option in options if isinstance(option, inspect.Metadata)]
    return next((extra for extra in extras if "expected" in extra), {})


_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "id": (str, int),
    "text": (str,),
    "number": (float, int),
    "integer": (int,),
    "truth": (bool,),
}


def plain_types(info: msgspec.structs.FieldInfo) -> frozenset[type]:
    """Types of values that a field takes as they are; none for own checks, lists and objects.

    Args:
        info: The field.

    >>> from postil.data.rows import Comment
    >>> sorted(each.__name__ for each in plain_types(msgspec.structs.fields(Comment)[3]))
    ['NoneType', 'float', 'int']
    """
    wanted = inspect.type_info(info.type)
    options = wanted.types if isinstance(wanted, inspect.UnionType) else (wanted,)
    found = _TYPES.get(_kind(wanted), ())
    return frozenset((*found, *([type(None)] * any(isinstance(each, inspect.NoneType) for each in options if found))))


class CellField:
    """A field of a row and the cells that it comes from.

    Args:
        info: The field.
        column: Its column.
        texts: True if all cells are text.
        comma: True if a comma may be the decimal sign of any number.
        decimal: Decimal mark of numbers that are text, if it is named.
        fill: True if an empty cell of an id stands for the one above it.
        constant: True if it is a value that a user named, and no cell that could hold none.
    """

    def __init__(
        self,
        info: msgspec.structs.FieldInfo,
        column: str,
        *,
        texts: bool,
        comma: bool,
        decimal: str | None = None,
        fill: bool = False,
        constant: bool = False,
    ) -> None:
        self.column = column
        self._type = inspect.type_info(info.type)
        self.kind = _kind(self._type)
        self._expected = _own_check(self._type).get("expected") or _EXPECTED[self.kind]
        options = self._type.types if isinstance(self._type, inspect.UnionType) else (self._type,)
        self._optional = not info.required or any(isinstance(each, inspect.NoneType) for each in options)
        self._is_list = any(isinstance(each, inspect.VarTupleType) for each in options)
        self._default = (() if self._is_list else None) if info.required else info.default
        self._hint, self._texts, self._comma, self._decimal = info.type, texts, comma, decimal
        self.commas = self.merged = 0
        self._fills, self._constant = fill, constant

    @property
    def counts(self) -> tuple[int, int]:
        """Numbers of cells so far that had a decimal comma, or were merged."""
        return self.commas, self.merged

    def column_of(self, cells: Sequence[object], *, apostrophes: bool) -> Sequence[object]:
        """Values of a batch of cells."""
        if self._texts and self.kind == "number" and self._decimal != ",":
            try:
                numbers = list(map(float, cells))  # type: ignore[arg-type]  # text
                if all(map(math.isfinite, numbers)) and not any("_" in str(cell) for cell in cells):
                    return numbers
            except ValueError:
                pass
        elif self.kind in {"id", "text"} and not (self._texts and apostrophes) and "" not in cells:
            plain = self._texts or (set(map(type, cells)) == {str} and not any(map(str.isspace, cells)))  # type: ignore[arg-type]
            if plain:
                return cells
        return list(map(self.value, cells))

    def value(self, cell: object) -> object:
        """Value of a cell.

        Raises:
            InvalidInput: It is not what the field holds.
        """
        if isinstance(cell, MergedCell) and self.kind == "id":
            self.merged += 1
            cell = cell.shared
        if cell is None or (isinstance(cell, str) and not cell.strip() and (self.kind != "text" or not cell)):
            if self.kind == "text" and not self._optional:
                return ""
            if self._optional or self._is_list:
                return self._default
            advice: str = "" if self.kind in {"id", "text", "json"} else "; leave the row out where there is none"
            if self.kind == "id" and not self._fills:
                advice = Message(
                    "; where it stands for the cell above, as merged cells do: {fill_down}",
                    fill_down=file_setting("fill_down", on=True),
                )
            raise InvalidInput(_unfit(self._expected, "an empty cell", advice))
        if isinstance(cell, date | time):
            return self._date(cell)
        if isinstance(cell, BrokenCell):
            raise InvalidInput(f"expected {cell}")
        return self._converted(cell)

    def _converted(self, cell: object) -> object:
        if self.kind in {"id", "text"}:
            return self._words(cell)
        if self.kind in {"number", "integer"}:
            return self._number(cell)
        if self.kind == "truth":
            return self._truth(cell)
        return self._json(cell) if self.kind == "json" else cell

    def _date(self, cell: date | time) -> object:
        if self.kind == "date":
            return cell.isoformat()
        form = "text" if self.kind in {"id", "text", "checked"} else "numbers"
        advice = f"format the column as {form} and write the value again"
        raise InvalidInput(f"expected {self._expected}, got the date {cell.isoformat()}; {advice}")

    def _words(self, cell: object) -> str:
        if isinstance(cell, str):
            return without_apostrophe(cell) if self._texts else cell
        if isinstance(cell, float) and cell.is_integer():
            cell = int(cell)
        if self.kind == "id" and not is_integer(cell):
            raise InvalidInput(f"expected text or an integer, got {shown(cell)}")
        return str(cell).upper() if isinstance(cell, bool) else str(cell)

    def _number(self, cell: object) -> float | int:
        number = cell
        if isinstance(cell, str):
            text = cell.strip()
            if self._decimal is not None:
                text = number_text(text, self._decimal) or ""
            elif text.count(",") == 1 and "." not in text and self._is_decimal(text):
                self.commas += 1
                text = text.replace(",", ".")
            try:
                number = int(text) if text.lstrip("+-").isdecimal() else float(text)
            except ValueError:
                number = None
            number = None if "_" in text else number
        if not is_number(number) or (self.kind == "integer" and not float(number).is_integer()):
            raise InvalidInput(_unfit(self._expected, shown(cell), self._advice(cell)))
        return int(number) if self.kind == "integer" else float(number)

    def _truth(self, cell: object) -> bool:
        found = truth(cell)
        if found is None:
            raise InvalidInput(f"expected {self._expected}, got {shown(cell)}; write TRUE or FALSE, or 1 or 0")
        return found

    def _advice(self, cell: object) -> str:
        """Remedy for a cell that is no number."""
        if not isinstance(cell, str):
            return ""
        text = cell.strip()
        if any(map(str.isdecimal, text)) and _LIKE_A_NUMBER.fullmatch(text):
            if self._decimal is not None:
                return Message(
                    "; {decimal} says that '{mark}' stands before the decimals",
                    decimal=Setting("decimal"),
                    mark=self._decimal,
                )
            if any(mark in text for mark in (",", "'", " ", "\xa0", "\u202f")):
                return "; write it with a decimal point and without separators of thousands"
        return "" if self._constant else without_number("the cell empty" if self._optional else "the row out", cell)

    def _is_decimal(self, text: str) -> bool:
        """True if the comma in a number is its decimal sign: by the delimiter, or because it separates no thousands."""
        whole, _, rest = text.lstrip("+-").partition(",")
        return self._comma or not (len(rest) == 3 and 0 < len(whole) <= 3 and whole != "0")

    def _json(self, cell: object) -> object:
        value = decoded(cell)
        found = mismatch(value, self._type)
        if found is not None:
            place, problem = found
            raise InvalidInput(problem, field=self.column + ("." if place[:1].isalpha() else "") + place)
        return msgspec.convert(value, self._hint)


def _unfit(expected: str, got: str, advice: str) -> Message:
    return Message("expected {expected}, got {got}{advice}", expected=expected, got=got, advice=advice)


def constants_of(row_type: type[Row], reading: Reading) -> dict[str, object]:
    """Values of the fields that are the same in all rows, by ``=VALUE``.

    Args:
        row_type: The row.
        reading: Mapping.

    Raises:
        UsageError: A value is not what its field holds.
    """
    infos = {info.encode_name: info for info in msgspec.structs.fields(row_type)}
    found: dict[str, object] = {}
    for name, source in reading.columns.items():
        if source.startswith("="):
            column = column_setting(reading.role, {name: source})
            if name not in infos:
                raise UsageError("{column}: {name} cannot be the same in all rows", column=column, name=name)
            try:
                found[name] = CellField(infos[name], name, texts=True, comma=False, constant=True).value(source[1:])
            except InvalidInput as error:
                raise UsageError("{column}: {problem}", column=column, problem=error.problem) from None
    return found


_EXPECTED: Final = {
    "id": "text or an integer",
    "text": "text",
    "number": "a number",
    "integer": "an integer",
    "truth": "true or false",
    "json": "a list in JSON",
}


_LIKE_A_NUMBER: Final = re.compile(r"[-+]?[\d.,'\s]+")
"""Digits and what may separate them: a number in another way of writing, rather than a word for none."""


def decoded(cell: object) -> object:
    """List or object in a cell, in JSON or as Python prints it; other cells as they are."""
    if not isinstance(cell, str) or cell.lstrip()[:1] not in {"[", "{"}:
        return cell
    try:
        return json.loads(cell)
    except (ValueError, RecursionError) as broken:
        try:
            return ast.literal_eval(cell.strip())  # what pandas writes
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            raise InvalidInput(f"expected a list in JSON, got {shown(cell)} ({broken})") from None
