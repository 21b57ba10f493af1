"""The chapter of an estimate: its verdict, pictures and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from postil.estimation.result import EstimateResult
from postil.estimation.view import chapter, decimals, letter_columns, pictures, view
from postil.results.page.blocks import Paragraph, plain
from result_examples import example

if TYPE_CHECKING:
    from collections.abc import Callable

    from page_document import Page


def estimated() -> EstimateResult:
    result = example("estimate")
    assert isinstance(result, EstimateResult)
    return result


def grouped(*letters: str, ranks: tuple[int, int] = (1, 1)) -> EstimateResult:
    """The example with other groups; the best system has these ranks."""
    found = estimated()
    rows = [
        replace(found.systems[0], system=f"s{place}", letters=text, mean=5.0 - place, low=None, high=None)
        for place, text in enumerate(letters, 1)
    ]
    rows[0] = replace(rows[0], rank_low=ranks[0], rank_high=ranks[1])
    return replace(found, systems=tuple(rows))


def conclusions(result: EstimateResult) -> list[str]:
    return [plain(each.text) for each in chapter(result, "").conclusion if isinstance(each, Paragraph)]


@pytest.mark.parametrize(
    ("result", "verdict"),
    [
        (estimated(), "tfidf is significantly ahead of all others; b and c cannot be told apart."),
        (grouped("a", "b"), "s1 is significantly ahead of s2."),
        (grouped("a", "b", "c"), "s1 is significantly ahead of all others."),
        (grouped("a", "a", "a"), "s1, s2 and s3 cannot be told apart."),
        (
            grouped("a", "ab", "b", ranks=(1, 2)),
            "s1 and s2 cannot be told apart; s1 is significantly ahead of 1 of the others.",
        ),
        (grouped("ac", "ab", "bc", ranks=(1, 3)), "s1 and s2 cannot be told apart."),
        (
            grouped("a", *["b"] * 7),
            "s1 is significantly ahead of all others; s2, s3, s4, s5 and 3 more cannot be told apart.",
        ),
    ],
)
def test_the_verdict(result: EstimateResult, verdict: str) -> None:
    assert conclusions(result)[0] == verdict


def test_the_verdict_on_one_system() -> None:
    found = estimated()
    alone = replace(found, systems=found.systems[:1], differences=())
    assert conclusions(alone)[0] == "The mean grade of tfidf is 4.00 [3.80, 4.20]."
    without = replace(alone, systems=(replace(alone.systems[0], low=None, high=None),))
    assert conclusions(without)[0] == "The mean grade of tfidf is 4.00."
    assert [each.key for each in pictures(alone)] == ["estimates", "widths", "difference-widths"]


def test_no_verdict_where_nothing_was_tested() -> None:
    found = estimated()
    rows = [replace(row, low=None, high=None, p=None, p_holm=None) for row in found.differences]
    (said,) = conclusions(replace(found, differences=tuple(rows)))
    assert said.startswith("Relative efficiency 1.50: 24 graded items with these scores are worth 36 without them")


def test_scores_that_are_not_used_are_told_with_the_verdict() -> None:
    note = "scores not used: 5 graded items (8 needed); the results are those of the ratings alone"
    assert (
        conclusions(replace(estimated(), scores_used=False, notes=(note,), unused=note))[1]
        == note.replace("s", "S", 1) + "."
    )


def test_signatures_below_the_table() -> None:
    found = replace(estimated(), signatures={"meteor": "meteor|x", "judge": "external", "other": "external", "one": ""})
    assert list(view(found).signatures) == [
        "signatures: meteor",
        "  each with |x",
        "judge: external",
        "other: external",
    ]


def test_too_many_groups() -> None:
    found = grouped("", "", "")
    assert len(conclusions(found)) == 1
    assert letter_columns(found.systems) == ["", "", ""]
    many = grouped(
        *(chr(97 + place % 26) + str(place // 26 or "") for place in range(60)), "abcdefghijklmnopqrstuvwxyza1b1"
    )
    assert letter_columns(many.systems)[-1] == "abcdefghijklmnopqrstuvwxy…"
    assert pictures(many)[0].draw()


def test_marks_of_the_curve() -> None:
    (picture,) = [each for each in pictures(estimated()) if each.key == "widths"]
    assert "24 graded items, width .41; the same from 54 items by ratings alone, width .41" in picture.label
    unused = replace(estimated(), scores_used=False)
    (picture,) = [each for each in pictures(unused) if each.key == "widths"]
    assert picture.label.endswith("24 graded items, width .61")


def test_the_page(page_of: Callable[..., Page]) -> None:
    value: dict[str, Any] = estimated().to_dict()
    value["undefined"] = [{"system": "b", "other": "c", "reason": "their grades differ by the same on every item"}]
    page = page_of(value)
    text = page.text
    for said in (
        "24 of 100 items graded, 3 systems, 144 ratings by 3 annotators, aspect ann; target: population",
        "No interval of b − c: their grades differ by the same on every item.",
        "Most grades of tfidf are 5: its CI may cover less than 95 %.",
        "judged but not scored: 1 (9 by ann)",
        "raters are fixed, so no interval generalizes to other raters",
        "graded items must be a simple random sample of the items",
    ):
        assert said in text, said


def test_letters_stand_below_each_other() -> None:
    rows = grouped("a", "ab", "b", "a1", "ba1").systems
    assert letter_columns(rows) == ["a   ", "ab  ", " b  ", "  a1", " ba1"]


def test_decimals_follow_the_narrowest_interval() -> None:
    found = estimated()
    assert decimals(found) == 2
    narrow = replace(found.systems[0], low=4.0, high=4.0042)
    assert decimals(replace(found, systems=(narrow, *found.systems[1:]))) == 4
    assert decimals(replace(found, systems=())) == 2
