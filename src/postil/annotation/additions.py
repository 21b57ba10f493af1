"""Additions to a plan: new items, assigned to the annotators that are there."""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import sqlalchemy as sql

from postil.annotation import tables
from postil.annotation.item_assignment import generator
from postil.annotation.item_order import insert_items
from postil.annotation.load_balancing import distribute_items
from postil.annotation.models import Campaign, Revision
from postil.annotation.reassignment import set_order, update_counts
from postil.annotation.texts import plan_of
from postil.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection

    from postil.annotation.database import Database
    from postil.annotation.models import Item, Presentation
    from postil.annotation.plan import Plan

__all__ = ["Added", "append_items", "extended"]


class Added(NamedTuple):
    """Outcome of adding items.

    Args:
        plan: The plan with them.
        left: Pseudonyms of the annotators who were removed.
        revision: Number of the revision.
    """

    plan: Plan
    left: frozenset[str]
    revision: int


class _State(NamedTuple):
    """Part of a campaign that an assignment of new items rests on."""

    plan: Plan
    people: dict[str, int]
    left: frozenset[str]
    answered: dict[str, set[Presentation]]


def extended(plan: Plan, items: Sequence[Item], left: frozenset[str], random_seed: int) -> list[list[int]]:
    """Choose the annotators of new items, in the design of the plan.

    Every item gets as many annotators as those of the plan, as far as there are annotators. Loads, with what everybody
    has already, end up equal as far as that is possible, and overlaps as even as swaps make them.

    Args:
        plan: The current plan.
        items: The new items, with numbers that follow those of the plan.
        left: Pseudonyms of the annotators who were removed.
        random_seed: Random seed.

    Returns:
        Numbers of the annotators of each item; all of them for gold items.
    """
    random = generator(random_seed, "add", plan.items)
    active = [number for number, name in enumerate(plan.annotators) if name not in left]
    assigned: list[list[int]] = [[] for _ in range(plan.items + len(items))]
    for number, order in enumerate(plan.orders):
        for item, again in order:
            if again == 1 and item not in plan.gold:
                assigned[item].append(number)
    new = [plan.items + place for place, item in enumerate(items) if item.gold is None]
    units = {number: number for number in new}
    if plan.by_item:  # all items of an article go where the first of them goes
        first: dict[str, int] = {}
        units = {number: first.setdefault(items[number - plan.items].item, number) for number in new}
    heads = list(dict.fromkeys(units.values()))
    share = len(plan.overlapping) / max(1, plan.items - len(plan.gold))
    more = random.permutation(heads)[: round(share * len(heads))].tolist() if heads else []
    for asked in (*([heads] * plan.annotators_per_item), more):
        for item, person in distribute_items(asked, active, assigned, random).items():
            assigned[item].append(person)
    for number, head in units.items():
        assigned[number] = list(assigned[head])
    return [active if item.gold is not None else assigned[plan.items + place] for place, item in enumerate(items)]


def append_items(
    database: Database,
    campaign: Callable[[], Campaign],
    items: Sequence[Item],
    *,
    known: int,
    seed: int,
    now: float,
    dry_run: bool,
) -> Added:
    """Append items to the plan; see `postil.annotation.store.Store.add`.

    Args:
        database: Database of the campaign.
        campaign: Function that returns the settings of the campaign.
        items: The new items.
        known: Number of items of the files that the campaign had already.
        seed: Random seed.
        now: Time, in seconds since 1970.
        dry_run: True to change nothing.

    Raises:
        UsageError: Nobody is left to take items, or the plan was changed by another program at the same time.
    """
    settings = campaign()
    with database.reading() as connection:
        before = _state(connection, settings)
    if len(before.left) == len(before.plan.annotators):
        raise UsageError("no annotator is left to take new items; invite one first")
    # The search for an assignment takes a while, so it runs outside the transaction.
    chosen = extended(before.plan, items, before.left, seed)
    number = len(settings.revisions) + 2
    hashed = blake2b(b"\n".join(map(msgspec.json.encode, items)), digest_size=16).hexdigest()
    revision = Revision(
        number=number, time=now, seed=seed, first=before.plan.items, items=len(items), known=known, hash=hashed
    )
    grown = msgspec.structs.replace(
        settings,
        revisions=(*settings.revisions, revision),
        overlapping=(
            *settings.overlapping,
            *(
                before.plan.items + place
                for place, people in enumerate(chosen)
                if items[place].gold is None and len(people) > settings.annotators_per_item
            ),
        ),
    )
    if dry_run or not items:
        return Added(_inserted(before, settings, grown, items, chosen), before.left, number)

    def transaction(connection: Connection) -> Added:
        locked = sql.select(tables.campaign.c.data).with_for_update()
        connection.execute(sql.select(tables.person.c.id).order_by(tables.person.c.id).with_for_update()).all()
        current = connection.execute(locked).scalar_one()
        state = _state(connection, settings)
        same = msgspec.json.decode(current, type=Campaign) == settings and _assignment(state) == _assignment(before)
        if not same:
            raise UsageError("the plan was changed by another program at the same time; run the command again")
        plan = _inserted(state, settings, grown, items, chosen)
        _insert_items(connection, items, state.plan.items)
        for name, old, new in zip(plan.annotators, state.plan.orders, plan.orders, strict=True):
            if old != new:
                set_order(connection, state.people[name], set(old), new)
        connection.execute(tables.campaign.update().values(data=msgspec.json.encode(grown).decode()))
        update_counts(connection)
        return Added(plan, state.left, number)

    return database.run(transaction)


def _state(connection: Connection, campaign: Campaign) -> _State:
    people = connection.execute(sql.select(tables.person).where(tables.person.c.role == "annotator")).all()
    names = {row.id: row.pseudonym for row in people}
    answered: dict[str, set[Presentation]] = {name: set() for name in names.values()}
    table = tables.assignment.c
    done = sql.select(table.person, table.item, table.round).where(table.state.in_([tables.GRADED, tables.SKIPPED]))
    for person, item, again in connection.execute(done):
        answered[names[person]].add((item, again))
    left = frozenset(row.pseudonym for row in people if row.left_at is not None)
    return _State(plan_of(connection, campaign), {name: row for row, name in names.items()}, left, answered)


def _assignment(state: _State) -> tuple[object, ...]:
    return state.plan, state.left, state.people


def _inserted(
    state: _State, old: Campaign, grown: Campaign, items: Sequence[Item], chosen: Sequence[Sequence[int]]
) -> Plan:
    """Plan with new items in the presentation orders, after the item on each annotator's screen."""
    plan, random = state.plan, generator(grown.revisions[-1].seed, "add order", state.plan.items)
    articles = (*plan.articles, *(item.item for item in items))
    orders = list(plan.orders)
    for person, name in enumerate(plan.annotators):
        new = [plan.items + place for place, people in enumerate(chosen) if person in people]
        if new:
            together = articles if old.by_item else None
            orders[person] = insert_items(plan.orders[person], state.answered[name], new, random, together)
    gold = {plan.items + place for place, item in enumerate(items) if item.gold is not None}
    return replace(
        plan,
        articles=articles,
        orders=tuple(orders),
        gold=plan.gold | gold,
        overlapping=frozenset(grown.overlapping),
    )


def _insert_items(connection: Connection, items: Sequence[Item], first: int) -> None:
    """Insert rows of items, and of articles that are new."""
    table = tables.article
    numbers = {row.item: int(row.id) for row in connection.execute(sql.select(table.c.item, table.c.id))}
    for item in items:
        if item.item not in numbers:
            values = {"item": item.item, "title": item.title, "content": item.content, "lang": item.lang}
            numbers[item.item] = max(numbers.values(), default=0) + 1
            connection.execute(table.insert().values(id=numbers[item.item], **values))
    rows = [
        {"number": number, "article": numbers[item.item], "system": item.system, "text": item.text, "gold": item.gold}
        for number, item in enumerate(items, first)
    ]
    connection.execute(tables.item.insert(), rows)
