"""Tasks of an annotator, read from the database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import sqlalchemy as sql

from postil.campaigns import tables
from postil.campaigns.compiled_sql import CompiledStatement
from postil.campaigns.models import AnnotationTask
from postil.campaigns.spans import from_json
from postil.campaigns.tables import MOST_ROWS, MOVED, OPEN, STATES
from postil.campaigns.texts import context_of, grades_of

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["first_open", "is_swapped", "of_assignment", "open_after", "task_at"]

_ASSIGNMENTS, _EVENTS, _PEOPLE = tables.assignment.c, tables.event.c, tables.person.c


class _TaskRow(NamedTuple):
    """A row of `_TASK`."""

    id: int
    position: int
    round: int
    state: int
    event: int | None
    text: str
    title: str
    content: str
    lang: str
    context: str
    grade: float | None
    spans: str | None
    reason: str | None
    grades: str | None
    total: int
    other_text: str | None
    swapped: int | None


_TASK: Final = (
    sql.select(
        *(_ASSIGNMENTS.id, _ASSIGNMENTS.position, _ASSIGNMENTS.round, _ASSIGNMENTS.state, _ASSIGNMENTS.event),
        *(tables.item.c.text, tables.article.c.title, tables.article.c.content, tables.article.c.lang),
        tables.item.c.context,
        *(_EVENTS.grade, _EVENTS.spans, _EVENTS.reason, _EVENTS.grades, _PEOPLE.total),
        *(tables.item.c.other_text, _ASSIGNMENTS.swapped),
    )
    .join_from(tables.assignment, tables.item, _ASSIGNMENTS.item == tables.item.c.number)
    .join(tables.article, tables.item.c.article == tables.article.c.id)
    .join(tables.person, _ASSIGNMENTS.person == _PEOPLE.id)
    .outerjoin(tables.event, _ASSIGNMENTS.event == _EVENTS.id)
    .where(_ASSIGNMENTS.person == sql.bindparam("person"), _ASSIGNMENTS.state != MOVED)
)
_FIRST_OPEN: Final = CompiledStatement(
    _TASK.where(_ASSIGNMENTS.state == OPEN).order_by(_ASSIGNMENTS.position).limit(sql.bindparam("most", 1)),
    _TaskRow._make,
)
_AT_POSITION: Final = CompiledStatement(_TASK.where(_ASSIGNMENTS.position == sql.bindparam("position")), _TaskRow._make)
_OF_ASSIGNMENT: Final = CompiledStatement(_TASK.where(_ASSIGNMENTS.id == sql.bindparam("assignment")), _TaskRow._make)
_BETWEEN: Final = CompiledStatement(
    _TASK.where(
        _ASSIGNMENTS.position > sql.bindparam("after"), _ASSIGNMENTS.position <= sql.bindparam("last")
    ).order_by(_ASSIGNMENTS.position),
    _TaskRow._make,
)


def first_open(connection: Connection, annotator: int) -> AnnotationTask | None:
    """Read the first open task of an annotator; None if all are done.

    Args:
        connection: The database connection.
        annotator: Number of the annotator.
    """
    row = _FIRST_OPEN.first(connection, {"person": annotator})
    return None if row is None else _to_task(row)


def task_at(connection: Connection, annotator: int, position: int) -> AnnotationTask | None:
    """Read the task at a position of an annotator's presentation order; None if there is none.

    Args:
        connection: The database connection.
        annotator: Number of the annotator.
        position: The position, from 0.
    """
    known = {"person": annotator, "position": position}
    row = _AT_POSITION.first(connection, known) if 0 <= position < MOST_ROWS else None
    return None if row is None else _to_task(row)


def of_assignment(connection: Connection, annotator: int, assignment: int) -> AnnotationTask:
    """Read the task of an assignment.

    Args:
        connection: The database connection.
        annotator: Number of the annotator.
        assignment: Number of the assignment, which is the annotator's.
    """
    (row,) = _OF_ASSIGNMENT.rows(connection, {"person": annotator, "assignment": assignment})
    return _to_task(row)


def open_after(connection: Connection, annotator: int, after: int, wanted: int) -> tuple[AnnotationTask, ...]:
    """Read the consecutive open tasks after a position.

    Args:
        connection: The database connection.
        annotator: Number of the annotator.
        after: The position.
        wanted: Number of tasks at most.
    """
    if wanted <= 0 or not -1 <= after < MOST_ROWS - wanted:
        return ()
    found: list[AnnotationTask] = []
    for row in _BETWEEN.rows(connection, {"person": annotator, "after": after, "last": after + wanted}):
        if row.state != OPEN or row.position != after + 1 + len(found):
            break
        found.append(_to_task(row))
    return tuple(found)


def is_swapped(swapped: int | None, assignment: int) -> bool:
    """True if the second text of a pair is on the left.

    Args:
        swapped: Stored side; None where a pair was moved to another annotator.
        assignment: Number of the assignment, whose parity then decides.
    """
    return bool(assignment % 2 if swapped is None else swapped)


def _to_task(row: _TaskRow) -> AnnotationTask:
    return AnnotationTask(
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
        context=context_of(row.context),
        grades=grades_of(row.grades),
        other_text=row.other_text or "",
        swapped=is_swapped(row.swapped, row.id),
    )
