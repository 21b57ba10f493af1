"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING

from postil.errors import PostilError, UsageError

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Replacement", "refused"]


class Replacement:
    """A file in the making, beside the one that it will replace.

    The bytes go to a temporary file in the same folder. When the block ends well, that file is brought to disk and
    renamed, which replaces the old file in one step; when it ends in an error or an interrupt, it is removed and the
    old file stays as it was. For `-` the bytes go to standard output.

    Args:
        path: The file to make or replace, or `-`.
        private: True if only the owner may read a new file, from its first byte on.

    Raises:
        UsageError: The path is a folder, or its folder is missing.
        PostilError: The system refuses to write.
    """

    def __init__(self, path: str, *, private: bool = False) -> None:
        self.path, self._private = path, private
        self._target = Path(os.path.realpath(path))
        self._part = self._target.with_name(f".{self._target.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
        self._stream: IO[bytes] | None = None

    def __enter__(self) -> IO[bytes]:
        if self.path == "-":
            return sys.stdout.buffer
        if self._target.exists() and not self._target.is_file():
            raise UsageError(f"{self.path}: not a file that can be replaced")
        if not self._target.parent.is_dir():
            raise UsageError(f"{self.path}: there is no folder {self._target.parent}")
        try:
            if self._private:
                self._part.touch(0o600, exist_ok=False)
            self._stream = self._part.open("wb" if self._private else "xb")
            if self._target.exists():
                self._part.chmod(stat.S_IMODE(self._target.stat().st_mode))
        except OSError as error:
            self._remove()
            raise refused(self.path, error) from error
        return self._stream

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._stream is None:
                sys.stdout.buffer.flush()
            elif kind is None:
                self._commit(self._stream)
        except OSError as refusal:
            raise refused(self.path, refusal) from refusal
        finally:
            self._remove()

    def _commit(self, stream: IO[bytes]) -> None:
        stream.flush()
        os.fsync(stream.fileno())
        stream.close()
        self._part.replace(self._target)
        if os.name == "posix":  # the new name itself is on disk only when the folder is
            folder = os.open(self._target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _remove(self) -> None:
        if self._stream is not None:
            with contextlib.suppress(OSError):
                self._stream.close()
            self._part.unlink(missing_ok=True)


def refused(path: str, error: OSError) -> Exception:
    """What to raise when the system refuses to write; a broken pipe stays what it is, for the command line to end on.

    Args:
        path: The file.
        error: What the system says.
    """
    if isinstance(error, BrokenPipeError):
        return error
    return PostilError(f"{path}: cannot be written: {error.strerror or error}")
