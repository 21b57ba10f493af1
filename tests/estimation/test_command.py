"""`postil estimate`: from files to a table, JSON and a page; what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from postil.data.row_files import write
from postil.data.rows import Judgement, Score

if TYPE_CHECKING:
    from conftest import Postil

COMMAND = ("estimate", "s.jsonl", "--judgements", "j.jsonl")
SYSTEMS = ("good", "fair", "poor")


def quality(item: int, system: int) -> int:
    return (item * 7 + system * 3) % 5 - 2 * system


def scores() -> list[Score]:
    return [
        Score(f"i{item}", system, metric, quality(item, place) + spread * ((item * 5 + place) % 3), f"{metric}|by hand")
        for metric, spread in (("judge", 0.25), ("noise", 50.0))
        for item in range(40)
        for place, system in enumerate(SYSTEMS)
    ]


def ratings(aspect: str | None = None) -> list[Judgement]:
    return [
        Judgement(f"i{item}", system, who, float(5 + quality(item, place) + (item + place + number) % 2), aspect)
        for item in range(24)
        for place, system in enumerate(SYSTEMS)
        for number, who in enumerate(["ann", "bob"])
    ]


@pytest.fixture
def files(postil: Postil) -> Postil:
    write("s.jsonl", scores())
    write("j.jsonl", ratings())
    return postil


TABLE = """\
24 of 40 items graded, 3 systems, 144 ratings by 2 annotators; target: population

system     mean [95 % CI]  ratings only [95 % CI]  rank  group
------  -----------------  ----------------------  ----  -----
"""


def test_the_table(files: Postil) -> None:
    outcome = files(*COMMAND)
    assert outcome.code == 0, outcome.err
    head, body = outcome.out[: len(TABLE)], outcome.out[len(TABLE) :].splitlines()
    assert head == TABLE
    assert [line.split()[0] for line in body[:3]] == list(SYSTEMS)
    assert [line.split()[-1] for line in body[:3]] == ["a", "b", "c"]
    assert [line.split()[-2] for line in body[:3]] == ["1", "2", "3"]
    efficiency, significant, *rest = body[4:]
    assert efficiency.startswith("relative efficiency ")
    assert ": 24 graded items with these scores are worth " in efficiency
    assert " without them (differences: " in efficiency
    assert significant == "3 of 3 differences are significant (Holm-adjusted p < .05)"
    assert rest[-1] == "  each with |by hand"


def test_json_has_all_fields(files: Postil) -> None:
    outcome = files(*COMMAND, "--target", "items", "--format", "json")
    made: dict[str, Any] = json.loads(outcome.out)
    assert made["kind"] == "estimate"
    assert made["target"] == "items"
    assert made["settings"]["command"].startswith("postil estimate s.jsonl --judgements j.jsonl --target items")
    assert made["signatures"] == {"judge": "judge|by hand", "noise": "noise|by hand"}


def test_the_ratings_alone(files: Postil) -> None:
    without = files("estimate", "--judgements", "j.jsonl")
    assert without.code == 0, without.err
    assert "24 of 24 items graded, 3 systems, 144 ratings by 2 annotators; target: population; method: human" in (
        without.out
    )
    assert "ratings only" not in without.out
    alone = files(*COMMAND, "--method", "human")
    assert alone.out.splitlines()[2:] == without.out.splitlines()[2:]
    assert alone.out.startswith("24 of 40 items graded")


def test_the_report(files: Postil) -> None:
    outcome = files(*COMMAND, "--report", "r.html")
    assert outcome.code == 0, outcome.err
    assert "written: r.html" in outcome.err
    page = Path("r.html").read_text(encoding="utf-8")
    assert "is significantly ahead of all others" in page
    assert "Adding items after a look at the intervals is optional stopping" in page
    names = {path.name for path in Path("r_files").iterdir()}
    assert {"systems.csv", "differences.csv", "scores.csv", "curve.csv", "estimates.tex", "results.json"} <= names
    assert files("report", "r_files/results.json", "--out", "again.html").code == 0


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (("--method", "cross"), 2, "unknown method 'cross'; did you mean 'crossed'"),
        (("--method", "ppi"), 2, "ppi takes one score, and there are 2; choose one: --metric NAME"),
        (("--method", "ppi", "--metric", "judge", "--target", "items"), 2, "ppi estimates the mean of a population"),
        (("--method", "human", "--metric", "jugde"), 2, "unknown metric 'jugde'; did you mean 'judge'"),
        (("--lower-is-better", "ter"), 2, "unknown metric 'ter'"),
        (("--aspect", "fluency"), 3, 'no judgement names an aspect, so none is "fluency"'),
        (("--scale", "1:5"), 3, "j.jsonl:"),
    ],
)
def test_what_is_refused(files: Postil, more: tuple[str, ...], code: int, message: str) -> None:
    outcome = files(*COMMAND, *more)
    assert message in outcome.err
    assert (outcome.out, outcome.code) == ("", code)


def test_methods_can_be_compared_by_one_option(files: Postil) -> None:
    alone = files(*COMMAND, "--method", "human").out
    assert files(*COMMAND, "--method", "human", "--metric", "judge").out == alone
    assert "method: ppi" in files(*COMMAND, "--method", "ppi", "--metric", "judge").out


def test_scores_are_needed_for_some_options(files: Postil) -> None:
    alone = ("estimate", "--judgements", "j.jsonl")
    assert "--method ppi needs scores" in files(*alone, "--method", "ppi").err
    assert "there are no scores, so none by judge" in files(*alone, "--metric", "judge").err


def test_several_aspects(files: Postil) -> None:
    write("j.jsonl", [*ratings("relevance"), *ratings("style")])
    outcome = files(*COMMAND)
    assert outcome.code == 3
    assert "choose one: --aspect NAME" in outcome.err
    assert "2 annotators, aspect style; target" in files(*COMMAND, "--aspect", "style").out


def test_notes_and_exclusions_stand_below_the_table(files: Postil) -> None:
    write("j.jsonl", [*ratings()[:30], Judgement("x", "good", "ann", 1.0)])
    said = files(*COMMAND).out
    assert "note: scores not used: 5 graded items (8 needed); the results are those of the ratings alone\n" in said
    assert "note: groups are rough below 20 graded items, and there are 5\n" in said
    assert "excluded: judged but not scored: 1 (x by good)\n" in said
    write("j.jsonl", [Judgement(f"i{item}", system, "ann", 5.0) for item in range(9) for system in SYSTEMS])
    said = files(*COMMAND).out
    assert "no interval of good, fair, poor: all grades of all systems are 5\n" in said
    assert "note: all 9 grades" not in said
