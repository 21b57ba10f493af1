"""State of a campaign: running, paused or closed, its deadline, and the log of what leads did to it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import sqlalchemy as sql

from postil.campaigns import tables, validation
from postil.campaigns.database import Change, CompiledStatement, Database, changes, detail_of, lock_campaign, log_change
from postil.campaigns.models import CampaignState, Person, Refused
from postil.campaigns.people import active_person
from postil.messages import Message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from sqlalchemy import Connection


__all__ = ["GRACE", "Lifecycle", "Outcome", "moment", "parse_moment"]

GRACE: Final = 900.0
"""Seconds after the deadline in which an item that is on somebody's screen can still be rated."""

LATEST: Final = 200
"""Largest number of ratings that the projected end rests on."""

FEWEST: Final = 10
"""Number of ratings below which no end is projected."""

FARTHEST: Final = 100 * 365 * 86_400.0
"""Seconds until the latest end that is projected."""


class Outcome(NamedTuple):
    """State of a campaign before and after a change; equal where there was nothing to change."""

    before: CampaignState
    after: CampaignState


class Projection(NamedTuple):
    """Expected end of a campaign.

    Args:
        open: Number of open presentations.
        per_hour: Ratings per hour, since the first of the latest ratings, at most 200.
        end: Time at which the last one is rated at that rate, in seconds since 1970.
    """

    open: int
    per_hour: float
    end: float


class _Log(NamedTuple):
    """State as it is logged, before the clock is looked at."""

    status: Literal["running", "paused", "closed"] = "running"
    message: str = ""
    since: float | None = None
    deadline: float | None = None
    ended: bool = False  # the deadline was seen to pass
    lapsed: bool = False  # and the end of the grace after it


_CHANGES: Final = tables.change.c
_VERSION: Final = CompiledStatement(
    sql.select(sql.func.count(), sql.func.max(_CHANGES.id), sql.func.max(_CHANGES.time)), tuple
)


class Lifecycle:
    """State of a campaign and its changes.

    Args:
        database: Database of the campaign.
        clock: Function that returns the time, in seconds since 1970.
    """

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database, self._clock = database, clock
        self._known: tuple[tuple[object, ...], _Log] = (0, None, None), _Log()  # of an empty log

    def current(self) -> CampaignState:
        """Read the state."""
        with self._database.reading(once=True) as connection:
            state = self.at(connection, self._clock())
        self.settle(state)
        return state

    def at(self, connection: Connection, now: float) -> CampaignState:
        """Read the state in a transaction: a single row, as long as nothing changes.

        Args:
            connection: The database connection.
            now: Time, in seconds since 1970.
        """
        (version,) = _VERSION.rows(connection, {})
        known, log = self._known
        if version != known:
            log = _logged(connection)
            self._known = version, log
        return _state(log, now)

    def settle(self, state: CampaignState) -> None:
        """Log once that the deadline has passed, so that a clock that goes back does not reopen the campaign.

        Args:
            state: The state that was read.
        """
        if self._database.writable and next(_passed(self._known[1], state), None):
            self._database.run(lambda connection: _settled(connection, self._clock()))

    def pause(self, message: str = "", *, by: Person | None = None) -> Outcome:
        """Hand out no new item; answers to items that are on screens are stored.

        Args:
            message: Message to the annotators.
            by: The lead; None for the command line.

        Raises:
            Refused: The campaign is closed, or its deadline has passed; or the person is no lead.
        """
        text = validation.words(Message("message"), message)

        def decide(state: CampaignState, _: float) -> dict[str, object] | None:
            if state.status == "closed":
                raise Refused("invalid", "the campaign is closed, so there is nothing to pause")
            if state.status == "ending":
                raise Refused("invalid", "the campaign has reached its deadline, so there is nothing to pause")
            return None if (state.status, state.message) == ("paused", text) else {"message": text}

        return self._change("paused", decide, by)

    def resume(self, *, by: Person | None = None) -> Outcome:
        """Go on after a pause, or reopen a closed campaign; a deadline that has passed is removed.

        Args:
            by: The lead; None for the command line.

        Raises:
            Refused: The person is no lead.
        """
        return self._change("resumed", lambda state, _: None if state.status == "running" else {}, by)

    def close(self, message: str = "", *, by: Person | None = None) -> Outcome:
        """Accept no answers any more; browsers keep those that come late. A closed campaign gets another message.

        Args:
            message: Message to the annotators.
            by: The lead; None for the command line.

        Raises:
            Refused: The person is no lead.
        """
        text = validation.words(Message("message"), message)

        def decide(state: CampaignState, _: float) -> dict[str, object] | None:
            return None if state.status == "closed" and text in {"", state.message} else {"message": text}

        return self._change("closed", decide, by)

    def set_deadline(self, until: float | None, *, by: Person | None = None) -> Outcome:
        """Set, move or remove the deadline; a campaign that its deadline has closed is open again.

        Args:
            until: The deadline, in seconds since 1970; None for none.
            by: The lead; None for the command line.

        Raises:
            Refused: The deadline has passed already, a lead has closed the campaign, or the person is no lead.
        """

        def decide(state: CampaignState, now: float) -> dict[str, object] | None:
            if until is not None and until <= now:
                raise Refused(
                    "invalid", "deadline: {time} has passed; close the campaign to end it now", time=moment(until)
                )
            if state.status == "closed" and not state.lapsed:
                raise Refused("invalid", "the campaign is closed; resume it before it gets another deadline")
            return None if until == state.deadline else {"until": until}

        return self._change("deadline", decide, by)

    def changes(self) -> list[Change]:
        """Read the log of changes, in order of time."""
        with self._database.reading(once=True) as connection:
            return changes(connection)

    def projection(self) -> Projection | None:
        """Project the end from the rate of the latest ratings, at most 200.

        None if there are too few ratings, or no open items, or the end is too far away to mean anything.
        """
        people, events = tables.person.c, tables.event.c
        left = sql.func.sum(people.total - people.done - people.skipped)
        latest = sql.select(events.time).where(events.kind == "rate").order_by(events.id.desc()).limit(LATEST)
        with self._database.reading() as connection:
            still = connection.execute(sql.select(left).where(people.left_at.is_(None))).scalar() or 0
            times = connection.execute(latest).scalars().all()
        now = self._clock()
        if not still or len(times) < FEWEST or now <= times[-1]:
            return None
        rate = len(times) / (now - times[-1])
        end = now + int(still) / rate
        return Projection(open=int(still), per_hour=3600 * rate, end=end) if end < now + FARTHEST else None

    def _change(
        self,
        kind: str,
        decide: Callable[[CampaignState, float], Mapping[str, object] | None],
        by: Person | None,
    ) -> Outcome:
        """Log a change, unless there is nothing to change."""

        def transaction(connection: Connection) -> Outcome:
            now = self._clock()
            if by is not None and active_person(connection, by.id).role != "lead":
                raise Refused("forbidden", "this is for leads")
            before = _state(_settled(connection, now), now)
            detail = decide(before, now)
            if detail is None:
                return Outcome(before, before)
            log_change(connection, kind, now, detail, None if by is None else by.id)
            return Outcome(before, _state(_logged(connection), now))

        return self._database.run(transaction)


def parse_moment(text: str) -> float:
    """Parse a date and time with a time zone.

    Args:
        text: The date and time, in ISO 8601.

    Returns:
        Seconds since 1970.

    Raises:
        Refused: It is none, or it lacks a time or a zone.

    >>> parse_moment("2026-12-01T18:00+01:00") == parse_moment("2026-12-01 17:00Z")
    True
    """
    text = text.strip()
    try:
        found = datetime.fromisoformat(text)
        if found.tzinfo is not None:
            return found.astimezone(UTC).timestamp()
    except (ValueError, OverflowError):  # no date and time, or one that is in no year from 1 to 9999 in UTC
        pass
    raise Refused(
        "invalid",
        "deadline: expected a date and time with a time zone, such as {example}, got '{got}'",
        example="2026-12-01T18:00+01:00",
        got=text,
    )


def moment(time: float) -> str:
    """Format a time in UTC.

    Args:
        time: Time, in seconds since 1970.

    >>> moment(1_796_144_400)
    '2026-12-01 17:00 UTC'
    """
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _state(log: _Log, now: float) -> CampaignState:
    """State at a time."""
    until = log.deadline
    if log.status == "closed" or until is None or not (log.ended or now >= until):
        return CampaignState(status=log.status, message=log.message, deadline=until, since=log.since)
    lapsed = log.lapsed or now >= until + GRACE
    return CampaignState(status="closed" if lapsed else "ending", deadline=until, since=log.since, lapsed=lapsed)


def _passed(log: _Log, state: CampaignState) -> Iterator[str]:
    """Kinds of the entries about a deadline that has passed which the log lacks."""
    if state.status == "ending" or state.lapsed:
        if not log.ended:
            yield "ended"
        if state.lapsed and not log.lapsed:
            yield "closed"


def _settled(connection: Connection, now: float) -> _Log:
    """Log a deadline that has passed; a lock lets one program change the state at a time."""
    lock_campaign(connection)
    log = _logged(connection)
    missing = list(_passed(log, _state(log, now)))
    for kind in missing:
        log_change(connection, kind, now, {"after": "deadline"})
    return _logged(connection) if missing else log


def _logged(connection: Connection) -> _Log:
    """State that the log of changes describes."""
    log = _Log()
    rows = connection.execute(sql.select(_CHANGES.time, _CHANGES.kind, _CHANGES.detail).order_by(_CHANGES.id))
    for when, kind, text in rows:
        detail = detail_of(text)
        if kind == "paused":
            log = log._replace(status="paused", message=str(detail.get("message", "")), since=when)
        elif kind == "resumed":
            log = _Log(since=when, deadline=None if log.ended else log.deadline)
        elif kind == "closed" and detail.get("after") == "deadline":
            log = log._replace(lapsed=True, since=when)
        elif kind == "closed":
            log = log._replace(status="closed", message=str(detail.get("message", "")), since=when)
        elif kind == "ended":
            log = log._replace(ended=True, since=when)
        elif kind == "deadline":
            until = detail.get("until")
            log = log._replace(deadline=until if isinstance(until, float | int) else None, ended=False, lapsed=False)
    return log
