"""postil annotate, from a plan to what correlate and score read, and changes of a campaign under way."""

from __future__ import annotations

import csv
import json
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from command_line import put

pytest.importorskip("sqlalchemy")

from campaign_work import join, rate
from postil.campaigns.calls import note_address
from postil.campaigns.export import codebook
from postil.campaigns.options import ServeOptions
from postil.campaigns.store import Store
from postil.messages import COMMAND_LINE

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Postil


SAMPLE = Path(str(files("postil"))) / "sample"
ARTICLES, CANDIDATES = SAMPLE / "articles.jsonl", SAMPLE / "candidates.jsonl"


def rows(path: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def few(path: Path, n: int, name: str) -> str:
    Path(name).write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:n]), encoding="utf-8")
    return name


def grade_all(path: str) -> None:
    """Every annotator grades everything: the length of the text, moved by one for some."""
    with Store.open(path) as store:
        for person in store.people.everyone():
            if person.role == "annotator":
                if not person.name:
                    store.people.accept(store.people.invite(f"Person {person.id}", "annotator"))
                while (task := store.grading.next(person)) is not None:
                    grade = min(5, 1 + len(task.text) // 20 + (person.id + task.position) % 2)
                    marks = [(0, len(task.text) // 2)]
                    answer = marks if store.rubric().kind == "spans" else grade
                    store.grading.rate(
                        person, task.assignment, answer, idempotency_key=f"r{task.position}", seconds=1.0
                    )


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_references_from_their_plan_to_weighted_scores(postil: Postil, ending: str) -> None:
    pytest.importorskip("pyarrow")
    planned = f"rows.{ending}"
    texts = [{"item": row["item"], "text": row["text"]} for row in rows("r.jsonl")]
    put("r.jsonl", texts)
    assert postil("weights", "plan", "c.jsonl", "-r", "r.jsonl", "--budget", "67%", "--out", planned).code == 0
    outcome = postil("annotate", "plan", planned, "few.db", "--annotators", 2, "--format", "json")
    assert outcome.code == 0, outcome.err
    grade_all("few.db")
    assert postil("annotate", "export", "few.db", "--out", "grades").code == 0
    graded = {(row["item"], row["text"]): row for row in rows("grades/references.jsonl")}
    assert len(graded) == json.loads(outcome.out)["texts"] == 2
    merged = [graded.get((row["item"], row["text"]), row) for row in texts]
    put("all.jsonl", merged)
    asked = ("-m", "w-rouge-l", "--scale", "1:5", "--format", "jsonl")
    scores = postil("score", "c.jsonl", "-r", "all.jsonl", *asked, "--ungraded", "drop")
    assert scores.scores == postil("score", "c.jsonl", "-r", "grades/references.jsonl", *asked).scores
    assert "|references:1 of 1-2|" in scores.out


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("-", ("--input-format", "jsonl")),
        ("c.dat", ("--input-format", "jsonl")),
        ("c.json", ()),
        ("c.arrow", ()),
        ("corpus", ()),
    ],
)
def test_texts_without_articles_are_known_by_their_columns(postil: Postil, name: str, options: tuple[str, ...]) -> None:
    texts = [{"item": item, "system": "x", "text": item * 2} for item in "ab"]
    lines = "".join(f"{json.dumps(row)}\n" for row in texts)
    Path("c.dat").write_text(lines, encoding="utf-8")
    Path("c.json").write_text(json.dumps(texts), encoding="utf-8")
    if name == "c.arrow":
        pytest.importorskip("pyarrow.feather").write_feather(
            pytest.importorskip("pyarrow").Table.from_pylist(texts), name
        )
    Path("corpus").mkdir()
    Path("corpus", "train.jsonl").write_text(lines, encoding="utf-8")
    asked = ("annotate", "plan", name, "c.db", "--annotators", 2, "--context", "none")
    outcome = postil(*asked, *options, stdin=lines.encode() if name == "-" else None)
    assert outcome.code == 0, outcome.err
    with Store.open("c.db") as store:
        assert [(item.item, item.system, item.text) for item in store.items()] == [("a", "x", "aa"), ("b", "x", "bb")]


def test_system_outputs_from_plan_to_correlation(postil: Postil) -> None:
    few(CANDIDATES, 24, "cand.jsonl")
    planned = postil(
        *("annotate", "plan", "cand.jsonl", "c.db", "--articles", ARTICLES, "-n", 3, "-k", 2),
        *("--repeat-rate", 0.2, "--format", "json"),
    )
    assert planned.code == 0, planned.err
    found = json.loads(planned.out)
    assert (found["texts"], [row["texts"] for row in found["annotators"]]) == (24, [16, 16, 16])
    assert {pair["texts"] for pair in found["pairs"]} == {8}
    assert "24 items, 2 of 3 annotators per item" in planned.err

    link = postil("annotate", "invite", "c.db", "Ann Lee", "--base-url", "https://grading.example/")
    assert re.fullmatch(r"https://grading\.example/join/[\w-]{43}\n", link.out)
    early = postil("annotate", "agreement", "c.db")
    assert (early.code, early.err) == (3, "postil: agreement needs grades, and there are none\n")
    grade_all("c.db")

    agreed = postil("annotate", "agreement", "c.db", "--resamples", 50)
    assert agreed.code == 0, agreed.err
    tables = "A1 and A2", "one grade, and another", "again, after a while"
    for words in ("kappa-quadratic-pooled", "alpha-ordinal", *tables):
        assert words in agreed.out
    as_json = json.loads(postil("annotate", "agreement", "c.db", "--resamples", 50, "--format", "json").out)
    assert len(as_json["agreement"]["pairs"]) == 3
    assert [check["n"] for check in as_json["repeated"]] == [3, 3, 3]
    assert not as_json["gold"]
    as_csv = postil("annotate", "agreement", "c.db", "--resamples", 50, "--format", "csv").out
    assert {row["statistic"] for row in csv.DictReader(as_csv.splitlines())} == set(as_json["agreement"]["estimates"])

    done = postil("annotate", "export", "c.db", "--out", "grades")
    assert done.code == 0, done.err
    with Path("grades/ratings.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert len(table) == 3 * 16 + 3 * 3
    assert "time" not in table[0]
    texts = {(row["item"], row["system"]): row["text"] for row in rows("cand.jsonl")}
    assert all(row["text"] == texts[row["item"], row["system"]] and row["context"] for row in table)
    assert postil("annotate", "export", "c.db", "--out", "bare", "--no-texts", "--table-format", "jsonl").code == 0
    for name in ("ratings", "resolved"):
        assert not {"text", "context"} & set(rows(f"bare/{name}.jsonl")[0])
    assert "Ann Lee" not in "".join(path.read_text(encoding="utf-8") for path in Path("grades").iterdir())
    assert json.loads(Path("grades/codebook.json").read_text(encoding="utf-8"))["counts"]["texts"] == 24
    assert len(rows("grades/judgements.jsonl")) == 48

    scored = postil(
        *("score", "cand.jsonl", "-r", few_references(), "-m", "rouge-l", "--tokenizer", "characters"),
        *("--items", "scores.jsonl"),
    )
    assert scored.code == 0, scored.err
    correlated = postil("correlate", "scores.jsonl", "--judgements", "grades/judgements.jsonl", "--format", "json")
    assert correlated.code == 0, correlated.err
    assert json.loads(correlated.out)["correlations"][0]["n"] == 24


def sampled(postil: Postil, source: object, count: int) -> set[tuple[str, str]]:
    """The texts of a campaign for a sample of articles."""
    database = f"{len(list(Path.cwd().iterdir()))}.db"
    flags = ("--articles", ARTICLES, "-n", 3, "--items", count, "--seed", 3)
    done = postil("annotate", "plan", source, database, *flags)
    assert done.code == 0, done.err
    with Store.open(database) as store:
        return {(item.item, item.system) for item in store.items()}


def test_a_sample_of_articles_has_all_their_outputs_and_can_grow(postil: Postil) -> None:
    every = rows(str(CANDIDATES))
    ten, twenty = sampled(postil, CANDIDATES, 10), sampled(postil, CANDIDATES, 20)
    for found, count in ((ten, 10), (twenty, 20)):
        articles = {item for item, _ in found}
        assert len(articles) == count
        assert found == {(str(row["item"]), str(row["system"])) for row in every if row["item"] in articles}
    assert ten < twenty
    # What is left of the file, in any order, continues the sample.
    rest = [row for row in every if (row["item"], row["system"]) not in ten]
    Path("rest.jsonl").write_text("\n".join(map(json.dumps, reversed(rest))), encoding="utf-8")
    assert sampled(postil, "rest.jsonl", 10) == twenty - ten


def test_a_sample_keeps_gold_items_and_is_not_larger_than_what_there_is(postil: Postil) -> None:
    few(CANDIDATES, 8, "cand.jsonl")
    first = rows("cand.jsonl")
    articles = {str(row["item"]) for row in first}
    gold = [
        {"item": row["item"], "system": row["system"], "grade": 3} for row in first if row["item"] == first[0]["item"]
    ]
    put("gold.jsonl", gold)
    flags = ("--articles", ARTICLES, "-n", 2, "-k", 1, "--gold", "gold.jsonl")
    done = postil("annotate", "plan", "cand.jsonl", "c.db", *flags, "--items", len(articles) - 1, "--format", "json")
    found = json.loads(done.out)
    assert (found["gold"], found["sampled"], found["sampled_from"]) == (len(gold), len(articles) - 1, len(articles) - 1)
    assert found["texts"] == len(first)
    more = postil("annotate", "plan", "cand.jsonl", "d.db", *flags, "--items", len(articles))
    assert more.code == 2
    problem = f"--items: expected a number from 1 to {len(articles) - 1}, the number of articles (or topics); got"
    assert problem in more.err
    assert not Path("d.db").exists()


def test_few_ratings_from_plan_to_estimate(postil: Postil) -> None:
    plan = ("annotate", "plan", CANDIDATES, "c.db", "--articles", ARTICLES, "-n", 3, "-k", 1, "--overlap", 0.25)
    planned = postil(*plan, "--items", 12, "--by-item", "--item-order", "together")
    assert planned.code == 0, planned.err
    systems = {row["system"] for row in rows(str(CANDIDATES))}
    n = len(systems)
    assert f"{12 * n} items: {9 * n} with 1 of 3 annotators, {3 * n} with 2, assigned at random" in planned.out
    assert "have the same annotators\n12 of 24 articles, sampled at random\n" in planned.out
    grade_all("c.db")
    assert postil("annotate", "export", "c.db", "--out", "grades").code == 0
    settings = json.loads(Path("grades/codebook.json").read_text(encoding="utf-8"))["campaign"]
    assert (settings["overlapping"], settings["by_item"], settings["sampled_from"]) == (3 * len(systems), True, 24)
    estimated = postil("estimate", "--judgements", "grades/judgements.jsonl", "--format", "json")
    assert estimated.code == 0, estimated.err
    found = json.loads(estimated.out)
    assert (found["graded"], len(found["systems"])) == (12, len(systems))
    assert found["rater_variance"] is not None


@pytest.mark.parametrize(
    ("row", "flags", "remarks"),
    [
        (
            {"item": "{}", "system": "s{}"},
            ("--context", "none"),
            ("the texts of an item have", "the texts of 2 of 3 items,", "texts of one item:"),
        ),
        (
            {"topic": "{}", "id": "s{}"},
            ("--item-type", "passage"),
            ("the items of a topic have", "2 of 3 topics,", "items of one topic:"),
        ),
    ],
)
def test_what_items_belong_to_has_its_own_name(
    postil: Postil, row: dict[str, str], flags: tuple[str, ...], remarks: tuple[str, ...]
) -> None:
    first, second = row
    texts = [{first: row[first].format(n), second: row[second].format(m), "text": "Rain."} for n in "abc" for m in "xy"]
    put("t.jsonl", texts)
    planned = postil("annotate", "plan", "t.jsonl", "c.db", "-n", 2, *flags, "--items", 2, "--by-item")
    assert planned.out.partition("\n\n")[2].startswith(
        f"4 items, 2 of 2 annotators per item, assigned at random; {remarks[0]} the same annotators\n"
        f"{remarks[1]} sampled at random\n"
        f"median gap between {remarks[2]} 2 positions\n"
    )
    put("t.jsonl", [{**text, first: text[first] * 2} for text in texts])
    assert f"\nmedian gap between {remarks[2]} " in postil("annotate", "add", "c.db", "t.jsonl").out
    for name in ("Ann", "Bob"):
        assert postil("annotate", "invite", "c.db", name).code == 0
    assert f"\nmedian gap between {remarks[2]} " in postil("annotate", "invite", "c.db", "Cid", "--late").err


def test_texts_to_rate_are_those_with_a_text(postil: Postil) -> None:
    texts = [{"item": "a", "system": "x", "text": "Rain."}, {"item": "a", "system": "y", "text": " "}]
    put("t.jsonl", texts)
    planned = postil("annotate", "plan", "t.jsonl", "c.db", "-n", 2, "--context", "none")
    assert "\n1 item, 2 of 2 annotators per item" in planned.out
    said = "1 text is empty or white space, left out: y of a (t.jsonl:2)\n"
    assert planned.err == f"{said}seed 20181\n"
    again = postil("annotate", "add", "c.db", "t.jsonl")
    assert again.err == f"{said}nothing to add: the campaign has them already (1 text)\n"
    put("t.jsonl", texts[1:])
    assert postil("annotate", "add", "c.db", "t.jsonl").err == (
        f"{said.replace(':2', ':1')}nothing to add: there is no text to rate\n"
    )


def test_articles_without_words_are_none_until_one_with_words_is_added(postil: Postil) -> None:
    articles = [
        {"id": n, "title": title, "comments": [{"id": m, "text": "Rain."} for m in "xy"]}
        for n, title in (("a", ""), ("b", " "), ("c", "Owls"))
    ]
    put("bare.jsonl", articles[:2])
    put("named.jsonl", articles[2:])
    planned = postil("annotate", "plan", "bare.jsonl", "c.db", "-n", 2)
    assert "\nmedian gap between texts of one item: 2 positions\n" in planned.out
    for dry_run in (("--dry-run",), ()):
        added = postil("annotate", "add", "c.db", "named.jsonl", *dry_run)
        assert "\nmedian gap between items of one article: " in added.out
        with Store.open("c.db") as store:
            assert store.campaign().shows_articles == (not dry_run)


def test_of_an_overlap_what_nobody_else_can_take_is_short(postil: Postil) -> None:
    few(CANDIDATES, 8, "cand.jsonl")
    flags = ("-n", 2, "-k", 1, "--overlap", 0.5)
    planned = postil("annotate", "plan", "cand.jsonl", "c.db", "--articles", ARTICLES, *flags, "--format", "json")
    assert [json.loads(planned.out)[field] for field in ("texts", "overlapping")] == [8, 4]
    left = postil("annotate", "remove", "c.db", "A1")
    short = "4 items with fewer annotators than planned, as nobody else can take them\n"
    assert left.err == f"removed A1; 2 open items reassigned\n{short}"


def few_references() -> str:
    """The comments of the sample's articles as reference rows."""
    articles = rows(str(ARTICLES))
    put("refs.jsonl", [{"item": one["id"], "text": each["text"]} for one in articles for each in one["comments"]])  # type: ignore[attr-defined]
    return "refs.jsonl"


def test_comments_become_weighted_references(postil: Postil) -> None:
    few(ARTICLES, 2, "a.jsonl")
    assert postil("annotate", "plan", "a.jsonl", "c.db", "-n", 2, "-k", 2, "--item-order", "together").code == 0
    grade_all("c.db")
    with Store.open("c.db") as store:
        assert store.campaign().item_type == "comment"
        assert store.rubric().lang == "zh"
        lead = join(store, "Lee", "lead")
        store.results.adjudicate(lead, 0, 5, "clear", idempotency_key="d")
    assert postil("annotate", "export", "c.db", "-o", "out", "--table-format", "jsonl", "--timestamps").code == 0
    assert {"time", "seconds"} <= set(rows("out/ratings.jsonl")[0])
    first = rows("out/references.jsonl")[0]
    assert (first["grade"], len(first["ratings"])) == (5.0, 2)  # type: ignore[arg-type]
    assert rows("out/resolved.jsonl")[0]["adjudicated"] is True
    few(CANDIDATES, 8, "cand.jsonl")
    scored = postil(
        *("score", "cand.jsonl", "-r", "out/references.jsonl", "-m", "w-rouge-l", "--scale", "1:5"),
        *("--tokenizer", "characters", "--format", "jsonl"),
    )
    assert scored.scores["human", "w-rouge-l"] > 0


def test_marked_passages(postil: Postil) -> None:
    put("p.jsonl", [{"topic": f"t{n % 2}", "id": n, "text": f"some words number {n}"} for n in range(6)])
    assert postil("annotate", "plan", "p.jsonl", "c.db", "-n", 2, "--item-type", "passages").code == 0
    grade_all("c.db")
    assert postil("annotate", "agreement", "c.db", "--resamples", 20).code == 0
    assert postil("annotate", "export", "c.db", "-o", "out").code == 0
    assert [row["grade"] for row in rows("out/passages.jsonl")] == [pytest.approx(8 / 16)] * 6


def test_gold_is_checked_and_left_out(postil: Postil) -> None:
    few(CANDIDATES, 8, "cand.jsonl")
    Path("gold.jsonl").write_text('{"item": "zh-01", "system": "human", "grade": 5}\n')
    plan = ("annotate", "plan", "cand.jsonl", "c.db", "--articles", ARTICLES, "-n", 3)
    assert postil(*plan, "--gold", "gold.jsonl").code == 0
    grade_all("c.db")
    found = json.loads(postil("annotate", "agreement", "c.db", "--resamples", 20, "--format", "json").out)
    assert [check["n"] for check in found["gold"]] == [1, 1, 1]
    assert found["agreement"]["texts"] == 7
    assert postil("annotate", "export", "c.db", "-o", "out").code == 0
    assert ("zh-01", "human") not in {(row["item"], row["system"]) for row in rows("out/judgements.jsonl")}


def test_someone_leaves(postil: Postil) -> None:
    few(CANDIDATES, 8, "cand.jsonl")
    assert postil("annotate", "plan", "cand.jsonl", "c.db", "--articles", ARTICLES, "-n", 4, "-k", 2).code == 0
    assert postil("annotate", "invite", "c.db", "Ann").code == 0
    done = postil("annotate", "remove", "c.db", "Ann")
    assert (done.code, done.err) == (0, "removed Ann; 4 open items reassigned\n")
    assert "has left" in postil("annotate", "remove", "c.db", "Ann").err
    with Store.open("c.db") as store:
        left = [person.pseudonym for person in store.people.everyone() if not person.left]
        assert sum(one.texts for one in store.plan().statistics().annotators if one.annotator in left) == 16
    assert postil("annotate", "remove", "c.db", left[0]).code == 0
    alone = postil("annotate", "remove", "c.db", left[1])
    assert "8 items with fewer annotators than planned" in alone.err
    with_new = postil("annotate", "remove", "c.db", left[2], "--reserve")
    assert "open items reserved for the next annotator who is invited" in with_new.err
    assert postil("annotate", "invite", "c.db", "Cid").code == 0
    assert postil("annotate", "remove", "c.db", " Cid\u202e").code == 0  # names are cleaned as in invitations
    unknown = postil("annotate", "remove", "c.db", "Bob")
    assert unknown.code == 2
    assert "unknown person 'Bob'" in unknown.err


def test_backup(postil: Postil, monkeypatch: pytest.MonkeyPatch) -> None:
    few(ARTICLES, 1, "a.jsonl")
    assert postil("annotate", "plan", "a.jsonl", "c.db", "-n", 2).code == 0
    grade_all("c.db")
    with Store.open("c.db") as store, monkeypatch.context() as later:
        later.setattr(Path, "chmod", lambda *_: None)  # the copy is private before anything is in it
        number = len(store.results.ratings())
        subprocess.run(["cp", "c.db", "alone.db"], check=True)  # noqa: S607 - closing it here would drop its locks
        done = postil("annotate", "backup", "c.db", "b.db")
        assert (done.code, done.out, done.err) == (0, "", f"written: b.db ({number} ratings)\n")
    assert Path("b.db").stat().st_mode & 0o777 == 0o600
    copied, original = (postil("annotate", "agreement", name, "--resamples", 10).out for name in ("b.db", "c.db"))
    assert copied == original
    for copy in ("b.db", "a.jsonl"):
        content = Path(copy).read_bytes()
        again = postil("annotate", "backup", "c.db", copy)
        assert (again.code, again.err) == (2, f"postil: {copy}: exists already; choose a new file\n")
        assert Path(copy).read_bytes() == content
    for copy in ("-", "", "sqlite:///d.db"):
        nameless = postil("annotate", "backup", "c.db", copy)
        assert nameless.err == f"postil: a backup is a file: expected the name of a new one, got '{copy}'\n"
    Path("link.db").symlink_to("c.db")
    for campaign, copy in (("c.db", "c.db-wal"), ("link.db", "./c.db-journal"), ("c.db", "link.db")):
        own = postil("annotate", "backup", campaign, copy)  # the campaign itself, or what SQLite keeps beside it
        assert (own.code, "choose another name" in own.err or "exists already" in own.err) == (2, True)
        assert postil("annotate", "agreement", "c.db", "--resamples", 10).code == 0
    for verb in (("agreement",), ("export", "-o", "out"), ("invite", "Ann"), ("serve",), ("backup", "d.db")):
        write_error = postil("annotate", verb[0], "alone.db", *verb[1:])
        assert write_error.code == 3, write_error
        assert write_error.err.startswith("postil: alone.db: alone.db-wal is missing, which holds the latest")
        assert "postil annotate backup" in write_error.err
    rest = postil("annotate", "backup", "--incomplete", "alone.db", "d.db")
    assert (rest.code, "shortly before alone.db was copied may be missing" in rest.err) == (0, True)
    assert f"written: d.db ({number} ratings)" in rest.err
    nowhere = postil("annotate", "backup", "c.db", "no/d.db")
    assert (nowhere.code, "parent folder" in nowhere.err) == (2, True)
    assert not [each for each in Path().iterdir() if each.name.endswith((".part", "-wal", "-shm"))]


GOLD = '{"item": "zh-01", "system": "human", "grade": %s}\n'


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        ("cand.jsonl", 2, "beside their articles: --articles FILE"),
        ("cand.jsonl --context note", 3, "note: no such column"),
        ("a.jsonl --context note", 2, "article rows have article and thread"),
        ("a.jsonl --context article,article", 2, "distinct names"),
        ("cand.jsonl --articles cand.jsonl", 3, "cand.jsonl:1: "),
        ("cand.jsonl --articles a.jsonl", 3, "cand.jsonl:5: item: there is no article 'zh-02'"),
        ("a.jsonl -k 3", 2, "annotators per item: expected a number from 1 to 2"),
        ("a.jsonl --item-type jokes", 2, "unknown item type 'jokes'"),
        ("a.jsonl --item-type outputs", 2, "--articles FILE"),
        ("a.jsonl --item-type comments --articles a.jsonl", 2, "--articles goes with candidate rows"),
        ("a.jsonl --item-order up", 2, "unknown item order 'up'"),
        ("a.jsonl --rubric none.toml", 3, "none.toml: cannot be read"),
        ("a.jsonl --rubric bad.json", 3, "bad.json: name"),
        ("a.jsonl --gold gold.jsonl", 3, "gold.jsonl:1: item: there is no item human of zh-01"),
        ("cand.jsonl --articles all.jsonl --gold gold.jsonl", 3, "gold.jsonl:1: grade"),
        ("twice.jsonl", 3, "x has two items with the name 1"),
        ("nul.jsonl", 3, "NUL"),
        ("a.jsonl no/such/folder/c.db -n 2", 2, "parent folder no/such/folder does not exist"),
        ("- --articles -", 2, "only one of the files"),
    ],
)
def test_plan_refuses(postil: Postil, arguments: str, code: int, problem: str) -> None:
    few(CANDIDATES, 8, "cand.jsonl")
    few(ARTICLES, 1, "a.jsonl")
    few(ARTICLES, 99, "all.jsonl")
    Path("bad.json").write_text('{"name": "", "question": "q"}')
    Path("gold.jsonl").write_text(GOLD % 6)
    comments = [{"id": 1, "text": "one"}, {"id": "1", "text": "two"}]
    Path("twice.jsonl").write_text(json.dumps({"id": "x", "title": "t", "comments": comments}))
    Path("nul.jsonl").write_text(json.dumps({"id": "x", "title": "t", "comments": [{"id": 1, "text": "\0"}]}))
    file, *more = arguments.split()
    outcome = postil("annotate", "plan", file, *(more if "-n" in more else ("c.db", "-n", 2, *more)))
    assert (outcome.code, outcome.out) == (code, ""), outcome.err
    assert problem in outcome.err
    assert "Traceback" not in outcome.err


TEXTS = "Topic,System name,Comment\nt1,a,Rain\nt1,b,Snow\nt2,a,Fog\nt2,b,Ice\n"


def test_texts_under_other_names_are_those_of_systems(postil: Postil) -> None:
    Path("t.csv").write_text(TEXTS, encoding="utf-8")
    words = ("annotate", "plan", "t.csv", "c.db", "-n", "2")
    outcome = postil(*words)
    assert outcome.code == 3
    assert outcome.err.endswith("; or, where each row is a text of a system: --context none\n")
    outcome = postil(*words, "--context", "none")
    assert outcome.err.endswith("name the ones for them: --column item=COLUMN --column text=COLUMN\n")
    names = ("--column", "item=Topic", "--column", "system=System name", "--column", "text=Comment")
    outcome = postil(*words, *names)
    assert "beside their articles: --articles FILE; or name columns to show" in outcome.err
    outcome = postil(*words, *names, "--context", "none")
    assert outcome.code == 0, outcome.err
    assert "4 items, 2 of 2 annotators per item" in outcome.out


def test_other_verbs_refuse(postil: Postil) -> None:
    few(ARTICLES, 1, "a.jsonl")
    for verb, more in (("agreement", ()), ("invite", ("Ann",)), ("remove", ("Ann",)), ("export", ("-o", "out"))):
        missing = postil("annotate", verb, "none.db", *more)
        assert (missing.code, missing.err) == (3, "postil: none.db: there is no such file\n")
    assert not Path("none.db").exists()
    assert postil("annotate", "plan", "a.jsonl", "c.db", "-n", 2).code == 0
    again = postil("annotate", "plan", "a.jsonl", "c.db", "-n", 2)
    assert again.code == 2
    assert "holds a campaign already" in again.err
    assert "unknown role 'boss'" in postil("annotate", "invite", "c.db", "Ann", "--role", "boss").err
    assert "days" in postil("annotate", "invite", "c.db", "Ann", "--days", 0).err
    empty = postil("annotate", "export", "c.db", "-o", "out")
    assert (empty.code, empty.err) == (3, "postil: c.db: there are no ratings yet\n")
    assert not Path("out").exists()
    excel = postil("annotate", "export", "c.db", "-o", "out", "--table-format", "xls")
    assert "unknown table format 'xls'" in excel.err


def test_serving_begins_with_a_lead(postil: Postil, monkeypatch: pytest.MonkeyPatch) -> None:
    few(ARTICLES, 1, "a.jsonl")
    assert postil("annotate", "plan", "a.jsonl", "c.db", "-n", 2).code == 0
    asked: list[tuple[object, ...]] = []

    def serve(url: str, options: ServeOptions, *, on_message: object, on_ready: Callable[[str], None]) -> None:
        asked.append((url, options, callable(on_message)))
        on_ready(options.address)

    monkeypatch.setitem(sys.modules, "postil.campaigns.pages.server", SimpleNamespace(serve=serve))  # type: ignore[arg-type]
    first = postil("annotate", "serve", "c.db", "--port", 8001, "--name", "a.example", "--name", "b.example", "--https")
    assert first.code == 0, first.err
    assert asked == [("c.db", ServeOptions(port=8001, name=("a.example", "b.example"), https=True), True)]
    token = re.search(r" https://a\.example/join/([\w-]+)\n", first.err)
    assert token is not None
    with Store.open("c.db") as store:
        assert store.people.accept(token[1]).person.role == "lead"
    assert postil("annotate", "serve", "c.db").err == ""
    for name, following in (("lead", "lead 2"), ("lead 2", "lead 3")):
        assert postil("annotate", "remove", "c.db", name).code == 0
        assert "invitation for the lead" in postil("annotate", "serve", "c.db").err  # nobody is locked out
        with Store.open("c.db") as store:
            assert [person.name for person in store.people.everyone() if person.role == "lead"][-1] == following
    here, proxy = (("--port", 8001), "http://localhost:8001"), (("--https",), "https://localhost")
    named = ("--base-url", "https://a.example"), "https://a.example"
    for number, (flags, address) in enumerate((here, proxy, named)):
        assert postil("annotate", "plan", "a.jsonl", f"{number}.db", "-n", 2).code == 0
        served = postil("annotate", "serve", f"{number}.db", *flags).err.splitlines()
        assert f" {address}/join/" in served[0]
        assert served[1:] == ([] if flags == named[0] else [ONLY_HERE.format(address)])


ONLY_HERE = (
    "only this machine can open links to {}; for others, name the address at which they reach the pages: --base-url URL"
)


def test_links_have_the_address_that_was_served_last(postil: Postil) -> None:
    few(ARTICLES, 1, "a.jsonl")
    assert postil("annotate", "plan", "a.jsonl", "c.db", "-n", 4).code == 0
    first = postil("annotate", "invite", "c.db", "Ann")
    assert first.out.startswith("http://localhost:8000/join/")
    assert first.err == f"{ONLY_HERE.format('http://localhost:8000')}\n"
    assert postil("annotate", "invite", "c.db", "Bob").err == ""  # it was said
    said: list[str] = []
    with Store.open("c.db") as store:
        note_address(store, "http://localhost:8000", said.append)
        assert said == []
        note_address(store, "http://localhost:9000", said.append)
    assert " ".join(said) == (
        "links that nobody has opened yet begin with another address, such as http://localhost:8000: put "
        "http://localhost:9000 in its place, or invite again"
    )
    later = postil("annotate", "invite", "c.db", "Cid")
    assert (later.out[:27], later.err) == ("http://localhost:9000/join/", "")
    here = postil("annotate", "invite", "c.db", "Dee", "--base-url", "http://localhost:7000")
    assert (here.out[:27], here.err) == ("http://localhost:7000/join/", "")  # which was asked for
    late = postil("annotate", "invite", "c.db", "Eve", "--late")
    assert late.out.startswith("http://localhost:9000/join/"), late.err
    with Store.open("c.db") as store:
        assert "localhost" not in json.dumps(codebook(store.campaign(), store.rubric(), {}))


def test_each_batch_of_links_for_this_machine_alone_is_told(postil: Postil) -> None:
    few(ARTICLES, 1, "a.jsonl")
    assert postil("annotate", "plan", "a.jsonl", "c.db", "-n", 2).code == 0
    only_here = f"{ONLY_HERE.format('http://localhost:8000')}\n"
    for role, name, said in (("lead", "Lee", only_here), ("annotator", "Ann", only_here), ("lead", "Mo", "")):
        assert postil("annotate", "invite", "c.db", name, "--role", role).err == said
    with Store.open("c.db") as store:
        store.people.accept(postil("annotate", "invite", "c.db", "Ann").out.rpartition("/")[2].strip())
    assert postil("annotate", "invite", "c.db", "Bob").err == only_here
    with Store.open("c.db") as store:
        store.people.accept(postil("annotate", "invite", "c.db", "Bob").out.rpartition("/")[2].strip())
    assert postil("annotate", "invite", "c.db", "Cid", "--late").err.startswith(only_here)


def test_an_address_for_others_takes_the_place_of_one_for_this_machine_alone(postil: Postil) -> None:
    few(ARTICLES, 1, "a.jsonl")
    assert postil("annotate", "plan", "a.jsonl", "c.db", "-n", 4).code == 0
    assert postil("annotate", "invite", "c.db", "Ann").out.startswith("http://localhost:8000/join/")
    for name, flags in (("Bob", ("--base-url", "https://a.example")), ("Cid", ())):
        outcome = postil("annotate", "invite", "c.db", name, *flags)
        assert (outcome.out[:23], outcome.err) == ("https://a.example/join/", "")
    said: list[str] = []
    with Store.open("c.db") as store:
        for _ in range(2):  # whenever it is served
            note_address(store, "http://localhost:8000", said.append, named=False)
        assert store.campaign().address == "https://a.example"
    first, second = map(COMMAND_LINE.words, said)
    assert first == second
    assert first == (
        "links begin with https://a.example, which was named before, and this server does not answer to it; start it "
        "with --base-url https://a.example behind a reverse proxy, with --host ADDRESS in a local network, or with "
        "--base-url http://localhost:8000 for links that only this machine can open"
    )
    with Store.open("c.db") as store:
        note_address(store, "http://localhost:8000", said.append)
        assert store.campaign().address == "http://localhost:8000"


def test_nobody_is_told_of_links_that_are_used(postil: Postil) -> None:
    few(ARTICLES, 1, "a.jsonl")
    assert postil("annotate", "plan", "a.jsonl", "c.db", "-n", 2).code == 0
    token = postil("annotate", "invite", "c.db", "Ann").out.rpartition("/")[2].strip()
    said: list[str] = []
    with Store.open("c.db") as store:
        store.people.accept(token)
        note_address(store, "http://localhost:9000", said.append)
    assert said == []


@pytest.mark.parametrize(
    ("verb", "module", "package", "who"),
    [
        ("serve", "pages.server", "starlette.routing", "postil annotate serve"),
        ("agreement", "store", "sqlalchemy", "a campaign"),
    ],
)
def test_without_the_packages(  # noqa: PLR0917
    postil: Postil, monkeypatch: pytest.MonkeyPatch, verb: str, module: str, package: str, who: str
) -> None:
    monkeypatch.delitem(sys.modules, f"postil.campaigns.{module}", raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    outcome = postil("annotate", verb, "c.db")
    assert (outcome.code, outcome.err) == (2, f"postil: {who} needs an optional package: pip install 'postil[serve]'\n")


def test_texts_are_added_and_clashing_ones_refused(postil: Postil) -> None:
    few(ARTICLES, 2, "few.jsonl")
    few(ARTICLES, 4, "more.jsonl")
    assert postil("annotate", "plan", "few.jsonl", "c.db", "-n", "3").code == 0
    with Store.open("c.db") as store:
        before = store.items()
    tried = postil("annotate", "add", "c.db", "more.jsonl", "--dry-run")
    assert tried.code == 0, tried.err
    assert "would be added" in tried.err
    added = postil("annotate", "add", "c.db", "more.jsonl")
    assert added.code == 0, added.err
    assert added.out == tried.out
    with Store.open("c.db") as store:
        after = store.items()
    assert f"revision 2: {len(after) - len(before)} texts added, {len(before)} known ones skipped" in added.err
    grade_all("c.db")
    assert postil("annotate", "export", "c.db", "--out", "grades", "--table-format", "jsonl").code == 0
    assert {row["revision"] for row in rows("grades/ratings.jsonl")} == {1, 2}
    assert {row["revision"] for row in rows("grades/resolved.jsonl")} == {1, 2}
    again = rows("more.jsonl")
    again[3]["comments"][0]["text"] += " and more"  # type: ignore[index]
    put("other.jsonl", again)
    clash = postil("annotate", "add", "c.db", "other.jsonl")
    assert clash.code == 3, clash.err
    number, name = again[3]["id"], again[3]["comments"][0]["id"]  # type: ignore[index]
    assert f"other.jsonl:4: comments: the campaign has another text of {name} of {number}; give" in clash.err
    with Store.open("c.db") as store:
        assert store.items() == after
    nothing = postil("annotate", "add", "c.db", "more.jsonl")
    assert nothing.err.endswith(f"nothing to add: the campaign has them already ({len(after)} texts)\n")
    shown = postil("annotate", "agreement", "c.db")
    assert "revision of the plan" in shown.out
    assert json.loads(postil("annotate", "agreement", "c.db", "--format", "json").out)["revisions"][1]["number"] == 2


def test_a_campaign_of_summaries_with_aspects_from_plan_to_agreement(postil: Postil) -> None:
    texts = [
        {"item": f"q{n}", "system": system, "text": f"{system} {n} {again}", "source": f"source {n}"}
        for n in range(4)
        for system in "ab"
        for again in range(2)
    ]
    aspects = [{"name": name, "question": f"{name}?", "high": 2} for name in ("fluency", "truth")]
    Path("two.json").write_text(json.dumps({"name": "two", "question": "?", "aspects": aspects}), encoding="utf-8")
    put("t.jsonl", texts)
    put("clash.jsonl", [texts[0] | {"source": "another one"}])
    shown = ("--item-type", "summary", "--context", "source")
    made = postil("annotate", "plan", "t.jsonl", "c.db", "-n", 2, *shown, "--rubric", "two.json")
    assert made.code == 0, made.err
    again = postil("annotate", "add", "c.db", "t.jsonl")
    assert "nothing to add: the campaign has them already (16 texts)" in again.err
    clash = postil("annotate", "add", "c.db", "clash.jsonl")
    assert (clash.code, "another context of a of q0" in clash.err) == (3, True), clash.err
    with Store.open("c.db") as store:
        for name, grades in (("Ann", (1, 2)), ("Bob", (2, 2))):
            who = join(store, name)
            for n in range(16):
                task = store.grading.task(who, n)
                given = (grades[0], 1 + task.assignment % 2) if n % 2 else grades
                store.grading.rate(who, task.assignment, given, idempotency_key=f"k{n}")
    measured = {}
    for aspect in ("fluency", "truth"):
        found = postil("annotate", "agreement", "c.db", "--resamples", 2, "--aspect", aspect, "--format", "json")
        measured[aspect] = json.loads(found.out)["agreement"]
        assert postil("annotate", "quality", "c.db", "--aspect", aspect).code == 0
    assert measured["fluency"]["estimates"]["agreement"]["value"] == 0
    assert measured["truth"]["estimates"]["agreement"]["value"] > 0
    assert measured["truth"]["texts"] == 16, "samples are texts of their own"
    wrong = postil("annotate", "agreement", "c.db", "--aspect", "trust")
    assert (wrong.code, "did you mean 'truth'" in wrong.err) == (2, True)
    assert postil("annotate", "export", "c.db", "--out", "out").code == 0
    judged = rows("out/judgements.jsonl")
    assert {row["aspect"] for row in judged} == {"fluency", "truth"}
    assert len(judged) == 64


def test_quality_names_who_needs_attention(postil: Postil) -> None:
    few(CANDIDATES, 24, "cand.jsonl")
    assert postil("annotate", "plan", "cand.jsonl", "q.db", "--articles", ARTICLES, "-n", 3, "-k", 3).code == 0
    empty = postil("annotate", "quality", "q.db")
    assert (empty.code, "no competence: competence needs grades, and there are none" in empty.out) == (0, True)
    grade_all("q.db")
    shown = postil("annotate", "quality", "q.db")
    assert (shown.code, shown.err) == (0, "")
    assert "competence by one-factor" in shown.out
    found = json.loads(postil("annotate", "quality", "q.db", "--model", "dawid-skene", "--format", "json").out)
    assert (found["kind"], found["model"], found["ratings"]) == ("quality", "dawid-skene", 72)
    assert {row["annotator"] for row in found["annotators"]} == {"A1", "A2", "A3"}
    assert all(0 <= row["competence"] <= 1 and row["shared"] == 24 for row in found["annotators"])
    unknown = postil("annotate", "quality", "q.db", "--model", "mean")
    assert unknown.code == 2
    assert unknown.err == "postil: unknown model 'mean'; did you mean 'mace'? Known: one-factor, mace, dawid-skene\n"


@pytest.fixture
def campaign(postil: Postil) -> str:
    assert postil("annotate", "plan", few(ARTICLES, 2, "few.jsonl"), "c.db", "-n", "3").code == 0
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
        rate(store, join(store, "Ann"), 0, 4)
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
    put(name, list(made))
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
    fake = SimpleNamespace(serve=lambda _, options, *, on_ready, **__: on_ready(options.address))
    monkeypatch.setitem(sys.modules, "postil.campaigns.pages.server", fake)  # type: ignore[arg-type]
    served = postil("annotate", "serve", "b.db")
    assert (served.code, "invitation for the lead" in served.err) == (0, True), served.err
    assert postil("annotate", "add", "b.db", "new.jsonl").code == 0
