"""JSON Lines: one JSON object a line, in UTF-8."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from typing import IO, TYPE_CHECKING, Final, TypeVar

import msgspec

from postil.errors import InvalidInput
from postil.kernel import plain_objects
from postil.records.explain import NotJson, RepeatedKey, explain, load_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _typeshed import WriteableBuffer

    from postil.records.explain import Problem
    from postil.records.place import Places

__all__ = ["FAILURES", "JsonlSink", "check_keys", "decompressed", "keys_at", "read", "reread", "unreadable"]

T = TypeVar("T")
BOM: Final = b"\xef\xbb\xbf"
BLOCK: Final = 1 << 16
FAILURES: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, InvalidInput)
"""What decoding a line may raise; `reread` says what it means."""
# What the first bytes of a file say that was given the wrong name.
MAGIC: Final = {
    b"\x1f\x8b": "the data are compressed with gzip; name the file .jsonl.gz, or pipe it through gunzip",
    b"PAR1": "this is a Parquet file; name it .parquet",
    b"\xff\xfe": "the file is in UTF-16; save it as UTF-8",
    b"\xfe\xff": "the file is in UTF-16; save it as UTF-8",
}


def decompressed(stream: IO[bytes]) -> IO[bytes]:
    """The data inside a gzip file.

    Args:
        stream: The file; it stays the caller's to close.
    """
    return io.BufferedReader(_Inflated(gzip.GzipFile(fileobj=stream, mode="rb")), BLOCK)


class _Inflated(io.RawIOBase):
    """What a gzip file holds, as far as it can be read.

    With a buffer in front this gives lines faster than GzipFile does, and all whole lines before damage.
    """

    def __init__(self, file: gzip.GzipFile) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._file.seekable()

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return self._file.seek(offset, whence)

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer)
        data = self._file.read1(len(view))
        view[: len(data)] = data
        return len(data)


def read(stream: IO[bytes], row_type: type[T], places: Places) -> Iterator[T]:
    """Read rows, line by line.

    Blank lines are skipped, and so is a byte order mark at the start.

    Args:
        stream: The file, open for bytes.
        row_type: A row, or `dict` for objects with every field that they have.
        places: Takes note of the blank lines.

    Yields:
        The rows.

    Raises:
        InvalidInput: A line is not UTF-8, not JSON or not such a row, or the file holds no rows.
    """
    decoder = msgspec.json.Decoder(row_type)
    number, rows = 0, 0
    try:
        for block in _blocks(stream):
            plain = plain_objects(block)
            if plain and (good := _decoded(block, decoder)):
                number += len(good)
                rows += len(good)
                yield from good
                continue
            for line in block.removesuffix(b"\n").split(b"\n"):
                number += 1
                try:
                    row = decoder.decode(line)
                    if not plain:
                        check_keys(line, number, places.where)
                except FAILURES as error:
                    again = reread(line, number, row_type, places.where, error)
                    if again is None:
                        places.skip(number)
                        continue
                    row = again
                rows += 1
                yield row
    except (EOFError, OSError, zlib.error) as error:
        raise unreadable(error, number, places.where) from error
    if not rows:
        raise InvalidInput("the file holds no rows", where=places.where)


def _blocks(stream: IO[bytes]) -> Iterator[bytes]:
    """Whole lines, many at once."""
    begun: list[bytes] = []
    while data := stream.read1(BLOCK):  # type: ignore[attr-defined]  # every buffered stream has it
        end = data.rfind(b"\n") + 1
        if end:
            yield b"".join([*begun, data[:end]])
            begun.clear()
        begun.append(data[end:])
    if last := b"".join(begun):
        yield last


def _decoded(block: bytes, decoder: msgspec.json.Decoder[T]) -> list[T] | None:
    """A row for each line, or None where one is no such row."""
    try:
        return decoder.decode_lines(block)
    except FAILURES:
        return None


def check_keys(line: bytes, number: int, where: str) -> None:
    """See that no object in a line has a key twice, of which JSON would keep the last.

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
    """The fields that stand in one line.

    Args:
        stream: The file, open for bytes.
        line: The line, counted from 1.

    Returns:
        Their names, or None if the line cannot be read.
    """
    try:
        for number, text in enumerate(stream, 1):
            if number == line:
                return tuple(msgspec.json.decode(text.removeprefix(BOM), type=dict[str, msgspec.Raw]))
    except (OSError, EOFError, ValueError, msgspec.MsgspecError, zlib.error):
        return None
    return None


class JsonlSink:
    """Writes rows as JSON Lines.

    Args:
        stream: The file, open for bytes; it stays the caller's to close.
        compressed: Whether to write gzip, without a time in it, so that the same rows give the same bytes.
    """

    def __init__(self, stream: IO[bytes], *, compressed: bool = False) -> None:
        self._stream = gzip.GzipFile("", "wb", 6, stream, mtime=0) if compressed else stream
        self._compressed = compressed
        self._encode = msgspec.json.Encoder().encode
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
        """Write what is left."""
        self._flush()
        if self._compressed:
            self._stream.close()

    def _flush(self) -> None:
        self._stream.write(self._buffer)
        self._buffer.clear()


def reread(line: bytes, number: int, row_type: type[T], where: str, error: Exception) -> T | None:
    """Read a line that failed once more, without the byte order mark; say what is wrong if it fails again.

    Args:
        line: The line.
        number: Its number, counted from 1.
        row_type: What it should hold.
        where: The file.
        error: How it failed.

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
        bad = f"byte {byte} at offset {broken.start} of the line is not UTF-8; save the file as UTF-8"
        found = _wrong_file(text, "", number, where) or ("", bad)
    except json.JSONDecodeError as broken:
        what = broken.msg.removesuffix(" at").removesuffix(" starting")  # Python says where in its own way
        bad = f"not JSON at character {broken.pos + 1}: {what[0].lower()}{what[1:]}"
        found = "", "the JSON ends too early; is the line cut off?" if broken.pos >= len(decoded) else bad
    except RecursionError:
        found = "", "the JSON is nested too deeply"
    except ValueError:  # more digits than Python reads
        found = "", "a number has thousands of digits"
    return found or explain(value, row_type if issubclass(row_type, msgspec.Struct) else None)


def _wrong_file(text: bytes, decoded: str, number: int, where: str) -> Problem | None:
    """What the beginning of a file, or of an object, says of a file that is not JSON Lines."""
    opening = decoded.lstrip()
    if opening == "{":
        return "", f"expected a whole object on one line; convert the file with: jq -c . {where} > rows.jsonl"
    if number == 1 and opening.startswith("["):
        command = f"jq -c '.[]' {where} > rows.jsonl"
        return "", f"expected JSON Lines, one object a line, got a JSON array; convert it with: {command}"
    if number == 1:
        return next((("", meaning) for magic, meaning in MAGIC.items() if text.startswith(magic)), None)
    return None


def unreadable(error: Exception, lines: int, where: str) -> InvalidInput:
    """What to raise when a file cannot be read to its end.

    Args:
        error: What reading it raised.
        lines: How many lines came before.
        where: The file.
    """
    if isinstance(error, EOFError):
        problem = f"the gzip file ends early after line {lines}; is the download complete?"
    elif isinstance(error, gzip.BadGzipFile) and str(error).startswith("Not a gzipped file") and lines == 0:
        problem = "not a gzip file; if it is not compressed, name it .jsonl"
    elif isinstance(error, gzip.BadGzipFile | zlib.error):
        problem = f"the gzip file is damaged after line {lines}"
    else:
        problem = f"cannot be read: {getattr(error, 'strerror', None) or error}"
    return InvalidInput(problem, where=where)
