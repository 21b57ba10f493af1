"""Files of tokens and of secrets, which are read again when they change."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from postil.data.row_files import FilePath

__all__ = ["WatchedFile", "secrets_of"]

T = TypeVar("T")


class WatchedFile(Generic[T]):
    """Content of a file. One that cannot be read again does not end the service: what was read last stays valid.

    Args:
        path: The file.
        read: Function that reads it; it raises InvalidInput.
        said: Noun for the content, for warnings.
        on_message: Callback for warnings, once for each state of the file.

    Raises:
        InvalidInput: The file cannot be read.
    """

    def __init__(
        self, path: FilePath, read: Callable[[Path], T], said: str, on_message: Callable[[str], None] = lambda _: None
    ) -> None:
        self._path, self._read, self._said, self._on_message = Path(path), read, said, on_message
        self._state = self._file_state()
        self._content = read(self._path)

    def content(self) -> T:
        """The content of the file as it is now."""
        state = self._file_state()
        if state != self._state:
            self._state = state  # of before reading: what changes meanwhile is read the next time
            try:
                self._content = self._read(self._path)
            except InvalidInput as error:
                self._on_message(f"{error}; the {self._said} that were read last stay valid")
        return self._content

    def _file_state(self) -> tuple[int, int, int] | None:
        with suppress(OSError, ValueError):
            found = self._path.stat()
            return found.st_mtime_ns, found.st_size, found.st_ino
        return None


def secrets_of(
    path: FilePath, parse: Callable[[str], bytes], on_message: Callable[[str], None] = lambda _: None
) -> WatchedFile[tuple[bytes, ...]]:
    """The secrets of a file, one per line; while a secret is being replaced, the old and the new one stand in it.

    Args:
        path: The file.
        parse: Function that makes a key of a line; it raises ValueError with what it expects.
        on_message: Callback for warnings.

    Raises:
        InvalidInput: The file cannot be read, or a line is no secret.
    """

    def read(path: Path) -> tuple[bytes, ...]:
        try:
            lines = path.read_text("utf-8").split("\n")
        except (OSError, ValueError) as error:
            raise InvalidInput(f"expected a file of secrets: {error}", where=str(path)) from None
        keys = []
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    keys.append(parse(line.strip()))
                except ValueError as error:
                    raise InvalidInput(f"expected {error}", where=str(path), line=number) from None
        if not keys:
            raise InvalidInput("expected a secret on a line, got an empty file", where=str(path))
        return tuple(keys)

    return WatchedFile(path, read, "secrets", on_message)
