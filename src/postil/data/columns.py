"""Tables that are open: batches of rows of which columns are taken, whatever holds them.

Cells are of text tables and workbooks, and are converted as the fields of a row ask; values are of JSON, Parquet, Arrow
and of tables in memory, and are taken as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Protocol, TypeAlias

from msgspec import UNSET

from postil.errors import InvalidInput
from postil.messages import Message

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

__all__ = [
    "Batch",
    "CellTable",
    "Record",
    "ValueTable",
    "in_columns",
    "names_within",
    "numbered",
    "of_cells",
    "of_records",
    "value_at",
]

Record: TypeAlias = "Mapping[str, object]"


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rows of a table, of which columns are taken.

    Args:
        lines: The line of each row.
        column: Function from a column, or a path to a field within one, to the cells or values of the rows; where a
            row has none, to `msgspec.UNSET`.
        keys: Function from a row's place in the batch to the names of its fields.
    """

    lines: Sequence[int]
    column: Callable[[str], Sequence[object]]
    keys: Callable[[int], Iterable[str]]

    def only(self, rows: Sequence[int]) -> Batch:
        """Some of the rows.

        Args:
            rows: Their places in the batch, ascending.
        """
        if len(rows) == len(self.lines):
            return self
        if isinstance(rows, range):
            here = slice(rows.start, rows.stop)
            return Batch(self.lines[here], lambda path: self.column(path)[here], self.keys)
        return Batch(
            [self.lines[row] for row in rows],
            lambda path: list(map(self.column(path).__getitem__, rows)),
            lambda row: self.keys(rows[row]),
        )


def in_columns(lines: Sequence[int], names: Collection[str], values: Callable[[str], Sequence[object]]) -> Batch:
    """A batch of rows that have the same columns, whose values are made when they are asked for.

    Args:
        lines: The line of each row.
        names: The columns.
        values: Function from a column to its values.
    """

    def column(path: str) -> Sequence[object]:
        head, _, rest = path.partition(".")
        if path in names or head not in names:
            return values(path) if path in names else [UNSET] * len(lines)
        return [value_at(value, rest) for value in values(head)]

    return Batch(lines, column, lambda _: names)


def numbered(batches: Iterable[Batch], column: str) -> Iterator[Batch]:
    """Add a column with the number of each row, counted from 1, to the batches of a table.

    Args:
        batches: The batches.
        column: Name of the column.

    >>> [list(batch.column("#")) for batch in numbered([of_records([2, 4], [{}, {}]), of_records([5], [{}])], "#")]
    [['1', '2'], ['3']]
    """
    done = 0
    for batch in batches:
        numbers = [str(done + number) for number in range(1, len(batch.lines) + 1)]
        yield _with_column(batch, column, numbers)
        done += len(numbers)


def _with_column(batch: Batch, column: str, values: Sequence[object]) -> Batch:
    return Batch(batch.lines, lambda path: values if path == column else batch.column(path), batch.keys)


def of_cells(lines: Sequence[int], rows: Sequence[Sequence[object]], names: Sequence[str]) -> Batch:
    """A batch of rows of cells.

    Args:
        lines: The line of each row.
        rows: The rows.
        names: Their columns.
    """
    return Batch(lines, lambda name: list(map(itemgetter(names.index(name)), rows)), lambda _: names)


def of_records(lines: Sequence[int], records: Sequence[Record]) -> Batch:
    """A batch of records, which need not have the same fields.

    Args:
        lines: The line of each record.
        records: The records.
    """

    def column(path: str) -> list[object]:
        values = [record.get(path, UNSET) for record in records]
        if "." not in path:
            return values
        pairs = zip(records, values, strict=True)
        return [value_at(record, path) if value is UNSET else value for record, value in pairs]

    return Batch(lines, column, records.__getitem__)


def value_at(record: object, path: str) -> object:
    """Value at a path in a record; of a list its elements' values.

    Args:
        record: The record.
        path: Names with points between them, or positions in lists.

    Returns:
        `msgspec.UNSET` where there is none.

    >>> value_at({"answers": [{"text": "a"}, {"text": "b"}]}, "answers.text")
    ['a', 'b']
    """
    if isinstance(record, dict):
        if path in record:
            return record[path]
        head, _, rest = path.partition(".")
        return value_at(record[head], rest) if rest and head in record else UNSET
    if isinstance(record, list | tuple):
        head, _, rest = path.partition(".")
        if head.isdecimal():
            inner = record[int(head)] if int(head) < len(record) else UNSET
            return value_at(inner, rest) if rest else inner
        values = [value_at(each, path) for each in record]
        return UNSET if any(value is UNSET for value in values) else values
    return UNSET


def names_within(values: Iterable[object], path: str, depth: int = 1) -> list[str]:
    """Names of the fields within a field, with its path before them.

    Args:
        values: Values of the field: objects, or lists of them.
        path: The path.
        depth: Number of names behind the path; what is no object there has fewer.

    >>> names_within([{"gpt": "a"}, [{"model": "b"}]], "outputs")
    ['outputs.gpt', 'outputs.model']
    >>> names_within([{"gpt": {"text": "a", "cost": 1}, "llama": ""}], "outputs", 2)
    ['outputs.gpt.text', 'outputs.gpt.cost', 'outputs.llama']
    """
    found: dict[str, list[object]] = {}
    for value in values:
        for each in value if isinstance(value, list) else (value,):
            for name, inner in each.items() if isinstance(each, dict) else ():
                found.setdefault(f"{path}.{name}", []).append(inner)
    if depth == 1:
        return list(found)
    return [name for each, inner in found.items() for name in names_within(inner, each, depth - 1) or [each]]


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


@dataclass(frozen=True, slots=True)
class ValueTable:
    """A table of values, as a program has them.

    Args:
        where: Its name.
        names: Its columns; of records the fields of the first ones.
        batches: Function from the columns that are read to the rows.
        kind: Word for its columns where some are not read; empty if nothing is said, and no system is named after the
            file.
        ragged: True if a row may lack a column, or have one that the first ones have not.
        first: Function from a column to its values in the first rows, for the names within them.
        line: Line of the columns' names; None where they stand above no values.
    """

    where: str
    names: Sequence[str]
    batches: Callable[[Sequence[str]], Iterable[Batch]]
    kind: str = "columns"
    ragged: bool = False
    first: Callable[[str], Sequence[object]] = lambda _: ()
    line: int | None = None

    @classmethod
    def of(cls, batches: Iterator[Batch], where: str) -> ValueTable:
        """A table of records.

        Args:
            batches: The records.
            where: Its name.

        Raises:
            InvalidInput: There are none.

        >>> records = [{"id": 7, "out": {"text": "Rain"}}, {"id": 8}]
        >>> table = ValueTable.of(iter([of_records([1, 2], records)]), "answers")
        >>> [(table.names, batch.column("id"), batch.column("out.text")) for batch in table.batches(table.names)]
        [(['id', 'out'], [7, 8], ['Rain', UNSET])]
        """
        first = next(batches, None)
        if first is None:
            raise InvalidInput(Message("the file holds no rows"), where=where)
        names = list(dict.fromkeys(chain.from_iterable(map(first.keys, range(len(first.lines))))))
        return cls(where, names, lambda _: chain([first], batches), "fields", ragged=True, first=first.column)
