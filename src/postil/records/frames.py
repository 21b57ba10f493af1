"""Tables of Python as rows: data frames of any library, lists of rows or objects, and paths of files."""

from __future__ import annotations

import datetime as dt
import difflib
import math
import os
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Final, Generic, TypeAlias, TypeGuard, TypeVar

import msgspec
from msgspec import inspect

from postil.errors import InvalidInput, UnknownName, UsageError
from postil.records.explain import explain
from postil.records.results import Excluded
from postil.records.row_files import FilePath, read
from postil.records.row_locations import RowLocations
from postil.records.rows import Judgement, Reference, Row, Score

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from narwhals.typing import IntoFrame

__all__ = ["SYSTEM", "ColumnNames", "Frame", "Table", "TableRows", "is_frame", "is_table", "open_rows", "plain_value"]

T = TypeVar("T", bound=Row)

if TYPE_CHECKING:
    Frame: TypeAlias = IntoFrame
    Table: TypeAlias = FilePath | Frame | Sequence[Row] | Sequence[Mapping[str, object]]
else:
    Frame = Table = object

BATCH: Final = 8192
"""Number of rows that are converted together."""

SYSTEM: Final = "candidates"
"""System of the rows of a table without a column of systems, and of candidates that came without one."""

DEFAULTS: Final = {"system": SYSTEM, "annotator": "annotator"}
"""Value of a field that a table has no column for."""

SHARED: Final = ("item", "system", "topic")
"""Fields that tables meet on: a name that is given for one holds for the other tables too, where they have it."""

WIDE: Final[Mapping[type[Row], tuple[str, str]]] = {Score: ("metric", "score"), Judgement: ("annotator", "grade")}
"""Field of the name and field of the value of rows that a wide table has as columns."""

REFERENCES: Final = "references"
"""Column of lists of references, where a table has no column of texts."""


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
    """True if a value is a table: a path, a data frame, or a list of rows or objects.

    Args:
        value: Anything.

    >>> is_table("refs.jsonl"), is_table([{"item": "1", "text": "a"}]), is_table(["a"]), is_table([["a"]])
    (True, True, False, False)
    """
    if isinstance(value, list | tuple):
        return bool(value) and isinstance(value[0], Row | Mapping)
    return isinstance(value, str | os.PathLike) or is_frame(value)


class ColumnNames:
    """Names of the columns of one or more tables, by field.

    Args:
        roles: Row type of each table by its role; the first is the main one.
        columns: Column by field, as ``--column`` has them: ``{"text": "answer"}`` is of the main table,
            ``{"references.text": "gold"}`` of another. Fields that tables meet on (item, system, topic) are of all.
        wide: Columns of the main table that each are a metric (of scores) or an annotator (of judgements).

    Raises:
        UnknownName: There is no such role or field.

    >>> names = ColumnNames({"judgements": Judgement}, {"annotater": "who"})
    Traceback (most recent call last):
    ...
    postil.errors.UnknownName: unknown field 'annotater'; did you mean 'annotator'? Known: item, system, annotator, \
grade, aspect
    """

    def __init__(
        self,
        roles: Mapping[str, type[Row]],
        columns: Mapping[str, str] | None = None,
        wide: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.main = next(iter(roles))
        self.wide = {role: list(names) for role, names in (wide or {}).items()}
        self._of: dict[str, dict[str, str]] = {role: {} for role in roles}
        self._shared: dict[str, str] = {}
        for key, column in (columns or {}).items():
            role, dot, field = key.partition(".") if "." in key else (self.main, "", key)
            if role not in roles:
                raise UnknownName("table", role, roles)
            known = list(roles[role].__struct_fields__)
            if field not in known:
                raise UnknownName("field", field, known)
            self._of[role][field] = column
            if not dot and field in SHARED:
                self._shared[field] = column

    def of(self, role: str, there: Sequence[str]) -> dict[str, str]:
        """Column of each field that was given another name.

        Args:
            role: The table.
            there: The columns that it has.
        """
        shared = {field: column for field, column in self._shared.items() if column in there}
        return {**shared, **self._of[role]}

    def given(self, role: str) -> bool:
        """True if a column of the table was named."""
        return bool(self._of[role] or self.wide.get(role))


class TableRows(Generic[T]):
    """Iterator over the rows of a table; made by `open_rows`.

    Args:
        rows: The rows.
        places: Their locations.
        left_out: Judgements without a grade.
    """

    def __init__(self, rows: Iterator[T], places: RowLocations, left_out: tuple[Excluded, ...] = ()) -> None:
        self.places = places
        self.left_out = left_out
        self._rows = rows

    def __iter__(self) -> Iterator[T]:
        return self._rows


class TableLocations(RowLocations):
    """Locations of rows of a table in memory: the argument, the row counted from 1 and the column.

    Args:
        where: Name of the argument.
        columns: Names of the columns.
        names: Column of each field that has another name.
        rows: Row of the table that each row was made from; by default the same.
    """

    __slots__ = ("_columns", "_names", "_origin")

    def __init__(
        self,
        where: str,
        columns: Sequence[str] = (),
        names: Mapping[str, str] | None = None,
        rows: Sequence[int] | None = None,
    ) -> None:
        super().__init__(where)
        self._columns, self._names, self._origin = tuple(columns), names or {}, rows

    def line(self, index: int) -> int:
        """See `RowLocations.line`."""
        return (index if self._origin is None else self._origin[index]) + 1

    def fields(self, index: int) -> tuple[str, ...] | None:  # noqa: ARG002 - the same in all rows
        """See `RowLocations.fields`."""
        return self._columns or None

    def error(self, index: int, field: str, problem: str) -> InvalidInput:
        """See `RowLocations.error`."""
        return super().error(index, self._names.get(field, field), problem)


def open_rows(table: Table, row_type: type[T], role: str, names: ColumnNames | None = None) -> TableRows[T]:
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

    >>> rows = open_rows([{"item": 1, "gold": "a b"}], Reference, "references", ColumnNames(
    ...     {"references": Reference}, {"text": "gold"}))
    >>> [(row.item, row.text) for row in rows]
    [('1', 'a b')]
    """
    names = names or ColumnNames({role: row_type})
    if isinstance(table, str | os.PathLike):
        if names.given(role):
            raise UsageError(f"columns: {role} are a file; read it into a data frame to name its columns")
        source = read(table, row_type)
        return TableRows(iter(source), source.places)
    if isinstance(table, list | tuple) and table and isinstance(table[0], Row):
        return TableRows(_of_type(table, row_type, role), RowLocations(role))
    if isinstance(table, list | tuple):
        return _from_columns(_transposed(table, role), row_type, role, names)
    if is_frame(table):
        return _from_columns(_frame_columns(table, row_type, role, names), row_type, role, names)
    raise UsageError(f"{role}: expected a path, a data frame or a list of rows, got {type(table).__name__}")


def _of_type(rows: Iterable[object], row_type: type[T], role: str) -> Iterator[T]:
    for line, row in enumerate(rows, start=1):
        if not isinstance(row, row_type):
            problem = f"expected a {row_type.__name__} like the first, got {type(row).__name__}"
            raise InvalidInput(problem, where=role, line=line)
        yield row


def _transposed(objects: Sequence[object], role: str) -> dict[str, list[object]]:
    """Columns of a list of dictionaries; a key that one lacks is missing there."""
    found: dict[str, list[object]] = {}
    for line, row in enumerate(objects):
        if not isinstance(row, Mapping):
            problem = f"expected a dictionary like the first, got {type(row).__name__}"
            raise InvalidInput(problem, where=role, line=line + 1)
        for key, value in row.items():
            found.setdefault(str(key), [None] * line).append(value)
        for values in found.values():
            if len(values) == line:
                values.append(None)
    return found


def _frame_columns(frame: object, row_type: type[Row], role: str, names: ColumnNames) -> dict[str, list[object]]:
    """Columns of a data frame as lists: those that the row may need."""
    import narwhals as nw  # noqa: PLC0415 - only where a frame comes

    try:
        opened = nw.from_native(frame)  # type: ignore[call-overload]  # what it does not know it refuses
        eager = opened.collect() if isinstance(opened, nw.LazyFrame) else opened
        columns = list(eager.columns)
    except nw.exceptions.DuplicateError:
        raise InvalidInput("two columns have the same name; rename one of them", where=role) from None
    except TypeError:
        known = "pandas, Polars, pyarrow.Table or another that narwhals takes"
        raise UsageError(f"{role}: expected a data frame ({known}), got {type(frame).__name__}") from None
    wanted = {*row_type.__struct_fields__, *names.of(role, columns).values(), *names.wide.get(role, ()), REFERENCES}
    return {name: eager[name].to_list() if name in wanted else [] for name in columns}


def _from_columns(columns: dict[str, list[object]], row_type: type[T], role: str, names: ColumnNames) -> TableRows[T]:
    """Rows of columns that are lists; an empty list is a column that no field reads."""
    there = list(columns)
    of = names.of(role, there)
    wide = names.wide.get(role, [])
    for column in (*of.values(), *wide):
        if column not in columns:
            raise InvalidInput(_no_column(column, there), where=role)
    if row_type is Reference and "text" not in of and "text" not in columns and REFERENCES in columns:
        of["text"] = REFERENCES
    sources = {field: of.get(field, field) for field in row_type.__struct_fields__}
    melted = WIDE[row_type] if wide else ()
    for each in msgspec.structs.fields(row_type):
        if sources[each.name] not in columns and each.name not in melted:
            if each.name in DEFAULTS:
                columns[each.name] = [DEFAULTS[each.name]] * max(map(len, columns.values()), default=0)
            elif each.required:
                raise InvalidInput(
                    f"{_no_column(each.name, there)}; name it by columns={{'{each.name}': …}}", where=role
                )
    whole = _whole_fields(row_type)
    read = {field: columns[source] for field, source in sources.items() if source in columns and field not in melted}
    plain = {field: _plain(values, whole=field in whole) for field, values in read.items()}
    if melted:
        records, origin = _melted(plain, {name: _plain(columns[name], whole=False) for name in wide}, melted)
    else:
        records = [dict(zip(plain, values, strict=True)) for values in zip(*plain.values(), strict=True)]
        origin = None
    if row_type is Reference and any(isinstance(value, list) for value in plain["text"]):
        records, origin = _nested(records, role, of)
    if not records:
        raise InvalidInput("expected rows, got none", where=role)
    left_out: tuple[Excluded, ...] = ()
    if row_type is Judgement:
        records, origin, left_out = _rated(records, origin)
    places = TableLocations(role, there, of, origin)
    return TableRows(_converted(records, row_type, places), places, left_out)


def _no_column(column: str, there: Sequence[str]) -> str:
    near = difflib.get_close_matches(column, there, n=1, cutoff=0.5)
    guess = f"; did you mean '{near[0]}'?" if near else ";"
    return f"no column '{column}'{guess} the columns are: {', '.join(there)}"


def _whole_fields(row_type: type[Row]) -> set[str]:
    """Fields of ids and integers: a column of whole numbers with missing values comes as floats from pandas."""
    kinds = {field.name: field.type for field in inspect.type_info(row_type).fields}  # type: ignore[attr-defined]
    return {
        name
        for name, kind in kinds.items()
        if any(isinstance(each, inspect.IntType) for each in getattr(kind, "types", (kind,)))
    }


def _plain(values: list[object], *, whole: bool) -> list[object]:
    """Values as JSON has them: missing ones None, NumPy's and others' Python's."""
    if set(map(type, values)) <= {str, int}:
        return values
    found = list(map(plain_value, values))
    if whole:
        found = [int(value) if isinstance(value, float) and value.is_integer() else value for value in found]
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
    elif isinstance(value, str | dt.date):
        found = str(value)
    elif hasattr(value, "tolist"):  # of NumPy
        found = plain_value(value.tolist())
    return found


_MISSING: Final = frozenset({"NAType", "NaTType"})
"""Types of the missing values of pandas."""


def _melted(
    plain: dict[str, list[object]], wide: dict[str, list[object]], fields: tuple[str, str]
) -> tuple[list[dict[str, object]], list[int]]:
    """Records of a wide table: one for each row and wide column, column by column."""
    name, value = fields
    n = len(next(iter(wide.values())))
    shared = [dict(zip(plain, values, strict=True)) for values in zip(*plain.values(), strict=True)] or [{}] * n
    records = [
        {**row, name: column, value: each}
        for column, values in wide.items()
        for row, each in zip(shared, values, strict=True)
    ]
    return records, list(range(n)) * len(wide)


def _nested(
    records: list[dict[str, object]], role: str, of: Mapping[str, str]
) -> tuple[list[dict[str, object]], list[int]]:
    """Records of a table with a list of references per row: texts, or objects with the fields of a reference.

    Lists in other columns (grades, weights, upvotes) have one value for each text.
    """
    found: list[dict[str, object]] = []
    origin: list[int] = []
    for row, record in enumerate(records):
        texts = record["text"]
        if not isinstance(texts, list):
            texts = [texts]
        lists = {field: each for field, each in record.items() if isinstance(each, list) and field not in _LISTS}
        for field, values in lists.items():
            if len(values) != len(texts):
                problem = f"expected one for each of {len(texts)} references, got {len(values)}"
                raise InvalidInput(problem, where=role, line=row + 1, field=of.get(field, field))
        for position, text in enumerate(texts):
            inner = {field: values[position] for field, values in lists.items() if field != "text"}
            inner |= text if isinstance(text, dict) else {"text": text}
            found.append({**record, **inner})
            origin.append(row)
    return found, origin


_LISTS: Final = frozenset({"ratings"})
"""Fields of a reference that are lists themselves."""


def _rated(
    records: list[dict[str, object]], origin: list[int] | None
) -> tuple[list[dict[str, object]], list[int] | None, tuple[Excluded, ...]]:
    """The judgements that have a grade, and those left out."""
    kept = [index for index, record in enumerate(records) if record["grade"] is not None]
    if len(kept) == len(records):
        return records, origin, ()
    origin = list(range(len(records))) if origin is None else origin
    missing = sorted(set(range(len(records))) - set(kept))
    excluded = Excluded.of("no grade", [f"row {origin[index] + 1}" for index in missing])
    return [records[index] for index in kept], [origin[index] for index in kept], (excluded,)


def _converted(records: list[dict[str, object]], row_type: type[T], places: RowLocations) -> Iterator[T]:
    """Rows of records, many at a time."""
    several, done = iter(records), 0
    while batch := list(islice(several, BATCH)):
        try:
            yield from msgspec.convert(batch, list[row_type])  # type: ignore[valid-type]
        except (msgspec.ValidationError, InvalidInput):
            for index, record in enumerate(batch, start=done):
                yield _row(record, row_type, places, index)
        done += len(batch)


def _row(record: dict[str, object], row_type: type[T], places: RowLocations, index: int) -> T:
    try:
        return msgspec.convert(record, row_type)
    except (msgspec.ValidationError, InvalidInput) as error:
        field, problem = explain(record, row_type) or ("", str(error))
        if problem.endswith("got null"):
            problem += "; the value is missing: fill it, or drop the row"
        raise places.error(index, field, problem) from None
