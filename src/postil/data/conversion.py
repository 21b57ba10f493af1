"""Conversion of row files between formats, with every field that they have."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Final, NamedTuple, TypeAlias

from postil.data import jsonl, parquet
from postil.data.atomic_file import write_error
from postil.data.explain import explain
from postil.data.row_files import format_of, kind_of, open_bytes, open_sink
from postil.data.row_locations import RowLocations
from postil.errors import InvalidInput, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.data.parquet import Arrow, Record
    from postil.data.streams import FilePath

__all__ = ["convert"]

EXACT: Final = 2**53  # integers up to here are floats without loss


class ListOf(NamedTuple):
    """Type of a field of lists: the common type of their elements."""

    inner: Shape


class StructOf(NamedTuple):
    """Type of a field of objects: the types of their fields."""

    fields: dict[str, Shape]


Shape: TypeAlias = str | ListOf | StructOf
"""Common type of the values of a field; a plain type is its name."""


def convert(source: FilePath, target: FilePath) -> int:
    """Write the rows of one file to another, between JSON Lines, compressed or not, and Parquet.

    Rows must be objects, and nothing else; every field is kept, known or not. In
    Parquet a field that some rows lack is null in those. A field whose values no one column type can hold (text here,
    numbers there) becomes a column of JSON text, marked as such, and `read` and `convert` undo it.

    Args:
        source: A file of JSON Lines, which may be compressed, or Parquet, or `-` for JSON Lines on standard input.
        target: The same, or `-` for standard output.

    Returns:
        The number of rows.

    Raises:
        UsageError: A file is of an unknown kind, or the target's folder is missing.
        InvalidInput: The source is missing or broken; says where.
        MissingExtra: A Parquet file, and pyarrow is not installed.
        PostilError: The operating system reports an error.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows, table, back = (pathlib.Path(folder) / name for name in ("a.jsonl", "a.parquet", "b.jsonl"))
    ...     _ = rows.write_text('{"item":"a1","mood":3}')
    ...     convert(rows, table), convert(table, back), back.read_text().strip()
    (1, 1, '{"item":"a1","mood":3}')
    """
    made, given = kind_of(target), format_of(source)
    for path, form in ((source, given), (target, made)):
        if form not in {"jsonl", "parquet"}:
            raise UsageError(f"{os.fspath(path)}: expected JSON Lines or Parquet, which hold rows of any fields")
    name = os.fspath(source)
    if given == "parquet":
        rows = parquet.read_objects(name)
        if made == "parquet":
            return _copy(rows, name, target, parquet.schema_in(name))
        return _copy(_checked(rows, name), name, target, None)
    where = "stdin" if name == "-" else name
    if made != "parquet":
        with open_bytes(name) as stream:
            return _copy(jsonl.read(stream, dict, RowLocations(where)), where, target, None)
    with _spooled(name) as stream:
        shapes: dict[str, Shape] = {}
        for row in jsonl.read(stream, dict, RowLocations(where)):
            shapes = _fields(shapes, row)
        stream.seek(0)
        return _copy(jsonl.read(stream, dict, RowLocations(where)), where, target, _schema(shapes))


def _copy(rows: Iterator[Record], source: str, target: FilePath, schema: Arrow) -> int:
    done = 0
    with open_sink(target, schema) as sink:
        for row in rows:
            done += 1
            try:
                sink.write(row)
            except TypeError as error:
                raise InvalidInput(f"JSON has no form for a value: {error}", where=source, line=done) from error
            except OSError as error:
                raise write_error(os.fspath(target), error) from error
    return done


def _checked(rows: Iterator[Record], where: str) -> Iterator[Record]:
    """Refuse NaN, which JSON does not have and which must not silently become null."""
    for number, row in enumerate(rows, 1):
        found = explain(row, None)
        if found is not None:
            field, problem = found
            raise InvalidInput(problem, where=where, line=number, field=field)
        yield row


@contextmanager
def _spooled(name: str) -> Iterator[IO[bytes]]:
    """Open a file that can be read twice; standard input is copied to a temporary one."""
    with open_bytes(name) as stream:
        if name != "-":
            yield stream
            return
        with tempfile.TemporaryFile() as copy:
            shutil.copyfileobj(stream, copy)
            copy.seek(0)
            yield copy


def _shape(value: object) -> Shape:
    if isinstance(value, list):
        within: Shape = "null"
        for inner in value:
            within = _common(within, _shape(inner))
        return ListOf(within)
    if isinstance(value, dict):
        return StructOf(_fields({}, value))
    if isinstance(value, int) and not isinstance(value, bool):
        return "int" if abs(value) <= EXACT else "wide" if -(2**63) <= value < 2**63 else "json"
    return {type(None): "null", bool: "bool", float: "float", str: "text"}[type(value)]


def _fields(shapes: dict[str, Shape], row: Record) -> dict[str, Shape]:
    """Widen the types of the fields by one more object."""
    for key, value in row.items():
        shape = _shape(value)
        shapes[key] = shape if key not in shapes else _common(shapes[key], shape)
    return shapes


def _common(one: Shape, other: Shape) -> Shape:
    """Narrowest type that holds the values of both; `json` holds everything."""
    if one == other or "null" in (one, other):
        return other if one == "null" else one
    if isinstance(one, ListOf) and isinstance(other, ListOf):
        return ListOf(_common(one.inner, other.inner))
    if isinstance(one, StructOf) and isinstance(other, StructOf):
        names = {**one.fields, **other.fields}
        return StructOf({name: _common(one.fields.get(name, "null"), other.fields.get(name, "null")) for name in names})
    for pair, wider in ((("int", "wide"), "wide"), (("int", "float"), "float")):
        if one in pair and other in pair:
            return wider
    return "json"


def _schema(shapes: dict[str, Shape]) -> Arrow:
    pa = parquet.arrow()
    fields = []
    for name, shape in shapes.items():
        if _fits_a_column(shape):
            fields.append(pa.field(name, _column(shape, pa)))
        else:
            fields.append(pa.field(name, pa.string(), metadata={parquet.AS_JSON: b"1"}))
    return pa.schema(fields)


def _fits_a_column(shape: Shape) -> bool:
    if isinstance(shape, str):
        return shape != "json"
    if isinstance(shape, ListOf):
        return _fits_a_column(shape.inner)
    return bool(shape.fields) and all(map(_fits_a_column, shape.fields.values()))  # Parquet has no empty object


def _column(shape: Shape, pa: Arrow) -> Arrow:
    if isinstance(shape, ListOf):
        return pa.list_(_column(shape.inner, pa))
    if isinstance(shape, StructOf):
        return pa.struct([(key, _column(inner, pa)) for key, inner in shape.fields.items()])
    return {
        "null": pa.null(),
        "bool": pa.bool_(),
        "int": pa.int64(),
        "wide": pa.int64(),
        "float": pa.float64(),
        "text": pa.string(),
    }[shape]
