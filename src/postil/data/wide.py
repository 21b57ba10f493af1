"""Tables whose columns are several rows each: a metric or an annotator per column, or texts of systems side by side."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeVar, cast

import msgspec

from postil.data.delimited import column_names
from postil.data.explain import shown
from postil.data.fields import coerce_ids, coerce_numbers
from postil.data.reading import is_folded, parts_of, pattern_of
from postil.data.row_locations import LocatedRows, RowLocations
from postil.data.rows import Candidate, Judgement, Reference, Row, Score
from postil.errors import InvalidInput, UsageError, nearest
from postil.messages import Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from postil.data.reading import Reading
    from postil.data.row_locations import Source

__all__ = ["MELTED", "Unfolding", "read_wide", "unfolding", "wide_type"]

T = TypeVar("T", Score, Judgement)

MELTED: Final[Mapping[type[Row], tuple[str, str]]] = MappingProxyType(
    {Score: ("metric", "score"), Judgement: ("annotator", "grade")}
)
"""Field of the name and field of the value of the rows that a wide table has as columns."""


def read_wide(
    read: Callable[[type[Row], Reading], LocatedRows[Row]], row_type: type[T], names: Sequence[str], reading: Reading
) -> LocatedRows[T]:
    r"""Read rows from a table with one column per name; an empty cell is no row.

    Args:
        read: Function that reads rows of a type from the table.
        row_type: `Score` (a column is a metric) or `Judgement` (a column is an annotator).
        names: The columns; `Rater *` is all of that pattern.
        reading: Format, mapping of the other columns and more.

    Raises:
        UsageError: A column is named twice, or is a field of the row.
        InvalidInput: As `read`, or all cells are empty.

    >>> import functools, pathlib, tempfile
    >>> from postil.data.reading import Reading
    >>> from postil.data.row_files import read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (path := pathlib.Path(folder, "s.csv")).write_text("item,system,bleu,own\na1,a,0.5,\na2,a,0.25,3\n")
    ...     for row in read_wide(functools.partial(read, path), Score, ["bleu", "own"], Reading()):
    ...         print(row.item, row.metric, row.score)
    a1 bleu 0.5
    a2 bleu 0.25
    a2 own 3.0
    """
    for field in MELTED[row_type]:
        if field in reading.columns:
            raise UsageError(
                "{column} names the {field}, and each of {names} is a column of its own",
                column=Setting("column", instead="columns"),
                field=field,
                names=", ".join(names),
            )
    if any(map(is_folded, names)):
        columns = {**reading.columns, MELTED[row_type][1]: "|".join(names)}
        return cast("LocatedRows[T]", read(row_type, replace(reading, columns=MappingProxyType(columns))))
    columns = {**reading.columns, **{name: name for name in names}}
    source = read(wide_type(row_type, names), replace(reading, columns=MappingProxyType(columns)))
    places = _WideLocations(source.places, names, MELTED[row_type][1])
    return LocatedRows(_melted(source, row_type, names, places, reading), places)


def wide_type(row_type: type[Score | Judgement], names: Sequence[str]) -> type[Row]:
    """Row type with one optional number per name, in place of the fields of a name and a value.

    Args:
        row_type: `Score` or `Judgement`.
        names: The names.

    Raises:
        UsageError: A name stands twice, or is a field of the row.

    >>> [each.encode_name for each in msgspec.structs.fields(wide_type(Judgement, ["Ann", "Bob"]))]
    ['item', 'system', 'aspect', 'Ann', 'Bob']
    """
    kept = [each for each in msgspec.structs.fields(row_type) if each.name not in MELTED[row_type]]
    known = [each.name for each in kept]
    for name in names:
        if names.count(name) > 1 or name in known:
            problem = "stands twice" if names.count(name) > 1 else "is a field of its own"
            raise UsageError(f"the column {name} {problem}; name the columns of numbers, each once")
    attributes = {f"number_{place}": name for place, name in enumerate(names)}
    ids = [each.name for each in kept if each.required]

    def check(row: msgspec.Struct) -> None:
        coerce_ids(row, *ids)
        for attribute, name in attributes.items():
            try:
                coerce_numbers(row, attribute, optional=True)
            except InvalidInput as error:
                raise InvalidInput(error.problem, field=name) from None

    fields: list[tuple[str, object] | tuple[str, object, object]] = [
        (each.name, each.type) if each.required else (each.name, each.type, each.default) for each in kept
    ]
    numbers = [(attribute, float | None, None) for attribute in attributes]
    made = msgspec.defstruct(
        f"Wide{row_type.__name__}",
        [*fields, *numbers],
        bases=(Row,),
        rename=attributes,
        frozen=True,
        gc=False,
        namespace={"__post_init__": check},
    )
    return cast("type[Row]", made)


def _melted(
    source: Source[Row], row_type: type[T], names: Sequence[str], places: _WideLocations, reading: Reading
) -> Iterator[T]:
    name_field, value_field = MELTED[row_type]
    attributes = [f"number_{place}" for place in range(len(names))]
    empty = dict.fromkeys(names, 0)
    others = [each.name for each in msgspec.structs.fields(row_type) if each.name not in {name_field, value_field}]
    for index, row in enumerate(source):
        shared = {field: getattr(row, field) for field in others}
        for place, (name, attribute) in enumerate(zip(names, attributes, strict=True)):
            number = getattr(row, attribute)
            if number is None:
                empty[name] += 1
                continue
            places.origin.append(index * len(names) + place)
            yield row_type(**shared, **{name_field: name, value_field: number})
    if not places.origin:
        raise InvalidInput(f"expected numbers in {', '.join(names)}, got empty cells alone", where=places.where)
    counts = [f"{count:,} in {name}" for name, count in empty.items() if count]
    if counts:
        reading.tell(places.where, f"empty cells, taken as no {value_field}: {', '.join(counts)}")


class _WideLocations(RowLocations):
    """Locations of rows that were made from the cells of a wide table.

    Args:
        source: Locations of the rows of the table.
        names: Columns that were melted.
        value: Field of their numbers.
    """

    __slots__ = ("_names", "_source", "_value", "origin")

    def __init__(self, source: RowLocations, names: Sequence[str], value: str) -> None:
        super().__init__(source.where)
        self._source, self._names, self._value = source, names, value
        self.origin = array("q")  # of each row the cell: row of the table * columns + column

    def line(self, index: int) -> int:
        """See `RowLocations.line`."""
        return self._source.line(self.origin[index] // len(self._names))

    def fields(self, index: int) -> tuple[str, ...] | None:
        """See `RowLocations.fields`."""
        return self._source.fields(self.origin[index] // len(self._names))

    def error(self, index: int, field: str, problem: str) -> InvalidInput:
        """See `RowLocations.error`."""
        row, column = divmod(self.origin[index], len(self._names))
        return self._source.error(row, self._names[column] if field == self._value else field, problem)


SUBJECTS: Final[Mapping[type[Row], tuple[str, str]]] = MappingProxyType(
    {
        Candidate: ("text", "system"),
        Judgement: ("grade", "annotator"),
        Score: ("score", "metric"),
        Reference: ("text", ""),
    }
)
"""By type of row: the field that has a column per row, and the field that the column names, if it names one."""


@dataclass(frozen=True, slots=True)
class Unfolding:
    """Rows of a table, of which each has several texts, grades or scores.

    Args:
        row_type: The rows that are made.
        reading: Options of reading them: a field has the column that `sources` calls it, the name of a place
            the column `named`.
        sources: For each field that has several columns, their common name.
        columns: For each place, the column of each of these fields.
        labels: For each place, its name: the system, annotator or metric.
        named: Column of that name; empty if rows have none.
        where: The table.
    """

    row_type: type[Row]
    reading: Reading
    sources: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    labels: tuple[str, ...]
    named: str
    where: str

    def names(self, names: Sequence[str]) -> list[str]:
        """Columns of the rows that are made; what was unfolded has no name any more.

        Args:
            names: Columns of the table.
        """
        used = {column for place in self.columns for column in place} - {*self.reading.columns.values()}
        kept = ["" if name in used else name for name in names]
        return [*kept, *self.sources, *([self.named] if self.named else [])]

    def pairs(
        self, count: int, columns: Mapping[str, Sequence[object]], empty: dict[str, int]
    ) -> list[tuple[int, int]]:
        """Find row and place of each row that is made; a place without any value is none, unless it is a candidate's.

        Args:
            count: Number of rows of the table.
            columns: Their cells by column.
            empty: Number of places without a value by column, which is counted.
        """
        cells = [[columns[column] for column in place] for place in self.columns]
        keeps = issubclass(self.row_type, Candidate)
        found = []
        for row in range(count):
            for place, several in enumerate(cells):
                if keeps or not all(_is_empty(values[row]) for values in several):
                    found.append((row, place))
                else:
                    name = self.columns[place][0]
                    empty[name] = empty.get(name, 0) + 1
        return found

    def added(self, place: int, cell: Callable[[str], object]) -> list[object]:
        """Cells of a row that is made, besides those of the table.

        Args:
            place: Its place.
            cell: Function from a column to the cell of the table's row.
        """
        return [*map(cell, self.columns[place]), *([self.labels[place]] if self.named else [])]

    def column(self, source: str, place: int) -> str:
        """Column of the table that a cell came from, for messages.

        Args:
            source: Column of the row that was made.
            place: The place.
        """
        return self.columns[place][self.sources.index(source)] if source in self.sources else source

    def tell(self) -> None:
        """Say how each row was read."""
        parts = []
        for place, label in zip(self.columns, self.labels, strict=True):
            name = f" ({SUBJECTS[_base(self.row_type)][1]} {shown(label)})" if self.named and label != place[0] else ""
            parts.append(" with ".join(place) + name)
        self.reading.tell(self.where, f"each row read as {len(parts)}: {column_names(parts)}")

    def tell_empty(self, empty: Mapping[str, int]) -> None:
        """Say which cells were no rows.

        Args:
            empty: Number of places without a value by column.
        """
        if empty:
            counts = ", ".join(f"{count:,} in {name}" for name, count in empty.items())
            subject = _base(self.row_type).__name__.lower()
            self.reading.tell(self.where, f"empty cells, taken as no {subject}: {counts}")


def unfolding(
    row_type: type[Row], reading: Reading, names: Sequence[str], where: str, line: int | None = None
) -> Unfolding | None:
    """Find the columns of a table that stand side by side for one field.

    Args:
        row_type: The rows to make.
        reading: Mapping, in which ``A|B`` are two columns, and ``Answer *`` all columns of that pattern. A column
            that is called like that is one column.
        names: Columns of the table.
        where: The table.
        line: Line of their names.

    Returns:
        None if each field has one column.

    Raises:
        InvalidInput: There is no such column, or the fields have different numbers of columns.

    >>> from postil.data.reading import Reading
    >>> found = unfolding(Candidate, Reading(columns={"text": "Answer *"}), ["id", "Answer A", "Answer B"], "t.csv")
    >>> found.columns, found.labels
    ((('Answer A',), ('Answer B',)), ('A', 'B'))
    """
    folded = {field: source for field, source in reading.columns.items() if is_folded(source) and source not in names}
    if not folded:
        return None
    found = {field: _columns(source, names, where, line) for field, source in folded.items()}
    value, name = SUBJECTS.get(_base(row_type), ("", ""))
    first = value if value in found else next(iter(found))
    labels = tuple(found[first])
    for field, columns in found.items():
        if len(columns) != len(labels):
            each = f"{column_names(list(found[first].values()))} for {first}, {column_names(list(columns.values()))}"
            problem = f"expected as many columns for each field; got {each} for {field}"
            raise InvalidInput(problem, where=where, line=line)
        if "*" in folded[field] and "*" in folded[first] and set(columns) != set(labels):
            odd = sorted(set(labels) ^ set(columns))[0]
            problem = f"the columns do not pair: '{odd}' is in {folded[first]} or {folded[field]} alone"
            raise InvalidInput(problem, where=where, line=line)
    paired = [
        {label: columns[label] for label in labels} if set(columns) == set(labels) else columns
        for columns in found.values()
    ]
    names_places = bool(name) and first == value and name not in reading.columns and name not in names
    named = f"{name} of {folded[first]}" if names_places else ""
    mapping = {**reading.columns, **({name: named} if named else {})}
    return Unfolding(
        row_type=row_type,
        reading=replace(reading, columns=MappingProxyType(mapping)),
        sources=tuple(folded.values()),
        columns=tuple(zip(*(each.values() for each in paired), strict=True)),
        labels=labels,
        named=named,
        where=where,
    )


def _base(row_type: type[Row]) -> type[Row]:
    return next((each for each in SUBJECTS if issubclass(row_type, each)), row_type)


def _columns(source: str, names: Sequence[str], where: str, line: int | None) -> dict[str, str]:
    """Columns that a mapping names, by the name of their place: what the star stands for, or the column itself."""
    found: dict[str, str] = {}
    for part in parts_of(source):
        if part in names:
            found[part] = part
            continue
        star, pattern = "*" in part, pattern_of(part)
        matches = [match for name in names if star and (match := pattern.fullmatch(name))]
        if not matches:
            near = None if star else nearest(part, names)
            guess = f"did you mean '{near}'? The" if near else "the"
            problem = f"no such column; {guess} file has: {column_names(names)}"
            raise InvalidInput(problem, where=where, line=line, field=part)
        found |= {match[1].strip(): match[0] for match in matches}
    return found


def _is_empty(cell: object) -> bool:
    return cell is None or cell != cell or (isinstance(cell, str) and not cell.strip())  # noqa: PLR0124 - NaN
