"""Annotators who join after the plan was made: a fair share of the open items of the others."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

import sqlalchemy as sql

from postil.campaigns import tables
from postil.campaigns.item_assignment import generator
from postil.campaigns.item_order import presentation_order
from postil.campaigns.models import Refused
from postil.campaigns.reassignment import update_counts
from postil.campaigns.tables import MOVED, OPEN, AssignmentRow

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import numpy as np
    from sqlalchemy import Connection

    from postil.campaigns.models import Campaign

__all__ = ["SPARED", "Share", "fair_share", "give_share"]

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
