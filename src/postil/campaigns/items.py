"""Items and plan of a campaign, and tasks of its annotators, read from the database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sql

from postil.campaigns import tables
from postil.campaigns.database import CompiledStatement
from postil.campaigns.models import AnnotationTask, Campaign, Context, Item, Presentation, Span
from postil.campaigns.plan import Plan
from postil.campaigns.tables import GRADED, MOST_ROWS, MOVED, OPEN, SKIPPED, STATES, decoded
from postil.data.groups import grouped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection


__all__ = [
    "answered_of",
    "first_open",
    "golds_of",
    "grades_of",
    "is_swapped",
    "item_values",
    "items",
    "of_assignment",
    "open_after",
    "plan_of",
    "spans_of",
    "task_at",
]

NUMBERS: Final = "a list of numbers as JSON"

_ASSIGNMENTS, _EVENTS, _PEOPLE = tables.assignment.c, tables.event.c, tables.person.c


def items(connection: Connection, numbers: Sequence[int] | None = None) -> dict[int, Item]:
    """Read items by number.

    Args:
        connection: The database connection.
        numbers: Numbers of the items; None for all.
    """
    texts, articles = sql.select(tables.item).order_by(tables.item.c.number), sql.select(tables.article)
    if numbers is not None:
        texts = texts.where(tables.item.c.number.in_(numbers))
        of = sql.select(tables.item.c.article).where(tables.item.c.number.in_(numbers))
        articles = articles.where(tables.article.c.id.in_(of))
    belongs = {
        number: (item, title, content, lang) for number, item, title, content, lang in connection.execute(articles)
    }
    found = {}
    for row in connection.execute(texts):
        item, title, content, lang = belongs[row.article]
        found[row.number] = Item(
            item=item,
            system=row.system,
            text=row.text,
            title=title,
            content=content,
            lang=lang,
            gold=row.gold,
            sample=row.sample,
            context=_context_of(row.context),
            purpose=row.purpose,
            golds=golds_of(row.golds),
            other_system=row.other_system or "",
            other_text=row.other_text or "",
        )
    return found


def item_values(item: Item) -> dict[str, object]:
    """Values of an item's row, apart from its number and that of its article.

    Args:
        item: The item.
    """
    context = tables.encoded(item.context) if item.context else ""
    golds = tables.encoded(item.golds) if item.golds else None
    named = {"system": item.system, "text": item.text, "sample": item.sample, "context": context}
    known = {"gold": item.gold, "golds": golds, "purpose": item.purpose}
    other = {"other_system": item.other_system or None, "other_text": item.other_text if item.other_system else None}
    return {**named, **known, **other}


def grades_of(stored: str | None) -> tuple[float, ...]:
    """Decode the grades of several aspects; none for NULL.

    Args:
        stored: The stored text.

    Raises:
        InvalidInput: The text is no list of numbers.
    """
    return () if stored is None else decoded(stored, tuple[float, ...], NUMBERS, "event.grades")


def golds_of(stored: str | None) -> tuple[float | None, ...]:
    """Decode the gold labels of several aspects; none for NULL.

    Args:
        stored: The stored text.

    Raises:
        InvalidInput: The text is no list of numbers.
    """
    return () if stored is None else decoded(stored, tuple[float | None, ...], NUMBERS, "item.golds")


def spans_of(stored: str | None) -> tuple[Span, ...]:
    """Decode the marks in a text; none for NULL.

    Args:
        stored: The stored text.

    Raises:
        InvalidInput: The text is no list of spans.
    """
    return () if stored is None else decoded(stored, tuple[Span, ...], "pairs of start and end as JSON", "event.spans")


def _context_of(stored: str) -> tuple[Context, ...]:
    return decoded(stored, tuple[Context, ...], "a list of names and texts as JSON", "item.context") if stored else ()


def plan_of(connection: Connection, campaign: Campaign) -> Plan:
    """Read the current plan.

    Args:
        connection: The database connection.
        campaign: Settings of the campaign.
    """
    texts = connection.execute(
        sql.select(tables.article.c.item, tables.item.c.gold).join_from(tables.item, tables.article).order_by("number")
    ).all()
    people = sql.select(_PEOPLE.id, _PEOPLE.pseudonym).where(_PEOPLE.role == "annotator").order_by(_PEOPLE.id)
    names = dict(connection.execute(people).all())
    turns = (
        sql.select(_ASSIGNMENTS.person, _ASSIGNMENTS.item, _ASSIGNMENTS.round)
        .where(_ASSIGNMENTS.state != MOVED)
        .order_by(_ASSIGNMENTS.person, _ASSIGNMENTS.position)
    )
    orders = grouped((number, (item, again)) for number, item, again in connection.execute(turns))
    return Plan(
        annotators=tuple(names.values()),
        articles=tuple(article for article, _ in texts),
        annotators_per_item=campaign.annotators_per_item,
        seed=campaign.seed,
        orders=tuple(tuple(orders.get(number, ())) for number in names),
        gold=frozenset(number for number, (_, gold) in enumerate(texts) if gold is not None),
        overlapping=frozenset(campaign.overlapping),
        by_item=campaign.by_item,
    )


def answered_of(connection: Connection, names: Mapping[int, str]) -> dict[str, set[Presentation]]:
    """Read the presentations that each annotator has answered.

    Args:
        connection: The database connection.
        names: Pseudonym of each annotator, by number.
    """
    found: dict[str, set[Presentation]] = {name: set() for name in names.values()}
    columns = _ASSIGNMENTS.person, _ASSIGNMENTS.item, _ASSIGNMENTS.round
    for number, item, again in connection.execute(
        sql.select(*columns).where(_ASSIGNMENTS.state.in_([GRADED, SKIPPED]))
    ):
        found[names[number]].add((item, again))
    return found


_SHOWN: Final = {
    "assignment": _ASSIGNMENTS.id,
    "position": _ASSIGNMENTS.position,
    "total": _PEOPLE.total,
    "round": _ASSIGNMENTS.round,
    "revision": sql.func.coalesce(_ASSIGNMENTS.event, 0),
    "state": _ASSIGNMENTS.state,
    "text": tables.item.c.text,
    "title": tables.article.c.title,
    "content": tables.article.c.content,
    "lang": tables.article.c.lang,
    "grade": _EVENTS.grade,
    "spans": _EVENTS.spans,
    "reason": sql.func.coalesce(_EVENTS.reason, ""),
    "context": tables.item.c.context,
    "grades": _EVENTS.grades,
    "other_text": sql.func.coalesce(tables.item.c.other_text, ""),
    "swapped": _ASSIGNMENTS.swapped,
}
"""Columns of a task, by the names of its fields."""

_TASK: Final = (
    sql.select(*_SHOWN.values())
    .join_from(tables.assignment, tables.item, _ASSIGNMENTS.item == tables.item.c.number)
    .join(tables.article, tables.item.c.article == tables.article.c.id)
    .join(tables.person, _ASSIGNMENTS.person == _PEOPLE.id)
    .outerjoin(tables.event, _ASSIGNMENTS.event == _EVENTS.id)
    .where(_ASSIGNMENTS.person == sql.bindparam("person"), _ASSIGNMENTS.state != MOVED)
)


def _to_task(row: Sequence[Any]) -> AnnotationTask:
    """Convert a row of `_TASK`."""
    values = dict(zip(_SHOWN, row, strict=True))
    values["state"] = STATES[values["state"]]
    values["spans"], values["grades"] = spans_of(values["spans"]), grades_of(values["grades"])
    values["context"] = _context_of(values["context"])
    values["swapped"] = is_swapped(values["swapped"], values["assignment"])
    return AnnotationTask(**values)


_FIRST_OPEN: Final = CompiledStatement(
    _TASK.where(_ASSIGNMENTS.state == OPEN).order_by(_ASSIGNMENTS.position).limit(sql.bindparam("most", 1)), _to_task
)
_AT_POSITION: Final = CompiledStatement(_TASK.where(_ASSIGNMENTS.position == sql.bindparam("position")), _to_task)
_OF_ASSIGNMENT: Final = CompiledStatement(_TASK.where(_ASSIGNMENTS.id == sql.bindparam("assignment")), _to_task)
_BETWEEN: Final = CompiledStatement(
    _TASK.where(
        _ASSIGNMENTS.position > sql.bindparam("after"), _ASSIGNMENTS.position <= sql.bindparam("last")
    ).order_by(_ASSIGNMENTS.position),
    _to_task,
)


def first_open(connection: Connection, annotator: int) -> AnnotationTask | None:
    """Read the first open task of an annotator; None if all are done.

    Args:
        connection: The database connection.
        annotator: Number of the annotator.
    """
    return _FIRST_OPEN.first(connection, {"person": annotator})


def task_at(connection: Connection, annotator: int, position: int) -> AnnotationTask | None:
    """Read the task at a position of an annotator's presentation order; None if there is none.

    Args:
        connection: The database connection.
        annotator: Number of the annotator.
        position: The position, from 0.
    """
    known = {"person": annotator, "position": position}
    return _AT_POSITION.first(connection, known) if 0 <= position < MOST_ROWS else None


def of_assignment(connection: Connection, annotator: int, assignment: int) -> AnnotationTask:
    """Read the task of an assignment.

    Args:
        connection: The database connection.
        annotator: Number of the annotator.
        assignment: Number of the assignment, which is the annotator's.
    """
    (task,) = _OF_ASSIGNMENT.rows(connection, {"person": annotator, "assignment": assignment})
    return task


def open_after(connection: Connection, annotator: int, after: int, wanted: int) -> tuple[AnnotationTask, ...]:
    """Read the consecutive open tasks after a position.

    Args:
        connection: The database connection.
        annotator: Number of the annotator.
        after: The position.
        wanted: Number of tasks at most.
    """
    if wanted <= 0 or not -1 <= after < MOST_ROWS - wanted:
        return ()
    found: list[AnnotationTask] = []
    for task in _BETWEEN.rows(connection, {"person": annotator, "after": after, "last": after + wanted}):
        if task.state != "open" or task.position != after + 1 + len(found):
            break
        found.append(task)
    return tuple(found)


def is_swapped(swapped: int | None, assignment: int) -> bool:
    """True if the second text of a pair is on the left.

    Args:
        swapped: Stored side; None where a pair was moved to another annotator.
        assignment: Number of the assignment, whose parity then decides.
    """
    return bool(assignment % 2 if swapped is None else swapped)
