"""New items of an annotator, moved from the end of the presentation order among the open ones."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import sqlalchemy as sql

from postil.campaigns import tables
from postil.campaigns.compiled_sql import CompiledStatement
from postil.campaigns.item_order import insert_items
from postil.campaigns.people import active_person
from postil.campaigns.tables import GRADED, MOVED, OPEN, SKIPPED
from postil.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    import numpy as np
    from sqlalchemy import Connection

    from postil.campaigns.database import Database
    from postil.campaigns.models import Presentation

__all__ = ["interleave", "interleaved"]

HELD: Final = 2
"""Number of items after the one on the screen that an annotator's browser holds already."""

PER_TRANSACTION: Final = 60
"""Number of new items that one transaction moves."""

ATTEMPTS: Final = 3
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
        _attempt(database, annotator, lambda connection: _by_article(connection, annotator, first, random, articles))
        return
    with database.reading() as connection:
        place = _place(connection, annotator, first)
    for start in range(place.new, place.end, PER_TRANSACTION):
        part = range(start, min(place.end, start + PER_TRANSACTION))
        _attempt(
            database,
            annotator,
            lambda connection: _shuffled(_reached(connection, annotator) + 1, part, place.pinned, random),  # noqa: B023
        )


def _attempt(database: Database, annotator: int, planned: Callable[[Connection], Moves]) -> None:
    """Plan moves and make them; plan them again where the annotator has passed the first of them meanwhile."""
    for _ in range(ATTEMPTS):
        with database.reading() as connection:
            moves = planned(connection)
            rows = _rows(connection, annotator, moves)
        with suppress(UsageError):  # the annotator has passed them, or was removed
            if rows:
                database.run(partial(_move, annotator=annotator, first=min(moves), rows=rows))
            return


class _Place(NamedTuple):
    """Positions of new items at the end of an order, and those of the items that must stay where they are."""

    new: int
    end: int
    pinned: Collection[int]


def _moves(
    order: Sequence[Presentation],
    answered: Collection[Presentation],
    first: int,
    random: np.random.Generator,
    articles: Sequence[str] | None,
) -> Iterator[Moves]:
    """Permutations of positions that one after the other move the new items."""
    done = set(answered)
    now = next((position for position, shown in enumerate(order) if shown not in done), len(order))
    last = max((position for position, shown in enumerate(order) if shown in done), default=-1)
    head = max(now, last) + 1 + HELD
    new = next((position for position, (item, _) in enumerate(order) if item >= first), len(order))
    if articles is None:
        repeated = {item for item, again in order if again > 1}
        pinned = {position for position, (item, _) in enumerate(order) if item in repeated}
        for start in range(new, len(order), PER_TRANSACTION):
            yield _shuffled(head, range(start, min(len(order), start + PER_TRANSACTION)), pinned, random)
    elif max(new, head) < len(order):
        fresh = [item for item, _ in order[max(new, head) :]]
        after = insert_items(tuple(order[: max(new, head)]), answered, fresh, random, articles, held=HELD)
        places = {shown: position for position, shown in enumerate(after)}
        yield {old: places[shown] for old, shown in enumerate(order) if places[shown] != old}


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
_HERE: Final = tables.assignment.c.state != MOVED
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


def _place(connection: Connection, annotator: int, first: int) -> _Place:
    """Positions of the new items at the end of an annotator's order."""
    table, of = tables.assignment.c, {"annotator": annotator}
    ends = sql.select(sql.func.min(table.position), sql.func.count()).where(_MINE, _HERE, table.item >= first)
    new, count = connection.execute(ends, of).one()
    again = sql.select(table.item).where(_MINE, _HERE, table.round > 1)
    pinned = sql.select(table.position).where(_MINE, _HERE, table.item.in_(again))
    return _Place(new or 0, (new or 0) + count, set(connection.execute(pinned, of).scalars()))


def _by_article(
    connection: Connection, annotator: int, first: int, random: np.random.Generator, articles: Sequence[str]
) -> Moves:
    """Moves of all new items of an annotator, those of an article in a row."""
    table = tables.assignment.c
    mine = sql.select(table.item, table.round, table.state).where(_MINE, _HERE).order_by(table.position)
    rows = connection.execute(mine, {"annotator": annotator}).all()
    answered = {(item, again) for item, again, state in rows if state != OPEN}
    return next(_moves([(item, again) for item, again, _ in rows], answered, first, random, articles), {})


def _rows(connection: Connection, annotator: int, moves: Moves) -> list[dict[str, object]]:
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
