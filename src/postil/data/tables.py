"""Columns become rows, in one way for all tables: cells are converted as fields ask, values are taken as they are."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from contextlib import suppress
from functools import cache
from itertools import repeat
from operator import attrgetter
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET

from postil.data.advice import advised
from postil.data.cells import MARKS, BrokenCell, CellField, NumberMarks, constants_of, decoded, plain_types
from postil.data.columns import (
    Batch,
    CellTable,
    Record,
    ValueTable,
    names_within,
    numbered,
    of_cells,
    of_records,
    value_at,
)
from postil.data.delimited import column_names, names_in_short
from postil.data.escaping import without_apostrophe
from postil.data.explain import counted, explain, file_setting, lacking, load_json, noun_of, unlike
from postil.data.reading import DECIMALS, NESTED, Reading, is_folded, items_by_column, named_in, parts_of
from postil.data.recognition import recognized
from postil.data.row_locations import RowLocations, name_in_file
from postil.data.rows import Candidate, Judgement, Reference, Row, Score
from postil.data.suggestions import Label
from postil.data.synonyms import ROW
from postil.data.wide import SUBJECTS, Place, unfolding
from postil.errors import InvalidInput
from postil.messages import Hint, Listed, Message, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence


__all__ = ["ColumnSource", "TextCounts", "ValueField", "ValueRows", "is_nested", "rows_of", "tell_parts"]

T = TypeVar("T", bound=Row)
F = TypeVar("F", "CellField", "ValueField")


class ColumnSource(NamedTuple, Generic[F]):
    """Columns and constants that the fields of a row come from.

    Args:
        place: One of the rows that a row of the table has.
        fields: Each field that has a column, by its name.
        constants: Values of others that are the same in all rows.
    """

    place: Place
    fields: dict[str, F]
    constants: dict[str, object]


def _subject(row_type: type[Row], *, missing: bool) -> str:
    """The field without whose value a row is left out; empty for none.

    A label without an answer is a suggestion that nobody judged yet. A row without a number may be a mistake, so it is
    left out only where texts that hold no value are named.
    """
    if row_type is Label:
        return ANSWER
    return SUBJECTS[row_type][0] if row_type in {Judgement, Score} and missing else ""


@cache
def _needed_texts(row_type: type[Row]) -> tuple[str, ...]:
    """Fields of a row that hold text and must be there."""
    fields = msgspec.structs.fields(row_type)
    return tuple(info.encode_name for info in fields if info.required and plain_types(info) == {str})


class TextCounts:
    """Numbers of values of a table that hold no text, or may mean that there is none.

    Args:
        row_type: The rows that are made.

    Attributes:
        fields: Fields that hold text and must be there.
        named: Number of values whose text says that there is none.
        empty: Number of empty texts by column, where a text is needed.
        words: Numbers of texts by column that say, unnamed, that there is no value, as they are written.
        left_out: Number of rows without a number or an answer, which are none.

    >>> counts = TextCounts(Candidate)
    >>> counts.see_rows([Candidate("1", "a", text) for text in ("Rain.", "", "n/a", "-", "n/a")])
    >>> print(*counts.remarks(), sep="; ")
    1 empty cell in text, taken as empty texts; 3 cells in text are 'n/a' or '-', taken as texts; \
missing=["n/a", "-"] takes them as empty
    """

    def __init__(self, row_type: type[Row]) -> None:
        self.fields = _needed_texts(row_type)
        self.named = 0
        self.empty: Counter[str] = Counter()
        self.words: dict[str, Counter[str]] = {}
        self.left_out = 0
        self._answers = row_type is Label
        self._spelled = row_type.spelled

    def see(self, field: str, texts: Sequence[object], column: str = "") -> None:
        """Take note of texts, if they are of a field that may hold a word for none, or must be there.

        Args:
            field: Their field.
            texts: The texts; other values are ignored.
            column: Their column; by default called like the field.
        """
        needed, spelled = field in self.fields, field in self._spelled
        if not needed and not spelled:
            return
        column = column or field
        words = self.words.setdefault(column, Counter())  # in the order of the fields
        with suppress(TypeError):  # of a missing value
            if min(map(len, texts), default=LONGEST + 1) > LONGEST:  # type: ignore[arg-type]  # speed: nearly always
                return
        short = [text for text in texts if isinstance(text, str) and len(text) <= LONGEST]
        if needed:
            self.empty[column] += short.count("")
        for text in short if spelled else ():
            if text.strip().casefold() in NO_TEXTS:
                words[text.strip()] += 1

    def see_rows(self, rows: Sequence[Row]) -> None:
        """Take note of the texts of rows that are made already."""
        for field in dict.fromkeys((*self.fields, *self._spelled)):
            self.see(field, list(map(attrgetter(field), rows)))

    def without(self, batch: Batch, missing: Collection[str], texts: Collection[str] = ()) -> Batch:
        """A batch with nothing in place of texts that say so, which are counted.

        Args:
            batch: The batch.
            missing: The texts.
            texts: Columns of which an empty text is nothing; of others it is None.
        """

        def column(path: str) -> Sequence[object]:
            values, nothing = batch.column(path), "" if path in texts else None
            named = [isinstance(each, str) and each.strip() in missing for each in values]
            self.named += sum(named)
            return [nothing if none else each for each, none in zip(values, named, strict=True)]

        return Batch(batch.lines, cache(column), batch.keys)

    def kept(self, subjects: Sequence[object], *, cells: bool = True) -> list[int]:
        """Rows that have a number or an answer; others are counted.

        Args:
            subjects: The numbers or answers.
            cells: True where an empty text is no number; it never is an answer.
        """
        blank = cells or self._answers
        found = [row for row, each in enumerate(subjects) if not (_is_blank(each) if blank else each is None)]
        self.left_out += len(subjects) - len(found)
        return found

    def leave_out(self, line: bytes) -> bool:
        """True if a JSON object is a label without an answer, which is counted.

        Args:
            line: The object.
        """
        if not self._answers:
            return False
        with suppress(ValueError, RecursionError):
            row = load_json(line)
            if isinstance(row, dict) and ANSWER in row:
                return not self.kept([row[ANSWER]])
        return False

    def remarks(self) -> list[str]:
        """Remarks on all of them."""
        found = self.of_named()
        for column in dict.fromkeys((*self.empty, *self.words)):
            found += self.of_column(column)
        return found + self.of_left_out()

    def of_left_out(self) -> list[str]:
        """Remark on the rows without a number or an answer."""
        noun = "an answer" if self._answers else "a number"
        return [f"{counted(self.left_out, 'row')} without {noun}, left out"] if self.left_out else []

    def of_named(self) -> list[str]:
        """Remark on values that are named as none."""
        if not self.named:
            return []
        cells = _cells(self.named)
        return [Message("{cells} that {missing} names, taken as empty", cells=cells, missing=Setting("missing"))]

    def of_column(self, column: str) -> list[str]:
        """Remarks on the texts of a column.

        Args:
            column: The column.
        """
        n, words = self.empty[column], self.words.get(column, Counter[str]())
        found: list[str] = [f"{_cells(n, 'empty ')} in {column}, taken as empty texts"] if n else []
        if words:
            shown_words = json.dumps([*words], ensure_ascii=False)
            said = Message(
                "{count} cell in {column} is {words}, taken as a text; {missing} takes it as empty",
                "{count:,} cells in {column} are {words}, taken as texts; {missing} takes them as empty",
                count=sum(words.values()),
                column=column,
                words=Listed([f"'{word}'" for word in words], last=" or "),
                missing=Setting("missing", tuple(words), python=shown_words),
            )
            found.append(said)
        return found


ANSWER: Final = "show"
"""The answer of a label."""
NO_TEXTS: Final = frozenset({"-", "#n/a", "n/a", "na", "nan", "none", "null"})
"""Words, without case, that stand where programs and people have no value, and that a text may be as well."""
LONGEST: Final = 8
"""Number of characters from which on a text is none of them, with spaces around it."""


def tell_parts(reading: Reading, where: str, parts: Sequence[str]) -> None:
    """Say what was found when all rows of a table have come, in one line.

    Args:
        reading: Options of reading the table.
        where: The table.
        parts: The remarks; none for nothing to say.
    """
    if parts:
        reading.tell(where, Message("{parts}", parts=Listed(parts, last="; ", between="; ")))


class _Rows(ABC, Generic[T, F]):
    """Rows of a table, on the way.

    Args:
        table: The table.
        row_type: The row.
        reading: Mapping of columns; messages.
        places: Locations of the rows, which are recorded.
        counts: Counts of what is not taken as it stands; by default new ones.

    Raises:
        InvalidInput: A column is missing.
    """

    _texts: bool
    """True if an empty text is no value of any field."""
    _ragged = False
    _tells = True
    _spreads = False
    """True if a row of the table may have several rows of a list."""

    def __init__(
        self,
        table: CellTable | ValueTable,
        row_type: type[T],
        reading: Reading,
        places: RowLocations,
        counts: TextCounts | None = None,
    ) -> None:
        self._row_type, self._reading, self._places = row_type, reading, places
        self._where, self._names, self._line = table.where, table.names, table.line
        self._infos = {info.encode_name: info for info in msgspec.structs.fields(row_type)}
        self._unfolding = unfolding(row_type, reading, _all_names(table, reading), table.where, table.line)
        self._nested = not self._unfolding.empty and is_nested(row_type, reading, table.names)
        self._sources: list[ColumnSource[F]] = [self._source(place) for place in self._unfolding.places]
        self._numbers = ROW in reading.columns.values() and ROW not in table.names
        self._counts = counts or TextCounts(row_type)
        self._subject_field = _subject(row_type, missing=bool(reading.missing))
        self._subject = reading.columns.get(self._subject_field, self._subject_field)

    def _source(self, place: Place) -> ColumnSource[F]:
        reading, fields, missing = place.reading, dict[str, F](), list[str]()
        constants = constants_of(self._row_type, reading)
        for name, source in reading.sources(self._row_type).items():
            if name in constants or not (source or self._infos[name].required):
                continue
            if self._has(source):
                fields[name] = self._field(name, source)
            elif name not in reading.columns and (constant := self._constant(name)) is not None:
                constants[name] = constant
            elif source and (self._ragged or (self._nested and name != NESTED)):  # some rows or references may have it
                fields[name] = self._field(name, source)
            elif name in reading.columns or self._infos[name].required:
                missing.append(name)
        if missing:
            raise self._no_column(missing, reading)
        return ColumnSource(place, fields, constants)

    def _has(self, source: str) -> bool:
        """True if the table has a column."""
        return source in self._names or source == ROW

    @abstractmethod
    def _field(self, name: str, column: str) -> F:
        """A field of a row that has a column."""

    def _constant(self, name: str) -> object:
        """Value of a field that has no column: the name of the file for a system."""
        is_system = name == "system" and issubclass(self._row_type, Candidate)
        return self._reading.system_of(self._where) if is_system else None

    def _no_column(self, missing: Sequence[str], reading: Reading) -> InvalidInput:
        if items_by_column(self._reading.columns):  # which those of a place have as a constant
            reading = self._reading
        return reading.no_column(self._where, missing, self._names, self._line, self._infos)

    def _columns_read(self) -> set[str]:
        """Columns that the fields come from."""
        return {field.column for source in self._sources for field in source.fields.values()}

    def _unread(self) -> list[str]:
        """Columns that are not read."""
        read = self._columns_read()
        read |= {column.partition(".")[0] for column in read} | ({NESTED} if self._nested else set())
        return self._reading.unread(self._names, read)

    @abstractmethod
    def _batches(self) -> Iterable[Batch]:
        """The rows of the table."""

    def _kept(self, batch: Batch, place: Place) -> Sequence[int]:
        """Rows of a batch that have a value at a place."""
        if not place.columns:
            return range(len(batch.lines))
        return self._unfolding.kept(place, list(map(batch.column, place.columns)), texts=self._texts)

    @abstractmethod
    def _made(self, source: ColumnSource[F], batch: Batch) -> list[T]:
        """Rows of a batch; an error does not say which one is wrong."""

    def __iter__(self) -> Iterator[T]:
        after, count, begun = 1, 0, False
        aliases = [source.place.reading.names for source in self._sources]
        for batch in self._batches():
            kept = [self._kept(batch, source.place) for source in self._sources]
            try:
                made = [self._made(*each) for each in zip(self._sources, map(batch.only, kept), strict=True)]
            except InvalidInput:
                made = self._one_by_one(batch, list(map(set, kept)))
            if not begun:
                self._begin()
                begun = True
            if not self._unfolding.empty:
                [rows] = made
                after = _located(self._places, batch.lines, after, repeated=self._nested or self._spreads)
            else:
                order = sorted((row, place) for place, several in enumerate(kept) for row in several)
                self._places.extend([batch.lines[row] for row, _ in order], [place for _, place in order], aliases)
                several = list(map(iter, made))
                rows = [next(several[place]) for _, place in order]
            count += len(rows)
            yield from rows
        self._end()
        if self._tells or self._reading.wide:
            self._unfolding.tell_empty(count)

    def _begin(self) -> None:
        """Say what is known before the first rows, which are those that they should be."""

    def _one_by_one(self, batch: Batch, kept: Sequence[Collection[int]]) -> list[list[T]]:
        """Rows of a batch with a wrong one, which is named, if it is none of all of them."""
        column = cache(batch.column)
        made: list[list[T]] = [[] for _ in kept]
        for row, line in enumerate(batch.lines):
            one = Batch([line], lambda path: [column(path)[row]], lambda _: batch.keys(row))  # noqa: B023
            for source, rows, several in zip(self._sources, kept, made, strict=True):
                try:
                    several.extend(self._made(source, one) if row in rows else [])
                except InvalidInput as error:
                    raise InvalidInput(error.problem, where=self._where, line=line, field=error.field) from None
        return made

    def _column(self, name: str) -> str:
        """The column of a field, or the pattern of several."""
        name = NESTED if self._nested and name == "text" else name
        return self._reading.columns.get(name, name)

    @abstractmethod
    def _end(self) -> None:
        """Look at what is known when all rows have come."""


class _CellRows(_Rows[T, CellField]):
    """Rows of a table of cells, which are converted as the fields ask."""

    _texts = True

    def __init__(self, table: CellTable, row_type: type[T], reading: Reading, places: RowLocations) -> None:
        self._table = table
        super().__init__(table, row_type, reading, places)
        kinds = {field.column: field.kind for source in self._sources for field in source.fields.values()}
        at = {name: place for place, name in enumerate(table.names)}
        numbers = {} if reading.decimal else {name: at[name] for name in at if kinds.get(name) in {"number", "integer"}}
        marks = (file_setting("decimal", DECIMALS[0]), MARKS[1])
        self._marks = NumberMarks(table.where, numbers, semicolons=table.decimal_commas, marks=marks)
        self._above: dict[int, object] = {at[name]: "" for name in at if reading.fill_down and kinds.get(name) == "id"}
        self._filled = dict.fromkeys(self._above, 0)
        self._said, self._empty = table.detected, True
        self._subject_at = at.get(self._subject) if self._subject else None
        read = self._columns_read() if reading.missing else set()
        self._read_at = [place for place, name in enumerate(table.names) if name in read]
        unread = self._unread()
        parts = [f"read{self._said}"] if self._said else []
        parts += [f"columns not read: {names_in_short(unread)}"] if unread else []
        if parts:
            reading.tell(table.where, "; ".join(parts))
        self._unfolding.tell()

    def _field(self, name: str, column: str) -> CellField:
        info, table, reading = self._infos[name], self._table, self._reading
        return CellField(
            msgspec.structs.replace(info, default=None) if name == reading.wide else info,
            column,
            texts=table.texts,
            comma=table.decimal_commas,
            decimal=reading.decimal,
            fill=reading.fill_down,
        )

    def _batches(self) -> Iterable[Batch]:
        return numbered(self._cells(), ROW) if self._numbers else self._cells()

    def _cells(self) -> Iterator[Batch]:
        for numbers, rows in self._table.rows():
            lines = numbers
            self._empty = False
            known = list(map(self._known, rows)) if self._reading.missing else rows
            if self._above:
                known = list(map(self._below, known))
            if self._subject_at is not None:
                kept = self._counts.kept([cells[self._subject_at] for cells in known])
                lines, known = [lines[row] for row in kept], [known[row] for row in kept]
            self._marks.see(lines, known)
            yield of_cells(lines, known, self._names)

    def _known(self, row: Sequence[object]) -> Sequence[object]:
        """A row; of what is read, empty cells in place of those that say that there is no value, which are counted."""
        known = list(row)
        for place in self._read_at:
            cell = row[place]
            if isinstance(cell, str) and cell and cell.strip() in self._reading.missing:
                known[place] = ""
                self._counts.named += 1
        return known

    def _below(self, row: Sequence[object]) -> Sequence[object]:
        """A row; ids that are empty are those above, which are counted."""
        filled = list(row)
        for place, above in self._above.items():
            if row[place] is None or not str(row[place]).strip():
                filled[place] = above
                self._filled[place] += above != ""
        self._above = {place: filled[place] for place in self._above}
        return filled

    def _made(self, source: ColumnSource[CellField], batch: Batch) -> list[T]:
        values: list[Iterable[object]] = []
        for name, info in self._infos.items():
            if (field := source.fields.get(name)) is None:
                values.append(repeat(source.constants.get(name, info.default), len(batch.lines)))
                continue
            try:
                made = field.column_of(batch.column(field.column), apostrophes=self._table.apostrophes)
            except InvalidInput as error:
                raise InvalidInput(error.problem, field=error.field or field.column) from None
            self._counts.see(name, made, self._column(name))
            values.append(made)
        try:
            return list(map(self._row_type, *values))
        except InvalidInput as error:
            column = name_in_file(error.field, source.place.reading.names)
            said = advised(error.problem, error.field, column, self._row_type, self._reading)
            raise InvalidInput(said, field=column) from None

    def _end(self) -> None:
        self._marks.settle()
        parts: list[str] = [f"read{self._table.detected}"] if self._table.detected != self._said else []
        parts += self._counts.of_named() + self._counts.of_left_out()
        told: dict[str, list[CellField]] = {}
        for name in self._infos:
            for field in [source.fields[name] for source in self._sources if name in source.fields]:
                column = field.column if name == self._reading.wide else self._reading.columns.get(name, name)
                told.setdefault(column, []).append(field)
        filled = {self._names[place]: count for place, count in self._filled.items()}
        for column, fields in told.items():
            commas, merged = (sum(each) for each in zip(*(field.counts for field in fields), strict=True))
            parts += self._counts.of_column(column)
            parts += [f"decimal commas in {column}"] if commas else []
            parts += [f"merged cells in {column}, whose value counts for each row"] if merged else []
            above = filled.get(column)
            parts += [f"{_cells(above, 'empty ')} in {column}, taken as the cell above"] if above else []
        tell_parts(self._reading, self._where, parts)
        if self._empty:
            raise InvalidInput(Message("the file holds no rows, only the names of its columns"), where=self._where)


def _is_blank(cell: object) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _cells(n: int, kind: str = "") -> str:
    return f"{n:,} {kind}cell{'s' * (n != 1)}"


def _located(places: RowLocations, lines: Sequence[int], expected: int, *, repeated: bool) -> int:
    """Record the lines of rows; return the line after the last."""
    if repeated:
        places.extend(lines)
    elif isinstance(lines, range):
        if lines[0] > expected:
            places.skip(expected, lines[0] - expected)
        return lines[-1] + 1
    else:
        for line in lines:
            if line > expected:
                places.skip(expected, line - expected)
            expected = line + 1
    return expected


class ValueField(NamedTuple):
    """A field of a row, the column that its values come from, and the function that makes them plain, if any does."""

    column: str
    plain: Callable[[Sequence[object]], Sequence[object]] | None = None


class ValueRows(_Rows[T, ValueField]):
    """Rows of a table of values, which are taken as they are.

    Args:
        table: The table.
        row_type: The row.
        reading: Mapping of columns; messages.
        places: Locations of the rows, which are recorded.
        counts: Counts of what is not taken as it stands; by default new ones.

    Raises:
        InvalidInput: A column is missing; on the way, that a value is not what it should be: says where.
    """

    _texts = False

    def __init__(
        self,
        table: ValueTable,
        row_type: type[T],
        reading: Reading,
        places: RowLocations,
        counts: TextCounts | None = None,
    ) -> None:
        self._table, self._ragged, self._tells = table, table.ragged, bool(table.kind)
        super().__init__(table, row_type, reading, places, counts)
        each = ((source.place, name) for source in self._sources for name in source.place.reading.names)
        self._never = {(place.label, name): place.reading for place, name in each} if table.ragged else {}
        self._of_subject = [source for source in self._sources if self._is_subject(source)]
        if table.ragged:
            self._never |= {(each.place.label, self._subject_field): each.place.reading for each in self._of_subject}
        self._types = {name: plain_types(info) for name, info in self._infos.items()}
        # Fields within others, whose names are found in the first rows, and those that may stand in lists of objects.
        self._heads, self._depths = _heads(reading), _depths(reading, table.names)
        paths = self._sources[0].fields.items() if self._unfolding.empty == {} and not self._nested else ()
        self._listed = {name: field.column for name, field in paths if "." in field.column and self._types[name]}
        self._spreads, self._no_elements = False, 0
        self._unnamed = table.ragged and "system" in self._sources[0].constants.keys() - reading.columns.keys()

    def _begin(self) -> None:
        if not self._tells:
            return
        if unread := self._unread():
            self._reading.tell(self._where, f"{self._table.kind} not read: {names_in_short(unread)}")
        self._unfolding.tell()

    def _has(self, source: str) -> bool:
        return source == ROW or source in self._names or source.partition(".")[0] in self._names

    def _field(self, name: str, column: str) -> ValueField:  # noqa: ARG002
        return ValueField(column)

    def _constant(self, name: str) -> object:
        return super()._constant(name) if self._table.kind else None

    def _batches(self) -> Iterable[Batch]:
        batches = self._table.batches([name for name in self._names if name not in self._unread()])
        batches = numbered(batches, ROW) if self._numbers else batches
        if self._heads:
            batches = map(self._as_known, batches)
        if self._listed:
            batches = map(self._spread, batches)
        batches = map(self._references, batches) if self._nested else batches
        batches = map(self._as_named, batches) if self._reading.missing else batches
        return map(self._answered, batches) if self._of_subject else batches

    def _as_named(self, batch: Batch) -> Batch:
        """A batch without the texts that are named as none."""
        fields = [
            source.fields[name] for source in self._sources for name in self._counts.fields if name in source.fields
        ]
        return self._counts.without(batch, self._reading.missing, {field.column for field in fields})

    def _answered(self, batch: Batch) -> Batch:
        """A batch without the rows that lack their number or answer."""
        subjects = batch.column(self._subject)
        for source in self._of_subject:
            self._see(source.place, self._subject_field, subjects)
        if self._reading.missing:
            subjects = [None if subject is UNSET else subject for subject in subjects]
        return batch.only(self._counts.kept(subjects, cells=False))

    def _is_subject(self, source: ColumnSource[ValueField]) -> bool:
        """True if a row without the number or answer of a source is none."""
        return self._subject_field in source.fields and source.fields[self._subject_field].column == self._subject

    def _as_known(self, batch: Batch) -> Batch:
        """A batch; a field within another that the pattern names and the first rows have not is refused."""
        known = set(_all_names(self._table, self._reading))
        for pattern in self._heads:
            head = pattern.partition(".")[0]
            for line, value in zip(batch.lines, batch.column(head), strict=True):
                names = names_within([value], head, self._depths[head])
                new = [name for name in names if name not in known and named_in(pattern, name)]
                if new:
                    problem = f"the rows before have no such field, which {pattern} names; name the fields one by one"
                    raise InvalidInput(problem, where=self._where, line=line, field=new[0])
        return batch

    def _spread(self, batch: Batch) -> Batch:
        """A batch with a row for each element of the lists that hold its fields, as ``outputs.text`` does.

        Raises:
            InvalidInput: An element has no value; says where.
        """
        columns = {path: batch.column(path) for path in self._listed.values()}
        if not any(isinstance(each, list) for values in columns.values() for each in values):
            return batch
        self._spreads = True
        of: list[int] = []
        flat: dict[str, list[object]] = {path: [] for path in columns}
        for row, line in enumerate(batch.lines):
            here = {path: values[row] for path, values in columns.items()}
            sizes = [len(value) for value in here.values() if isinstance(value, list)]
            size = max(sizes, default=1)
            of += [row] * size
            self._no_elements += not size
            for path, value in here.items():
                if value is UNSET and size and (problem := _lack(batch, row, path)):
                    raise InvalidInput(problem, where=self._where, line=line, field=path)
                flat[path] += value if isinstance(value, list) else [value] * size

        def column(path: str) -> Sequence[object]:
            if path in flat:
                return flat[path]
            values = columns[path] if path in columns else batch.column(path)
            return [values[row] for row in of]

        return Batch([batch.lines[row] for row in of], column, lambda place: batch.keys(of[place]))

    def _kept(self, batch: Batch, place: Place) -> Sequence[int]:
        for name in place.reading.names if place.columns else ():
            self._see(place, name, batch.column(place.reading.names[name]))
        return super()._kept(batch, place)

    def _see(self, place: Place, name: str, values: Sequence[object]) -> Sequence[object]:
        """Take note that a column is there, if it is."""
        if self._never and any(value is not UNSET for value in values):
            self._never.pop((place.label, name), None)
        return values

    def _made(self, source: ColumnSource[ValueField], batch: Batch) -> list[T]:
        if self._unnamed and any(value is not UNSET for value in batch.column("system")):
            raise InvalidInput("the rows before have none; give all rows a system, or none", field="system")
        n, fit = len(batch.lines), True
        columns: dict[str, Sequence[object]] = {name: [value] * n for name, value in source.constants.items()}
        for name, field in source.fields.items():
            path = _ITEM if self._nested and name == "item" else field.column
            columns[name], fits = self._fitting(name, field, self._see(source.place, name, batch.column(path)))
            self._counts.see(name, columns[name], self._column(name))
            fit = fit and fits
        absent = {name: info.default for name, info in self._infos.items() if name not in columns}
        if fit and msgspec.NODEFAULT not in absent.values():
            with suppress(InvalidInput):
                several = (repeat(absent[name], n) if name in absent else columns[name] for name in self._infos)
                return list(map(self._row_type, *several))
        made: list[dict[str, object]]
        made = [dict(zip(columns, each, strict=True)) for each in zip(*columns.values(), strict=True)]
        if any(value is UNSET for each in columns.values() for value in each):
            made = [{name: value for name, value in each.items() if value is not UNSET} for each in made]
        try:
            return msgspec.convert(made, list[self._row_type])  # type: ignore[name-defined]
        except FAILURES:
            return [self._row(source, self._there(batch, row), each) for row, each in enumerate(made)]

    def _fitting(self, name: str, field: ValueField, values: Sequence[object]) -> tuple[Sequence[object], bool]:
        """Values of a field, and whether the row takes them without conversion, and needs no dictionary therefore."""
        wanted, types = self._types.get(name, frozenset()), set(map(type, values))
        if field.plain and not types <= wanted:
            values = field.plain(values)
            types = set(map(type, values))
        if types <= wanted and int in types and float in wanted:
            with suppress(OverflowError):
                return [float(each) if isinstance(each, int) else each for each in values], True
            return values, False
        return values, types <= wanted

    def _references(self, batch: Batch) -> Batch:
        """The references of a batch whose rows each have all of an item.

        Raises:
            InvalidInput: One is neither text nor object, or has no grade beside it; says where.
        """
        [(place, fields, _)] = self._sources
        columns = {name: fields[name].column for name in ("text", "grade", "weight", "upvotes") if name in fields}
        nested, item = (place.reading.columns.get(name, name) for name in (NESTED, "item"))
        beside = {
            column: self._see(place, name, batch.column(column)) for name, column in columns.items() if name != "text"
        }
        items = self._see(place, "item", batch.column(item))
        of: list[int] = []
        records: list[Record] = []
        for row, elements in enumerate(self._see(place, NESTED, batch.column(nested))):
            own = {column: values[row] for column, values in beside.items() if values[row] is not UNSET}
            try:
                several = _each_reference(elements, own, columns["text"], nested, batch.keys(row))
            except InvalidInput as error:
                line = batch.lines[row]
                problem = advised(error.problem, NESTED, error.field, self._row_type, self._reading)
                raise InvalidInput(problem, where=self._where, line=line, field=error.field) from None
            records += [
                {**each, _ITEM: value_at(each, item) if items[row] is UNSET else items[row]} for each in several
            ]
            of += [row] * len(several)
        flat = of_records([batch.lines[row] for row in of], records)
        return Batch(flat.lines, flat.column, lambda place: batch.keys(of[place]))

    def _row(self, source: ColumnSource[ValueField], there: Iterable[str], value: dict[str, object]) -> T:
        """Make one row, or say what is wrong with it."""
        try:
            return msgspec.convert(value, self._row_type)
        except FAILURES as error:
            if missing := [name for name, info in self._infos.items() if info.required and name not in value]:
                field = ", ".join(source.fields[name].column for name in missing)
                raise InvalidInput(self._lacking(source, missing, there), field=field) from None
            field, found = explain(value, self._row_type) or ("", str(error))
            column = name_in_file(field, source.place.reading.names)
            raise InvalidInput(advised(found, field, column, self._row_type, self._reading), field=column) from None

    def _there(self, batch: Batch, row: int) -> list[str]:
        """Names of the fields of a row, with those within a field that is looked into."""
        found: list[str] = []
        heads = {path.partition(".")[0] for path in self._reading.names.values() if "." in path}
        for name in batch.keys(row):
            found += (names_within([batch.column(name)[row]], name) if name in heads else []) or [name]
        return found

    def _lacking(self, source: ColumnSource[ValueField], missing: Sequence[str], there: Iterable[str]) -> Message:
        reading = source.place.reading
        advice: str = ""
        if unnamed := [name for name in missing if name not in reading.columns]:
            advice = Hint(
                "; for another name: {columns}",
                "; for other names: {columns}",
                count=len(unnamed),
                columns=reading.column_setting(*unnamed),
            )
        if "text" in missing and source.place.columns:
            advice = "; where a system has no text for an item, write an empty one"
        needed = [name for name, info in self._infos.items() if info.required]
        return lacking(noun_of(self._row_type), needed, column_names(list(there)), advice=advice)

    def _end(self) -> None:
        for (_, name), reading in self._never.items():
            raise reading.no_column(self._where, [name], _all_names(self._table, reading), fields=self._infos)
        if self._no_elements and self._tells:
            what = counted(self._no_elements, "empty list")
            self._reading.tell(self._where, f"{what}, taken as no {self._row_type.__name__.lower()}")
        tell_parts(self._reading, self._where, self._counts.remarks())


def _lack(batch: Batch, row: int, path: str) -> str:
    """The problem with a list of which some elements have no value at a path; empty where it is no list."""
    head, _, rest = path.rpartition(".")
    elements = batch.column(head)[row]
    if not isinstance(elements, list):
        return ""
    number = next((n for n, each in enumerate(elements, 1) if value_at(each, rest) is UNSET), 0)
    names = column_names([name.removeprefix(f"{head}.") for name in names_within(elements, head)])
    return (
        f"expected a value in each element of the list, which have {names}; got none in element {number} of "
        f"{len(elements)}: leave the element out where there is none, or write an empty text"
    )


def _heads(reading: Reading) -> list[str]:
    """Patterns of fields within others."""
    folded = [part for source in reading.columns.values() if is_folded(source) for part in parts_of(source)]
    return [part for part in folded if "*" in part and "." in part.partition("*")[0]]


def _all_names(table: CellTable | ValueTable, reading: Reading) -> list[str]:
    """Columns of a table, with the fields within those that a mapping looks into."""
    if not isinstance(table, ValueTable):
        return table.names
    depths = {head: depth for head, depth in _depths(reading, table.names).items() if head in table.names}
    found = [name for head, depth in depths.items() for name in names_within(table.first(head), head, depth)]
    return [*(name for name in table.names if name not in depths or not found), *found]


def _depths(reading: Reading, names: Collection[str]) -> dict[str, int]:
    """By field that a mapping looks into, the largest number of names behind it.

    Args:
        reading: The mapping.
        names: Columns of the table, which may have points in their names.
    """
    found: dict[str, int] = {}
    for part in [part for source in reading.names.values() for part in parts_of(source) if part not in names]:
        head, *rest = part.split(".")
        if rest:
            found[head] = max(len(rest), found.get(head, 1))
    return found


_ITEM: Final = "\0item"
"""Name of the item in records of references that have one of their own, which may have another field of its name."""


def _each_reference(elements: object, beside: Record, text: str, field: str, there: Iterable[str]) -> list[Record]:
    """Records of the references in a row: objects, or texts with what stands beside them."""
    if elements is UNSET or elements is None:
        raise InvalidInput(f"missing; this row has: {column_names(list(there))}", field=field)
    several = elements if isinstance(elements, list | tuple) else [elements]
    lists = {column: each for column, each in beside.items() if isinstance(each, list | tuple)}
    for column, each in lists.items():
        if len(each) != len(several):
            raise InvalidInput(f"expected {len(several)} values, one per reference, got {len(each)}", field=column)
    found: list[Record] = []
    for place, element in enumerate(several):
        if isinstance(element, dict):
            found.append(element)
        elif isinstance(element, str):
            found.append({**beside, **{column: each[place] for column, each in lists.items()}, text: element})
        else:
            raise InvalidInput(unlike("a text or an object", element), field=f"{field}[{place}]")
    return found


FAILURES: Final = (msgspec.ValidationError, InvalidInput)
"""Errors of making a row."""


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


def rows_of(table: CellTable | ValueTable, row_type: type[T], reading: Reading, places: RowLocations) -> Iterator[T]:
    """Rows of a table.

    Args:
        table: The table.
        row_type: The row.
        reading: Mapping of columns; messages.
        places: Locations of the rows, which are recorded.

    Yields:
        The rows.

    Raises:
        InvalidInput: A column is missing, or a value is not what its field holds; says where.
    """
    lists = isinstance(table, ValueTable)
    reading = recognized(row_type, reading, table.names, table.where, table.line, lists=lists)
    places.rename(reading.names)
    if isinstance(table, ValueTable):
        yield from ValueRows(table, row_type, reading, places)
    elif is_nested(row_type, reading, table.names):
        yield from ValueRows(ValueTable.of(_nested_cells(table, reading), table.where), row_type, reading, places)
    else:
        yield from _CellRows(table, row_type, reading, places)


def _nested_cells(table: CellTable, reading: Reading) -> Iterator[Batch]:
    """Records of a table of cells in which a cell holds all references of an item."""
    for lines, rows in table.rows():
        records = []
        for line, row in zip(lines, rows, strict=True):
            try:
                records.append({name: _value(cell) for name, cell in zip(table.names, row, strict=True)})
            except InvalidInput as error:
                column = reading.columns.get(NESTED, NESTED)
                raise InvalidInput(error.problem, where=table.where, line=line, field=column) from None
        yield of_records(lines, records)


def _value(cell: object) -> object:
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    if cell == "":
        return None
    if isinstance(cell, BrokenCell):
        raise InvalidInput(f"expected {cell}")
    value = decoded(cell)
    return without_apostrophe(value) if isinstance(value, str) else value
