"""What annotators do: look at a text, grade it, skip it, go back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
import sqlalchemy as sql

from postil.annotation import answers, tables
from postil.annotation.nouns import Ahead, Answer, Event, Progress, Refused, Task
from postil.annotation.people import progress_of, signed_in, taking_part
from postil.annotation.prepared import Prepared
from postil.annotation.spans import share
from postil.annotation.tables import GRADED, MOST_ROWS, MOVED, OPEN, SKIPPED, STATES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future

    from sqlalchemy import Connection

    from postil.annotation.database import Database
    from postil.annotation.nouns import Person, Span
    from postil.annotation.rubric import Rubric

__all__ = ["Grading", "event_of", "spans_of"]


class Grading:
    """What annotators do.

    Args:
        database: Where the campaign lives.
        rubric: What is asked.
        clock: Tells the time in seconds since 1970.
    """

    def __init__(self, database: Database, rubric: Callable[[], Rubric], clock: Callable[[], float]) -> None:
        self._database, self._rubric, self._clock = database, rubric, clock

    def next(self, person: Person) -> Task | None:
        """The text where the annotator goes on: the first that is open; None where all are done.

        Args:
            person: The annotator.
        """
        with self._database.reading(once=True) as connection:
            row = _FIRST_OPEN.first(connection, {"person": person.id})
        return None if row is None else _task_of(row)

    def task(self, person: Person, place: int) -> Task:
        """A text of an annotator.

        Args:
            person: The annotator.
            place: Where it stands in the annotator's order, from 0.

        Raises:
            Refused: There is no such place.
        """
        row = None
        if 0 <= place < MOST_ROWS:
            with self._database.reading(once=True) as connection:
                row = _AT_PLACE.first(connection, {"person": person.id, "place": place})
        if row is None:
            raise Refused("unknown", f"there is no text {place + 1}")
        return _task_of(row)

    def ahead(self, person: Person, after: int, wanted: int) -> Ahead:
        """How far an annotator is, and what comes.

        Args:
            person: The annotator.
            after: A place in the annotator's order.
            wanted: How many texts that follow it; fewer come where one of them is not open.
        """
        with self._database.reading() as connection:
            progress = progress_of(taking_part(connection, person.id))
            return Ahead(progress=progress, tasks=_open_after(connection, person.id, after, wanted))

    def progress(self, person: Person) -> Progress:
        """How far an annotator is.

        Args:
            person: The annotator.
        """
        with self._database.reading(once=True) as connection:
            return progress_of(taking_part(connection, person.id))

    def rate(
        self,
        person: Person,
        assignment: int,
        value: float | Sequence[Span],
        *,
        request: str,
        revision: int | None = None,
        seconds: float | None = None,
    ) -> Event:
        """Grade a text, or grade it again.

        Args:
            person: The annotator.
            assignment: The number in the task.
            value: The grade, or the marks.
            request: A key that the client made for this answer: sent twice, it is stored once.
            revision: The revision in the task; a text that was answered meanwhile is then refused.
            seconds: How long the text was before the annotator.

        Returns:
            The event; for a key that is known, the one that it made.

        Raises:
            Refused: The text is not this person's, was answered meanwhile, or the grade is not on the scale.
        """
        given = Answer(assignment=assignment, value=value, request=request, revision=revision, seconds=seconds)
        return self._said_by(person, given)

    def skip(self, person: Person, assignment: int, reason: str, *, request: str, revision: int | None = None) -> Event:
        """Pass a text over.

        Args:
            person: The annotator.
            assignment: The number in the task.
            reason: Why.
            request: A key that the client made for this answer.
            revision: The revision in the task.

        Raises:
            Refused: As `rate`; or there is no reason.
        """
        return self._said_by(person, Answer(assignment=assignment, reason=reason, request=request, revision=revision))

    def answer(self, session: str, given: Answer, *, after: int = 0, wanted: int = 0) -> Future[Ahead | None]:
        """Store an answer of whoever is signed in and find what comes next, all in one transaction.

        Args:
            session: The token of the session.
            given: The answer.
            after: A place in the annotator's order.
            wanted: How many texts that follow it are asked for, see `ahead`.

        Returns:
            A future: how far the annotator now is, and those texts, when the answer is on disk; None where nobody is
            signed in with this session. What `rate` and `skip` refuse it refuses.
        """
        rubric = self._rubric()

        def change(connection: Connection) -> Ahead | None:
            now = self._clock()
            who = signed_in(connection, session, now, lock=True)
            if who is None:
                return None
            _, progress = _add_answer(connection, who, given, rubric, now)
            return Ahead(progress=progress, tasks=_open_after(connection, who.id, after, wanted))

        return self._database.submit(change)

    def undo(self, person: Person, *, request: str) -> Task | None:
        """Take the annotator's last answer back, then the one before it, and so on.

        Nothing is deleted: this adds an event, and the text is again as it was before the answer.

        Args:
            person: The annotator.
            request: A key that the client made.

        Returns:
            The text; None where there is nothing to take back.

        Raises:
            Refused: The key was used for something else, or the person has left.
        """
        key = answers.key(request)

        def change(connection: Connection) -> Task | None:
            who = taking_part(connection, person.id, lock=True)
            event = _known(connection, who.id, key, "undo")
            if event is None:
                last = _event(connection, who.latest)
                if last is None:
                    return None
                row = _assignment(connection, who.id, last.assignment)
                undone = {"kind": "undo", "undoes": last.id, "previous": last.previous}
                before = _event(connection, last.before)
                said = {**undone, "time": self._clock(), "request": key}
                event, _ = _add(connection, who, row, said, now=before, latest=last.previous)
            return _task_of(_OF_ASSIGNMENT.first(connection, {"person": who.id, "assignment": event.assignment}))

        return self._database.change(change)

    def _said_by(self, person: Person, given: Answer) -> Event:
        rubric = self._rubric()

        def change(connection: Connection) -> Event:
            who = taking_part(connection, person.id, lock=True)
            return _add_answer(connection, who, given, rubric, self._clock())[0]

        return self._database.change(change)


_AT, _SAID, _WHO = tables.assignment.c, tables.event.c, tables.person.c


# Answers.


def _add_answer(connection: Connection, who: Any, given: Answer, rubric: Rubric, now: float) -> tuple[Event, Progress]:
    """Add an answer to a text, once."""
    key = answers.key(given.request)
    row = _assignment(connection, who.id, given.assignment)
    said = _checked(connection, row.item, given, rubric)
    event, progress = _known(connection, who.id, key, said["kind"]), progress_of(who)
    if event is None:
        if given.revision is not None and given.revision != (row.event or 0):
            raise Refused("stale", "this text was answered meanwhile; look at it again")
        event, progress = _add(connection, who, row, {**said, "time": now, "request": key, "previous": who.latest})
    elif event.assignment != row.id:
        raise Refused("used", "this key was used for another text")
    return event_of(event, row.round), progress


def _checked(connection: Connection, number: int, given: Answer, rubric: Rubric) -> dict[str, Any]:
    """What an answer says, in columns of an event."""
    if given.reason is not None:
        why = answers.words("reason", given.reason)
        if not why:
            raise Refused("invalid", "say why this text is skipped")
        return {"kind": "skip", "reason": why}
    took = answers.time_taken(given.seconds)
    if rubric.kind == "grade":
        return {"kind": "rate", "grade": answers.on_scale(rubric, given.value), "seconds": took}
    text = _TEXT.first(connection, {"item": number}).text
    marks = answers.marks(text, given.value)
    spans = msgspec.json.encode(marks).decode()
    return {"kind": "rate", "grade": share(text, marks), "spans": spans, "seconds": took}


_TEXT: Final = Prepared(sql.select(tables.item.c.text).where(tables.item.c.number == sql.bindparam("item")))
_ASSIGNMENT: Final = Prepared(
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


_EVENT: Final = Prepared(sql.select(tables.event).where(_SAID.id == sql.bindparam("event")))


def _event(connection: Connection, number: int | None) -> Any:
    """An event by its number."""
    return None if number is None else _EVENT.first(connection, {"event": number})


_KNOWN: Final = Prepared(
    sql.select(tables.event).where(_SAID.person == sql.bindparam("person"), _SAID.request == sql.bindparam("request"))
)


def _known(connection: Connection, who: int, key: str, kind: str) -> Any:
    """The event that a request has made already."""
    row = _KNOWN.first(connection, {"person": who, "request": key})
    if row is not None and row.kind != kind:
        raise Refused("used", "this key was used for something else")
    return row


_COLUMNS: Final = [column.key for column in tables.event.columns if column.key != "id"]
_ADD: Final = Prepared(tables.event.insert().returning(tables.event), _COLUMNS)
_EMPTY: Final = dict.fromkeys(("grade", "spans", "seconds", "undoes")) | {"reason": ""}
_SETTLE: Final = Prepared(
    tables.assignment.update()
    .where(_AT.id == sql.bindparam("assignment"))
    .values(state=sql.bindparam("now"), event=sql.bindparam("made_by"))
)
_REMEMBER: Final = Prepared(
    tables.person.update()
    .where(_WHO.id == sql.bindparam("number"))
    .values(latest=sql.bindparam("last"), done=sql.bindparam("now_done"), skipped=sql.bindparam("now_skipped"))
)


def _add(connection: Connection, who: Any, row: Any, values: Mapping[str, Any], **after: Any) -> tuple[Any, Progress]:
    """Add an event, and keep what now holds of the assignment and of the person.

    Args:
        connection: The database.
        who: The row of the person, who is locked.
        row: The row of the assignment.
        values: Of the event.
        after: ``now``, the event that made the assignment's state, and ``latest``, the number of the event that undo
            takes back; without them the new event is both.
    """
    fixed = {**_EMPTY, "person": who.id, "assignment": row.id, "before": row.event}
    event = _ADD.first(connection, {**fixed, **values})
    now = after.get("now", event)
    state = OPEN if now is None else GRADED if now.kind == "rate" else SKIPPED
    _SETTLE.rows(connection, {"assignment": row.id, "now": state, "made_by": None if now is None else now.id})
    done = who.done + (state == GRADED) - (row.state == GRADED)
    skipped = who.skipped + (state == SKIPPED) - (row.state == SKIPPED)
    latest = after.get("latest", event.id)
    kept = {"number": who.id, "last": latest, "now_done": done, "now_skipped": skipped}
    _REMEMBER.rows(connection, kept)
    return event, Progress(done=done, total=who.total, skipped=skipped)


# Tasks.


_TASK: Final = (
    sql.select(
        *(_AT.id, _AT.place, _AT.round, _AT.state, _AT.event, tables.item.c.text),
        *(tables.article.c.title, tables.article.c.content, tables.article.c.lang),
        *(_SAID.grade, _SAID.spans, _SAID.reason, _WHO.total),
    )
    .join_from(tables.assignment, tables.item, _AT.item == tables.item.c.number)
    .join(tables.article, tables.item.c.article == tables.article.c.id)
    .join(tables.person, _AT.person == _WHO.id)
    .outerjoin(tables.event, _AT.event == _SAID.id)
    .where(_AT.person == sql.bindparam("person"), _AT.state != MOVED)
)
_FIRST_OPEN: Final = Prepared(_TASK.where(_AT.state == OPEN).order_by(_AT.place).limit(sql.bindparam("most", 1)))
_AT_PLACE: Final = Prepared(_TASK.where(_AT.place == sql.bindparam("place")))
_OF_ASSIGNMENT: Final = Prepared(_TASK.where(_AT.id == sql.bindparam("assignment")))
_BETWEEN: Final = Prepared(
    _TASK.where(_AT.place > sql.bindparam("after"), _AT.place <= sql.bindparam("last")).order_by(_AT.place)
)


def _open_after(connection: Connection, who: int, after: int, wanted: int) -> tuple[Task, ...]:
    """The texts that follow a place, up to one that is not open."""
    if wanted <= 0 or not -1 <= after < MOST_ROWS - wanted:
        return ()
    found: list[Task] = []
    for row in _BETWEEN.rows(connection, {"person": who, "after": after, "last": after + wanted}):
        if row.state != OPEN or row.place != after + 1 + len(found):
            break
        found.append(_task_of(row))
    return tuple(found)


def _task_of(row: Any) -> Task:
    """A row as a noun."""
    return Task(
        assignment=row.id,
        place=row.place,
        total=row.total,
        round=row.round,
        revision=row.event or 0,
        state=STATES[row.state],
        text=row.text,
        title=row.title,
        content=row.content,
        lang=row.lang,
        grade=row.grade,
        spans=spans_of(row.spans),
        reason=row.reason or "",
    )


def event_of(row: Any, again: int) -> Event:
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
        request=row.request,
        grade=None if row.grade is None else float(row.grade),
        spans=None if row.spans is None else spans_of(row.spans),
        reason=row.reason,
        seconds=row.seconds,
        undoes=row.undoes,
    )


def spans_of(text: str | None) -> tuple[Span, ...]:
    """Marks as they are kept.

    Args:
        text: In the database.
    """
    return () if text is None else msgspec.json.decode(text, type=tuple[tuple[int, int], ...])
