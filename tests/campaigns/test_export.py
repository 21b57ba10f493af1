from __future__ import annotations

import msgspec
import pytest

from postil.campaigns.export import (
    COLUMNS,
    RATING_COLUMNS,
    TEXTS,
    TIMES,
    AnnotatorRow,
    ResolvedRow,
    annotators_table,
    codebook,
    judgements,
    long_table,
    pair_table,
    passages,
    references,
    resolved_pairs,
    resolved_table,
)
from postil.campaigns.models import Adjudication, Campaign, Context, Item, Rating
from postil.campaigns.quality import InferredGrades
from postil.campaigns.rubric import Rubric
from postil.data.rows import Passage, Reference
from postil.data.rows import Rating as RatingOfReference

ITEMS = [
    Item(item="a", system="x", text="abcdefghij"),
    Item(item="a", system="y", text="not graded"),
    Item(item="b", system="x", text="known", gold=5.0),
]


def rating(number: int, annotator: str, grade: float, again: int = 1, **more: object) -> Rating:
    item = ITEMS[number]
    fixed = {"item": item.item, "system": item.system, "gold": item.gold, "order": 6, "time": 86_400.5}
    return Rating(number=number, annotator=annotator, grade=grade, round=again, **{**fixed, **more})  # type: ignore[arg-type]


RATINGS = [
    rating(0, "A1", 2, seconds=1.5),
    rating(0, "A2", 5, spans=((0, 2), (4, 5))),
    rating(0, "A1", 3, again=2),
    rating(2, "A1", 4),
]
DECIDED = [
    Adjudication(number=0, lead="lead 1", grade=1, reason="", time=0),
    Adjudication(number=0, lead="lead 1", grade=4, reason="", time=1),
]
FIRST = {"item": "a", "system": "x", "sample": 1, "aspect": "", "gold": None, "revision": 1, "purpose": ""}
"""Values of the first item in rows of tables."""
INFERRED = InferredGrades({"A1": 0.75}, {0: 3.125}, {})
UNKNOWN = InferredGrades({}, {}, {}, "one annotator")


def test_annotators_have_their_competence() -> None:
    rows = list(annotators_table(RATINGS, INFERRED))
    assert rows == [
        AnnotatorRow(annotator="A1", ratings=1, competence=0.75),
        AnnotatorRow(annotator="A2", ratings=1, competence=None),
    ]


def test_the_long_table_has_a_row_a_grade() -> None:
    rows = list(long_table(RATINGS))
    numbers = {"round": 1, "order": 7, "grade": 2}
    assert msgspec.structs.asdict(rows[0]) == {**FIRST, **numbers, "annotator": "A1", "spans": ""}
    assert [row.purpose for row in rows] == ["", "", "", "gold"]
    assert [row.spans for row in rows] == ["", "0:2 4:5", "", ""]
    assert [row.round for row in rows] == [1, 1, 2, 1]
    assert rows[3].gold == 5
    timed = next(long_table(RATINGS, timestamps=True))
    assert timed.__struct_fields__[:-2] == rows[0].__struct_fields__ == tuple(RATING_COLUMNS)
    assert msgspec.structs.astuple(timed)[-2:] == ("1970-01-02T00:00:00Z", 1.5)


def test_a_rating_stands_beside_its_text_and_all_that_was_shown() -> None:
    hint = (Context(name="hint", text="Look."),)
    shown = Item(item="a", system="x", text="T", title="Title", content="Body.", context=hint)
    row = next(long_table(RATINGS, [shown, *ITEMS[1:]], timestamps=True))
    assert row.__struct_fields__[-4:] == ("time", "seconds", "text", "context")
    assert msgspec.structs.astuple(row)[-2:] == ("T", "Title\n\nBody.\n\nhint: Look.")
    texts = [msgspec.structs.asdict(row)["text"] for row in long_table(RATINGS, ITEMS)]
    assert texts == ["abcdefghij"] * 3 + ["known"]


def test_samples_are_texts_of_their_own_for_agreement_alone() -> None:
    ratings = [rating(0, "A1", 2), rating(0, "A1", 4, sample=2), rating(0, "A2", 3, sample=2)]
    assert [row.sample for row in long_table(ratings)] == [1, 2, 2]
    assert [row.system for row in judgements(ratings)] == ["x", "x", "x"]
    assert [row.system for row in judgements(ratings, single_texts=True)] == ["x", "x (sample 2)", "x (sample 2)"]


def test_the_resolved_table_has_a_row_a_text() -> None:
    first, second = resolved_table(ITEMS, RATINGS, DECIDED, Rubric.default(), INFERRED)
    numbers = {"annotators": 2, "mean": 3.5, "weighted": 3.125, "expected": None, "lowest": 2, "highest": 5}
    assert first == ResolvedRow(**FIRST, **numbers, adjudicated=True, grade=4)
    assert (second.item, second.grade, second.adjudicated, second.gold, second.purpose) == ("b", 4, False, 5, "gold")
    assert next(resolved_table(ITEMS, RATINGS, [], Rubric.default(), INFERRED)).grade == 3.5


PAIR = Item(item="a", system="x", text="one", other_system="y", other_text="two")


def choices(said: str) -> list[Rating]:
    """One annotator per letter: a, b, or - for a tie; the second sees the texts swapped."""
    more = {"pair": ("x", "y"), "revision": 3, "order": 7}
    return [rating(0, f"A{n}", 1 + "a-b".index(each), swapped=n == 2, **more) for n, each in enumerate(said, 1)]


@pytest.mark.parametrize(("said", "together"), [("aab", "a"), ("b-b", "b"), ("ab", "tie"), ("--a", "tie"), ("b", "b")])
def test_a_pair_is_resolved_by_its_majority(said: str, together: str) -> None:
    [row] = resolved_pairs([PAIR], choices(said), [])
    assert (row.preference, row.adjudicated, row.revision) == (together, False, 3)
    assert (row.annotators, row.a, row.ties, row.b) == (len(said), *map(said.count, "a-b"))
    decided = [Adjudication(number=0, lead="lead 1", grade=2, reason="", time=0)]
    [row] = resolved_pairs([PAIR], choices(said), decided)
    assert (row.preference, row.adjudicated) == ("tie", True)


def test_a_choice_has_a_row() -> None:
    first, second = pair_table(choices("ab"))
    assert (first.system_a, first.system_b, first.order, first.preference, first.left) == ("x", "y", 8, "a", "a")
    assert (second.annotator, second.preference, second.left, second.revision) == ("A2", "b", "b", 3)


def test_marks_are_resolved_by_their_union() -> None:
    ratings = [rating(0, "A1", 0.3, spans=((0, 3),)), rating(0, "A2", 0.3, spans=((2, 5),))]
    rubric = Rubric.default("en", "spans")
    row = next(resolved_table(ITEMS, ratings, [], rubric, UNKNOWN))
    assert (row.mean, row.grade) == (0.3, 0.5)
    whole = [rating(0, name, 1.0, spans=((0, 10),)) for name in ("A1", "A2")]
    resolved = list(resolved_table(ITEMS, whole, [], rubric, UNKNOWN))
    assert list(passages(ITEMS, resolved)) == [Passage("a", "x", "abcdefghij", grade=2)]


def test_references_have_ratings_and_the_decision() -> None:
    given = (RatingOfReference("A1", 2), RatingOfReference("A2", 5))
    assert list(references(ITEMS, RATINGS, [])) == [Reference("a", "abcdefghij", ratings=given, id="x")]
    decided = Reference("a", "abcdefghij", grade=4, ratings=given, id="x")
    assert list(references(ITEMS, RATINGS, DECIDED)) == [decided]


def test_the_codebook_explains_every_column() -> None:
    for columns in (RATING_COLUMNS, ResolvedRow.__struct_fields__, TIMES, TEXTS):
        assert {*columns} <= {*COLUMNS}
    campaign = Campaign(name="n", item_type="comments", annotators_per_item=2, seed=1, created=0)
    book = codebook(campaign, Rubric.default(), {"texts": 3})
    assert msgspec.to_builtins(book)["campaign"]["created"] == "1970-01-01T00:00:00Z"
