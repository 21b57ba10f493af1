"""Scales of grades, and weights of references."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.data.grades import METHODS, Scale, default_method, weigh
from postil.data.row_files import read
from postil.data.row_locations import RowLocations
from postil.data.rows import Rating, Reference
from postil.errors import InvalidInput, UnknownName, UsageError
from refusals import refused

if TYPE_CHECKING:
    from conftest import File

FINITE = st.floats(min_value=-1e300, max_value=1e300)
SCALE = Scale(1, 5)
# Items 0, 1, 0, 2, 0, 1: the rows of an item need not stand together.
ITEMS = np.array([0, 1, 0, 2, 0, 1])
GRADED = [Reference(f"i{item}", "text", grade=grade) for item, grade in zip(ITEMS, [4, 2, 1, 5, 2, 1], strict=True)]


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [("5", 0, 5), ("1:5", 1, 5), ("-1:1", -1, 1), ("0.5:2.5", 0.5, 2.5), (" 1 : 5 ", 1, 5), ("1e2", 0, 100)],
)
def test_parse(text: str, low: float, high: float) -> None:
    assert Scale.parse(text) == Scale(low, high)


@pytest.mark.parametrize(
    "text", ["", "a", "1:", ":5", "1:5:7", "1-5", "5:1", "1:1", "nan", "0:inf", "-1", "-1e308:1e308"]
)
def test_what_makes_no_scale(text: str) -> None:
    said = refused(UsageError, Scale.parse, text)
    expected = f'scale "{text}": expected HIGH or LOW:HIGH, for example 5 or 1:5'
    assert said == expected or said.startswith("a scale's highest grade is above its lowest, got ")


def test_messages_of_scales() -> None:
    assert refused(UsageError, Scale.parse, "5:1") == "a scale's highest grade is above its lowest, got 5 to 1"
    assert refused(UsageError, Scale, "1", 5) == 'low: expected a number, got "1"'


@given(FINITE, FINITE)
def test_the_printed_scale_parses_back(one: float, other: float) -> None:
    assert (str(Scale(1, 5)), str(Scale(0, 2.5))) == ("1:5", "0:2.5")
    if one != other:
        scale = Scale(min(one, other), max(one, other))
        assert Scale.parse(str(scale)) == scale


def test_check() -> None:
    assert [SCALE.check(grade) for grade in (1, 5, 2.25)] == [None] * 3
    for grade, shown in ((7, "7"), (0.5, "0.5"), (float("nan"), "NaN"), (5.000000000000001, "5.000000000000001")):
        assert SCALE.check(grade) == f"expected a number from 1 to 5, got {shown}"


def test_weights_of_nested_lists() -> None:
    grades = [[5, 3], [], [1], [2, 4, 4]]
    # Each grade by 5.
    assert SCALE.weights(grades) == [[1.0, 0.6], [], [0.2], [0.4, 0.8, 0.8]]
    # How far above 1, by 4.
    assert SCALE.weights(grades, method="minmax") == [[1.0, 0.5], [], [0.0], [0.25, 0.75, 0.75]]
    # Each grade by the best of its item: 5, none, 1, 4.
    assert SCALE.weights(grades, method="item-max") == [[1.0, 0.6], [], [1.0], [0.5, 1.0, 1.0]]
    # Twice the second, less 1.
    assert SCALE.weights(grades, method="signed") == [[1.0, 0.0], [], [-1.0], [-0.5, 0.5, 0.5]]
    assert (SCALE.weights([]), SCALE.weights([[], []])) == ([], [[], []])


@pytest.mark.parametrize(
    ("bad", "got"), [(7, "7"), (True, "true"), ("3", '"3"'), (float("nan"), "NaN"), (None, "null")]
)
def test_weights_say_which_grade_is_wrong(bad: Any, got: str) -> None:
    said = refused(InvalidInput, SCALE.weights, [[1, 2], [3, 4, bad]])
    assert said == f"grades[1][2]: expected a number from 1 to 5, got {got}"


def test_weights_by_a_method_that_does_not_fit() -> None:
    said = refused(UnknownName, SCALE.weights, [[1]], method="minmacs")
    assert said.startswith("unknown weights method 'minmacs'; did you mean 'minmax'")
    said = refused(UsageError, SCALE.weights, [[1]], method="votes")
    assert said.endswith("'votes' does not read grades; these do: score, minmax, item-max, signed")
    said = refused(UsageError, Scale(-1, 1).weights, [[1]])
    assert said.startswith("the weights method 'score' needs a scale without negative grades, got -1:1")
    said = refused(InvalidInput, Scale(0, 5).weights, [[0, 1], [], [0, 0]], method="item-max")
    assert said.startswith("grades[2]: the best grade of the item is 0, and 'item-max' divides by it")


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("score", [0.8, 0.4, 0.2, 1.0, 0.4, 0.2]),  # grade / 5
        ("minmax", [0.75, 0.25, 0.0, 1.0, 0.25, 0.0]),  # (grade - 1) / 4
        ("item-max", [1.0, 1.0, 0.25, 1.0, 0.5, 0.5]),  # bests: item 0 has 4, item 1 has 2, item 2 has 5
        ("signed", [0.5, -0.5, -1.0, 1.0, -0.5, -1.0]),  # 2 (grade - 1) / 4 - 1
    ],
)
def test_methods_that_read_grades(method: str, expected: list[float]) -> None:
    assert weigh(GRADED, ITEMS, method=method, scale=SCALE).tolist() == expected


def test_votes() -> None:
    # Item 0, K = 4: votes 10, 3, 3, -2 have ranks 1, 2, 2, 4; the weight is 1 - ln(rank) / ln(5).
    # Item 1, K = 1: rank 1.
    votes, items = [3, 10, 7, -2, 3], np.array([0, 0, 1, 0, 0])
    rows = [Reference("i", "text", upvotes=count) for count in votes]
    two, four = 1 - math.log(2) / math.log(5), 1 - math.log(4) / math.log(5)
    np.testing.assert_allclose(weigh(rows, items, method="votes"), [two, 1.0, 1.0, four, two], rtol=1e-15)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 2)), max_size=20))
def test_votes_by_counting(rows: list[tuple[int, int]]) -> None:
    references = [Reference(str(item), "text", upvotes=votes) for item, votes in rows]
    found = weigh(references, np.array([item for item, _ in rows], np.int64), method="votes")
    for (item, votes), weight in zip(rows, found.tolist(), strict=True):
        others = [count for other, count in rows if other == item]
        rank = 1 + sum(count > votes for count in others)
        assert weight == pytest.approx(1 - math.log(rank) / math.log(len(others) + 1))
        assert 0 < weight <= 1


def test_given_weights_and_mean_ratings() -> None:
    rows = [Reference("i", "text", weight=weight) for weight in (0.25, 1.0, -1.0)]
    assert weigh(rows, np.array([0, 0, 1]), method="given").tolist() == [0.25, 1.0, -1.0]
    ratings = (Rating("x", 2.0), Rating("y", 5.0))
    rows = [Reference("i", "text", ratings=ratings), Reference("i", "text", grade=5.0, ratings=ratings)]
    assert weigh(rows, np.array([0, 0]), scale=SCALE).tolist() == [0.7, 1.0]  # (2 + 5) / 2 / 5; the agreed grade


@given(st.sampled_from(sorted(METHODS)), st.lists(st.tuples(st.integers(0, 4), st.floats(0.25, 4.75)), min_size=1))
def test_the_range_of_every_method(method: str, rows: list[tuple[int, float]]) -> None:
    references = [
        Reference(str(item), "text", grade=grade, weight=grade / 5, upvotes=int(grade)) for item, grade in rows
    ]
    items = np.array([item for item, _ in rows])
    found = weigh(references, items, method=method, scale=Scale(0.25, 4.75))
    assert METHODS[method].low <= found.min()
    assert found.max() <= 1
    assert weigh([], np.array([], np.int64), method=method, scale=SCALE).shape == (0,)


def test_the_default_method() -> None:
    assert default_method([]) == default_method(GRADED) == "score"
    assert default_method([Reference("i", "text", weight=0.5)]) == "given"
    assert default_method([Reference("i", "text", upvotes=3)]) == "score"


def test_methods_and_scales() -> None:
    needing = [name for name, method in METHODS.items() if method.needs_scale]
    assert needing == ["score", "minmax", "item-max", "signed"]
    for name in needing:
        said = refused(UsageError, weigh, GRADED, ITEMS, method=name)
        assert said.startswith(f"the weights method '{name}' needs the scale of the grades, for example")
    for name in ("score", "item-max"):
        said = refused(UsageError, weigh, GRADED, ITEMS, method=name, scale=Scale(-1, 5))
        assert said.endswith("needs a scale without negative grades, got -1:5; take minmax")
    said = refused(UsageError, weigh, GRADED, ITEMS[:2], scale=SCALE)
    assert said == "expected one item number for each of 6 references, got 2"


GOOD = Reference("i", "text", grade=3.0)
NEEDED = "missing; a w- metric needs a grade, ratings or a weight on every reference"
# The mean of 9 and 1 is 5, which is on the scale; 9 is not.
RATED = Reference("i", "text", ratings=(Rating("x", 1.0), Rating("y", 9.0)))
ZEROS = [Reference("a7", "text", grade=0.0), Reference("a7", "more", grade=0.0)]


@pytest.mark.parametrize(
    ("rows", "method", "said"),
    [
        ([GOOD, Reference("i", "t", grade=7.0)], "score", "2: grade: expected a number from 1 to 5, got 7"),
        ([GOOD, RATED], "score", "2: ratings[1].grade: expected a number from 1 to 5, got 9"),
        ([Reference("i", "t", weight=1.5)], "given", "1: weight: expected a number from -1 to 1, got 1.5"),
        ([GOOD, Reference("i", "text", upvotes=3)], "score", f"2: grade: {NEEDED}"),
        ([GOOD], "votes", "1: upvotes: missing; the weights method 'votes' needs upvotes on every reference"),
        ([GOOD], "given", "1: weight: missing; the weights method 'given' needs a weight on every reference"),
        (
            [GOOD, Reference("i", "text", weight=0.5)],
            "score",
            f"2: grade: {NEEDED}; this row has a weight, which only the weights method 'given' reads",
        ),
        (
            ZEROS,
            "item-max",
            "1: grade: the best grade of the item is 0, and 'item-max' divides by it; take score or minmax (item a7)",
        ),
    ],
)
def test_rows_that_have_no_weight(rows: list[Reference], method: str, said: str) -> None:
    scale = Scale(0, 5) if rows is ZEROS else SCALE
    items, places = np.zeros(len(rows), np.int64), RowLocations("refs.jsonl")
    assert refused(InvalidInput, weigh, rows, items, method=method, scale=scale, places=places) == f"refs.jsonl:{said}"


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz"])
def test_a_misspelt_field_is_shown(file: File, ending: str) -> None:
    path = file(f"refs.{ending}", '{"item":1,"text":"a","grade":4}\n\n{"item":1,"text":"b","grad":4}\n')
    rows = read(path, Reference)
    said = refused(InvalidInput, weigh, list(rows), np.array([0, 0]), scale=SCALE, places=rows.places)
    assert said == f"{path}:3: grade: {NEEDED} (is the field misspelt? this row has: item, text, grad)"


def test_a_misspelt_field_of_an_array_is_shown(file: File) -> None:
    path = file("refs.json", '[{"item":1,"text":"a","grade":4},{"item":1,"text":"b","grad":4}]')
    rows = read(path, Reference)
    said = refused(InvalidInput, weigh, list(rows), np.array([0, 0]), scale=SCALE, places=rows.places)
    assert said == f"{path}:2: grade: {NEEDED} (is the field misspelt? this row has: item, text, grad)"
