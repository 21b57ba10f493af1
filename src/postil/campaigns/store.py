"""Store of a campaign: SQLite by default, PostgreSQL by URL."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from postil.campaigns.models import Annotation, Campaign, CampaignState, Given
from postil.campaigns.rubric import Rubric
from postil.errors import InvalidInput, MissingExtra, UsageError

try:
    import sqlalchemy as sql

    from postil.campaigns import tables
    from postil.campaigns.additions import append_items
    from postil.campaigns.database import ADVICE, Database
    from postil.campaigns.grading import Grading, add_annotation
    from postil.campaigns.item_assignment import generator
    from postil.campaigns.items import item_values, items, plan_of
    from postil.campaigns.pairs import balanced_sides
    from postil.campaigns.people import People, active_person
    from postil.campaigns.results import Results
    from postil.campaigns.state import Lifecycle
    from postil.campaigns.tables import OPEN, SCHEMA
except ImportError as error:
    raise MissingExtra("a campaign", "web") from error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from concurrent.futures import Future
    from types import TracebackType
    from typing import Self

    from sqlalchemy import Connection

    from postil.campaigns.additions import Added
    from postil.campaigns.models import Item, Person
    from postil.campaigns.plan import Plan

__all__ = ["Store"]

T = TypeVar("T", Campaign, Rubric)


class Store:
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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

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
        campaign = msgspec.structs.replace(campaign, created=self._clock())
        pairs = {number: text.name for number, text in enumerate(texts) if text.other_system}
        sides = balanced_sides(plan.orders, pairs, generator(campaign.seed, "sides", 1))
        articles = {text.item: number for number, text in enumerate(reversed(texts), 1)}
        rows: dict[sql.Table, list[dict[str, object]]] = {
            tables.campaign: [
                {"id": 1, "schema": SCHEMA, "data": tables.encoded(campaign), "rubric": tables.encoded(rubric)}
            ],
            tables.article: [
                {"id": articles[text.item], "item": text.item, **_of(text, "title", "content", "lang")}
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

        Args:
            items: The new items.
            known: Number of items of the files that the campaign had already.
            seed: Random seed.
            dry_run: True to change nothing.
            lead: The lead who adds them; None on the command line.

        Raises:
            UsageError: Nobody is left to take items, or the plan was changed by other programs again and again.
        """
        return append_items(
            self._database,
            items,
            known=known,
            seed=seed,
            now=self._clock(),
            dry_run=dry_run,
            lead=None if lead is None else lead.id,
        )

    def load(self, names: Mapping[str, str], ratings: Sequence[Given]) -> None:
        """Name the annotators of a new campaign and store ratings that were given elsewhere, atomically.

        Args:
            names: Name of each annotator, by pseudonym.
            ratings: The ratings, all of planned presentations.

        Raises:
            Refused: A value is not on the scale.
        """
        rubric = self.rubric()
        self._database.run(lambda connection: _load_ratings(connection, names, ratings, rubric, self._clock()))

    def campaign(self) -> Campaign:
        """Read the settings of the campaign."""
        with self._database.reading() as connection:
            data = connection.execute(sql.select(tables.campaign.c.data)).scalar_one()
        return self._decoded(data, Campaign, "data")

    def rubric(self) -> Rubric:
        """Read the rubric."""
        if self._rubric is None:
            with self._database.reading() as connection:
                data = connection.execute(sql.select(tables.campaign.c.rubric)).scalar_one()
            self._rubric = self._decoded(data, Rubric, "rubric")
        return self._rubric

    def _decoded(self, data: str, kind: type[T], column: str) -> T:
        try:
            return msgspec.json.decode(data, type=kind)
        except (msgspec.MsgspecError, InvalidInput) as error:
            problem = f"expected the JSON of a {kind.__name__.lower()}: {error}; {ADVICE}"
            raise InvalidInput(problem, where=self.where, field=f"campaign.{column}") from None

    def plan(self) -> Plan:
        """Read the current plan."""
        campaign = self.campaign()
        with self._database.reading() as connection:
            return plan_of(connection, campaign)

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


def _load_ratings(
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
