"""Actions of annotators: read tasks, rate, skip, undo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.campaigns import validation
from postil.campaigns.events import add_annotation, undo_last
from postil.campaigns.feedback import shown_label
from postil.campaigns.models import Annotation, Refused, Upcoming
from postil.campaigns.people import active_person, progress_of, signed_in
from postil.campaigns.tasks import first_open, of_assignment, open_after, task_at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future

    from sqlalchemy import Connection

    from postil.campaigns.database import Database
    from postil.campaigns.models import AnnotationTask, Event, Feedback, Person, Progress, ShownLabel, Span
    from postil.campaigns.rubric import Rubric
    from postil.campaigns.state import Lifecycle

__all__ = ["Grading"]


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
