"""SQLite file of a campaign: marked while in use, watched while written, and copied completely.

SQLite keeps the latest transactions in a write-ahead log beside the file (`FILE-wal`) until a checkpoint moves them
into the file. The file alone therefore lacks annotations while a campaign is in use, and SQLite opens it silently.
To tell, the header field `user_version` holds the number of a checkpoint, and its sign says whether the file is
complete:

- In the file it is ``+n`` from before the first transaction of the log: incomplete without that log.
- A transaction at the beginning of the log makes it ``-n``: complete together with this log. Read with the log, the
  campaign is complete; with a log of another time the numbers differ.
- A checkpoint that nobody announces, above all the one that SQLite makes when the last connection closes, moves the
  ``-n`` into the file as well. So a file that was closed is complete by itself, whichever program closed it.

A campaign of a version of postil without marks has 0, which counts as complete.

A rollback journal would make a copy between two transactions complete, but one made during a transaction is torn
without a sign, readers stop the writer, and a commit takes some four times as long. A row in a table could not tell: it
would be in the log as well.
"""

from __future__ import annotations

import ctypes
import errno
import os
import secrets
import shutil
import sqlite3
import time
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from postil.data.group_commit import Keeper
from postil.data.sqlite_file import connect, create, error_code, set_log, settle, user_version
from postil.errors import InvalidInput, PostilError
from postil.messages import Command, Message, Setting

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CampaignFile", "connections_to_read", "copy_whole"]

BUSY: Final = 30.0
"""Seconds to wait for another process that holds the file."""

PATIENCE: Final = 1.0
"""Seconds to wait for others where the work can be done later."""

ATTEMPTS: Final = 10
"""Number of attempts to read two numbers that another process changes one after the other."""

LIVELY: Final = 5.0
"""Seconds to wait for two such numbers while another process writes."""

HIGHEST: Final = 2**31 - 1
"""The largest number that the header field can hold."""

_ADVICE: Final = Message(
    "Copy a campaign with '{backup}'; '{incomplete}' takes what this file holds",
    backup=Command("annotate backup"),
    incomplete=Command("annotate backup", settings=(Setting("incomplete", value=True),)),
)


class CampaignFile(Keeper):
    """The file of a campaign that is open for writing; see the head of this module.

    `connect` works at once; `begin` marks the file as in use, and `end` must follow. One thread may use an object.

    Args:
        path: The file.
        make: True to create the file where there is none, for its owner only.
        alarm: Callback for a message when the file is lost, and when it is back.

    Raises:
        InvalidInput: The log is missing, or of another time.
        PostilError: The file cannot be created.
    """

    def __init__(self, path: Path, *, make: bool = False, alarm: Callable[[str], None] | None = None) -> None:
        self._path, self._log = path, _beside(path, "wal")
        self._alarm = alarm
        self._known: dict[Path, tuple[int, int]] = {}
        self._seen: tuple[int, int] = 0, 0
        self._number = 0
        self._problem = ""
        if path.is_file():
            _refuse_alone(path)
            if self._log.exists():
                # Only to read: closing the last connection that can write would move a log into the file unasked.
                with suppress(sqlite3.Error), closing(connect(path, "mode=ro")) as connection:
                    _refuse_other_log(path, connection)
        elif make:
            create(path)

    def connect(self) -> sqlite3.Connection:
        """Connect to the file, without beginning a transaction.

        Raises:
            PostilError: The file is no longer the one that was marked.
        """
        if self._known and (problem := self._lost()):
            raise PostilError(problem)
        connection = connect(self._path, "mode=rw")
        settle(connection, "synchronous = FULL", "foreign_keys = ON", "wal_autocheckpoint = 0")
        return connection

    def begin(self) -> None:
        """Mark the file as in use.

        Raises:
            PostilError: Another process keeps the file busy, or the file system cannot hold a log.
            sqlite3.Error: The file cannot be written.
        """
        self._keeper = self.connect()
        with ExitStack() as undo:
            undo.callback(self._keeper.close)
            problem = f"{self._path}: this file system cannot hold a campaign; move it to a local disk"
            set_log(self._keeper, problem)
            settle(self._keeper, "synchronous = NORMAL")  # a checkpoint syncs what must be on disk before it
            for _ in range(ATTEMPTS):  # where another process is making a checkpoint, there is nothing to do
                if _mark(self._path) > 0 >= self._version():
                    break
                time.sleep(0.02 if self._version() > 0 else 0.0)
            else:
                self._advance(wait=BUSY)
            if _mark(self._path) <= 0:
                raise PostilError(f"{self._path}: another process has been reading it for {BUSY:.0f} s; try again")
            undo.pop_all()
        self._known = {file: _identity(file) for file in (self._path, self._log, _beside(self._path, "shm"))}
        self._remember()

    def on_progress(self) -> None:
        """Check that the file is still there, and marked.

        Call it before and after each transaction: one that was committed to a file that has gone must not be
        acknowledged. Where another program has made a checkpoint, the file is marked again.

        Raises:
            PostilError: The file or its log was removed, moved, replaced or overwritten.
        """
        lost = self._lost()
        problem = lost or self._changed()
        if problem != self._problem:
            self._problem = problem
            if self._alarm is not None:
                with suppress(OSError):  # nobody reads the messages any more
                    self._alarm(problem or f"{self._path}: the file is back; annotations are stored again")
            if lost and not self._moved():  # the log's name has gone: save what is read by this connection only
                with suppress(sqlite3.Error):
                    self._keeper.execute("PRAGMA wal_checkpoint(PASSIVE)")
        if problem:
            raise PostilError(problem)

    def checkpoint(self) -> None:
        """Move transactions from the log into the file, as far as readers let it; else a later call does."""
        with suppress(PostilError):
            self.on_progress()
            self._checkpoint()

    def end(self) -> None:
        """Complete the file and close it; if another process uses it as well, that one completes it."""
        if not self._moved() and self._changed():
            # Closing the last connection would write the log over whatever is there now. One that is never closed
            # leaves both as they are, to be looked at.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._keeper))
            return
        if not self._moved():
            with suppress(sqlite3.Error):
                self._complete()
        self._keeper.close()

    def _complete(self) -> None:
        """Move the log into the file and remove it, unless another process uses the file."""
        self._wait(PATIENCE)
        if self._version() > 0:
            self._set(-abs(_mark(self._path)))
        self._wait(0.0)
        self._keeper.execute("PRAGMA journal_mode = DELETE")  # refused at once while others use it

    def _checkpoint(self) -> None:
        with suppress(sqlite3.Error):
            self._advance(wait=0.0)  # annotations wait for this thread
        self._remember()

    def _advance(self, wait: float) -> None:
        """Make a checkpoint with the next number, waiting at most a number of seconds for readers."""
        for _ in range(ATTEMPTS):
            self._wait(max(wait, PATIENCE))
            number = abs(self._version()) or secrets.randbelow(HIGHEST // 2)
            self._set(number % HIGHEST + 1)
            # A checkpoint writes a page only as it is in its newest transaction, so it moves this number or none.
            self._wait(wait)
            self._keeper.execute("PRAGMA wal_checkpoint(RESTART)")
            self._wait(max(wait, PATIENCE))
            mark = _mark(self._path)
            self._set(-abs(mark))
            if mark == _mark(self._path) and -abs(mark) == self._version():
                return  # else another process made a checkpoint at the same moment

    def _version(self) -> int:
        return user_version(self._keeper)

    def _wait(self, seconds: float) -> None:
        settle(self._keeper, f"busy_timeout = {1000 * seconds:.0f}")

    def _set(self, number: int) -> None:
        with self._keeper:
            self._keeper.execute("BEGIN IMMEDIATE")
            settle(self._keeper, f"user_version = {number}")

    def _remember(self) -> None:
        with suppress(OSError):
            self._seen = _state(self._path)
        with suppress(sqlite3.Error):  # the file's, as another process may be about to make the next checkpoint
            self._number = abs(_mark(self._path))

    def _moved(self) -> bool:
        with suppress(OSError):
            return _identity(self._path) != self._known[self._path]
        return True

    def _lost(self) -> str:
        """Description of what happened to the files; empty if they are unchanged."""
        for file, known in self._known.items():
            try:
                now = _identity(file)
            except OSError:
                return self._told(f"{file.name} was removed or moved")
            if now != known:
                return self._told(f"{file.name} was replaced")
        return ""

    def _changed(self) -> str:
        """Look at the mark again where the file has changed; else as `_lost`."""
        try:
            state = _state(self._path)
            if state == self._seen:
                return ""
            mark = _common_mark(self._path, self._keeper)
        except (OSError, sqlite3.Error):
            mark = None
        if mark is None or abs(mark) < self._number:
            return self._told(f"{self._path.name} was overwritten")
        if mark > 0:
            self._remember()
            return ""
        self._checkpoint()  # another program has made one, after which the file says that it is complete
        return "" if _mark(self._path) > 0 else self._told(f"{self._path.name} was kept busy by another process")

    def _told(self, problem: str) -> str:
        return (
            f"{self._path}: {problem} while the campaign was in use; no annotation is stored until this is undone. "
            "Put the file back, or stop the server, restore the file, and start the server again"
        )


def connections_to_read(path: Path, until: ExitStack, *, incomplete: bool = False) -> Callable[[], sqlite3.Connection]:
    """Find a way to read a campaign without writing anything beside its file.

    Where the folder cannot be written, SQLite cannot read a write-ahead log in place: file and log are then copied to a
    temporary folder. A file without a log is read as one that nobody changes.

    Args:
        path: The file.
        until: The time until which connections are needed.
        incomplete: True to read the file alone where its log is missing or of another time.

    Returns:
        A function that makes a connection.

    Raises:
        InvalidInput: The log is missing, or of another time.
        sqlite3.Error: The file cannot be read.
    """
    try:
        _refuse_alone(path)
        logged = _beside(path, "wal").exists()
        # With a log only reading is allowed, as the last writer to close a file removes the log.
        return _tried(path, "mode=ro" if logged else "mode=rw")
    except sqlite3.OperationalError as error:
        if error_code(error) not in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}:
            raise
    except InvalidInput:
        if not incomplete:
            raise
        return _tried(path, "immutable=1")
    needed = [file for kind in ("wal", "journal") if (file := _beside(path, kind)).exists() and file.stat().st_size]
    if not needed:
        return _tried(path, "immutable=1")
    folder = Path(until.enter_context(TemporaryDirectory(prefix="postil-")))
    try:
        for file in (path, *needed):
            shutil.copyfile(file, folder / file.name)
    except OSError as error:
        raise PostilError(f"{file}: cannot be read: {error.strerror or error}") from error
    try:
        return _tried(folder / path.name, "mode=rw")
    except InvalidInput as error:
        if not incomplete:
            raise InvalidInput(error.problem, where=str(path)) from None
        return _tried(path, "immutable=1")


def copy_whole(source: sqlite3.Connection, path: str) -> None:
    """Copy a database with everything that its log holds, as it is at one moment, and mark the copy as complete.

    Args:
        source: The database; others may write meanwhile.
        path: An empty file.

    Raises:
        InvalidInput: The database is damaged.
        OSError: The copy cannot be written.
        sqlite3.Error: The database cannot be read.
    """
    with closing(connect(Path(path), "mode=rw")) as copy:
        # The caller syncs the whole file; a journal beside it would stay where the disk is full.
        settle(copy, "synchronous = OFF", "journal_mode = MEMORY")
        try:
            source.backup(copy)
            settle(copy, "journal_mode = MEMORY", "user_version = 0")  # the source's may be a write-ahead log
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_FULL:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error
            if error.sqlite_errorcode == sqlite3.SQLITE_IOERR_WRITE:  # only the copy is written
                raise OSError(errno.EIO, f"{error}; is the disk full?") from error
            raise
        if (found := copy.execute("PRAGMA integrity_check(1)").fetchone()[0]) != "ok":
            raise InvalidInput(f"the campaign is damaged: {found}")


def _tried(path: Path, how: str) -> Callable[[], sqlite3.Connection]:
    """Return a function that makes connections for reading, once one has worked."""

    def opened() -> sqlite3.Connection:
        connection = connect(path, how)
        settle(connection, "query_only = ON")
        return connection

    with closing(opened()) as connection:
        if how == "immutable=1":
            user_version(connection)
        else:
            _refuse_other_log(path, connection)
    return opened


def _beside(path: Path, kind: str) -> Path:
    return path.with_name(f"{path.name}-{kind}")


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


def _state(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_mtime_ns, found.st_size


def _mark(path: Path) -> int:
    """The number in the file itself, whatever the write-ahead log holds.

    The file must not be opened by other means than SQLite's: closing it would drop this process's locks.
    """
    with closing(connect(path, "immutable=1")) as connection:
        return user_version(connection)


def _common_mark(path: Path, connection: sqlite3.Connection) -> int | None:
    """The mark of the file; None where the log that the connection reads is of another time."""
    seen: tuple[object, ...] = ()
    still, until = 0, time.monotonic() + LIVELY
    while still < ATTEMPTS and time.monotonic() < until:
        mark, version = _mark(path), user_version(connection)
        interrupted = version > 0 and (mark == 0 or version == abs(mark) + 1)  # before the checkpoint of this number
        if abs(mark) == abs(version) or interrupted:
            return mark
        # Processes that use the file are about to make the numbers equal; on a busy disk, and if several make
        # checkpoints at one moment, that takes a while, in which they write to the log.
        now = mark, version, _log_state(path)
        still, seen = still + 1 if now == seen else 0, now
        time.sleep(0.02)
    return None


def _log_state(path: Path) -> tuple[int, int] | None:
    with suppress(OSError):
        return _state(_beside(path, "wal"))
    return None


def _refuse_alone(path: Path) -> None:
    """Raise InvalidInput where the file needs a log that is not there."""
    log = _beside(path, "wal")
    if log.exists():
        return
    try:
        with closing(connect(path, "immutable=1")) as connection:
            ours = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'campaign'").fetchone()
            needed = ours is not None and user_version(connection) > 0
    except sqlite3.Error:
        return  # no database: whoever opens it will say so
    if needed and not log.exists():  # else another process began to use it at this moment
        problem = Message(
            "{log} is missing, which holds the latest annotations of this campaign: the file was copied or moved while "
            "it was in use. {advice}",
            log=log.name,
            advice=_ADVICE,
        )
        raise InvalidInput(problem, where=str(path))


def _refuse_other_log(path: Path, connection: sqlite3.Connection) -> None:
    """Raise InvalidInput where the file and its log are of different times."""
    if _common_mark(path, connection) is None:
        log = _beside(path, "wal").name
        problem = Message(
            "this file and {log} were copied at different times and do not belong together. If the file is a backup in "
            "the place of a campaign, move {log} elsewhere. {advice}",
            log=log,
            advice=_ADVICE,
        )
        raise InvalidInput(problem, where=str(path))
