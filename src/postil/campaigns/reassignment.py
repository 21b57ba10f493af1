"""Reassignment of the items of an annotator who is removed."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import sqlalchemy as sql

from postil.campaigns import tables
from postil.campaigns.models import Reassignment
from postil.campaigns.tables import GRADED, MOVED, OPEN, SKIPPED
from postil.campaigns.texts import plan_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from postil.campaigns.models import Campaign, Presentation
    from postil.campaigns.tables import PersonRow

__all__ = ["insert_annotator", "reassign_items", "reserve_items", "set_order", "update_counts"]


def reassign_items(
    connection: Connection, campaign: Campaign, removed: PersonRow, everyone: Sequence[PersonRow]
) -> Reassignment:
    """Give the open items of an annotator to the others, see `postil.campaigns.plan.Plan.reassign`.

    Args:
        connection: The database connection.
        campaign: Settings of the campaign.
        removed: Row of the annotator.
        everyone: Rows of all people, as they were before the removal.
    """
    table = tables.assignment
    old = plan_of(connection, campaign)
    people = {row.pseudonym: row for row in everyone if row.role == "annotator"}
    answered: dict[str, set[Presentation]] = {name: set() for name in people}
    names = {row.id: name for name, row in people.items()}
    done = sql.select(table.c.person, table.c.item, table.c.round)
    for number, item, again in connection.execute(done.where(table.c.state.in_([GRADED, SKIPPED]))):
        answered[names[number]].add((item, again))
    # Items that the removed annotator skipped count as open: someone else may be able to rate them.
    skipped = done.where(table.c.person == removed.id, table.c.state == SKIPPED)
    answered[removed.pseudonym] -= {(item, again) for _, item, again in connection.execute(skipped)}
    left = [name for name, row in people.items() if row.left_at is not None]
    new = old.reassign(removed.pseudonym, answered, left=left)
    mine = table.update().where(table.c.person == removed.id, table.c.state.in_([OPEN, SKIPPED]))
    connection.execute(mine.values(state=MOVED))
    moved = 0
    for name, before, after in zip(old.annotators, old.orders, new.orders, strict=True):
        if name != removed.pseudonym and before != after:
            moved += set_order(connection, people[name].id, set(before), after)
    update_counts(connection)
    return Reassignment(moved=moved, short=new.short)


def set_order(connection: Connection, annotator: int, before: set[Presentation], after: Sequence[Presentation]) -> int:
    """Bring an annotator's assignments to a new presentation order.

    Args:
        connection: The database connection.
        annotator: Number of the annotator.
        before: Presentations that are assigned.
        after: The new order, with new presentations.

    Returns:
        Number of new assignments.
    """
    table = tables.assignment
    moves, added = [], []
    for position, (item, again) in enumerate(after):
        if (item, again) in before:
            moves.append({"of_item": item, "of_round": again, "position": position})
        else:
            added.append({"item": item, "person": annotator, "round": again, "position": position, "state": OPEN})
    if moves:
        change = table.update().where(
            table.c.person == annotator,
            table.c.item == sql.bindparam("of_item"),
            table.c.round == sql.bindparam("of_round"),
        )
        connection.execute(change.values(position=sql.bindparam("position")), moves)
    if added:
        connection.execute(table.insert(), added)
    return len(added)


def reserve_items(connection: Connection, removed: PersonRow, everyone: Sequence[PersonRow]) -> int:
    """Make a free slot with the open items of an annotator; repeated items are not reserved.

    Args:
        connection: The database connection.
        removed: Row of the annotator.
        everyone: Rows of all people.

    Returns:
        Number of reserved items.
    """
    table = tables.assignment
    slot = insert_annotator(connection, "", everyone)
    theirs = sql.select(table.c.id, table.c.item, table.c.state).where(table.c.person == removed.id)
    rows = connection.execute(theirs.order_by(table.c.position)).all()
    graded = {item for _, item, state in rows if state == GRADED}
    # A repeated item whose first round is rated stays with nobody: it compares an annotator with themselves.
    dropped = [{"number": number} for number, item, state in rows if state != GRADED and item in graded]
    reserved = [number for number, item, state in rows if state != GRADED and item not in graded]
    of_number = table.update().where(table.c.id == sql.bindparam("number"))
    if dropped:
        connection.execute(of_number.values(state=MOVED), dropped)
    if reserved:
        given = of_number.values(person=slot, position=sql.bindparam("at"), state=OPEN, event=None)
        connection.execute(given, [{"number": number, "at": position} for position, number in enumerate(reserved)])
    update_counts(connection)
    return len(reserved)


def insert_annotator(connection: Connection, name: str, everyone: Sequence[PersonRow]) -> int:
    """Insert an annotator without items, under a new pseudonym.

    Args:
        connection: The database connection.
        name: Name of the annotator; empty for a free slot.
        everyone: Rows of all people.

    Returns:
        Number of the annotator.
    """
    taken = {row.pseudonym for row in everyone}
    pseudonym = next(one for number in count(1) if (one := f"A{number}") not in taken)
    values = {"name": name, "role": "annotator", "pseudonym": pseudonym}
    return int(connection.execute(tables.person.insert().returning(tables.person.c.id), values).scalar_one())


def update_counts(connection: Connection) -> None:
    """Recompute the counts of all people, after assignments were changed.

    Args:
        connection: The database connection.
    """
    people, assignments = tables.person.c, tables.assignment.c
    for state, column in ((GRADED, people.done), (SKIPPED, people.skipped), (None, people.total)):
        wanted = assignments.state != MOVED if state is None else assignments.state == state
        counted = sql.select(sql.func.count()).where(assignments.person == people.id, wanted).scalar_subquery()
        connection.execute(tables.person.update().values({column: counted}))
