"""SQLite files: connected to, known by their header, made, brought to this version, rewritten; errors in words.

A kind of file is known by the field `application_id` of the header, and its version by the field `user_version`.
"""

from __future__ import annotations

import sqlite3
import tempfile
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from postil.errors import InvalidInput, PostilError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

__all__ = [
    "Kind",
    "begin",
    "connect",
    "create",
    "database_error",
    "error_code",
    "set_log",
    "settle",
    "shrink",
    "temporary",
    "user_version",
]

BUSY: Final = 30.0
"""Seconds to wait for another program that holds a file."""

SHORTEST_NAP, LONGEST_NAP = 0.0005, 0.02
"""Seconds between two attempts to write, which grow with the time waited."""

DAMAGE: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""Codes of errors of a file that is damaged, or no database."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file: how one is known, made, and brought to the version of this program.

    Args:
        application: Number by which the file is known.
        steps: SQL scripts without texts that hold a semicolon: each makes the next version of the one before, and the
            first the tables of an empty file.
        other: Problem with a file of another kind.
        newer: Problem with a file of a later version: template with ``found`` and ``known``.
        damaged: Problem with a file that is damaged, or no database: template with ``error``.
        refused: Beginning of what is said of other errors.
    """

    application: int
    steps: tuple[str, ...]
    other: str
    newer: str
    damaged: str
    refused: str = "the database reports an error"

    def prepare(self, connection: sqlite3.Connection, where: str) -> None:
        """Check that a file is of this kind, make its tables where it is empty, and bring it to this version.

        Args:
            connection: Connection to write; to read where the file is of this version.
            where: The file, for messages.

        Raises:
            InvalidInput: The file is of another kind, or of a later version.
            sqlite3.Error: The database reports an error.
        """
        # One statement, as another process may be making the tables.
        application, found, tables = connection.execute(
            "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master) "
            "FROM pragma_application_id, pragma_user_version"
        ).fetchone()
        known = len(self.steps)
        if application != self.application and tables:
            raise InvalidInput(self.other, where=where)
        if found > known:
            raise InvalidInput(self.newer.format(found=found, known=known), where=where)
        if found == known:
            return
        with connection:
            begin(connection)
            for step in self.steps[user_version(connection) :]:
                for statement in step.split(";"):
                    connection.execute(statement)
            settle(connection, f"application_id = {self.application}", f"user_version = {known}")

    @contextmanager
    def said(self, where: str) -> Iterator[None]:
        """Put errors of the database and of the operating system into words.

        Args:
            where: The file.

        Raises:
            InvalidInput: The file is damaged, or no database.
            PostilError: Another error was reported.
        """
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            if error_code(error) in DAMAGE:
                raise InvalidInput(self.damaged.format(error=error), where=where) from error
            raise database_error(where, error, self.refused) from error


def error_code(error: BaseException) -> int:
    """Primary code of an error of SQLite; 0 for another error.

    Args:
        error: The error.
    """
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF


def database_error(
    where: str,
    error: BaseException,
    problem: str = "the database reports an error",
    advice: Mapping[int, str] | None = None,
) -> PostilError:
    """Make the error to raise for one of the database.

    Args:
        where: The file.
        error: The error.
        problem: Beginning of what is said of it.
        advice: Advice by the code of the error.
    """
    said = str(getattr(error, "strerror", None) or error).strip().partition("\n")[0]
    what = (advice or {}).get(error_code(error))
    return PostilError(f"{where}: {problem}: {said}" + (f"; {what}" if what else ""))


def create(path: Path) -> None:
    """Create an empty file that only its owner can read; SQLite gives the files beside it the same permissions.

    SQLite itself would leave the permissions to the umask. A file that is there stays as it is.

    Args:
        path: The file.

    Raises:
        PostilError: The operating system reports an error.
    """
    try:
        path.touch(0o600, exist_ok=False)
    except FileExistsError:
        pass
    except OSError as error:
        raise PostilError(f"{path}: cannot be created: {error.strerror or error}") from error


def connect(path: Path, how: str = "mode=ro") -> sqlite3.Connection:
    """Connect to a file, without beginning a transaction: none is begun but in words.

    Args:
        path: The file.
        how: ``mode=ro`` to read, ``mode=rw`` to write, ``mode=rwc`` to make it, too; ``immutable=1`` to read a file
            alone that nobody changes.

    Raises:
        sqlite3.Error: The file cannot be opened.
    """
    # A name alone would make SQLite create a file that is missing.
    address = f"{path.absolute().as_uri()}?{how}"
    return sqlite3.connect(address, uri=True, timeout=BUSY, check_same_thread=False, isolation_level=None)


def settle(connection: sqlite3.Connection, *settings: str) -> None:
    """Set fields of the connection or of the header.

    Args:
        connection: The connection.
        settings: Each as ``name = value``.
    """
    for setting in settings:
        connection.execute(f"PRAGMA {setting}")


def user_version(connection: sqlite3.Connection) -> int:
    """Read the field user_version of the header.

    Args:
        connection: The connection.
    """
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def set_log(connection: sqlite3.Connection, problem: str) -> None:
    """Let a file have a write-ahead log.

    Args:
        connection: Connection to write.
        problem: Problem where the file system cannot hold one.

    Raises:
        PostilError: The file system cannot hold one.
    """
    if connection.execute("PRAGMA journal_mode = WAL").fetchone() != ("wal",):
        raise PostilError(problem)


def begin(connection: sqlite3.Connection) -> None:
    """Begin a transaction that writes, once no other process writes.

    SQLite's own wait would sleep up to 0.1 s beyond the moment when the lock is free.

    Args:
        connection: Connection to write, which commits it as a context.

    Raises:
        sqlite3.OperationalError: Another process holds the lock for too long.
    """
    began = time.monotonic()
    settle(connection, "busy_timeout = 0")
    try:
        while not _begun(connection, waited := time.monotonic() - began):
            time.sleep(min(LONGEST_NAP, SHORTEST_NAP + waited / 10))
    finally:
        settle(connection, f"busy_timeout = {1000 * BUSY:.0f}")


def _begun(connection: sqlite3.Connection, waited: float) -> bool:
    """Begin a transaction; False if another process writes."""
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if error_code(error) != sqlite3.SQLITE_BUSY or waited > BUSY:
            raise
        return False
    return True


def shrink(connection: sqlite3.Connection, where: str) -> None:
    """Rewrite a file, so that neither it nor its write-ahead log has bytes of what was deleted.

    Args:
        connection: Connection to write, outside of a transaction.
        where: The file, for messages.

    Raises:
        PostilError: Another program reads the file all the time.
        sqlite3.Error: The database reports an error.
    """
    connection.execute("VACUUM")
    if connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
        problem = "another program is reading it, so its write-ahead log still has what was erased"
        raise PostilError(f"{where}: {problem}; end that program, and erase again")


@contextmanager
def temporary(script: str) -> Iterator[sqlite3.Connection]:
    """Open a database that is gone afterwards.

    Args:
        script: SQL that makes its tables.

    Yields:
        The database.

    Raises:
        PostilError: There is no room for it.
    """
    with tempfile.TemporaryDirectory(prefix="postil-") as folder:
        try:
            with closing(sqlite3.connect(f"{folder}/rows.sqlite")) as rows:
                rows.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {script}")
                yield rows
        except sqlite3.Error as error:
            raise PostilError(f"the temporary folder {tempfile.gettempdir()} refuses: {error}; see TMPDIR") from error
