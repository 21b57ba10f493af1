"""Feedback to annotators: the label of a gold item after they have rated it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
import sqlalchemy as sql

from postil.campaigns import tables
from postil.campaigns.compiled_sql import CompiledStatement
from postil.campaigns.models import ShownLabel
from postil.campaigns.tables import GRADED, MOST_ROWS
from postil.campaigns.texts import golds_of, grades_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy import Connection

    from postil.campaigns.models import Feedback, Rating

__all__ = ["first_answers", "shown_label"]

_ASSIGNMENTS, _EVENTS, _PEOPLE = tables.assignment.c, tables.event.c, tables.person.c
_ITEMS = tables.item.c


class _LabelRow(NamedTuple):
    """A row of `_LABEL`."""

    text: str
    gold: float
    golds: str | None
    purpose: str
    lang: str
    grade: float
    grades: str | None


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
    _LabelRow._make,
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
    if row is None or (feedback == "training" and row.purpose != "training"):
        return None
    grades, golds = grades_of(row.grades) or (row.grade,), golds_of(row.golds) or (row.gold,)
    return ShownLabel(text=row.text, lang=row.lang, grades=grades, golds=golds)


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
