"""What becomes of the work of someone who leaves."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import sqlalchemy as sql

from postil.annotation import tables
from postil.annotation.models import Reassignment
from postil.annotation.tables import GRADED, MOVED, OPEN, SKIPPED
from postil.annotation.texts import plan_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from postil.annotation.models import Campaign

__all__ = ["reassign_items", "reserve_items"]


def reassign_items(connection: Connection, campaign: Campaign, who: Any, everyone: Sequence[Any]) -> Reassignment:
    """Bring the database to the plan without one annotator, see `postil.annotation.plan.Plan.reassign`.

    Args:
        connection: The database.
        campaign: What is done.
        who: The annotator.
        everyone: Everyone, as they were before.
    """
    table = tables.assignment
    old = plan_of(connection, campaign)
    people = {row.pseudonym: row for row in everyone if row.role == "annotator"}
    answered: dict[str, set[tuple[int, int]]] = {name: set() for name in people}
    names = {row.id: name for name, row in people.items()}
    done = sql.select(table.c.person, table.c.item, table.c.round)
    for number, item, again in connection.execute(done.where(table.c.state.in_([GRADED, SKIPPED]))):
        answered[names[number]].add((item, again))
    skipped = done.where(table.c.person == who.id, table.c.state == SKIPPED)
    answered[who.pseudonym] -= {(item, again) for _, item, again in connection.execute(skipped)}
    gone = [name for name, row in people.items() if row.left_at is not None]
    new = old.reassign(who.pseudonym, answered, left=gone)
    mine = table.update().where(table.c.person == who.id, table.c.state.in_([OPEN, SKIPPED]))
    connection.execute(mine.values(state=MOVED))
    moved = 0
    for name, before, after in zip(old.annotators, old.orders, new.orders, strict=True):
        if name == who.pseudonym or before == after:
            continue
        known = set(before)
        number = people[name].id
        change = table.update().where(
            table.c.person == number, table.c.item == sql.bindparam("a"), table.c.round == sql.bindparam("b")
        )
        places = [{"a": item, "b": again, "position": place} for place, (item, again) in enumerate(after)]
        connection.execute(change, [row for row in places if (row["a"], row["b"]) in known])
        added = [
            {"item": row["a"], "person": number, "round": row["b"], "position": row["position"], "state": OPEN}
            for row in places
            if (row["a"], row["b"]) not in known
        ]
        connection.execute(table.insert(), added)
        moved += len(added)
    _count_again(connection)
    return Reassignment(moved=moved, short=new.short)


def reserve_items(connection: Connection, who: Any, everyone: Sequence[Any]) -> int:
    """Make a new place and give it what one annotator has not graded; repeated texts go to nobody.

    Args:
        connection: The database.
        who: The annotator.
        everyone: Everyone.

    Returns:
        How many texts the place has.
    """
    table = tables.assignment
    taken = {row.pseudonym for row in everyone}
    name = next(name for number in count(len(taken)) if (name := f"A{number}") not in taken)
    values = {"name": "", "role": "annotator", "pseudonym": name}
    new = connection.execute(tables.person.insert().returning(tables.person.c.id), values).scalar_one()
    theirs = sql.select(table.c.id, table.c.item, table.c.round, table.c.state).where(table.c.person == who.id)
    rows = connection.execute(theirs.order_by(table.c.position)).all()
    graded = {row.item for row in rows if row.state == GRADED}
    undone = [row for row in rows if row.state != GRADED]
    kept = [row.id for row in undone if row.item not in graded]
    gone = [{"a": row.id} for row in undone if row.item in graded]
    if gone:
        connection.execute(table.update().where(table.c.id == sql.bindparam("a")).values(state=MOVED), gone)
    if kept:
        given = table.update().where(table.c.id == sql.bindparam("a"))
        given = given.values(person=new, position=sql.bindparam("b"), state=OPEN, event=None)
        connection.execute(given, [{"a": number, "b": place} for place, number in enumerate(kept)])
    _count_again(connection)
    return len(kept)


def _count_again(connection: Connection) -> None:
    """Bring everyone's counts up to date, after texts went from one to another."""
    who, mine = tables.person.c, tables.assignment.c
    for state, column in ((GRADED, who.done), (SKIPPED, who.skipped), (None, who.total)):
        wanted = mine.state != MOVED if state is None else mine.state == state
        counted = sql.select(sql.func.count()).where(mine.person == who.id, wanted).scalar_subquery()
        connection.execute(tables.person.update().values({column: counted}))
