"""Where a campaign lives: SQLite by default, PostgreSQL by URL."""

from __future__ import annotations

import secrets
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from postil.annotation import answers
from postil.annotation.nouns import Campaign, Handover, Refused, Session, Standing
from postil.annotation.rubric import Rubric
from postil.annotation.spans import share
from postil.errors import InvalidInput, MissingExtra, PostilError, UsageError

try:
    import sqlalchemy as sql
    from sqlalchemy.exc import SQLAlchemyError

    from postil.annotation import queries, tables
    from postil.annotation.database import engine_of, locking, shown, single
    from postil.annotation.leaving import hand_over, keep_for_another
    from postil.annotation.tables import OPEN, SCHEMA
    from postil.annotation.writing import Direct, Grouped
except ImportError as error:
    raise MissingExtra("a campaign", "web") from error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import TracebackType
    from typing import Self

    from sqlalchemy import Connection, Engine

    from postil.annotation.nouns import (
        Adjudication,
        Conflict,
        Event,
        Item,
        Person,
        Progress,
        Rating,
        Role,
        Span,
        Task,
    )
    from postil.annotation.plan import Plan
    from postil.annotation.writing import Writer

__all__ = ["DAY", "Store"]

T = TypeVar("T")

DAY: Final = 86_400.0
MOST_DAYS: Final = 3_650
NAME_LENGTH: Final = 200


class Store:
    """A campaign in a database; every method is one short transaction.

    `open` makes it. It may be used by many threads and processes at once. When a method that changes something returns,
    the change is on disk.

    Args:
        engine: The database.
        clock: Tells the time in seconds since 1970.

    Attributes:
        where: The database for people to read, without a password.
    """

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        self.where = shown(engine)
        self._engine = engine
        self._clock = clock
        self._write: Writer = Grouped(locking(engine)) if engine.dialect.name == "sqlite" else Direct(engine)
        self._single = single(engine)
        self._rubric: Rubric | None = None

    @classmethod
    def open(cls, url: str, *, make: bool = False, clock: Callable[[], float] = time.time) -> Self:
        """Open a database.

        Args:
            url: ``postgresql://…``, ``sqlite:///…``, or the name of an SQLite file.
            make: Make the tables where there are none.
            clock: Tells the time in seconds since 1970.

        Raises:
            UsageError: The URL is of another kind.
            MissingExtra: The package for PostgreSQL is not installed.
            InvalidInput: There is no campaign, or one of another version of postil.
            PostilError: The database cannot be reached.
        """
        engine = engine_of(url, make=make)
        where = shown(engine)
        schema = None
        try:
            with engine.connect() as connection:
                if sql.inspect(connection).has_table("campaign"):
                    schema = connection.execute(sql.select(tables.campaign.c.schema)).scalar()
            if make:
                with locking(engine).begin() as connection:
                    tables.METADATA.create_all(connection)
        except SQLAlchemyError as error:
            engine.dispose()
            raise PostilError(f"{where}: cannot be opened: {_said(error)}") from error
        if schema != SCHEMA and not (make and schema is None):
            engine.dispose()
            other = f"made by another version of postil (tables {schema}, not {SCHEMA})"
            none = "there is no campaign here; postil annotate plan makes one"
            raise InvalidInput(none if schema is None else other, where=where)
        return cls(engine, clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Finish what was begun and let go of the database."""
        self._write.close()
        self._engine.dispose()

    # The campaign.

    def create(self, campaign: Campaign, items: Iterable[Item], plan: Plan, rubric: Rubric) -> None:
        """Lay a campaign down, whole or not at all.

        Args:
            campaign: What is done.
            items: The texts, in the order of their numbers in the plan.
            plan: Who grades what.
            rubric: What is asked.

        Raises:
            UsageError: The database holds a campaign already, or plan and items do not fit together.
        """
        texts = list(items)
        if tuple(text.item for text in texts) != plan.articles:
            raise UsageError("the plan is for other texts")
        campaign = msgspec.structs.replace(campaign, created=self._clock())
        articles = {text.item: number for number, text in enumerate(reversed(texts), 1)}
        rows: dict[sql.Table, list[dict[str, Any]]] = {
            tables.campaign: [{"id": 1, "schema": SCHEMA, "data": _json(campaign), "rubric": _json(rubric)}],
            tables.article: [
                {"id": articles[text.item], "item": text.item, **_of(text, "title", "content", "lang")}
                for text in {text.item: text for text in reversed(texts)}.values()
            ],
            tables.item: [
                {"number": number, "article": articles[text.item], **_of(text, "system", "text", "gold")}
                for number, text in enumerate(texts)
            ],
            tables.person: [
                {"id": number, "name": "", "role": "annotator", "pseudonym": name, "total": len(order)}
                for number, (name, order) in enumerate(zip(plan.annotators, plan.orders, strict=True), 1)
            ],
            tables.assignment: [
                {"item": number, "person": person, "round": again, "place": place, "state": OPEN}
                for person, order in enumerate(plan.orders, 1)
                for place, (number, again) in enumerate(order)
            ],
        }

        def change(connection: Connection) -> None:
            if connection.execute(sql.select(tables.campaign.c.id)).first():
                raise UsageError("the database holds a campaign already; each has one of its own")
            for table, values in rows.items():
                connection.execute(table.insert(), values)
            if connection.dialect.name == "postgresql":  # ids were given, so the counter must follow
                last = "SELECT setval(pg_get_serial_sequence('person', 'id'), (SELECT max(id) FROM person))"
                connection.exec_driver_sql(last)

        self._changed(change)

    def campaign(self) -> Campaign:
        """What is done."""
        with self._reading() as connection:
            data = connection.execute(sql.select(tables.campaign.c.data)).scalar_one()
        return msgspec.json.decode(data, type=Campaign)

    def rubric(self) -> Rubric:
        """What is asked."""
        if self._rubric is None:
            with self._reading() as connection:
                data = connection.execute(sql.select(tables.campaign.c.rubric)).scalar_one()
            self._rubric = msgspec.json.decode(data, type=Rubric)
        return self._rubric

    def plan(self) -> Plan:
        """Who grades what, as it is now."""
        campaign = self.campaign()
        with self._reading() as connection:
            return queries.plan_of(connection, campaign)

    def items(self) -> list[Item]:
        """Every text, in the order of their numbers."""
        with self._reading() as connection:
            return list(queries.items(connection).values())

    def version(self) -> tuple[int, ...]:
        """Changes whenever a rating, an adjudication or a person does: what was worked out before it is out of date."""
        with self._reading(self._single) as connection:
            return queries.version(connection)

    # People.

    def invite(self, name: str, role: Role, days: float = 14.0) -> str:
        """Invite someone, or someone again.

        A new annotator gets a free place of the plan, at random. The name of one who is there already gets a new token,
        for another device.

        Args:
            name: The name that the lead knows.
            role: What the person may do.
            days: For how long the invitation holds.

        Returns:
            The token. The store has its hash only.

        Raises:
            Refused: No place is free, the name has another role, or the person has left.
        """
        name = answers.words("name", name, NAME_LENGTH)
        if not name:
            raise Refused("invalid", "a name has at least one letter")
        if role not in {"lead", "annotator"}:
            raise Refused("invalid", f"expected lead or annotator, got '{role}'")
        if not 0 < days <= MOST_DAYS:
            raise Refused("invalid", f"days: expected a number above 0 and up to {MOST_DAYS}, got {days}")
        token = secrets.token_urlsafe(32)

        def change(connection: Connection) -> None:
            number = queries.place_for(connection, name, role)
            values = {"hash": answers.hashed(token), "person": number, "expires": self._clock() + days * DAY}
            connection.execute(tables.invite.insert(), values)

        self._changed(change)
        return token

    def accept(self, token: str, days: float = 30.0) -> Session:
        """Sign in with an invitation, which works once.

        Args:
            token: The token of the invitation.
            days: For how long the person stays signed in.

        Raises:
            Refused: There is no such invitation, or it was used, or it has expired, or the person has left.
        """
        mine = secrets.token_urlsafe(32)

        def change(connection: Connection) -> Session:
            of_token = tables.invite.c.hash == answers.hashed(token)
            row = connection.execute(sql.select(tables.invite).where(of_token).with_for_update()).first()
            now = self._clock()
            if row is None:
                raise Refused("unknown", "there is no such invitation; check that the link is whole")
            if row.used is not None:
                raise Refused("used", "this invitation was used already; ask for a new one")
            if row.expires <= now:
                raise Refused("expired", "this invitation has expired; ask for a new one")
            who = queries.person_row(connection, row.person)
            connection.execute(tables.invite.update().where(of_token).values(used=now))
            expires = now + days * DAY
            values = {"hash": answers.hashed(mine), "person": who.id, "expires": expires}
            connection.execute(tables.session.insert(), values)
            return Session(token=mine, person=queries.person_of(who), expires=expires)

        return self._changed(change)

    def session(self, token: str) -> Person | None:
        """Who is signed in with a session's token; None for nobody.

        Args:
            token: The token of the session.
        """
        with self._reading(self._single) as connection:
            return queries.signed_in(connection, answers.hashed(token), self._clock())

    def end(self, session: str) -> None:
        """Sign out.

        Args:
            session: The token of the session.
        """
        ended = tables.session.delete().where(tables.session.c.hash == answers.hashed(session))
        self._changed(lambda connection: connection.execute(ended))

    def people(self) -> list[Person]:
        """Everyone, with the places that are still free."""
        with self._reading() as connection:
            rows = connection.execute(sql.select(tables.person).order_by(tables.person.c.id))
            return [queries.person_of(row) for row in rows]

    def standings(self) -> list[Standing]:
        """How far and how fast each annotator is, for the lead."""
        table = tables.person
        with self._reading() as connection:
            return [
                Standing(
                    person=queries.person_of(row),
                    progress=queries.progress_of(row),
                    seconds=queries.median_seconds(connection, row.id),
                    last=queries.last_time(connection, row.id),
                )
                for row in connection.execute(sql.select(table).where(table.c.role == "annotator").order_by(table.c.id))
            ]

    def leave(self, person: Person, *, replace: bool = False) -> Handover:
        """Let someone go: what is graded stays, what is not goes to the others, see `Plan.reassign`.

        Args:
            person: Who.
            replace: Keep what is not graded for someone new instead: there is then a free place, see `invite`.

        Returns:
            What became of the work.

        Raises:
            Refused: There is no such person, or they have left already.
        """
        campaign = self.campaign()

        def change(connection: Connection) -> Handover:
            everyone = connection.execute(sql.select(tables.person).order_by("id").with_for_update()).all()
            who = queries.person_row(connection, person.id)
            gone = tables.person.update().where(tables.person.c.id == who.id).values(gone=self._clock())
            connection.execute(gone)
            connection.execute(tables.session.delete().where(tables.session.c.person == who.id))
            if who.role == "lead":
                return Handover(moved=0, short=0)
            if replace:
                return Handover(moved=keep_for_another(connection, who, everyone), short=0)
            return hand_over(connection, campaign, who, everyone)

        return self._changed(change)

    # Grading.

    def next(self, person: Person) -> Task | None:
        """The text where the annotator goes on: the first that is open; None where all are done.

        Args:
            person: The annotator.
        """
        with self._reading(self._single) as connection:
            return queries.task_of(connection, person.id)

    def task(self, person: Person, place: int) -> Task:
        """A text of an annotator.

        Args:
            person: The annotator.
            place: Where it stands in the annotator's order, from 0.

        Raises:
            Refused: There is no such place.
        """
        found = None
        if 0 <= place < queries.MOST_ROWS:
            with self._reading(self._single) as connection:
                found = queries.task_of(connection, person.id, place=place)
        if found is None:
            raise Refused("unknown", f"there is no text {place + 1}")
        return found

    def progress(self, person: Person) -> Progress:
        """How far an annotator is.

        Args:
            person: The annotator.
        """
        with self._reading(self._single) as connection:
            return queries.progress_of(queries.person_row(connection, person.id))

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
        asked = self.rubric()
        took = answers.time_taken(seconds)

        def said(connection: Connection, number: int) -> dict[str, Any]:
            if asked.kind == "grade":
                return {"kind": "rate", "grade": answers.on_scale(asked, value), "seconds": took}
            of_text = sql.select(tables.item.c.text).where(tables.item.c.number == number)
            text = connection.execute(of_text).scalar_one()
            marks = answers.marks(text, value)
            return {"kind": "rate", "grade": share(text, marks), "spans": _json(marks), "seconds": took}

        return self._answer(person, assignment, request, revision, said)

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
        why = answers.words("reason", reason)
        if not why:
            raise Refused("invalid", "say why this text is skipped")
        return self._answer(person, assignment, request, revision, lambda *_: {"kind": "skip", "reason": why})

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
            who = queries.person_row(connection, person.id, lock=True)
            event = queries.known_event(connection, who.id, key, "undo")
            if event is None:
                last = queries.event_row(connection, who.latest)
                if last is None:
                    return None
                row = queries.assignment_row(connection, who.id, last.assignment)
                undone = {"kind": "undo", "undoes": last.id, "previous": last.previous}
                before = queries.event_row(connection, last.before)
                said = {**undone, "time": self._clock(), "request": key}
                event = queries.add_event(connection, who, row, said, now=before, latest=last.previous)
            return queries.task_of(connection, who.id, assignment=event.assignment)

        return self._changed(change)

    # Results.

    def ratings(self) -> list[Rating]:
        """What every annotator now thinks, in the order of texts, annotators and rounds."""
        with self._reading() as connection:
            return list(queries.ratings(connection))

    def events(self) -> list[Event]:
        """Everything that annotators did, as it happened."""
        query = sql.select(tables.event, tables.assignment.c.round).join(tables.assignment)
        with self._reading() as connection:
            return [queries.event_of(row, row.round) for row in connection.execute(query.order_by(tables.event.c.id))]

    def conflicts(self, distance: float = 2.0) -> list[Conflict]:
        """Texts with grades at least so far apart, the farthest first; grades of a second round are not looked at.

        Args:
            distance: How far.
        """
        with self._reading() as connection:
            return list(queries.conflicts(connection, queries.apart(connection, distance)))

    def cases(self, numbers: Sequence[int]) -> list[Conflict]:
        """Texts with their grades, whether they are far apart or not.

        Args:
            numbers: The numbers of the texts.

        Raises:
            Refused: There is no such text.
        """
        with self._reading() as connection:
            return list(queries.conflicts(connection, numbers))

    def conflict(self, number: int) -> Conflict:
        """A text with its grades; see `cases`.

        Args:
            number: The number of the text.

        Raises:
            Refused: There is no such text.
        """
        return self.cases([number])[0]

    def adjudicate(self, lead: Person, number: int, grade: float, reason: str, *, request: str) -> Adjudication:
        """Decide about a text; the grades of the annotators stay as they are.

        Args:
            lead: Who decides.
            number: The number of the text.
            grade: The grade; where passages are marked, from 0 to 1, or 2.
            reason: Why.
            request: A key that the client made for this decision.

        Raises:
            Refused: The person is no lead, there is no such text, or the grade is not on the scale.
        """
        asked = self.rubric()
        key = answers.key(request)
        why = answers.words("reason", reason)
        decided = answers.on_scale(asked, grade) if asked.kind == "grade" else answers.share_or_two(grade)

        def change(connection: Connection) -> Adjudication:
            who = queries.person_row(connection, lead.id, lock=True)
            if who.role != "lead":
                raise Refused("unknown", "only a lead can decide")
            if not queries.text_exists(connection, number):
                raise Refused("unknown", f"there is no text {number}")
            table = tables.adjudication
            sent = sql.select(table).where(table.c.person == who.id, table.c.request == key)
            row = connection.execute(sent).first()
            if row is None:
                values = {"item": number, "person": who.id, "grade": decided, "reason": why, "request": key}
                row = connection.execute(table.insert().returning(table), {**values, "time": self._clock()}).one()
            elif row.item != number:
                raise Refused("used", "this key was used for another text")
            return queries.adjudication_of(row, who.pseudonym)

        return self._changed(change)

    def adjudications(self) -> list[Adjudication]:
        """Every decision, as they were made; of several about one text the last counts."""
        with self._reading() as connection:
            return list(queries.adjudications(connection))

    # Inside.

    def _answer(
        self,
        person: Person,
        assignment: int,
        request: str,
        revision: int | None,
        said: Callable[[Connection, int], dict[str, Any]],
    ) -> Event:
        """Add an answer to a text, once."""
        key = answers.key(request)

        def change(connection: Connection) -> Event:
            who = queries.person_row(connection, person.id, lock=True)
            row = queries.assignment_row(connection, who.id, assignment)
            values = said(connection, row.item)
            event = queries.known_event(connection, who.id, key, values["kind"])
            if event is None:
                if revision is not None and revision != (row.event or 0):
                    raise Refused("stale", "this text was answered meanwhile; look at it again")
                said_now = {**values, "time": self._clock(), "request": key, "previous": who.latest}
                event = queries.add_event(connection, who, row, said_now)
            elif event.assignment != row.id:
                raise Refused("used", "this key was used for another text")
            return queries.event_of(event, row.round)

        return self._changed(change)

    def _changed(self, change: Callable[[Connection], T]) -> T:
        try:
            return self._write(change)
        except SQLAlchemyError as error:
            raise PostilError(f"the database refuses: {_said(error)}") from error

    @contextmanager
    def _reading(self, engine: Engine | None = None) -> Iterator[Connection]:
        try:
            with (engine or self._engine).connect() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise PostilError(f"the database refuses: {_said(error)}") from error


def _of(item: Item, *fields: str) -> dict[str, Any]:
    return {field: getattr(item, field) for field in fields}


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _said(error: Exception) -> str:
    """What the database says, in one line."""
    return str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
