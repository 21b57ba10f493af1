"""Text files line by line, compressed or not, with errors that say where."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from postil.data.jsonl import lines_in
from postil.data.streams import DAMAGE, damaged, opened
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.data.row_files import FilePath

__all__ = ["BOM", "decoded", "text_lines"]

BOM: Final = b"\xef\xbb\xbf"


def text_lines(path: FilePath) -> Iterator[tuple[int, str]]:
    r"""The lines of a UTF-8 file that are not blank.

    Args:
        path: The file; it may be compressed with gzip.

    Yields:
        The number of the line, counted from 1, and the line without what ends it. A byte order mark is ignored.

    Raises:
        InvalidInput: The file is missing, damaged, not UTF-8 or has no lines, or a line is too long to be one.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (path := pathlib.Path(folder, "run.txt")).write_text("one\n\ntwo")
    ...     list(text_lines(path))
    [(1, 'one'), (3, 'two')]
    """
    where = os.fspath(path)
    number = found = 0
    with opened(path) as stream:
        try:
            for lines in lines_in(stream, where):
                for line in lines:
                    number += 1
                    if not line:
                        continue
                    text = decoded(line, number, where).rstrip("\r\n")
                    if text.strip():
                        found += 1
                        yield number, text
        except DAMAGE as error:
            raise damaged(error, path, number) from error
    if not found:
        raise InvalidInput("the file holds no lines", where=where)


def decoded(line: bytes, number: int, where: str) -> str:
    """A line as text, without the byte order mark of a first one.

    Args:
        line: The line.
        number: Its number, counted from 1.
        where: Its file.

    Raises:
        InvalidInput: It is not UTF-8.
    """
    try:
        return (line.removeprefix(BOM) if number == 1 else line).decode()
    except UnicodeDecodeError as error:
        problem = f"byte 0x{line[error.start]:02x} at offset {error.start} of the line is not UTF-8; save it as UTF-8"
        raise InvalidInput(problem, where=where, line=number) from None
