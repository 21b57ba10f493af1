from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

from postil.data.rows import Article, Candidate, Comment, Judgement, Passage, Rating, Reference, Score
from postil.errors import InvalidInput
from refusals import refused

if TYPE_CHECKING:
    from collections.abc import Callable


def test_rows_settle_what_they_hold() -> None:
    for given in (7, np.int32(7), "7", np.str_("7")):
        row: Any = Judgement(given, given, given, 3.0)
        assert (row.item, row.system, row.annotator) == ("7", "7", "7")
        assert {type(row.item), type(row.system), type(row.annotator)} == {str}
    for number in (3, np.float32(3), np.int64(3)):
        row = Reference("a", "b", grade=number)  # type: ignore[arg-type]
        assert (type(row.grade), row.grade) == (float, 3.0)
    several: Any = [Rating("x", 1.0)]
    nothing: Any = None
    assert Reference("a", "b", ratings=several).ratings == (Rating("x", 1.0),)
    assert Reference("a", "b", ratings=nothing).ratings == ()
    row = Reference("a", "b", ratings=(Rating("x", 3.0),))
    with pytest.raises(AttributeError):
        row.text = "c"
    assert hash(row) == hash(Reference("a", "b", ratings=(Rating("x", 3.0),)))
    assert pickle.loads(pickle.dumps(row)) == row  # noqa: S301 - our own bytes


def test_rows_settle_what_a_file_holds() -> None:
    assert msgspec.json.decode(b'{"item":1,"system":2,"text":"t"}', type=Candidate) == Candidate("1", "2", "t")
    for anchors in (b"", b',"anchors":null'):
        found = msgspec.json.decode(b'{"topic":1,"id":2,"text":"t"' + anchors + b"}", type=Passage)
        assert found == Passage("1", "2", "t", ())
    article = b'{"id":1,"title":"t","comments":[{"id":2,"text":"c","ratings":[{"annotator":3,"grade":4}]}]}'
    comment = Comment("2", "c", ratings=(Rating("3", 4.0),))
    assert msgspec.json.decode(article, type=Article) == Article("1", "t", (comment,))


@pytest.mark.parametrize(
    ("bad", "got"), [(float("nan"), "NaN"), (float("inf"), "inf"), (True, "true"), ("3", '"3"'), ([3], "an array")]
)
def test_a_grade_that_is_no_number_is_refused(bad: Any, got: str) -> None:
    makers: list[Callable[[], object]] = [
        lambda: Rating("x", bad),
        lambda: Reference("a", "b", grade=bad),
        lambda: Comment("a", "b", grade=bad),
        lambda: Passage("a", "b", "c", grade=bad),
        lambda: Judgement("a", "b", "c", bad),
    ]
    for make in makers:
        assert refused(InvalidInput, make) == f"grade: expected a number, got {got}"


WRONG: Any = 5
NAN = float("nan")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Candidate("a", "b", WRONG), "text: expected text, got 5"),
        (lambda: Article("a", "b", (), category=WRONG), "category: expected text, got 5"),
        (lambda: Reference("a", "b", weight=NAN), "weight: expected a number, got NaN"),
        (lambda: Score("a", "b", "bleu-1", NAN, ""), "score: expected a number, got NaN"),
        (lambda: Reference("a", "b", upvotes=2**63), f"upvotes: expected an integer of at most 64 bits, got {2**63}"),
        (lambda: Reference("a", "b", ratings=(Rating("x", 1.0), WRONG)), "ratings[1]: expected a Rating, got 5"),
    ],
)
def test_other_fields_check_themselves(make: Callable[[], object], said: str) -> None:
    assert refused(InvalidInput, make) == said


def test_a_score_needs_no_signature() -> None:
    nothing: Any = None
    assert Score("a", "b", "m", 1.0).signature == Score("a", "b", "m", 1.0, nothing).signature == "external"
    for more in (b"", b',"signature":null'):
        row = b'{"item":1,"system":"b","metric":"m","score":1' + more + b"}"
        assert msgspec.json.decode(row, type=Score) == Score("1", "b", "m", 1.0, "external")


def test_mean_grade() -> None:
    ratings = (Rating("x", 4.0), Rating("y", 5.0), Rating("z", 3.0))
    assert Reference("a", "b").mean_grade is None
    assert Reference("a", "b", ratings=ratings).mean_grade == 4.0  # (4 + 5 + 3) / 3
    assert Reference("a", "b", grade=1.0, ratings=ratings).mean_grade == 1.0  # the agreed grade counts
    assert Comment("a", "b", ratings=ratings[:2]).mean_grade == 4.5
    assert Reference("a", "b", ratings=(Rating("x", 1e308), Rating("y", 1.5e308))).mean_grade == 1.25e308
    ratings = tuple(Rating(str(n), grade) for n, grade in enumerate([0.1, 0.7, 0.3, 1e16, -1e16]))  # in any order
    assert Reference("a", "b", ratings=ratings).mean_grade == Reference("a", "b", ratings=ratings[::-1]).mean_grade


def test_the_references_of_an_article() -> None:
    ratings = (Rating("x", 4.0),)
    article = Article(
        "n1", "Title", (Comment("c1", "one", upvotes=7, grade=2.0), Comment("c2", "two", ratings=ratings))
    )
    assert list(article.references()) == [
        Reference("n1", "one", grade=2.0, upvotes=7, id="c1"),
        Reference("n1", "two", ratings=ratings, id="c2"),
    ]


def test_statistics_of_a_score_are_exact_in_a_file() -> None:
    row = Score("1", "a", "meteor", 0.5, "", (0.1 + 0.2, 3.0))
    assert msgspec.json.decode(msgspec.json.encode(row), type=Score) == row
    assert b"statistics" not in msgspec.json.encode(Score("1", "a", "meteor", 0.5, ""))
    assert Score("1", "a", "meteor", 0.5, "", [np.int64(1), 2]).statistics == (1.0, 2.0)  # type: ignore[arg-type]
    assert Score("1", "a", "meteor", 0.5, "", None).statistics == ()  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [True, None, "1", float("nan"), float("inf")])
def test_a_statistic_that_is_no_number_is_refused(bad: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^statistics\[1\]: expected a number, got "):
        Score("1", "a", "meteor", 0.5, "", (1.0, bad))
