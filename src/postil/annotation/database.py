"""The database behind a campaign: opened, and set up to lose nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sql
from sqlalchemy.exc import ArgumentError

from postil.errors import InvalidInput, MissingExtra, UsageError

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

__all__ = ["engine_of", "locking", "shown", "single"]

BUSY: Final = 30.0
"""How long another process may hold an SQLite file, in seconds."""

READERS: Final = 48
"""How many may read at once."""


def engine_of(url: str, *, make: bool) -> Engine:
    """The engine of a URL.

    Args:
        url: ``postgresql://…``, ``sqlite:///…``, or the name of an SQLite file.
        make: Make the file where there is none.

    Raises:
        UsageError: The URL is of another kind.
        MissingExtra: The package for PostgreSQL is not installed.
        InvalidInput: There is no such file.
    """
    if not url.strip():
        raise UsageError("expected the name or URL of a database, got an empty text")
    try:
        address = sql.make_url(url) if "://" in url else sql.URL.create("sqlite", database=url)
    except (ArgumentError, ValueError):
        raise UsageError("expected FILE, sqlite:///FILE or postgresql://USER@HOST/DATABASE") from None
    kind = address.get_backend_name()
    if kind == "sqlite":
        return _sqlite(address, make=make)
    if kind == "postgresql":
        try:
            address = address.set(drivername="postgresql+psycopg")
            return sql.create_engine(address, pool_size=READERS // 2, max_overflow=READERS // 2, pool_pre_ping=True)
        except ImportError as error:
            raise MissingExtra("a campaign in PostgreSQL", "postgres") from error
    raise UsageError(f"unknown kind of database '{kind}'; expected sqlite or postgresql")


def shown(engine: Engine) -> str:
    """The database for people to read: a file's name, or a URL without its password.

    Args:
        engine: The database.
    """
    if engine.dialect.name == "sqlite":
        return str(engine.url.database)
    return engine.url.set(drivername="postgresql").render_as_string(hide_password=True)


def locking(engine: Engine) -> Engine:
    """The same database, with transactions that take the lock for writing at once.

    Args:
        engine: Of an SQLite file.
    """
    return engine.execution_options(begin="IMMEDIATE")


def single(engine: Engine) -> Engine:
    """The same database, for one query at a time, which an SQLite file needs no transaction for.

    Args:
        engine: The database.
    """
    return engine.execution_options(begin="") if engine.dialect.name == "sqlite" else engine


def _sqlite(address: sql.URL, *, make: bool) -> Engine:
    if not address.database or address.database == ":memory:":
        raise UsageError("a campaign in memory would be lost; name a file")
    file = Path(address.database)
    if not file.parent.is_dir():
        raise UsageError(f"{file}: there is no folder {file.parent}")
    if not make and not file.is_file():
        raise InvalidInput("there is no such file", where=str(file))
    engine = sql.create_engine(
        sql.URL.create("sqlite", database=str(file)),
        connect_args={"timeout": BUSY, "check_same_thread": False},
        pool_size=READERS // 2,
        max_overflow=READERS // 2,
    )

    def connect(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # transactions are begun below, not by the driver
        cursor = connection.cursor()
        for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            cursor.execute(f"PRAGMA {setting}")
        cursor.close()

    def begin(connection: Connection) -> None:
        lock = connection.get_execution_options().get("begin", "DEFERRED")
        if lock:
            connection.exec_driver_sql(f"BEGIN {lock}")

    sql.event.listen(engine, "connect", connect)
    sql.event.listen(engine, "begin", begin)
    return engine
