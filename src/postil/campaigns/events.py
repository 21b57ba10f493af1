"""The append-only event log: annotations and undo, and the current state that they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypedDict

import msgspec
import sqlalchemy as sql

from postil.campaigns import tables, validation
from postil.campaigns.compiled_sql import CompiledStatement
from postil.campaigns.models import Event, Progress, Refused
from postil.campaigns.people import progress_of
from postil.campaigns.spans import annotated_share, from_json, to_json
from postil.campaigns.tables import GRADED, MOST_ROWS, MOVED, OPEN, SKIPPED, AssignmentRow, EventRow
from postil.campaigns.texts import grades_of
from postil.data.ids import plain_id
from postil.messages import Message

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from postil.campaigns.models import Annotation, CampaignState
    from postil.campaigns.rubric import Rubric
    from postil.campaigns.tables import EventKind, PersonRow

__all__ = ["add_annotation", "to_event", "undo_last"]

_ASSIGNMENTS, _EVENTS, _PEOPLE = tables.assignment.c, tables.event.c, tables.person.c


class _Values(TypedDict, total=False):
    """Values of a new event; `_add` sets those that are missing."""

    kind: EventKind
    grade: float
    grades: str
    spans: str
    reason: str
    seconds: float | None
    undoes: int
    previous: int | None
    time: float
    idempotency_key: str


def add_annotation(
    connection: Connection, annotator: PersonRow, given: Annotation, rubric: Rubric, now: float, *, state: CampaignState
) -> tuple[Event, Progress]:
    """Append an annotation to the event log, once per idempotency key.

    Args:
        connection: The database connection.
        annotator: Row of the annotator, locked: the counts in it are written back.
        given: The annotation.
        rubric: The rubric.
        now: Time, in seconds since 1970.
        state: State of the campaign; a closed one stores no new annotation.

    Returns:
        The event, or the one that the same key made before; and the progress after it.

    Raises:
        Refused: The item is not assigned to this annotator, was annotated in the meantime, the value is invalid, or the
            campaign is closed.
    """
    key = validation.key(given.idempotency_key)
    row = _assignment(connection, annotator.id, given.assignment)
    values = _checked(connection, row.item, given, rubric)
    event, progress = _known(connection, annotator.id, key, values["kind"]), progress_of(annotator)
    # The key comes before the revision: a retry is based on a revision that its first attempt has made stale.
    if event is None:
        _check_open(state)
        if given.revision is not None and given.revision != (row.event or 0):
            raise Refused("stale", "this item was rated in another window; reload it before rating again")
        values |= {"time": now, "idempotency_key": key, "previous": annotator.latest}
        event = _add(connection, annotator, row, values)
        progress = _set_state(connection, annotator, row, event, event.id)
    elif event.assignment != row.id:
        raise Refused("used", "this idempotency key was used for another item")
    return to_event(event, row.round), progress


def undo_last(
    connection: Connection, annotator: PersonRow, key: str, now: float, *, state: CampaignState
) -> int | None:
    """Undo an annotator's last annotation, once per key: append an event that restores the state before it.

    Args:
        connection: The database connection.
        annotator: Row of the annotator, locked.
        key: Idempotency key.
        now: Time, in seconds since 1970.
        state: State of the campaign; in a closed one nothing can be undone.

    Returns:
        Number of the assignment; None if there is nothing to undo.

    Raises:
        Refused: The key was used for something else, or the campaign is closed.
    """
    event = _known(connection, annotator.id, key, "undo")
    if event is None:
        _check_open(state)
        last = _event(connection, annotator.latest)
        if last is None:
            return None
        row = _assignment(connection, annotator.id, last.assignment)
        values: _Values = {"kind": "undo", "undoes": last.id, "previous": last.previous}
        event = _add(connection, annotator, row, values | {"time": now, "idempotency_key": key})
        _set_state(connection, annotator, row, _event(connection, last.before), last.previous)
    return event.assignment


def to_event(row: EventRow, presentation_round: int) -> Event:
    """Convert a row to an `Event`.

    Args:
        row: Row of the event.
        presentation_round: Round of its assignment.
    """
    return Event(
        id=row.id,
        person=row.person,
        assignment=row.assignment,
        kind=row.kind,
        time=row.time,
        round=presentation_round,
        idempotency_key=row.idempotency_key,
        grade=None if row.grade is None else float(row.grade),
        spans=None if row.spans is None else from_json(row.spans),
        reason=row.reason,
        seconds=row.seconds,
        undoes=row.undoes,
        grades=grades_of(row.grades),
    )


def _check_open(state: CampaignState) -> None:
    if state.status == "closed":
        if state.message:
            raise Refused("closed", "the campaign is closed: {message}", message=state.message)
        raise Refused("closed", "the campaign is closed")


def _checked(connection: Connection, item: int, given: Annotation, rubric: Rubric) -> _Values:
    """Validate an annotation and convert it to values of an event."""
    if given.reason is not None:
        reason = validation.words(Message("reason"), given.reason)
        if not reason:
            raise Refused("invalid", "reason: expected why this item is skipped")
        return {"kind": "skip", "reason": reason}
    seconds = validation.seconds_shown(given.seconds)
    if rubric.aspects:
        grades = validation.on_scales(rubric, given.value)
        encoded = msgspec.json.encode(grades, enc_hook=plain_id).decode()
        return {"kind": "rate", "grade": grades[0], "grades": encoded, "seconds": seconds}
    if rubric.kind != "spans":
        return {"kind": "rate", "grade": validation.on_scale(rubric, given.value), "seconds": seconds}
    (text,) = _TEXT.rows(connection, {"item": item})
    spans = validation.spans(text.text, given.value)
    grade = annotated_share(text.text, spans)
    return {"kind": "rate", "grade": grade, "spans": to_json(spans), "seconds": seconds}


class _Text(NamedTuple):
    text: str


_TEXT: Final = CompiledStatement(
    sql.select(tables.item.c.text).where(tables.item.c.number == sql.bindparam("item")), _Text._make
)
_ASSIGNMENT: Final = CompiledStatement(
    sql.select(tables.assignment).where(
        _ASSIGNMENTS.id == sql.bindparam("assignment"),
        _ASSIGNMENTS.person == sql.bindparam("person"),
        _ASSIGNMENTS.state != MOVED,
    ),
    AssignmentRow._make,
)


def _assignment(connection: Connection, annotator: int, number: int) -> AssignmentRow:
    known = {"assignment": number, "person": annotator}
    row = _ASSIGNMENT.first(connection, known) if 0 < number < MOST_ROWS else None
    if row is None:
        raise Refused("unknown", "this item is not assigned to you")
    return row


_EVENT: Final = CompiledStatement(sql.select(tables.event).where(_EVENTS.id == sql.bindparam("event")), EventRow._make)


def _event(connection: Connection, number: int | None) -> EventRow | None:
    return None if number is None else _EVENT.first(connection, {"event": number})


_KNOWN: Final = CompiledStatement(
    sql.select(tables.event).where(
        _EVENTS.person == sql.bindparam("person"), _EVENTS.idempotency_key == sql.bindparam("idempotency_key")
    ),
    EventRow._make,
)


def _known(connection: Connection, annotator: int, key: str, kind: EventKind) -> EventRow | None:
    """The event that an idempotency key has made already."""
    row = _KNOWN.first(connection, {"person": annotator, "idempotency_key": key})
    if row is not None and row.kind != kind:
        raise Refused("used", "this idempotency key was used for something else")
    return row


_COLUMNS: Final = [column.key for column in tables.event.columns if column.key != "id"]
_ADD: Final = CompiledStatement(tables.event.insert().returning(tables.event), EventRow._make, _COLUMNS)
_EMPTY: Final = dict.fromkeys(("grade", "spans", "seconds", "undoes", "grades")) | {"reason": ""}
_SET_STATE: Final = CompiledStatement(
    tables.assignment.update()
    .where(_ASSIGNMENTS.id == sql.bindparam("assignment"))
    .values(state=sql.bindparam("now"), event=sql.bindparam("made_by")),
    tuple,
)
_SET_COUNTS: Final = CompiledStatement(
    tables.person.update()
    .where(_PEOPLE.id == sql.bindparam("number"))
    .values(latest=sql.bindparam("last"), done=sql.bindparam("now_done"), skipped=sql.bindparam("now_skipped")),
    tuple,
)


def _add(connection: Connection, annotator: PersonRow, row: AssignmentRow, values: _Values) -> EventRow:
    """Append an event about an assignment."""
    fixed = {**_EMPTY, "person": annotator.id, "assignment": row.id, "before": row.event}
    (event,) = _ADD.rows(connection, {**fixed, **values})
    return event


def _set_state(
    connection: Connection, annotator: PersonRow, row: AssignmentRow, made_by: EventRow | None, latest: int | None
) -> Progress:
    """Update the current state of an assignment and the counts of its annotator.

    Args:
        connection: The database connection.
        annotator: Row of the annotator, locked.
        row: Row of the assignment.
        made_by: Event that makes the state; None if the assignment is open again.
        latest: Number of the event that undo restores from next.
    """
    state = OPEN if made_by is None else GRADED if made_by.kind == "rate" else SKIPPED
    made = None if made_by is None else made_by.id
    _SET_STATE.rows(connection, {"assignment": row.id, "now": state, "made_by": made})
    done = annotator.done + (state == GRADED) - (row.state == GRADED)
    skipped = annotator.skipped + (state == SKIPPED) - (row.state == SKIPPED)
    counts = {"number": annotator.id, "last": latest, "now_done": done, "now_skipped": skipped}
    _SET_COUNTS.rows(connection, counts)
    return Progress(done=done, total=annotator.total, skipped=skipped)
