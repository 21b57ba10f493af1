"""Parts of stores of servers: transactions that share a commit, and the SQLite file of the service.

A commit waits for the disk, once for all of its transactions. The file is in a folder that one service uses at a time.
"""

from __future__ import annotations

import sqlite3
from concurrent.futures import Future
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from postil.data.atomic_file import write_error
from postil.errors import InvalidInput, PostilError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["MAX_GROUP", "NAME", "Pending", "connect", "database_error", "open_file", "shrink"]

C = TypeVar("C")
T = TypeVar("T")

MAX_GROUP: Final = 256
"""Largest number of transactions per commit."""


class Pending(Generic[C, T]):
    """A submitted transaction, and its outcome until the group is committed.

    Args:
        transaction: The transaction.

    Attributes:
        future: Future of its value.
    """

    def __init__(self, transaction: Callable[[C], T]) -> None:
        self.future: Future[T] = Future()
        self._transaction = transaction
        self._outcome: Callable[[], object] = self.future.cancel

    def run(self, connection: C) -> None:
        """Run it.

        Args:
            connection: Connection to the database.
        """
        value = self._transaction(connection)
        self._outcome = lambda: self.future.set_result(value)

    def refuse(self, error: BaseException) -> None:
        """Let it fail.

        Args:
            error: The error that its caller gets.
        """
        self._outcome = lambda: self.future.set_exception(error)

    def answer(self) -> None:
        """Tell the caller the outcome; one that never ran is cancelled."""
        self._outcome()


NAME: Final = "service.db"
"""Name of the file in its folder."""

KIND: Final = 0x706F7374
"""The field application_id of the header, by which the file is known: "post"."""

SCHEMA: Final = 1
"""Version of the tables, in the field user_version of the header."""

BUSY: Final = 30.0
"""Seconds to wait for another program that holds the file."""

TABLES: Final = """
CREATE TABLE labels (
    number INTEGER PRIMARY KEY,
    sender TEXT NOT NULL,
    id TEXT,
    received TEXT NOT NULL,
    row BLOB NOT NULL,
    UNIQUE (sender, id)
);
CREATE INDEX labels_article ON labels (sender, json_extract(CAST(row AS TEXT), '$.article'));
CREATE TABLE impressions (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    made TEXT NOT NULL,
    article TEXT NOT NULL,
    models TEXT NOT NULL,
    teams TEXT NOT NULL
);
CREATE TABLE outcomes (
    impression INTEGER NOT NULL REFERENCES impressions (number),
    event TEXT NOT NULL,
    rank INTEGER NOT NULL,
    PRIMARY KEY (impression, event, rank)
) WITHOUT ROWID;
CREATE TABLE deliveries (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    made REAL NOT NULL,
    body BLOB,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    due REAL,
    problem TEXT NOT NULL
);
CREATE INDEX deliveries_due ON deliveries (due) WHERE due IS NOT NULL;
"""


def database_error(where: str, error: sqlite3.Error) -> PostilError:
    """Make the error to raise for one of the database.

    Args:
        where: The file.
        error: The error.
    """
    return PostilError(f"{where}: the database reports an error: {error}")


def connect(path: Path, how: str = "ro") -> sqlite3.Connection:
    """Connect to the file, without beginning a transaction.

    Args:
        path: The file.
        how: ro to read, rw to write.

    Raises:
        sqlite3.Error: The file cannot be opened.
    """
    # A name alone would make SQLite create a file that is missing.
    address = f"{path.absolute().as_uri()}?mode={how}"
    return sqlite3.connect(address, uri=True, timeout=BUSY, check_same_thread=False, isolation_level=None)


def open_file(path: Path) -> sqlite3.Connection:
    """Open the file to write, and make it where there is none, for its owner alone.

    Args:
        path: The file.

    Raises:
        InvalidInput: It is another file, or one of a newer version of postil.
        PostilError: The operating system reports an error.
    """
    try:
        path.touch(0o600)
    except OSError as error:
        raise write_error(str(path), error) from error
    try:
        connection = connect(path, "rw")
        try:
            _prepare(connection, str(path))
        except BaseException:
            connection.close()
            raise
    except sqlite3.OperationalError as error:
        raise database_error(str(path), error) from error
    except sqlite3.DatabaseError as error:
        problem = f"this is no store of postil serve ({error}); name another folder, or restore a copy"
        raise InvalidInput(problem, where=str(path)) from error
    return connection


def _prepare(connection: sqlite3.Connection, where: str) -> None:
    kind, schema = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    if kind != KIND and not empty:
        raise InvalidInput("this database is no store of postil serve; name another folder", where=where)
    if schema > SCHEMA:
        problem = f"made by a newer version of postil (tables {schema}, not {SCHEMA}); upgrade postil"
        raise InvalidInput(problem, where=where)
    if connection.execute("PRAGMA journal_mode = WAL").fetchone() != ("wal",):
        raise PostilError(f"{where}: this file system cannot hold the store; use a folder on a local disk")
    # A commit waits for the disk. What is deleted is overwritten, also where the file is not rewritten.
    for setting in ("synchronous = FULL", "secure_delete = ON", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {setting}")
    if empty:
        header = f"PRAGMA application_id = {KIND}; PRAGMA user_version = {SCHEMA};"
        connection.executescript(f"BEGIN IMMEDIATE; {header} {TABLES} COMMIT;")


def shrink(connection: sqlite3.Connection, where: str) -> None:
    """Rewrite the file, so that neither it nor its write-ahead log has bytes of what was deleted.

    Args:
        connection: Connection to write, outside of a transaction.
        where: The file, for messages.

    Raises:
        PostilError: Another program reads the file all the time.
    """
    connection.execute("VACUUM")
    if connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
        problem = "another program is reading it, so its write-ahead log still has what was erased"
        raise PostilError(f"{where}: {problem}; end that program, and erase again")
