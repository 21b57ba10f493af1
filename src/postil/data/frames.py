"""Tables and columns of Python: data frames of any library, lists, arrays, and paths of files, as rows."""

from __future__ import annotations

import math
import os
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from itertools import compress, repeat
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, TypeGuard, TypeVar, cast, runtime_checkable

import msgspec
from msgspec import inspect

from postil.data.explain import Null
from postil.data.parts import Excluded
from postil.data.reading import NESTED, readings
from postil.data.row_files import read
from postil.data.row_locations import LocatedRows, RowLocations
from postil.data.rows import Judgement, Reference, Row, Score
from postil.data.tables import is_nested, records_as_rows
from postil.data.wide import read_wide, unfolding
from postil.errors import InvalidInput, UsageError, nearest
from postil.messages import Message

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from types import FrameType

    from narwhals.typing import IntoFrame

    from postil.data.reading import Reading
    from postil.data.streams import FilePath
    from postil.data.wide import Unfolding

    Frame: TypeAlias = IntoFrame
    Table: TypeAlias = FilePath | Frame | Sequence[Row] | Sequence[Mapping[str, object]]

__all__ = [
    "SYSTEM",
    "Column",
    "ColumnNames",
    "as_list",
    "is_frame",
    "is_table",
    "open_rows",
    "plain_value",
    "refuse_other_form",
    "warn",
]

T = TypeVar("T", bound=Row)

BATCH: Final = 8192
"""Number of rows that are made together."""

SYSTEM: Final = "candidates"
"""System of the rows of a table without a column of systems, and of candidates that came without one."""

CONSTANTS: Final = {"system": SYSTEM, "annotator": "annotator"}
"""Value of a field that a table in memory has no column for."""


def is_frame(value: object) -> bool:
    """True if a value is a data frame of some library, or claims to be one.

    Args:
        value: Anything.

    >>> is_frame([1]), is_frame({"columns": 1})
    (False, False)
    """
    marks = ("columns", "__narwhals_dataframe__", "__narwhals_lazyframe__")
    return not isinstance(value, str | list | tuple | Mapping) and any(hasattr(type(value), mark) for mark in marks)


def is_table(value: object) -> TypeGuard[Table]:
    """True if a value is a table: a path, a data frame, or a list of rows or dictionaries.

    Args:
        value: Anything.

    >>> is_table("refs.jsonl"), is_table([{"item": "1", "text": "a"}]), is_table(["a"]), is_table([["a"]])
    (True, True, False, False)
    """
    if isinstance(value, list | tuple):
        return bool(value) and isinstance(value[0], Row | Mapping)
    return isinstance(value, str | os.PathLike) or is_frame(value)


def warn(message: str) -> None:
    """Warn at the line that called the package, which a notebook repeats when its cell runs again.

    Args:
        message: The warning.
    """
    level, frame = 1, cast("FrameType | None", sys._getframe())  # noqa: SLF001 - as the module warnings does
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "postil":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)


class ColumnNames:
    """Names of the columns of the tables of a call.

    Args:
        roles: Row type of each table by its role; the first is the main one.
        columns: Column by field, as ``--column`` has them: ``{"text": "answer"}`` is of the main table,
            ``{"references.text": "gold"}`` of another, ``{"system": "=mine"}`` a constant.
        everywhere: Column by field, in every table that has the field; None for its own name.
        wide: Columns by table that each are a metric (of scores) or an annotator (of judgements).
        given: Options of reading each table, where flags made them; by default those of `columns`.
        constants: Value of fields that a table in memory has no column for, besides `CONSTANTS`.

    Raises:
        UnknownName: There is no such role or field.

    >>> names = ColumnNames({"judgements": Judgement}, {"annotater": "who"})
    Traceback (most recent call last):
    ...
    postil.errors.UnknownName: unknown field of judgements 'annotater'; did you mean 'annotator'? Known: item, system, \
annotator, grade, aspect
    """

    def __init__(
        self,
        roles: Mapping[str, type[Row]],
        columns: Mapping[str, str] | None = None,
        *,
        everywhere: Mapping[str, str | None] | None = None,
        wide: Mapping[str, Sequence[str]] | None = None,
        given: Mapping[str, Reading] | None = None,
        constants: Mapping[str, str] | None = None,
    ) -> None:
        words = [f"{field}={column}" for field, column in (columns or {}).items()]
        shared = {field: column for field, column in (everywhere or {}).items() if column is not None}
        self._readings: dict[str, Reading] = {}
        self._named: set[str] = set()
        for role, reading in (given or readings(roles, warn, column=words)).items():
            of_role = {field: column for field, column in shared.items() if field in roles[role].__struct_fields__}
            self._named |= {role} if reading.columns else set()
            all_columns = {**of_role, **reading.columns}
            self._readings[role] = replace(reading, columns=all_columns)
        self.wide = {role: (names,) if isinstance(names, str) else tuple(names) for role, names in (wide or {}).items()}
        self.constants = {**CONSTANTS, **(constants or {})}

    def reading(self, role: str) -> Reading:
        """Options of reading a table."""
        return self._readings[role]

    def leave_out(self, role: str, fields: Collection[str]) -> None:
        """Take no column of a table for some fields, unless one is named.

        Args:
            role: The table.
            fields: The fields.
        """
        reading = self._readings[role]
        self._readings[role] = replace(reading, columns={**dict.fromkeys(fields, ""), **reading.columns})

    def given(self, role: str) -> bool:
        """True if columns of that table alone were named."""
        return role in self._named or bool(self.wide.get(role))


def open_rows(table: Table, row_type: type[T], role: str, names: ColumnNames | None = None) -> LocatedRows[T]:
    """Open a table as rows, with their locations for messages.

    None, NaN, NA and null are missing values. A judgement without a grade is left out, and counted in ``left_out``; a
    missing text, id or score is an error.

    Args:
        table: A path, a data frame (pandas, Polars, pyarrow.Table or any other that narwhals takes; a lazy one is
            collected), or a list of rows or of dictionaries.
        row_type: Class of the rows.
        role: Name of the table in messages and in ``names``.
        names: Names of the columns.

    Raises:
        InvalidInput: A column is missing, a value is not what it should be, or there are no rows; says where.
        UsageError: It is no table.

    >>> gold = ColumnNames({"references": Reference}, {"text": "gold"})
    >>> [(row.item, row.text) for row in open_rows([{"item": 1, "gold": "a b"}], Reference, "references", gold)]
    [('1', 'a b')]
    """
    names = names or ColumnNames({role: row_type})
    reading, wide = names.reading(role), names.wide.get(role, ())
    if not wide:
        return _rows(table, row_type, role, reading, names.constants)
    of = cast("type[Score]", row_type)  # or Judgement
    found = read_wide(lambda kind, how: _rows(table, kind, role, how, names.constants), of, wide, reading)
    return cast("LocatedRows[T]", found)


def _rows(table: Table, row_type: type[T], role: str, reading: Reading, constants: Mapping[str, str]) -> LocatedRows[T]:
    """Open a table whose columns are the fields."""
    if isinstance(table, str | os.PathLike):
        return read(table, row_type, reading)
    if isinstance(table, list | tuple) and table and isinstance(table[0], Row):
        return LocatedRows(_of_type(table, row_type, role), RowLocations(role))
    if isinstance(table, list | tuple):
        return _opened(_of_dictionaries(table, role), row_type, role, reading, constants)
    if is_frame(table):
        return _opened(_of_frame(table, role), row_type, role, reading, constants)
    raise UsageError(f"{role}: expected a path, a data frame or a list of rows, got {type(table).__name__}")


def _of_type(rows: Iterable[object], row_type: type[T], role: str) -> Iterator[T]:
    for line, row in enumerate(rows, start=1):
        if not isinstance(row, row_type):
            problem = f"expected a {row_type.__name__} like the first, got {type(row).__name__}"
            raise InvalidInput(problem, where=role, line=line)
        yield row


@dataclass(frozen=True, slots=True)
class _Columns:
    """Columns of a table in memory.

    Args:
        names: Their names.
        lines: Row of the table that each of their rows comes from, counted from 1.
        values: Function from a name to the values, as their library has them.
    """

    names: list[str]
    lines: Sequence[int]
    values: Callable[[str], list[object]]


def _of_dictionaries(objects: Sequence[object], role: str) -> _Columns:
    """Columns of a list of dictionaries; a key that one lacks is missing there."""
    found: dict[str, list[object]] = {}
    for line, row in enumerate(objects, start=1):
        if not isinstance(row, Mapping):
            problem = f"expected a dictionary like the first, got {type(row).__name__}"
            raise InvalidInput(problem, where=role, line=line)
        for key, value in row.items():
            values = found.setdefault(str(key), [])
            values += [None] * (line - 1 - len(values))
            values.append(value)
    n = len(objects)
    return _Columns(list(found), range(1, n + 1), lambda name: found[name] + [None] * (n - len(found[name])))


def _of_frame(frame: object, role: str) -> _Columns:
    """Columns of a data frame."""
    import narwhals as nw  # noqa: PLC0415 - only where a frame comes

    try:
        opened = nw.from_native(frame)  # type: ignore[call-overload]  # what it does not know it refuses
        eager = opened.collect() if isinstance(opened, nw.LazyFrame) else opened
        names = {str(name): name for name in eager.columns}  # pandas takes numbers as well
        return _Columns(list(names), range(1, len(eager) + 1), lambda name: eager.get_column(names[name]).to_list())
    except nw.exceptions.DuplicateError:
        raise InvalidInput("two columns have the same name; rename one of them", where=role) from None
    except TypeError:
        known = "pandas, Polars, pyarrow.Table or another that narwhals takes"
        raise UsageError(f"{role}: expected a data frame ({known}), got {type(frame).__name__}") from None


def _opened(
    columns: _Columns, row_type: type[T], role: str, reading: Reading, constants: Mapping[str, str]
) -> LocatedRows[T]:
    """Open the rows of columns."""
    if found := unfolding(row_type, reading, columns.names, role):
        columns, reading = _unfolded(found, columns), found.reading
    reading = _completed(reading, row_type, columns.names, constants)
    if not columns.lines:
        raise InvalidInput("expected rows, got none", where=role)
    sources = {source: field for field, source in _sources(reading, row_type, columns.names, role).items()}
    infos = {info.encode_name: info for info in msgspec.structs.fields(row_type)}
    table = {source: _plain(columns.values(source), infos.get(field)) for source, field in sources.items()}
    lines, left_out = columns.lines, tuple[Excluded, ...]()
    grade = reading.columns.get("grade", "grade")
    if row_type is Judgement and grade in table:
        table, lines, left_out = _rated(table, lines, grade)
    text = table.get(reading.columns.get("text", "text"), [])
    if row_type is Reference and any(isinstance(each, list) for each in text):
        of = {**reading.columns, NESTED: reading.columns.get("text", "text")}
        reading = replace(reading, columns={field: column for field, column in of.items() if field != "text"})
    aliases = reading.names
    places = RowLocations(role, lambda _: tuple(columns.names), aliases)
    if is_nested(row_type, reading, columns.names) or not all(source in columns.names for source in aliases.values()):
        return LocatedRows(
            _advised(records_as_rows(_batches(table, lines), row_type, reading, places)), places, left_out
        )
    if not isinstance(lines, range):
        places.extend(lines)
    return LocatedRows(_advised(_made(table, lines, row_type, reading, role)), places, left_out)


def _unfolded(of: Unfolding, columns: _Columns) -> _Columns:
    """Columns of the rows that are made of rows with several texts."""
    lines = list(columns.lines)
    used = {column: list(map(plain_value, columns.values(column))) for place in of.columns for column in place}
    pairs = of.pairs(len(lines), used, {})
    made = of.names([])

    def values(name: str) -> list[object]:
        if name not in made:
            whole = columns.values(name)
            return [whole[row] for row, _ in pairs]
        at = made.index(name)
        return [of.added(place, lambda column, row=row: used[column][row])[at] for row, place in pairs]  # type: ignore[misc]

    return _Columns([*filter(None, of.names(columns.names))], [lines[row] for row, _ in pairs], values)


def _completed(reading: Reading, row_type: type[Row], names: Sequence[str], constants: Mapping[str, str]) -> Reading:
    """Options with constants for the fields that a row needs and the table has no column for."""
    needed = {info.name for info in msgspec.structs.fields(row_type) if info.required}
    absent = {field: f"={value}" for field, value in constants.items() if field in needed and field not in names}
    return replace(reading, columns={**absent, **reading.columns})


def _sources(reading: Reading, row_type: type[Row], names: Sequence[str], role: str) -> dict[str, str]:
    """Column of each field that the table has.

    Raises:
        InvalidInput: A column that was named, or that the row needs, is missing.
    """
    nested = is_nested(row_type, reading, names)
    required = {info.encode_name for info in msgspec.structs.fields(row_type) if info.required}
    sources = {**({NESTED: NESTED} if nested else {}), **reading.sources(row_type)}
    found: dict[str, str] = {}
    missing: dict[str, str] = {}
    for field, source in sources.items():
        column = source if source in names else source.partition(".")[0]
        if column in names:
            found[field] = column
        elif source.startswith("=") or not source:
            continue
        elif field in reading.columns or (field in required and not (nested and field == "text")):
            missing[field] = source
    if missing:
        raise InvalidInput(_no_column(missing, names, reading), where=role)
    return found


def _no_column(missing: Mapping[str, str], names: Sequence[str], reading: Reading) -> str:
    """Message for fields whose columns a table lacks: for the first one that was named, else for all."""
    named = {field: source for field, source in missing.items() if field in reading.columns or field != source}
    field, source = next(iter((named or missing).items()))
    there = f"the columns are: {', '.join(names)}"
    if named or len(missing) == 1:
        near = nearest(source, names)
        guess = "" if near is None else f" did you mean '{near}'?"
        problem = f"no column '{source}';{guess} {there}"
        if named:
            return problem
        return Message("{problem}; name it: {column}", problem=problem, column=reading.column_setting(field))
    several = ", ".join(f"'{each}'" for each in missing)
    problem = f"no columns {several}; {there}"
    return Message("{problem}; name them: {columns}", problem=problem, columns=reading.column_setting(*missing))


def _plain(values: list[object], info: msgspec.structs.FieldInfo | None) -> list[object]:
    """Values as rows have them: missing ones None or the field's default, whole floats integers where ids are."""
    if set(map(type, values)) == {str}:
        return values
    found = list(map(plain_value, values))
    if info is None:
        return found
    kinds = inspect.type_info(info.type)
    if any(isinstance(kind, inspect.IntType) for kind in getattr(kinds, "types", (kinds,))):
        found = [int(value) if isinstance(value, float) and value.is_integer() else value for value in found]
    if not info.required and info.default is not None:
        found = [info.default if value is None else value for value in found]
    return found


def plain_value(value: object) -> object:
    """Convert a value to what JSON has; a missing one (NaN, NA, NaT) becomes None.

    Args:
        value: A value of any library.

    >>> plain_value([1.0, float("nan"), {"text": None}])
    [1.0, None, {'text': None}]
    """
    found = value
    if isinstance(value, list | tuple):
        found = list(map(plain_value, value))
    elif isinstance(value, dict):
        found = {key: plain_value(inner) for key, inner in value.items()}
    elif type(value).__name__ in _MISSING or (isinstance(value, float) and math.isnan(value)):
        found = None
    elif isinstance(value, str | date):
        found = str(value)
    elif hasattr(value, "tolist"):  # of NumPy
        found = plain_value(value.tolist())
    return found


_MISSING: Final = frozenset({"NAType", "NaTType"})
"""Types of the missing values of pandas."""


def _rated(
    table: dict[str, list[object]], lines: Sequence[int], grade: str
) -> tuple[dict[str, list[object]], Sequence[int], tuple[Excluded, ...]]:
    """The judgements that have a grade, and those left out."""
    missing = [line for line, value in zip(lines, table[grade], strict=True) if value is None]
    if not missing:
        return table, lines, ()
    kept = [value is not None for value in table[grade]]
    excluded = Excluded.of("no grade", [f"row {line}" for line in missing])
    rated = {name: list(compress(values, kept)) for name, values in table.items()}
    return rated, list(compress(lines, kept)), (excluded,)


def _made(
    table: dict[str, list[object]], lines: Sequence[int], row_type: type[T], reading: Reading, role: str
) -> Iterator[T]:
    """Make rows of columns; of a batch with a wrong value, and of nested objects, by way of records."""
    names = {info.encode_name: info for info in msgspec.structs.fields(row_type)}
    sources = [(info, reading.columns.get(name, name)) for name, info in names.items()]
    columns = [
        table[source] if source in table else repeat(source[1:] if source.startswith("=") else info.default)
        for info, source in sources
    ]
    for begin in range(0, len(lines), BATCH):
        here = slice(begin, begin + BATCH)
        parts = [column[here] if isinstance(column, list) else column for column in columns]
        try:
            rows = list(map(row_type, *parts))
        except InvalidInput:
            batches = _batches({name: values[here] for name, values in table.items()}, lines[here])
            places = RowLocations(role, columns=reading.columns)
            rows = list(records_as_rows(batches, row_type, reading, places))
        yield from rows


def _batches(
    table: dict[str, list[object]], lines: Sequence[int]
) -> Iterator[tuple[Sequence[int], list[dict[str, object]]]]:
    for begin in range(0, len(lines), BATCH):
        here = slice(begin, begin + BATCH)
        values = zip(*(column[here] for column in table.values()), strict=True)
        yield lines[here], [dict(zip(table, each, strict=True)) for each in values]


def _advised(rows: Iterator[T]) -> Iterator[T]:
    """Pass rows on; say what to do where a value is missing."""
    try:
        yield from rows
    except InvalidInput as error:
        if not isinstance(error.problem, Null):
            raise
        problem = Message("{problem}; the value is missing: fill it, or drop the row", problem=error.problem)
        raise InvalidInput(problem, where=error.where, line=error.line, field=error.field) from None


@runtime_checkable
class _Arrow(Protocol):
    def to_pylist(self) -> list[object]: ...


@runtime_checkable
class _Frame(Protocol):
    def to_list(self) -> list[object]: ...


@runtime_checkable
class _Array(Protocol):
    def tolist(self) -> list[object]: ...


Column: TypeAlias = "Sequence[object] | _Arrow | _Frame | _Array"


def as_list(column: object, where: str) -> list[object]:
    """Convert a column to a list of its values.

    Args:
        column: A list, a tuple, a one-dimensional array, or a column of a data frame.
        where: Name of the argument, for messages.

    Raises:
        InvalidInput: It is none of these; a single str is not a column of characters.

    >>> import numpy as np
    >>> as_list(np.array(["a", "b"]), "candidates")
    ['a', 'b']
    """
    if isinstance(column, list):
        return column
    if is_frame(column):
        problem = f"expected a list or a column, got the frame {type(column).__name__}; take one column of it"
        raise InvalidInput(problem, where=where)
    if isinstance(column, tuple):
        return list(column)
    if isinstance(column, _Arrow):
        return column.to_pylist()
    if isinstance(column, _Frame):
        return column.to_list()
    if isinstance(column, _Array):
        values = column.tolist()
        if isinstance(values, list):
            return values
    raise InvalidInput(f"expected a list or a column, got {type(column).__name__}", where=where)


def refuse_other_form(problem: str, **arguments: object) -> None:
    """Refuse arguments that belong to the other form of a call, for columns or for tables.

    Args:
        problem: The problem, in words.
        arguments: Their values; None and an empty list are no value.

    Raises:
        UsageError: One has a value.
    """
    for name, value in arguments.items():
        if value is not None and not (isinstance(value, tuple) and not value):
            raise UsageError(f"{name}: {problem}")
