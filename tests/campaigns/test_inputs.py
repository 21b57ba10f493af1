"""Inputs of a campaign: samples of articles, and files of items."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from postil.campaigns.add import add
from postil.campaigns.models import Campaign, Context, Item
from postil.campaigns.options import AddOptions, PlanOptions
from postil.campaigns.planning import ItemFiles, has_candidates, plan, sampled_items, with_gold
from postil.campaigns.rubric import Rubric
from postil.campaigns.store import Store
from postil.errors import InvalidInput, UsageError

if TYPE_CHECKING:
    from pathlib import Path


ITEMS = [Item(item=f"a{n}", system=system, text="") for n in range(10) for system in "xyz"]


def articles(items: list[Item], count: int, seed: int) -> set[str]:
    return {item.item for item in sampled_items(items, count, seed)[0]}


def test_every_sample_is_as_likely_as_any_other() -> None:
    """Over 4,000 seeds, within 4 standard errors: each article is in 3 of 10, each pair in 1 of 15."""
    drawn = [articles(ITEMS, 3, seed) for seed in range(4000)]
    for size, share in ((1, 3 / 10), (2, 3 / 45)):
        counts = Counter(some for sample in drawn for some in combinations(sorted(sample), size))
        error = (4000 * share * (1 - share)) ** 0.5
        every = combinations(sorted(f"a{n}" for n in range(10)), size)
        assert all(abs(counts[some] - 4000 * share) < 4 * error for some in every)


@given(st.permutations(ITEMS), st.integers(1, 10), st.integers(1, 10), st.integers(0, 99))
@examples(25)
def test_samples_of_one_seed_are_nested_whatever_the_order(items: list[Item], one: int, two: int, seed: int) -> None:
    smaller, larger = sorted((one, two))
    sampled, there = sampled_items(items, larger, seed)
    assert (len(sampled), there) == (3 * larger, 10)
    assert sampled == [item for item in items if item in sampled]
    assert articles(items, smaller, seed) <= articles(ITEMS, larger, seed)


def test_gold_items_stay_and_count_for_nothing() -> None:
    gold = [Item(item="g", system="x", text="", gold=3.0), Item(item="a0", system="w", text="", gold=1.0)]
    for seed in range(20):
        sampled, there = sampled_items([*gold, *ITEMS], 2, seed)
        assert there == 10
        assert sampled[:2] == gold
        assert len({item.item for item in sampled if item.gold is None}) == 2
    with pytest.raises(UsageError, match="from 1 to 10, the number of articles"):
        sampled_items([*gold, *ITEMS], 11, 1)


YES = ("true", "TRUE", "True", "1", "1.0", "WAHR", "wahr", "VRAI", "VERDADERO", "yes", "Ja", " true ", "ИСТИНА")
NO = ("false", "FALSE", "0", "FALSCH", "FAUX", "no", "")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_attention_checks_can_be_written_in_tables(tmp_path: Path, delimiter: str) -> None:
    items = [Item(item=f"a{n}", system="x", text="t") for n in range(len(YES + NO))]
    lines = [("item", "system", "grade", "attention")]
    lines += [(f"a{n}", "x", "2", word) for n, word in enumerate(YES + NO)]
    path = tmp_path / ("gold.tsv" if delimiter == "\t" else "gold.csv")
    path.write_text("".join(f"{delimiter.join(line)}\n" for line in lines), encoding="utf-8")
    found = with_gold(items, str(path), Rubric.default())
    assert [item.purpose for item in found] == ["attention"] * len(YES) + [""] * len(NO)


def test_what_is_neither_true_nor_false_is_refused(tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text("item,system,grade,attention\na1,x,2,true\na2,x,2,maybe\n")
    problem = 'gold.csv:3: attention: expected true or false, got "maybe"; write TRUE or FALSE, or 1 or 0'
    with pytest.raises(InvalidInput, match=problem):
        with_gold(ITEMS, str(tmp_path / "gold.csv"), Rubric.default())


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
    shown = [f"{one.name}: {one.text}" for one in first.context]
    assert shown == ["source: Regen.", "thread: Hello?", "thread: Well?", "year: 1999"]
    assert second.context == (Context(name="source", text="Schnee."),)
    assert (first.title, first.content) == ("", "")
    texts = ((1, "Rain."), (2, "Snow."))
    assert read(path) == [Item(item="q", system="s", text=text, sample=n) for n, text in texts]


def test_the_source_is_the_article_where_there_is_one(tmp_path: Path) -> None:
    articles = rows(tmp_path / "a.jsonl", {"id": "q", "title": "T", "content": "Long.", "lang": "de", "comments": []})
    path = rows(tmp_path / "c.jsonl", candidate("Short.", lang="en", hint="h"))
    (item,) = read(path, "source", "hint", articles=articles)
    assert (item.title, item.content, item.lang) == ("T", "Long.", "de")
    assert item.context == (Context(name="hint", text="h"),)
    assert read(path)[0].lang == "en"
    with pytest.raises(UsageError, match="articles would not be shown; add article to context"):
        read(path, "hint", articles=articles)
    problem = 'articles=FILE; or name columns to show: context=NAME,NAME; or context="none"'
    with pytest.raises(UsageError, match=problem):
        read(path, "article")


@pytest.mark.parametrize("ending", ["jsonl", "json", "csv", "tsv", "parquet", "xlsx"])
def test_nobody_is_asked_to_rate_an_empty_text(tmp_path: Path, ending: str) -> None:
    texts = ["Rain.", "", " \u3000", "Snow.", "", "Hail.", "Sleet."]
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"item": list("aabbccd"), "system": list("xyxyxyx"), "text": texts})
    path = tmp_path / f"t.{ending}"
    if ending == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, path)
    elif ending == "json":
        path.write_text(json.dumps(table.to_pylist()))
    elif ending == "jsonl":
        rows(path, *table.to_pylist())
    else:
        lines = [["item", "system", "text"], *(list(row.values()) for row in table.to_pylist())]
        separator = "," if ending == "csv" else "\t"
        path.write_text("".join(f"{separator.join(line)}\n" for line in lines), encoding="utf-8")
        if ending == "xlsx":
            book = pytest.importorskip("openpyxl").Workbook()
            for line in lines:
                book.active.append(line)
            book.save(path)
    said: list[str] = []
    plan(str(path), str(tmp_path / "c.db"), PlanOptions(annotators=2, context="none"), on_message=said.append)
    with Store.open(str(tmp_path / "c.db")) as store:
        found = [(item.item, item.system, item.text) for item in store.items()]
    assert found == [("a", "x", "Rain."), ("b", "y", "Snow."), ("c", "y", "Hail."), ("d", "x", "Sleet.")]
    name = re.sub(r"\(\S+t\.\w+:", "(t:", said[-1])
    first = {"jsonl": 1, "json": 1, "parquet": 1}.get(ending, 2)  # line of the first row
    assert name == (
        f"3 texts are empty or white space, left out: y of a (t:{first + 1}), x of b (t:{first + 2}), "
        f"x of c (t:{first + 4})"
    )


def test_empty_comments_passages_and_references_are_no_items(tmp_path: Path) -> None:
    comments = [{"id": n, "text": text} for n, text in enumerate(("Rain.", "", "\n"))]
    for name, row, fields in (
        ("a", {"id": "a", "title": "T", "comments": comments}, {}),
        ("p", {"topic": "Owls", "id": "1", "text": " "}, {"item_type": "passage"}),
        ("r", {"item": "a", "reference": 1, "text": "", "order": 1, "gain": 0.5}, {}),
    ):
        said: list[str] = []
        full = {**row, "id": "2", "topic": "Bats", "reference": 2, "text": "Rain."}
        path = rows(tmp_path / f"{name}.jsonl", row, full)
        options = PlanOptions(annotators=2, **fields)  # type: ignore[arg-type]
        result = plan(path, str(tmp_path / f"{name}.db"), options, on_message=said.append)
        with Store.open(str(tmp_path / f"{name}.db")) as store:
            assert {item.text for item in store.items()} == {"Rain."}
        assert result.texts == (2 if name == "a" else 1)
        assert "left out: " in said[-1]
    path = rows(tmp_path / "e.jsonl", candidate(" "), candidate("", system="t"))
    with pytest.raises(UsageError, match="there are no items to annotate"):
        plan(path, str(tmp_path / "e.db"), PlanOptions(annotators=2, context="none"))


def test_empty_texts_of_a_system_have_numbers_and_no_gold_label(tmp_path: Path) -> None:
    path = rows(tmp_path / "t.jsonl", *(candidate(text) for text in ("", "", "one", " ", "two", *(" " * 6))))
    labels = [{"item": "q", "system": "s", "sample": sample, "grade": 3} for sample in (1, 3)]
    gold, said = rows(tmp_path / "g.jsonl", *labels), list[str]()
    options = PlanOptions(annotators=2, context="none", gold=gold)
    plan(path, str(tmp_path / "c.db"), options, on_message=said.append)
    with Store.open(str(tmp_path / "c.db")) as store:
        assert [(item.sample, item.text, item.gold) for item in store.items()] == [(3, "one", 3.0), (5, "two", None)]
    listed = ", ".join(f"s of q ({path}:{line})" for line in (1, 2, 4, 6, 7))
    assert said[-1] == f"9 texts are empty or white space, left out: {listed} and 4 more"


def test_empty_texts_are_not_added(tmp_path: Path) -> None:
    url = str(tmp_path / "c.db")
    plan(rows(tmp_path / "t.jsonl", candidate("one")), url, PlanOptions(annotators=2, context="none"))
    path = rows(tmp_path / "u.jsonl", candidate(" ", item="r"), candidate("two", item="r", system="t"))
    gold = rows(tmp_path / "g.jsonl", {"item": "r", "system": "s", "grade": 3})
    said: list[str] = []
    done = add(url, [path], AddOptions(gold=gold), on_message=said.append)
    assert (done.added, done.known, done.empty, done.first_empty) == (1, 0, 1, ("s of r",))
    assert said == [f"1 text is empty or white space, left out: s of r ({path}:1)"]
    with Store.open(url) as store:
        assert [item.text for item in store.items()] == ["one", "two"]


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
