"""Wide tables: one column per metric, or per annotator, as rows."""

from __future__ import annotations

from array import array
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeVar, cast

import msgspec

from postil.data.checks import coerce_ids, coerce_numbers
from postil.data.column_patterns import is_folded
from postil.data.row_locations import LocatedRows, RowLocations
from postil.data.rows import Judgement, Row, Score
from postil.errors import InvalidInput, UsageError
from postil.messages import Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from postil.data.reading import Reading
    from postil.data.row_locations import Source

__all__ = ["MELTED", "read_wide", "wide_type"]

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
