"""The texts before an annotator, read from the database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sql

from postil.annotation import tables
from postil.annotation.compiled_sql import CompiledStatement
from postil.annotation.models import Task
from postil.annotation.spans import from_json
from postil.annotation.tables import MOST_ROWS, MOVED, OPEN, STATES

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["at_position", "first_open", "of_assignment", "open_after"]

_AT, _SAID, _WHO = tables.assignment.c, tables.event.c, tables.person.c

_TASK: Final = (
    sql.select(
        *(_AT.id, _AT.position, _AT.round, _AT.state, _AT.event, tables.item.c.text),
        *(tables.article.c.title, tables.article.c.content, tables.article.c.lang),
        *(_SAID.grade, _SAID.spans, _SAID.reason, _WHO.total),
    )
    .join_from(tables.assignment, tables.item, _AT.item == tables.item.c.number)
    .join(tables.article, tables.item.c.article == tables.article.c.id)
    .join(tables.person, _AT.person == _WHO.id)
    .outerjoin(tables.event, _AT.event == _SAID.id)
    .where(_AT.person == sql.bindparam("person"), _AT.state != MOVED)
)
_FIRST_OPEN: Final = CompiledStatement(
    _TASK.where(_AT.state == OPEN).order_by(_AT.position).limit(sql.bindparam("most", 1))
)
_AT_POSITION: Final = CompiledStatement(_TASK.where(_AT.position == sql.bindparam("position")))
_OF_ASSIGNMENT: Final = CompiledStatement(_TASK.where(_AT.id == sql.bindparam("assignment")))
_BETWEEN: Final = CompiledStatement(
    _TASK.where(_AT.position > sql.bindparam("after"), _AT.position <= sql.bindparam("last")).order_by(_AT.position)
)


def first_open(connection: Connection, who: int) -> Task | None:
    """The first text of an annotator that is open; None where all are done.

    Args:
        connection: The database.
        who: The number of the annotator.
    """
    row = _FIRST_OPEN.first(connection, {"person": who})
    return None if row is None else _to_task(row)


def at_position(connection: Connection, who: int, place: int) -> Task | None:
    """The text at a place in an annotator's order; None where there is none.

    Args:
        connection: The database.
        who: The number of the annotator.
        place: The place, from 0.
    """
    row = _AT_POSITION.first(connection, {"person": who, "position": place}) if 0 <= place < MOST_ROWS else None
    return None if row is None else _to_task(row)


def of_assignment(connection: Connection, who: int, assignment: int) -> Task:
    """The text of an assignment.

    Args:
        connection: The database.
        who: The number of the annotator.
        assignment: The number of the assignment, which is the annotator's.
    """
    return _to_task(_OF_ASSIGNMENT.first(connection, {"person": who, "assignment": assignment}))


def open_after(connection: Connection, who: int, after: int, wanted: int) -> tuple[Task, ...]:
    """The texts that follow a place, up to one that is not open.

    Args:
        connection: The database.
        who: The number of the annotator.
        after: The place.
        wanted: How many texts.
    """
    if wanted <= 0 or not -1 <= after < MOST_ROWS - wanted:
        return ()
    found: list[Task] = []
    for row in _BETWEEN.rows(connection, {"person": who, "after": after, "last": after + wanted}):
        if row.state != OPEN or row.position != after + 1 + len(found):
            break
        found.append(_to_task(row))
    return tuple(found)


def _to_task(row: Any) -> Task:
    """A row as a noun."""
    return Task(
        assignment=row.id,
        position=row.position,
        total=row.total,
        round=row.round,
        revision=row.event or 0,
        state=STATES[row.state],
        text=row.text,
        title=row.title,
        content=row.content,
        lang=row.lang,
        grade=row.grade,
        spans=from_json(row.spans),
        reason=row.reason or "",
    )
