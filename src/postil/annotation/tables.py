"""The tables of a campaign; `store` alone reads and writes them."""

from __future__ import annotations

from typing import Final

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


def _number() -> Column[int]:
    return Column("id", Integer, primary_key=True)


def _to(table: str, key: str = "id", *, name: str | None = None) -> Column[int]:
    return Column(name or table, Integer, ForeignKey(f"{table}.{key}"), nullable=False)


campaign: Final = Table(
    "campaign",
    METADATA,
    _number(),
    Column("schema", Integer, nullable=False),
    Column("data", Text, nullable=False),
    Column("rubric", Text, nullable=False),
)
article: Final = Table(
    "article",
    METADATA,
    _number(),
    Column("item", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("lang", Text, nullable=False),
)
item: Final = Table(
    "item",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    _to("article"),
    Column("system", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("gold", Float),
)
person: Final = Table(
    "person",
    METADATA,
    _number(),
    Column("name", Text, nullable=False),
    Column("role", Text, nullable=False),
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
    Column("expires", Float, nullable=False),
    Column("used", Float),
)
session: Final = Table(
    "session",
    METADATA,
    Column("hash", Text, primary_key=True),
    _to("person"),
    Column("expires", Float, nullable=False),
)
assignment: Final = Table(
    "assignment",
    METADATA,
    _number(),
    _to("item", "number"),
    _to("person"),
    Column("round", Integer, nullable=False),
    Column("place", Integer, nullable=False),
    Column("state", Integer, nullable=False),
    Column("event", Integer),  # the event that made the state; None before the first
    UniqueConstraint("item", "person", "round"),
    Index("assignment_open", "person", "state", "place"),
    Index("assignment_in_order", "person", "place"),
)
event: Final = Table(
    "event",
    METADATA,
    _number(),
    _to("person"),
    _to("assignment"),
    Column("kind", Text, nullable=False),
    Column("grade", Float),
    Column("spans", Text),
    Column("reason", Text, nullable=False),
    Column("time", Float, nullable=False),
    Column("seconds", Float),
    Column("request", Text, nullable=False),
    Column("before", Integer),  # the assignment's event until this one
    Column("previous", Integer),  # what undo takes back after this one
    Column("undoes", Integer),
    UniqueConstraint("person", "request"),
    Index("event_of_person", "person", "id"),
)
adjudication: Final = Table(
    "adjudication",
    METADATA,
    _number(),
    _to("item", "number"),
    _to("person"),
    Column("grade", Float, nullable=False),
    Column("reason", Text, nullable=False),
    Column("time", Float, nullable=False),
    Column("request", Text, nullable=False),
    UniqueConstraint("person", "request"),
    Index("adjudication_of_item", "item", "id"),
)
