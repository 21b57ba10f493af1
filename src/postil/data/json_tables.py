"""JSON documents that hold rows: an array of objects, an object of arrays, or an object with such an array in it."""

from __future__ import annotations

import io
import json
from typing import IO, TYPE_CHECKING, Final

import msgspec

from postil.data.explain import NotJson, RepeatedKey, file_setting, load_json, shown
from postil.data.row_locations import RowLocations
from postil.data.streams import whole
from postil.errors import InvalidInput, UnknownName
from postil.kernel import plain_objects
from postil.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.data.reading import Reading
    from postil.data.tables import Record


from postil.data.jsonl import FAILURES, read
from postil.data.streams import BOM

__all__ = ["json_lines", "json_records"]

BATCH: Final = 4096


def json_records(stream: IO[bytes], where: str, reading: Reading) -> Iterator[tuple[Sequence[int], Sequence[Record]]]:
    """Records of a JSON document, or of JSON Lines under its name.

    Args:
        stream: The document, open for bytes.
        where: Its name.
        reading: Path of the array of rows, in `sheet`; messages.

    Yields:
        The number of each record, counted from 1 (of JSON Lines its line), and the records.

    Raises:
        InvalidInput: It is not JSON, or no table.
        UnknownName: It has no such array.
    """
    data = whole(stream, where).removeprefix(BOM)
    if _is_lines(data):
        reading.tell(where, "read as JSON Lines")
        yield from json_lines(io.BytesIO(data), where)
        return
    rows = _rows(_document(data, where), where, reading)
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise InvalidInput(f"expected an object in braces, got {shown(row)}", where=where, line=number)
    for begin in range(0, len(rows), BATCH):
        part = rows[begin : begin + BATCH]
        yield range(begin + 1, begin + 1 + len(part)), part


def json_lines(stream: IO[bytes], where: str) -> Iterator[tuple[Sequence[int], Sequence[Record]]]:
    """Records of a JSON Lines file.

    Args:
        stream: The file, open for bytes.
        where: Its name.

    Yields:
        The line of each record, counted from 1, and the records.

    Raises:
        InvalidInput: A line is not a JSON object; says which.
    """
    places = RowLocations(where)
    lines: list[int] = []
    batch: list[Record] = []
    for index, row in enumerate(read(stream, dict, places)):
        batch.append(row)
        lines.append(places.line(index))
        if len(batch) == BATCH:
            yield lines, batch
            lines, batch = [], []
    if batch:
        yield lines, batch


def _is_lines(data: bytes) -> bool:
    """True if the first line is an object, and another one follows."""
    first, _, rest = data.lstrip().partition(b"\n")
    if not rest.lstrip().startswith(b"{"):
        return False
    try:
        return isinstance(msgspec.json.decode(first), dict)
    except FAILURES:
        return False


def _document(data: bytes, where: str) -> object:
    try:
        document = msgspec.json.decode(data)
        if not plain_objects(data):
            load_json(data)
    except RepeatedKey as error:
        raise InvalidInput(str(error), where=where, field=error.key) from None
    except FAILURES:
        raise InvalidInput(_problem_of_document(data), where=where) from None
    return document


def _problem_of_document(data: bytes) -> str:
    constants: list[str] = []
    try:
        json.loads(data.decode(), parse_constant=constants.append)
    except UnicodeDecodeError as broken:
        return f"byte 0x{data[broken.start]:02x} at offset {broken.start} is not UTF-8; save the file as UTF-8"
    except json.JSONDecodeError as broken:
        return f"not JSON in line {broken.lineno}, character {broken.colno}: {broken.msg[0].lower()}{broken.msg[1:]}"
    except (ValueError, RecursionError):
        return "the JSON is nested too deeply, or has a number with thousands of digits"
    return f"{NotJson(constants[0])} is not JSON; write null, or leave the field out" if constants else "not JSON"


def _rows(document: object, where: str, reading: Reading) -> list[Record]:
    """The array of rows in a document."""
    if reading.sheet is not None:
        arrays = _arrays(document, "")
        UnknownName.check(f"array of {where}", reading.sheet, arrays)
        return arrays[reading.sheet]
    if isinstance(document, list):
        return document
    if isinstance(document, dict) and document:
        columns = _columns(document)
        if columns is not None:
            return columns
        arrays = _arrays(document, "")
        if len(arrays) == 1:
            [(path, rows)] = arrays.items()
            reading.tell(where, f"rows taken from '{path}'")
            return rows
        if arrays:
            problem = Message(
                "expected one array of objects, got several: {names}; choose one with {sheet}",
                names=", ".join(arrays),
                sheet=file_setting("sheet", python="sheet=NAME"),
            )
            raise InvalidInput(problem, where=where)
    expected = "expected an array of objects, an object of arrays, or an object with one array of objects in it"
    raise InvalidInput(f"{expected}, got {shown(document)}", where=where)


def _columns(document: dict[str, object]) -> list[Record] | None:
    """Rows of an object of arrays, or of pandas' objects by row number; None where it is neither."""
    values = list(document.values())
    if all(isinstance(value, dict) for value in values):
        keys = [list(value) for value in values if isinstance(value, dict)]
        if not keys[0] or any(each != keys[0] for each in keys) or not all(key.isdecimal() for key in keys[0]):
            return None
        values = [list(value.values()) for value in values if isinstance(value, dict)]
    arrays = [value for value in values if isinstance(value, list)]
    if len(arrays) < len(values) or len({len(array) for array in arrays}) > 1:
        return None
    if all(isinstance(each, dict) for array in arrays for each in array):
        return None  # rows under names
    return [dict(zip(document, row, strict=True)) for row in zip(*arrays, strict=True)]


def _arrays(value: object, path: str) -> dict[str, list[Record]]:
    """Arrays of objects in a document, outside of others, by their path."""
    if isinstance(value, list):
        return {path: value} if value and all(isinstance(each, dict) for each in value) else {}
    found: dict[str, list[Record]] = {}
    if isinstance(value, dict):
        for key, inner in value.items():
            found |= _arrays(inner, f"{path}.{key}" if path else key)
    return found
