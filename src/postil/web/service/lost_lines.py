"""Number of lines that an audit log has lost, in a file beside it that needs no further space when the disk is full."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from postil.errors import InvalidInput
from postil.records.atomic_file import write_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from postil.records.row_files import FilePath

__all__ = ["LostLines", "lost_lines"]

SIZE: Final = 128
"""Size of the file, in bytes; it is written when the log is opened, and only overwritten afterwards."""


class _Count(msgspec.Struct, frozen=True):
    """Lines that were lost after a line of the log, and that no line counts yet.

    Args:
        previous: Hash of the line.
        lost: Number of the lines.
    """

    previous: str = ""
    lost: int = 0

    def after(self, previous: str) -> int:
        """Number of lines that were lost after a line; after the file was rotated there is none to compare.

        Args:
            previous: Hash of the line; empty where the log has none.
        """
        return self.lost if previous in {"", self.previous} else 0


class LostLines:
    """The number of lines that an open audit log has lost and that none of its lines counts yet.

    Args:
        log: The file of the log, which the caller has locked.
        on_message: Callback for warnings.

    Raises:
        InvalidInput: The file beside the log is another file.
    """

    def __init__(self, log: FilePath, on_message: Callable[[str], None]) -> None:
        self._path, self._on_message, self._file = _beside(log), on_message, -1
        self._count = _read(log)
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            self._write()
            os.fsync(self._file)
        except OSError as error:
            self._forgetful(error)

    def after(self, previous: str) -> int:
        """Number of lines that were lost after a line, before the log was opened.

        Args:
            previous: Hash of the last line of the log; empty where it has none.
        """
        return self._count.after(previous)

    def keep(self, previous: str, lost: int) -> None:
        """Write the number of lines that are lost, which a kill of this process does not forget.

        Args:
            previous: Hash of the last line.
            lost: Number of lines that were lost after it.
        """
        if (count := _Count(previous, lost)) != self._count:
            self._count = count
            try:
                self._write()
            except OSError as error:
                self._forgetful(error)

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)

    def _write(self) -> None:
        if self._file >= 0:
            os.lseek(self._file, 0, os.SEEK_SET)
            os.write(self._file, msgspec.json.encode(self._count).ljust(SIZE - 1) + b"\n")

    def _forgetful(self, error: OSError) -> None:
        self._on_message(f"{write_error(self._path, error)}; a kill forgets how many lines of the log could not be")
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def lost_lines(log: FilePath, previous: str) -> int:
    """Number of lines that a log lost after its last line.

    Args:
        log: The file of the log.
        previous: Hash of its last line; empty where it has none.

    Raises:
        InvalidInput: The file beside the log is another file.
    """
    return _read(log).after(previous)


def _beside(log: FilePath) -> str:
    return f"{os.fspath(log)}.lost"


def _read(log: FilePath) -> _Count:
    content, path = b"", Path(_beside(log))
    with suppress(OSError):
        content = path.read_bytes()
    if not content.strip(b"\0"):
        return _Count()  # there is none, or it was cut off when it was made
    try:
        return msgspec.json.decode(content, type=_Count)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise InvalidInput("this is no count of an audit log's lost lines; move it away", where=str(path)) from None
