"""Texts that are added to a campaign on the command line."""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("sqlalchemy", reason="needs the web extra")

from postil.campaigns.store import Store

if TYPE_CHECKING:
    from conftest import Postil


def written(name: str, *made: dict[str, object]) -> str:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in made), encoding="utf-8")
    return name


def candidate(item: str, system: str, text: str) -> dict[str, object]:
    return {"item": item, "system": system, "text": text}


def test_clashes_name_the_line_and_where_the_other_text_is(postil: Postil) -> None:
    articles = written("articles.jsonl", *({"id": f"a{n}", "title": f"T{n}", "comments": []} for n in range(4)))
    first = [candidate(f"a{n}", f"s{m}", f"text {n} {m}") for n in range(2) for m in range(2)]
    plan = ("annotate", "plan", written("c.jsonl", *first), "c.db", "-n", "3", "--articles", articles)
    assert postil(*plan, "--by-item").code == 0
    add = ("annotate", "add", "c.db")
    new = [candidate("a2", "s0", "one"), candidate("a2", "s1", "two")]
    one, other = written("one.jsonl", *new), written("other.jsonl", new[0], candidate("a2", "s1", "changed"))
    for given, problem in (
        ((one, other), "other.jsonl:2: system: one.jsonl:2 has another text of s1 of a2"),
        ((written("old.jsonl", candidate("a1", "s9", "x")),), "old.jsonl:1: item: the texts of a1 are assigned"),
        (("-", "-"), "only one of the files can be standard input"),
    ):
        found = postil(*add, *given, "--articles", articles)
        assert found.code in {2, 3}
        assert problem in found.err
    changed = written("articles.jsonl", {"id": "a1", "title": "Other", "comments": []})
    found = postil(*add, written("old.jsonl", candidate("a1", "s9", "x")), "--articles", changed)
    assert "old.jsonl:1: item: the campaign has another title of the article a1; give it another id" in found.err
    known = postil(*add, written("known.jsonl", first[2]), "--articles", changed)  # a text that is there already
    assert "known.jsonl:1: item: the campaign has another title of the article a1" in known.err
    with Store.open("c.db") as store:
        assert len(store.items()) == 4


def test_gold_labels_of_texts_that_are_there(postil: Postil) -> None:
    texts = [candidate(f"a{n}", "s", f"text {n}") for n in range(6)]
    labels = [{"item": f"a{n}", "system": "s", "grade": 3} for n in range(6)]
    plan = ("annotate", "plan", written("c.jsonl", *texts[:4]), "c.db", "-n", "2", "--context", "none")
    assert postil(*plan, "--gold", written("gold.jsonl", labels[0])).code == 0
    add = ("annotate", "add", "c.db", written("more.jsonl", *texts[4:]), "--gold")
    late = postil(*add, written("late.jsonl", labels[4], labels[1]))
    assert late.code == 3
    assert "late.jsonl:2: item: the campaign has s of a1 as a text to be rated; a text" in late.err
    other = postil(*add, written("other.jsonl", labels[4], {**labels[0], "grade": 4}))
    assert "other.jsonl:2: grade: the campaign has the gold label 3 of s of a0" in other.err
    unknown = postil(*add, written("unknown.jsonl", {**labels[0], "item": "z"}))
    assert "unknown.jsonl:1: item: there is no item s of z" in unknown.err
    Path("gold.csv").write_text("item,system,label\na0,s,3\na4,s,3\n", encoding="utf-8")
    added = postil(*add, "gold.csv", "--column", "gold.grade=label")
    assert (added.code, "2 texts added" in added.err) == (0, True), added.err
    assert postil("annotate", "pause", "c.db").code == 0
    more = postil("annotate", "add", "c.db", written("still.jsonl", candidate("a9", "s", "text 9")))
    assert more.err.splitlines()[-1] == (
        "the campaign is paused; annotators get the texts after 'postil annotate resume'"
    )
    with Store.open("c.db") as store:
        assert [item.gold for item in store.items()] == [3.0, None, None, None, 3.0, None, None]


def test_a_campaign_of_the_version_before_is_copied_previewed_and_served(
    postil: Postil, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [candidate(f"a{n}", "s", f"text {n}") for n in range(4)]
    assert postil("annotate", "plan", written("c.jsonl", *texts), "c.db", "-n", "2", "--context", "none").code == 0
    with closing(sqlite3.connect("c.db")) as connection, connection:
        connection.execute("DROP TABLE change")
        connection.execute("UPDATE campaign SET schema = 2")
    before = Path("c.db").read_bytes()
    assert postil("annotate", "backup", "c.db", "b.db").err == "written: b.db (0 ratings)\n"
    dry = postil("annotate", "add", "c.db", written("new.jsonl", candidate("a9", "s", "new")), "--dry-run")
    assert "'postil annotate upgrade' makes it one of this version" in dry.err
    assert Path("c.db").read_bytes() == before  # neither changes anything
    monkeypatch.setitem(sys.modules, "postil.campaigns.pages.server", SimpleNamespace(serve=lambda *_, **__: None))  # type: ignore[arg-type]
    served = postil("annotate", "serve", "b.db")
    assert (served.code, "invitation for the lead" in served.err) == (0, True), served.err
    assert postil("annotate", "add", "b.db", "new.jsonl").code == 0
