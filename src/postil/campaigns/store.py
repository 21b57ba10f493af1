"""Store of a campaign, SQLite by default, PostgreSQL by URL: opened, created, and extended by new items."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self, TypeAlias

import msgspec

from postil.campaigns.models import Annotation, Campaign, CampaignState, Given, Item, Person, Presentation, Revision
from postil.campaigns.plan import Plan, insert_items
from postil.campaigns.rubric import Rubric
from postil.engine.base import Closing
from postil.errors import UsageError, needs
from postil.messages import Message
from postil.results import base

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Future

    import numpy as np
    from sqlalchemy import Connection

    from postil.campaigns.models import Groups
    from postil.campaigns.result import PlanResult

__all__ = ["Added", "Store", "extended", "interleaved"]

with needs("a campaign", "serve"):
    import sqlalchemy as sql

    from postil.campaigns import tables
    from postil.campaigns.database import CompiledStatement, Database, lock_campaign, log_change
    from postil.campaigns.grading import Grading, add_annotation
    from postil.campaigns.item_assignment import distribute_items, generator
    from postil.campaigns.items import answered_of, item_values, items, plan_of
    from postil.campaigns.pairs import balanced_sides
    from postil.campaigns.people import People, active_person
    from postil.campaigns.results import Results
    from postil.campaigns.state import Lifecycle
    from postil.campaigns.tables import GRADED, MOVED, OPEN, SCHEMA, SKIPPED


class Store(Closing):
    """A campaign in a database, for many threads and processes at once; `open` makes it.

    Every method is one short transaction. When a method that writes returns, its transaction is on disk.

    Args:
        database: The database.
        clock: Function that returns the time, in seconds since 1970.

    Attributes:
        where: Location of the database for messages, without a password.
        file: SQLite file of the database; None for PostgreSQL.
        people: People of the campaign.
        grading: Actions of annotators.
        results: Results of the campaign.
        state: State of the campaign: running, paused or closed, and its deadline.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self.where, self.file = database.where, database.path
        self.people = People(database, self.campaign, clock)
        self.state = Lifecycle(database, clock)
        self.grading = Grading(database, self.rubric, self.state, clock)
        self.results = Results(database, self.rubric, self.campaign, clock)
        self._database = database
        self._clock = clock
        self._rubric: Rubric | None = None

    @classmethod
    def open(
        cls,
        url: str,
        *,
        make: bool = False,
        read_only: bool = False,
        incomplete: bool = False,
        earlier: bool = False,
        clock: Callable[[], float] = time.time,
        alarm: Callable[[str], None] | None = None,
    ) -> Self:
        """Open a database.

        Args:
            url: ``postgresql://…``, ``sqlite:///…``, or the name of an SQLite file.
            make: True to create the tables if there are none.
            read_only: True to refuse transactions that write; an SQLite file may then be on a read-only disk.
            incomplete: With `read_only`: True to read an SQLite file alone if its write-ahead log is missing or of
                another time; annotations may be missing.
            earlier: With `read_only`: True to take a campaign of an earlier version as it is, to be copied.
            clock: Function that returns the time, in seconds since 1970.
            alarm: Callback for messages when an SQLite file is removed or replaced while in use, and when it is back.

        Raises:
            UsageError: The URL is of another kind.
            MissingExtra: The package for PostgreSQL is not installed.
            NoCampaign: There is no campaign.
            InvalidInput: It is one of another version of postil, or an SQLite file was copied without its write-ahead
                log.
            PostilError: The database cannot be reached.
        """
        opened = Database.open(url, make=make, read_only=read_only, incomplete=incomplete, earlier=earlier, alarm=alarm)
        store = cls(opened, clock)
        try:
            if not make:
                store.campaign(), store.rubric()
        except BaseException:
            store.close()
            raise
        return store

    def close(self) -> None:
        """Finish all transactions and close the database."""
        self._database.close()

    def copy(self, path: str) -> None:
        """Copy the campaign to a new SQLite file as it is at one moment, while others use it.

        Args:
            path: An empty file.

        Raises:
            UsageError: The campaign is not in an SQLite file.
            PostilError: The operating system reports an error, or the campaign is damaged.
        """
        self._database.copy(path)

    def create(self, campaign: Campaign, items: Iterable[Item], plan: Plan, rubric: Rubric) -> None:
        """Create the campaign atomically.

        Args:
            campaign: Settings of the campaign.
            items: The items, in the order of their numbers in the plan.
            plan: The item assignment.
            rubric: The rubric.

        Raises:
            UsageError: The database holds a campaign already, or the plan is for other items.
        """
        texts = list(items)
        if tuple(text.item for text in texts) != plan.articles:
            raise UsageError("the plan is for other items")
        bare = "article" in (campaign.context or ()) and not any(text.has_article for text in texts)
        campaign = msgspec.structs.replace(campaign, created=self._clock(), without_articles=bare)
        pairs = {number: text.name for number, text in enumerate(texts) if text.other_system}
        sides = balanced_sides(plan.orders, pairs, generator(campaign.seed, "sides", 1))
        articles = {text.item: number for number, text in enumerate(reversed(texts), 1)}
        rows: dict[sql.Table, list[dict[str, object]]] = {
            tables.campaign: [
                {"id": 1, "schema": SCHEMA, "data": tables.encoded(campaign), "rubric": tables.encoded(rubric)}
            ],
            tables.article: [
                {"id": articles[text.item], **_of(text, "item", "title", "content", "lang")}
                for text in {text.item: text for text in reversed(texts)}.values()
            ],
            tables.item: [
                {"number": number, "article": articles[text.item], **item_values(text)}
                for number, text in enumerate(texts)
            ],
            tables.person: [
                {"id": number, "name": "", "role": "annotator", "pseudonym": name, "total": len(order)}
                for number, (name, order) in enumerate(zip(plan.annotators, plan.orders, strict=True), 1)
            ],
            tables.assignment: [
                {"item": number, "person": person + 1, "round": again, "position": place, "state": OPEN}
                | {"swapped": sides.get((person, number, again))}
                for person, order in enumerate(plan.orders)
                for place, (number, again) in enumerate(order)
            ],
        }

        def transaction(connection: Connection) -> None:
            if connection.execute(sql.select(tables.campaign.c.id)).first():
                raise UsageError("the database holds a campaign already; choose another one")
            for table, values in rows.items():
                connection.execute(table.insert(), values)
            if connection.dialect.name == "postgresql":  # ids were given, so the sequence must follow
                last = "SELECT setval(pg_get_serial_sequence('person', 'id'), (SELECT max(id) FROM person))"
                connection.exec_driver_sql(last)
                connection.exec_driver_sql("ANALYZE")  # else query plans rest on guessed table sizes for minutes

        self._database.run(transaction)

    def add(
        self,
        items: Sequence[Item],
        *,
        known: int = 0,
        seed: int,
        dry_run: bool = False,
        lead: Person | None = None,
    ) -> Added:
        """Append items to the plan as a new revision, atomically, also while others use the campaign.

        Annotators wait for one transaction, which appends rows and changes none but the totals of annotators. The
        search for an assignment comes before it. New items stand at the ends of presentation orders then, and are moved
        among the open ones by further transactions, which leave a valid plan each.

        Args:
            items: The new items.
            known: Number of items of the files that the campaign had already.
            seed: Random seed.
            dry_run: True to change nothing.
            lead: The lead who adds them; None on the command line.

        Raises:
            UsageError: Nobody is left to take items, or the plan was changed by other programs again and again.
        """
        by = None if lead is None else lead.id
        for _ in range(ATTEMPTS):
            with self._database.reading() as connection:
                before = _plan_state(connection)
            if len(before.left) == len(before.plan.annotators):
                raise UsageError(Message("no annotator is left to take new items; invite one first"))
            if not items:
                groups, there = before.settings.grouped_by, len(before.settings.revisions) + 1
                return Added(before.plan, before.left, there, groups)
            addition = _addition(before, items, known=known, seed=seed, now=self._clock())
            groups = addition.settings.grouped_by
            made = Added(_previewed(addition), before.left, addition.revision.number, groups)
            if dry_run:
                return made
            if self._database.run(partial(_write_addition, addition=addition, rows=_rows_of(addition), lead=by)):
                articles = made.plan.articles if before.plan.by_item else None
                for place, name in enumerate(before.plan.annotators):
                    number, random = before.people[name], addition.random(place)
                    interleave(self._database, number, before.plan.items, random, articles)
                return made
        raise UsageError("other programs changed the plan again and again at the same time; run the command again")

    def load(self, names: Mapping[str, str], ratings: Sequence[Given]) -> None:
        """Name the annotators of a new campaign and store ratings that were given elsewhere, atomically.

        Ratings are appended to the event log in the order of time; those without one are given now.

        Args:
            names: Name of each annotator, by pseudonym.
            ratings: The ratings, all of planned presentations.

        Raises:
            Refused: A value is not on the scale.
        """
        rubric, now = self.rubric(), self._clock()

        def transaction(connection: Connection) -> None:
            person, assignment = tables.person.c, tables.assignment.c
            people = {row.pseudonym: row.id for row in connection.execute(sql.select(person.pseudonym, person.id))}
            for pseudonym, name in names.items():
                connection.execute(tables.person.update().where(person.id == people[pseudonym]).values(name=name))
            planned = connection.execute(sql.select(assignment.person, assignment.item, assignment.id)).all()
            numbers = {(row.person, row.item): row.id for row in planned}
            for count, one in enumerate(sorted(ratings, key=Given.in_time)):
                annotator = people[one.annotator]
                annotation = Annotation(
                    assignment=numbers[annotator, one.item],
                    idempotency_key=f"imported-{count}",
                    value=one.value,
                    seconds=one.seconds,
                )
                row, time = active_person(connection, annotator), now if one.time is None else one.time
                add_annotation(connection, row, annotation, rubric, time, state=CampaignState())

        self._database.run(transaction)

    def campaign(self) -> Campaign:
        """Read the settings of the campaign."""
        with self._database.reading() as connection:
            return _settings(connection)

    def remember_address(self, address: str) -> str:
        """Remember where people reach the pages, which further invitations begin with.

        Args:
            address: The URL.

        Returns:
            The URL before; empty for the first one.
        """

        def transaction(connection: Connection) -> str:
            lock_campaign(connection)
            settings = _settings(connection)
            if settings.address != address:
                changed = tables.encoded(msgspec.structs.replace(settings, address=address))
                connection.execute(tables.campaign.update().values(data=changed))
            return settings.address

        return self._database.run(transaction)

    def rubric(self) -> Rubric:
        """Read the rubric."""
        if self._rubric is None:
            with self._database.reading() as connection:
                data = connection.execute(sql.select(tables.campaign.c.rubric)).scalar_one()
                self._rubric = tables.decoded(data, Rubric, "the JSON of a rubric", "campaign.rubric")
        return self._rubric

    def plan(self) -> Plan:
        """Read the current plan."""
        with self._database.reading() as connection:
            return plan_of(connection, _settings(connection))

    def items(self) -> list[Item]:
        """Read all items, in the order of their numbers."""
        with self._database.reading() as connection:
            return list(items(connection).values())

    def check(self) -> Future[None]:
        """Run an empty transaction: the future has a result if annotations can be stored, else an error.

        Raises:
            PostilError: The campaign is closed.
        """
        return self._database.submit(lambda connection: connection.execute(sql.select(1)).close())

    def version(self) -> tuple[int, ...]:
        """Read numbers that grow with whatever is stored, from annotations to invitations: caches compare them."""
        with self._database.reading(once=True) as connection:
            return tuple(number or 0 for number in connection.execute(_VERSION).one())


def _settings(connection: Connection) -> Campaign:
    data = connection.execute(sql.select(tables.campaign.c.data)).scalar_one()
    return tables.decoded(data, Campaign, "the JSON of a campaign", "campaign.data")


_VERSION: Final = sql.select(
    *(
        sql.select(number).scalar_subquery()
        for number in (
            *(
                sql.func.max(tables.event.c.id),
                sql.func.max(tables.adjudication.c.id),
                sql.func.max(tables.item.c.number),
                sql.func.max(tables.change.c.id),
                sql.func.count(tables.person.c.left_at),
            ),
            *(sql.func.count(tables.invite.c.hash), sql.func.count(tables.invite.c.used)),
        )
    )
)


def _of(item: Item, *fields: str) -> dict[str, object]:
    return {field: getattr(item, field) for field in fields}


HELD: Final = 2
"""Number of items after the one on the screen that an annotator's browser holds already."""

PER_TRANSACTION: Final = 60
"""Number of new items that one transaction moves."""

MOVE_ATTEMPTS: Final = 3
"""Number of attempts while the annotator goes on; items that are not moved stay at the end of the order."""

Moves: TypeAlias = dict[int, int]
"""New position of each position that changes: a permutation."""


def interleaved(
    order: Sequence[Presentation],
    answered: Collection[Presentation],
    first: int,
    random: np.random.Generator,
    articles: Sequence[str] | None = None,
) -> tuple[Presentation, ...]:
    """Move new items from the end of an order to random positions among the open ones.

    Args:
        order: Presentation order, with the new items at its end.
        answered: Presentations that the annotator has answered.
        first: Number of the first new item.
        random: Random number generator.
        articles: Article of each item of the campaign, to keep the items of an article in a row; None to move each
            item by itself.

    >>> import numpy as np
    >>> order = [(item, 1) for item in (0, 1, 2, 3, 4, 5, 7, 8)]
    >>> [item for item, _ in interleaved(order, {(0, 1)}, 7, np.random.default_rng(1))]
    [0, 1, 2, 3, 4, 7, 8, 5]
    """
    found = list(order)
    for moves in _moves(order, answered, first, random, articles):
        before = {position: found[position] for position in moves}
        for old, new in moves.items():
            found[new] = before[old]
    return tuple(found)


def interleave(
    database: Database, annotator: int, first: int, random: np.random.Generator, articles: Sequence[str] | None = None
) -> None:
    """Move new items of an annotator as `interleaved` does, in short transactions that leave a valid order each.

    Args:
        database: Database of the campaign.
        annotator: Number of the annotator.
        first: Number of the first new item.
        random: Random number generator.
        articles: See `interleaved`.
    """
    if articles is not None:
        _attempt(
            database,
            annotator,
            lambda connection: next(_moves(*_order_of(connection, annotator), first, random, articles), {}),
        )
        return
    with database.reading() as connection:
        order, _ = _order_of(connection, annotator)
    for part, pinned in _parts(order, first):
        _attempt(
            database,
            annotator,
            lambda connection: _shuffled(_reached(connection, annotator) + 1, part, pinned, random),  # noqa: B023
        )


def _attempt(database: Database, annotator: int, planned: Callable[[Connection], Moves]) -> None:
    """Plan moves and make them; plan them again where the annotator has passed the first of them meanwhile."""
    for _ in range(MOVE_ATTEMPTS):
        with database.reading() as connection:
            moves = planned(connection)
            rows = _rows_to_move(connection, annotator, moves)
        with suppress(UsageError):  # the annotator has passed them, or was removed
            if rows:
                database.run(partial(_move, annotator=annotator, first=min(moves), rows=rows))
            return


def _moves(
    order: Sequence[Presentation],
    answered: Collection[Presentation],
    first: int,
    random: np.random.Generator,
    articles: Sequence[str] | None,
) -> Iterator[Moves]:
    """Permutations of positions that one after the other move the new items."""
    now = next((position for position, shown in enumerate(order) if shown not in answered), len(order))
    last = max((position for position, shown in enumerate(order) if shown in answered), default=-1)
    head = max(now, last) + 1 + HELD
    if articles is None:
        for part, pinned in _parts(order, first):
            yield _shuffled(head, part, pinned, random)
        return
    head = max(head, _new(order, first))
    if head < len(order):
        fresh = [item for item, _ in order[head:]]
        after = insert_items(tuple(order[:head]), answered, fresh, random, articles, held=HELD)
        places = {shown: position for position, shown in enumerate(after)}
        yield {old: places[shown] for old, shown in enumerate(order) if places[shown] != old}


def _new(order: Sequence[Presentation], first: int) -> int:
    """Position of the first new item."""
    return next((position for position, (item, _) in enumerate(order) if item >= first), len(order))


def _parts(order: Sequence[Presentation], first: int) -> Iterator[tuple[range, Collection[int]]]:
    """Positions of the new items that a transaction moves, with those of the items that must stay where they are."""
    repeated = {item for item, again in order if again > 1}
    pinned = {position for position, (item, _) in enumerate(order) if item in repeated}
    for start in range(_new(order, first), len(order), PER_TRANSACTION):
        yield range(start, min(len(order), start + PER_TRANSACTION)), pinned


def _shuffled(head: int, part: range, pinned: Collection[int], random: np.random.Generator) -> Moves:
    """Moves of an inside-out shuffle: each new item swaps places with a random one before it, or stays.

    An item that is repeated stays where it is, so that its second round comes long after its first.

    Args:
        head: First position that may change.
        part: Positions of new items.
        pinned: Positions that stay as they are.
        random: Random number generator.
    """
    movable = [position for position in range(head, part.start) if position not in pinned]
    at: Moves = {}  # which position's item is at a position
    for position in range(max(head, part.start), part.stop):
        movable.append(position)
        other = movable[int(random.integers(len(movable)))]
        at[position], at[other] = at.get(other, other), at.get(position, position)
    return {old: place for place, old in at.items() if old != place}


_MINE: Final = tables.assignment.c.person == sql.bindparam("annotator")
_REACHED: Final = sql.select(
    sql.select(sql.func.max(tables.assignment.c.position))
    .where(_MINE, tables.assignment.c.state.in_([GRADED, SKIPPED]))
    .scalar_subquery(),
    sql.select(sql.func.min(tables.assignment.c.position))
    .where(_MINE, tables.assignment.c.state == OPEN)
    .scalar_subquery(),
)


def _reached(connection: Connection, annotator: int) -> int:
    """Last position that the annotator's browser holds."""
    found = connection.execute(_REACHED, {"annotator": annotator}).one()
    return max(-1 if position is None else position for position in found) + HELD


def _order_of(connection: Connection, annotator: int) -> tuple[list[Presentation], set[Presentation]]:
    """Presentation order of an annotator, and what of it is answered."""
    table = tables.assignment.c
    mine = sql.select(table.item, table.round, table.state).where(_MINE, table.state != MOVED).order_by(table.position)
    rows = connection.execute(mine, {"annotator": annotator}).all()
    return [(row.item, row.round) for row in rows], {(row.item, row.round) for row in rows if row.state != OPEN}


def _rows_to_move(connection: Connection, annotator: int, moves: Moves) -> list[dict[str, object]]:
    """Assignments that are to be moved, with their old and new positions."""
    table = tables.assignment.c
    moved = table.position.in_(list(moves)) if len(moves) <= 2 * PER_TRANSACTION else table.position >= min(moves)
    found = connection.execute(
        sql.select(table.id, table.position).where(_MINE, table.state == OPEN, moved), {"annotator": annotator}
    )
    return [
        {"number": row.id, "old": row.position, "to": moves[row.position], "open": OPEN}
        for row in found
        if row.position in moves
    ]


_TO: Final = CompiledStatement(
    tables.assignment.update()
    .where(
        tables.assignment.c.id == sql.bindparam("number"),
        tables.assignment.c.position == sql.bindparam("old"),
        tables.assignment.c.state == sql.bindparam("open"),
    )
    .values(position=sql.bindparam("to")),
    tuple,
    ["to"],
)


def _move(connection: Connection, annotator: int, first: int, rows: Sequence[dict[str, object]]) -> None:
    """Move assignments, if the annotator has not reached them and nobody has moved them.

    Args:
        connection: The database connection.
        annotator: Number of the annotator.
        first: First position that changes.
        rows: The assignments.
    """
    active_person(connection, annotator, lock=True)
    if _reached(connection, annotator) >= first or _TO.many(connection, rows) != len(rows):
        raise UsageError("the annotator has reached the items to be moved")


ATTEMPTS: Final = 5
"""Number of attempts to add items while others change the plan."""


class Added(NamedTuple):
    """Outcome of adding items.

    Args:
        plan: The plan with them.
        left: Pseudonyms of the annotators who were removed.
        revision: Number of the revision; that of the plan as it is where there is nothing to add.
        groups: Name of the groups of items.
    """

    plan: Plan
    left: frozenset[str]
    revision: int
    groups: Groups

    def statistics(self) -> PlanResult:
        """Compute the statistics of the plan, with its balance."""
        found = self.plan.statistics(self.groups)
        return base.replace(found, balance=self.plan.balance(self.left))


class _PlanState(NamedTuple):
    """Part of a campaign that an assignment of new items rests on."""

    settings: Campaign
    version: tuple[object, ...]
    plan: Plan
    people: dict[str, int]
    left: frozenset[str]
    answered: dict[str, set[Presentation]]
    articles: dict[str, int]


class _Addition(NamedTuple):
    """New items, the new presentations of each annotator, and the settings of the campaign with them."""

    before: _PlanState
    items: Sequence[Item]
    orders: list[list[Presentation]]
    settings: Campaign

    @property
    def revision(self) -> Revision:
        return self.settings.revisions[-1]

    def random(self, place: int) -> np.random.Generator:
        """Generator for the presentation order of an annotator, by the place in the plan."""
        return generator(self.revision.seed, f"add order {self.revision.number}", place)


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
    assigned = [*plan.assigned(), *([] for _ in items)]
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


def _plan_state(connection: Connection) -> _PlanState:
    settings = _settings(connection)
    version = tuple(connection.execute(_PLAN_VERSION).one())
    people = connection.execute(sql.select(tables.person).where(tables.person.c.role == "annotator")).all()
    names = {row.id: row.pseudonym for row in people}
    answered = answered_of(connection, names)
    left = frozenset(row.pseudonym for row in people if row.left_at is not None)
    numbers = {name: row for row, name in names.items()}
    articles = {row.item: row.id for row in connection.execute(sql.select(tables.article.c.item, tables.article.c.id))}
    return _PlanState(settings, version, plan_of(connection, settings), numbers, left, answered, articles)


_PLAN_VERSION: Final = sql.select(
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


def _addition(before: _PlanState, items: Sequence[Item], *, known: int, seed: int, now: float) -> _Addition:
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
        settings,
        revisions=(*settings.revisions, revision),
        overlapping=(*settings.overlapping, *more),
        without_articles=settings.without_articles and not any(item.has_article for item in items),
    )
    orders = [
        [(first + place, 1) for place, people in enumerate(chosen) if person in people]
        for person in range(len(before.plan.annotators))
    ]
    return _Addition(before, items, orders, grown)


def _previewed(addition: _Addition) -> Plan:
    """Plan with new items, as `Store.add` makes it if nobody annotates meanwhile."""
    plan, first = addition.before.plan, addition.before.plan.items
    articles = (*plan.articles, *(item.item for item in addition.items))
    together = articles if plan.by_item else None
    orders = (
        interleaved((*order, *new), addition.before.answered[name], first, addition.random(place), together)
        for place, (name, order, new) in enumerate(zip(plan.annotators, plan.orders, addition.orders, strict=True))
    )
    return replace(
        plan,
        articles=articles,
        orders=tuple(orders),
        gold=plan.gold.union(number for number, item in enumerate(addition.items, first) if item.gold is not None),
        overlapping=frozenset(addition.settings.overlapping),
    )


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


_Rows: TypeAlias = list[dict[str, object]]


def _rows_of(addition: _Addition) -> list[tuple[CompiledStatement[Any], _Rows]]:
    """Statements that append new items to the ends of presentation orders, with their values.

    They are made before anybody waits. The last one locks annotators, where the database locks single rows.
    """
    before, revision, first = addition.before, addition.revision, addition.before.plan.items
    numbers = before.articles.copy()
    articles, items, assignments, totals = _Rows(), _Rows(), _Rows(), _Rows()
    for number, item in enumerate(addition.items, first):
        if item.item not in numbers:
            numbers[item.item] = max(before.articles.values(), default=0) + len(articles) + 1
            articles.append({"id": numbers[item.item], **_of(item, "item", "title", "content", "lang")})
        items.append({"number": number, "article": numbers[item.item], **item_values(item)})
    pairs = {number: item.name for number, item in enumerate(addition.items, first) if item.other_system}
    sides = balanced_sides(addition.orders, pairs, generator(revision.seed, "sides", revision.number))
    plan = before.plan
    for person, (name, order, new) in enumerate(zip(plan.annotators, plan.orders, addition.orders, strict=True)):
        fixed = {"person": before.people[name], "round": 1, "state": OPEN}
        assignments += [
            {**fixed, "item": item, "position": place, "swapped": sides.get((person, item, 1))}
            for place, (item, _) in enumerate(new, len(order))
        ]
        totals += [{"number": before.people[name], "more": len(new)}] if new else []
    return [(_ARTICLE, articles), (_ITEM, items), (_ASSIGNMENT, assignments), (_TOTAL, totals)]


def _write_addition(
    connection: Connection,
    addition: _Addition,
    rows: Sequence[tuple[CompiledStatement[Any], _Rows]],
    lead: int | None,
) -> bool:
    """Write new items in one transaction; False if another program has changed the plan meanwhile."""
    lock_campaign(connection)
    if tuple(connection.execute(_PLAN_VERSION).one()) != addition.before.version:
        return False
    for statement, values in rows:
        statement.many(connection, values)
    connection.execute(tables.campaign.update().values(data=tables.encoded(addition.settings)))
    made = addition.revision
    log_change(
        connection, "added", made.time, {"revision": made.number, "items": made.items, "known": made.known}, lead
    )
    return True
