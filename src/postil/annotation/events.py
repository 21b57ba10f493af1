"""What annotators say, added to the database: an event an answer, and what it makes of the text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sql

from postil.annotation import tables, validation
from postil.annotation.compiled_sql import CompiledStatement
from postil.annotation.models import Event, Progress, Refused
from postil.annotation.people import progress_of
from postil.annotation.spans import from_json, share, to_json
from postil.annotation.tables import GRADED, MOST_ROWS, MOVED, OPEN, SKIPPED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

    from postil.annotation.models import Annotation
    from postil.annotation.rubric import Rubric

__all__ = ["add_annotation", "to_event", "undo_last"]

_AT, _SAID, _WHO = tables.assignment.c, tables.event.c, tables.person.c


def add_annotation(
    connection: Connection, who: Any, given: Annotation, rubric: Rubric, now: float
) -> tuple[Event, Progress]:
    """Add an answer to a text, once.

    Args:
        connection: The database.
        who: The row of the person, who is locked.
        given: The answer.
        rubric: What is asked.
        now: The time.

    Returns:
        The event, or the one that the same request made before; and how far the person now is.

    Raises:
        Refused: The text is not this person's, was answered meanwhile, or the answer is none that can be given.
    """
    key = validation.key(given.idempotency_key)
    row = _assignment(connection, who.id, given.assignment)
    said = _checked(connection, row.item, given, rubric)
    event, progress = _known(connection, who.id, key, said["kind"]), progress_of(who)
    if event is None:
        if given.revision is not None and given.revision != (row.event or 0):
            raise Refused("stale", "this text was answered meanwhile; look at it again")
        event = _add(connection, who, row, {**said, "time": now, "idempotency_key": key, "previous": who.latest})
        progress = _settle(connection, who, row, event, event.id)
    elif event.assignment != row.id:
        raise Refused("used", "this key was used for another text")
    return to_event(event, row.round), progress


def undo_last(connection: Connection, who: Any, key: str, now: float) -> int | None:
    """Take a person's last answer back, once: add an event, after which the text is as it was before the answer.

    Args:
        connection: The database.
        who: The row of the person, who is locked.
        key: Of the request.
        now: The time.

    Returns:
        The assignment of the answer; None where there is none to take back.

    Raises:
        Refused: The key was used for something else.
    """
    event = _known(connection, who.id, key, "undo")
    if event is None:
        last = _event(connection, who.latest)
        if last is None:
            return None
        row = _assignment(connection, who.id, last.assignment)
        said = {"kind": "undo", "undoes": last.id, "previous": last.previous, "time": now, "idempotency_key": key}
        event = _add(connection, who, row, said)
        _settle(connection, who, row, _event(connection, last.before), last.previous)
    return int(event.assignment)


def to_event(row: Any, again: int) -> Event:
    """A row as a noun.

    Args:
        row: Of the event.
        again: The round of its assignment.
    """
    return Event(
        id=row.id,
        person=row.person,
        assignment=row.assignment,
        kind=row.kind,
        time=row.time,
        round=again,
        idempotency_key=row.idempotency_key,
        grade=None if row.grade is None else float(row.grade),
        spans=None if row.spans is None else from_json(row.spans),
        reason=row.reason,
        seconds=row.seconds,
        undoes=row.undoes,
    )


def _checked(connection: Connection, number: int, given: Annotation, rubric: Rubric) -> dict[str, Any]:
    """What an answer says, in columns of an event."""
    if given.reason is not None:
        why = validation.words("reason", given.reason)
        if not why:
            raise Refused("invalid", "say why this text is skipped")
        return {"kind": "skip", "reason": why}
    took = validation.time_taken(given.seconds)
    if rubric.kind == "grade":
        return {"kind": "rate", "grade": validation.on_scale(rubric, given.value), "seconds": took}
    text = _TEXT.first(connection, {"item": number}).text
    marks = validation.marks(text, given.value)
    return {"kind": "rate", "grade": share(text, marks), "spans": to_json(marks), "seconds": took}


_TEXT: Final = CompiledStatement(sql.select(tables.item.c.text).where(tables.item.c.number == sql.bindparam("item")))
_ASSIGNMENT: Final = CompiledStatement(
    sql.select(tables.assignment).where(
        _AT.id == sql.bindparam("assignment"), _AT.person == sql.bindparam("person"), _AT.state != MOVED
    )
)


def _assignment(connection: Connection, who: int, number: int) -> Any:
    """A text of an annotator."""
    known = {"assignment": number, "person": who}
    row = _ASSIGNMENT.first(connection, known) if 0 < number < MOST_ROWS else None
    if row is None:
        raise Refused("unknown", "this text is not yours to grade")
    return row


_EVENT: Final = CompiledStatement(sql.select(tables.event).where(_SAID.id == sql.bindparam("event")))


def _event(connection: Connection, number: int | None) -> Any:
    """An event by its number."""
    return None if number is None else _EVENT.first(connection, {"event": number})


_KNOWN: Final = CompiledStatement(
    sql.select(tables.event).where(
        _SAID.person == sql.bindparam("person"), _SAID.idempotency_key == sql.bindparam("idempotency_key")
    )
)


def _known(connection: Connection, who: int, key: str, kind: str) -> Any:
    """The event that a request has made already."""
    row = _KNOWN.first(connection, {"person": who, "idempotency_key": key})
    if row is not None and row.kind != kind:
        raise Refused("used", "this key was used for something else")
    return row


_COLUMNS: Final = [column.key for column in tables.event.columns if column.key != "id"]
_ADD: Final = CompiledStatement(tables.event.insert().returning(tables.event), _COLUMNS)
_EMPTY: Final = dict.fromkeys(("grade", "spans", "seconds", "undoes")) | {"reason": ""}
_SETTLE: Final = CompiledStatement(
    tables.assignment.update()
    .where(_AT.id == sql.bindparam("assignment"))
    .values(state=sql.bindparam("now"), event=sql.bindparam("made_by"))
)
_REMEMBER: Final = CompiledStatement(
    tables.person.update()
    .where(_WHO.id == sql.bindparam("number"))
    .values(latest=sql.bindparam("last"), done=sql.bindparam("now_done"), skipped=sql.bindparam("now_skipped"))
)


def _add(connection: Connection, who: Any, row: Any, values: Mapping[str, Any]) -> Any:
    """Add an event about an assignment."""
    fixed = {**_EMPTY, "person": who.id, "assignment": row.id, "before": row.event}
    return _ADD.first(connection, {**fixed, **values})


def _settle(connection: Connection, who: Any, row: Any, made_by: Any, latest: int | None) -> Progress:
    """Keep what now holds of an assignment and of its person.

    Args:
        connection: The database.
        who: The row of the person, who is locked.
        row: The row of the assignment.
        made_by: The event that makes the assignment's state; None where it is open again.
        latest: The event that undo takes back next.
    """
    state = OPEN if made_by is None else GRADED if made_by.kind == "rate" else SKIPPED
    _SETTLE.rows(connection, {"assignment": row.id, "now": state, "made_by": None if made_by is None else made_by.id})
    done = who.done + (state == GRADED) - (row.state == GRADED)
    skipped = who.skipped + (state == SKIPPED) - (row.state == SKIPPED)
    _REMEMBER.rows(connection, {"number": who.id, "last": latest, "now_done": done, "now_skipped": skipped})
    return Progress(done=done, total=who.total, skipped=skipped)
