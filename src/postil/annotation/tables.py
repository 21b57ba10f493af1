"""The tables of a campaign."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Column, Float, ForeignKey, Index, Integer, MetaData, Table, Text, UniqueConstraint

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
    "event",
    "invite",
    "item",
    "person",
    "session",
]

SCHEMA: Final = 1
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
    Column("gone", Float),  # since when
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
    *_required(Integer, "round", "place", "state"),
    Column("event", Integer),  # the event that made the state; None before the first
    UniqueConstraint("item", "person", "round"),
    Index("assignment_open", "person", "state", "place"),
    Index("assignment_in_order", "person", "place"),
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
    *_required(Text, "request"),
    Column("before", Integer),  # the assignment's event until this one
    Column("previous", Integer),  # what undo takes back after this one
    Column("undoes", Integer),
    UniqueConstraint("person", "request"),
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
    *_required(Text, "request"),
    UniqueConstraint("person", "request"),
    Index("adjudication_of_item", "item", "id"),
)
