"""Additions to a plan: new items, assigned to the annotators that are there."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
import sqlalchemy as sql

from postil.campaigns import tables
from postil.campaigns.balance import plan_balance
from postil.campaigns.change_log import log_change
from postil.campaigns.compiled_sql import CompiledStatement
from postil.campaigns.database import lock_campaign
from postil.campaigns.interleaving import interleave, interleaved
from postil.campaigns.item_assignment import generator
from postil.campaigns.load_balancing import distribute_items
from postil.campaigns.models import Campaign, Revision
from postil.campaigns.pairs import balanced_sides
from postil.campaigns.tables import GRADED, OPEN, SKIPPED
from postil.campaigns.texts import item_values, plan_of
from postil.data.ids import plain_id
from postil.errors import UsageError
from postil.messages import Message
from postil.results import base

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from postil.campaigns.database import Database
    from postil.campaigns.models import Item, Presentation
    from postil.campaigns.plan import Plan
    from postil.campaigns.plan_result import PlanResult

__all__ = ["Added", "append_items", "extended"]

ATTEMPTS: Final = 5
"""Number of attempts to add items while others change the plan."""


class Added(NamedTuple):
    """Outcome of adding items.

    Args:
        plan: The plan with them.
        left: Pseudonyms of the annotators who were removed.
        revision: Number of the revision; that of the plan as it is where there is nothing to add.
    """

    plan: Plan
    left: frozenset[str]
    revision: int

    def statistics(self) -> PlanResult:
        """Compute the statistics of the plan, with its balance."""
        found = self.plan.statistics()
        return base.replace(found, balance=plan_balance(self.plan, self.left))


class _ChangedPlanError(UsageError):
    """The plan is not the one that an assignment of new items rests on."""


class _State(NamedTuple):
    """Part of a campaign that an assignment of new items rests on."""

    settings: Campaign
    version: tuple[object, ...]
    plan: Plan
    people: dict[str, int]
    left: frozenset[str]
    answered: dict[str, set[Presentation]]
    articles: dict[str, int]


class _Addition(NamedTuple):
    """New items, the numbers of their annotators, and the settings of the campaign with them."""

    items: Sequence[Item]
    chosen: Sequence[Sequence[int]]
    settings: Campaign


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
    database: Database, items: Sequence[Item], *, known: int, seed: int, now: float, dry_run: bool, lead: int | None
) -> Added:
    """Append items to the plan; see `postil.campaigns.store.Store.add`.

    Annotators wait for one transaction, which appends rows and changes none but the totals of annotators. The search
    for an assignment comes before it. New items stand at the ends of presentation orders then, and are moved among the
    open ones by further transactions, which leave a valid plan each.

    Args:
        database: Database of the campaign.
        items: The new items.
        known: Number of items of the files that the campaign had already.
        seed: Random seed.
        now: Time, in seconds since 1970.
        dry_run: True to change nothing.
        lead: Number of the lead who adds them; None on the command line.

    Raises:
        UsageError: Nobody is left to take items, or the plan was changed by other programs again and again.
    """
    for _ in range(ATTEMPTS):
        with database.reading() as connection:
            before = _state(connection)
        if len(before.left) == len(before.plan.annotators):
            raise UsageError(Message("no annotator is left to take new items; invite one first"))
        if not items:
            return Added(before.plan, before.left, len(before.settings.revisions) + 1)
        added = _addition(before, items, known=known, seed=seed, now=now)
        number = added.settings.revisions[-1].number
        if dry_run:
            return Added(_previewed(before, added), before.left, number)
        write = partial(_write, before=before, rows=_rows(before, added), grown=added.settings, lead=lead)
        try:
            database.run(write)
        except _ChangedPlanError:
            continue
        for place, name in enumerate(before.plan.annotators):
            random = generator(seed, f"add order {number}", place)
            articles = _articles(before, added) if before.settings.by_item else None
            interleave(database, before.people[name], before.plan.items, random, articles)
        return Added(_previewed(before, added), before.left, number)
    raise UsageError("other programs changed the plan again and again at the same time; run the command again")


def _state(connection: Connection) -> _State:
    settings = msgspec.json.decode(connection.execute(sql.select(tables.campaign.c.data)).scalar_one(), type=Campaign)
    version = _version(connection)
    people = connection.execute(sql.select(tables.person).where(tables.person.c.role == "annotator")).all()
    names = {row.id: row.pseudonym for row in people}
    answered: dict[str, set[Presentation]] = {name: set() for name in names.values()}
    table = tables.assignment.c
    done = sql.select(table.person, table.item, table.round).where(table.state.in_([GRADED, SKIPPED]))
    for person, item, again in connection.execute(done):
        answered[names[person]].add((item, again))
    left = frozenset(row.pseudonym for row in people if row.left_at is not None)
    numbers = {name: row for row, name in names.items()}
    articles = {row.item: row.id for row in connection.execute(sql.select(tables.article.c.item, tables.article.c.id))}
    return _State(settings, version, plan_of(connection, settings), numbers, left, answered, articles)


_VERSION: Final = sql.select(
    tables.campaign.c.data,
    *(
        sql.select(number).scalar_subquery()
        for number in (
            sql.func.max(tables.item.c.number),
            sql.func.max(tables.assignment.c.id),
            sql.func.max(tables.change.c.id),
            sql.func.count(tables.person.c.id),
            sql.func.count(tables.person.c.left_at),
        )
    ),
)
"""Values of which one changes whenever the plan does; annotating changes none."""


def _version(connection: Connection) -> tuple[object, ...]:
    return tuple(connection.execute(_VERSION).one())


def _addition(before: _State, items: Sequence[Item], *, known: int, seed: int, now: float) -> _Addition:
    """Choose the annotators of new items, and describe the revision."""
    settings, first = before.settings, before.plan.items
    chosen = extended(before.plan, items, before.left, seed)
    hashed = blake2b(b"\n".join(map(msgspec.json.encode, items)), digest_size=16).hexdigest()
    number = len(settings.revisions) + 2
    revision = Revision(number=number, time=now, seed=seed, first=first, items=len(items), known=known, hash=hashed)
    more = (
        first + place
        for place, people in enumerate(chosen)
        if items[place].gold is None and len(people) > settings.annotators_per_item
    )
    grown = msgspec.structs.replace(
        settings, revisions=(*settings.revisions, revision), overlapping=(*settings.overlapping, *more)
    )
    return _Addition(items, chosen, grown)


def _articles(before: _State, added: _Addition) -> tuple[str, ...]:
    return (*before.plan.articles, *(item.item for item in added.items))


def _previewed(before: _State, added: _Addition) -> Plan:
    """Plan with new items, as `append_items` would make it if nobody annotated meanwhile."""
    plan, first, revision = before.plan, before.plan.items, added.settings.revisions[-1].number
    articles = _articles(before, added)
    orders = list(plan.orders)
    for person, name in enumerate(plan.annotators):
        random = generator(added.settings.revisions[-1].seed, f"add order {revision}", person)
        new = [(first + place, 1) for place, people in enumerate(added.chosen) if person in people]
        together = articles if plan.by_item else None
        orders[person] = interleaved((*orders[person], *new), before.answered[name], first, random, together)
    gold = {first + place for place, item in enumerate(added.items) if item.gold is not None}
    return replace(
        plan,
        articles=articles,
        orders=tuple(orders),
        gold=plan.gold | gold,
        overlapping=frozenset(added.settings.overlapping),
    )


class _Rows(NamedTuple):
    """Rows to insert, made before anybody waits."""

    articles: list[dict[str, object]]
    items: list[dict[str, object]]
    assignments: list[dict[str, object]]
    totals: list[dict[str, object]]


_ARTICLE: Final = CompiledStatement(tables.article.insert(), tuple, [column.key for column in tables.article.columns])
_ITEM: Final = CompiledStatement(tables.item.insert(), tuple, [column.key for column in tables.item.columns])
_ASSIGNMENT: Final = CompiledStatement(
    tables.assignment.insert(), tuple, ["item", "person", "round", "position", "state", "swapped"]
)
_TOTAL: Final = CompiledStatement(
    tables.person.update()
    .where(tables.person.c.id == sql.bindparam("number"))
    .values(total=tables.person.c.total + sql.bindparam("more")),
    tuple,
)


def _rows(before: _State, added: _Addition) -> _Rows:
    first = before.plan.items
    numbers, articles = before.articles.copy(), list[dict[str, object]]()
    items = list[dict[str, object]]()
    for number, item in enumerate(added.items, first):
        if item.item not in numbers:
            numbers[item.item] = max(before.articles.values(), default=0) + len(articles) + 1
            values = {"item": item.item, "title": item.title, "content": item.content, "lang": item.lang}
            articles.append({"id": numbers[item.item], **values})
        items.append({"number": number, "article": numbers[item.item], **item_values(item)})
    pairs = {number: item.name for number, item in enumerate(added.items, first) if item.other_system}
    revision = added.settings.revisions[-1]
    new = [
        [(first + place, 1) for place, people in enumerate(added.chosen) if person in people]
        for person in range(len(before.plan.annotators))
    ]
    sides = balanced_sides(new, pairs, generator(revision.seed, "sides", revision.number))
    assignments, totals = list[dict[str, object]](), list[dict[str, object]]()
    for person, (name, order) in enumerate(zip(before.plan.annotators, before.plan.orders, strict=True)):
        mine = [item for item, _ in new[person]]
        fixed = {"person": before.people[name], "round": 1, "state": OPEN}
        assignments += [
            {**fixed, "item": item, "position": place, "swapped": sides.get((person, item, 1))}
            for place, item in enumerate(mine, len(order))
        ]
        totals += [{"number": before.people[name], "more": len(mine)}] if mine else []
    return _Rows(articles, items, assignments, totals)


def _write(connection: Connection, before: _State, rows: _Rows, grown: Campaign, lead: int | None) -> None:
    """Append new items to the ends of presentation orders, in one transaction."""
    lock_campaign(connection)
    if _version(connection) != before.version:
        raise _ChangedPlanError("the plan was changed by another program at the same time")
    _ARTICLE.many(connection, rows.articles)
    _ITEM.many(connection, rows.items)
    _ASSIGNMENT.many(connection, rows.assignments)
    # Last: from here on annotators wait, where the database locks single rows.
    _TOTAL.many(connection, rows.totals)
    connection.execute(tables.campaign.update().values(data=msgspec.json.encode(grown, enc_hook=plain_id).decode()))
    made = grown.revisions[-1]
    log_change(
        connection, "added", made.time, {"revision": made.number, "items": made.items, "known": made.known}, lead
    )
