"""Secrets that are shared with another server: a file of one secret per line, read again when it changes."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from postil.records.row_files import FilePath

__all__ = ["SecretFile"]


class SecretFile:
    """The secrets of a file; while a secret is being replaced, the old and the new one stand in it.

    Args:
        path: The file.
        parse: Function that makes a key of a line; it raises ValueError with what it expects.
        on_message: Callback for warnings.

    Raises:
        InvalidInput: The file cannot be read, or a line is no secret.
    """

    def __init__(
        self, path: FilePath, parse: Callable[[str], bytes], on_message: Callable[[str], None] = lambda _: None
    ) -> None:
        self._path, self._parse, self._on_message = Path(path), parse, on_message
        self._state = self._file_state()
        self._keys = self._read()

    def keys(self) -> tuple[bytes, ...]:
        """The keys, as the file has them now; those that were read last where it cannot be read."""
        state = self._file_state()
        if state != self._state:
            self._state = state  # of before reading: what changes meanwhile is read the next time
            try:
                self._keys = self._read()
            except InvalidInput as error:
                self._on_message(f"{error}; the secrets that were read last stay valid")
        return self._keys

    def _read(self) -> tuple[bytes, ...]:
        try:
            lines = self._path.read_text("utf-8").split("\n")
        except (OSError, ValueError) as error:
            raise InvalidInput(f"expected a file of secrets: {error}", where=str(self._path)) from None
        keys = []
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    keys.append(self._parse(line.strip()))
                except ValueError as error:
                    raise InvalidInput(f"expected {error}", where=str(self._path), line=number) from None
        if not keys:
            raise InvalidInput("expected a secret on a line, got an empty file", where=str(self._path))
        return tuple(keys)

    def _file_state(self) -> tuple[int, int, int] | None:
        with suppress(OSError):
            found = self._path.stat()
            return found.st_mtime_ns, found.st_size, found.st_ino
        return None
