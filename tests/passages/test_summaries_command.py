"""`postil passages --summaries`: the table, item scores for other commands, and flags that do not go together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from postil.data.row_files import write
from postil.data.rows import Candidate, Passage, TopicArticle

if TYPE_CHECKING:
    from conftest import Postil

COMMAND = ("passages", "p.jsonl", "--summaries", "s.jsonl", "-m", "f1-1", "-m", "kl-1", "--resamples", "20")
TOPICS = {"ducks": "swim moult dive", "bread": "rye wheat dough", "tides": "moon water coast"}


@pytest.fixture(autouse=True)
def files(postil: Postil) -> None:
    assert postil  # it changed the folder
    write("p.jsonl", [Passage(topic, "1", text, grade=1) for topic, text in TOPICS.items()])
    texts = {"half": 1, "all": 3, "most": 2}
    write(
        "s.jsonl",
        [
            Candidate(topic, system, " ".join(text.split()[:n]) + f" and {n} <b>more</b>")
            for topic, text in TOPICS.items()
            for system, n in texts.items()
        ],
    )
    write("a.jsonl", [TopicArticle(topic, f"{text} and more") for topic, text in TOPICS.items()])


def test_the_best_system_of_each_measure_comes_first(postil: Postil) -> None:
    outcome = postil(*COMMAND)
    assert (outcome.code, outcome.err) == (0, "")
    systems = [line.split()[0] for line in outcome.out.splitlines() if " f1-1 " in line or " kl-1 " in line]
    assert systems == ["all", "most", "half"] * 2
    assert outcome.out.startswith(
        "9 summaries of 3 topics by 3 systems, scored against the informative passages of each"
    )
    for line in ("lower is better: kl-1", "cut at 500 words: 0 of 9", "note: a bootstrap over 3 topics: its"):
        assert f"\n{line}" in outcome.out


def test_two_references(postil: Postil) -> None:
    outcome = postil(*COMMAND, "--articles", "a.jsonl", "--format", "json")
    assert outcome.code == 0, outcome.err
    found = json.loads(outcome.out)
    assert found["kind"] == "summaries"
    assert [row["reference"] for row in found["scores"]] == ["passages"] * 6 + ["articles"] * 6
    assert {(row["metric"], row["by"], row["n"]) for row in found["agreement"]} == {
        ("f1-1", "system", 3),
        ("kl-1", "system", 3),
    }
    assert "passages and articles  systems" in postil(*COMMAND, "--articles", "a.jsonl").out


def test_item_scores_for_compare_and_correlate(postil: Postil) -> None:
    outcome = postil(*COMMAND, "--items", "i.jsonl")
    assert outcome.code == 0, outcome.err
    compared = postil("compare", "i.jsonl", "--baseline", "half", "--format", "jsonl")
    assert compared.code == 0, compared.err
    rows = [json.loads(line) for line in compared.out.splitlines()]
    assert all(row["difference"] > 0 for row in rows if row["system"] != "half")
    with Path("j.jsonl").open("w", encoding="utf-8") as file:
        for topic in TOPICS:
            for system, grade in {"half": 1, "all": 3, "most": 2}.items():
                file.write(json.dumps({"item": topic, "system": system, "annotator": "ann", "grade": grade}) + "\n")
    correlated = postil("correlate", "i.jsonl", "--judgements", "j.jsonl", "--by", "item", "-c", "spearman")
    assert correlated.code == 0, correlated.err


def test_a_page(postil: Postil) -> None:
    outcome = postil(*COMMAND, "--report", "r.html")
    assert outcome.code == 0, outcome.err
    page = Path("r.html").read_text("utf-8")
    assert "Summaries of topics" in page


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--k", "3"), "-k ranks passages, and --summaries scores whole texts; leave one of them out"),
        (("--reference", "others"), "--reference ranks passages, and --summaries scores whole texts; leave one"),
        (("--leave-one-out",), "--leave-one-out ranks passages"),
        (("--runs", "x"), "--runs ranks passages, and --summaries scores whole texts"),
        (("--figures", "x"), "--figures ranks passages"),
        (("--anchors",), "--anchors: summaries have none; leave it out"),
        (("--items", "-"), "--items: expected a file; standard output is for the means"),
        (("--items", "s.jsonl"), "s.jsonl: "),
        (("-m", "length"), "length: expected a measure that compares with a reference; leave it out"),
        (("--articles", "-"), "only one of the files can be standard input"),
    ],
)
def test_flags_that_do_not_go_together(postil: Postil, flags: tuple[str, ...], message: str) -> None:
    command = ["-" if word == "s.jsonl" and flags == ("--articles", "-") else word for word in COMMAND]
    outcome = postil(*command, *flags)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"postil: {message}")
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize("flags", [("--articles", "a.jsonl"), ("--max-words", "9"), ("--items", "i.jsonl")])
def test_flags_that_need_summaries(postil: Postil, flags: tuple[str, ...]) -> None:
    outcome = postil("passages", "p.jsonl", *flags)
    assert (outcome.code, outcome.err) == (2, f"postil: {flags[0]} goes with --summaries FILE\n")
