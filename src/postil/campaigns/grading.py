"""Actions of annotators (read tasks, rate, skip, undo), and the append-only event log that they make.

An annotation that is sent twice is stored once: its key is looked up before its revision, as the first attempt has made
the revision of the second one stale. Undo appends an event as well. Each event knows the one before it, of its
assignment and of its annotator's undo, so that undo moves both pointers back and no event is ever changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
import sqlalchemy as sql

from postil.campaigns import tables, validation
from postil.campaigns.database import CompiledStatement, Database
from postil.campaigns.items import first_open, golds_of, grades_of, of_assignment, open_after, spans_of, task_at
from postil.campaigns.models import (
    Annotation,
    AnnotationTask,
    CampaignState,
    Event,
    EventKind,
    Feedback,
    Person,
    Progress,
    Rating,
    Refused,
    ShownLabel,
    Span,
    Upcoming,
)
from postil.campaigns.people import active_person, progress_of, signed_in
from postil.campaigns.tables import GRADED, MOST_ROWS, MOVED, OPEN, SKIPPED, AssignmentRow, PersonRow
from postil.campaigns.validation import annotated_share
from postil.messages import Message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Future

    from sqlalchemy import Connection

    from postil.campaigns.rubric import Rubric
    from postil.campaigns.state import Lifecycle

__all__ = [
    "Grading",
    "add_annotation",
    "first_answers",
    "to_event",
]

_ASSIGNMENTS, _EVENTS, _ITEMS, _PEOPLE = tables.assignment.c, tables.event.c, tables.item.c, tables.person.c


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
    kind: EventKind = "rate" if given.reason is None else "skip"
    values = _checked(connection, row.item, given, rubric)
    event, progress = _known(connection, annotator.id, key, kind), progress_of(annotator)
    # The key comes before the revision: a retry is based on a revision that its first attempt has made stale.
    if event is None:
        _check_open(state)
        if given.revision is not None and given.revision != (row.event or 0):
            raise Refused("stale", "this item was rated in another window; reload it before rating again")
        values |= {"kind": kind, "time": now, "idempotency_key": key, "previous": annotator.latest}
        event = _add(connection, annotator, row, values)
        progress = _set_state(connection, annotator, row, event, event.id)
    elif event.assignment != row.id:
        raise Refused("used", "this idempotency key was used for another item")
    return event, progress


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
        values = {"kind": "undo", "undoes": last.id, "previous": last.previous, "time": now, "idempotency_key": key}
        event = _add(connection, annotator, row, values)
        _set_state(connection, annotator, row, _event(connection, last.before), last.previous)
    return event.assignment


def to_event(row: Sequence[Any]) -> Event:
    """Convert a row of the event log.

    Args:
        row: Its values, in the order of the columns.
    """
    values = dict(zip(Event._fields, row, strict=True))
    values["spans"] = None if values["spans"] is None else spans_of(values["spans"])
    values["grades"] = grades_of(values["grades"])
    return Event(**values)


def _check_open(state: CampaignState) -> None:
    if state.status == "closed":
        if state.message:
            raise Refused("closed", "the campaign is closed: {message}", message=state.message)
        raise Refused("closed", "the campaign is closed")


def _checked(connection: Connection, item: int, given: Annotation, rubric: Rubric) -> dict[str, object]:
    """Validate an annotation and convert it to values of an event."""
    if given.reason is not None:
        reason = validation.words(Message("reason"), given.reason)
        if not reason:
            raise Refused("invalid", "reason: expected why this item is skipped")
        return {"reason": reason}
    seconds = validation.seconds_shown(given.seconds)
    if rubric.aspects:
        grades = validation.on_scales(rubric, given.value)
        return {"grade": grades[0], "grades": tables.encoded(grades), "seconds": seconds}
    if rubric.kind != "spans":
        return {"grade": validation.on_scale(rubric, given.value), "seconds": seconds}
    ((text,),) = _TEXT.rows(connection, {"item": item})
    spans = validation.spans(text, given.value)
    return {"grade": annotated_share(text, spans), "spans": tables.encoded(spans), "seconds": seconds}


_TEXT: Final = CompiledStatement(sql.select(_ITEMS.text).where(_ITEMS.number == sql.bindparam("item")), tuple)
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


_EVENT: Final = CompiledStatement(sql.select(tables.event).where(_EVENTS.id == sql.bindparam("event")), to_event)


def _event(connection: Connection, number: int | None) -> Event | None:
    return None if number is None else _EVENT.first(connection, {"event": number})


_KNOWN: Final = CompiledStatement(
    sql.select(tables.event).where(
        _EVENTS.person == sql.bindparam("person"), _EVENTS.idempotency_key == sql.bindparam("idempotency_key")
    ),
    to_event,
)


def _known(connection: Connection, annotator: int, key: str, kind: EventKind) -> Event | None:
    """The event that an idempotency key has made already."""
    row = _KNOWN.first(connection, {"person": annotator, "idempotency_key": key})
    if row is not None and row.kind != kind:
        raise Refused("used", "this idempotency key was used for something else")
    return row


_COLUMNS: Final = [column.key for column in tables.event.columns if column.key != "id"]
_ADD: Final = CompiledStatement(tables.event.insert().returning(tables.event), to_event, _COLUMNS)
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


def _add(connection: Connection, annotator: PersonRow, row: AssignmentRow, values: Mapping[str, object]) -> Event:
    """Append an event about an assignment."""
    about = {"person": annotator.id, "assignment": row.id, "before": row.event}
    (event,) = _ADD.rows(connection, {**_EMPTY, **about, **values})
    return event


def _set_state(
    connection: Connection, annotator: PersonRow, row: AssignmentRow, made_by: Event | None, latest: int | None
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


_LABEL: Final = CompiledStatement(
    sql.select(
        *(_ITEMS.text, _ITEMS.gold, _ITEMS.golds, _ITEMS.purpose, tables.article.c.lang),
        *(_EVENTS.grade, _EVENTS.grades),
    )
    .join_from(tables.assignment, tables.item, _ASSIGNMENTS.item == _ITEMS.number)
    .join(tables.article, _ITEMS.article == tables.article.c.id)
    .join(tables.event, _ASSIGNMENTS.event == _EVENTS.id)
    .where(_ASSIGNMENTS.id == sql.bindparam("assignment"), _ASSIGNMENTS.person == sql.bindparam("person"))
    .where(_ASSIGNMENTS.state == GRADED, _ITEMS.gold.is_not(None), _ITEMS.purpose != "attention"),
    tuple,
)


def shown_label(connection: Connection, annotator: int, assignment: int, feedback: Feedback) -> ShownLabel | None:
    """Read the label of a gold item that an annotator has rated; None for other items.

    Args:
        connection: The database connection.
        annotator: Number of the annotator.
        assignment: Number of the assignment.
        feedback: Gold items whose label is shown.
    """
    known = {"assignment": assignment, "person": annotator}
    row = _LABEL.first(connection, known) if 0 < assignment < MOST_ROWS else None
    if row is None:
        return None
    text, gold, golds, purpose, lang, grade, grades = row
    if feedback == "training" and purpose != "training":
        return None
    return ShownLabel(text=text, lang=lang, grades=grades_of(grades) or (grade,), golds=golds_of(golds) or (gold,))


_FIRST: Final = (
    sql.select(_ASSIGNMENTS.item, tables.person.c.pseudonym, _EVENTS.grade, _EVENTS.grades)
    .join_from(tables.event, tables.assignment, _EVENTS.assignment == _ASSIGNMENTS.id)
    .join(tables.item, _ASSIGNMENTS.item == _ITEMS.number)
    .join(tables.person, _ASSIGNMENTS.person == tables.person.c.id)
    .where(_EVENTS.kind == "rate", _ITEMS.gold.is_not(None), _ASSIGNMENTS.round == 1)
    .order_by(_EVENTS.id)
)


def first_answers(connection: Connection, ratings: Iterable[Rating]) -> Iterator[Rating]:
    """Replace the grades of gold items by those that were given before the label was shown.

    Args:
        connection: The database connection.
        ratings: The ratings.
    """
    first: dict[tuple[int, str], tuple[float, str | None]] = {}
    for number, annotator, grade, grades in connection.execute(_FIRST):
        first.setdefault((number, annotator), (grade, grades))
    for one in ratings:
        if one.gold is None or one.round > 1:
            yield one
            continue
        grade, grades = first[one.number, one.annotator]
        yield msgspec.structs.replace(one, grade=grade, grades=grades_of(grades))


class Grading:
    """Actions of annotators.

    Args:
        database: Database of the campaign.
        rubric: Function that returns the rubric.
        state: State of the campaign.
        clock: Function that returns the time, in seconds since 1970.
    """

    def __init__(
        self, database: Database, rubric: Callable[[], Rubric], state: Lifecycle, clock: Callable[[], float]
    ) -> None:
        self._database, self._rubric, self._state, self._clock = database, rubric, state, clock

    def next(self, person: Person) -> AnnotationTask | None:
        """Read the annotator's first open task; None if all are done, or the campaign is not running.

        Args:
            person: The annotator.
        """
        with self._database.reading(once=True) as connection:
            state = self._state.at(connection, self._clock())
            task = first_open(connection, person.id) if state.status == "running" else None
        self._state.settle(state)
        return task

    def task(self, person: Person, position: int) -> AnnotationTask:
        """Read a task of an annotator.

        Args:
            person: The annotator.
            position: Position in the annotator's presentation order, from 0.

        Raises:
            Refused: There is no such position.
        """
        with self._database.reading(once=True) as connection:
            found = task_at(connection, person.id, position)
        if found is None:
            raise Refused("unknown", "there is no item {n}", n=position + 1)
        return found

    def upcoming(self, person: Person, after: int, wanted: int) -> Upcoming:
        """Read an annotator's progress and the tasks that come next.

        Args:
            person: The annotator.
            after: Position in the annotator's presentation order.
            wanted: Number of following tasks; fewer come if one of them is not open.
        """
        with self._database.reading() as connection:
            progress, state = (
                progress_of(active_person(connection, person.id)),
                self._state.at(connection, self._clock()),
            )
            tasks = open_after(connection, person.id, after, wanted) if state.status == "running" else ()
            return Upcoming(progress=progress, tasks=tasks, state=state)

    def progress(self, person: Person) -> Progress:
        """Read an annotator's progress.

        Args:
            person: The annotator.
        """
        with self._database.reading(once=True) as connection:
            return progress_of(active_person(connection, person.id))

    def rate(
        self,
        person: Person,
        assignment: int,
        value: float | Sequence[float] | Sequence[Span],
        *,
        idempotency_key: str,
        revision: int | None = None,
        seconds: float | None = None,
    ) -> Event:
        """Rate an item, or change its rating.

        Args:
            person: The annotator.
            assignment: Number of the assignment.
            value: The grade, one grade per aspect, or the spans.
            idempotency_key: Key made by the client; a rating submitted twice under one key is stored once.
            revision: Revision of the task, for optimistic concurrency control; a stale one is refused.
            seconds: Time that the item was shown, in seconds.

        Returns:
            The event; for a known key the one that it made.

        Raises:
            Refused: The item is not assigned to this person, was rated in the meantime, the grade is invalid, or the
                campaign is closed.
        """
        annotation = Annotation(
            assignment=assignment,
            value=value,
            idempotency_key=idempotency_key,
            revision=revision,
            seconds=seconds,
        )
        return self._add(person, annotation)

    def skip(
        self, person: Person, assignment: int, reason: str, *, idempotency_key: str, revision: int | None = None
    ) -> Event:
        """Skip an item.

        Args:
            person: The annotator.
            assignment: Number of the assignment.
            reason: Reason for skipping.
            idempotency_key: Key made by the client.
            revision: Revision of the task.

        Raises:
            Refused: As `rate`; or there is no reason.
        """
        annotation = Annotation(
            assignment=assignment, reason=reason, idempotency_key=idempotency_key, revision=revision
        )
        return self._add(person, annotation)

    def submit(
        self, session: str, annotation: Annotation, *, after: int = 0, wanted: int = 0, feedback: Feedback = ""
    ) -> Future[Upcoming | None]:
        """Store an annotation of the signed-in person and read what comes next, in one transaction.

        Args:
            session: Token of the session.
            annotation: The annotation.
            after: Position in the annotator's presentation order.
            wanted: Number of following tasks, see `upcoming`.
            feedback: Gold items whose label to return.

        Returns:
            A future, done when the annotation is on disk: progress and tasks; None if nobody is signed in with this
            session. It fails as `rate` and `skip` do.
        """
        rubric = self._rubric()

        def transaction(connection: Connection) -> Upcoming | None:
            now = self._clock()
            annotator = signed_in(connection, session, now, lock=True)
            if annotator is None:
                return None
            state = self._state.at(connection, now)
            _, progress = add_annotation(connection, annotator, annotation, rubric, now, state=state)
            label = shown_label(connection, annotator.id, annotation.assignment, feedback) if feedback else None
            tasks = open_after(connection, annotator.id, after, wanted) if state.status == "running" else ()
            return Upcoming(progress=progress, tasks=tasks, state=state, label=label)

        return self._database.submit(transaction)

    def label(self, person: Person, assignment: int, feedback: Feedback) -> ShownLabel | None:
        """Read the label of a gold item that an annotator has rated; None if it is not to be shown.

        Args:
            person: The annotator.
            assignment: Number of the assignment.
            feedback: Gold items whose label is shown.
        """
        with self._database.reading(once=True) as connection:
            return shown_label(connection, person.id, assignment, feedback) if feedback else None

    def undo(self, person: Person, *, idempotency_key: str) -> AnnotationTask | None:
        """Undo the annotator's last annotation, then the one before it, and so on.

        Nothing is deleted: this appends an event, which restores the state before the annotation.

        Args:
            person: The annotator.
            idempotency_key: Key made by the client.

        Returns:
            The task; None if there is nothing to undo.

        Raises:
            Refused: The key was used for something else, the campaign is closed, or the person was removed.
        """
        key = validation.key(idempotency_key)

        def transaction(connection: Connection) -> AnnotationTask | None:
            annotator, now = active_person(connection, person.id, lock=True), self._clock()
            assignment = undo_last(connection, annotator, key, now, state=self._state.at(connection, now))
            return None if assignment is None else of_assignment(connection, annotator.id, assignment)

        return self._database.run(transaction)

    def _add(self, person: Person, annotation: Annotation) -> Event:
        rubric = self._rubric()

        def transaction(connection: Connection) -> Event:
            annotator, now = active_person(connection, person.id, lock=True), self._clock()
            state = self._state.at(connection, now)
            return add_annotation(connection, annotator, annotation, rubric, now, state=state)[0]

        return self._database.run(transaction)
