from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.campaigns.validation import annotated_share, passage_grade, union

SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=8)


@given(SPANS)
def test_the_union_is_the_set_of_places(spans: list[tuple[int, int]]) -> None:
    found = union(spans)
    assert {place for start, end in found for place in range(start, end)} == {
        place for start, end in spans for place in range(start, end)
    }
    assert all(first[1] < second[0] for first, second in pairwise(found))
    assert union(found) == found


@given(st.text(" ab", max_size=30), SPANS, SPANS)
def test_the_share_grows_with_the_marks(text: str, spans: list[tuple[int, int]], more: list[tuple[int, int]]) -> None:
    assert 0 <= annotated_share(text, spans) <= annotated_share(text, [*spans, *more]) <= 1


def test_white_space_is_no_text() -> None:
    assert annotated_share("ab  cd", [(0, 4)]) == 0.5
    assert annotated_share("ab\ncd", [(0, 2), (3, 5)]) == 1
    assert annotated_share(" \n", [(0, 2)]) == 0
    assert annotated_share("", []) == 0


@pytest.mark.parametrize(
    ("marks", "grade"),
    [
        ([], 0),
        ([[]], 0),
        ([[(0, 10)]], 1),  # one who marks all is no agreement
        ([[(0, 10)], [(0, 10)]], 2),
        ([[(0, 10)], [(0, 5), (5, 10)], [(0, 10)]], 2),
        ([[(0, 10)], [(0, 9)]], 1),
        ([[(0, 3)], [(2, 5)]], 0.5),
        ([[(0, 3)], []], 0.3),
    ],
)
def test_the_labels_of_tweet_contextualization(marks: list[list[tuple[int, int]]], grade: float) -> None:
    assert passage_grade("abcdefghij", marks) == pytest.approx(grade)
