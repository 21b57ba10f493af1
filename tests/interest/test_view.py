"""Ranked passages of one page and of several: their rows, tables and JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from postil.results.views import show
from result_examples import example

if TYPE_CHECKING:
    from postil.interest.result import InterestingPagesResult, InterestingResult


def ranked() -> InterestingResult:
    return cast("InterestingResult", example("interesting"))


def pages() -> InterestingPagesResult:
    return cast("InterestingPagesResult", example("interesting-pages"))


def test_locations_are_columns_where_a_document_has_them() -> None:
    rows = ranked().to_rows()
    assert [(row["start"], row["page"]) for row in rows] == [(12, 2), (None, None)]
    assert rows[0]["link"] == "https://example.org/tea#:~:text=tfidf"
    unpaged = replace(ranked(), passages=tuple(replace(each, page=None) for each in ranked().passages))
    assert "page" not in unpaged.to_csv().splitlines()[0].split(",")


def test_of_many_pages_people_see_as_many_passages_as_rows_have() -> None:
    page = replace(pages().pages[0], passages=pages().pages[0].passages * 3)
    many = replace(pages(), pages=(page,))
    assert len(page.passages) == 6
    assert len(many.to_rows()) == 6
    assert sum(line.startswith(("1. ", "2. ")) for line in show("table", many).splitlines()) == 6


def test_a_narrow_terminal_has_whole_passages() -> None:
    text = "It rained on Ely all night, and nobody left the house before the bells of the cathedral had rung nine."
    first = replace(ranked().passages[0], text=text)
    narrow = show("table", replace(ranked(), passages=(first,)), width=50)
    head, rest = narrow.split("\n   ", 1)
    assert head.startswith("1. It rained on Ely all night")
    assert text in f"{head} {rest}".replace("1. ", "").replace("\n  ", "")
    assert max(map(len, narrow.splitlines()[:3])) <= 50
    assert show("table", ranked(), width=500) == show("table", ranked())
    several = show("table", pages(), width=20)
    assert several.startswith("1. ann")
    assert "ann · " in several


def test_documents_have_whole_passages() -> None:
    text = "It rained on Ely all night, and nobody left the house before the bells of the cathedral had rung nine."
    first = replace(ranked().passages[0], text=text)
    one = replace(ranked(), passages=(first,))
    page = replace(pages().pages[0], passages=(first,))
    for result in (one, replace(pages(), pages=(page,))):
        assert all(text in written for written in (result.to_markdown(), result.to_latex(), result.to_html()))
        assert text not in show("table", result)


def test_pages_are_named_beside_their_passages_and_what_failed_stands_below() -> None:
    lines = show("table", pages()).splitlines()
    assert [line.split()[:3] for line in lines[2:5]] == [
        ["1.", "ann", "ann"],
        ["2.", "ducks", "ann"],
        ["(no", "passage)", "ponds.md"],
    ]
    assert lines[6:9] == ["failed: meteor: there is no text in it", "note: ann: tfidf", "note: tfidf"]


def test_rows_of_pages_have_their_page_and_json_lines_one_row_per_page() -> None:
    rows = pages().to_rows()
    assert [(row["source"], row["file"], row["rank"]) for row in rows] == [
        ("tfidf", "tea.html", 1),
        ("tfidf", "tea.html", 2),
        ("ponds.md", None, None),
    ]
    lines = [json.loads(line) for line in show("jsonl", pages()).splitlines()]
    assert [line["source"] for line in lines] == ["tfidf", "ponds.md", "meteor"]
    assert [len(line.get("passages", ())) for line in lines] == [2, 0, 0]
