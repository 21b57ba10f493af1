"""Ratings that were given elsewhere, written into a new campaign as if they had been given on its pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sql

from postil.annotation import tables
from postil.annotation.events import add_annotation
from postil.annotation.models import Annotation, CampaignState, Given
from postil.annotation.people import active_person

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from postil.annotation.rubric import Rubric

__all__ = ["load_ratings"]


def load_ratings(
    connection: Connection, names: Mapping[str, str], ratings: Sequence[Given], rubric: Rubric, now: float
) -> None:
    """Name the annotators of a new campaign and append their ratings to the event log, in the order of time.

    Args:
        connection: The database connection, in a transaction.
        names: Name of each annotator, by pseudonym.
        ratings: The ratings, all of planned presentations.
        rubric: The rubric.
        now: Time of ratings whose own is unknown, in seconds since 1970.

    Raises:
        Refused: A value is not on the scale.
    """
    person, assignment = tables.person.c, tables.assignment.c
    people = {row.pseudonym: row.id for row in connection.execute(sql.select(person.pseudonym, person.id))}
    for pseudonym, name in names.items():
        connection.execute(tables.person.update().where(person.id == people[pseudonym]).values(name=name))
    planned = connection.execute(sql.select(assignment.person, assignment.item, assignment.id)).all()
    numbers = {(row.person, row.item): row.id for row in planned}
    running = CampaignState()
    for count, one in enumerate(sorted(ratings, key=Given.in_time)):
        annotator = people[one.annotator]
        annotation = Annotation(
            assignment=numbers[annotator, one.item],
            idempotency_key=f"imported-{count}",
            value=one.value,
            seconds=one.seconds,
        )
        time = now if one.time is None else one.time
        add_annotation(connection, active_person(connection, annotator), annotation, rubric, time, state=running)
