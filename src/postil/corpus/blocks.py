"""Input files as blocks of whole rows, the units of parallel work."""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from postil.data import jsonl, parquet
from postil.data.row_files import PLAIN, format_of, open_bytes, read
from postil.data.rows import Article
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from postil.data.reading import Reading
    from postil.data.row_files import FilePath

__all__ = ["BLOCK_BYTES", "Block", "blocks"]

BLOCK_BYTES: Final = 8 << 20
"""Approximate size of a block in bytes of JSON. The files of a corpus depend on it, the articles in them do not."""
PARQUET_ROWS: Final = 1024


@dataclass(frozen=True, slots=True)
class Block:
    """Some rows of a file, as JSON Lines.

    Args:
        where: The file.
        first: The line of the first row, counted from 1.
        data: The lines.
        split: The split that the rows of this file belong to, if the file says so: ``train``, ``dev`` or ``test``.
    """

    where: str
    first: int
    data: bytes
    split: str | None = None


def blocks(
    path: FilePath, split: str | None = None, size: int = BLOCK_BYTES, reading: Reading = PLAIN
) -> Iterator[Block]:
    r"""Read a file in blocks, in bounded memory.

    In Parquet, NaN stands for a value that is missing, as other tools write it.

    Args:
        path: A table of article rows, or ``-`` for standard input.
        split: The split that its rows belong to, if that is known.
        size: Approximate number of bytes per block; a longer line makes a longer block.
        reading: Options of reading the file. JSON Lines and Parquet with columns by their own names are passed on as
            they are; the rows of other tables are read here.

    Yields:
        The blocks, in order.

    Raises:
        InvalidInput: The file is missing or damaged, or a line is too long to be one.
        UsageError: The file is of an unknown kind.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (path := pathlib.Path(folder, "a.jsonl")).write_text('{"id": 1}\n{"id": 2}\n{"id": 3}')
    ...     [(block.first, block.data) for block in blocks(path, size=12)]
    [(1, b'{"id": 1}\n'), (2, b'{"id": 2}\n'), (3, b'{"id": 3}\n')]
    """
    where = "stdin" if os.fspath(path) == "-" else os.fspath(path)
    first, form = 1, format_of(path, reading)
    if reading.columns or form not in {"jsonl", "parquet"}:
        pieces = _of_rows(read(path, Article, reading), size)
    elif form == "parquet":
        pieces = _of_rows(parquet.read_objects(where, PARQUET_ROWS), size)
    else:
        pieces = _of_lines(path, where, size)
    for data in pieces:
        yield Block(where, first, data, split)
        first += data.count(b"\n")


def _of_lines(path: FilePath, where: str, size: int) -> Iterator[bytes]:
    done = 0
    with open_bytes(path) as stream:
        try:
            for data in jsonl.whole_lines(stream.read, where, size):
                yield data if data.endswith(b"\n") else data + b"\n"
                done += max(1, data.count(b"\n"))
        except (EOFError, OSError, zlib.error) as error:
            raise jsonl.unreadable(error, done, where) from error
    if not done:
        raise InvalidInput("the file holds no rows", where=where)


def _of_rows(rows: Iterable[object], size: int) -> Iterator[bytes]:
    lines = bytearray()
    encode = msgspec.json.Encoder(enc_hook=str).encode_into  # str: the timestamps of pandas
    for row in rows:
        encode(row, lines, -1)
        lines += b"\n"
        if len(lines) >= size:
            yield bytes(lines)
            lines.clear()
    if lines:
        yield bytes(lines)
