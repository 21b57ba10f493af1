"""Database of a campaign: opened, checked, written durably, and its log of what leads did."""

from __future__ import annotations

import sqlite3
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from operator import itemgetter
from pathlib import Path
from threading import Condition
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, Self, TypeVar, cast

import sqlalchemy as sql
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from postil.campaigns import tables
from postil.campaigns.campaign_file import CampaignFile, connections_to_read, copy_whole
from postil.campaigns.models import NoCampaign
from postil.campaigns.tables import SCHEMA, UPGRADABLE
from postil.data.group_commit import GroupWriter
from postil.data.sqlite_file import database_error
from postil.errors import InvalidInput, PostilError, UsageError, needs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sqlalchemy import ClauseElement, Connection, Dialect, Engine
    from sqlalchemy.sql.compiler import SQLCompiler

__all__ = [
    "Change",
    "CompiledStatement",
    "Database",
    "changes",
    "detail_of",
    "lock_campaign",
    "log_change",
]

R = TypeVar("R")
T = TypeVar("T")

PATIENCE: Final = 5.0
"""Seconds that closing waits for readers."""

ADVICE: Final = "the database was damaged or changed by another program; take a copy made by 'postil annotate backup'"
"""Advice for a damaged campaign."""

_ADVICE: Final = {
    sqlite3.SQLITE_CORRUPT: ADVICE,
    sqlite3.SQLITE_NOTADB: "expected a campaign that postil annotate plan made",
    sqlite3.SQLITE_READONLY: "make the file and its folder writable, or work on a copy of 'postil annotate backup'",
}
"""Advice by SQLite's code of an error."""

CLOSED: Final = "the campaign is closed"

READERS: Final = 48
"""Maximum number of concurrent readers."""


class Database:
    """A database with the tables of a campaign, for many threads and processes at once.

    Args:
        engine: SQLAlchemy engine.
        file: SQLite file, marked as in use; None for PostgreSQL and for reading only.
        until: Contexts to exit when the database is closed.
        writable: False to refuse transactions that write.

    Attributes:
        where: Location of the database for messages, without a password.
        path: SQLite file; None for PostgreSQL.
    """

    def __init__(self, engine: Engine, file: CampaignFile | None, until: ExitStack, *, writable: bool = True) -> None:
        self.where = _shown(engine.url)
        self._engine = engine
        self._file, self._until = file, until
        self._open, self._reading, self._readers_left = True, 0, Condition()
        self._sqlite = engine.dialect.name == "sqlite"
        self.path = Path(str(engine.url.database)) if self._sqlite else None
        self._once = engine if self._sqlite else engine.execution_options(isolation_level="AUTOCOMMIT")
        self._errors = (SQLAlchemyError, engine.dialect.loaded_dbapi.Error)
        self._write: GroupWriter[Connection] | DirectWriter | None = None
        if file is not None:
            connection = engine.connect()
            connection.begin()  # to SQLAlchemy all is one transaction: those of the file are the writer's
            self._write = GroupWriter(_driver(connection), connection, self._translate, closed=CLOSED, keeper=file)
        elif writable:
            self._write = DirectWriter(engine, self._translate)

    @classmethod
    def open(
        cls,
        url: str,
        *,
        make: bool = False,
        read_only: bool = False,
        incomplete: bool = False,
        earlier: bool = False,
        alarm: Callable[[str], None] | None = None,
    ) -> Self:
        """Open a database.

        Args:
            url: ``postgresql://…``, ``sqlite:///…``, or the name of an SQLite file.
            make: True to create the file and the tables if there are none.
            read_only: True to refuse transactions that write; no right to write to the disk is needed then.
            incomplete: True to read an SQLite file alone if its write-ahead log is missing or of another time.
            earlier: With `read_only`: True to take one of an earlier version that can be upgraded, as it is.
            alarm: Callback for messages when an SQLite file is lost while in use, and when it is back.

        Raises:
            UsageError: The URL is of another kind.
            MissingExtra: The package for PostgreSQL is not installed.
            NoCampaign: There is no campaign.
            InvalidInput: It is one of another version of postil, or a part of it is missing.
            PostilError: The database cannot be reached.
        """
        address = _address(url)
        where, schema, file, until = _shown(address), None, None, ExitStack()
        try:
            with ExitStack() as undo:
                undo.push(until)
                if address.get_backend_name() == "postgresql":
                    engine = _postgresql(address)
                elif read_only:
                    path = _sqlite_path(address, make=make)
                    engine = _sqlite(address, connections_to_read(path, until, incomplete=incomplete))
                else:
                    file = CampaignFile(_sqlite_path(address, make=make), make=make, alarm=alarm)
                    engine = _sqlite(address, file.connect)
                undo.callback(engine.dispose)
                # Of several processes one changes the tables; whoever only checks them keeps nobody from annotating.
                changes = make or _outdated(engine)
                with engine.begin() as connection:
                    if file is not None:
                        connection.exec_driver_sql("BEGIN IMMEDIATE" if changes else "BEGIN")
                    if sql.inspect(connection).has_table("campaign"):
                        schema = _intact(connection, where, upgrade=changes and not read_only)
                    elif file is not None and sql.inspect(connection).get_table_names():
                        raise InvalidInput("this database holds other tables; choose a new file", where=where)
                    if make:
                        tables.METADATA.create_all(connection)
                if schema is None and not make:
                    raise NoCampaign("there is no campaign here; create one with postil annotate plan", where=where)
                if schema not in {SCHEMA, None} and not (earlier and schema in UPGRADABLE):
                    raise InvalidInput(_other_version(schema), where=where)
                if file is not None:
                    file.begin()
                undo.pop_all()
        except (SQLAlchemyError, sqlite3.Error) as error:
            raise database_error(where, _cause(error), "cannot be opened", _ADVICE) from error
        return cls(engine, file, until, writable=not read_only)

    @property
    def writable(self) -> bool:
        """False if transactions that write are refused."""
        return self._write is not None

    def close(self) -> None:
        """Finish all transactions and close the database; an SQLite file is then complete by itself."""
        if not self._open:
            return
        with self._readers_left:
            self._open = False
        if self._write is not None:
            self._write.close()
        with self._readers_left:
            self._readers_left.wait_for(lambda: not self._reading, PATIENCE)
        self._engine.dispose()
        if self._file is not None:
            self._file.end()
        self._until.close()

    def copy(self, path: str) -> None:
        """Copy the database to a new SQLite file as it is at one moment, while others use it.

        Args:
            path: The file to write: an empty one, which must not be open elsewhere.

        Raises:
            UsageError: This is no SQLite database.
            PostilError: The operating system reports an error, or the database is damaged.
        """
        if not self._sqlite:
            raise UsageError("only a campaign in an SQLite file can be copied; for PostgreSQL use pg_dump")
        with self.reading(once=True) as connection:
            copy_whole(_driver(connection), path)

    @contextmanager
    def reading(self, *, once: bool = False) -> Iterator[Connection]:
        """Open a connection for reading, on one snapshot of an SQLite file.

        Args:
            once: True for a single query, which needs no transaction.

        Raises:
            PostilError: The database reports an error.
        """
        with self._readers_left:
            self._check_open()
            self._reading += 1
        try:
            with (self._once if once else self._engine).connect() as connection:
                if self._sqlite and not once:
                    connection.exec_driver_sql("BEGIN")
                yield connection
        except (*self._errors, InvalidInput) as error:
            raise self._translate(error)  # noqa: B904 - which knows its cause
        finally:
            with self._readers_left:
                self._reading -= 1
                self._readers_left.notify_all()

    def run(self, transaction: Callable[[Connection], T]) -> T:
        """Run a transaction atomically; when this returns, it is on disk.

        Args:
            transaction: The transaction.

        Raises:
            PostilError: The database reports an error, or the campaign is closed.
        """
        return self.submit(transaction).result()

    def submit(self, transaction: Callable[[Connection], T]) -> Future[T]:
        """Run a transaction in the background; when the future has its value, it is on disk.

        Args:
            transaction: The transaction.

        Raises:
            PostilError: The campaign is closed; errors of the database come with the future.
        """
        self._check_open()
        if self._write is None:
            raise PostilError("the campaign is open for reading only")
        return self._write.submit(transaction)

    def _check_open(self) -> None:
        if not self._open:
            raise PostilError(CLOSED)

    def _translate(self, error: BaseException) -> BaseException:
        if isinstance(error, InvalidInput) and not error.where:  # in a value that SQLite let pass
            return InvalidInput(f"{error.problem}; {ADVICE}", where=self.where, field=error.field)
        if not isinstance(error, self._errors):
            return error
        problem = database_error(self.where, _cause(error), advice=_ADVICE)
        problem.__cause__ = error
        return problem


def lock_campaign(connection: Connection) -> None:
    """Lock the campaign until the transaction ends, so that one program at a time changes its plan or its state.

    Args:
        connection: The database connection, in a transaction that has locked no people yet.
    """
    connection.execute(sql.select(tables.campaign.c.id).with_for_update())


def _outdated(engine: Engine) -> bool:
    """True if the tables are of an earlier version, which `_intact` can upgrade."""
    with engine.connect() as connection:
        return _schema(connection) in UPGRADABLE


def _intact(connection: Connection, where: str, *, upgrade: bool) -> int | None:
    """Version of the tables of a campaign, without damage where this version of postil can use it."""
    schema = _schema(connection)
    if schema in UPGRADABLE and upgrade:
        tables.upgrade(connection)
        schema = SCHEMA
    if schema in {SCHEMA, None} and (found := tables.damage(connection)):
        raise InvalidInput(f"{found[1]}; {ADVICE}", where=where, field=found[0])
    return schema


def _schema(connection: Connection) -> int | None:
    """Version of the tables; None if there is none, or it cannot be read."""
    try:
        found: int | None = connection.execute(sql.select(tables.campaign.c.schema)).scalar()
    except SQLAlchemyError:
        return None
    return found


def _other_version(schema: int) -> str:
    """Problem and remedy of a campaign of another version."""
    if schema in UPGRADABLE:
        way = "'postil annotate upgrade' makes it one of this version"
    else:
        way = "install a newer postil" if schema > SCHEMA else "export it with the version that made it"
    return f"made by another version of postil (tables {schema}, not {SCHEMA}); {way}"


def _cause(error: BaseException) -> BaseException:
    """The error of the driver behind one of SQLAlchemy."""
    return getattr(error, "orig", None) or error


def _address(url: str) -> sql.URL:
    if not url.strip():
        raise UsageError("expected the name or URL of a database, got an empty string")
    try:
        address = sql.make_url(url) if "://" in url else sql.URL.create("sqlite", database=url)
    except (ArgumentError, ValueError):
        raise UsageError("expected FILE, sqlite:///FILE or postgresql://USER@HOST/DATABASE") from None
    if (kind := address.get_backend_name()) not in {"sqlite", "postgresql"}:
        raise UsageError(f"unknown kind of database '{kind}'; expected sqlite or postgresql")
    return address


def _shown(address: sql.URL) -> str:
    if address.get_backend_name() == "sqlite":
        return str(address.database)
    return address.set(drivername="postgresql").render_as_string(hide_password=True)


def _postgresql(address: sql.URL) -> Engine:
    with needs("a campaign in PostgreSQL", "postgres"):
        address = address.set(drivername="postgresql+psycopg")
        return sql.create_engine(address, pool_size=READERS // 2, max_overflow=READERS // 2, pool_pre_ping=True)


def _sqlite(address: sql.URL, connect: Callable[[], sqlite3.Connection]) -> Engine:
    url = sql.URL.create("sqlite", database=address.database)
    return sql.create_engine(url, creator=connect, pool_size=READERS // 2, max_overflow=READERS // 2)


def _sqlite_path(address: sql.URL, *, make: bool) -> Path:
    if not address.database or address.database == ":memory:":
        raise UsageError("a campaign in memory would be lost; choose a file")
    file = Path(address.database)
    if not file.parent.is_dir():
        raise UsageError(f"{file}: parent folder {file.parent} does not exist")
    if not make and not file.is_file():
        raise NoCampaign("there is no such file", where=str(file))
    return file


THREADS: Final = 16
"""Number of concurrent transactions, where the database takes many writers."""


class DirectWriter:
    """Writer that commits every transaction by itself, for a server that takes many writers; else as `GroupWriter`.

    Args:
        engine: Engine of the database.
        translate: Function that makes the error for callers from one of the driver.
    """

    def __init__(self, engine: Engine, translate: Callable[[BaseException], BaseException]) -> None:
        self._engine, self._translate = engine, translate
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="postil-writer")

    def submit(self, transaction: Callable[[Connection], T]) -> Future[T]:
        """Run a transaction in the background; when the future has its value, it is on disk."""
        return self._pool.submit(self._run, transaction)

    def close(self) -> None:
        """Finish all transactions."""
        self._pool.shutdown()

    def _run(self, transaction: Callable[[Connection], T]) -> T:
        try:
            with self._engine.begin() as connection:
                return transaction(connection)
        except BaseException as error:
            raise self._translate(error)  # noqa: B904 - which knows its cause


def _driver(connection: Connection) -> sqlite3.Connection:
    return cast("sqlite3.Connection", connection.connection.driver_connection)


class CompiledStatement(Generic[R]):
    """A statement whose SQL text is compiled once per dialect, with typed rows.

    It is no prepared statement: the database parses and plans the text at every call. What it saves is SQLAlchemy's
    look-up of the text and its wrapping of results, which take five times as long as the database itself. Values go to
    the driver unconverted, so columns must be of types that need no conversion.

    Args:
        statement: The statement, with a named parameter for each value.
        row: Constructor of a row, such as ``_make`` of a named tuple with a field per column.
        columns: Names of the inserted columns, for an INSERT.
    """

    def __init__(
        self, statement: ClauseElement, row: Callable[[Sequence[Any]], R], columns: Sequence[str] | None = None
    ) -> None:
        self._statement, self._row, self._columns = statement, row, columns
        self._compiled: dict[str, tuple[str, Mapping[str, object], Sequence[str] | None]] = {}

    def rows(self, connection: Connection, values: Mapping[str, object]) -> list[R]:
        """Execute the statement and fetch its rows; none if it returns none.

        Args:
            connection: The database connection.
            values: Values of the parameters, by name.
        """
        dialect = connection.dialect
        text, fixed, order = self._compiled.get(dialect.name) or self._compile(dialect)
        cursor = connection.connection.cursor()
        given = {**fixed, **values}
        cursor.execute(text, given if order is None else tuple(given[name] for name in order))
        return list(map(self._row, cursor.fetchall())) if cursor.description else []

    def many(self, connection: Connection, values: Sequence[Mapping[str, object]]) -> int:
        """Execute the statement once for each of several sets of values.

        Args:
            connection: The database connection.
            values: Values of all parameters, by name.

        Returns:
            Number of rows that were changed.
        """
        dialect = connection.dialect
        text, _, order = self._compiled.get(dialect.name) or self._compile(dialect)
        given = list(values) if order is None else list(map(itemgetter(*order), values))
        cursor = connection.connection.cursor()
        cursor.executemany(text, given)
        return cursor.rowcount

    def first(self, connection: Connection, values: Mapping[str, object]) -> R | None:
        """Execute the statement and fetch its first row; None if there is none.

        Args:
            connection: The database connection.
            values: Values of the parameters, by name.
        """
        found = self.rows(connection, values)
        return found[0] if found else None

    def _compile(self, dialect: Dialect) -> tuple[str, Mapping[str, object], Sequence[str] | None]:
        compiled = cast("SQLCompiler", self._statement.compile(dialect=dialect, column_keys=self._columns))
        made = str(compiled), dict(compiled.params), compiled.positiontup if compiled.positional else None
        self._compiled[dialect.name] = made
        return made


class Change(NamedTuple):
    """Entry of the log of changes.

    Args:
        time: Time, in seconds since 1970.
        kind: Type of the change: ``paused``, ``resumed``, ``closed``, ``deadline``, ``ended`` (the deadline was seen to
            pass), ``joined`` (an annotator, late), ``removed`` (a person), or another one of a later version.
        person: Number of the lead; None for the command line and for what happened by itself.
        pseudonym: Pseudonym of the lead.
        detail: More about it, by name.
    """

    time: float
    kind: str
    person: int | None
    pseudonym: str
    detail: Mapping[str, object]


def log_change(
    connection: Connection, kind: str, now: float, detail: Mapping[str, object], by: int | None = None
) -> None:
    """Append an entry to the log of changes.

    Args:
        connection: The database connection, in a transaction.
        kind: Type of the change.
        now: Time, in seconds since 1970.
        detail: More about it, by name; names of people do not belong there, pseudonyms do.
        by: Number of the lead; None for the command line.
    """
    values = {
        "time": now,
        "kind": kind,
        "person": by,
        "detail": tables.encoded(detail),
    }
    connection.execute(tables.change.insert().values(values))


def changes(connection: Connection) -> list[Change]:
    """Read the log of changes, in order of time.

    Args:
        connection: The database connection.
    """
    table = tables.change
    query = (
        sql.select(table.c.time, table.c.kind, table.c.person, tables.person.c.pseudonym, table.c.detail)
        .join_from(table, tables.person, table.c.person == tables.person.c.id, isouter=True)
        .order_by(table.c.id)
    )
    rows = connection.execute(query).all()
    return [Change(when, kind, who, name or "", detail_of(text)) for when, kind, who, name, text in rows]


def detail_of(text: str) -> dict[str, object]:
    """Decode the detail of an entry.

    Args:
        text: JSON of an object.

    Raises:
        InvalidInput: It is none.
    """
    return tables.decoded(text, dict[str, object], "a JSON object", "change.detail")
