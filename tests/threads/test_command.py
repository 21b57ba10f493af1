"""`postil rank-comments`: orders, diversity, reasons, and threads that have no order."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from postil.data.row_files import write
from postil.data.rows import Article, Comment
from postil.threads.options import ORDERS
from retrieval_models import article, train_retrievers
from screen_decisions import rows

if TYPE_CHECKING:
    from conftest import Outcome, Postil

KNOWN = ", ".join(ORDERS)
NO_FOLDER = (
    't.jsonl: the split "dev" needs a dataset folder, and this is a file; '
    "leave --split out, or name the folder: --split ROLE=dev"
)
THREAD = (
    Comment("a", "The bridge is closed again.", upvotes=1, date="2020-03-01"),
    Comment("b", "the bridge is closed, again", upvotes=7, date="2020-03-02"),
    Comment("c", "Who will pay for all of this?", upvotes=-2, date="2020-03-03"),
)


@pytest.fixture(autouse=True)
def threads(postil: Postil) -> None:
    assert postil
    write("t.jsonl", [Article("1", "The bridge", THREAD), Article("2", "No comments", ())])


def order(outcome: Outcome) -> list[str]:
    assert outcome.code == 0, outcome.err
    return [json.loads(line)["comment"] for line in outcome.out.splitlines()]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--by", "votes"), "bac"),
        (("--by", "oldest"), "abc"),
        (("--by", "newest"), "cba"),
        (("--by", "length"), "cab"),
        (("--by", "votes=1", "--by", "newest=3"), "cba"),
        (("--by", "votes=2", "--by", "newest"), "bac"),
        (("--by", "votes", "--diversity", 0.6), "bca"),
        (("--by", "votes", "--diversity", 1), "bca"),
    ],
)
def test_orders(words: tuple[str, ...], expected: str, postil: Postil) -> None:
    assert order(postil("rank-comments", "t.jsonl", *words, "--format", "jsonl")) == list(expected)


def test_reasons_in_each_format(postil: Postil) -> None:
    command = ("rank-comments", "t.jsonl", "--by", "votes", "--format")
    rows = [json.loads(line) for line in postil(*command, "jsonl").out.splitlines()]
    said = ["shares 'bridge' with the title", "7 votes, the most of the thread", "1 near duplicate in the thread"]
    assert (rows[0]["reasons"], rows[0]["score"], rows[0]["same_as"]) == (said, 1.0, None)
    assert rows[1]["reasons"] == ["shares 'bridge' with the title", "the oldest comment", "near duplicate of b"]
    assert (rows[1]["same_as"], rows[2]["reasons"]) == (
        "b",
        ["-2 votes", "7 words, the most of the thread", "a question"],
    )
    assert json.loads(postil(*command, "json").out)["comments"] == rows
    first, *_ = csv.DictReader(io.StringIO(postil(*command, "csv").out))
    assert first["reasons"] == "; ".join(said)
    cards = postil(*command, "table").out.split("\n\n")
    assert " ".join(cards[0].split()) == f"1. the bridge is closed, again 1 · b · 1.0000 · {'; '.join(said)}"


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (
            (),
            2,
            "expected an order of the comments: --model DIR for relevance, --quality DIR, or --by, as in --by votes",
        ),
        (("--by", "relevance"), 2, "--by relevance needs a model: --model DIR"),
        (("--by", "votes", "-m", "x"), 2, "--model: for --by relevance alone"),
        (("--by", "vote"), 2, f"unknown order 'vote'; did you mean 'votes'? Known: {KNOWN}"),
        (("--by", "votes", "--by", "votes=2"), 2, "--by votes: given twice"),
        (("--by", "votes=0"), 2, "--by votes=0: expected a number above 0 after =, got '0'"),
        (("--by", "votes=nan"), 2, "--by votes=nan: expected a number above 0 after =, got 'nan'"),
        (("--by", "votes", "--split", "dev"), 2, NO_FOLDER),
        (("--by", "votes="), 2, "--by votes=: expected a number above 0 after =, got ''"),
    ],
)
def test_what_is_no_order(words: tuple[str, ...], code: int, problem: str, postil: Postil) -> None:
    done = postil("rank-comments", "t.jsonl", *words)
    assert (done.code, done.out, done.err) == (code, "", f"postil: {problem}\n")


def test_threads_without_votes_are_named(postil: Postil) -> None:
    unvoted = Article("3", "x", (Comment("a", "b"), Comment("b", "c", upvotes=1)))
    write("some.jsonl", [Article("1", "The bridge", THREAD), unvoted])
    done = postil("rank-comments", "some.jsonl", "--by", "votes", "--format", "jsonl")
    assert order(done) == ["b", "a", "c"]
    assert done.err == "some.jsonl: no ranks in 1 of 2 articles (3): a comment has no upvotes\n"
    write("none.jsonl", [unvoted])
    done = postil("rank-comments", "none.jsonl", "--by", "newest")
    problem = "none.jsonl: no ranks in 1 of 1 articles (3): a comment has no date; choose another --by"
    assert (done.code, done.out, done.err) == (3, "", f"postil: {problem}\n")


def test_threads_of_one_comment_of_ties_and_of_nothing(postil: Postil) -> None:
    tied = tuple(Comment(name, "", upvotes=0) for name in "ba")
    write("odd.jsonl", [Article("1", "x", (Comment("a", "…", upvotes=3),)), Article("2", "", tied)])
    done = postil("rank-comments", "odd.jsonl", "--by", "votes", "--diversity", 0.5, "--format", "json")
    assert [(row["comment"], row["score"]) for row in json.loads(done.out)["comments"]] == [
        ("a", 0.5),
        ("a", 0.5),
        ("b", 0.5),
    ]
    Path("empty.jsonl").write_text("")
    assert postil("rank-comments", "empty.jsonl", "--by", "votes").code in (0, 3)


def test_quality_alone_is_the_order_where_both_models_are_given(postil: Postil, tmp_path: Path) -> None:
    train_retrievers(tmp_path, kinds=("ir-tc",))
    trained = postil("train", "quality", "--corpus", tmp_path / "corpus", "--out", "my q")
    assert trained.err.endswith("go on with: postil rank-comments ARTICLES --quality 'my q'\n")
    Path("my q").rename("q")
    write("new.jsonl", [article(number) for number in range(40, 44)])
    rank = ("rank-comments", "new.jsonl", "--quality", "q", "--format", "jsonl")
    alone, both = postil(*rank), postil(*rank, "-m", tmp_path / "tc")
    assert alone.code == both.code == 0, both.err
    assert both.out == alone.out
    assert "is not read; --by quality and --by relevance mix both" in both.err
    assert "is not read" not in alone.err
    mixed = postil(*rank, "-m", tmp_path / "tc", "--by", "quality", "--by", "relevance")
    assert mixed.code == 0, mixed.err
    assert mixed.out != alone.out

    evaluate = ("evaluate", tmp_path / "tc", "--corpus", tmp_path / "corpus", "--split", "dev", "--figures", "drawn")
    for more in ((), ("--threads", "votes")):
        assert postil(*evaluate, *more).code == 0
    assert {path.name.partition("-")[0] for path in Path("drawn").iterdir()} == {"commenters", "thread"}


def test_a_screen_marks_what_moderators_would_hold(postil: Postil) -> None:
    pytest.importorskip("sklearn")
    write("decisions.jsonl", rows())
    assert postil("train", "screen", "decisions.jsonl", "--out", "screen").code == 0
    rude = Comment("d", "you <b>stupid</b> liar", upvotes=9)
    kind = Comment("e", "we walked home in the rain with bread and the baker was late", upvotes=-9)
    write("t.jsonl", [Article("1", "The bridge", (*THREAD, rude, kind))])
    command = ("rank-comments", "t.jsonl", "--by", "votes", "--screen", "screen", "--format")
    first, *_, last = [json.loads(line) for line in postil(*command, "jsonl").out.splitlines()]
    assert (first["comment"], first["screened"]["decision"], last["screened"]["decision"]) == ("d", "hold", "keep")
    assert first["reasons"][0].startswith("moderators would hold it: probability ")
    assert "for insult " in first["reasons"][0]
    row, *_ = csv.DictReader(io.StringIO(postil(*command, "csv").out))
    assert (row["decision"], float(row["probability"])) == ("hold", pytest.approx(first["screened"]["probability"]))
    plain, *_ = postil("rank-comments", "t.jsonl", "--by", "votes", "--format", "jsonl").out.splitlines()
    assert "screened" not in json.loads(plain)
