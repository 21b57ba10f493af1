from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.data.grades import Scale
from postil.errors import InvalidInput, UnknownName, UsageError

FINITE = st.floats(min_value=-1e300, max_value=1e300)


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
    with pytest.raises(UsageError):
        Scale.parse(text)


def test_messages_of_parse() -> None:
    with pytest.raises(UsageError, match=r'^scale "1-5": expected HIGH or LOW:HIGH, for example 5 or 1:5$'):
        Scale.parse("1-5")
    with pytest.raises(UsageError, match=r"^a scale's highest grade is above its lowest, got 5 to 1$"):
        Scale.parse("5:1")
    with pytest.raises(UsageError, match=r'^scale "nan": expected HIGH or LOW:HIGH, for example 5 or 1:5$'):
        Scale.parse("nan")
    wrong: Any = "1"
    with pytest.raises(UsageError, match=r'^low: expected a number, got "1"$'):
        Scale(wrong, 5)


def test_print() -> None:
    assert str(Scale(1, 5)) == "1:5"
    assert str(Scale(0, 2.5)) == "0:2.5"


@given(FINITE, FINITE)
def test_the_printed_scale_parses_back(one: float, other: float) -> None:
    if one != other:
        scale = Scale(min(one, other), max(one, other))
        assert Scale.parse(str(scale)) == scale


def test_check() -> None:
    scale = Scale(1, 5)
    assert scale.check(1) is None
    assert scale.check(5) is None
    assert scale.check(2.25) is None
    assert scale.check(7) == "expected a number from 1 to 5, got 7"
    assert scale.check(0.5) == "expected a number from 1 to 5, got 0.5"
    assert scale.check(float("nan")) == "expected a number from 1 to 5, got NaN"
    assert scale.check(5.000000000000001) == "expected a number from 1 to 5, got 5.000000000000001"


def test_weights_of_nested_lists() -> None:
    scale = Scale(1, 5)
    grades = [[5, 3], [], [1], [2, 4, 4]]
    # Each grade by 5.
    assert scale.weights(grades) == [[1.0, 0.6], [], [0.2], [0.4, 0.8, 0.8]]
    # How far above 1, by 4.
    assert scale.weights(grades, method="minmax") == [[1.0, 0.5], [], [0.0], [0.25, 0.75, 0.75]]
    # Each grade by the best of its item: 5, none, 1, 4.
    assert scale.weights(grades, method="item-max") == [[1.0, 0.6], [], [1.0], [0.5, 1.0, 1.0]]
    # Twice the second, less 1.
    assert scale.weights(grades, method="signed") == [[1.0, 0.0], [], [-1.0], [-0.5, 0.5, 0.5]]
    assert scale.weights([]) == []
    assert scale.weights([[], []]) == [[], []]


@pytest.mark.parametrize(
    ("bad", "got"), [(7, "7"), (True, "true"), ("3", '"3"'), (float("nan"), "NaN"), (None, "null")]
)
def test_weights_say_which_grade_is_wrong(bad: Any, got: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Scale(1, 5).weights([[1, 2], [3, 4, bad]])
    assert str(caught.value) == f"grades[1][2]: expected a number from 1 to 5, got {got}"


def test_weights_by_a_method_that_does_not_fit() -> None:
    with pytest.raises(UnknownName, match=r"^unknown weights method 'minmacs'; did you mean 'minmax'"):
        Scale(1, 5).weights([[1]], method="minmacs")
    with pytest.raises(UsageError, match=r"'votes' does not read grades; these do: score, minmax, item-max, signed$"):
        Scale(1, 5).weights([[1]], method="votes")
    with pytest.raises(
        UsageError, match=r"^the weights method 'score' needs a scale without negative grades, got -1:1"
    ):
        Scale(-1, 1).weights([[1]])
    with pytest.raises(
        InvalidInput, match=r"^grades\[2\]: the best grade of the item is 0, and 'item-max' divides by it"
    ):
        Scale(0, 5).weights([[0, 1], [], [0, 0]], method="item-max")
