"""Tables of cells become rows: a text table or a sheet is converted column by column, as the fields of the row ask."""

from __future__ import annotations

from itertools import repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, cast

import msgspec

from postil.data.cells import BrokenCell, CellField, constants_of, decoded
from postil.data.decimal_marks import DECIMALS, MARKS, NumberMarks
from postil.data.delimited import column_names
from postil.data.escaping import without_apostrophe
from postil.data.file_settings import file_setting
from postil.data.reading import NESTED, Reading
from postil.data.record_rows import is_nested, records_as_rows
from postil.data.rows import Candidate, Row
from postil.data.unfolding import unfolding
from postil.errors import InvalidInput
from postil.messages import Listed, Message, Setting

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.data.record_rows import Record
    from postil.data.row_locations import RowLocations
    from postil.data.unfolding import Unfolding

__all__ = ["CellTable", "rows_of_table"]

T = TypeVar("T", bound=Row)


class CellTable(Protocol):
    """A table of cells that is open."""

    where: str
    names: list[str]
    line: int
    detected: str
    """Guesses, in words that go on after "read"."""
    texts: bool
    """True if all cells are text."""
    decimal_commas: bool
    """True if any comma in a number is its decimal sign."""
    apostrophes: bool
    """True if a cell of the last batch may begin with an apostrophe, as postil writes it before a formula."""

    def rows(self) -> Iterator[tuple[Sequence[int], Sequence[Sequence[object]]]]:
        """Yield batches: the line of each row, and the rows."""


class _Rows(Generic[T]):
    """Rows of a table of cells, on the way.

    Args:
        table: The table.
        row_type: The row.
        reading: Mapping.
        places: Locations of the rows, which are recorded.
    """

    def __init__(self, table: CellTable, row_type: type[T], reading: Reading, places: RowLocations) -> None:
        self._unfolding = unfolding(row_type, reading, table.names, table.where, table.line)
        reading = self._unfolding.reading if self._unfolding else reading
        self._names = self._unfolding.names(table.names) if self._unfolding else table.names
        self._table, self._row_type, self._reading, self._places = table, row_type, reading, places
        self._fields: list[CellField | None] = []
        self._takes: list[int] = []
        self._constants: list[object] = []
        comma, constants = table.decimal_commas, constants_of(row_type, reading)
        missing: list[str] = []
        for info in msgspec.structs.fields(row_type):
            name = info.encode_name
            source = reading.columns.get(name, name)
            if source in self._names and source:
                self._fields.append(
                    CellField(
                        info,
                        source,
                        texts=table.texts,
                        comma=comma,
                        decimal=reading.decimal,
                        fill=reading.fill_down,
                    )
                )
                self._takes.append(self._names.index(source))
                self._constants.append(None)
                continue
            self._fields.append(None)
            self._takes.append(-1)
            if name in constants:
                self._constants.append(constants[name])
            elif issubclass(row_type, Candidate) and name == "system" and name not in reading.columns:
                self._constants.append(reading.system_of(table.where))
            else:
                self._constants.append(info.default)
                missing += [name] if info.required or (name in reading.columns and source) else []
        if missing:
            raise reading.no_column(table.where, missing, table.names, table.line)
        self._marks = self._number_marks()
        self._said, self._missing = "", 0
        self._tell_beginning()

    def __iter__(self) -> Iterator[T]:
        expected = 1
        empty: dict[str, int] = {}
        for lines, rows in self._cells():
            if self._unfolding:
                expected = lines[-1] + 1
                made, cells = _unfolded(self._unfolding, self._table.names, lines, rows, empty)
                self._places.extend(made)
                yield from self._batch(made, cells)
                continue
            expected = _place(self._places, lines, expected)
            yield from self._batch(lines, rows)
        if self._marks:
            self._marks.settle()
        self._tell_end()
        if self._unfolding:
            self._unfolding.tell_empty(empty)
        if expected == 1:
            raise InvalidInput(
                Message("the file holds no rows, only the names of its columns"), where=self._table.where
            )

    def _number_marks(self) -> NumberMarks | None:
        """Marks in the columns of numbers; None where the decimal mark is named."""
        if self._reading.decimal is not None:
            return None
        named = {each.column for each in self._fields if each and each.kind in {"number", "integer"}}
        if of := self._unfolding:
            named |= {
                column
                for place in of.columns
                for column, source in zip(place, of.sources, strict=True)
                if source in named
            }
        columns = {name: place for place, name in enumerate(self._table.names) if name in named}
        marks = (file_setting("decimal", DECIMALS[0]), MARKS[1])
        return NumberMarks(self._table.where, columns, semicolons=self._table.decimal_commas, marks=marks)

    def _cells(self) -> Iterator[tuple[Sequence[int], Sequence[Sequence[object]]]]:
        """Batches of rows; cells that say that there is no value are empty."""
        for lines, rows in self._table.rows():
            known = [[self._known(cell) for cell in row] for row in rows] if self._reading.missing else rows
            if self._marks:
                self._marks.see(lines, known)
            yield lines, known

    def _known(self, cell: object) -> object:
        """A cell; an empty one in place of what says that there is no value, which is counted."""
        if not (isinstance(cell, str) and cell and cell.strip() in self._reading.missing):
            return cell
        self._missing += 1
        return ""

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
                if self._unfolding:
                    column = self._unfolding.column(column, cast("int", row[-1]))
                raise InvalidInput(error.problem, where=self._table.where, line=line, field=column) from None
        try:
            return self._row_type(*values)
        except InvalidInput as error:
            field = self._places.column(error.field)
            raise InvalidInput(error.problem, where=self._table.where, line=line, field=field) from None

    def _tell_beginning(self) -> None:
        read = {self._names[index] for index in self._takes if index >= 0}
        unread = self._reading.unread(self._names, read)
        self._said = self._table.detected
        parts = [f"read{self._said}"] if self._said else []
        parts += [f"columns not read: {column_names(unread)}"] if unread else []
        if parts:
            self._reading.tell(self._table.where, "; ".join(parts))
        if self._unfolding:
            self._unfolding.tell()

    def _tell_end(self) -> None:
        parts: list[str] = [f"read{self._table.detected}"] if self._table.detected != self._said else []
        if self._missing:
            named = Setting("missing")
            parts.append(
                Message("{cells} that {missing} names, taken as empty", cells=_cells(self._missing), missing=named)
            )
        for each in filter(None, self._fields):
            parts += [f"{_cells(each.empty, 'empty ')} in {each.column}, taken as empty texts"] if each.empty else []
            parts += [f"decimal commas in {each.column}"] if each.commas else []
            parts += [f"merged cells in {each.column}, whose value counts for each row"] if each.merged else []
            filled = _cells(each.filled, "empty ")
            parts += [f"{filled} in {each.column}, taken as the cell above"] if each.filled else []
        if parts:
            self._reading.tell(self._table.where, Message("{parts}", parts=Listed(parts, last="; ", between="; ")))


def _cells(n: int, kind: str = "") -> str:
    return f"{n:,} {kind}cell{'s' * (n != 1)}"


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


def _unfolded(
    of: Unfolding, names: Sequence[str], lines: Sequence[int], rows: Sequence[Sequence[object]], empty: dict[str, int]
) -> tuple[list[int], list[list[object]]]:
    """Rows that are made of rows with several texts, each with its place as the last cell, and their lines."""
    index = {name: at for at, name in enumerate(names)}
    columns = {name: list(map(itemgetter(at), rows)) for name, at in index.items()}
    pairs = of.pairs(len(rows), columns, empty)
    made: list[list[object]] = []
    for number, place in pairs:
        row = rows[number]
        made.append([*row, *of.added(place, lambda name, row=row: row[index[name]]), place])  # type: ignore[misc]
    return [lines[number] for number, _ in pairs], made


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
    value = decoded(cell)
    return without_apostrophe(value) if isinstance(value, str) else value
