"""Tables of any kind become rows: the columns that a file has, for the fields that a row has.

A table of cells (CSV, a sheet) is read column by column: a cell is text, or a number as its spreadsheet stores it, and
becomes what the field holds. Records (JSON, Parquet with other names, data frames) have values with types, which are
taken as they are. Neither loads a library before a file asks for it.
"""

from __future__ import annotations

import ast
import json
import math
from datetime import date, time
from itertools import islice, repeat
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeAlias, TypeVar

import msgspec
from msgspec import inspect

from postil.errors import InvalidInput, nearest
from postil.escaping import without_apostrophe
from postil.records.checks import is_integer, is_number
from postil.records.delimited import column_names
from postil.records.explain import explain, mismatch, shown
from postil.records.reading import NESTED, Reading
from postil.records.row_locations import RowLocations
from postil.records.rows import Candidate, Reference, Row

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

__all__ = [
    "BrokenCell",
    "CellTable",
    "LocatedRows",
    "Record",
    "batched",
    "columns_wanted",
    "is_nested",
    "records_as_rows",
    "rows_of_columns",
    "rows_of_records",
    "rows_of_table",
]

T = TypeVar("T", bound=Row)
Record: TypeAlias = "Mapping[str, object]"
BATCH: Final = 4096
WIDE: Final = {"metric": "--metric-columns", "annotator": "--annotator-columns"}
"""Flag that names the columns of a wide table, by the field that such a table lacks."""


class CellTable(Protocol):
    """A table of cells that is open."""

    where: str
    names: list[str]
    line: int
    detected: str
    """Guesses, in words that go on after "read"."""
    texts: bool
    """True if all cells are text."""
    apostrophes: bool
    """True if a cell of the last batch may begin with an apostrophe, as postil writes it before a formula."""

    def rows(self) -> Iterator[tuple[Sequence[int], Sequence[Sequence[object]]]]:
        """Yield batches: the line of each row, and the rows."""


class BrokenCell(str):
    """A cell without a value: its text says what was expected, what is there and what to do.

    >>> BrokenCell("a value, got an error")
    'a value, got an error'
    """

    __slots__ = ()


# --- cells ---------------------------------------------------------------------------------------------------------


def _kind(wanted: inspect.Type) -> str:
    """Kind of a field: id, text, number, integer, date, or json for lists and objects."""
    options = wanted.types if isinstance(wanted, inspect.UnionType) else (wanted,)
    for option in options:
        if isinstance(option, inspect.Metadata):
            return "date" if option.extra else _kind(option.type)
    kinds = {type(option) for option in options}
    if inspect.StrType in kinds:
        return "id" if inspect.IntType in kinds else "text"
    if inspect.FloatType in kinds:
        return "number"
    return "integer" if inspect.IntType in kinds else "json"


class _Field:
    """A field of a row and the cells that it comes from.

    Args:
        info: The field.
        column: Its column.
        texts: True if all cells are text.
        comma: True if a comma may be the decimal sign of any number.
    """

    def __init__(self, info: msgspec.structs.FieldInfo, column: str, *, texts: bool, comma: bool) -> None:
        self.column = column
        self._type = inspect.type_info(info.type)
        self.kind = _kind(self._type)
        options = self._type.types if isinstance(self._type, inspect.UnionType) else (self._type,)
        self._optional = not info.required or any(isinstance(each, inspect.NoneType) for each in options)
        self._is_list = any(isinstance(each, inspect.VarTupleType) for each in options)
        self._default = (() if self._is_list else None) if info.required else info.default
        self._hint, self._texts, self._comma = info.type, texts, comma
        self.empty = self.commas = 0

    def column_of(self, cells: Sequence[object], *, apostrophes: bool) -> Sequence[object]:
        """Values of a batch of cells."""
        if self._texts and self.kind == "number":
            try:
                numbers = list(map(float, cells))  # type: ignore[arg-type]  # text
                if all(map(math.isfinite, numbers)) and not any("_" in str(cell) for cell in cells):
                    return numbers
            except ValueError:
                pass
        elif self._texts and self.kind in {"id", "text"} and not apostrophes and "" not in cells:
            return cells
        return list(map(self.value, cells))

    def value(self, cell: object) -> object:
        """Value of a cell.

        Raises:
            InvalidInput: It is not what the field holds.
        """
        if cell is None or (isinstance(cell, str) and not cell.strip() and (self.kind != "text" or not cell)):
            if self.kind == "text" and not self._optional:
                self.empty += 1
                return ""
            if self._optional or self._is_list:
                return self._default
            raise InvalidInput(f"expected {_EXPECTED[self.kind]}, got an empty cell")
        if isinstance(cell, date | time):
            return self._date(cell)
        if isinstance(cell, BrokenCell):
            raise InvalidInput(f"expected {cell}")
        if self.kind in {"id", "text"}:
            return self._words(cell)
        if self.kind in {"number", "integer"}:
            return self._number(cell)
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
            if text.count(",") == 1 and "." not in text and self._is_decimal(text):
                self.commas += 1
                text = text.replace(",", ".")
            try:
                number = int(text) if text.lstrip("+-").isdecimal() else float(text)
            except ValueError:
                number = None
            number = None if "_" in text else number
        if not is_number(number) or (self.kind == "integer" and not float(number).is_integer()):
            raise InvalidInput(f"expected {_EXPECTED[self.kind]}, got {shown(cell)}{_number_advice(cell)}")
        return int(number) if self.kind == "integer" else float(number)

    def _is_decimal(self, text: str) -> bool:
        """True if the comma in a number is its decimal sign: by the delimiter, or because it separates no thousands."""
        whole, _, rest = text.lstrip("+-").partition(",")
        return self._comma or not (len(rest) == 3 and 0 < len(whole) <= 3 and whole != "0")

    def _json(self, cell: object) -> object:
        value = _decoded(cell)
        found = mismatch(value, self._type)
        if found is not None:
            place, problem = found
            raise InvalidInput(problem, field=self.column + ("." if place[:1].isalpha() else "") + place)
        return msgspec.convert(value, self._hint)


_EXPECTED: Final = {
    "id": "text or an integer",
    "text": "text",
    "number": "a number",
    "integer": "an integer",
    "date": "a date",
    "json": "a list in JSON",
}


_NO_NUMBERS: Final = {"", "nan", "na", "n/a", "#n/a", "null", "none", "inf", "infinity", "?"}


def _number_advice(cell: object) -> str:
    if not isinstance(cell, str):
        return ""
    if cell.strip().lower().lstrip("+-") in _NO_NUMBERS:
        return "; leave the cell empty where there is no number"
    if "," in cell and any(mark.isdecimal() for mark in cell):
        return "; write it with a decimal point and without separators of thousands"
    return ""


def _decoded(cell: object) -> object:
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


# --- columns and fields --------------------------------------------------------------------------------------------


def _no_column(
    reading: Reading, where: str, missing: Sequence[str], names: Sequence[str], line: int | None
) -> InvalidInput:
    """Make the error for fields whose columns a file lacks: for the first one that was named, else for all."""
    missing = [name for name in missing if name in reading.columns][:1] or missing
    sources = [reading.columns.get(name, name) for name in missing]
    near = nearest(sources[0], names) if len(missing) == 1 else None
    guess = f"did you mean '{near}'? The" if near else "the"
    advice = ""
    if missing[0] not in reading.columns:
        flags = " ".join(map(reading.flag, missing))
        advice = f"; name the {'one for it' if len(missing) == 1 else 'ones for them'}: {flags}"
        advice += "".join(
            f"; or, where each {name} has a column: {WIDE[name]} NAME,NAME" for name in missing if name in WIDE
        )
    if len(names) == 1 and (found := next((mark for mark in ";\t|," if mark in names[0]), None)):
        advice = f"; is {shown(found)} between the columns? --delimiter {'tab' if found == chr(9) else shown(found)}"
    problem = f"no such column{'s' * (len(missing) > 1)}; {guess} file has: {column_names(names)}{advice}"
    return InvalidInput(problem, where=where, line=line, field=", ".join(sources))


def _system_of(where: str, reading: Reading) -> str:
    """Name of the system whose file has no column for it: that of the file, or of the dataset that it is part of."""
    stem = Path(reading.folder).resolve().name if reading.folder else Path(where).name
    for ending in (".gz", ".zst"):
        stem = stem.removesuffix(ending)
    stem = stem if reading.folder else Path(stem).stem or where
    reading.say(f"{where}: no column system; the system is called '{stem}' (another name: --column system==NAME)")
    return stem


class _Rows(Generic[T]):
    """Rows of a table of cells, on the way.

    Args:
        table: The table.
        row_type: The row.
        reading: Mapping.
        places: Locations of the rows, which are recorded.
    """

    def __init__(self, table: CellTable, row_type: type[T], reading: Reading, places: RowLocations) -> None:
        self._table, self._row_type, self._reading, self._places = table, row_type, reading, places
        self._fields: list[_Field | None] = []
        self._takes: list[int] = []
        self._constants: list[object] = []
        comma = getattr(table, "between", "") == ";"
        missing: list[str] = []
        for info in msgspec.structs.fields(row_type):
            name = info.encode_name
            source = reading.columns.get(name, name)
            if source in table.names and source:
                self._fields.append(_Field(info, source, texts=table.texts, comma=comma))
                self._takes.append(table.names.index(source))
                self._constants.append(None)
                continue
            self._fields.append(None)
            self._takes.append(-1)
            if source.startswith("=") and name in reading.columns:
                self._constants.append(_Field(info, name, texts=True, comma=False).value(source[1:]))
            elif row_type is Candidate and name == "system" and name not in reading.columns:
                self._constants.append(_system_of(table.where, reading))
            else:
                self._constants.append(info.default)
                missing += [name] if info.required or (name in reading.columns and source) else []
        if missing:
            raise _no_column(reading, table.where, missing, table.names, table.line)
        self._said = ""
        self._tell_beginning()

    def __iter__(self) -> Iterator[T]:
        expected = 1
        for lines, rows in self._table.rows():
            expected = _place(self._places, lines, expected)
            yield from self._batch(lines, rows)
        self._tell_end()
        if expected == 1:
            raise InvalidInput("the file holds no rows, only the names of its columns", where=self._table.where)

    def _batch(self, lines: Sequence[int], rows: Sequence[Sequence[object]]) -> list[T]:
        try:
            values = [
                repeat(constant)
                if each is None
                else each.column_of(list(map(itemgetter(index), rows)), apostrophes=self._table.apostrophes)
                for each, index, constant in zip(self._fields, self._takes, self._constants, strict=True)
            ]
            return list(map(self._row_type, *values))
        except InvalidInput:
            return [self._row(line, row) for line, row in zip(lines, rows, strict=True)]

    def _row(self, line: int, row: Sequence[object]) -> T:
        """Make one row, or say what is wrong with it."""
        values = []
        for each, index, constant in zip(self._fields, self._takes, self._constants, strict=True):
            try:
                values.append(constant if each is None else each.value(row[index]))
            except InvalidInput as error:
                column = error.field or (each.column if each else "")
                raise InvalidInput(error.problem, where=self._table.where, line=line, field=column) from None
        try:
            return self._row_type(*values)
        except InvalidInput as error:
            field = self._places.column(error.field)
            raise InvalidInput(error.problem, where=self._table.where, line=line, field=field) from None

    def _tell_beginning(self) -> None:
        read = {self._table.names[index] for index in self._takes if index >= 0}
        unread = [name for name in self._table.names if name and name not in read]
        self._said = self._table.detected
        parts = [f"read{self._said}"] if self._said else []
        parts += [f"columns not read: {column_names(unread)}"] if unread else []
        if parts:
            self._reading.say(f"{self._table.where}: {'; '.join(parts)}")

    def _tell_end(self) -> None:
        parts = [f"read{self._table.detected}"] if self._table.detected != self._said else []
        for each in filter(None, self._fields):
            parts += [f"{each.empty:,} empty cells in {each.column}, taken as empty texts"] if each.empty else []
            parts += [f"decimal commas in {each.column}"] if each.commas else []
        if parts:
            self._reading.say(f"{self._table.where}: {'; '.join(parts)}")


def _place(places: RowLocations, lines: Sequence[int], expected: int) -> int:
    """Record the lines of rows; return the line after the last."""
    if isinstance(lines, range):
        if lines[0] > expected:
            places.skip(expected, lines[0] - expected)
        return lines[-1] + 1
    for line in lines:
        if line > expected:
            places.skip(expected, line - expected)
        expected = line + 1
    return expected


def rows_of_table(table: CellTable, row_type: type[T], reading: Reading, places: RowLocations) -> Iterator[T]:
    """Rows of a table of cells.

    Args:
        table: The table.
        row_type: The row.
        reading: Mapping of columns; messages.
        places: Locations of the rows, which are recorded.

    Yields:
        The rows.

    Raises:
        InvalidInput: A column is missing, or a cell is not what its field holds; says where.
    """
    if is_nested(row_type, reading, table.names):
        yield from records_as_rows(_nested_cells(table, reading), row_type, reading, places, tell=True)
    else:
        yield from _Rows(table, row_type, reading, places)


# --- records -------------------------------------------------------------------------------------------------------


class LocatedRows(Generic[T]):
    """Iterator over rows that know where they come from.

    Args:
        rows: The rows.
        places: Their locations.
    """

    def __init__(self, rows: Iterator[T], places: RowLocations) -> None:
        self._rows, self.places = rows, places

    def __iter__(self) -> Iterator[T]:
        return self._rows

    def __next__(self) -> T:
        return next(self._rows)


_MISSING: Final = object()


def _found(record: object, path: str) -> object:
    """Value at a path in a record, or `_MISSING`; of a list its elements' values."""
    if isinstance(record, dict):
        if path in record:
            return record[path]
        head, _, rest = path.partition(".")
        return _found(record[head], rest) if rest and head in record else _MISSING
    if isinstance(record, list | tuple):
        head, _, rest = path.partition(".")
        if head.isdecimal():
            inner = record[int(head)] if int(head) < len(record) else _MISSING
            return _found(inner, rest) if rest else inner
        values = [_found(each, path) for each in record]
        return _MISSING if any(value is _MISSING for value in values) else values
    return _MISSING


class _Picks(Generic[T]):
    """Fields of rows out of records.

    Args:
        row_type: The row.
        reading: Mapping.
        where: The file.
        first: Some records, the first ones, which tell what there is.
    """

    def __init__(self, row_type: type[T], reading: Reading, where: str, first: Sequence[Record]) -> None:
        self.row_type, self._reading, self._where = row_type, reading, where
        names = list(dict.fromkeys(name for record in first for name in record))
        self.nested = is_nested(row_type, reading, names)
        self._sources = reading.sources(row_type)
        self.required = [each.encode_name for each in msgspec.structs.fields(row_type) if each.required]
        self._dates = {each.encode_name for each in msgspec.structs.fields(row_type) if each.encode_name == "date"}
        self._never = reading.names
        infos = {each.encode_name: each for each in msgspec.structs.fields(row_type)}
        self._constants = {
            name: _Field(infos[name], name, texts=True, comma=False).value(source[1:])
            for name, source in reading.columns.items()
            if source.startswith("=")
        }
        self._stem = ""
        if row_type is Candidate and "system" not in reading.columns and "system" not in names:
            self._stem = _system_of(where, reading)
        read = {*self._sources.values(), *(source.partition(".")[0] for source in self._sources.values())}
        read |= {NESTED} if self.nested else set()
        self.unread = [name for name in names if name not in read]
        self.names = names

    def values(self, record: Record) -> Iterator[dict[str, object]]:
        """Fields of the row in a record; of the rows where it holds all references of an item."""
        if not self.nested:
            if self._stem and "system" in record:
                raise InvalidInput("the rows before have none; give all rows a system, or none", field="system")
            yield self._of(record)
            return
        source = self._reading.columns.get(NESTED, NESTED)
        elements = _found(record, source)
        self._seen(NESTED)
        if elements is _MISSING or elements is None:
            raise InvalidInput(f"missing; this row has: {column_names(list(record))}", field=source)
        item = {"item": self._value(record, "item")} if "item" in self._sources else {}
        item = {name: value for name, value in item.items() if value is not _MISSING}
        several = elements if isinstance(elements, list | tuple) else [elements]
        beside = self._beside(record, len(several))
        for place, element in enumerate(several):
            if isinstance(element, dict):
                yield {**self._of(element), **item}
            elif isinstance(element, str):
                yield {**item, "text": element, **{name: values[place] for name, values in beside.items()}}
            else:
                raise InvalidInput(f"expected a text or an object, got {shown(element)}", field=f"{source}[{place}]")

    def _beside(self, record: Record, length: int) -> dict[str, Sequence[object]]:
        """Lists that stand beside that of the texts: a grade, weight or number of votes for each."""
        found: dict[str, Sequence[object]] = {}
        for name in ("grade", "weight", "upvotes"):
            value = self._value(record, name)
            if isinstance(value, list | tuple):
                if len(value) != length:
                    problem = f"expected {length} values, one per reference, got {len(value)}"
                    raise InvalidInput(problem, field=self._sources[name])
                found[name] = value
            elif value is not _MISSING:
                found[name] = [value] * length
        return found

    def _of(self, record: Record) -> dict[str, object]:
        values = {name: self._value(record, name) for name in self._sources if name != NESTED}
        return {name: value for name, value in values.items() if value is not _MISSING}

    def _value(self, record: Record, name: str) -> object:
        source = self._sources[name]
        if not source:
            return _MISSING
        if name in self._constants:
            return self._constants[name]
        if self._stem and name == "system":
            return self._stem
        value = record.get(source, _MISSING)
        if value is _MISSING and "." in source:
            value = _found(record, source)
        if value is not _MISSING:
            self._seen(name)
            if name in self._dates and isinstance(value, date):
                value = value.isoformat()
        return value

    def _seen(self, name: str) -> None:
        if self._never:
            self._never.pop(name, None)

    def check_seen(self, line: int | None) -> None:
        """Refuse a column that no record had."""
        for name in self._never:
            raise _no_column(self._reading, self._where, [name], self.names, line)

    def problem(self, record: Record, value: dict[str, object], error: Exception) -> InvalidInput:
        """Make the error for a row that is none."""
        missing = [name for name in self.required if name not in value]
        if missing:
            there = column_names(list(record)) or "no fields"
            mapped = [self._sources[name] for name in missing]
            needs = f"a {self.row_type.__name__.lower()} needs {', '.join(self.required)}"
            unnamed = [name for name in missing if name not in self._reading.columns]
            other = "another name" if len(unnamed) == 1 else "other names"
            advice = f"; for {other}: {' '.join(map(self._reading.flag, unnamed))}" if unnamed else ""
            return InvalidInput(f"missing; {needs}; this row has: {there}{advice}", field=", ".join(mapped))
        field, problem = explain(value, self.row_type) or ("", str(error))
        return InvalidInput(problem, field=field)


def records_as_rows(
    batches: Iterable[tuple[Sequence[int], Sequence[Record]]],
    row_type: type[T],
    reading: Reading,
    places: RowLocations,
    *,
    tell: bool = False,
) -> Iterator[T]:
    """Rows of records, with their values as they are.

    Args:
        batches: The line of each record, and the records.
        row_type: The row.
        reading: Mapping of fields; messages.
        places: Locations of the rows, which are recorded.
        tell: True to say which fields are not read.

    Yields:
        The rows.

    Raises:
        InvalidInput: A field is missing or not what it should be; says where.
    """
    picks: _Picks[T] | None = None
    for lines, records in batches:
        if picks is None:
            picks = _Picks(row_type, reading, places.where, records)
            if tell and picks.unread:
                reading.say(f"{places.where}: fields not read: {column_names(picks.unread)}")
        values: list[dict[str, object]] = []
        of: list[int] = []
        for index, record in enumerate(records):
            try:
                made = list(picks.values(record))
            except InvalidInput as error:
                raise InvalidInput(error.problem, where=places.where, line=lines[index], field=error.field) from None
            values += made
            of += [index] * len(made)
        try:
            rows = msgspec.convert(values, list[row_type])  # type: ignore[valid-type]
        except (msgspec.ValidationError, InvalidInput):
            rows = [
                _converted(picks, records[index], value, places, lines[index])
                for index, value in zip(of, values, strict=True)
            ]
        places.extend(lines[index] for index in of)
        yield from rows
    if picks is None:
        raise InvalidInput("the file holds no rows", where=places.where)
    picks.check_seen(None)


def _converted(picks: _Picks[T], record: Record, value: dict[str, object], places: RowLocations, line: int) -> T:
    try:
        return msgspec.convert(value, picks.row_type)
    except (msgspec.ValidationError, InvalidInput) as error:
        found = picks.problem(record, value, error)
        raise InvalidInput(found.problem, where=places.where, line=line, field=places.column(found.field)) from None


def batched(records: Iterable[Record]) -> Iterator[tuple[Sequence[int], Sequence[Record]]]:
    """Records with their numbers, counted from 1, in batches.

    Args:
        records: The records.

    Yields:
        The numbers of a batch, and its records.
    """
    rest, done = iter(records), 0
    while batch := list(islice(rest, BATCH)):
        yield range(done + 1, done + 1 + len(batch)), batch
        done += len(batch)


def columns_wanted(row_type: type[Row], reading: Reading, names: Sequence[str], where: str) -> set[str]:
    """Columns of a file that rows are made of.

    Args:
        row_type: The row.
        reading: Mapping.
        names: Columns of the file.
        where: The file.

    Raises:
        InvalidInput: It lacks one.
    """
    nested = is_nested(row_type, reading, names)
    found = {NESTED} & set(names) if nested else set[str]()
    required = [each.encode_name for each in msgspec.structs.fields(row_type) if each.required]
    missing: list[str] = []
    for name, source in reading.sources(row_type).items():
        head = source if source in names else source.partition(".")[0]
        if head in names:
            found.add(head)
        elif source.startswith("=") or not source or nested or (row_type is Candidate and name == "system"):
            continue
        elif name in reading.columns or name in required:
            missing.append(name)
    if missing:
        raise _no_column(reading, where, missing, names, None)
    return found


def is_nested(row_type: type[Row], reading: Reading, names: Collection[str]) -> bool:
    """True if a row of a file holds all references of an item.

    Args:
        row_type: The row.
        reading: Mapping.
        names: Fields of the file.
    """
    if row_type is not Reference:
        return False
    if NESTED in reading.columns:
        return True
    return NESTED in names and reading.columns.get("text", "text").partition(".")[0] not in names


def _nested_cells(table: CellTable, reading: Reading) -> Iterator[tuple[Sequence[int], Sequence[Record]]]:
    """Records of a table of cells in which a cell holds all references of an item."""
    for lines, rows in table.rows():
        records = []
        for line, row in zip(lines, rows, strict=True):
            try:
                records.append({name: _value(cell) for name, cell in zip(table.names, row, strict=True)})
            except InvalidInput as error:
                column = reading.columns.get(NESTED, NESTED)
                raise InvalidInput(error.problem, where=table.where, line=line, field=column) from None
        yield lines, records


def _value(cell: object) -> object:
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    if cell == "":
        return None
    if isinstance(cell, BrokenCell):
        raise InvalidInput(f"expected {cell}")
    value = _decoded(cell)
    return without_apostrophe(value) if isinstance(value, str) else value


def rows_of_records(records: Iterable[Record], row_type: type[T], reading: Reading, where: str) -> LocatedRows[T]:
    """Rows of records in memory, such as dictionaries.

    Args:
        records: The records; None is a missing value.
        row_type: The row.
        reading: Mapping of fields; messages.
        where: Name of the argument, for messages.

    >>> found = rows_of_records([{"id": 7, "out": {"text": "Rain"}}], Candidate, Reading(
    ...     columns={"item": "id", "text": "out.text", "system": "=mine"}), "candidates")
    >>> list(found)
    [Candidate(item='7', system='mine', text='Rain')]
    """
    places = RowLocations(where, columns=reading.names)
    return LocatedRows(records_as_rows(batched(records), row_type, reading, places), places)


def rows_of_columns(
    columns: Mapping[str, Sequence[object]], row_type: type[T], reading: Reading, where: str
) -> LocatedRows[T]:
    """Rows of columns in memory, such as those of a data frame.

    Args:
        columns: The values of each column, of one length; None is a missing value.
        row_type: The row.
        reading: Mapping of fields; messages.
        where: Name of the argument, for messages.

    Raises:
        InvalidInput: The columns have several lengths.

    >>> list(rows_of_columns({"item": [1, 2], "text": ["Rain", "Snow"]}, Reference, Reading(), "references"))[1].text
    'Snow'
    """
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{length} in {name}" for name, length in lengths.items())
        raise InvalidInput(f"expected columns of one length, got {found} values", where=where)
    records = (dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))
    return rows_of_records(records, row_type, reading, where)
