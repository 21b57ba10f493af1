"""Tables and records become rows: cells are converted as fields ask, values of records are taken as they are."""

from __future__ import annotations

from datetime import date
from itertools import islice, repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeAlias, TypeVar, cast

import msgspec

from postil.data.cells import MARKS, BrokenCell, CellField, NumberMarks, constants_of, decoded
from postil.data.delimited import column_names
from postil.data.escaping import without_apostrophe
from postil.data.explain import explain, file_setting, lacking, unlike
from postil.data.reading import DECIMALS, NESTED, Reading
from postil.data.rows import Candidate, Reference, Row
from postil.data.wide import unfolding
from postil.errors import InvalidInput
from postil.messages import Hint, Listed, Message, Setting

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from postil.data.row_locations import RowLocations
    from postil.data.wide import Unfolding

__all__ = ["CellTable", "Record", "batched", "columns_wanted", "is_nested", "records_as_rows", "rows_of_table"]

T = TypeVar("T", bound=Row)
Record: TypeAlias = "Mapping[str, object]"
BATCH: Final = 4096

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
        self._constants = constants_of(row_type, reading)
        self._stem = ""
        if issubclass(row_type, Candidate) and "system" not in reading.columns and "system" not in names:
            self._stem = reading.system_of(where)
        read = {*self._sources.values(), *(source.partition(".")[0] for source in self._sources.values())}
        read |= {NESTED} if self.nested else set()
        self.unread = reading.unread(names, read)
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
                raise InvalidInput(unlike("a text or an object", element), field=f"{source}[{place}]")

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
            raise self._reading.no_column(self._where, [name], self.names, line)

    def problem(self, record: Record, value: dict[str, object], error: Exception) -> InvalidInput:
        """Make the error for a row that is none."""
        missing = [name for name in self.required if name not in value]
        if missing:
            advice: str = ""
            if unnamed := [name for name in missing if name not in self._reading.columns]:
                advice = Hint(
                    "; for another name: {columns}",
                    "; for other names: {columns}",
                    count=len(unnamed),
                    columns=self._reading.column_setting(*unnamed),
                )
            kind = self.row_type.__name__.lower()
            problem = lacking(kind, self.required, column_names(list(record)), advice=advice)
            return InvalidInput(problem, field=", ".join(self._sources[name] for name in missing))
        field, found = explain(value, self.row_type) or ("", str(error))
        return InvalidInput(found, field=field)


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

    >>> from postil.data.reading import Reading
    >>> from postil.data.row_locations import RowLocations
    >>> names = {"item": "id", "text": "out.text", "system": "=mine"}
    >>> records = [{"id": 7, "out": {"text": "Rain"}}]
    >>> list(records_as_rows(batched(records), Candidate, Reading(columns=names), RowLocations("answers")))
    [Candidate(item='7', system='mine', text='Rain')]
    """
    picks: _Picks[T] | None = None
    unfolded: Unfolding | None = None
    empty: dict[str, int] = {}
    for numbers, whole in batches:
        lines, records = numbers, whole
        if picks is None:
            names = list(dict.fromkeys(name for record in records for name in record))
            unfolded = unfolding(row_type, reading, names, places.where)
            reading = unfolded.reading if unfolded else reading
        if unfolded:
            lines, records = _unfolded_records(unfolded, lines, records, empty)
        if picks is None:
            picks = _Picks(row_type, reading, places.where, records)
            if tell and picks.unread:
                reading.tell(places.where, f"fields not read: {column_names(picks.unread)}")
            if unfolded:
                unfolded.tell()
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
        raise InvalidInput(Message("the file holds no rows"), where=places.where)
    if unfolded:
        unfolded.tell_empty(empty)
    picks.check_seen(None)


def _unfolded_records(
    of: Unfolding, lines: Sequence[int], records: Sequence[Record], empty: dict[str, int]
) -> tuple[list[int], list[Record]]:
    """Records that are made of records with several texts, and their lines."""
    used = {column for place in of.columns for column in place}
    columns = {column: [record.get(column) for record in records] for column in used}
    pairs = of.pairs(len(records), columns, empty)
    names = of.names([])
    kept = [{name: value for name, value in record.items() if name not in used} for record in records]
    made = [
        {**kept[number], **dict(zip(names, of.added(place, records[number].get), strict=True))}
        for number, place in pairs
    ]
    return [lines[number] for number, _ in pairs], list(made)


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
    if unfolded := unfolding(row_type, reading, names, where):
        found |= {column for place in unfolded.columns for column in place}
        names, reading = [*names, *unfolded.names([])], unfolded.reading
    required = [each.encode_name for each in msgspec.structs.fields(row_type) if each.required]
    missing: list[str] = []
    for name, source in reading.sources(row_type).items():
        head = source if source in names else source.partition(".")[0]
        if head in names:
            found.add(head)
        elif source.startswith("=") or not source or nested or (issubclass(row_type, Candidate) and name == "system"):
            continue
        elif name in reading.columns or name in required:
            missing.append(name)
    if missing:
        raise reading.no_column(where, missing, names, None)
    return found - ({*unfolded.names([])} if unfolded else set())


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
