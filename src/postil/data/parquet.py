"""Parquet: columns in row groups, through pyarrow."""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, TypeAlias

import msgspec
from msgspec import inspect

from postil.data.fields import plain_id
from postil.errors import InvalidInput, needs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = [
    "AS_JSON",
    "Arrow",
    "ParquetSink",
    "Record",
    "arrow",
    "columns",
    "read_arrow",
    "read_columns",
    "read_objects",
    "schema_in",
    "schema_of",
]

Record: TypeAlias = dict[str, object]
Arrow: TypeAlias = Any  # pyarrow has no types: its module, a schema, a type or an open file
BATCH: Final = 8192
SOMETIMES: Final = ("date", "parent", "statistics", "equal_references")
"""Columns that are written only where some row has a value."""
_TIMES: Final = re.compile(r"timestamp|date(?:32|64)", re.IGNORECASE)
NESTED_BATCH: Final = 512
"""Smaller batches, since a row with lists may be as large as many without."""
AS_JSON: Final = b"postil:json"
"""Marks a column, in its metadata, whose values are JSON text, because no one Arrow type holds them all."""


def arrow() -> Arrow:
    """Import pyarrow, with `pyarrow.parquet` loaded.

    Raises:
        MissingExtra: It is not installed.
    """
    with needs("a .parquet file", "tables"):
        import pyarrow.parquet  # type: ignore[import-untyped]  # noqa: PLC0415
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


def read_columns(
    path: str, names: Sequence[str] | None = None, size: int = BATCH, *, plain: bool = True
) -> Iterator[dict[str, list[object]]]:
    """Read columns, batch by batch.

    Args:
        path: The file.
        names: The columns that are read; by default all.
        size: Number of rows read at once.
        plain: True for times as text.

    Yields:
        Values by column; a value that the file lacks is None.

    Raises:
        InvalidInput: It is not a Parquet file, or holds no rows.
        MissingExtra: pyarrow is not installed.
    """
    empty = True
    with _opened(path) as file:
        marked = _marked(file.schema_arrow)
        for batch in file.iter_batches(size, columns=names):
            columns = _columns(batch, path, plain=plain)
            for name in columns.keys() & marked:
                columns[name] = [None if value is None else msgspec.json.decode(str(value)) for value in columns[name]]
            empty = empty and not batch.num_rows
            yield columns
    if empty:
        raise InvalidInput("the file holds no rows", where=path)


def read_arrow(path: str, *, plain: bool = True) -> Iterator[dict[str, list[object]]]:
    """Read the columns of an Arrow file (IPC, Feather) or stream, batch by batch.

    Args:
        path: The file.
        plain: True for times as text.

    Yields:
        Values by column; a value that the file lacks is None.

    Raises:
        InvalidInput: It is not an Arrow file.
        MissingExtra: pyarrow is not installed.
    """
    pa = arrow()
    try:
        with pa.memory_map(path) as source:
            if source.read(6) == b"ARROW1":
                file = pa.ipc.open_file(source)
                batches = (file.get_batch(index) for index in range(file.num_record_batches))
            else:
                source.seek(0)
                batches = iter(pa.ipc.open_stream(source))
            for batch in batches:
                batch.validate(full=True)  # damage would end Python, or worse
                for begin in range(0, batch.num_rows, BATCH):
                    yield _columns(batch.slice(begin, BATCH), path, plain=plain)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InvalidInput("not an Arrow file, or a damaged one; is the download complete?", where=path) from error


def _columns(batch: Arrow, path: str, *, plain: bool) -> dict[str, list[object]]:
    """Values of a record batch by column.

    Raises:
        InvalidInput: It has times with nanoseconds, which Python has not.
    """
    try:
        return {
            name: msgspec.to_builtins(column.to_pylist(), enc_hook=str)  # str: the timestamps of pandas
            if plain and _TIMES.search(str(column.type))
            else column.to_pylist()
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
        }
    except ValueError as error:
        if isinstance(error, arrow().ArrowException):
            raise
        problem = "a time has nanoseconds; write the column in microseconds, or install pandas"
        raise InvalidInput(problem, where=path) from error


def read_objects(path: str, rows: int = BATCH, names: Sequence[str] | None = None) -> Iterator[Record]:
    """Read rows of a Parquet or Arrow file as dictionaries.

    Args:
        path: The file.
        rows: Number of rows read at once.
        names: The columns that are read, of a Parquet file; by default all.

    Yields:
        The rows; a value that the file lacks is None.

    Raises:
        InvalidInput: It is no such file, or a Parquet file without rows.
        MissingExtra: pyarrow is not installed.
    """
    is_arrow = path.endswith(".arrow")
    for columns in read_arrow(path, plain=False) if is_arrow else read_columns(path, names, rows, plain=False):
        yield from (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))


def schema_of(row_type: type[msgspec.Struct], *, dates: bool = True) -> Arrow:
    """Arrow schema of a row: one column per field.

    Args:
        row_type: The row.
        dates: False to leave out the fields of `SOMETIMES`, also of the rows within it.

    Raises:
        MissingExtra: pyarrow is not installed.
    """
    return arrow().schema(_arrow_type(inspect.type_info(row_type), arrow(), dates=dates))


class ParquetSink:
    """A writer of rows as Parquet.

    Args:
        stream: The file on disk, open for bytes; it stays the caller's to close.
        schema: The Arrow schema; values of the columns marked with `AS_JSON` are written as JSON text.
        undated: The schema as long as no row has a value in a column of `SOMETIMES`; by default the same.
    """

    def __init__(self, stream: IO[bytes], schema: Arrow, undated: Arrow = None) -> None:
        self._arrow = arrow()
        self._stream = stream
        self._schemas = [schema] if undated in (None, schema) else [undated, schema]
        self._json = _marked(schema)
        self._file: Arrow = None
        self._rows: list[Record] = []
        nested = any(self._arrow.types.is_nested(field.type) for field in self._schemas[0])
        self._batch = NESTED_BATCH if nested else BATCH

    def write(self, row: object) -> None:
        """Write a row.

        Args:
            row: A row, or a dictionary.
        """
        values = dict(row) if isinstance(row, dict) else msgspec.to_builtins(row, enc_hook=plain_id)
        for name in self._json:
            if values.get(name) is not None:
                values[name] = msgspec.json.encode(values[name], enc_hook=plain_id).decode()
        self._rows.append(values)
        if len(self._rows) >= self._batch:
            self._flush()

    def close(self) -> None:
        """Write the rows that are buffered, and the end of the file."""
        self._flush()
        self._open().close()

    def _flush(self) -> None:
        if len(self._schemas) > 1 and any(map(_is_dated, self._rows)):
            del self._schemas[0]
            self._rewrite()
        if self._rows:
            self._open().write_batch(self._arrow.RecordBatch.from_pylist(self._rows, schema=self._schemas[0]))
            self._rows = []

    def _open(self) -> Arrow:
        if self._file is None:
            self._file = self._arrow.parquet.ParquetWriter(self._stream, self._schemas[0])
        return self._file

    def _rewrite(self) -> None:
        """Give the rows that were written the columns of dates too."""
        if self._file is None:
            return
        self._file.close()
        self._file = None
        self._stream.flush()
        with tempfile.TemporaryFile() as copy:
            with Path(self._stream.name).open("rb") as written:
                shutil.copyfileobj(written, copy)
            self._stream.seek(0)
            self._stream.truncate()
            for batch in self._arrow.parquet.ParquetFile(copy).iter_batches(self._batch):
                rows = self._arrow.RecordBatch.from_pylist(batch.to_pylist(), schema=self._schemas[0])
                self._open().write_batch(rows)


def _is_dated(value: object) -> bool:
    """True if a row, or a row within it, has a value in a column of `SOMETIMES`."""
    if isinstance(value, dict):
        return any(value.get(name) for name in SOMETIMES) or any(map(_is_dated, value.values()))
    return isinstance(value, list | tuple) and any(map(_is_dated, value))


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


def _arrow_type(kind: inspect.Type, pa: Arrow, *, dates: bool) -> Arrow:
    """Arrow type of a field. An id, which a file may give as an integer, is text."""
    integer = False
    options = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    if any(isinstance(option, inspect.BoolType) for option in options):
        return pa.bool_()
    for option in options:
        if isinstance(option, inspect.Metadata):
            return _arrow_type(option.type, pa, dates=dates)
        if isinstance(option, inspect.VarTupleType):
            return pa.list_(_arrow_type(option.item_type, pa, dates=dates))
        if isinstance(option, inspect.StructType):
            names = [field for field in option.fields if dates or field.encode_name not in SOMETIMES]
            return pa.struct([(field.encode_name, _arrow_type(field.type, pa, dates=dates)) for field in names])
        if isinstance(option, inspect.StrType):
            return pa.string()
        if isinstance(option, inspect.IntType):
            integer = True
    return pa.int64() if integer else pa.float64()
