"""Grades of labels: only those that somebody gave."""

from __future__ import annotations

import pytest

from postil.campaigns.imports.calls import given_grades, grade_in, grades_of
from postil.errors import UsageError
from postil.messages import COMMAND_LINE


@pytest.mark.parametrize(
    ("label", "grade"),
    [
        ("4", 4),
        (" -1 ", -1),
        ("−1", -1),
        ("4.5", 4.5),
        ("4. good", 4),
        ("4.good", 4),
        ("4) good", 4),
        ("4: (very) good", 4),
        ("2.5: fair", 2.5),
        ("4：好", 4),
        ("1. Strongly agree (1)", 1),
        ("Agree (5)", 5),
        ("Agree [ 5 ]", 5),
        ("很好（5）", 5),
        ("(4)", 4),
    ],
)
def test_numbers_that_labels_give(label: str, grade: float) -> None:
    assert grade_in(label) == grade
    assert grades_of("q", [label], {label: 2.5}, None) in ({label: 2.5}, {label: grade})
    assert grades_of("q", [label], given_grades([f"{label}=2.5"]), None) == {label: 2.5}


@pytest.mark.parametrize(
    "label",
    [
        "GPT-4",
        "GPT 4",
        "4,5",
        "1,000",
        "1_000",
        "26-50%",
        "50%",
        "4-5",
        "4 - good",
        "4 stars",
        "-1 bad",
        "level 4",
        "scale_4",
        "(4) good",
        "4 (5)",
        "4. Agree (5)",
        pytest.param(f"{'9' * 400}. good", id="a number that leads beyond all floats"),
        pytest.param(f"good ({'9' * 400})", id="a number in brackets beyond all floats"),
        "4:",
        "12:30",
        "3.14 is pi",
        "1. 0-25%",
        "2) 3 of 4",
        "good (4 of 5)",
        "v2.1",
        "1.2.3",
        "2024-05-01",
        "nan",
        "½",
        "",
    ],
)
def test_labels_that_give_none(label: str) -> None:
    assert grade_in(label, (1, 5)) is None
    with pytest.raises(UsageError, match="has no grade; give it one: grade="):
        grades_of("q", [label], {}, (1, 5))
    assert grades_of("q", [label], {label.strip(): 2.5}, None) == {label: 2.5}


@pytest.mark.parametrize(
    ("label", "scale", "grade"),
    [
        ("1 of 5", None, None),
        ("1 of 5", (1, 5), 1),
        ("1 of 5", (1, 7), None),
        ("3/5", (0, 5), 3),
        ("3 / 5", (0, 5), 3),
        ("2 Out of 5", (1, 5), 2),
        ("0 of 5", (1, 5), None),
        ("6/5", (1, 5), None),
        ("1 of the 5", (1, 5), None),
    ],
)
def test_shares_of_a_scale(label: str, scale: tuple[float, float] | None, grade: float | None) -> None:
    assert grade_in(label, scale) == grade


def test_all_labels_without_a_grade_are_named() -> None:
    with pytest.raises(UsageError) as caught:
        grades_of("q", ["GPT-4", "so-so", "it's", "GPT-4", "2/7", 3.0], {"so-so": 2.0}, None)
    assert caught.value.words(COMMAND_LINE) == (
        "q: the labels '2/7', 'GPT-4', 'it's' have no grade; give each one: --grade '2/7=N' --grade 'GPT-4=N' "
        "--grade 'it'\\''s=N', or for N/M the scale whose top is M: --scale LOW:HIGH, "
        "or choose questions: --question NAME"
    )
    assert "grade=('GPT-4=N',) grade=(\"it's=N\",), or for N/M the scale whose top is M: scale=LOW:HIGH" in str(
        caught.value
    )
    with pytest.raises(UsageError) as caught:
        grades_of("q", [f"label {number}" for number in range(100)], {}, None)
    assert "'label 26' and 80 more have no grade" in str(caught.value)


@pytest.mark.parametrize("size", [10_000, 100_000])
def test_long_labels_take_linear_time(size: int) -> None:
    for part in ("1", "(", "(1", "1 ", "1.", "1 of "):
        assert grade_in(part * size + "x", (1, 5)) is None


@pytest.mark.parametrize(
    ("pair", "told"),
    [
        ("good", "grade: expected LABEL=NUMBER, got 'good'"),
        ("good=3,5", "grade: expected LABEL=NUMBER, got '3,5' for the number"),
        ("4=1", "grade: the label '4' has two grades; give it one"),
    ],
)
def test_grades_that_are_none(pair: str, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        given_grades(["4.0=2", pair])
    assert str(caught.value) == told
