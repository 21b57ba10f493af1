"""Database tables of a campaign, their rows, and a check of both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeVar

import msgspec
import sqlalchemy as sql
from sqlalchemy import Column, Connection, Float, ForeignKey, Index, Integer, MetaData, Table, Text, UniqueConstraint

from postil.data.fields import plain_id
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy.types import TypeEngine

    from postil.campaigns.models import Role

__all__ = [
    "GRADED",
    "METADATA",
    "MOST_ROWS",
    "MOVED",
    "OPEN",
    "SCHEMA",
    "SKIPPED",
    "STATES",
    "UPGRADABLE",
    "AssignmentRow",
    "PersonRow",
    "adjudication",
    "article",
    "assignment",
    "campaign",
    "change",
    "damage",
    "decoded",
    "encoded",
    "event",
    "invite",
    "item",
    "person",
    "session",
    "upgrade",
]

SCHEMA: Final = 3
"""Version of the tables; raised whenever they change."""

UPGRADABLE: Final = frozenset({2})
"""Earlier versions, which `upgrade` brings to this one. Other versions are refused."""

MOST_ROWS: Final = 2**31
"""Upper bound on the numbers of rows."""

OPEN, GRADED, SKIPPED, MOVED = range(4)
"""States of an assignment; one that was moved belongs to nobody any more."""

STATES: Final[tuple[Literal["open", "graded", "skipped"], ...]] = ("open", "graded", "skipped")
"""Names of the states that an annotator can see, by number."""

METADATA: Final = MetaData()

T = TypeVar("T")


def _id() -> Column[int]:
    return Column("id", Integer, primary_key=True)


def _to(table: str, key: str = "id") -> Column[int]:
    return Column(table, Integer, ForeignKey(f"{table}.{key}"), nullable=False)


def _required(kind: type[TypeEngine[T]], *names: str) -> list[Column[T]]:
    return [Column(name, kind, nullable=False) for name in names]


campaign: Final = Table(
    "campaign",
    METADATA,
    _id(),
    *_required(Integer, "schema"),
    *_required(Text, "data", "rubric"),
)
article: Final = Table(
    "article",
    METADATA,
    _id(),
    *_required(Text, "item", "title", "content", "lang"),
)
item: Final = Table(
    "item",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    _to("article"),
    *_required(Text, "system", "text"),
    Column("gold", Float),
    Column("sample", Integer, nullable=False, server_default="1"),  # of several texts of one item and system
    Column("context", Text, nullable=False, server_default=""),  # JSON of labelled texts shown with the item
    Column("purpose", Text, nullable=False, server_default=""),  # other than to be rated
    Column("golds", Text),  # JSON of the gold labels of several aspects
    Column("other_system", Text),  # of a pair: the second text
    Column("other_text", Text),
)
person: Final = Table(
    "person",
    METADATA,
    _id(),
    *_required(Text, "name", "role"),
    Column("pseudonym", Text, nullable=False, unique=True),
    Column("left_at", Float),  # time of removal
    Column("latest", Integer),  # the event that undo reverts
    Column("total", Integer, nullable=False, server_default="0"),
    Column("done", Integer, nullable=False, server_default="0"),
    Column("skipped", Integer, nullable=False, server_default="0"),
)
invite: Final = Table(
    "invite",
    METADATA,
    Column("hash", Text, primary_key=True),
    _to("person"),
    *_required(Float, "expires"),
    Column("used", Float),
)
session: Final = Table(
    "session",
    METADATA,
    Column("hash", Text, primary_key=True),
    _to("person"),
    *_required(Float, "expires"),
)
assignment: Final = Table(
    "assignment",
    METADATA,
    _id(),
    _to("item", "number"),
    _to("person"),
    *_required(Integer, "round", "position", "state"),
    Column("event", Integer),  # the event that made the state; None before the first
    Column("swapped", Integer),  # of a pair: 1 where the second text is on the left; None goes by the parity of id
    UniqueConstraint("item", "person", "round"),
    Index("assignment_open", "person", "state", "position"),
    Index("assignment_in_order", "person", "position"),
)
event: Final = Table(
    "event",
    METADATA,
    _id(),
    _to("person"),
    _to("assignment"),
    *_required(Text, "kind"),
    Column("grade", Float),
    Column("spans", Text),
    *_required(Text, "reason"),
    *_required(Float, "time"),
    Column("seconds", Float),
    *_required(Text, "idempotency_key"),
    Column("before", Integer),  # the event that made the assignment's state before this one
    Column("previous", Integer),  # the event that undo reverts after this one
    Column("undoes", Integer),
    Column("grades", Text),  # JSON of the grades of several aspects
    UniqueConstraint("person", "idempotency_key"),
    Index("event_of_person", "person", "id"),
)
change: Final = Table(
    "change",  # what leads did to the campaign; rows are appended and never changed
    METADATA,
    _id(),
    *_required(Float, "time"),
    *_required(Text, "kind"),
    Column("person", Integer, ForeignKey("person.id")),  # none on the command line
    *_required(Text, "detail"),
)
adjudication: Final = Table(
    "adjudication",
    METADATA,
    _id(),
    _to("item", "number"),
    _to("person"),
    *_required(Float, "grade"),
    *_required(Text, "reason"),
    *_required(Float, "time"),
    *_required(Text, "idempotency_key"),
    UniqueConstraint("person", "idempotency_key"),
    Index("adjudication_of_item", "item", "id"),
)


class PersonRow(NamedTuple):
    """A row of `person`, in the order of its columns."""

    id: int
    name: str
    role: Role
    pseudonym: str
    left_at: float | None
    latest: int | None
    total: int
    done: int
    skipped: int


class AssignmentRow(NamedTuple):
    """A row of `assignment`, in the order of its columns."""

    id: int
    item: int
    person: int
    round: int
    position: int
    state: int
    event: int | None
    swapped: int | None


_KINDS: Final = {
    Float: ("a number", ("integer", "real")),
    Integer: ("an integer", ("integer",)),
    Text: ("text", ("text",)),
}
"""Name of a column's type in messages, and its storage classes in SQLite."""

_CHOICES: Final = {
    assignment.c.state: range(4),
    event.c.kind: ("rate", "skip", "undo"),
    person.c.role: ("annotator", "lead"),
}


def encoded(value: object) -> str:
    """JSON of a value, for a column of text.

    Args:
        value: The value.
    """
    return msgspec.json.encode(value, enc_hook=plain_id).decode()


def decoded(stored: str, kind: type[T], expected: str, field: str) -> T:
    """Value of a column of JSON.

    Args:
        stored: The stored text.
        kind: Type of the value.
        expected: Description of it, for messages.
        field: Table and column.

    Raises:
        InvalidInput: The text is no such value.
    """
    try:
        return msgspec.json.decode(stored, type=kind)
    except (msgspec.MsgspecError, InvalidInput) as error:
        raise InvalidInput(f"expected {expected}: {error}", field=field) from None


def damage(connection: Connection) -> tuple[str, str] | None:
    """Find the first table, column or value that no program of this version can have written.

    PostgreSQL enforces types and references itself, so only names of tables and columns are checked there.

    Args:
        connection: The database connection.

    Returns:
        Location and problem; None for an intact campaign.
    """
    found = _columns(connection)
    for table in METADATA.sorted_tables:
        missing = [column.name for column in table.columns if column.name not in found.get(table.name, ())]
        if missing:
            what = f"has no column {missing[0]}" if table.name in found else "is missing"
            return table.name, f"the table {what}"
    return next(_wrong_values(connection), None) if connection.dialect.name == "sqlite" else None


def upgrade(connection: Connection) -> None:
    """Add the tables and columns of this version to a campaign of an earlier one; nothing else changes.

    Args:
        connection: The database connection, in a transaction.
    """
    before = _columns(connection)
    METADATA.create_all(connection)
    for table in METADATA.sorted_tables:
        for column in table.columns:
            if column.name not in before.get(table.name, {column.name}):
                definition = sql.schema.CreateColumn(column).compile(dialect=connection.dialect)
                connection.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN {definition}")
    connection.execute(campaign.update().values(schema=SCHEMA))


def _columns(connection: Connection) -> dict[str, set[str]]:
    """Names of the columns of each table that is there."""
    found = sql.inspect(connection).get_multi_columns()
    return {name: {column["name"] for column in columns} for (_, name), columns in found.items()}


def _wrong_values(connection: Connection) -> Iterator[tuple[str, str]]:
    for (said,) in connection.exec_driver_sql("PRAGMA quick_check(1)"):
        if said != "ok":
            yield "file", " ".join(str(said).split())
    for table in METADATA.sorted_tables:
        wrong = " ".join(f"WHEN {_misfit(column)} THEN '{column.name}'" for column in table.columns)
        query = f"SELECT rowid, CASE {wrong} END AS wrong FROM {table.name} WHERE wrong IS NOT NULL LIMIT 1"  # noqa: S608 - names of our own tables
        for row, name in connection.exec_driver_sql(query):
            column = table.columns[name]
            among = f", one of {', '.join(map(str, _CHOICES[column]))}" if column in _CHOICES else ""
            yield f"{table.name}.{name}", f"expected {_KINDS[type(column.type)][0]}{among} in row {row}"
    for name, row, other, _ in connection.exec_driver_sql("PRAGMA foreign_key_check"):
        yield name, f"row {row} belongs to a row of {other} that is missing"


def _misfit(column: Column[object]) -> str:
    """SQLite condition that is true where a value does not fit its column."""
    kinds = (*_KINDS[type(column.type)][1], *(["null"] if column.nullable else []))
    wrong = f'typeof("{column.name}") NOT IN ({", ".join(map(repr, kinds))})'
    among = _CHOICES.get(column)
    return f'{wrong} OR "{column.name}" NOT IN ({", ".join(map(repr, among))})' if among else wrong
