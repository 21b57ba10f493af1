"""Audit log of the service: JSON Lines, each line with the hash of the line before it.

A line names the token, the route and the outcome of a request; it has no text and no token. The hash is the SHA-256 of
the bytes of the line before, so that a line which is changed, inserted or removed later is found (`check_audit`).
Whoever can write the file can also write all hashes anew, or cut off its end: only a hash that was noted elsewhere
shows that.

Lines that cannot be written are counted in the next one that can, and until then in a file beside the log.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from postil.data.atomic_file import write_error
from postil.data.explain import counted
from postil.data.parts import Part
from postil.data.streams import DAMAGE, FilePath, damaged, opened
from postil.errors import InvalidInput, PostilError, UsageError
from postil.results.base import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


__all__ = ["AuditLog", "AuditLogFile", "AuditLogResult", "check_audit"]

TAIL: Final = 1 << 16
"""Number of bytes at the end of a file among which its last line is looked for."""

OPENING: Final = b'{"previous":"'
"""Beginning of every line."""


SIZE: Final = 128
"""Size of the file, in bytes; it is written when the log is opened, and only overwritten afterwards."""


class _Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of the log."""

    previous: str
    time: str
    request: str
    route: str
    status: int
    milliseconds: float
    token: str = ""
    model: str = ""
    counts: Mapping[str, int] = {}
    lost: int = 0


class _Link(msgspec.Struct, frozen=True):
    """The part of a line that makes the chain; in the file beside the log what was lost after a line.

    Args:
        previous: Hash of the line before.
        lost: Number of lines that were lost between the two, and that no other line counts.
    """

    previous: str
    lost: int = 0

    def after(self, previous: str) -> int:
        """Number of lines that were lost after a line; after the file was rotated there is none to compare.

        Args:
            previous: Hash of the line; empty where the log has none.
        """
        return self.lost if previous in {"", self.previous} else 0


class _LostLines:
    """The number of lines that an open audit log has lost and that none of its lines counts yet.

    Args:
        log: The file of the log, which the caller has locked.
        on_message: Callback for warnings.

    Attributes:
        count: The number, and the last line of the log.

    Raises:
        InvalidInput: The file beside the log is another file.
    """

    def __init__(self, log: FilePath, on_message: Callable[[str], None]) -> None:
        self._path, self._on_message, self._file = _beside(log), on_message, -1
        self.count = _read(log)
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            self._write()
            os.fsync(self._file)
        except OSError as error:
            self._forgetful(error)

    def keep(self, previous: str, lost: int) -> None:
        """Write the number of lines that are lost, which a kill of this process does not forget.

        Args:
            previous: Hash of the last line.
            lost: Number of lines that were lost after it.
        """
        if (count := _Link(previous, lost)) != self.count:
            self.count = count
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
            os.write(self._file, msgspec.json.encode(self.count).ljust(SIZE - 1) + b"\n")

    def _forgetful(self, error: OSError) -> None:
        self._on_message(f"{write_error(self._path, error)}; a kill forgets how many lines of the log could not be")
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


class AuditLog:
    """An audit log that is open for writing; it continues the chain of a file that is there.

    Each line is given to the operating system before `write` returns, so it survives the end of the process. A line
    that cannot be written, as the disk is full, is counted in the next one that can, also after a kill.

    Args:
        path: The file; made if there is none, for its owner alone.
        on_message: Callback for warnings.

    Attributes:
        lost: Number of lines that could not be written since the log was opened, or before and no line counts them.

    Raises:
        UsageError: Another process writes the file.
        InvalidInput: It is another file, or there is another one in the place of the count of lost lines.
        PostilError: The operating system reports an error.
    """

    def __init__(self, path: FilePath, on_message: Callable[[str], None] = lambda _: None) -> None:
        self._path, self._on_message = os.fspath(path), on_message
        self._previous, self._lost, self.lost, self._told = "", 0, 0, False
        self._file = self._opened()
        try:
            self._losses = _LostLines(self._path, on_message)
        except BaseException:
            os.close(self._file)
            raise
        before = self._losses.count.after(self._previous)
        self._lose(before)
        if before:
            lines = counted(before, "line")
            on_message(f"{self._path}: {lines} could not be written before the last end; the next one says so")

    def write(
        self,
        *,
        request: str,
        route: str,
        status: int,
        milliseconds: float,
        token: str = "",
        model: str = "",
        counts: Mapping[str, int] | None = None,
    ) -> None:
        """Write one line.

        Args:
            request: The id of the request.
            route: Method and path of the route, as the table of routes has it.
            status: Status of the response.
            milliseconds: Time until the response.
            token: Name of the token; empty where none was presented.
            model: Hash of the model that was used; empty for none.
            counts: Numbers of what was asked for and answered.
        """
        line = msgspec.json.encode(
            _Line(
                previous=self._previous,
                time=datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                request=request,
                route=route,
                status=status,
                milliseconds=round(milliseconds, 3),
                token=token,
                model=model,
                counts=counts or {},
                lost=self._lost,
            )
        )
        try:
            self._append(line + b"\n")
        except OSError as error:
            self._lose(1)
            told, self._told = self._told, True
            if not told:
                self._on_message(f"{write_error(self._path, error)}; requests are answered without a line in it")
        else:
            self._previous, self._lost, self._told = _hash(line), 0, False
            self._losses.keep("", 0)

    def reopen(self) -> None:
        """Go on in the file that has the name now, after the log was rotated; the chain goes on there."""
        with suppress(OSError):
            if os.path.samestat(os.stat(self._path), os.fstat(self._file)):  # noqa: PTH116 - as of a file descriptor
                return
        before = self._previous
        try:
            file = self._opened()
        except PostilError as error:
            self._on_message(f"{error}; the log goes on in the file that was open")
            self._previous = before
        else:
            os.close(self._file)
            self._file = file
            self._lose(0)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)
        self._losses.close()

    def _lose(self, lines: int) -> None:
        """Count lines that are lost, those of before among them."""
        self._lost += lines
        self.lost += lines
        self._losses.keep(self._previous if self._lost else "", self._lost)

    def _opened(self) -> int:
        """Open and lock the file, and remember the hash of its last line."""
        try:
            file = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0), 0o600)
        except (OSError, ValueError) as error:
            raise PostilError(f"{self._path}: cannot be opened: {getattr(error, 'strerror', error)}") from error
        try:
            self._lock(file)
            self._continue(file)
        except BaseException:
            os.close(file)
            raise
        return file

    def _lock(self, file: int) -> None:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise UsageError(f"{self._path}: expected a file, as the log continues what it holds")
        if os.name == "posix":
            import fcntl  # noqa: PLC0415 - there is none elsewhere

            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UsageError(f"{self._path}: another process writes this log; name another file") from None
            except OSError:  # a file system without locks
                pass

    def _continue(self, file: int) -> None:
        """Read the last line, and remove one after it that was cut off when the machine stopped."""
        size = os.fstat(file).st_size
        if size == 0:
            return
        os.lseek(file, max(0, size - TAIL), os.SEEK_SET)
        tail = os.read(file, TAIL)
        whole, end, rest = tail.rpartition(b"\n")
        line = whole.rpartition(b"\n")[2]
        if (end and _link(line) is None) or not OPENING.startswith(rest[: len(OPENING)]):
            raise InvalidInput("this is no audit log; name another file", where=self._path)
        if end:
            self._previous = _hash(line)
        if rest:
            os.ftruncate(file, size - len(rest))
            self._lost, self.lost = self._lost + 1, self.lost + 1
            self._on_message(f"{self._path}: the last line was cut off, and is removed")

    def _append(self, line: bytes) -> None:
        written = os.write(self._file, line)
        if written < len(line):  # the disk is full
            os.ftruncate(self._file, os.fstat(self._file).st_size - written)
            raise OSError(0, "the disk is full")


class AuditLogFile(Part, frozen=True, kw_only=True):
    """A file of an audit log whose lines are as they were written.

    Args:
        file: The file.
        lines: Number of lines.
        lost: Number of lines that could not be written, as the lines after them say, or the count beside the log.
        first: Hash of the line before the first one, in the file before; empty where the log begins here.
        last: Hash of the last line; empty where there is none.
    """

    file: str
    lines: int
    lost: int
    first: str
    last: str


class AuditLogResult(Result, frozen=True, kw_only=True, tag="audit-log"):
    """An audit log whose lines are as they were written.

    Args:
        files: Its files, the oldest first.
    """

    files: tuple[AuditLogFile, ...]


def check_audit(paths: Sequence[FilePath], contains: str | None = None) -> AuditLogResult:
    """Verify the chain of an audit log.

    Args:
        paths: Its files, the oldest first; they may be compressed.
        contains: Hash that a line must have: one that was noted earlier, and so shows that all up to it is as it was.

    Raises:
        InvalidInput: A file is no audit log, or a line was changed, inserted or removed.
    """
    files, last, known = list[AuditLogFile](), None, False
    for path in paths:
        found, seen = _checked(os.fspath(path), last, contains)
        files.append(found)
        last, known = found.last or last, known or seen
    if files and (lost := _read(paths[-1]).after(last or "")):
        files[-1] = msgspec.structs.replace(files[-1], lost=files[-1].lost + lost)
    if contains is not None and not known:
        problem = f"no line has the hash {contains}: lines were changed, or cut off at the end"
        raise InvalidInput(problem, where=os.fspath(paths[-1]))
    return AuditLogResult(files=tuple(files))


def _checked(path: str, last: str | None, contains: str | None) -> tuple[AuditLogFile, bool]:
    """Verify one file, whose first line must follow a hash; also return True if a line has a hash."""
    first, lines, lost, seen = "", 0, 0, False
    with opened(path) as stream:
        try:
            for number, raw in enumerate(stream, 1):
                lines = number
                if not raw.endswith(b"\n"):
                    raise InvalidInput("the line is cut off; is the service writing it?", where=path, line=number)
                if (link := _link(raw[:-1])) is None:
                    raise InvalidInput("expected a line of an audit log", where=path, line=number)
                if last is not None and link.previous != last:
                    problem = (
                        "expected the hash of the line before; that line was changed, or one was removed or inserted"
                    )
                    raise InvalidInput(problem, where=path, line=number, field="previous")
                first = link.previous if number == 1 else first
                last, lost = _hash(raw[:-1]), lost + link.lost
                seen = seen or last == contains
        except DAMAGE as error:
            raise damaged(error, path, lines) from error
    return AuditLogFile(file=path, lines=lines, lost=lost, first=first, last=last if lines and last else ""), seen


def _link(line: bytes) -> _Link | None:
    """The part of a line that makes the chain; None if it is no line of a log."""
    try:
        return msgspec.json.decode(line, type=_Link)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _hash(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()


def _beside(log: FilePath) -> str:
    return f"{os.fspath(log)}.lost"


def _read(log: FilePath) -> _Link:
    content, path = b"", Path(_beside(log))
    with suppress(OSError):
        content = path.read_bytes()
    if not content.strip(b"\0"):
        return _Link("")  # there is none, or it was cut off when it was made
    try:
        return msgspec.json.decode(content, type=_Link)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise InvalidInput("this is no count of an audit log's lost lines; move it away", where=str(path)) from None
