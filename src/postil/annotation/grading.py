"""What annotators do: look at a text, grade it, skip it, go back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.annotation import validation
from postil.annotation.events import add_annotation, undo_last
from postil.annotation.models import Annotation, Refused, Upcoming
from postil.annotation.people import progress_of, signed_in, taking_part
from postil.annotation.tasks import at_position, first_open, of_assignment, open_after

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future

    from sqlalchemy import Connection

    from postil.annotation.database import Database
    from postil.annotation.models import Event, Person, Progress, Span, Task
    from postil.annotation.rubric import Rubric

__all__ = ["Grading"]


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
            return first_open(connection, person.id)

    def task(self, person: Person, place: int) -> Task:
        """A text of an annotator.

        Args:
            person: The annotator.
            place: Where it stands in the annotator's order, from 0.

        Raises:
            Refused: There is no such place.
        """
        with self._database.reading(once=True) as connection:
            found = at_position(connection, person.id, place)
        if found is None:
            raise Refused("unknown", f"there is no text {place + 1}")
        return found

    def upcoming(self, person: Person, after: int, wanted: int) -> Upcoming:
        """How far an annotator is, and what comes.

        Args:
            person: The annotator.
            after: A place in the annotator's order.
            wanted: How many texts that follow it; fewer come where one of them is not open.
        """
        with self._database.reading() as connection:
            progress = progress_of(taking_part(connection, person.id))
            return Upcoming(progress=progress, tasks=open_after(connection, person.id, after, wanted))

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
        idempotency_key: str,
        revision: int | None = None,
        seconds: float | None = None,
    ) -> Event:
        """Grade a text, or grade it again.

        Args:
            person: The annotator.
            assignment: The number in the task.
            value: The grade, or the marks.
            idempotency_key: A key that the client made for this answer: sent twice, it is stored once.
            revision: The revision in the task; a text that was answered meanwhile is then refused.
            seconds: How long the text was before the annotator.

        Returns:
            The event; for a key that is known, the one that it made.

        Raises:
            Refused: The text is not this person's, was answered meanwhile, or the grade is not on the scale.
        """
        given = Annotation(
            assignment=assignment, value=value, idempotency_key=idempotency_key, revision=revision, seconds=seconds
        )
        return self._said_by(person, given)

    def skip(
        self, person: Person, assignment: int, reason: str, *, idempotency_key: str, revision: int | None = None
    ) -> Event:
        """Pass a text over.

        Args:
            person: The annotator.
            assignment: The number in the task.
            reason: Why.
            idempotency_key: A key that the client made for this answer.
            revision: The revision in the task.

        Raises:
            Refused: As `rate`; or there is no reason.
        """
        return self._said_by(
            person, Annotation(assignment=assignment, reason=reason, idempotency_key=idempotency_key, revision=revision)
        )

    def answer(self, session: str, given: Annotation, *, after: int = 0, wanted: int = 0) -> Future[Upcoming | None]:
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

        def change(connection: Connection) -> Upcoming | None:
            now = self._clock()
            who = signed_in(connection, session, now, lock=True)
            if who is None:
                return None
            _, progress = add_annotation(connection, who, given, rubric, now)
            return Upcoming(progress=progress, tasks=open_after(connection, who.id, after, wanted))

        return self._database.submit(change)

    def undo(self, person: Person, *, idempotency_key: str) -> Task | None:
        """Take the annotator's last answer back, then the one before it, and so on.

        Nothing is deleted: this adds an event, and the text is again as it was before the answer.

        Args:
            person: The annotator.
            idempotency_key: A key that the client made.

        Returns:
            The text; None where there is nothing to take back.

        Raises:
            Refused: The key was used for something else, or the person has left.
        """
        key = validation.key(idempotency_key)

        def change(connection: Connection) -> Task | None:
            who = taking_part(connection, person.id, lock=True)
            assignment = undo_last(connection, who, key, self._clock())
            return None if assignment is None else of_assignment(connection, who.id, assignment)

        return self._database.run(change)

    def _said_by(self, person: Person, given: Annotation) -> Event:
        rubric = self._rubric()

        def change(connection: Connection) -> Event:
            who = taking_part(connection, person.id, lock=True)
            return add_annotation(connection, who, given, rubric, self._clock())[0]

        return self._database.run(change)
