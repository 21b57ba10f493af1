"""postil annotate pause, resume, close, deadline and add."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("sqlalchemy")

from campaign_work import join
from postil.campaigns.store import Store

if TYPE_CHECKING:
    from conftest import Postil


ARTICLES = Path(str(files("postil"))) / "sample" / "articles.jsonl"


@pytest.fixture
def campaign(postil: Postil) -> str:
    lines = ARTICLES.read_text(encoding="utf-8").splitlines(keepends=True)[:2]
    Path("few.jsonl").write_text("".join(lines), encoding="utf-8")
    assert postil("annotate", "plan", "few.jsonl", "c.db", "-n", "3").code == 0
    return "c.db"


def test_every_change_is_told_in_a_sentence(postil: Postil, campaign: str) -> None:
    for words, said in (
        (("resume",), "the campaign is running; nothing changed"),
        (("pause", "--message", "Lunch."), "paused; 'postil annotate resume' continues"),
        (("pause", "--message", "Lunch."), "the campaign is paused already; nothing changed"),
        (("pause", "--message", "Tea."), "the campaign is paused already; its message is changed"),
        (("resume",), "resumed"),
        (("deadline", "2999-12-01T18:00+01:00"), "deadline: 2999-12-01 17:00 UTC"),
        (("deadline", "2999-12-01T17:00Z"), "the campaign has this deadline, 2999-12-01 17:00 UTC, already; nothing"),
        (("deadline", "none"), "the deadline is removed"),
        (("deadline", "None"), "the campaign has no deadline already; nothing changed"),
        (("close",), "closed; 'postil annotate resume' reopens it"),
        (("close",), "the campaign is closed already; nothing changed"),
        (("close", "--message", "Thanks."), "the campaign is closed already; its message is changed"),
        (("resume",), "reopened: annotators get texts, and answers are stored again"),
    ):
        done = postil("annotate", words[0], campaign, *words[1:])
        assert (done.code, done.err.startswith(said)) == (0, True), done.err
    with Store.open(campaign) as store:
        assert [one.kind for one in store.state.changes()] == [
            *("paused", "paused", "resumed", "deadline", "deadline", "closed", "closed", "resumed")
        ]
        person = join(store, "Ann")
        task = store.grading.next(person)
        assert task is not None
        store.grading.rate(person, task.assignment, 4, idempotency_key="r")
    assert postil("annotate", "export", campaign, "--out", "grades").code == 0
    book = json.loads(Path("grades/codebook.json").read_text(encoding="utf-8"))
    assert [one["kind"] for one in book["changes"]][-1] == "resumed"


def test_a_deadline_that_has_passed_is_removed_by_resume(postil: Postil, campaign: str) -> None:
    now = 1_000.0
    with Store.open(campaign, clock=lambda: now) as store:
        store.state.set_deadline(2_000)
    done = postil("annotate", "resume", campaign)
    assert done.err == (
        "reopened: annotators get texts, and answers are stored again\n"
        "the deadline, 1970-01-01 00:33 UTC, had passed and is removed\n"
    )
    with Store.open(campaign, clock=lambda: now) as store:
        store.state.set_deadline(2_000)
    assert "the campaign is open again" in postil("annotate", "deadline", campaign, "2999-01-01T00:00Z").err


def test_nonsense_is_refused(postil: Postil, campaign: str) -> None:
    for words, problem in (
        (("deadline", "2999-12-01"), "such as 2026-12-01T18:00+01:00, got '2999-12-01'"),
        (("deadline", "9999-12-31T23:59-12:00"), "such as 2026-12-01T18:00+01:00, got '9999-12-31T23:59-12:00'"),
        (("deadline", "1999-12-01T00:00Z"), "1999-12-01 00:00 UTC has passed; close the campaign to end it now"),
        (("pause", "--message", "x" * 2001), "at most 2000 characters"),
    ):
        refused = postil("annotate", words[0], campaign, *words[1:])
        assert (refused.code, problem in refused.err) == (2, True), refused.err
    assert postil("annotate", "close", campaign).code == 0
    assert "nothing to pause" in postil("annotate", "pause", campaign).err
    assert "there is no such file" in postil("annotate", "close", "other.db").err


def test_an_annotator_joins_late(postil: Postil, campaign: str) -> None:
    early = postil("annotate", "invite", campaign, "Eve", "--late")
    assert (early.code, "the plan has a free slot, A1; invite Eve to it without late" in early.err) == (2, True)
    for name in ("Ann", "Bob", "Cid"):
        assert postil("annotate", "invite", campaign, name).code == 0
    done = postil("annotate", "invite", campaign, "Eve", "--late", "--base-url", "https://grading.example")
    assert (done.code, done.out.startswith("https://grading.example/join/"), done.out.count("\n")) == (0, True, 1)
    with Store.open(campaign) as store:
        loads = [one.texts for one in store.plan().statistics().annotators]
        assert f"Eve has {loads[-1]} open items; each of the others has " in done.err
        assert re.search(rf"^A4 +{loads[-1]} ", done.err, re.MULTILINE)  # the table of the balance
        assert sum(loads) == 2 * len(store.items())
    lead = postil("annotate", "invite", campaign, "Lee", "--late", "--role", "lead")
    assert (lead.code, "--late goes with annotators" in lead.err) == (2, True)


def test_a_late_annotator_takes_the_place_of_all(postil: Postil, campaign: str) -> None:
    for name in ("Ann", "Bob", "Cid"):
        assert postil("annotate", "invite", campaign, name).code == 0
    for name in ("Lee", "Lou", "Liz"):
        assert postil("annotate", "invite", campaign, name, "--role", "lead").code == 0
    for name in ("Ann", "Bob", "Cid"):
        assert postil("annotate", "remove", campaign, name).code == 0
    none = postil("annotate", "add", campaign, "few.jsonl")
    assert "no annotator is left to take new items" in none.err
    for flags in ((), ("--late",)):
        again = postil("annotate", "invite", campaign, "Ann", *flags)
        assert again.err == "postil: Ann has left the campaign; invite them late, under another name\n"
    full = postil("annotate", "invite", campaign, "Zoe")
    assert full.err == "postil: the plan has no free slot; invite the annotator late\n"
    done = postil("annotate", "invite", campaign, "Zoe", "--late")
    assert (done.code, "open items; there is no other annotator" in done.err) == (0, True)
    with Store.open(campaign) as store:
        zoe = store.people.named("Zoe")
        assert (zoe.pseudonym, store.grading.progress(zoe).total) == ("A4", len(store.items()))


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
