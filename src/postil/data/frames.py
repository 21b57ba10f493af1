"""Tables and columns of Python: data frames of any library, lists, arrays, and paths of files, as rows."""

from __future__ import annotations

import math
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import date
from functools import cache, partial
from typing import TYPE_CHECKING, Final, Protocol, Self, TypeAlias, TypeGuard, TypeVar, cast

from postil.data.cells import plain_types
from postil.data.columns import Batch, ValueTable, in_columns
from postil.data.parts import Excluded
from postil.data.reading import NESTED, Reading, readings
from postil.data.recognition import recognized
from postil.data.row_files import fields_of, read
from postil.data.row_locations import LocatedRows, RowLocations
from postil.data.rows import Judgement, Reference, Row
from postil.data.tables import TextCounts, ValueField, ValueRows
from postil.data.wide import widened
from postil.errors import InvalidInput, UsageError, nearest
from postil.messages import Message

if TYPE_CHECKING:
    from types import FrameType

    import msgspec
    from narwhals.typing import IntoFrame

    from postil.data.streams import FilePath

    Frame: TypeAlias = IntoFrame
    Table: TypeAlias = FilePath | Frame | Sequence[Row] | Sequence[Mapping[str, object]]

__all__ = [
    "CONSTANTS",
    "SYSTEM",
    "Column",
    "ColumnNames",
    "as_list",
    "columns_of",
    "is_frame",
    "is_table",
    "open_rows",
    "plain_value",
    "refuse_other_form",
    "warn",
    "with_texts",
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
        missing: Texts of cells that hold no value, as ``--missing`` has them.

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
        missing: Sequence[str] = (),
    ) -> None:
        unnamed = (missing,) if isinstance(missing, str) else missing
        words = [f"{field}={column}" for field, column in (columns or {}).items()]
        shared = {field: column for field, column in (everywhere or {}).items() if column is not None}
        self._readings: dict[str, Reading] = {}
        self._named: set[str] = set()
        for role, reading in (given or readings(roles, warn, column=words, missing=unnamed)).items():
            of_role = {field: column for field, column in shared.items() if field in roles[role].__struct_fields__}
            self._named |= {role} if reading.columns else set()
            self._readings[role] = replace(reading, columns={**of_role, **reading.columns})
        self.wide = {role: (names,) if isinstance(names, str) else tuple(names) for role, names in (wide or {}).items()}
        self.constants = {**CONSTANTS, **(constants or {})}

    def reading(self, role: str) -> Reading:
        """Options of reading a table."""
        return self._readings[role]

    def assume(self, role: str, values: Mapping[str, str]) -> None:
        """Take values for fields of which a file has no column, if it lacks nothing else.

        Args:
            role: The table.
            values: Value by field.
        """
        reading = self._readings[role]
        self._readings[role] = replace(reading, assumed={**reading.assumed, **values})

    def but(self, role: str, reading: Reading) -> Self:
        """Make the same names with other options of reading a table.

        Args:
            role: The table.
            reading: The options.
        """
        made = copy(self)
        made._readings = {**self._readings, role: reading}  # noqa: SLF001 - its own
        return made

    def given(self, role: str) -> bool:
        """True if columns of that table alone were named."""
        return role in self._named or bool(self.wide.get(role))


def with_texts(columns: Mapping[str, str] | None, text: str | Sequence[str] | None) -> dict[str, str]:
    """Columns by field, with that of the texts; several are of a system each, as ``--column 'text=A|B'`` has them.

    Args:
        columns: The columns.
        text: Column or columns of the texts; None for none besides.

    Raises:
        UsageError: There is no column in the list.

    >>> with_texts({"system": "model"}, "answer"), with_texts(None, ["gpt", "llama"])
    ({'system': 'model', 'text': 'answer'}, {'text': 'gpt|llama'})
    """
    if text is None:
        return dict(columns or {})
    names = (text,) if isinstance(text, str) else tuple(text)
    if not names:
        raise UsageError("text: expected at least one column, got an empty list")
    return {**(columns or {}), "text": "|".join(names)}


def open_rows(
    table: Table, row_type: type[T], role: str, names: ColumnNames | None = None, *, wide: bool = True
) -> LocatedRows[T]:
    """Open a table as rows, with their locations for messages.

    None, NaN, NA and null are missing values, as are texts that the names say hold none, and are taken as the empty
    cells of a file: a missing text is empty, with a warning, and a missing id or score is an error. A judgement without
    a grade is left out, and counted in ``left_out``.

    Args:
        table: A path, a data frame (pandas, Polars, pyarrow.Table or any other that narwhals takes; a lazy one is
            collected), or a list of rows or of dictionaries.
        row_type: Class of the rows.
        role: Name of the table in messages and in ``names``.
        names: Names of the columns.
        wide: False for a table that has a row per number although ``names`` has columns that each are a metric.

    Raises:
        InvalidInput: A column is missing, a value is not what it should be, or there are no rows; says where.
        UsageError: It is no table.

    >>> gold = ColumnNames({"references": Reference}, {"text": "gold"})
    >>> [(row.item, row.text) for row in open_rows([{"item": 1, "gold": "a b"}], Reference, "references", gold)]
    [('1', 'a b')]
    """
    names = names or ColumnNames({role: row_type})
    reading = widened(row_type, names.wide.get(role, ()) if wide else (), names.reading(role))
    if isinstance(table, str | os.PathLike):
        return read(table, row_type, reading)
    if isinstance(table, list | tuple) and table and isinstance(table[0], Row):
        return LocatedRows(_of_type(table, row_type, role), RowLocations(role))
    if isinstance(table, list | tuple):
        return _opened(_of_dictionaries(table, role), row_type, role, reading, names.constants)
    if is_frame(table):
        return _opened(_of_frame(table, role), row_type, role, reading, names.constants)
    raise UsageError(f"{role}: expected a path, a data frame or a list of rows, got {type(table).__name__}")


def columns_of(table: Table, role: str, row_type: type[Row], reading: Reading, *, every: bool = False) -> Sequence[str]:
    """Names of the columns of a table, before its rows are read.

    Args:
        table: The table.
        role: Its name in messages.
        row_type: Class of the rows.
        reading: Options of reading it.
        every: True for those of all rows of a file, where rows need not have the same fields.

    Returns:
        The names; none of standard input, and of what cannot be read, which reading it will report.

    >>> columns_of([{"id": 1}, {"mt": "a b"}], "candidates", Reference, Reading())
    ['id', 'mt']
    """
    if isinstance(table, str | os.PathLike):
        return fields_of(table, row_type, reading, every=every)
    if isinstance(table, list | tuple):
        if table and isinstance(table[0], Row):
            return row_type.__struct_fields__
        return list(dict.fromkeys(str(key) for row in table if isinstance(row, Mapping) for key in row))
    return list(_of_frame(table, role).keys(0)) if is_frame(table) else ()


def _of_type(rows: Iterable[object], row_type: type[T], role: str) -> Iterator[T]:
    for line, row in enumerate(rows, start=1):
        if not isinstance(row, row_type):
            problem = f"expected a {row_type.__name__} like the first, got {type(row).__name__}"
            raise InvalidInput(problem, where=role, line=line)
        yield row


def _of_dictionaries(objects: Sequence[object], role: str) -> Batch:
    """Rows of a list of dictionaries; a key that one lacks is missing there."""
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
    return _in_memory(list(found), n, lambda name: found[name] + [None] * (n - len(found[name])))


def _of_frame(frame: object, role: str) -> Batch:
    """Rows of a data frame."""
    import narwhals as nw  # noqa: PLC0415 - only where a frame comes

    try:
        opened = nw.from_native(frame)  # type: ignore[call-overload]  # what it does not know it refuses
        eager = opened.collect() if isinstance(opened, nw.LazyFrame) else opened
        names = {str(name): name for name in eager.columns}  # pandas takes numbers as well
        return _in_memory(list(names), len(eager), lambda name: eager.get_column(names[name]).to_list())
    except nw.exceptions.DuplicateError:
        raise InvalidInput("two columns have the same name; rename one of them", where=role) from None
    except TypeError:
        known = "pandas, Polars, pyarrow.Table or another that narwhals takes"
        raise UsageError(f"{role}: expected a data frame ({known}), got {type(frame).__name__}") from None


def _in_memory(names: list[str], n: int, values: Callable[[str], list[object]]) -> Batch:
    """Rows of a table in memory, with missing values as None."""
    return in_columns(range(1, n + 1), names, cache(lambda name: _plain(values(name))))


def _opened(
    whole: Batch, row_type: type[T], role: str, reading: Reading, constants: Mapping[str, str]
) -> LocatedRows[T]:
    """Open the rows of a table in memory."""
    if not whole.lines:
        raise InvalidInput("expected rows, got none", where=role)
    names, counts = list(whole.keys(0)), TextCounts(row_type)
    if reading.missing:
        whole = counts.without(whole, reading.missing)
    assumed = {field: value for field, value in reading.assumed.items() if field not in constants}  # of files
    reading = recognized(row_type, replace(reading, assumed=assumed), names, role)
    left_out: tuple[Excluded, ...] = ()
    grade = reading.columns.get("grade", "grade")
    if row_type is Judgement and grade in names:
        grades = whole.column(grade)
        if missing := [f"row {line}" for line, value in zip(whole.lines, grades, strict=True) if value is None]:
            left_out = (Excluded.of("no grade", missing),)
            whole = whole.only([row for row, value in enumerate(grades) if value is not None])
    text = reading.columns.get("text", "text")
    if row_type is Reference and text in names and any(isinstance(each, list) for each in whole.column(text)):
        of = {**reading.columns, NESTED: text}
        reading = replace(reading, columns={field: column for field, column in of.items() if field != "text"})
    n = len(whole.lines)
    parts = (whole.only(range(begin, min(begin + BATCH, n))) for begin in range(0, n, BATCH))
    places = RowLocations(role, lambda _: tuple(names), reading.names)
    table = ValueTable(role, names, lambda _: parts, kind="", first=whole.column)
    rows = _MemoryRows(table, row_type, reading, places, constants, counts=counts)
    return LocatedRows(iter(rows), places, left_out)


class _MemoryRows(ValueRows[T]):
    """Rows of a table in memory.

    Args:
        table: The table.
        row_type: The row.
        reading: Mapping of columns.
        places: Locations of the rows.
        constants: Value of fields that are needed, where there is no column for them.
        counts: Counts of what is not taken as it stands.
    """

    def __init__(
        self,
        table: ValueTable,
        row_type: type[T],
        reading: Reading,
        places: RowLocations,
        constants: Mapping[str, str],
        *,
        counts: TextCounts,
    ) -> None:
        self._constants = constants
        super().__init__(table, row_type, reading, places, counts)

    def _constant(self, name: str) -> object:
        return self._constants.get(name) if self._infos[name].required else None

    def _field(self, name: str, column: str) -> ValueField:
        info = self._infos.get(name)
        return ValueField(column, None if info is None else partial(_fitting, info))

    def _no_column(self, missing: Sequence[str], reading: Reading) -> InvalidInput:
        """Make the error for the first field whose column was named, else for all."""
        named = [name for name in missing if name in reading.columns][:1]
        sources = [reading.columns.get(name, name) for name in named or missing]
        free = [name for name in self._names if named or name not in self._infos]
        near = nearest(sources[0], free) if len(sources) == 1 else None
        guess = "" if near is None else f" did you mean '{near}'?"
        s, it = ("", "it") if len(sources) == 1 else ("s", "them")
        wanted = ", ".join(f"'{each}'" for each in sources)
        problem = f"no column{s} {wanted};{guess} the columns are: {', '.join(self._names)}"
        if not named:
            ways = reading.column_setting(*missing)
            problem = Message("{problem}; name {it}: {columns}", problem=problem, it=it, columns=ways)
        return InvalidInput(problem, where=self._where)


def _plain(values: list[object]) -> list[object]:
    return values if set(map(type, values)) == {str} else list(map(plain_value, values))


def _fitting(info: msgspec.structs.FieldInfo, values: Sequence[object]) -> Sequence[object]:
    """Values as a field has them: missing ones its default, whole floats integers where it has these.

    A missing text is empty where the field needs one, as an empty cell of a file is.
    """
    found, types = values, plain_types(info)
    if info.required and types == {str}:
        found = ["" if value is None else value for value in values]
    if int in types and float not in types and float in set(map(type, values)):
        found = [int(value) if isinstance(value, float) and value.is_integer() else value for value in values]
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


class _Arrow(Protocol):
    def to_pylist(self) -> list[object]: ...


class _Frame(Protocol):
    def to_list(self) -> list[object]: ...


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
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, name) and isinstance(values := getattr(column, name)(), list):
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
