"""Parquet: columns in row groups, through pyarrow."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import msgspec
from msgspec import inspect

from postil.errors import InvalidInput, MissingExtra
from postil.records.explain import explain

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "AS_JSON",
    "Arrow",
    "ParquetSink",
    "Record",
    "arrow",
    "columns",
    "read",
    "read_objects",
    "schema_in",
    "schema_of",
]

T = TypeVar("T", bound=msgspec.Struct)
Record: TypeAlias = dict[str, object]
Arrow: TypeAlias = Any  # pyarrow has no types: its module, a schema, a type or an open file
BATCH: Final = 8192
NESTED_BATCH: Final = 512
"""Smaller batches, since a row with lists may be as large as many without."""
AS_JSON: Final = b"postil:json"
"""Marks a column, in its metadata, whose values are JSON text, because no one Arrow type holds them all."""


def arrow() -> Arrow:
    """Import pyarrow, with `pyarrow.parquet` loaded.

    Raises:
        MissingExtra: It is not installed.
    """
    try:
        import pyarrow.parquet  # type: ignore[import-untyped]  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("a .parquet file", "parquet") from error
    return pyarrow


def columns(path: str) -> tuple[str, ...]:
    """Names of the columns of a file.

    Args:
        path: The file.

    Raises:
        InvalidInput: It is not a Parquet file.
        MissingExtra: pyarrow is not installed.
    """
    return tuple(schema_in(path).names)


def schema_in(path: str) -> Arrow:
    """Arrow schema of a file.

    Args:
        path: The file.

    Raises:
        InvalidInput: It is missing or not a Parquet file.
        MissingExtra: pyarrow is not installed.
    """
    with _opened(path) as file:
        return file.schema_arrow


def read(path: str, row_type: type[T]) -> Iterator[T]:
    """Read rows, batch by batch; only the columns that the row knows.

    Args:
        path: The file.
        row_type: The row.

    Yields:
        The rows.

    Raises:
        InvalidInput: It is not a Parquet file, lacks a column, holds no rows, or a value is not what it should be.
        MissingExtra: pyarrow is not installed.
    """
    fields = msgspec.structs.fields(row_type)
    names = columns(path)
    for field in fields:
        if field.required and field.encode_name not in names:
            problem = f"no such column; the file has: {', '.join(names)}"
            raise InvalidInput(problem, where=path, field=field.encode_name)
    known = [field.encode_name for field in fields if field.encode_name in names]
    done = 0
    for batch in _batches(path, known):
        try:
            rows = msgspec.convert(batch, list[row_type])  # type: ignore[valid-type]
        except (msgspec.ValidationError, InvalidInput) as error:
            raise _first_problem(batch, row_type, path, done, error) from None
        done += len(rows)
        yield from rows


def read_objects(path: str, rows: int = BATCH) -> Iterator[Record]:
    """Read rows as dictionaries with every column of the file.

    Args:
        path: The file.
        rows: Number of rows read at once.

    Yields:
        The rows; a value that the file lacks is None.

    Raises:
        InvalidInput: It is not a Parquet file, or holds no rows.
        MissingExtra: pyarrow is not installed.
    """
    for batch in _batches(path, None, rows):
        yield from batch


def schema_of(row_type: type[msgspec.Struct]) -> Arrow:
    """Arrow schema of a row: one column per field.

    Args:
        row_type: The row.

    Raises:
        MissingExtra: pyarrow is not installed.
    """
    pa = arrow()
    fields = msgspec.structs.fields(row_type)
    return pa.schema([(field.encode_name, _arrow_type(inspect.type_info(field.type), pa)) for field in fields])


class ParquetSink:
    """A writer of rows as Parquet.

    Args:
        stream: The file, open for bytes; it stays the caller's to close.
        schema: The Arrow schema; values of the columns marked with `AS_JSON` are written as JSON text.
    """

    def __init__(self, stream: IO[bytes], schema: Arrow) -> None:
        self._arrow = arrow()
        self._schema = schema
        self._json = _marked(schema)
        self._file = self._arrow.parquet.ParquetWriter(stream, schema)
        self._rows: list[Record] = []
        nested = any(self._arrow.types.is_nested(field.type) for field in schema)
        self._batch = NESTED_BATCH if nested else BATCH

    def write(self, row: object) -> None:
        """Write a row.

        Args:
            row: A row, or a dictionary.
        """
        values = dict(row) if isinstance(row, dict) else msgspec.to_builtins(row)
        for name in self._json:
            if values.get(name) is not None:
                values[name] = msgspec.json.encode(values[name]).decode()
        self._rows.append(values)
        if len(self._rows) >= self._batch:
            self._flush()

    def close(self) -> None:
        """Write the rows that are buffered, and the end of the file."""
        self._flush()
        self._file.close()

    def _flush(self) -> None:
        if self._rows:
            self._file.write_batch(self._arrow.RecordBatch.from_pylist(self._rows, schema=self._schema))
            self._rows = []


@contextlib.contextmanager
def _opened(path: str) -> Iterator[Arrow]:
    pa = arrow()
    if not Path(path).is_file():
        raise InvalidInput("no such file", where=path)
    try:
        with pa.parquet.ParquetFile(path) as file:
            yield file
    except (pa.ArrowException, msgspec.MsgspecError, OSError, UnicodeDecodeError) as error:
        problem = "not a Parquet file, or a damaged one; is the download complete?"
        if isinstance(error, OSError) and error.errno is not None:  # pyarrow calls damage an OSError too
            problem = f"cannot be read: {error.strerror}"
        raise InvalidInput(problem, where=path) from error


def _marked(schema: Arrow) -> list[str]:
    return [field.name for field in schema if field.metadata and AS_JSON in field.metadata]


def _batches(path: str, names: list[str] | None, size: int = BATCH) -> Iterator[list[Record]]:
    """Yield the rows as dictionaries, in batches; at least one row."""
    empty = True
    with _opened(path) as file:
        marked = [name for name in _marked(file.schema_arrow) if names is None or name in names]
        for batch in file.iter_batches(size, columns=names):
            rows = batch.to_pylist()
            for name in marked:
                for row in rows:
                    row[name] = None if row[name] is None else msgspec.json.decode(row[name])
            empty = empty and not rows
            yield rows
    if empty:
        raise InvalidInput("the file holds no rows", where=path)


def _first_problem(batch: list[Record], row_type: type[T], path: str, done: int, error: Exception) -> InvalidInput:
    for number, row in enumerate(batch, done + 1):
        try:
            msgspec.convert(row, row_type)
        except (msgspec.ValidationError, InvalidInput) as refusal:
            field, problem = explain(row, row_type) or ("", str(refusal))
            return InvalidInput(problem, where=path, line=number, field=field)
    return InvalidInput(str(error), where=path)


def _arrow_type(kind: inspect.Type, pa: Arrow) -> Arrow:
    """Arrow type of a field. An id, which a file may give as an integer, is text."""
    integer = False
    for option in kind.types if isinstance(kind, inspect.UnionType) else (kind,):
        if isinstance(option, inspect.VarTupleType):
            return pa.list_(_arrow_type(option.item_type, pa))
        if isinstance(option, inspect.StructType):
            return pa.struct([(field.encode_name, _arrow_type(field.type, pa)) for field in option.fields])
        if isinstance(option, inspect.StrType):
            return pa.string()
        if isinstance(option, inspect.IntType):
            integer = True
    return pa.int64() if integer else pa.float64()
