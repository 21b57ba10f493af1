"""Locations of rows in their files, so that an error can name file, line and field."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from postil.data.parts import Excluded

__all__ = ["FileLocations", "LocatedRows", "RowLocations", "SelectedRows", "Source", "located", "name_in_file"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class RowLocations:
    """Line numbers of the rows of one source.

    Rows carry no line number. They are counted instead, and only runs of blank lines, which are skipped, are stored:
    a file without blank lines costs nothing, and one of nothing else costs little.

    Args:
        where: The file, or the name of the argument that the rows came in.
        fields: Function from a line to the names of its fields, or None where they cannot be read.
        columns: Name in the file of each field that has another one there.

    >>> places = RowLocations("refs.jsonl")
    >>> places.skip(2)
    >>> places.line(0), places.line(1), places.line(2)
    (1, 3, 4)
    >>> raise places.error(1, "grade", "expected a number from 1 to 5, got 7")
    Traceback (most recent call last):
    ...
    postil.errors.InvalidInput: refs.jsonl:3: grade: expected a number from 1 to 5, got 7
    """

    __slots__ = ("_aliases", "_blank", "_fields", "_lines", "_of", "_rows_before", "_several", "where")

    def __init__(
        self,
        where: str,
        fields: Callable[[int], tuple[str, ...] | None] | None = None,
        columns: Mapping[str, str] | None = None,
    ) -> None:
        self.where = where
        self._fields = fields
        self._aliases = columns or {}
        # For each run of blank lines: number of rows before it, and number of blank lines up to its end.
        self._rows_before = array("q")
        self._blank = array("q")
        self._lines = array("q")
        self._of = array("I")
        self._several: Sequence[Mapping[str, str]] = ()

    def rename(self, columns: Mapping[str, str]) -> None:
        """Take other names of the fields in the file.

        Args:
            columns: Name in the file of each field that has another one there.
        """
        self._aliases = columns

    def extend(
        self, lines: Iterable[int], places: Iterable[int] = (), columns: Sequence[Mapping[str, str]] = ()
    ) -> None:
        """Record the lines of the next rows one by one, for a source where a line may hold several rows.

        Args:
            lines: The line of each, counted from 1.
            places: The place of each in its line, counted from 0, where it has columns of its own.
            columns: For each place the names of its columns, as those of the source.

        >>> places = RowLocations("refs.json")
        >>> places.extend([3, 3, 4])
        >>> places.line(1), places.line(2)
        (3, 4)
        """
        self._lines.extend(lines)
        self._of.extend(places)
        self._several = columns

    def skip(self, line: int, count: int = 1) -> None:
        """Record lines without a row; called in ascending order.

        Args:
            line: The first such line, counted from 1.
            count: Number of such lines.
        """
        before = self._blank[-1] if self._blank else 0
        rows, blank = line - 1 - before, before + count
        if self._rows_before and self._rows_before[-1] == rows:
            self._blank[-1] = blank
        else:
            self._rows_before.append(rows)
            self._blank.append(blank)

    def line(self, index: int) -> int:
        """Line of a row.

        Args:
            index: The row, counted from 0.

        Returns:
            Its line in a JSONL file, its row in a Parquet file or a list; counted from 1.
        """
        if self._lines:
            return self._lines[index] if index < len(self._lines) else self._lines[-1] + 1
        before = bisect_right(self._rows_before, index)
        return index + 1 + (self._blank[before - 1] if before else 0)

    def file(self, index: int) -> str:  # noqa: ARG002 - all rows are of one file here
        """File of a row.

        Args:
            index: The row, counted from 0.
        """
        return self.where

    def fields(self, index: int) -> tuple[str, ...] | None:
        """Names of the fields that the file has in a row, unknown ones included.

        Args:
            index: The row, counted from 0.

        Returns:
            The names in the order of the file, or None where the file cannot be read again.
        """
        return None if self._fields is None else self._fields(self.line(index))

    def error(self, index: int, field: str, problem: str) -> InvalidInput:
        """Make the error that names the location of a wrong row; the caller raises it.

        Args:
            index: The row, counted from 0.
            field: The field of the row.
            problem: The problem: expected, got and, where it helps, what to do.
        """
        aliases = self._several[self._of[index]] if index < len(self._of) else self._aliases
        return InvalidInput(problem, where=self.where, line=self.line(index), field=name_in_file(field, aliases))

    def column(self, field: str) -> str:
        """Name of a field in the file.

        Args:
            field: The field, such as `grade` or `ratings[0].grade`.

        >>> RowLocations("refs.csv", columns={"ratings": "marks"}).column("ratings[0].grade")
        'marks[0].grade'
        """
        return name_in_file(field, self._aliases)


def name_in_file(field: str, aliases: Mapping[str, str]) -> str:
    """Name of a field in its file.

    Args:
        field: The field, such as `grade` or `ratings[0].grade`.
        aliases: Name in the file of each field that has another one there.
    """
    end = next((place for place, mark in enumerate(field) if mark in ".["), len(field))
    return aliases.get(field[:end], field[:end]) + field[end:]


class FileLocations(RowLocations):
    """Locations of rows that come from several files, one after the other.

    Args:
        where: The folder.
    """

    __slots__ = ("_begins", "_parts")

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self._begins: list[int] = []
        self._parts: list[RowLocations] = []

    def rows(self, files: Iterable[Source[T]]) -> Iterator[T]:
        """Pass on the rows of the files, and record where each begins.

        Args:
            files: The files in their order, each opened when its turn comes if this is an iterator.
        """
        done = 0
        for file in files:
            self._begins.append(done)
            self._parts.append(file.places)
            for row in file:
                done += 1
                yield row

    def _part(self, index: int) -> tuple[RowLocations, int]:
        place = bisect_right(self._begins, index) - 1
        return self._parts[place], index - self._begins[place]

    def line(self, index: int) -> int:
        """Line of a row in its file.

        Args:
            index: The row, counted from 0.
        """
        places, inside = self._part(index)
        return places.line(inside)

    def file(self, index: int) -> str:
        """File of a row.

        Args:
            index: The row, counted from 0.
        """
        places, inside = self._part(index)
        return places.file(inside)

    def fields(self, index: int) -> tuple[str, ...] | None:
        """Names of the fields of a row in its file.

        Args:
            index: The row, counted from 0.
        """
        places, inside = self._part(index)
        return places.fields(inside)

    def error(self, index: int, field: str, problem: str) -> InvalidInput:
        """Make the error that names the location of a wrong row in its file.

        Args:
            index: The row, counted from 0.
            field: The field of the row.
            problem: The problem.
        """
        places, inside = self._part(index)
        return places.error(inside, field, problem)


class _SelectedLocations(FileLocations):
    """Locations of some rows of a source.

    Args:
        places: Locations of all its rows.
        kept: Index of each of the rows among all.
    """

    __slots__ = ("_kept", "_places")

    def __init__(self, places: RowLocations, kept: array[int]) -> None:
        super().__init__(places.where)
        self._places, self._kept = places, kept

    def column(self, field: str) -> str:
        """Name of a field in the file.

        Args:
            field: The field.
        """
        return self._places.column(field)

    def _part(self, index: int) -> tuple[RowLocations, int]:
        return self._places, self._kept[index] if index < len(self._kept) else index


class Source(Protocol[T_co]):
    """Rows with their locations, which are read once: of a file or of a table in memory."""

    @property
    def places(self) -> RowLocations:
        """Locations of the rows, for messages about rows that were read."""

    def __iter__(self) -> Iterator[T_co]: ...


class LocatedRows(Generic[T]):
    """Iterator over rows that know where they come from.

    Args:
        rows: The rows.
        places: Their locations.
        left_out: Rows that were left out: judgements without a grade.
    """

    def __init__(self, rows: Iterator[T], places: RowLocations, left_out: tuple[Excluded, ...] = ()) -> None:
        self._rows, self.places, self.left_out = rows, places, left_out

    def __iter__(self) -> Iterator[T]:
        return self._rows

    def __next__(self) -> T:
        return next(self._rows)

    def repeated(self, n: int) -> list[LocatedRows[T]]:
        """The rows n times, in memory, in place of this iterator.

        Args:
            n: The number.
        """
        rows = list(self)
        return [LocatedRows(iter(rows), self.places, self.left_out) for _ in range(n)]


def located(rows: Iterable[T], where: str) -> LocatedRows[T]:
    """Rows with their locations; rows that have none are counted.

    Args:
        rows: The rows.
        where: Name of the argument that they came in.

    >>> located(["a", "b"], "candidates").places.line(1)
    2
    """
    return rows if isinstance(rows, LocatedRows) else LocatedRows(iter(rows), RowLocations(where))


class SelectedRows(LocatedRows[T]):
    """The rows of a source that meet a condition; an error about one still names its line.

    Args:
        rows: The rows, which may pass a progress bar first.
        places: Their locations.
        condition: Function that is True for a row to keep; called once per row, in their order.

    >>> rows = SelectedRows(iter([3, 8, 5]), RowLocations("numbers.jsonl"), lambda number: number < 6)
    >>> list(rows), rows.places.line(1), rows.skipped
    ([3, 5], 3, 1)
    """

    def __init__(self, rows: Iterable[T], places: RowLocations, condition: Callable[[T], bool]) -> None:
        self._kept = array("q")
        self._passed = 0
        super().__init__(self._select(rows, condition), _SelectedLocations(places, self._kept))

    def _select(self, rows: Iterable[T], condition: Callable[[T], bool]) -> Iterator[T]:
        for row in rows:
            self._passed += 1
            if condition(row):
                self._kept.append(self._passed - 1)
                yield row

    @property
    def skipped(self) -> int:
        """Number of rows so far that do not meet the condition."""
        return self._passed - len(self._kept)
