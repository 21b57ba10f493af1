from __future__ import annotations

import gzip
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.data.grades import METHODS, Scale, default_method, weigh
from postil.data.row_files import read
from postil.data.row_locations import RowLocations
from postil.data.rows import Rating, Reference
from postil.errors import InvalidInput, UnknownName, UsageError

if TYPE_CHECKING:
    from pathlib import Path

SCALE = Scale(1, 5)
# Items 0, 1, 0, 2, 0, 1: the rows of an item need not stand together.
ITEMS = np.array([0, 1, 0, 2, 0, 1])
GRADED = [Reference(f"i{item}", "text", grade=grade) for item, grade in zip(ITEMS, [4, 2, 1, 5, 2, 1], strict=True)]


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


def test_given() -> None:
    rows = [Reference("i", "text", weight=weight) for weight in (0.25, 1.0, -1.0)]
    assert weigh(rows, np.array([0, 0, 1]), method="given").tolist() == [0.25, 1.0, -1.0]


def test_ratings_are_averaged_unless_there_is_an_agreed_grade() -> None:
    ratings = (Rating("x", 2.0), Rating("y", 5.0))
    rows = [Reference("i", "text", ratings=ratings), Reference("i", "text", grade=5.0, ratings=ratings)]
    assert weigh(rows, np.array([0, 0]), scale=SCALE).tolist() == [0.7, 1.0]  # (2 + 5) / 2 / 5


@pytest.mark.parametrize("method", METHODS)
def test_no_references(method: str) -> None:
    assert weigh([], np.array([], np.int64), method=method, scale=SCALE).shape == (0,)


@given(st.sampled_from(sorted(METHODS)), st.lists(st.tuples(st.integers(0, 4), st.floats(0.25, 4.75)), min_size=1))
def test_the_range_of_every_method(method: str, rows: list[tuple[int, float]]) -> None:
    references = [
        Reference(str(item), "text", grade=grade, weight=grade / 5, upvotes=int(grade)) for item, grade in rows
    ]
    items = np.array([item for item, _ in rows])
    found = weigh(references, items, method=method, scale=Scale(0.25, 4.75))
    assert METHODS[method].low <= found.min()
    assert found.max() <= 1


def test_the_default_method() -> None:
    assert default_method([]) == "score"
    assert default_method(GRADED) == "score"
    assert default_method([Reference("i", "text", weight=0.5)]) == "given"
    assert default_method([Reference("i", "text", upvotes=3)]) == "score"


def test_which_methods_need_a_scale() -> None:
    needing = [name for name, method in METHODS.items() if method.needs_scale]
    assert needing == ["score", "minmax", "item-max", "signed"]
    for name in needing:
        with pytest.raises(
            UsageError, match=rf"^the weights method '{name}' needs the scale of the grades, for example"
        ):
            weigh(GRADED, ITEMS, method=name)


def test_requests_that_make_no_sense() -> None:
    with pytest.raises(UnknownName, match=r"^unknown weights method 'vote'; did you mean 'votes'"):
        weigh(GRADED, ITEMS, method="vote")
    with pytest.raises(UsageError, match=r"^expected one item number for each of 6 references, got 2$"):
        weigh(GRADED, ITEMS[:2], scale=SCALE)
    for name in ("score", "item-max"):
        with pytest.raises(UsageError, match=r"needs a scale without negative grades, got -1:5; take minmax$"):
            weigh(GRADED, ITEMS, method=name, scale=Scale(-1, 5))


def _refusal(rows: list[Reference], method: str = "score", scale: Scale | None = SCALE) -> str:
    with pytest.raises(InvalidInput) as caught:
        weigh(rows, np.zeros(len(rows), np.int64), method=method, scale=scale, places=RowLocations("refs.jsonl"))
    return str(caught.value)


def test_what_stands_outside_the_scale() -> None:
    good = Reference("i", "text", grade=3.0)
    assert (
        _refusal([good, Reference("i", "t", grade=7.0)]) == "refs.jsonl:2: grade: expected a number from 1 to 5, got 7"
    )
    # The mean of 9 and 1 is 5, which is on the scale; 9 is not.
    rated = Reference("i", "text", ratings=(Rating("x", 1.0), Rating("y", 9.0)))
    assert _refusal([good, rated]) == "refs.jsonl:2: ratings[1].grade: expected a number from 1 to 5, got 9"
    heavy = [Reference("i", "text", weight=1.5)]
    assert _refusal(heavy, "given") == "refs.jsonl:1: weight: expected a number from -1 to 1, got 1.5"


def test_what_is_missing() -> None:
    rows = [Reference("i", "text", grade=3.0), Reference("i", "text", upvotes=3)]
    assert _refusal(rows) == (
        "refs.jsonl:2: grade: missing; a w- metric needs a grade, ratings or a weight on every reference"
    )
    assert _refusal(rows, "votes") == (
        "refs.jsonl:1: upvotes: missing; the weights method 'votes' needs upvotes on every reference"
    )
    assert _refusal(rows, "given") == (
        "refs.jsonl:1: weight: missing; the weights method 'given' needs a weight on every reference"
    )
    assert _refusal([*rows[:1], Reference("i", "text", weight=0.5)]) == (
        "refs.jsonl:2: grade: missing; a w- metric needs a grade, ratings or a weight on every reference; "
        "this row has a weight, which only the weights method 'given' reads"
    )


def test_an_item_of_zeros() -> None:
    zeros = [Reference("a7", "text", grade=0.0), Reference("a7", "more", grade=0.0)]
    assert _refusal(zeros, "item-max", Scale(0, 5)) == (
        "refs.jsonl:1: grade: the best grade of the item is 0, and 'item-max' divides by it; "
        "take score or minmax (item a7)"
    )


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz"])
def test_a_misspelt_field_is_shown(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"refs.{ending}"
    lines = b'{"item":1,"text":"a","grade":4}\n\n{"item":1,"text":"b","grad":4}\n'
    path.write_bytes(gzip.compress(lines) if ending.endswith("gz") else lines)
    rows = read(path, Reference)
    references = list(rows)
    with pytest.raises(InvalidInput) as caught:
        weigh(references, np.array([0, 0]), scale=SCALE, places=rows.places)
    assert str(caught.value) == (
        f"{path}:3: grade: missing; a w- metric needs a grade, ratings or a weight on every reference "
        "(is the field misspelt? this row has: item, text, grad)"
    )
