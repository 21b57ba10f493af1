"""A row file in another format, with every field that it has."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, Final, TypeAlias

from postil.errors import InvalidInput
from postil.records import jsonl, parquet
from postil.records.atomic_file import refused
from postil.records.explain import explain
from postil.records.row_files import FilePath, kind_of, open_bytes, open_sink
from postil.records.row_locations import Places

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["convert"]

# What the values of a field have in common: a word, or ("list", of what), or ("struct", {field: of what}).
Shape: TypeAlias = str | tuple[str, Any]
EXACT: Final = 2**53  # integers up to here are floats without loss


def convert(source: FilePath, target: FilePath) -> int:
    """Write the rows of one file to another, between JSON Lines, compressed or not, and Parquet.

    Nothing is asked of the rows but that they are objects; every field is kept, whether postil knows it or not. In
    Parquet a field that some rows lack is null in those. A field whose values no one column type can hold (text here,
    numbers there) becomes a column of JSON text, marked as such, and `read` and `convert` undo it.

    Args:
        source: A file whose name ends in `.jsonl`, `.jsonl.gz` or `.parquet`, or `-` for JSON Lines on standard input.
        target: The same, or `-` for standard output.

    Returns:
        The number of rows.

    Raises:
        UsageError: A file is of an unknown kind, or the target's folder is missing.
        InvalidInput: The source is missing or broken; says where.
        MissingExtra: A Parquet file, and pyarrow is not installed.
        PostilError: The system refuses to write.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows, table, back = (pathlib.Path(folder) / name for name in ("a.jsonl", "a.parquet", "b.jsonl"))
    ...     _ = rows.write_text('{"item":"a1","mood":3}')
    ...     convert(rows, table), convert(table, back), back.read_text().strip()
    (1, 1, '{"item":"a1","mood":3}')
    """
    made = kind_of(target)
    name = os.fspath(source)
    if kind_of(source) == "parquet":
        rows = parquet.read_objects(name)
        if made == "parquet":
            return _copy(rows, name, target, parquet.schema_in(name))
        return _copy(_checked(rows, name), name, target, None)
    where = "stdin" if name == "-" else name
    if made != "parquet":
        with open_bytes(name) as stream:
            return _copy(jsonl.read(stream, dict, Places(where)), where, target, None)
    with _spooled(name) as stream:
        shapes: dict[str, Shape] = {}
        for row in jsonl.read(stream, dict, Places(where)):
            shapes = _fields(shapes, row)
        stream.seek(0)
        return _copy(jsonl.read(stream, dict, Places(where)), where, target, _schema(shapes))


def _copy(rows: Iterator[dict[str, Any]], source: str, target: FilePath, schema: Any) -> int:
    done = 0
    with open_sink(target, schema) as sink:
        for row in rows:
            done += 1
            try:
                sink.write(row)
            except TypeError as error:
                raise InvalidInput(f"JSON has no form for a value: {error}", where=source, line=done) from error
            except OSError as error:
                raise refused(os.fspath(target), error) from error
    return done


def _checked(rows: Iterator[dict[str, Any]], where: str) -> Iterator[dict[str, Any]]:
    """Refuse NaN, which JSON has not and which must not become null unseen."""
    for number, row in enumerate(rows, 1):
        found = explain(row, None)
        if found is not None:
            field, problem = found
            raise InvalidInput(problem, where=where, line=number, field=field)
        yield row


@contextmanager
def _spooled(name: str) -> Iterator[IO[bytes]]:
    """A file that can be read twice; standard input goes through a temporary one."""
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
        return "list", within
    if isinstance(value, dict):
        return "struct", _fields({}, value)
    if isinstance(value, int) and not isinstance(value, bool):
        return "int" if abs(value) <= EXACT else "wide" if -(2**63) <= value < 2**63 else "json"
    return {type(None): "null", bool: "bool", float: "float", str: "text"}[type(value)]


def _fields(shapes: dict[str, Shape], row: dict[str, Any]) -> dict[str, Shape]:
    """The shapes of the fields so far, widened by one more object."""
    for key, value in row.items():
        shape = _shape(value)
        shapes[key] = shape if key not in shapes else _common(shapes[key], shape)
    return shapes


def _common(one: Shape, other: Shape) -> Shape:
    """The narrowest shape that holds the values of both; `json` holds everything."""
    if one == other or "null" in (one, other):
        return other if one == "null" else one
    if isinstance(one, tuple) and isinstance(other, tuple) and one[0] == other[0]:
        if one[0] == "list":
            return "list", _common(one[1], other[1])
        both = {key: _common(one[1].get(key, "null"), other[1].get(key, "null")) for key in {**one[1], **other[1]}}
        return "struct", both
    for pair, wider in ((("int", "wide"), "wide"), (("int", "float"), "float")):
        if one in pair and other in pair:
            return wider
    return "json"


def _schema(shapes: dict[str, Shape]) -> Any:
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
    if shape[0] == "list":
        return _fits_a_column(shape[1])
    return bool(shape[1]) and all(map(_fits_a_column, shape[1].values()))  # Parquet has no object without fields


def _column(shape: Shape, pa: Any) -> Any:
    if isinstance(shape, tuple) and shape[0] == "list":
        return pa.list_(_column(shape[1], pa))
    if isinstance(shape, tuple):
        return pa.struct([(key, _column(inner, pa)) for key, inner in shape[1].items()])
    words = {
        "null": pa.null(),
        "bool": pa.bool_(),
        "int": pa.int64(),
        "wide": pa.int64(),
        "float": pa.float64(),
        "text": pa.string(),
    }
    return words[shape]
