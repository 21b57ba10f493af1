"""Files of items: what is shown beside a text, several texts of a system, and what is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from postil.campaigns.item_files import ItemFiles, has_candidates
from postil.campaigns.models import Campaign, Context
from postil.errors import InvalidInput, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from postil.campaigns.models import Item


def rows(path: Path, *given: dict[str, object]) -> str:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in given), encoding="utf-8")
    return str(path)


def read(path: str, *context: str, articles: str | None = None) -> list[Item]:
    return list(ItemFiles("candidates", context, articles).read(path))


def candidate(text: str, **more: object) -> dict[str, object]:
    return {"item": "q", "system": "s", "text": text, **more}


def test_columns_are_shown_by_name_and_empty_ones_are_not(tmp_path: Path) -> None:
    path = rows(
        tmp_path / "c.jsonl",
        candidate("Rain.", source="Regen.", thread=["Hello?", " ", "Well?"], year=1999),
        candidate("Snow.", source="Schnee.", thread=None, year=""),
    )
    assert has_candidates(path)
    first, second = read(path, "source", "thread", "year")
    assert [(one.name, one.text) for one in first.context] == [
        ("source", "Regen."),
        ("thread", "Hello?"),
        ("thread", "Well?"),
        ("year", "1999"),
    ]
    assert second.context == (Context(name="source", text="Schnee."),)
    assert (first.title, first.content) == ("", "")
    assert read(path) == [
        type(first)(item="q", system="s", text=text, sample=n) for n, text in ((1, "Rain."), (2, "Snow."))
    ]


def test_the_source_is_the_article_where_there_is_one(tmp_path: Path) -> None:
    articles = rows(tmp_path / "a.jsonl", {"id": "q", "title": "T", "content": "Long.", "lang": "de", "comments": []})
    path = rows(tmp_path / "c.jsonl", candidate("Short.", lang="en", hint="h"))
    (item,) = read(path, "source", "hint", articles=articles)
    assert (item.title, item.content, item.lang, item.context) == (
        "T",
        "Long.",
        "de",
        (Context(name="hint", text="h"),),
    )
    assert read(path)[0].lang == "en"
    with pytest.raises(UsageError, match="articles would not be shown; add article to context"):
        read(path, "hint", articles=articles)
    with pytest.raises(
        UsageError, match='articles=FILE; or name columns to show: context=NAME,NAME; or context="none"'
    ):
        read(path, "article")


def test_a_thread_of_comments_ends_with_the_one_that_was_replied_to(tmp_path: Path) -> None:
    replies = [("1", None), ("2", "1"), ("3", "2"), ("4", "gone"), ("5", "6"), ("6", "5")]
    comments = [{"id": one, "text": f"t{one}", **({"parent": of} if of else {})} for one, of in replies]
    path = rows(tmp_path / "a.jsonl", {"id": "a", "title": "T", "content": "C", "comments": comments})
    found = list(ItemFiles("articles", ("thread",)).read(path))
    assert [[one.text for one in item.context] for item in found][:4] == [[], ["t1"], ["t1", "t2"], []]
    assert {item.title for item in found} == {""}, "the article is not shown"
    assert [item.title for item in ItemFiles("articles", ("article", "thread")).read(path)] == ["T"] * 6


def test_passages_may_have_columns_and_no_topic(tmp_path: Path) -> None:
    path = rows(tmp_path / "p.jsonl", {"topic": "Owls", "id": "1", "text": "They fly.", "page": 3})
    (item,) = ItemFiles("passages", ("page",)).read(path)
    assert (item.title, item.context) == ("", (Context(name="page", text="3"),))
    assert next(iter(ItemFiles("passages", ("article",)).read(path))).title == "Owls"


def test_samples_are_numbered_by_order_or_by_their_column(tmp_path: Path) -> None:
    path = rows(tmp_path / "c.jsonl", candidate("a"), candidate("b"), candidate("c", system="t"), candidate("d"))
    assert [(item.system, item.sample) for item in read(path)] == [("s", 1), ("s", 2), ("t", 1), ("s", 3)]
    path = rows(tmp_path / "c.jsonl", candidate("a", sample=3), candidate("a", sample=1))
    assert [item.sample for item in read(path)] == [3, 1]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ([candidate("a"), candidate("a")], "c.jsonl:2: system: q has two items with the name s and one text"),
        ([candidate("a", sample=2), candidate("b", sample=2)], "c.jsonl:2: sample: q has two .* and the sample 2"),
        ([candidate("a", sample=0)], "c.jsonl:1: sample: expected a whole number from 1 up, got 0"),
        ([candidate("a"), candidate("b\0")], "NUL"),
    ],
)
def test_clashing_samples_are_refused(tmp_path: Path, given: list[dict[str, object]], problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        read(rows(tmp_path / "c.jsonl", *given))


@pytest.mark.parametrize(
    ("former", "kind", "source"),
    [("comments", "comment", "articles"), ("outputs", "comment", "candidates"), ("passages", "passage", "passages")],
)
def test_former_item_types_are_read(former: str, kind: str, source: str) -> None:
    campaign = Campaign(name="c", item_type=former, annotators_per_item=1, seed=1)  # type: ignore[arg-type]
    assert (campaign.item_type, campaign.rows, campaign.context) == (kind, source, ("article",))
