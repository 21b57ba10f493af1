"""What `store` asks of the database, and the nouns that it makes of the answers."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec
import sqlalchemy as sql

from postil.annotation import tables
from postil.annotation.nouns import Adjudication, Conflict, Event, Item, Person, Progress, Rating, Refused, Task
from postil.annotation.plan import Plan
from postil.annotation.tables import GRADED, MOVED, OPEN, SKIPPED, STATES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlalchemy import Connection, Row

    from postil.annotation.nouns import Campaign, Role, Span

__all__ = [
    "MOST_ROWS",
    "Fields",
    "add_event",
    "adjudication_of",
    "adjudications",
    "apart",
    "assignment_row",
    "conflicts",
    "count_again",
    "event_of",
    "event_row",
    "items",
    "known_event",
    "last_time",
    "median_seconds",
    "person_of",
    "person_row",
    "place_for",
    "plan_of",
    "progress_of",
    "ratings",
    "signed_in",
    "spans_of",
    "task_of",
    "text_exists",
    "version",
]

Fields: TypeAlias = "Row[Any]"

MOST_ROWS: Final = 2**31
"""No number of a row is as large."""

LATEST: Final = 200
"""Of how many answers an annotator's speed is taken."""

MANY: Final = 500
"""How many numbers stand in one query."""

_AT, _SAID, _WHO = tables.assignment.c, tables.event.c, tables.person.c


def person_of(row: Fields) -> Person:
    """A row as a noun."""
    return Person(id=row.id, name=row.name, role=row.role, pseudonym=row.pseudonym, left=row.gone is not None)


def event_of(row: Fields, again: int) -> Event:
    """A row as a noun."""
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
    """Marks as they are kept."""
    return () if text is None else msgspec.json.decode(text, type=tuple[tuple[int, int], ...])


# People.


_PERSON: Final = sql.select(tables.person).where(_WHO.id == sql.bindparam("person"))
_PERSON_LOCKED: Final = _PERSON.with_for_update()


def person_row(connection: Connection, number: int, *, lock: bool = False) -> Fields:
    """A person who takes part; a lock keeps other processes from changing anything of theirs."""
    row = connection.execute(_PERSON_LOCKED if lock else _PERSON, {"person": number}).first()
    if row is None:
        raise Refused("unknown", "there is no such person")
    if row.gone is not None:
        raise Refused("left", f"{row.name or row.pseudonym} has left the campaign")
    return row


_SIGNED_IN: Final = (
    sql.select(tables.person)
    .join(tables.session)
    .where(tables.session.c.hash == sql.bindparam("hash"), tables.session.c.expires > sql.bindparam("now"))
    .where(_WHO.gone.is_(None))
)


def signed_in(connection: Connection, secret: str, now: float) -> Person | None:
    """Who is signed in with the hash of a session's token."""
    row = connection.execute(_SIGNED_IN, {"hash": secret, "now": now}).first()
    return None if row is None else person_of(row)


def place_for(connection: Connection, name: str, role: Role) -> int:
    """The number of the person with this name; someone new gets one."""
    connection.execute(sql.select(tables.campaign.c.id).with_for_update())  # one invitation at a time
    row = connection.execute(sql.select(tables.person).where(_WHO.name == name)).first()
    if row is not None:
        if row.role != role:
            raise Refused("invalid", f"{name} is in the campaign already, as {row.role}")
        return int(person_row(connection, row.id).id)
    if role == "lead":
        leads = connection.execute(sql.select(sql.func.count()).where(_WHO.role == "lead")).scalar_one()
        values = {"name": name, "role": role, "pseudonym": f"lead {leads + 1}"}
        return int(connection.execute(tables.person.insert().returning(_WHO.id), values).scalar_one())
    free = sql.select(_WHO.id).where(_WHO.role == role, _WHO.name == "", _WHO.gone.is_(None))
    places = connection.execute(free.order_by(_WHO.id).with_for_update()).scalars().all()
    if not places:
        raise Refused("full", "every place of the plan is taken")
    number = int(secrets.choice(places))
    connection.execute(tables.person.update().where(_WHO.id == number).values(name=name))
    return number


def progress_of(row: Fields) -> Progress:
    """How far an annotator is."""
    return Progress(done=row.done, total=row.total, skipped=row.skipped)


def count_again(connection: Connection) -> None:
    """Bring everyone's counts up to date, after texts went from one to another."""
    for state, column in ((GRADED, _WHO.done), (SKIPPED, _WHO.skipped), (None, _WHO.total)):
        wanted = _AT.state != MOVED if state is None else _AT.state == state
        counted = sql.select(sql.func.count()).where(_AT.person == _WHO.id, wanted).scalar_subquery()
        connection.execute(tables.person.update().values({column: counted}))


def median_seconds(connection: Connection, who: int) -> float | None:
    """How long an annotator takes for a text."""
    took = sql.select(_SAID.seconds).where(_SAID.person == who, _SAID.seconds.is_not(None))
    seconds = sorted(connection.execute(took.order_by(_SAID.id.desc()).limit(LATEST)).scalars())
    middle = len(seconds) // 2
    if not seconds:
        return None
    return float(seconds[middle] if len(seconds) % 2 else (seconds[middle - 1] + seconds[middle]) / 2)


def last_time(connection: Connection, who: int) -> float | None:
    """When an annotator answered last."""
    latest = sql.select(_SAID.time).where(_SAID.person == who).order_by(_SAID.id.desc()).limit(1)
    found: float | None = connection.execute(latest).scalar()
    return found


# Tasks and answers.


_ASSIGNMENT: Final = sql.select(tables.assignment).where(
    _AT.id == sql.bindparam("assignment"), _AT.person == sql.bindparam("person"), _AT.state != MOVED
)


def assignment_row(connection: Connection, who: int, number: int) -> Fields:
    """A text of an annotator."""
    known = {"assignment": number, "person": who}
    row = connection.execute(_ASSIGNMENT, known).first() if 0 < number < MOST_ROWS else None
    if row is None:
        raise Refused("unknown", "this text is not yours to grade")
    return row


def event_row(connection: Connection, number: int | None) -> Fields | None:
    """An event by its number."""
    return None if number is None else connection.execute(sql.select(tables.event).where(_SAID.id == number)).one()


_KNOWN: Final = sql.select(tables.event).where(
    _SAID.person == sql.bindparam("person"), _SAID.request == sql.bindparam("request")
)


def known_event(connection: Connection, who: int, key: str, kind: str) -> Fields | None:
    """The event that a request has made already."""
    row = connection.execute(_KNOWN, {"person": who, "request": key}).first()
    if row is not None and row.kind != kind:
        raise Refused("used", "this key was used for something else")
    return row


_ADD: Final = tables.event.insert().returning(tables.event)
_SETTLE: Final = (
    tables.assignment.update()
    .where(_AT.id == sql.bindparam("assignment"))
    .values(state=sql.bindparam("now"), event=sql.bindparam("made_by"))
)
_REMEMBER: Final = (
    tables.person.update()
    .where(_WHO.id == sql.bindparam("person"))
    .values(
        latest=sql.bindparam("last"),
        done=_WHO.done + sql.bindparam("more_done"),
        skipped=_WHO.skipped + sql.bindparam("more_skipped"),
    )
)


def add_event(connection: Connection, who: Fields, row: Fields, values: Mapping[str, Any], **after: Any) -> Fields:
    """Add an event, and keep what now holds of the assignment and of the person.

    Args:
        connection: The database.
        who: The person.
        row: The assignment.
        values: Of the event.
        after: ``now``, the event that made the assignment's state, and ``latest``, the number of the event that undo
            takes back; without them the new event is both.
    """
    empty = dict.fromkeys(("grade", "spans", "seconds", "undoes"))
    fixed = {**empty, "person": who.id, "assignment": row.id, "reason": "", "before": row.event}
    event = connection.execute(_ADD, {**fixed, **values}).one()
    now = after.get("now", event)
    state = OPEN if now is None else GRADED if now.kind == "rate" else SKIPPED
    settled = {"assignment": row.id, "now": state, "made_by": None if now is None else now.id}
    connection.execute(_SETTLE, settled)
    kept = {
        "person": who.id,
        "last": after.get("latest", event.id),
        "more_done": (state == GRADED) - (row.state == GRADED),
        "more_skipped": (state == SKIPPED) - (row.state == SKIPPED),
    }
    connection.execute(_REMEMBER, kept)
    return event


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
_TASKS: Final = {
    "open": _TASK.where(_AT.state == OPEN).order_by(_AT.place).limit(1),
    "place": _TASK.where(_AT.place == sql.bindparam("place")),
    "assignment": _TASK.where(_AT.id == sql.bindparam("assignment")),
}


def task_of(connection: Connection, who: int, **which: int) -> Task | None:
    """A text of an annotator: the first that is open, or that of a place or an assignment."""
    query = _TASKS[next(iter(which), "open")]
    row = connection.execute(query, {"person": who, **which}).first()
    if row is None:
        return None
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


# Results.


_VERSION: Final = sql.select(
    *(
        sql.select(number).scalar_subquery()
        for number in (
            *(sql.func.max(_SAID.id), sql.func.max(tables.adjudication.c.id), sql.func.count(_WHO.gone)),
            *(sql.func.count(tables.invite.c.hash), sql.func.count(tables.invite.c.used)),
        )
    )
)


def version(connection: Connection) -> tuple[int, ...]:
    """Numbers that rise whenever something is added."""
    return tuple(number or 0 for number in connection.execute(_VERSION).one())


def items(connection: Connection, numbers: Sequence[int] | None = None) -> dict[int, Item]:
    """Texts by their numbers; all of them without any."""
    texts, articles = sql.select(tables.item).order_by(tables.item.c.number), sql.select(tables.article)
    if numbers is not None:
        texts = texts.where(tables.item.c.number.in_(numbers))
        of = sql.select(tables.item.c.article).where(tables.item.c.number.in_(numbers))
        articles = articles.where(tables.article.c.id.in_(of))
    belongs = {
        number: (item, title, content, lang) for number, item, title, content, lang in connection.execute(articles)
    }
    found = {}
    for number, article, system, text, gold in connection.execute(texts):
        item, title, content, lang = belongs[article]
        found[number] = Item(item=item, system=system, text=text, title=title, content=content, lang=lang, gold=gold)
    return found


def plan_of(connection: Connection, campaign: Campaign) -> Plan:
    """The plan as it is now."""
    texts = connection.execute(
        sql.select(tables.article.c.item, tables.item.c.gold).join_from(tables.item, tables.article).order_by("number")
    ).all()
    people = sql.select(_WHO.id, _WHO.pseudonym).where(_WHO.role == "annotator").order_by(_WHO.id)
    orders: dict[int, list[tuple[int, int]]] = {}
    names = []
    for number, name in connection.execute(people):
        orders[number] = []
        names.append(name)
    turns = sql.select(_AT.person, _AT.item, _AT.round).where(_AT.state != MOVED).order_by(_AT.person, _AT.place)
    for number, item, again in connection.execute(turns):
        orders[number].append((item, again))
    return Plan(
        annotators=tuple(names),
        articles=tuple(article for article, _ in texts),
        each=campaign.each,
        seed=campaign.seed,
        orders=tuple(map(tuple, orders.values())),
        gold=frozenset(number for number, (_, gold) in enumerate(texts) if gold is not None),
    )


def ratings(connection: Connection) -> Iterator[Rating]:
    """What every annotator now thinks."""
    query = (
        sql.select(
            *(tables.item.c.number, tables.article.c.item, tables.item.c.system, _WHO.pseudonym, _SAID.grade),
            *(_AT.round, _AT.place, _SAID.time, _SAID.seconds, tables.item.c.gold, _SAID.spans),
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
            spans=spans_of(spans),
        )


def text_exists(connection: Connection, number: int) -> bool:
    """Whether there is a text with this number."""
    there = sql.select(tables.item.c.number).where(tables.item.c.number == number)
    return 0 <= number < MOST_ROWS and connection.execute(there).first() is not None


def adjudication_of(row: Fields, lead: str) -> Adjudication:
    """A row as a noun."""
    return Adjudication(number=row.item, lead=lead, grade=float(row.grade), reason=row.reason, time=row.time)


def adjudications(connection: Connection, numbers: Sequence[int] | None = None) -> Iterator[Adjudication]:
    """Decisions about texts, as they were made."""
    table = tables.adjudication
    query = sql.select(table, _WHO.pseudonym).join(tables.person).order_by(table.c.id)
    if numbers is not None:
        query = query.where(table.c.item.in_(numbers))
    for row in connection.execute(query):
        yield adjudication_of(row, row.pseudonym)


def apart(connection: Connection, distance: float) -> list[int]:
    """The numbers of the texts whose grades are so far apart, the farthest first."""
    spread = sql.func.max(_SAID.grade) - sql.func.min(_SAID.grade)
    query = (
        sql.select(_AT.item)
        .join_from(tables.assignment, tables.event, _AT.event == _SAID.id)
        .where(_AT.state == GRADED, _AT.round == 1)
        .group_by(_AT.item)
        .having(spread >= distance - 1e-9, sql.func.count() > 1)
        .order_by(spread.desc(), _AT.item)
    )
    return list(connection.execute(query).scalars())


def conflicts(connection: Connection, numbers: Sequence[int]) -> Iterator[Conflict]:
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
        decided = {one.number: one for one in adjudications(connection, some)}
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
