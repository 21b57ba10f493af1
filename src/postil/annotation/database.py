"""The database behind a campaign: opened, and set up to lose nothing."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import sqlalchemy as sql
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from postil.annotation import tables
from postil.annotation.tables import SCHEMA
from postil.annotation.writing import Direct, Grouped
from postil.errors import InvalidInput, MissingExtra, PostilError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future
    from typing import Self

    from sqlalchemy import Connection, Engine

    from postil.annotation.writing import Writer

__all__ = ["Database"]

T = TypeVar("T")

BUSY: Final = 30.0
"""How long another process may hold an SQLite file, in seconds."""

READERS: Final = 48
"""How many may read at once."""


class Database:
    """A database with the tables of a campaign. Many threads and processes may use it at once.

    Args:
        engine: How SQLAlchemy reaches it.

    Attributes:
        where: What it is called, without a password.
    """

    def __init__(self, engine: Engine) -> None:
        self.where = _shown(engine)
        self._engine = engine
        self._open = True
        self._file = engine.dialect.name == "sqlite"
        self._once = engine if self._file else engine.execution_options(isolation_level="AUTOCOMMIT")
        self._errors = (SQLAlchemyError, engine.dialect.loaded_dbapi.Error)
        self._write: Writer = Grouped(engine, self._told) if self._file else Direct(engine, self._told)

    @classmethod
    def open(cls, url: str, *, make: bool) -> Self:
        """Open a database.

        Args:
            url: ``postgresql://…``, ``sqlite:///…``, or the name of an SQLite file.
            make: Make the file and the tables where there are none.

        Raises:
            UsageError: The URL is of another kind.
            MissingExtra: The package for PostgreSQL is not installed.
            InvalidInput: There is no campaign, or one of another version of postil.
            PostilError: The database cannot be reached.
        """
        engine = _engine_of(url, make=make)
        where = _shown(engine)
        schema = None
        try:
            with engine.begin() as connection:
                if make and engine.dialect.name == "sqlite":
                    connection.exec_driver_sql("BEGIN IMMEDIATE")  # one process makes the tables
                if sql.inspect(connection).has_table("campaign"):
                    schema = connection.execute(sql.select(tables.campaign.c.schema)).scalar()
                if make:
                    tables.METADATA.create_all(connection)
        except SQLAlchemyError as error:
            engine.dispose()
            raise PostilError(f"{where}: cannot be opened: {_said(error)}") from error
        if schema != SCHEMA and not (make and schema is None):
            engine.dispose()
            other = f"made by another version of postil (tables {schema}, not {SCHEMA})"
            none = "there is no campaign here; postil annotate plan makes one"
            raise InvalidInput(none if schema is None else other, where=where)
        return cls(engine)

    def close(self) -> None:
        """Finish what was begun and let go of the database."""
        if self._open:
            self._open = False
            self._write.close()
            self._engine.dispose()

    @contextmanager
    def reading(self, *, once: bool = False) -> Iterator[Connection]:
        """A connection to read with; an SQLite file does not change meanwhile.

        Args:
            once: For a single query, which needs no transaction.

        Raises:
            PostilError: The database refuses.
        """
        try:
            with (self._once if once else self._engine).connect() as connection:
                if self._file and not once:
                    connection.exec_driver_sql("BEGIN")
                yield connection
        except self._errors as error:
            raise self._told(error)  # noqa: B904 - which knows its cause

    def change(self, work: Callable[[Connection], T]) -> T:
        """Carry out a change, whole or not at all; when this returns, it is on disk.

        Args:
            work: Makes the change. It may be called again if another one fails.

        Raises:
            PostilError: The database refuses, or the campaign is closed.
        """
        self._still_open()
        return self._write.carry_out(work)

    def submit(self, work: Callable[[Connection], T]) -> Future[T]:
        """Carry out a change meanwhile; when the future has its value, it is on disk.

        Args:
            work: Makes the change. It may be called again if another one fails.

        Raises:
            PostilError: The campaign is closed; what the database refuses comes with the future.
        """
        self._still_open()
        return self._write.submit(work)

    def _still_open(self) -> None:
        if not self._open:
            raise PostilError("the campaign is closed")

    def _told(self, error: BaseException) -> BaseException:
        if not isinstance(error, self._errors):
            return error
        problem = PostilError(f"the database refuses: {_said(error)}")
        problem.__cause__ = error
        return problem


def _said(error: BaseException) -> str:
    """What the database says, in one line."""
    return str(getattr(error, "orig", None) or error).strip().partition("\n")[0]


def _engine_of(url: str, *, make: bool) -> Engine:
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


def _shown(engine: Engine) -> str:
    if engine.dialect.name == "sqlite":
        return str(engine.url.database)
    return engine.url.set(drivername="postgresql").render_as_string(hide_password=True)


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
        connection.isolation_level = None  # transactions are begun in words, not by the driver
        cursor = connection.cursor()
        for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            cursor.execute(f"PRAGMA {setting}")
        cursor.close()

    sql.event.listen(engine, "connect", connect)
    return engine
