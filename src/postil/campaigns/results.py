"""Results of a campaign: ratings, the event log, items with disagreement, adjudications."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING, Final

import sqlalchemy as sql

from postil.campaigns import tables, validation
from postil.campaigns.grading import first_answers, to_event
from postil.campaigns.items import golds_of, grades_of, is_swapped, items, spans_of
from postil.campaigns.models import Adjudication, Campaign, Conflict, Event, Person, Rating, Refused, name_of
from postil.campaigns.people import active_person
from postil.campaigns.quality import reading_length
from postil.campaigns.state import moment
from postil.campaigns.tables import GRADED, MOST_ROWS
from postil.data.groups import grouped
from postil.messages import Message
from postil.raters.result import PlanRevision

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sqlalchemy import Connection

    from postil.campaigns.database import Database
    from postil.campaigns.rubric import Rubric

__all__ = ["Results"]

BATCH: Final = 500
"""Number of items per query; SQLite bounds the parameters of one."""

_ASSIGNMENTS, _EVENTS, _PEOPLE = tables.assignment.c, tables.event.c, tables.person.c


class Results:
    """Results of a campaign.

    Args:
        database: Database of the campaign.
        rubric: Function that returns the rubric.
        campaign: Function that returns the settings of the campaign.
        clock: Function that returns the time, in seconds since 1970.
    """

    def __init__(
        self,
        database: Database,
        rubric: Callable[[], Rubric],
        campaign: Callable[[], Campaign],
        clock: Callable[[], float],
    ) -> None:
        self._database, self._rubric, self._campaign, self._clock = database, rubric, campaign, clock

    def ratings(self) -> list[Rating]:
        """Read the current ratings, sorted by item, annotator and round.

        Of gold items in a campaign with feedback they are the first ones, given before the label was shown.
        """
        with self._database.reading() as connection:
            campaign = self._campaign()
            found = _ratings(connection, [one.first for one in campaign.revisions])
            return list(first_answers(connection, found) if campaign.feedback else found)

    def revisions(self, ratings: Iterable[Rating]) -> tuple[PlanRevision, ...]:
        """Describe the revisions of the plan, with the number of ratings of each.

        Args:
            ratings: The ratings.
        """
        campaign, counts = self._campaign(), Counter(one.revision for one in ratings)
        with self._database.reading(once=True) as connection:
            total = connection.execute(sql.select(sql.func.count()).select_from(tables.item)).scalar_one()
        firsts = [*(one.first for one in campaign.revisions), total]
        said = [(1, campaign.created, firsts[0], 0)]
        said += [(one.number, one.time, one.items, one.known) for one in campaign.revisions]
        return tuple(
            PlanRevision(number=number, time=moment(time), items=items, known=known, ratings=counts[number])
            for number, time, items, known in said
        )

    def articles(self) -> int:
        """Count the articles whose items are rated: those with other items than gold ones."""
        query = sql.select(sql.func.count(sql.distinct(tables.item.c.article))).where(tables.item.c.gold.is_(None))
        with self._database.reading(once=True) as connection:
            return int(connection.execute(query).scalar_one())

    def lengths(self) -> dict[int, float]:
        """Read the length of each item's text by its number; see `postil.campaigns.quality.reading_length`."""
        query = sql.select(tables.item.c.number, tables.item.c.text)
        with self._database.reading(once=True) as connection:
            return {number: reading_length(text) for number, text in connection.execute(query)}

    def events(self) -> list[Event]:
        """Read the event log."""
        with self._database.reading() as connection:
            return list(map(to_event, connection.execute(sql.select(tables.event).order_by(_EVENTS.id))))

    def apart(self, distance: float) -> list[int]:
        """Find the items with disagreement, largest first; gold and repeated items are ignored.

        Args:
            distance: Smallest distance between the highest and the lowest grade.

        Returns:
            Numbers of the items.
        """
        spread = sql.func.max(_EVENTS.grade) - sql.func.min(_EVENTS.grade)
        query = (
            sql.select(_ASSIGNMENTS.item)
            .join_from(tables.assignment, tables.event, _ASSIGNMENTS.event == _EVENTS.id)
            .join(tables.item, _ASSIGNMENTS.item == tables.item.c.number)
            .where(_ASSIGNMENTS.state == GRADED, _ASSIGNMENTS.round == 1, tables.item.c.gold.is_(None))
            .group_by(_ASSIGNMENTS.item)
            .having(
                spread >= distance - 1e-9,  # shares of a text are inexact
                sql.func.count() > 1,
            )
            .order_by(spread.desc(), _ASSIGNMENTS.item)
        )
        with self._database.reading(once=True) as connection:
            return list(connection.execute(query).scalars())

    def cases(self, numbers: Sequence[int]) -> list[Conflict]:
        """Read items with their grades, whether they disagree or not.

        Args:
            numbers: Numbers of the items.

        Raises:
            Refused: There is no such item.
        """
        with self._database.reading() as connection:
            return list(_cases(connection, numbers))

    def conflict(self, number: int) -> Conflict:
        """Read an item with its grades; see `cases`.

        Args:
            number: Number of the item.

        Raises:
            Refused: There is no such item.
        """
        return self.cases([number])[0]

    def adjudicate(self, lead: Person, number: int, grade: float, reason: str, *, idempotency_key: str) -> Adjudication:
        """Adjudicate an item; the ratings of the annotators stay as they are.

        Args:
            lead: The lead.
            number: Number of the item.
            grade: The grade; for span annotations from 0 to 1, or 2.
            reason: Reason for the decision.
            idempotency_key: Key made by the client; a decision submitted twice under one key is stored once.

        Raises:
            Refused: The person is no lead (``forbidden``), there is no such item, or the grade is invalid.
        """
        asked = self._rubric()
        key = validation.key(idempotency_key)
        why = validation.words(Message("reason"), reason)
        decided = validation.on_scale(asked, grade) if asked.kind != "spans" else validation.share_or_two(grade)

        def transaction(connection: Connection) -> Adjudication:
            who = active_person(connection, lead.id, lock=True)
            if who.role != "lead":
                raise Refused("forbidden", "only a lead can adjudicate")
            if not _item_exists(connection, number):
                raise Refused("unknown", "there is no item {n}", n=number)
            table = tables.adjudication
            sent = sql.select(table).where(table.c.person == who.id, table.c.idempotency_key == key)
            row = connection.execute(sent).first()
            if row is None:
                values = {"item": number, "person": who.id, "grade": decided, "reason": why, "idempotency_key": key}
                row = connection.execute(table.insert().returning(table), {**values, "time": self._clock()}).one()
            elif row.item != number:
                raise Refused("used", "this idempotency key was used for another item")
            return Adjudication(
                number=row.item, lead=who.pseudonym, grade=float(row.grade), reason=row.reason, time=row.time
            )

        return self._database.run(transaction)

    def adjudications(self) -> list[Adjudication]:
        """Read all adjudications in order of time; of several of one item the last counts."""
        with self._database.reading() as connection:
            return list(_adjudications(connection))


def _ratings(connection: Connection, firsts: Sequence[int]) -> Iterator[Rating]:
    query = (
        sql.select(
            *(tables.item.c.number, tables.article.c.item, tables.item.c.system, _PEOPLE.pseudonym, _EVENTS.grade),
            *(
                _ASSIGNMENTS.round,
                _ASSIGNMENTS.position,
                _EVENTS.time,
                _EVENTS.seconds,
                tables.item.c.gold,
                tables.item.c.purpose,
                _EVENTS.spans,
                tables.item.c.sample,
                _EVENTS.grades,
                tables.item.c.golds,
            ),
            *(tables.item.c.other_system, _ASSIGNMENTS.swapped, _ASSIGNMENTS.id.label("assignment")),
        )
        .join_from(tables.assignment, tables.event, _ASSIGNMENTS.event == _EVENTS.id)
        .join(tables.item, _ASSIGNMENTS.item == tables.item.c.number)
        .join(tables.article, tables.item.c.article == tables.article.c.id)
        .join(tables.person, _ASSIGNMENTS.person == _PEOPLE.id)
        .where(_ASSIGNMENTS.state == GRADED)
        .order_by(tables.item.c.number, _ASSIGNMENTS.person, _ASSIGNMENTS.round)
    )
    for row in connection.execute(query):
        yield Rating(
            number=row.number,
            item=row.item,
            system=name_of(row.system, row.other_system),
            annotator=row.pseudonym,
            grade=row.grade,
            round=row.round,
            order=row.position,
            time=row.time,
            seconds=row.seconds,
            gold=row.gold,
            spans=spans_of(row.spans),
            revision=1 + bisect_right(firsts, row.number),
            sample=row.sample,
            purpose=row.purpose,
            grades=grades_of(row.grades),
            golds=golds_of(row.golds),
            pair=(row.system, row.other_system) if row.other_system else None,
            swapped=bool(row.other_system) and is_swapped(row.swapped, row.assignment),
        )


def _item_exists(connection: Connection, number: int) -> bool:
    there = sql.select(tables.item.c.number).where(tables.item.c.number == number)
    return 0 <= number < MOST_ROWS and connection.execute(there).first() is not None


def _adjudications(connection: Connection, numbers: Sequence[int] | None = None) -> Iterator[Adjudication]:
    table = tables.adjudication
    columns = (table.c.item, _PEOPLE.pseudonym, table.c.grade, table.c.reason, table.c.time)
    query = sql.select(*columns).join_from(table, tables.person).order_by(table.c.id)
    if numbers is not None:
        query = query.where(table.c.item.in_(numbers))
    for item, lead, grade, reason, when in connection.execute(query):
        yield Adjudication(number=item, lead=lead, grade=float(grade), reason=reason, time=when)


def _cases(connection: Connection, numbers: Sequence[int]) -> Iterator[Conflict]:
    for start in range(0, len(numbers), BATCH):
        some = numbers[start : start + BATCH]
        texts = items(connection, [number for number in some if 0 <= number < MOST_ROWS])
        for number in some:
            if number not in texts:
                raise Refused("unknown", "there is no item {n}", n=number)
        grades = (
            sql.select(_ASSIGNMENTS.item, _PEOPLE.pseudonym, _EVENTS.grade)
            .join_from(tables.assignment, tables.event, _ASSIGNMENTS.event == _EVENTS.id)
            .join(tables.person, _ASSIGNMENTS.person == _PEOPLE.id)
            .where(_ASSIGNMENTS.item.in_(some), _ASSIGNMENTS.state == GRADED, _ASSIGNMENTS.round == 1)
            .order_by(_ASSIGNMENTS.person)
        )
        given = grouped((number, (name, grade)) for number, name, grade in connection.execute(grades))
        decided = {one.number: one for one in _adjudications(connection, some)}
        for number in some:
            ratings = given.get(number, ())
            values = [grade for _, grade in ratings]
            yield Conflict(
                number=number,
                text=texts[number].text,
                title=texts[number].title,
                content=texts[number].content,
                lang=texts[number].lang,
                ratings=tuple(ratings),
                distance=max(values, default=0.0) - min(values, default=0.0),
                adjudication=decided.get(number),
                context=texts[number].context,
                other_text=texts[number].other_text,
            )
