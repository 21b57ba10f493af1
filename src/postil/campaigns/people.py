"""People of a campaign: invitations, sessions, removal, and items that change hands where people leave or join late."""

from __future__ import annotations

import secrets
from collections import Counter
from itertools import count, islice
from statistics import median
from typing import TYPE_CHECKING, Final, NamedTuple

import sqlalchemy as sql

from postil.campaigns import tables, validation
from postil.campaigns.database import CompiledStatement, Database, lock_campaign, log_change
from postil.campaigns.item_assignment import generator
from postil.campaigns.items import answered_of, plan_of
from postil.campaigns.models import (
    AnnotatorProgress,
    Campaign,
    Person,
    Presentation,
    Progress,
    Reassignment,
    Refused,
    Role,
    Session,
)
from postil.campaigns.plan import presentation_order
from postil.campaigns.tables import GRADED, MOVED, OPEN, SKIPPED, AssignmentRow, PersonRow
from postil.data.groups import grouped
from postil.errors import UnknownName
from postil.messages import Message

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    import numpy as np
    from sqlalchemy import Connection


__all__ = [
    "DAY",
    "SPARED",
    "People",
    "Share",
    "active_person",
    "fair_share",
    "give_share",
    "insert_annotator",
    "progress_of",
    "reassign_items",
    "reserve_items",
    "signed_in",
]


DAY: Final = 86_400.0
MAX_DAYS: Final = 3_650
NAME_LENGTH: Final = 200
LATEST: Final = 200
"""Number of annotations that an annotator's speed is computed from."""

REPLACED: Final = 0.0
"""Time of expiry of an invitation that a newer one replaced."""

_EVENTS, _PEOPLE = tables.event.c, tables.person.c


class People:
    """People of a campaign.

    Args:
        database: Database of the campaign.
        campaign: Function that returns the settings of the campaign.
        clock: Function that returns the time, in seconds since 1970.
    """

    def __init__(self, database: Database, campaign: Callable[[], Campaign], clock: Callable[[], float]) -> None:
        self._database, self._campaign, self._clock = database, campaign, clock

    def invite(self, name: str, role: Role, days: float = 14.0, *, keep: str = "") -> str:
        """Invite a person, for the first time or again.

        A new annotator gets a random free slot of the plan. A known name gets a new token, which revokes older
        invitations and sessions of this person.

        Args:
            name: Name known to the lead.
            role: Role of the person.
            days: Validity of the invitation, in days.
            keep: Token of a session that is not revoked: that of the lead who invites.

        Returns:
            The token; the store has only its hash.

        Raises:
            Refused: There is no free slot, the name has another role, or the person was removed.
        """
        name = _checked_name(name, days)
        if role not in {"lead", "annotator"}:
            raise Refused("invalid", "expected lead or annotator, got '{got}'", got=role)
        token = secrets.token_urlsafe(32)

        def transaction(connection: Connection) -> None:
            number = _slot_for(connection, name, role)
            unused = tables.invite.update().where(tables.invite.c.person == number, tables.invite.c.used.is_(None))
            connection.execute(unused.values(expires=REPLACED))
            mine = tables.session.c.person == number
            connection.execute(
                tables.session.delete().where(mine, tables.session.c.hash != validation.hash_token(keep))
            )
            self._insert_invitation(connection, token, number, days)

        self._database.run(transaction)
        return token

    def invite_late(self, name: str, days: float = 14.0, *, by: Person | None = None) -> tuple[str, Share]:
        """Invite an annotator after the plan was made, who takes a fair share of the open items of the others.

        Args:
            name: Name known to the lead.
            days: Validity of the invitation, in days.
            by: The lead; None for the command line.

        Returns:
            The token, and what the annotator got; see `postil.campaigns.people.give_share`.

        Raises:
            Refused: The name is in the campaign already, the plan has a free slot, or there is nothing to give.
        """
        name = _checked_name(name, days)
        token, campaign = secrets.token_urlsafe(32), self._campaign()

        def transaction(connection: Connection) -> Share:
            lock_campaign(connection)
            everyone = _rows(connection, sql.select(tables.person).with_for_update())
            if known := [row for row in everyone if row.name == name]:
                _refuse_left(known[0])
                raise Refused("invalid", "{name} is in the campaign already; invite them again without late", name=name)
            slots = [row.pseudonym for row in everyone if not row.name and row.left_at is None]
            if slots:
                raise Refused(
                    "invalid",
                    "the plan has a free slot, {slot}; invite {name} to it without late",
                    slot=slots[0],
                    name=name,
                )
            number = insert_annotator(connection, name, everyone)
            others = [row.id for row in everyone if row.role == "annotator" and row.left_at is None]
            share = give_share(connection, campaign, number, others)
            self._insert_invitation(connection, token, number, days)
            pseudonym = active_person(connection, number).pseudonym
            detail = {"annotator": pseudonym, "items": share.items}
            log_change(connection, "joined", self._clock(), detail, None if by is None else by.id)
            return share

        return token, self._database.run(transaction)

    def _insert_invitation(self, connection: Connection, token: str, number: int, days: float) -> None:
        values = {"hash": validation.hash_token(token), "person": number, "expires": self._clock() + days * DAY}
        connection.execute(tables.invite.insert(), values)

    def accept(self, token: str, days: float = 30.0) -> Session:
        """Sign in with an invitation, which works once.

        Args:
            token: Token of the invitation.
            days: Lifetime of the session, in days.

        Raises:
            Refused: There is no such invitation; it was used or replaced, or has expired; or the person was removed.
        """
        mine = secrets.token_urlsafe(32)

        def transaction(connection: Connection) -> Session:
            of_token = tables.invite.c.hash == validation.hash_token(token)
            # The row is locked, so that of two sign-ins at once one finds it used.
            row = connection.execute(sql.select(tables.invite).where(of_token).with_for_update()).first()
            now = self._clock()
            if row is None:
                raise Refused("unknown", "there is no such invitation; check that the link is complete")
            if row.used is not None:
                raise Refused("used", "this invitation was already used; ask for a new one")
            if row.expires == REPLACED:
                raise Refused("expired", "a newer invitation replaced this one; use that one or ask for another")
            if row.expires <= now:
                raise Refused("expired", "this invitation has expired; ask for a new one")
            who = active_person(connection, row.person)
            connection.execute(tables.invite.update().where(of_token).values(used=now))
            expires = now + days * DAY
            values = {"hash": validation.hash_token(mine), "person": who.id, "expires": expires}
            connection.execute(tables.session.insert(), values)
            return Session(token=mine, person=_to_person(who), expires=expires)

        return self._database.run(transaction)

    def session(self, token: str) -> Person | None:
        """Find the person of a session; None if there is no such session.

        Args:
            token: Token of the session.
        """
        with self._database.reading(once=True) as connection:
            row = signed_in(connection, token, self._clock())
        return None if row is None else _to_person(row)

    def was_removed(self, session: str) -> bool:
        """Check if a session is that of a person who was removed while signed in.

        Args:
            session: Token of the session.
        """
        hashed = tables.session.c.hash == validation.hash_token(session)
        query = sql.select(_PEOPLE.id).join_from(tables.session, tables.person)
        with self._database.reading(once=True) as connection:
            return connection.execute(query.where(hashed, _PEOPLE.left_at.is_not(None))).first() is not None

    def end(self, session: str) -> None:
        """End a session.

        Args:
            session: Token of the session.
        """
        ended = tables.session.delete().where(tables.session.c.hash == validation.hash_token(session))
        self._database.run(lambda connection: connection.execute(ended))

    def open_invitations(self, role: Role | None = None) -> int:
        """Number of invitations that nobody has used yet, and that are still valid.

        Args:
            role: Role of those whom they are for; None for both.
        """
        invited, person = tables.invite.c, tables.person.c
        query = sql.select(sql.func.count()).where(invited.used.is_(None), invited.expires > self._clock())
        if role is not None:
            query = query.where(invited.person.in_(sql.select(person.id).where(person.role == role)))
        with self._database.reading(once=True) as connection:
            return int(connection.execute(query).scalar_one())

    def everyone(self) -> list[Person]:
        """Read all people, and free slots."""
        with self._database.reading() as connection:
            return [_to_person(row) for row in _rows(connection, sql.select(tables.person))]

    def named(self, name: str) -> Person:
        """Find a person by name or pseudonym.

        Args:
            name: The name, cleaned as in invitations.

        Raises:
            UnknownName: There is no such person.
            Refused: The person was removed.
        """
        name = validation.words(Message("name"), name, NAME_LENGTH)
        everyone = self.everyone()
        by_name = {person.name or person.pseudonym: person for person in everyone}
        found = by_name.get(name) or {person.pseudonym: person for person in everyone}.get(name)
        if found is None:
            raise UnknownName("person", name, by_name)
        if found.left:
            raise Refused("left", "{name} has left the campaign", name=name)
        return found

    def annotator_progress(self) -> list[AnnotatorProgress]:
        """Compute progress and speed of each annotator."""
        annotators = sql.select(tables.person).where(_PEOPLE.role == "annotator")
        with self._database.reading() as connection:
            return [
                AnnotatorProgress(
                    person=_to_person(row),
                    progress=progress_of(row),
                    seconds=_median_seconds(connection, row.id),
                    last=_last_time(connection, row.id),
                )
                for row in _rows(connection, annotators)
            ]

    def totals(self) -> tuple[Progress, int]:
        """Add the progress of all annotators up, and count those who were invited and not removed."""
        there = sql.and_(_PEOPLE.name != "", _PEOPLE.left_at.is_(None))
        sums = [sql.func.sum(column) for column in (_PEOPLE.done, _PEOPLE.total, _PEOPLE.skipped)]
        query = sql.select(*sums, sql.func.sum(sql.case((there, 1), else_=0))).where(_PEOPLE.role == "annotator")
        with self._database.reading(once=True) as connection:
            done, total, skipped, annotators = (int(number or 0) for number in connection.execute(query).one())
        return Progress(done=done, total=total, skipped=skipped), annotators

    def remove(self, person: Person, *, reserve: bool = False, by: Person | None = None) -> Reassignment:
        """Remove a person: ratings stay, open items go to the others, see `Plan.reassign`.

        Args:
            person: The person.
            reserve: True to reserve the open items for a new annotator: there is then a free slot, see `invite`.
            by: The lead; None for the command line.

        Raises:
            Refused: There is no such person, or they were removed already.
        """
        campaign = self._campaign()

        def transaction(connection: Connection) -> Reassignment:
            # All people are locked, in one order: nobody annotates while items change hands, and no two removals
            # deadlock. The campaign comes first, as wherever the plan changes.
            lock_campaign(connection)
            everyone = _rows(connection, sql.select(tables.person).with_for_update())
            who = active_person(connection, person.id)
            removed = tables.person.update().where(_PEOPLE.id == who.id).values(left_at=self._clock())
            connection.execute(removed)
            done = Reassignment(moved=0, short=0)
            if who.role == "annotator" and reserve:
                done = Reassignment(moved=reserve_items(connection, who, everyone), short=0)
            elif who.role == "annotator":
                done = reassign_items(connection, campaign, who, everyone)
            detail = {"annotator" if who.role == "annotator" else "lead": who.pseudonym, "items": done.moved}
            log_change(connection, "removed", self._clock(), detail, None if by is None else by.id)
            return done

        return self._database.run(transaction)


_BY_NUMBER: Final = sql.select(tables.person).where(_PEOPLE.id == sql.bindparam("person"))
# Not the strongest lock: items can be assigned to a person who is annotating.
_LOCKED: Final = CompiledStatement(_BY_NUMBER.with_for_update(key_share=True), PersonRow._make)
_PERSON: Final = CompiledStatement(_BY_NUMBER, PersonRow._make)
_BY_SESSION: Final = (
    sql.select(tables.person)
    .join(tables.session)
    .where(tables.session.c.hash == sql.bindparam("hash"), tables.session.c.expires > sql.bindparam("now"))
    .where(_PEOPLE.left_at.is_(None))
)
_SIGNED_IN: Final = CompiledStatement(_BY_SESSION, PersonRow._make)
_SIGNED_IN_LOCKED: Final = CompiledStatement(
    _BY_SESSION.with_for_update(key_share=True, of=tables.person), PersonRow._make
)


def active_person(connection: Connection, number: int, *, lock: bool = False) -> PersonRow:
    """Read the row of a person who was not removed.

    Args:
        connection: The database connection.
        number: Number of the person.
        lock: True to lock the row until the transaction ends, so that no other process changes the person's counts,
            assignments or events.

    Raises:
        Refused: There is no such person, or they were removed.
    """
    row = (_LOCKED if lock else _PERSON).first(connection, {"person": number})
    if row is None:
        raise Refused("unknown", "there is no such person")
    if row.left_at is not None:
        raise Refused("left", "{name} has left the campaign", name=row.name or row.pseudonym)
    return row


def signed_in(connection: Connection, session: str, now: float, *, lock: bool = False) -> PersonRow | None:
    """Read the row of the person of a session; None if there is no such session.

    Args:
        connection: The database connection.
        session: Token of the session.
        now: Time, in seconds since 1970.
        lock: True to lock the row, see `active_person`.
    """
    statement = _SIGNED_IN_LOCKED if lock else _SIGNED_IN
    return statement.first(connection, {"hash": validation.hash_token(session), "now": now})


def progress_of(row: PersonRow) -> Progress:
    """Convert a row to a `Progress`.

    Args:
        row: Row of the annotator.
    """
    return Progress(done=row.done, total=row.total, skipped=row.skipped)


def _to_person(row: PersonRow) -> Person:
    return Person(id=row.id, name=row.name, role=row.role, pseudonym=row.pseudonym, left=row.left_at is not None)


def _rows(connection: Connection, query: sql.Select[tuple[object, ...]]) -> list[PersonRow]:
    return list(map(PersonRow._make, connection.execute(query.order_by(_PEOPLE.id))))


def _checked_name(name: str, days: float) -> str:
    """Name of a person to invite, cleaned; the validity of the invitation is checked too."""
    name = validation.words(Message("name"), name, NAME_LENGTH)
    if not name:
        raise Refused("invalid", "name: expected at least one character")
    if not 0 < days <= MAX_DAYS:
        raise Refused("invalid", "days: expected a number above 0 and up to {most}, got {got}", most=MAX_DAYS, got=days)
    return name


def _refuse_left(row: PersonRow) -> None:
    if row.left_at is not None:
        raise Refused("left", "{name} has left the campaign; invite them late, under another name", name=row.name)


def _slot_for(connection: Connection, name: str, role: Role) -> int:
    """Number of the person with this name; a new annotator gets a free slot, a new lead a new row."""
    # One invitation at a time: else two could give one slot to two names, or two slots to one name.
    lock_campaign(connection)
    known = _rows(connection, sql.select(tables.person).where(_PEOPLE.name == name))
    if known:
        if known[0].role != role:
            there = Message("annotator") if known[0].role == "annotator" else Message("lead")
            raise Refused("invalid", "{name} is in the campaign already, as {role}", name=name, role=there)
        _refuse_left(known[0])
        return known[0].id
    if role == "lead":
        leads = connection.execute(sql.select(sql.func.count()).where(_PEOPLE.role == "lead")).scalar_one()
        values = {"name": name, "role": role, "pseudonym": f"lead {leads + 1}"}
        return int(connection.execute(tables.person.insert().returning(_PEOPLE.id), values).scalar_one())
    free = sql.select(_PEOPLE.id).where(_PEOPLE.role == role, _PEOPLE.name == "", _PEOPLE.left_at.is_(None))
    slots = connection.execute(free.order_by(_PEOPLE.id).with_for_update()).scalars().all()
    if not slots:
        raise Refused("full", "the plan has no free slot; invite the annotator late")
    number = int(secrets.choice(slots))  # at random, so that pseudonyms say nothing about who came first
    connection.execute(tables.person.update().where(_PEOPLE.id == number).values(name=name))
    return number


def _median_seconds(connection: Connection, annotator: int) -> float | None:
    """Median time per item, over the latest annotations."""
    took = sql.select(_EVENTS.seconds).where(_EVENTS.person == annotator, _EVENTS.seconds.is_not(None))
    seconds = connection.execute(took.order_by(_EVENTS.id.desc()).limit(LATEST)).scalars().all()
    return float(median(seconds)) if seconds else None


def _last_time(connection: Connection, annotator: int) -> float | None:
    """Time of the last event."""
    latest = sql.select(_EVENTS.time).where(_EVENTS.person == annotator).order_by(_EVENTS.id.desc()).limit(1)
    return connection.execute(latest).scalar()


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
    answered = answered_of(connection, {row.id: name for name, row in people.items()})
    # Items that the removed annotator skipped count as open: someone else may be able to rate them.
    skipped = sql.select(table.c.item, table.c.round).where(table.c.person == removed.id, table.c.state == SKIPPED)
    answered[removed.pseudonym] -= {(item, again) for item, again in connection.execute(skipped)}
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


SPARED: Final = 5
"""Number of an annotator's next items that stay: the one on the screen, and those that a browser may hold already."""

LOOK: Final = 32
"""Number of items among which the one with the smallest overlaps is chosen."""

Unit = tuple[int, ...]
"""Numbers of items that move together: one, or all of an article."""


class Share(NamedTuple):
    """Items of an annotator who joined late.

    Args:
        items: Number of the annotator's items, without gold items.
        nobody: Number of those that nobody had, as nobody else could take them.
        open: Number of open items that each of the others has left, ascending; gold and repeated items do not count.
    """

    items: int
    nobody: int
    open: tuple[int, ...]


def fair_share(
    movable: Mapping[int, Sequence[Unit]],
    load: Mapping[int, int],
    mates: Mapping[int, Sequence[int]],
    first: int,
    random: np.random.Generator,
) -> dict[Unit, int]:
    """Choose what a new annotator takes from the others, so that open items are as even as possible.

    Items come from whoever has the most open ones. Where all that somebody could give is taken from others already,
    one of those gives something else instead. Among the items that could be taken, those are preferred whose other
    annotators share the fewest with the new one.

    Args:
        movable: Units that each annotator can give.
        load: Number of open items of each annotator.
        mates: Annotators of each item.
        first: Number of open items that the new annotator has from the start.
        random: Random number generator.

    Returns:
        The units, with the annotator who gives each.

    >>> import numpy as np
    >>> units = {1: [(0,), (1,), (2,), (3,)], 2: [(0,), (1,), (2,), (3,)]}
    >>> taken = fair_share(units, {1: 4, 2: 4}, {n: [1, 2] for n in range(4)}, 0, np.random.default_rng(1))
    >>> sorted(Counter(taken.values()).items())
    [(1, 1), (2, 1)]
    """
    left, mine = dict(load), first
    given = {who: [units[place] for place in random.permutation(len(units)).tolist()] for who, units in movable.items()}
    sharing = _Sharing(given, mates)
    while True:
        for giver in sorted(given, key=lambda who: (-left[who], who)):
            unit = sharing.take(giver, left[giver] - mine)
            if unit is not None:
                mine += len(unit)
                left[giver] -= len(unit)
                break
        else:
            return sharing.taken


def give_share(connection: Connection, campaign: Campaign, newcomer: int, others: Collection[int]) -> Share:
    """Give an annotator without items a fair share of the open ones; see `fair_share`.

    Every item keeps its number of annotators, and nobody loses an item that is on a screen. Gold items are assigned
    too, those to learn from first, and items that lack annotators. Repeated items stay where they are.

    Args:
        connection: The database connection, in a transaction; all people are locked.
        campaign: Settings of the campaign.
        newcomer: Number of the annotator.
        others: Numbers of the other annotators, without those who were removed.

    Raises:
        Refused: Nothing can be given.
    """
    table = tables.assignment
    columns = tables.article.c.item, tables.item.c.gold, tables.item.c.purpose
    found = connection.execute(sql.select(*columns).join_from(tables.item, tables.article).order_by("number")).all()
    articles = tuple(row.item for row in found)
    gold = frozenset(number for number, row in enumerate(found) if row.gold is not None)
    rows = [
        AssignmentRow(*row)
        for row in connection.execute(sql.select(table).where(table.c.state != MOVED).order_by(table.c.position))
    ]
    mates: dict[int, list[int]] = {number: [] for number in range(len(found))}
    mates |= grouped((row.item, row.person) for row in rows if row.round == 1)
    wanted = dict.fromkeys(mates, campaign.annotators_per_item) | dict.fromkeys(
        campaign.overlapping, campaign.annotators_per_item + 1
    )
    nobody = [number for number, people in mates.items() if number not in gold and len(people) < wanted[number]]
    movable, load = _movable(rows, articles, gold, by_item=campaign.by_item)
    random = generator(campaign.seed, "late", newcomer)
    taken = fair_share(movable, load, mates, len(nobody), random)
    givers = {item: giver for unit, giver in taken.items() for item in unit}
    if not givers and not nobody:
        raise Refused("full", "there is no open item to give: those that are left are on screens, or nearly")
    mine = sorted([*gold, *nobody, *givers])
    order = presentation_order(mine, gold, articles, 0.0, random, together=campaign.by_item)
    order = (*sorted(order, key=lambda shown: found[shown[0]].purpose != "training"),)  # these come first
    _store(connection, rows, givers, newcomer, {item: place for place, (item, _) in enumerate(order)})
    load.subtract(givers.values())
    return Share(len(givers) + len(nobody), len(nobody), tuple(sorted(load[number] for number in others)))


class _Sharing:
    """Units that are taken from annotators, one after the other."""

    def __init__(self, given: Mapping[int, Sequence[Unit]], mates: Mapping[int, Sequence[int]]) -> None:
        self.taken: dict[Unit, int] = {}
        self._given, self._mates = given, mates
        self._shared: Counter[int] = Counter()  # items that each annotator shares with the new one

    def take(self, giver: int, room: int) -> Unit | None:
        """Take one more unit, of fewer than `room` items; the load of `giver` alone falls.

        Returns:
            The unit that is taken besides the earlier ones: one of `giver`, or the end of an augmenting path, along
            which each annotator gives another unit in place of the one that the annotator before gives now.
        """
        before: dict[int, tuple[int, Unit]] = {}
        queue = [giver]
        for who in queue if room > 1 else ():  # breadth-first; the list grows while it is read
            most, least = (len(before[who][1]),) * 2 if who in before else (room - 1, 1)
            free = (unit for unit in self._given[who] if unit not in self.taken and least <= len(unit) <= most)
            found = list(islice(free, LOOK))
            if found:
                best = min(found, key=lambda unit: self._overlap(unit, who))
                self._give(who, best, giver, before)
                return best
            for unit in self._given[who]:
                other = self.taken.get(unit, giver)
                if other != giver and other not in before and least <= len(unit) <= most:
                    before[other] = who, unit
                    queue.append(other)
        return None

    def _overlap(self, unit: Unit, giver: int) -> int:
        return sum(self._shared[mate] for item in unit for mate in self._mates[item] if mate != giver)

    def _give(self, who: int, unit: Unit, giver: int, before: Mapping[int, tuple[int, Unit]]) -> None:
        """Record who gives each unit of an augmenting path, from its end to its start."""
        self._shared.update(mate for item in unit for mate in self._mates[item] if mate != who)
        while who != giver:
            self.taken[unit] = who
            who, unit = before[who]
        self.taken[unit] = giver


def _movable(
    rows: Sequence[AssignmentRow], articles: Sequence[str], gold: Collection[int], *, by_item: bool
) -> tuple[dict[int, list[Unit]], Counter[int]]:
    """Units that each annotator can give, and the number of open items of each."""
    everything = grouped((row.person, row) for row in rows)  # by position
    rated = grouped((row.person, row) for row in rows if row.item not in gold and row.round == 1)
    movable: dict[int, list[Unit]] = {}
    load: Counter[int] = Counter()
    for person, mine in rated.items():
        load[person] = sum(row.state == OPEN for row in mine)
        spared = [row.item for row in everything[person] if row.state == OPEN][:SPARED]
        stay = {row.item for row in everything[person] if row.state != OPEN or row.round > 1}.union(spared)
        units = grouped((articles[row.item] if by_item else row.item, row.item) for row in mine)
        movable[person] = [tuple(sorted(unit)) for unit in units.values() if stay.isdisjoint(unit)]
    return movable, load


def _store(
    connection: Connection,
    rows: Sequence[AssignmentRow],
    givers: Mapping[int, int],
    newcomer: int,
    places: Mapping[int, int],
) -> None:
    """Move assignments, close the gaps that they leave in the orders of the others, and add those of nobody."""
    table = tables.assignment
    moves: list[dict[str, int]] = []
    given: set[int] = set()
    place: Counter[int] = Counter()
    for row in rows:
        if row.round == 1 and givers.get(row.item) == row.person:
            given.add(row.item)
            moves.append({"number": row.id, "whose": newcomer, "place": places[row.item]})
            continue
        if row.position != place[row.person]:
            moves.append({"number": row.id, "whose": row.person, "place": place[row.person]})
        place[row.person] += 1
    if moves:
        change = table.update().where(table.c.id == sql.bindparam("number"))
        connection.execute(change.values(person=sql.bindparam("whose"), position=sql.bindparam("place")), moves)
    added = [
        {"item": item, "person": newcomer, "round": 1, "position": position, "state": OPEN}
        for item, position in places.items()
        if item not in given
    ]
    if added:
        connection.execute(table.insert(), added)
    update_counts(connection)
