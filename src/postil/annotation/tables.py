"""The tables of a campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sql
from sqlalchemy import Column, Float, ForeignKey, Index, Integer, MetaData, Table, Text, UniqueConstraint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

__all__ = [
    "GRADED",
    "METADATA",
    "MOST_ROWS",
    "MOVED",
    "OPEN",
    "SCHEMA",
    "SKIPPED",
    "STATES",
    "adjudication",
    "article",
    "assignment",
    "campaign",
    "damage",
    "event",
    "invite",
    "item",
    "person",
    "session",
]

SCHEMA: Final = 2
"""Raised whenever the tables change."""

MOST_ROWS: Final = 2**31
"""No number of a row is as large."""

OPEN, GRADED, SKIPPED, MOVED = range(4)
"""What has become of an assignment; one that is moved belongs to nobody any more."""

STATES: Final = ("open", "graded", "skipped")

METADATA: Final = MetaData()


def _id() -> Column[int]:
    return Column("id", Integer, primary_key=True)


def _to(table: str, key: str = "id") -> Column[int]:
    return Column(table, Integer, ForeignKey(f"{table}.{key}"), nullable=False)


def _required(kind: type[Float[Any] | Integer | Text], *names: str) -> list[Column[Any]]:
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
)
person: Final = Table(
    "person",
    METADATA,
    _id(),
    *_required(Text, "name", "role"),
    Column("pseudonym", Text, nullable=False, unique=True),
    Column("left_at", Float),  # since when
    Column("latest", Integer),  # the event that undo takes back
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
    Column("before", Integer),  # the assignment's event until this one
    Column("previous", Integer),  # what undo takes back after this one
    Column("undoes", Integer),
    UniqueConstraint("person", "idempotency_key"),
    Index("event_of_person", "person", "id"),
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

_KINDS: Final = {
    Float: ("a number", ("integer", "real")),
    Integer: ("an integer", ("integer",)),
    Text: ("text", ("text",)),
}
"""Type of a column: for messages, and in SQLite."""

_CHOICES: Final = {
    assignment.c.state: range(4),
    event.c.kind: ("rate", "skip", "undo"),
    person.c.role: ("annotator", "lead"),
}


def damage(connection: Connection) -> tuple[str, str] | None:
    """Find what no program of this version can have written.

    Of PostgreSQL, which sees to types and references itself, only the names are looked at.

    Args:
        connection: The database.

    Returns:
        The place and the problem; None for a sound campaign.
    """
    there = sql.inspect(connection)
    found = {name: {column["name"] for column in columns} for (_, name), columns in there.get_multi_columns().items()}
    for table in METADATA.sorted_tables:
        missing = [column.name for column in table.columns if column.name not in found.get(table.name, ())]
        if missing:
            what = f"has no column {missing[0]}" if table.name in found else "is missing"
            return table.name, f"the table {what}"
    return next(_wrong_values(connection), None) if connection.dialect.name == "sqlite" else None


def _wrong_values(connection: Connection) -> Iterator[tuple[str, str]]:
    for (said,) in connection.exec_driver_sql("PRAGMA quick_check(1)"):
        if said != "ok":
            yield "file", " ".join(str(said).split())
    for table in METADATA.sorted_tables:
        wrong = " ".join(f"WHEN {_misfit(column)} THEN '{column.name}'" for column in table.columns)
        query = f"SELECT rowid, CASE {wrong} END AS wrong FROM {table.name} WHERE wrong IS NOT NULL LIMIT 1"  # noqa: S608 - our own names
        for row, name in connection.exec_driver_sql(query):
            column = table.columns[name]
            among = f", one of {', '.join(map(str, _CHOICES[column]))}" if column in _CHOICES else ""
            yield f"{table.name}.{name}", f"expected {_KINDS[type(column.type)][0]}{among} in row {row}"
    for name, row, other, _ in connection.exec_driver_sql("PRAGMA foreign_key_check"):
        yield name, f"row {row} belongs to a row of {other} that is missing"


def _misfit(column: Column[Any]) -> str:
    """The condition that a value does not fit its column, in the SQL of SQLite."""
    kinds = (*_KINDS[type(column.type)][1], *(["null"] if column.nullable else []))
    wrong = f'typeof("{column.name}") NOT IN ({", ".join(map(repr, kinds))})'
    among = _CHOICES.get(column)
    return f'{wrong} OR "{column.name}" NOT IN ({", ".join(map(repr, among))})' if among else wrong
