"""Grades: the scale that they are given on, and the weights of references by grades, votes or given weights."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from postil.data.arguments import check_arguments, check_fields
from postil.data.explain import out_of_range, shown
from postil.data.fields import is_number
from postil.data.row_locations import RowLocations
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.messages import Blank, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.data.rows import Reference

__all__ = [
    "DEFAULT",
    "METHODS",
    "NEEDED",
    "SCALE_SETTING",
    "Method",
    "Scale",
    "default_method",
    "weigh",
    "weigh_grades",
]

Floats: TypeAlias = "NDArray[np.float64]"
Integers: TypeAlias = "NDArray[np.int64]"
Values: TypeAlias = "NDArray[np.float64 | np.int64]"


DEFAULT: Final = "score"
"""The method for grades; it fits the published tables best."""

SCALE_SETTING: Final = Setting("scale", Blank("LOW:HIGH"), python="postil.Scale(LOW, HIGH)")
"""The setting of a scale, for messages that ask for one."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A scale of grades: its lowest and highest grade, and the rubric.

    Args:
        low: The lowest grade, finite.
        high: The highest grade, finite and above `low`.
        words: Names of the grades, from the lowest up; no number depends on them.

    Raises:
        UsageError: The two ends are not finite numbers, or `high` is not above `low`.

    >>> Scale(1, 5, words=("useless", "poor", "fair", "good", "excellent"))
    Scale(low=1.0, high=5.0, words=('useless', 'poor', 'fair', 'good', 'excellent'))
    """

    low: float
    high: float
    words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "low", float(self.low))
        object.__setattr__(self, "high", float(self.high))
        object.__setattr__(self, "words", tuple(self.words))
        if not 0 < self.high - self.low < math.inf:
            raise UsageError(f"a scale's highest grade is above its lowest, got {self.low:g} to {self.high:g}")

    @classmethod
    def parse(cls, text: str) -> Scale:
        """Parse a scale as written on the command line.

        Args:
            text: `HIGH`, then the lowest grade is 0, or `LOW:HIGH`.

        Returns:
            The scale, without words.

        Raises:
            UsageError: The text is neither, or its numbers make no scale.

        >>> str(Scale.parse("5")), str(Scale.parse("1:5"))
        ('0:5', '1:5')
        """
        check_arguments(cls.parse, locals())
        low, colon, high = text.partition(":")
        try:
            ends = (float(low), float(high)) if colon else (0.0, float(low))
        except ValueError:
            ends = math.nan, math.nan
        if not all(map(math.isfinite, ends)):
            raise UsageError(f"scale {shown(text)}: expected HIGH or LOW:HIGH, for example 5 or 1:5")
        return cls(*ends)

    def __str__(self) -> str:
        return ":".join(repr(end).removesuffix(".0") for end in (self.low, self.high))

    def check(self, grade: float) -> str | None:
        """Describe the problem with a grade, if there is one.

        Args:
            grade: The grade.

        Returns:
            None if the grade is on the scale, else the problem in words.

        >>> Scale(1, 5).check(4), Scale(1, 5).check(7)
        (None, 'expected a number from 1 to 5, got 7')
        """
        with suppress(TypeError):  # no number at all
            if self.low <= grade <= self.high:
                return None
        return out_of_range(grade, self.low, self.high)

    def weights(self, grades: Sequence[Sequence[float]], method: str = DEFAULT) -> list[list[float]]:
        """Turn the grades of references into weights.

        Args:
            grades: For each item the grades of its references.
            method: `score`, `minmax`, `item-max` or `signed`; see `METHODS`.

        Returns:
            The weights, in the shape of `grades`.

        Raises:
            UnknownName: There is no such method.
            UsageError: The method does not take grades, or does not go with this scale.
            InvalidInput: A grade is no number or is not on the scale; the message says which.

        >>> Scale(1, 5).weights([[5, 3], [], [1]], method="minmax")
        [[1.0, 0.5], [], [0.0]]
        """
        check_arguments(self.weights, locals())
        return weigh_grades(grades, method=method, scale=self)


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
    >>> from postil.data.grades import Scale
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
    """Weights of grades in nested lists; called by `Scale.weights`.

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
