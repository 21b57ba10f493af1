"""Passages of a topic that begin and end alike are one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.corpus.passage_duplicates import merge_duplicates
from postil.data.rows import Passage
from postil.errors import UsageError

HEAD, TAIL = "The quick brown fox jumps", "over a lazy dog by night."  # 25 characters each


def passage(text: str, grade: float | None = None, *, topic: str = "t", name: str = "p") -> Passage:
    return Passage(topic, name, text, grade=grade)


def test_the_best_stays_where_the_first_stood() -> None:
    rows = [
        passage(f"{HEAD} {TAIL}", 0.5, name="first"),
        passage("Another", 1, name="other"),
        passage(f"{HEAD} gladly {TAIL}", 2, name="best"),
        passage(f"{HEAD} sadly {TAIL}", 2, name="equal"),
        passage(f"{HEAD} never {TAIL}", name="ungraded"),
    ]
    merged = merge_duplicates(rows)
    assert [row.id for row in merged.passages] == ["best", "other"]
    assert (merged.groups, merged.dropped) == (1, 3)


@pytest.mark.parametrize(
    "other",
    [
        passage(f"{HEAD} {TAIL}", topic="u"),
        passage(f"the{HEAD[3:]} {TAIL}"),
        passage(f"{HEAD[:-1]}- {TAIL}"),
        passage(f"{HEAD} x{TAIL[1:]}"),
    ],
    ids=["another topic", "another case", "character 25", "character 25 from the end"],
)
def test_what_is_not_alike(other: Passage) -> None:
    assert merge_duplicates([passage(f"{HEAD} {TAIL}"), other]).dropped == 0


def test_character_26_does_not_count() -> None:
    assert merge_duplicates([passage(f"{HEAD}a{TAIL}"), passage(f"{HEAD}b{TAIL}")]).dropped == 1


def test_short_texts_are_compared_whole() -> None:
    assert [row.text for row in merge_duplicates(map(passage, ["", "a", "ab", "a", ""])).passages] == ["", "a", "ab"]


def test_characters_are_counted_from_1() -> None:
    with pytest.raises(UsageError, match="at least 1 character at either end, got 0"):
        merge_duplicates([], 0)


@given(st.lists(st.builds(passage, st.text("ab", max_size=6), st.sampled_from([None, 0.0, 1.0]))), st.integers(1, 4))
def test_against_a_plain_reading(rows: list[Passage], characters: int) -> None:
    merged = merge_duplicates(rows, characters)
    groups: dict[tuple[str, str], list[Passage]] = {}
    for row in rows:
        groups.setdefault((row.text[:characters], row.text[-characters:]), []).append(row)
    best = [max(group, key=lambda row: -1 if row.grade is None else row.grade) for group in groups.values()]
    assert merged.passages == best
    assert merged.dropped == len(rows) - len(best)
    assert merged.groups == sum(len(group) > 1 for group in groups.values())
    assert merge_duplicates(merged.passages, characters).dropped == 0
