"""Log of what leads did to a campaign; entries are appended and never changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec
import sqlalchemy as sql

from postil.campaigns import tables
from postil.data.ids import plain_id
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

__all__ = ["Change", "changes", "detail_of", "log_change"]


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
        "detail": msgspec.json.encode(detail, enc_hook=plain_id).decode(),
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
    try:
        return msgspec.json.decode(text, type=dict[str, object])
    except msgspec.MsgspecError:
        raise InvalidInput("expected a JSON object", field="change.detail") from None
