"""What came of the grading: ratings, everything that was done, conflicts, decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sql

from postil.annotation import tables, validation
from postil.annotation.events import to_event
from postil.annotation.models import Adjudication, Conflict, Event, Person, Rating, Refused
from postil.annotation.people import taking_part
from postil.annotation.spans import from_json
from postil.annotation.tables import GRADED, MOST_ROWS
from postil.annotation.texts import items

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sqlalchemy import Connection

    from postil.annotation.database import Database
    from postil.annotation.rubric import Rubric

__all__ = ["Results"]

MANY: Final = 500
"""How many numbers stand in one query."""

_AT, _SAID, _WHO = tables.assignment.c, tables.event.c, tables.person.c


class Results:
    """What came of the grading.

    Args:
        database: Where the campaign lives.
        rubric: What is asked.
        clock: Tells the time in seconds since 1970.
    """

    def __init__(self, database: Database, rubric: Callable[[], Rubric], clock: Callable[[], float]) -> None:
        self._database, self._rubric, self._clock = database, rubric, clock

    def ratings(self) -> list[Rating]:
        """What every annotator now thinks, in the order of texts, annotators and rounds."""
        with self._database.reading() as connection:
            return list(_ratings(connection))

    def events(self) -> list[Event]:
        """Everything that annotators did, as it happened."""
        query = sql.select(tables.event, tables.assignment.c.round).join(tables.assignment)
        with self._database.reading() as connection:
            return [to_event(row, row.round) for row in connection.execute(query.order_by(tables.event.c.id))]

    def apart(self, distance: float) -> list[int]:
        """The numbers of texts with grades at least so far apart, the farthest first; second rounds are not looked at.

        Args:
            distance: How far.
        """
        spread = sql.func.max(_SAID.grade) - sql.func.min(_SAID.grade)
        query = (
            sql.select(_AT.item)
            .join_from(tables.assignment, tables.event, _AT.event == _SAID.id)
            .where(_AT.state == GRADED, _AT.round == 1)
            .group_by(_AT.item)
            .having(spread >= distance - 1e-9, sql.func.count() > 1)
            .order_by(spread.desc(), _AT.item)
        )
        with self._database.reading(once=True) as connection:
            return list(connection.execute(query).scalars())

    def cases(self, numbers: Sequence[int]) -> list[Conflict]:
        """Texts with their grades, whether they are far apart or not.

        Args:
            numbers: The numbers of the texts.

        Raises:
            Refused: There is no such text.
        """
        with self._database.reading() as connection:
            return list(_cases(connection, numbers))

    def conflict(self, number: int) -> Conflict:
        """A text with its grades; see `cases`.

        Args:
            number: The number of the text.

        Raises:
            Refused: There is no such text.
        """
        return self.cases([number])[0]

    def adjudicate(self, lead: Person, number: int, grade: float, reason: str, *, idempotency_key: str) -> Adjudication:
        """Decide about a text; the grades of the annotators stay as they are.

        Args:
            lead: Who decides.
            number: The number of the text.
            grade: The grade; where passages are marked, from 0 to 1, or 2.
            reason: Why.
            idempotency_key: A key that the client made for this decision.

        Raises:
            Refused: The person is no lead, there is no such text, or the grade is not on the scale.
        """
        asked = self._rubric()
        key = validation.key(idempotency_key)
        why = validation.words("reason", reason)
        decided = validation.on_scale(asked, grade) if asked.kind == "grade" else validation.share_or_two(grade)

        def change(connection: Connection) -> Adjudication:
            who = taking_part(connection, lead.id, lock=True)
            if who.role != "lead":
                raise Refused("forbidden", "only a lead can decide")
            if not _text_exists(connection, number):
                raise Refused("unknown", f"there is no text {number}")
            table = tables.adjudication
            sent = sql.select(table).where(table.c.person == who.id, table.c.idempotency_key == key)
            row = connection.execute(sent).first()
            if row is None:
                values = {"item": number, "person": who.id, "grade": decided, "reason": why, "idempotency_key": key}
                row = connection.execute(table.insert().returning(table), {**values, "time": self._clock()}).one()
            elif row.item != number:
                raise Refused("used", "this key was used for another text")
            return _to_adjudication(row, who.pseudonym)

        return self._database.run(change)

    def adjudications(self) -> list[Adjudication]:
        """Every decision, as they were made; of several about one text the last counts."""
        with self._database.reading() as connection:
            return list(_adjudications(connection))


def _ratings(connection: Connection) -> Iterator[Rating]:
    """What every annotator now thinks."""
    query = (
        sql.select(
            *(tables.item.c.number, tables.article.c.item, tables.item.c.system, _WHO.pseudonym, _SAID.grade),
            *(_AT.round, _AT.position, _SAID.time, _SAID.seconds, tables.item.c.gold, _SAID.spans),
        )
        .join_from(tables.assignment, tables.event, _AT.event == _SAID.id)
        .join(tables.item, _AT.item == tables.item.c.number)
        .join(tables.article, tables.item.c.article == tables.article.c.id)
        .join(tables.person, _AT.person == _WHO.id)
        .where(_AT.state == GRADED)
        .order_by(tables.item.c.number, _AT.person, _AT.round)
    )
    for number, item, system, annotator, grade, again, place, when, seconds, gold, spans in connection.execute(query):
        yield Rating(
            number=number,
            item=item,
            system=system,
            annotator=annotator,
            grade=grade,
            round=again,
            order=place,
            time=when,
            seconds=seconds,
            gold=gold,
            spans=from_json(spans),
        )


def _text_exists(connection: Connection, number: int) -> bool:
    """Whether there is a text with this number."""
    there = sql.select(tables.item.c.number).where(tables.item.c.number == number)
    return 0 <= number < MOST_ROWS and connection.execute(there).first() is not None


def _to_adjudication(row: Any, lead: str) -> Adjudication:
    """A row as a noun."""
    return Adjudication(number=row.item, lead=lead, grade=float(row.grade), reason=row.reason, time=row.time)


def _adjudications(connection: Connection, numbers: Sequence[int] | None = None) -> Iterator[Adjudication]:
    """Decisions about texts, as they were made."""
    table = tables.adjudication
    query = sql.select(table, _WHO.pseudonym).join(tables.person).order_by(table.c.id)
    if numbers is not None:
        query = query.where(table.c.item.in_(numbers))
    for row in connection.execute(query):
        yield _to_adjudication(row, row.pseudonym)


def _cases(connection: Connection, numbers: Sequence[int]) -> Iterator[Conflict]:
    """Texts with their grades."""
    for start in range(0, len(numbers), MANY):
        some = numbers[start : start + MANY]
        texts = items(connection, [number for number in some if 0 <= number < MOST_ROWS])
        for number in some:
            if number not in texts:
                raise Refused("unknown", f"there is no text {number}")
        given: dict[int, list[tuple[str, float]]] = {number: [] for number in some}
        grades = (
            sql.select(_AT.item, _WHO.pseudonym, _SAID.grade)
            .join_from(tables.assignment, tables.event, _AT.event == _SAID.id)
            .join(tables.person, _AT.person == _WHO.id)
            .where(_AT.item.in_(some), _AT.state == GRADED, _AT.round == 1)
            .order_by(_AT.person)
        )
        for number, name, grade in connection.execute(grades):
            given[number].append((name, grade))
        decided = {one.number: one for one in _adjudications(connection, some)}
        for number in some:
            values = [grade for _, grade in given[number]]
            yield Conflict(
                number=number,
                text=texts[number].text,
                title=texts[number].title,
                content=texts[number].content,
                lang=texts[number].lang,
                ratings=tuple(given[number]),
                distance=max(values, default=0.0) - min(values, default=0.0),
                adjudication=decided.get(number),
            )
