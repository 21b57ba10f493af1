"""Maxima of items: ratings as shares of them, and grades of them again.

Where each item has a highest grade of its own, as the points of a question, grades of two items are on two scales, and
neither their mean nor a fit to them means anything before each is divided by its maximum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from postil.data.explain import counted, out_of_range, shown
from postil.data.frames import open_rows
from postil.data.grades import Scale
from postil.data.row_locations import LocatedRows
from postil.data.rows import Maximum
from postil.data.wide import words_around
from postil.errors import InvalidInput
from postil.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.data.frames import ColumnNames, Table
    from postil.data.rows import Judgement

__all__ = ["ROLE", "SHARES", "as_shares", "maxima_of", "open_maxima"]

ROLE: Final = "maxima"
"""Name of the table of maxima, in options of reading and in messages."""

SHARES: Final = Scale(0, 1)
"""Scale of the shares."""


def open_maxima(table: Table, names: ColumnNames) -> dict[str, float]:
    """Open a table of maxima; of several rows of an item the highest counts.

    Args:
        table: Rows of item and maximum, such as the model answers of questions with their points.
        names: Names of its columns.

    Raises:
        InvalidInput: A row is wrong, or an item has no maximum above 0.
    """
    rows = open_rows(table, Maximum, ROLE, names)
    found: dict[str, float] = {}
    first: dict[str, int] = {}
    for place, row in enumerate(rows):
        found[row.item] = max(row.maximum, found.get(row.item, row.maximum))
        first.setdefault(row.item, place)
    if not found:
        raise InvalidInput("expected the maximum of each item, got no rows", where=rows.places.where)
    for item, maximum in found.items():
        if maximum <= 0:
            problem = f"expected a maximum above 0 for item {shown(item)}, got {maximum:g}"
            raise rows.places.error(first[item], "maximum", problem)
    return found


def as_shares(judgements: LocatedRows[Judgement], maxima: Mapping[str, float]) -> LocatedRows[Judgement]:
    """Ratings as shares of the maximum of their item: grade / maximum, from 0 to 1.

    Args:
        judgements: The ratings, from 0 to the maximum of their item.
        maxima: Maximum of each item.

    Raises:
        InvalidInput: While they are read: a rating is off its range, or its item has no maximum.

    >>> from postil.data.row_locations import located
    >>> from postil.data.rows import Judgement
    >>> rows = located([Judgement("1", "a", "ann", 3.0), Judgement("2", "a", "ann", 1.0)], "judgements")
    >>> [row.grade for row in as_shares(rows, {"1": 4.0, "2": 2.0})]
    [0.75, 0.5]
    """

    def shares() -> Iterator[Judgement]:
        for place, row in enumerate(judgements):
            maximum = maxima.get(row.item)
            if maximum is None:
                remedy = words_around(row.item, maxima, judgements.places.column("grade"), "judgements")
                lacking = Message("{problem}{remedy}", problem=_lacking(row.item, maxima), remedy=remedy)
                raise judgements.places.error(place, "item", lacking)
            if not 0 <= row.grade <= maximum:
                problem = f"{out_of_range(row.grade, 0, maximum)}; {maximum:g} is the maximum of item {shown(row.item)}"
                raise judgements.places.error(place, "grade", problem)
            yield replace(row, grade=row.grade / maximum)

    return LocatedRows(shares(), judgements.places, judgements.left_out)


def maxima_of(items: Sequence[str], maxima: Mapping[str, float]) -> list[float]:
    """Maximum of each of some items.

    Args:
        items: The items.
        maxima: Maximum of each item.

    Raises:
        InvalidInput: An item has none.
    """
    for item in items:
        if item not in maxima:
            raise InvalidInput(_lacking(item, maxima), where=ROLE)
    return [maxima[item] for item in items]


def _lacking(item: str, maxima: Mapping[str, float]) -> str:
    known = f"{counted(len(maxima), 'item')}, first {shown(next(iter(maxima)))}"
    return f"item {shown(item)} has no maximum; there are maxima of {known}"
