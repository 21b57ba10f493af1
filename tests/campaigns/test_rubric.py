"""Rubrics and their spans."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.campaigns.rubric import LANGUAGES, Rubric
from postil.campaigns.validation import annotated_share, passage_grade, union
from postil.errors import InvalidInput, UnknownName, UsageError

if TYPE_CHECKING:
    from pathlib import Path


TOML = """
name = "fluency"
question = "How well does it read?"
low = 0
high = 2
words = ["badly", "so so", "well"]
examples = [["gah"], [], ["It rains."]]
"""


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_bundled_ones(lang: str) -> None:
    rubric = Rubric.default(lang)
    assert rubric.grades == (1, 2, 3, 4, 5)
    assert len(rubric.words) == len(rubric.examples) == 5
    assert [len(each) for each in rubric.examples] == [2, 2, 2, 3, 3]
    assert len({example for each in rubric.examples for example in each}) == 12
    assert rubric.lang == lang
    assert Rubric.default(f"{lang}-XX") == rubric
    marks = Rubric.default(lang, "spans")
    assert (marks.kind, marks.grades) == ("spans", ())


def test_a_language_without_a_rubric() -> None:
    with pytest.raises(UnknownName, match="language of a rubric 'fr'"):
        Rubric.default("fr")


def test_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text(TOML)
    rubric = Rubric.read(tmp_path / "r.toml")
    assert (rubric.grades, rubric.examples[2]) == ((0, 1, 2), ("It rains.",))
    (tmp_path / "r.json").write_bytes(msgspec.json.encode(rubric))
    assert Rubric.read(tmp_path / "r.json") == rubric


def test_a_template_that_was_left_empty_has_neither_words_nor_examples(tmp_path: Path) -> None:
    (path := tmp_path / "empty.toml").write_text(
        'name = "fluency"\nquestion = "?"\nhigh = 3\nwords = ["", " ", ""]\nexamples = [[], [], []]\n', encoding="utf-8"
    )
    rubric = Rubric.read(path)
    assert (rubric.words, rubric.examples, rubric.meaning(2)) == ((), (), "")
    path.write_text('name = "fluency"\n', encoding="utf-8")
    with pytest.raises(InvalidInput, match="expected the field `question`"):
        Rubric.read(path)


@pytest.mark.parametrize(
    ("change", "field", "problem"),
    [
        ({"name": " "}, "name", "got an empty one"),
        ({"question": None}, "question", "Expected `str`"),
        ({"low": 3, "high": 3}, "low", "low below high"),
        ({"low": -1}, "low", "neither below 0"),
        ({"high": 10}, "high", "digit"),
        ({"low": "1"}, "low", "Expected `int`"),
        ({"words": ["one"]}, "words", r"one entry per grade \(3\), got 1"),
        ({"examples": [["one"]]}, "examples", r"one entry per grade \(3\), got 1"),
        ({"examples": ["one", "two", "three"]}, "examples[0]", "Expected `array`"),
        ({"kind": "stars"}, "kind", "expected grade, spans or pair, got 'stars'"),
        ({"kind": ["grade"]}, "kind", "expected grade, spans or pair"),
        ({"scale": 5}, "scale", "unknown field; a rubric has name, question"),
    ],
)
def test_what_is_wrong_with_a_file(tmp_path: Path, change: dict[str, object], field: str, problem: str) -> None:
    good = {"name": "n", "question": "q", "low": 0, "high": 2, "words": ["a", "b", "c"]}
    path = tmp_path / "r.json"
    path.write_text(json.dumps({**good, **change}))
    with pytest.raises(InvalidInput, match=problem.replace("[", r"\[")) as caught:
        Rubric.read(path)
    assert (caught.value.where, caught.value.field) == (str(path), field)


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("r.json", b"{", "r.json:1: "),
        ("r.json", b'{"name": "n",\n "question": q}', "r.json:2: "),
        ("r.json", b"[]", "r.json: "),
        ("r.json", b"{}\n\n\xff", "r.json:3: "),
        ("r.json", b"[" * 100_000, "r.json: "),
        ("r.toml", b'name = "n"\nquestion =\n', "r.toml:2: "),
        ("r.toml", b'name = "n', "r.toml:1: "),
        ("r.toml", b"\xff", "r.toml:1: "),
        ("r.json", b"", "r.json:1: "),
    ],
)
def test_what_is_no_rubric(tmp_path: Path, name: str, content: bytes, place: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInput) as caught:
        Rubric.read(tmp_path / name)
    assert str(caught.value).startswith(f"{tmp_path}/{place}")


def test_files_that_are_not_there_or_of_another_kind(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        Rubric.read(tmp_path / "none.json")
    with pytest.raises(UsageError, match=r"\.json or \.toml"):
        Rubric.read(tmp_path / "rubric.yaml")


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
