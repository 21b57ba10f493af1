"""People of a campaign: invitations, sessions, removal."""

from __future__ import annotations

import secrets
from statistics import median
from typing import TYPE_CHECKING, Final

import sqlalchemy as sql

from postil.campaigns import tables, validation
from postil.campaigns.database import CompiledStatement, lock_campaign, log_change
from postil.campaigns.models import AnnotatorProgress, Person, Progress, Reassignment, Refused, Session
from postil.campaigns.reassignment import give_share, insert_annotator, reassign_items, reserve_items
from postil.campaigns.tables import PersonRow
from postil.errors import UnknownName
from postil.messages import Message

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from postil.campaigns.database import Database
    from postil.campaigns.models import Campaign, Role
    from postil.campaigns.reassignment import Share

__all__ = ["DAY", "People", "active_person", "progress_of", "signed_in"]

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
            The token, and what the annotator got; see `postil.campaigns.reassignment.give_share`.

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
