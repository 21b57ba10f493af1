"""New items of an annotator, moved from the end of the presentation order among the open ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import sqlalchemy as sql

from postil.annotation import tables
from postil.annotation.compiled_sql import CompiledStatement
from postil.annotation.item_order import insert_items
from postil.annotation.people import active_person
from postil.annotation.tables import GRADED, MOVED, OPEN, SKIPPED
from postil.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import numpy as np
    from sqlalchemy import Connection

    from postil.annotation.database import Database
    from postil.annotation.models import Presentation

__all__ = ["interleave", "interleaved"]

HELD: Final = 2
"""Number of items after the one on the screen that an annotator's browser holds already."""

PER_TRANSACTION: Final = 60
"""Number of new items that one transaction moves."""

ATTEMPTS: Final = 3
"""Number of attempts while the annotator goes on; items that are not moved stay at the end of the order."""

Moves: TypeAlias = dict[int, int]
"""New position of each position that changes: a permutation."""


class _Row(NamedTuple):
    """An assignment of the annotator."""

    id: int
    item: int
    round: int
    position: int
    state: int


class _PassedError(UsageError):
    """The annotator, or a change of the plan, has reached the items to be moved."""


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
    for _ in range(ATTEMPTS):
        with database.reading(once=True) as connection:
            rows = _rows(connection, annotator)
        order = [(row.item, row.round) for row in rows]
        answered = {(row.item, row.round) for row in rows if row.state != OPEN}
        there = {row.position: row.id for row in rows}
        if list(there) != list(range(len(rows))):
            return  # another program is changing the order
        try:
            for moves in _moves(order, answered, first, random, articles):
                found = there.copy()
                database.run(lambda connection: _move(connection, annotator, moves, found))  # noqa: B023 - called at once
                there |= {new: found[old] for old, new in moves.items()}
        except _PassedError:
            continue
        return


def _moves(
    order: Sequence[Presentation],
    answered: Collection[Presentation],
    first: int,
    random: np.random.Generator,
    articles: Sequence[str] | None,
) -> Iterator[Moves]:
    """Permutations of positions that one after the other move the new items; each changes no position before it."""
    new = [position for position, (item, _) in enumerate(order) if item >= first]
    head = _head(order, answered)
    new = [position for position in new if position >= head]
    if not new:
        return
    if articles is not None:
        rest = [shown for shown in order if shown[0] < first]
        after = insert_items(
            tuple(rest), answered, [order[position][0] for position in new], random, articles, held=HELD
        )
        places = {shown: position for position, shown in enumerate(after)}
        whole = {old: places[shown] for old, shown in enumerate(order)}
        yield {old: place for old, place in whole.items() if old != place}
        return
    # An inside-out shuffle: each new item swaps places with a random one before it, or stays. An item that is repeated
    # stays where it is, so that its second round comes long after its first.
    repeated = {item for item, again in order if again > 1}
    movable = [position for position in range(head, new[0]) if order[position][0] not in repeated]
    for start in range(0, len(new), PER_TRANSACTION):
        at: Moves = {}  # which position's item is at a position
        for position in new[start : start + PER_TRANSACTION]:
            movable.append(position)
            other = movable[int(random.integers(len(movable)))]
            at[position], at[other] = at.get(other, other), at.get(position, position)
        yield {old: place for place, old in at.items() if old != place}


def _head(order: Sequence[Presentation], answered: Collection[Presentation]) -> int:
    """First position after the items that an annotator's browser holds."""
    done = set(answered)
    now = next((position for position, shown in enumerate(order) if shown not in done), len(order))
    last = max((position for position, shown in enumerate(order) if shown in done), default=-1)
    return max(now, last) + 1 + HELD


def _rows(connection: Connection, annotator: int) -> list[_Row]:
    table = tables.assignment.c
    columns = table.id, table.item, table.round, table.position, table.state
    mine = sql.select(*columns).where(table.person == annotator, table.state != MOVED).order_by(table.position)
    return list(map(_Row._make, connection.execute(mine)))


def _move(connection: Connection, annotator: int, moves: Moves, there: Mapping[int, int]) -> None:
    """Move assignments, if the annotator has not reached them.

    Args:
        connection: The database connection.
        annotator: Number of the annotator.
        moves: The permutation.
        there: Number of the assignment at each position.
    """
    table = tables.assignment
    if not moves:
        return
    active_person(connection, annotator, lock=True)
    mine = table.c.person == annotator
    answered = sql.select(sql.func.max(table.c.position)).where(mine, table.c.state.in_([GRADED, SKIPPED]))
    shown = sql.select(sql.func.min(table.c.position)).where(mine, table.c.state == OPEN)
    reached = [connection.execute(query).scalar() for query in (answered, shown)]
    last = min(moves)
    at = sql.select(table.c.position, table.c.id).where(mine, table.c.state == OPEN, table.c.position >= last)
    now = {position: number for position, number in connection.execute(at) if position in moves}
    if max(-1 if one is None else one for one in reached) + HELD >= last or any(
        now.get(position) != there[position] for position in moves
    ):
        raise _PassedError("the annotator has reached the items to be moved")
    _TO.many(connection, [{"number": there[old], "to": new} for old, new in moves.items()])


_TO: Final = CompiledStatement(
    tables.assignment.update()
    .where(tables.assignment.c.id == sql.bindparam("number"))
    .values(position=sql.bindparam("to")),
    tuple,
)
