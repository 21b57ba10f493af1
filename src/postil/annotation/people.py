"""Who takes part: invitations, sessions, coming and going."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sql

from postil.annotation import tables, validation
from postil.annotation.compiled_sql import CompiledStatement
from postil.annotation.models import AnnotatorProgress, Person, Progress, Reassignment, Refused, Session
from postil.annotation.reassignment import reassign_items, reserve_items
from postil.errors import UnknownName

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from postil.annotation.database import Database
    from postil.annotation.models import Campaign, Role

__all__ = ["DAY", "People", "progress_of", "signed_in", "taking_part"]

DAY: Final = 86_400.0
MOST_DAYS: Final = 3_650
NAME_LENGTH: Final = 200
LATEST: Final = 200
"""Of how many answers an annotator's speed is taken."""

REPLACED: Final = 0.0
"""When an invitation expired that a newer one replaced."""

_SAID, _WHO = tables.event.c, tables.person.c


class People:
    """Who takes part in a campaign.

    Args:
        database: Where the campaign lives.
        campaign: What is done.
        clock: Tells the time in seconds since 1970.
    """

    def __init__(self, database: Database, campaign: Callable[[], Campaign], clock: Callable[[], float]) -> None:
        self._database, self._campaign, self._clock = database, campaign, clock

    def invite(self, name: str, role: Role, days: float = 14.0, *, keep: str = "") -> str:
        """Invite someone, or someone again.

        A new annotator gets a free place of the plan, at random. The name of one who is there already gets a new token:
        older invitations of this person are void from now on, and who is signed in under the name is signed out.

        Args:
            name: The name that the lead knows.
            role: What the person may do.
            days: For how long the invitation holds.
            keep: The token of a session that goes on: of who asks for the invitation.

        Returns:
            The token. The store has its hash only.

        Raises:
            Refused: No place is free, the name has another role, or the person has left.
        """
        name = validation.words("name", name, NAME_LENGTH)
        if not name:
            raise Refused("invalid", "a name has at least one letter")
        if role not in {"lead", "annotator"}:
            raise Refused("invalid", f"expected lead or annotator, got '{role}'")
        if not 0 < days <= MOST_DAYS:
            raise Refused("invalid", f"days: expected a number above 0 and up to {MOST_DAYS}, got {days}")
        token = secrets.token_urlsafe(32)

        def change(connection: Connection) -> None:
            number = _place_for(connection, name, role)
            unused = tables.invite.update().where(tables.invite.c.person == number, tables.invite.c.used.is_(None))
            connection.execute(unused.values(expires=REPLACED))
            mine = tables.session.c.person == number
            connection.execute(tables.session.delete().where(mine, tables.session.c.hash != validation.hashed(keep)))
            values = {"hash": validation.hashed(token), "person": number, "expires": self._clock() + days * DAY}
            connection.execute(tables.invite.insert(), values)

        self._database.run(change)
        return token

    def accept(self, token: str, days: float = 30.0) -> Session:
        """Sign in with an invitation, which works once.

        Args:
            token: The token of the invitation.
            days: For how long the person stays signed in.

        Raises:
            Refused: There is no such invitation, or it was used, replaced by a newer one, or has expired, or the person
                has left.
        """
        mine = secrets.token_urlsafe(32)

        def change(connection: Connection) -> Session:
            of_token = tables.invite.c.hash == validation.hashed(token)
            row = connection.execute(sql.select(tables.invite).where(of_token).with_for_update()).first()
            now = self._clock()
            if row is None:
                raise Refused("unknown", "there is no such invitation; check that the link is whole")
            if row.used is not None:
                raise Refused("used", "this invitation was used already; ask for a new one")
            if row.expires == REPLACED:
                raise Refused("expired", "a newer invitation has replaced this one; use that, or ask for another")
            if row.expires <= now:
                raise Refused("expired", "this invitation has expired; ask for a new one")
            who = taking_part(connection, row.person)
            connection.execute(tables.invite.update().where(of_token).values(used=now))
            expires = now + days * DAY
            values = {"hash": validation.hashed(mine), "person": who.id, "expires": expires}
            connection.execute(tables.session.insert(), values)
            return Session(token=mine, person=_to_person(who), expires=expires)

        return self._database.run(change)

    def session(self, token: str) -> Person | None:
        """Who is signed in with a session's token; None for nobody.

        Args:
            token: The token of the session.
        """
        with self._database.reading(once=True) as connection:
            row = signed_in(connection, token, self._clock())
        return None if row is None else _to_person(row)

    def end(self, session: str) -> None:
        """Sign out.

        Args:
            session: The token of the session.
        """
        ended = tables.session.delete().where(tables.session.c.hash == validation.hashed(session))
        self._database.run(lambda connection: connection.execute(ended))

    def everyone(self) -> list[Person]:
        """Everyone, with the places that are still free."""
        with self._database.reading() as connection:
            rows = connection.execute(sql.select(tables.person).order_by(tables.person.c.id))
            return [_to_person(row) for row in rows]

    def named(self, name: str) -> Person:
        """Find a person by name or pseudonym.

        Args:
            name: The name, cleaned as in invitations.

        Raises:
            UnknownName: There is no such person.
            Refused: The person was removed.
        """
        name = validation.words("name", name, NAME_LENGTH)
        everyone = self.everyone()
        by_name = {person.name or person.pseudonym: person for person in everyone}
        found = by_name.get(name) or {person.pseudonym: person for person in everyone}.get(name)
        if found is None:
            raise UnknownName("person", name, by_name)
        if found.left:
            raise Refused("left", f"{name} has left the campaign")
        return found

    def annotator_progress(self) -> list[AnnotatorProgress]:
        """How far and how fast each annotator is, for the lead."""
        table = tables.person
        with self._database.reading() as connection:
            return [
                AnnotatorProgress(
                    person=_to_person(row),
                    progress=progress_of(row),
                    seconds=_median_seconds(connection, row.id),
                    last=_last_time(connection, row.id),
                )
                for row in connection.execute(sql.select(table).where(table.c.role == "annotator").order_by(table.c.id))
            ]

    def remove(self, person: Person, *, reserve: bool = False) -> Reassignment:
        """Let someone go: what is graded stays, what is not goes to the others, see `Plan.reassign`.

        Args:
            person: Who.
            reserve: True to reserve the open items for a new annotator: there is then a free slot, see `invite`.

        Returns:
            What became of the work.

        Raises:
            Refused: There is no such person, or they have left already.
        """
        campaign = self._campaign()

        def change(connection: Connection) -> Reassignment:
            everyone = connection.execute(sql.select(tables.person).order_by("id").with_for_update()).all()
            who = taking_part(connection, person.id)
            gone = tables.person.update().where(tables.person.c.id == who.id).values(left_at=self._clock())
            connection.execute(gone)
            connection.execute(tables.session.delete().where(tables.session.c.person == who.id))
            if who.role == "lead":
                return Reassignment(moved=0, short=0)
            if reserve:
                return Reassignment(moved=reserve_items(connection, who, everyone), short=0)
            return reassign_items(connection, campaign, who, everyone)

        return self._database.run(change)


_BY_NUMBER: Final = sql.select(tables.person).where(_WHO.id == sql.bindparam("person"))
_LOCKED: Final = CompiledStatement(_BY_NUMBER.with_for_update())
_PERSON: Final = CompiledStatement(_BY_NUMBER)
_BY_SESSION: Final = (
    sql.select(tables.person)
    .join(tables.session)
    .where(tables.session.c.hash == sql.bindparam("hash"), tables.session.c.expires > sql.bindparam("now"))
    .where(_WHO.left_at.is_(None))
)
_SIGNED_IN: Final = CompiledStatement(_BY_SESSION)
_SIGNED_IN_LOCKED: Final = CompiledStatement(_BY_SESSION.with_for_update(of=tables.person))


def taking_part(connection: Connection, number: int, *, lock: bool = False) -> Any:
    """The row of a person who takes part.

    Args:
        connection: The database.
        number: Of the person.
        lock: Keep other processes from changing anything of theirs.

    Raises:
        Refused: There is no such person, or they have left.
    """
    row = (_LOCKED if lock else _PERSON).first(connection, {"person": number})
    if row is None:
        raise Refused("unknown", "there is no such person")
    if row.left_at is not None:
        raise Refused("left", f"{row.name or row.pseudonym} has left the campaign")
    return row


def signed_in(connection: Connection, session: str, now: float, *, lock: bool = False) -> Any:
    """The row of the person who is signed in with a session; None for nobody.

    Args:
        connection: The database.
        session: Its token.
        now: The time.
        lock: Keep other processes from changing anything of theirs.
    """
    return (_SIGNED_IN_LOCKED if lock else _SIGNED_IN).first(
        connection, {"hash": validation.hashed(session), "now": now}
    )


def progress_of(row: Any) -> Progress:
    """How far an annotator is.

    Args:
        row: Of the person.
    """
    return Progress(done=row.done, total=row.total, skipped=row.skipped)


def _to_person(row: Any) -> Person:
    """A row as a noun."""
    return Person(id=row.id, name=row.name, role=row.role, pseudonym=row.pseudonym, left=row.left_at is not None)


def _place_for(connection: Connection, name: str, role: Role) -> int:
    """The number of the person with this name; someone new gets one."""
    connection.execute(sql.select(tables.campaign.c.id).with_for_update())  # one invitation at a time
    row = connection.execute(sql.select(tables.person).where(_WHO.name == name)).first()
    if row is not None:
        if row.role != role:
            raise Refused("invalid", f"{name} is in the campaign already, as {row.role}")
        return int(taking_part(connection, row.id).id)
    if role == "lead":
        leads = connection.execute(sql.select(sql.func.count()).where(_WHO.role == "lead")).scalar_one()
        values = {"name": name, "role": role, "pseudonym": f"lead {leads + 1}"}
        return int(connection.execute(tables.person.insert().returning(_WHO.id), values).scalar_one())
    free = sql.select(_WHO.id).where(_WHO.role == role, _WHO.name == "", _WHO.left_at.is_(None))
    places = connection.execute(free.order_by(_WHO.id).with_for_update()).scalars().all()
    if not places:
        raise Refused("full", "every place of the plan is taken")
    number = int(secrets.choice(places))
    connection.execute(tables.person.update().where(_WHO.id == number).values(name=name))
    return number


def _median_seconds(connection: Connection, who: int) -> float | None:
    """How long an annotator takes for a text."""
    took = sql.select(_SAID.seconds).where(_SAID.person == who, _SAID.seconds.is_not(None))
    seconds = sorted(connection.execute(took.order_by(_SAID.id.desc()).limit(LATEST)).scalars())
    middle = len(seconds) // 2
    if not seconds:
        return None
    return float(seconds[middle] if len(seconds) % 2 else (seconds[middle - 1] + seconds[middle]) / 2)


def _last_time(connection: Connection, who: int) -> float | None:
    """When an annotator answered last."""
    latest = sql.select(_SAID.time).where(_SAID.person == who).order_by(_SAID.id.desc()).limit(1)
    found: float | None = connection.execute(latest).scalar()
    return found
