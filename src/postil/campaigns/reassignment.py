"""Items that change hands: those of annotators who are removed, and the fair share of those who join late."""

from __future__ import annotations

from collections import Counter
from itertools import count, islice
from typing import TYPE_CHECKING, Final, NamedTuple

import sqlalchemy as sql

from postil.campaigns import tables
from postil.campaigns.item_assignment import generator
from postil.campaigns.items import plan_of
from postil.campaigns.models import Reassignment, Refused
from postil.campaigns.plan import presentation_order
from postil.campaigns.tables import GRADED, MOVED, OPEN, SKIPPED, AssignmentRow

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import numpy as np
    from sqlalchemy import Connection

    from postil.campaigns.models import Campaign, Presentation
    from postil.campaigns.tables import PersonRow

__all__ = [
    "SPARED",
    "Share",
    "fair_share",
    "give_share",
    "insert_annotator",
    "reassign_items",
    "reserve_items",
]


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
    answered: dict[str, set[Presentation]] = {name: set() for name in people}
    names = {row.id: name for name, row in people.items()}
    done = sql.select(table.c.person, table.c.item, table.c.round)
    for number, item, again in connection.execute(done.where(table.c.state.in_([GRADED, SKIPPED]))):
        answered[names[number]].add((item, again))
    # Items that the removed annotator skipped count as open: someone else may be able to rate them.
    skipped = done.where(table.c.person == removed.id, table.c.state == SKIPPED)
    answered[removed.pseudonym] -= {(item, again) for _, item, again in connection.execute(skipped)}
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


class _Items(NamedTuple):
    """Items of a campaign.

    Args:
        articles: Article of each item.
        gold: Numbers of the gold items.
        training: Numbers of those among them that annotators learn from.
    """

    articles: tuple[str, ...]
    gold: frozenset[int]
    training: frozenset[int]


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
    items = _items(connection)
    rows = [
        AssignmentRow(*row)
        for row in connection.execute(sql.select(table).where(table.c.state != MOVED).order_by(table.c.position))
    ]
    mates: dict[int, list[int]] = {number: [] for number in range(len(items.articles))}
    for row in rows:
        if row.round == 1:
            mates[row.item].append(row.person)
    wanted = dict.fromkeys(mates, campaign.annotators_per_item) | dict.fromkeys(
        campaign.overlapping, campaign.annotators_per_item + 1
    )
    nobody = [number for number, people in mates.items() if number not in items.gold and len(people) < wanted[number]]
    movable, load = _movable(rows, items, by_item=campaign.by_item)
    random = generator(campaign.seed, "late", newcomer)
    taken = fair_share(movable, load, mates, len(nobody), random)
    givers = {item: giver for unit, giver in taken.items() for item in unit}
    if not givers and not nobody:
        raise Refused("full", "there is no open item to give: those that are left are on screens, or nearly")
    mine = sorted([*items.gold, *nobody, *givers])
    order = presentation_order(mine, items.gold, items.articles, 0.0, random, together=campaign.by_item)
    order = (*sorted(order, key=lambda shown: shown[0] not in items.training),)  # these come first
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


def _items(connection: Connection) -> _Items:
    columns = tables.article.c.item, tables.item.c.gold, tables.item.c.purpose
    query = sql.select(*columns).join_from(tables.item, tables.article).order_by(tables.item.c.number)
    found = connection.execute(query).all()
    gold = frozenset(number for number, (_, label, _) in enumerate(found) if label is not None)
    training = frozenset(number for number, (_, _, purpose) in enumerate(found) if purpose == "training")
    return _Items(tuple(article for article, _, _ in found), gold, training & gold)


def _movable(
    rows: Sequence[AssignmentRow], items: _Items, *, by_item: bool
) -> tuple[dict[int, list[Unit]], Counter[int]]:
    """Units that each annotator can give, and the number of open items of each."""
    repeated = {(row.person, row.item) for row in rows if row.round > 1}
    seen: Counter[int] = Counter()
    load: Counter[int] = Counter()
    kept: set[tuple[int, object]] = set()  # of each annotator, units that stay
    units: dict[int, dict[object, list[int]]] = {}
    for row in rows:  # by position
        unit: object = items.articles[row.item] if by_item else row.item
        seen[row.person] += row.state == OPEN
        if row.item in items.gold or row.round > 1:
            continue
        load[row.person] += row.state == OPEN
        stays = row.state != OPEN or seen[row.person] <= SPARED or (row.person, row.item) in repeated
        if stays:
            kept.add((row.person, unit))
        units.setdefault(row.person, {}).setdefault(unit, []).append(row.item)
    movable = {
        person: [tuple(sorted(group)) for unit, group in of_person.items() if (person, unit) not in kept]
        for person, of_person in units.items()
    }
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
