"""JSON Lines (one JSON object per line, in UTF-8), and JSON documents that hold rows, as objects or as columns."""

from __future__ import annotations

import io
import json
from typing import IO, TYPE_CHECKING, Final, TypeVar

import msgspec

from postil.data.explain import NotJson, Problem, RepeatedKey, explain, file_setting, load_json, shown
from postil.data.fields import plain_id
from postil.data.row_locations import RowLocations
from postil.data.streams import BOM, DAMAGE, damaged, line_blocks, lines_in, whole
from postil.errors import InvalidInput, UnknownName
from postil.kernel import plain_objects
from postil.messages import Message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from postil.data.columns import Record
    from postil.data.reading import Reading

__all__ = [
    "FAILURES",
    "JsonlSink",
    "check_keys",
    "json_lines",
    "json_records",
    "keys_at",
    "read",
    "reread",
]

T = TypeVar("T")
BLOCK: Final = 1 << 16
FAILURES: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, InvalidInput)
"""Errors of decoding a line; `reread` explains them."""
# First bytes of files of other formats, with advice.
MAGIC: Final = {
    b"\x1f\x8b": "the data are compressed with gzip; name the file .jsonl.gz, or pipe it through gunzip",
    b"PAR1": "this is a Parquet file; name it .parquet",
    b"\xff\xfe": Message("the file is in UTF-16; save it as UTF-8"),
    b"\xfe\xff": Message("the file is in UTF-16; save it as UTF-8"),
}


def _unseen(_rows: Sequence[object]) -> None:
    """Take no note of rows."""


def _kept(_line: bytes) -> bool:
    """Leave no line out."""
    return False


def read(
    stream: IO[bytes],
    row_type: type[T],
    places: RowLocations,
    see: Callable[[Sequence[T]], None] = _unseen,
    left_out: Callable[[bytes], bool] = _kept,
) -> Iterator[T]:
    """Read rows, line by line.

    Blank lines are skipped, and so is a byte order mark at the start.

    Args:
        stream: The file, open for bytes.
        row_type: A row, or `dict` for objects with every field that they have.
        places: Locations, which record the blank lines.
        see: Callback for all rows, many at a time.
        left_out: True for a line that is no row and is left out in place of an error.

    Yields:
        The rows.

    Raises:
        InvalidInput: A line is too long, not UTF-8, not JSON or not such a row, or the file holds no rows.
    """
    decoder = msgspec.json.Decoder(row_type)
    number, rows = 0, 0
    try:
        for block in line_blocks(stream, places.where):
            plain = plain_objects(block)
            if plain and (good := _decoded(block, decoder)):
                number += len(good)
                rows += len(good)
                see(good)
                yield from good
                continue
            if not block.strip(b"\n"):
                places.skip(number + 1, len(block))
                number += len(block)
                continue
            single: list[T] = []
            for line in block.removesuffix(b"\n").split(b"\n"):
                number += 1
                if not line:
                    places.skip(number)
                    continue
                try:
                    row = decoder.decode(line)
                    if not plain:
                        check_keys(line, number, places.where)
                except FAILURES as error:
                    skipped = left_out(line)
                    rows += skipped
                    again = None if skipped else reread(line, number, row_type, places.where, error)
                    if again is None:
                        places.skip(number)
                        continue
                    row = again
                rows += 1
                single.append(row)
                yield row
            see(single)
    except DAMAGE as error:
        raise damaged(error, places.where, number) from error
    if not rows:
        raise InvalidInput(Message("the file holds no rows"), where=places.where)


def _decoded(block: bytes, decoder: msgspec.json.Decoder[T]) -> list[T] | None:
    """A row for each line, or None where one is no such row."""
    try:
        return decoder.decode_lines(block)
    except FAILURES:
        return None


def check_keys(line: bytes, number: int, where: str) -> None:
    """Refuse an object with a repeated key, of which JSON would keep the last.

    Args:
        line: The line, which is JSON.
        number: Its number, counted from 1.
        where: The file.

    Raises:
        InvalidInput: One has.
    """
    if not plain_objects(line):
        try:
            load_json(line)
        except RepeatedKey as error:
            raise InvalidInput(str(error), where=where, line=number, field=error.key) from None
        except (ValueError, RecursionError):  # what one parser of JSON takes and another does not
            return


def keys_at(stream: IO[bytes], line: int) -> tuple[str, ...] | None:
    """Names of the fields in one line.

    Args:
        stream: The file, open for bytes.
        line: The line, counted from 1.

    Returns:
        Their names, or None if the line cannot be read.
    """
    try:
        for lines in lines_in(stream, ""):
            if len(lines) >= line:
                return tuple(msgspec.json.decode(lines[line - 1].removeprefix(BOM), type=dict[str, msgspec.Raw]))
            line -= len(lines)
    except (*DAMAGE, ValueError, msgspec.MsgspecError, InvalidInput):
        return None
    return None


class JsonlSink:
    """A writer of rows as JSON Lines.

    Args:
        stream: The file, open for bytes; it stays the caller's to close.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._encode = msgspec.json.Encoder(enc_hook=plain_id).encode
        self._buffer = bytearray()

    def write(self, row: object) -> None:
        """Write a row.

        Args:
            row: A row, or a dictionary.
        """
        self._buffer += self._encode(row)
        self._buffer += b"\n"
        if len(self._buffer) >= BLOCK:
            self._flush()

    def close(self) -> None:
        """Write the rows that are buffered."""
        self._flush()

    def _flush(self) -> None:
        self._stream.write(self._buffer)
        self._buffer.clear()


def reread(line: bytes, number: int, row_type: type[T], where: str, error: Exception) -> T | None:
    """Read a line that failed once more, without the byte order mark; say what is wrong if it fails again.

    Args:
        line: The line.
        number: Its number, counted from 1.
        row_type: Class of the row.
        where: The file.
        error: The error.

    Returns:
        The row, or None for a blank line.

    Raises:
        InvalidInput: It is no such row.
    """
    text = line.removeprefix(BOM) if number == 1 else line
    if not text.strip():
        return None
    try:
        row = msgspec.json.decode(text, type=row_type)
    except FAILURES:
        field, problem = _problem(text, number, row_type, where) or ("", str(error))
        raise InvalidInput(problem, where=where, line=number, field=field) from None
    check_keys(text, number, where)
    return row


def _problem(text: bytes, number: int, row_type: type[T], where: str) -> Problem | None:
    try:
        decoded = text.decode().rstrip()
        found = _wrong_file(text, decoded, number, where)
        value = None if found else json.loads(decoded, parse_constant=NotJson)
    except UnicodeDecodeError as broken:
        byte = f"0x{text[broken.start]:02x}"
        bad = Message(
            "byte {byte} at offset {n} of the line is not UTF-8; save the file as UTF-8", byte=byte, n=broken.start
        )
        found = _wrong_file(text, "", number, where) or ("", bad)
    except json.JSONDecodeError as broken:
        what = broken.msg.removesuffix(" at").removesuffix(" starting")  # Python says where in its own way
        bad = Message("not JSON at character {n}: {what}", n=broken.pos + 1, what=f"{what[0].lower()}{what[1:]}")
        found = "", Message("the JSON ends too early; is the line cut off?") if broken.pos >= len(decoded) else bad
    except RecursionError:
        found = "", "the JSON is nested too deeply"
    except ValueError:  # more digits than Python reads
        found = "", "a number has thousands of digits"
    return found or explain(value, row_type if issubclass(row_type, msgspec.Struct) else None)


def _wrong_file(text: bytes, decoded: str, number: int, where: str) -> Problem | None:
    """Recognize, by the beginning of a file or object, a file that is not JSON Lines."""
    opening = decoded.lstrip()
    if opening == "{":
        return "", f"expected a whole object on one line; convert the file with: jq -c . {where} > rows.jsonl"
    if number == 1 and opening.startswith("["):
        command = f"jq -c '.[]' {where} > rows.jsonl"
        return "", f"expected JSON Lines, one object per line, got a JSON array; convert it with: {command}"
    if number == 1:
        return next((("", meaning) for magic, meaning in MAGIC.items() if text.startswith(magic)), None)
    return None


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
