"""Cells of tables as values of fields: text, or numbers as a spreadsheet stores them, with any decimal mark."""

from __future__ import annotations

import ast
import json
import math
from datetime import date, time
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, cast

import msgspec
from msgspec import inspect

from postil.data.escaping import without_apostrophe
from postil.data.explain import column_setting, file_setting, mismatch, shown
from postil.data.fields import is_integer, is_number
from postil.errors import InvalidInput, UsageError
from postil.messages import Blank, Message, Setting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from postil.data.reading import Reading
    from postil.data.rows import Row

from postil.data.decimal_marks import number_text

__all__ = ["BrokenCell", "CellField", "MergedCell", "constants_of", "decoded", "truth"]

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
    """Kind of a field: id, text, number, integer, truth, date, or json for lists and objects."""
    options = wanted.types if isinstance(wanted, inspect.UnionType) else (wanted,)
    for option in options:
        if isinstance(option, inspect.Metadata):
            return "date" if option.extra and not isinstance(option.type, inspect.BoolType) else _kind(option.type)
    kinds = {type(option) for option in options}
    if inspect.StrType in kinds:
        return "id" if inspect.IntType in kinds else "text"
    if inspect.FloatType in kinds:
        return "number"
    if inspect.IntType in kinds:
        return "integer"
    return "truth" if inspect.BoolType in kinds else "json"


class CellField:
    """A field of a row and the cells that it comes from.

    Args:
        info: The field.
        column: Its column.
        texts: True if all cells are text.
        comma: True if a comma may be the decimal sign of any number.
        decimal: Decimal mark of numbers that are text, if it is named.
        fill: True if an empty cell of an id stands for the one above it.
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
    ) -> None:
        self.column = column
        self._type = inspect.type_info(info.type)
        self.kind = _kind(self._type)
        options = self._type.types if isinstance(self._type, inspect.UnionType) else (self._type,)
        self._optional = not info.required or any(isinstance(each, inspect.NoneType) for each in options)
        self._is_list = any(isinstance(each, inspect.VarTupleType) for each in options)
        self._default = (() if self._is_list else None) if info.required else info.default
        self._hint, self._texts, self._comma, self._decimal = info.type, texts, comma, decimal
        self.empty = self.commas = self.merged = self.filled = 0
        self._fills, self._above = fill and self.kind == "id", cast("object", None)

    def column_of(self, cells: Sequence[object], *, apostrophes: bool) -> Sequence[object]:
        """Values of a batch of cells."""
        if self._texts and self.kind == "number" and self._decimal != ",":
            try:
                numbers = list(map(float, cells))  # type: ignore[arg-type]  # text
                if all(map(math.isfinite, numbers)) and not any("_" in str(cell) for cell in cells):
                    return numbers
            except ValueError:
                pass
        elif self._texts and self.kind in {"id", "text"} and not (apostrophes or self._fills) and "" not in cells:
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
        if self._fills:
            if cell is None or not str(cell).strip():
                self.filled += self._above is not None
                cell = self._above
            self._above = cell
        if cell is None or (isinstance(cell, str) and not cell.strip() and (self.kind != "text" or not cell)):
            if self.kind == "text" and not self._optional:
                self.empty += 1
                return ""
            if self._optional or self._is_list:
                return self._default
            advice: str = "; leave the row out where there is none" if self.kind == "number" else ""
            if self.kind == "id" and not self._fills:
                advice = Message(
                    "; where it stands for the cell above, as merged cells do: {fill_down}",
                    fill_down=file_setting("fill_down", on=True),
                )
            raise InvalidInput(_unfit(self.kind, "an empty cell", advice))
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
        advice = (
            f"format the column as {'text' if self.kind in {'id', 'text'} else 'numbers'} and write the value again"
        )
        raise InvalidInput(f"expected {_EXPECTED[self.kind]}, got the date {cell.isoformat()}; {advice}")

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
            raise InvalidInput(_unfit(self.kind, shown(cell), self._advice(cell)))
        return int(number) if self.kind == "integer" else float(number)

    def _truth(self, cell: object) -> bool:
        found = truth(cell)
        if found is None:
            raise InvalidInput(f"expected {_EXPECTED[self.kind]}, got {shown(cell)}; write TRUE or FALSE, or 1 or 0")
        return found

    def _advice(self, cell: object) -> str:
        """Remedy for a cell that is no number."""
        if not isinstance(cell, str):
            return ""
        if cell.startswith("#") or cell.strip().lower().lstrip("+-") in _NO_NUMBERS:
            text = shown(cell.strip())
            return Message(
                "; leave the {what} where there is no number, or name what stands there: {missing}",
                what="cell empty" if self._optional else "row out",
                missing=file_setting("missing", Blank(text), python=f"missing=frozenset({{{text}}})"),
            )
        if self._decimal is not None and any(map(str.isdecimal, cell)):
            return Message(
                "; {decimal} says that '{mark}' stands before the decimals",
                decimal=Setting("decimal"),
                mark=self._decimal,
            )
        if "," in cell and any(mark.isdecimal() for mark in cell):
            return "; write it with a decimal point and without separators of thousands"
        return ""

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


def _unfit(kind: str, got: str, advice: str) -> Message:
    return Message("expected {expected}, got {got}{advice}", expected=_EXPECTED[kind], got=got, advice=advice)


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
                found[name] = CellField(infos[name], name, texts=True, comma=False).value(source[1:])
            except InvalidInput as error:
                raise UsageError("{column}: {problem}", column=column, problem=error.problem) from None
    return found


_EXPECTED: Final = {
    "id": "text or an integer",
    "text": "text",
    "number": "a number",
    "integer": "an integer",
    "truth": "true or false",
    "date": "a date",
    "json": "a list in JSON",
}


_NO_NUMBERS: Final = {"", "nan", "na", "n/a", "#n/a", "null", "none", "inf", "infinity", "?"}


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
