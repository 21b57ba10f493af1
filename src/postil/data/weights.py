"""Weights methods: from grades, votes or given weights to the weight of each reference."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias

import numpy as np

from postil.data.explain import out_of_range
from postil.data.fields import is_number
from postil.data.row_locations import RowLocations
from postil.errors import InvalidInput, UnknownName, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.data.rows import Reference

__all__ = ["DEFAULT", "METHODS", "NEEDED", "Method", "default_method", "weigh", "weigh_grades"]

Floats: TypeAlias = "NDArray[np.float64]"
Integers: TypeAlias = "NDArray[np.int64]"
Values: TypeAlias = "NDArray[np.float64 | np.int64]"


class Scale(Protocol):
    """The ends of a scale of grades; `postil.data.scale.Scale` is one."""

    @property
    def low(self) -> float:
        """The lowest grade."""

    @property
    def high(self) -> float:
        """The highest grade."""


@dataclass(frozen=True, slots=True)
class Method:
    """A weights method.

    Args:
        name: Name in options and signatures.
        field: The field of a reference that it reads; the mean of the ratings stands in for a missing grade.
        formula: The formula as text, for people.
        apply: The formula: values, item of each, lowest and highest grade, to weights.
        from_zero: True if it needs a scale without negative grades.
        low: The lowest weight that it can give; the highest is 1.
    """

    name: str
    field: Literal["grade", "weight", "upvotes"]
    formula: str
    apply: Callable[[Values, Integers, float, float], Floats]
    from_zero: bool = False
    low: float = 0.0

    @property
    def needs_scale(self) -> bool:
        """True if it needs the scale, as all that read grades do."""
        return self.field == "grade"


def _score(grades: Values, _items: Integers, _low: float, high: float) -> Floats:
    return np.asarray(grades / high, np.float64)


def _minmax(grades: Values, _items: Integers, low: float, high: float) -> Floats:
    return np.asarray((grades - low) / (high - low), np.float64)


def _signed(grades: Values, _items: Integers, low: float, high: float) -> Floats:
    return np.asarray(2 * ((grades - low) / (high - low)) - 1, np.float64)


def _item_max(grades: Values, items: Integers, _low: float, _high: float) -> Floats:
    best = np.zeros(1 + items.max(initial=-1))
    np.maximum.at(best, items, grades)
    with np.errstate(invalid="ignore"):  # 0 / 0 becomes NaN, and `weigh` refuses the item
        return np.asarray(grades / best[items], np.float64)


def _votes(votes: Values, items: Integers, _low: float, _high: float) -> Floats:
    order = np.lexsort((np.invert(votes.astype(np.int64)), items))  # descending; -votes would overflow at -2**63
    first_of_item = np.r_[True, np.diff(items[order]) != 0][: len(order)]
    first_of_tie = first_of_item | np.r_[True, np.diff(votes[order]) != 0][: len(order)]
    position = np.arange(len(order))
    start = np.maximum.accumulate(np.where(first_of_item, position, 0))
    tie = np.maximum.accumulate(np.where(first_of_tie, position, 0))
    ranks = np.empty(len(order))
    ranks[order] = tie - start + 1
    size = np.bincount(items)[items] if len(items) else ranks
    return np.asarray(1 - np.log(ranks) / np.log(size + 1), np.float64)


def _given(values: Values, _items: Integers, _low: float, _high: float) -> Floats:
    return np.asarray(values, np.float64)


METHODS: Final[Mapping[str, Method]] = MappingProxyType(
    {
        method.name: method
        for method in (
            Method("score", "grade", "grade / high", _score, from_zero=True),
            Method("minmax", "grade", "(grade - low) / (high - low)", _minmax),
            Method("item-max", "grade", "grade / best grade of the item", _item_max, from_zero=True),
            Method("signed", "grade", "2 (grade - low) / (high - low) - 1", _signed, low=-1.0),
            Method("votes", "upvotes", "1 - ln(rank in the item) / ln(K + 1)", _votes),
            Method("given", "weight", "weight", _given, low=-1.0),
        )
    }
)
"""Every weights method by name.

In `votes`, K is the number of references of the item; rank 1 has the most votes, and equal votes share the best of
their ranks, so that the top has weight 1 and no weight is 0. `signed` and `given` can give negative weights, which
delta-BLEU alone takes; the other metrics refuse them.
"""

DEFAULT: Final = "score"
"""The method for grades; it fits the published tables best."""

NEEDED: Final = {
    "grade": "a w- metric needs a grade, ratings or a weight on every reference",
    "weight": "the weights method 'given' needs a weight on every reference",
    "upvotes": "the weights method 'votes' needs upvotes on every reference",
}
"""Demand on all references, by the field that a method reads."""


_NO_BEST = "the best grade of the item is 0, and 'item-max' divides by it; take score or minmax"


def default_method(references: Sequence[Reference]) -> str:
    """Choose the method for references where none is named.

    Args:
        references: The rows.

    Returns:
        `given` if the first row has a weight and no grade, else `score`. Never `votes`, which must be asked for.
    """
    if references and references[0].weight is not None and references[0].mean_grade is None:
        return "given"
    return DEFAULT


def weigh(
    references: Sequence[Reference],
    items: Integers,
    *,
    method: str = DEFAULT,
    scale: Scale | None = None,
    places: RowLocations | None = None,
) -> Floats:
    """Weights of references.

    Args:
        references: m rows, in any order.
        items: int64[m], index of the item that each belongs to, from 0.
        method: A name in `METHODS`.
        scale: The scale of the grades, for the methods that read grades.
        places: Locations of the rows, for messages.

    Returns:
        float64[m], in [0, 1], or in [-1, 1] for `signed` and `given`.

    Raises:
        UnknownName: There is no such method.
        UsageError: The method needs a scale, or another one.
        InvalidInput: A row lacks the field that the method reads, or its value is out of range; says where.

    >>> from postil.data.rows import Reference
    >>> from postil.data.scale import Scale
    >>> rows = [Reference("a", "yes", grade=4.0), Reference("a", "no", grade=2.0), Reference("b", "so so", grade=2.0)]
    >>> items = np.array([0, 0, 1])
    >>> weigh(rows, items, method="score", scale=Scale(0, 5)).tolist()
    [0.8, 0.4, 0.4]
    >>> weigh(rows, items, method="item-max", scale=Scale(0, 5)).tolist()
    [1.0, 0.5, 1.0]
    """
    chosen = _method(method, scale)
    places = places or RowLocations("references")
    if len(items) != len(references):
        raise UsageError(f"expected one item number for each of {len(references)} references, got {len(items)}")
    values = _column(references, chosen, places)
    low, high = _ends(chosen, scale)
    if chosen.field == "grade":
        _check_ratings(references, low, high, places)
    if chosen.field != "upvotes":
        for index in np.flatnonzero((values < low) | (values > high)).tolist():
            raise places.error(index, chosen.field, out_of_range(float(values[index]), low, high))
    weights = chosen.apply(values, items, low, high)
    for index in np.flatnonzero(np.isnan(weights)).tolist():
        raise places.error(index, chosen.field, f"{_NO_BEST} (item {references[index].item})")
    return weights


def weigh_grades(grades: Sequence[Sequence[float]], *, method: str, scale: Scale) -> list[list[float]]:
    """Weights of grades in nested lists; called by `postil.data.scale.Scale.weights`.

    Args:
        grades: For each item the grades of its references.
        method: The name of a method that reads grades.
        scale: The scale of the grades.

    Returns:
        The weights, in the shape of `grades`.

    Raises:
        UnknownName: There is no such method.
        UsageError: The method does not read grades, or does not go with the scale.
        InvalidInput: A grade is no number or is not on the scale; the message says which.
    """
    chosen = _method(method, scale)
    if chosen.field != "grade":
        known = ", ".join(name for name, each in METHODS.items() if each.field == "grade")
        raise UsageError(f"the weights method '{method}' does not read grades; these do: {known}")
    low, high = _ends(chosen, scale)
    for item, row in enumerate(grades):
        for position, grade in enumerate(row):
            if not is_number(grade) or not low <= grade <= high:
                raise InvalidInput(out_of_range(grade, low, high), where=f"grades[{item}][{position}]")
    sizes = [len(row) for row in grades]
    values = np.array([grade for row in grades for grade in row], np.float64)
    weights = chosen.apply(values, np.repeat(np.arange(len(sizes)), sizes), low, high)
    ends = np.cumsum(sizes, dtype=np.int64)
    for index in np.flatnonzero(np.isnan(weights)):
        raise InvalidInput(_NO_BEST, where=f"grades[{int(np.searchsorted(ends, index, side='right'))}]")
    return [part.tolist() for part in np.split(weights, ends[:-1])] if sizes else []


def _method(name: str, scale: Scale | None) -> Method:
    UnknownName.check("weights method", name, METHODS)
    method = METHODS[name]
    if method.needs_scale and scale is None:
        raise UsageError(f"the weights method '{name}' needs the scale of the grades, for example 5 or 1:5")
    if method.from_zero and scale is not None and scale.low < 0:
        raise UsageError(f"the weights method '{name}' needs a scale without negative grades, got {scale}; take minmax")
    return method


def _ends(method: Method, scale: Scale | None) -> tuple[float, float]:
    return (scale.low, scale.high) if method.needs_scale and scale is not None else (method.low, 1.0)


def _column(references: Sequence[Reference], method: Method, places: RowLocations) -> Values:
    """Values of the field that the method reads, of all rows."""
    field = "mean_grade" if method.field == "grade" else method.field
    column = list(map(attrgetter(field), references))
    if None in column:
        index = column.index(None)
        there = places.fields(index)
        asked = f" (is the field misspelt? this row has: {', '.join(there)})" if there else ""
        if method.field == "grade" and references[index].weight is not None:
            asked = "; this row has a weight, which only the weights method 'given' reads"
        raise places.error(index, method.field, f"missing; {NEEDED[method.field]}{asked}")
    return np.array(column, np.int64 if method.field == "upvotes" else np.float64)


def _check_ratings(references: Sequence[Reference], low: float, high: float, places: RowLocations) -> None:
    for index, row in enumerate(references):
        if row.grade is None:
            for position, rating in enumerate(row.ratings):
                if not low <= rating.grade <= high:
                    problem = out_of_range(rating.grade, low, high)
                    raise places.error(index, f"ratings[{position}].grade", problem)
