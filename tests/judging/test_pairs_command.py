"""`postil judge --pairs` against a server on loopback: rows that compare reads, the same bytes, limits and failures."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import postil as library
from endpoint_stub import Asked, Reply, StubServer, completion, error

if TYPE_CHECKING:
    from conftest import Outcome, Postil

TEXTS = {"short": "No.", "middle": "It will rain.", "long": "It will rain in the north all day."}
ITEMS = ("rain", "mayor", "bus")
PEOPLE = [
    {"item": item, "system_a": "short", "system_b": "long", "annotator": person, "preference": choice}
    for item in ITEMS
    for person, choice in (("ann", "b"), ("bob", "a" if item == "bus" else "b"))
]


def texts_of(asked: Asked) -> list[str]:
    return [asked.prompt.split(f'name="{name}">\n')[1].split("\n</")[0] for name in "AB"]


def compared(asked: Asked) -> Reply:
    """Probabilities that prefer more words; prose, then samples, where the shortest text is one of the two."""
    first, second = (len(text.split()) for text in texts_of(asked))
    letter = "A" if first > second else "B"
    if not asked.body.get("logprobs"):
        return completion(f"Verdict: {letter}", usage=(100, 4))
    if 1 in (first, second):
        return completion("Well", tokens={"Well": math.log(0.7), "A": math.log(0.2)}, usage=(100, 1))
    return completion(letter, tokens={letter: math.log(0.8), "C": math.log(0.1)}, usage=(100, 1))


def text_of(item: str, system: str) -> str:
    return TEXTS[system] if system == "short" else f"{TEXTS[system]} {item}"


class Comparing:
    """Runs the command on the texts of three systems, in a folder of its own."""

    def __init__(self, run: Postil) -> None:
        self._run = run
        rows = [{"item": item, "system": system, "text": text_of(item, system)} for item in ITEMS for system in TEXTS]
        write("t.jsonl", rows)
        write("a.jsonl", [{"id": item, "title": item.title(), "content": "One two three."} for item in ITEMS])
        write("g.jsonl", [{"item": i, "text": f"grade {grade}", "grade": grade} for i in ITEMS for grade in (2, 4)])
        write("p.jsonl", PEOPLE)

    def __call__(self, url: str, *more: str) -> Outcome:
        common = ("--pairs", "--articles", "a.jsonl", "--model", "m", "--out", "out.jsonl", "--retries", "0")
        return self._run("judge", "t.jsonl", *common, "--endpoint", url, *more)

    @property
    def rows(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in Path("out.jsonl").read_text(encoding="utf-8").splitlines()]


def write(name: str, rows: list[dict[str, object]]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def comparing(postil: Postil) -> Comparing:
    return Comparing(postil)


def test_rows_are_preferences_that_compare_and_people_share(comparing: Comparing, postil: Postil) -> None:
    with StubServer(compared) as stub:
        found = comparing(stub.url, "--format", "json", "--preferences", "p.jsonl", "--report", "page.html")
    assert found.code == 0, found.err
    result = json.loads(found.out)
    assert result["kind"] == "judge-pairs"
    assert result["rows"] == comparing.rows
    assert [(row["system_a"], row["system_b"], row["preference"]) for row in comparing.rows[:3]] == [
        ("short", "middle", "b"),
        ("short", "long", "b"),
        ("middle", "long", "b"),
    ]
    sampled, expected = comparing.rows[0], comparing.rows[2]
    assert (sampled["samples"], sampled["calls"], sampled["score"]) == (10, 12, 0.0)
    assert expected["score"] == pytest.approx(0.05 / 0.9)
    assert (expected["calls"], expected["mass"]) == (2, pytest.approx(0.9))
    head, *parts = str(expected["signature"]).split("|")
    assert head == "judge-pairs(model=m,served=stub-1,anchors=none,samples=5,temperature=0.7)"
    assert {part.partition(":")[0] for part in parts} == {"prompt", "rubric", "article-words", "seed", "postil"}
    both = postil("compare", "--preferences", "out.jsonl", "--format", "json")
    assert both.code == 0, both.err
    assert json.loads(both.out)["systems"] == result["strengths"]["systems"]
    assert (result["people"]["judge"]["share"]["value"], result["people"]["people"]["share"]["value"]) == (
        pytest.approx(5 / 6),
        pytest.approx(2 / 3),
    )
    Path("all.jsonl").write_bytes(Path("out.jsonl").read_bytes() + Path("p.jsonl").read_bytes())
    mixed = json.loads(postil("compare", "--preferences", "all.jsonl", "--format", "json").out)
    assert (mixed["annotators"], mixed["preferences"]) == (3, 15)
    assert library.read_result(_saved(found.out)).to_json() == found.out
    assert "Pairs judged by a language model" in Path("page.html").read_text(encoding="utf-8")


def _saved(text: str) -> str:
    Path("result.json").write_text(text, encoding="utf-8")
    return "result.json"


def test_the_table_says_what_biases_the_judge(comparing: Comparing) -> None:
    with StubServer(compared) as stub:
        found = comparing(stub.url, "--preferences", "p.jsonl")
    assert found.code == 0, found.err
    for said in (
        "judge(m), 9 pairs, 78 answers",
        "verdict changes with the order: .000 [.000, .000] of 9 pairs",
        "preference for the first place: .500 [.500, .500] (without bias .500)",
        "preference for the longer text: ",
        "agreement with people: .833",
        "agreement of two people: .667",
        "6 of 9 pairs judged by samples",
    ):
        assert said in found.out


def test_a_second_run_makes_no_calls_and_gives_the_same_bytes(comparing: Comparing) -> None:
    more = ("--cache", "answers", "--format", "json", "--price", "1:2")
    with StubServer(compared) as stub:
        first = comparing(stub.url, *more)
        rows, asked = Path("out.jsonl").read_bytes(), len(stub.asked)
        second = comparing(stub.url, *more)
        assert Path("out.jsonl").read_bytes() == rows
        assert "0 calls" in comparing(stub.url, *more, "--parallel", "1").err
        assert len(stub.asked) == asked == 78
    assert (first.code, second.code) == (0, 0)
    assert second.out == first.out
    assert Path("out.jsonl").read_bytes() == rows


def test_a_reached_limit_keeps_pairs_with_both_orders(comparing: Comparing) -> None:
    with StubServer(compared) as stub:
        stopped = comparing(stub.url, "--cache", "answers", "--limit-calls", "30", "--parallel", "1")
        assert stopped.code == 1
        assert "pairs judged; their rows are in out.jsonl" in stopped.err
        assert {row["calls"] for row in comparing.rows} <= {2, 12}
        assert 0 < len(comparing.rows) < 9
        assert comparing(stub.url, "--cache", "answers").code == 0
        assert len(stub.asked) == 78
        assert len(comparing.rows) == 9


def test_a_dry_run_counts_both_orders(comparing: Comparing) -> None:
    with StubServer(compared) as stub:
        planned = json.loads(comparing(stub.url, "--dry-run", "--format", "json").out)
        some = json.loads(comparing(stub.url, "--dry-run", "--format", "json", "--pairs-per-item", "1").out)
        assert stub.asked == []
    assert (planned["calls"], some["calls"]) == (18, 6)


def test_graded_references_are_examples_in_both_orders(comparing: Comparing) -> None:
    with StubServer(compared) as stub:
        assert comparing(stub.url, "-r", "g.jsonl", "--scale", "1:5").code == 0
        prompts = [asked.prompt for asked in stub.asked]
    assert all(prompt.count('<example grade="') == 2 for prompt in prompts)
    assert len({prompt.partition("The two texts")[0] for prompt in prompts}) == len(ITEMS)
    assert "|scale:1:5|weights:grade|anchors-per-grade:1|" in str(comparing.rows[0]["signature"])


def test_pairs_without_a_verdict_are_counted_and_told_with_a_way_out(comparing: Comparing) -> None:
    def answering(asked: Asked) -> Reply:
        return completion("Both have merits.") if "mayor" in "".join(texts_of(asked)) else compared(asked)

    with StubServer(answering) as stub:
        found = comparing(stub.url, "--no-logprobs", "--samples", "2", "--format", "json")
        table = comparing(stub.url, "--no-logprobs", "--samples", "2")
    result = json.loads(found.out)
    assert [(each["reason"], each["n"]) for each in result["absent"]] == [("unreadable", 3)]
    assert len(result["rows"]) == 6
    assert all(row["absent"] == 1 for row in result["pairs"])
    assert "judge(m), 6 pairs, 3 without a verdict" in table.out
    assert "3 pairs without a verdict (unreadable): --prompt FILE asks in other words, and --samples N" in table.out
    with StubServer(lambda _: completion("Both have merits.")) as stub:
        nothing = comparing(stub.url)
    assert nothing.code == 1
    assert "no pair has a verdict: none of 5 answers is A, B or C: for example 'Both have merits.'" in nothing.err
    assert "--prompt FILE" in nothing.err


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (("--controls",), 2, "--controls is for grades"),
        (("--judgements", "p.jsonl"), 2, "--judgements go with grades; with --pairs, --preferences FILE has"),
        (("-r", "g.jsonl"), 2, "name the scale of the grades: --scale 1:5"),
        (("--baseline", "shrt"), 2, "unknown system 'shrt'; did you mean 'short'?"),
        (("--pairs-per-item", "0"), 2, "'--pairs-per-item': 0 is not in the range x>=1."),
        (("--prompt", "bad.txt"), 2, "expected the field {candidates}"),
        (("--preferences", "t.jsonl"), 3, "t.jsonl:1"),
        (("--out", "p.jsonl", "--preferences", "p.jsonl"), 2, "p.jsonl: would be written over p.jsonl"),
    ],
)
def test_wrong_usage_is_a_sentence_before_any_call(
    comparing: Comparing, more: tuple[str, ...], code: int, said: str
) -> None:
    Path("bad.txt").write_text("[user]\n{article}", encoding="utf-8")
    with StubServer(compared) as stub:
        found = comparing(stub.url, *more)
        assert stub.asked == []
    assert said in found.err
    assert found.code == code


@pytest.mark.parametrize("more", [("--baseline", "short"), ("--pairs-per-item", "1"), ("--preferences", "p.jsonl")])
@pytest.mark.usefixtures("comparing")
def test_options_of_pairs_need_pairs(postil: Postil, more: tuple[str, ...]) -> None:
    common = ("judge", "t.jsonl", "--model", "m", "--scale", "1:5", "--anchors", "none")
    found = postil(*common, "--endpoint", "http://127.0.0.1:9/v1", *more)
    assert found.code == 2
    assert f"{more[0]} goes with --pairs" in found.err


def test_a_failing_endpoint_is_a_sentence(comparing: Comparing) -> None:
    with StubServer(lambda _: error(401, "no key")) as stub:
        found = comparing(stub.url)
    assert found.code == 1
    assert "put a key of access into POSTIL_API_KEY" in found.err
    assert not Path("out.jsonl").exists()


def test_python_has_the_same_numbers(comparing: Comparing) -> None:
    with StubServer(compared) as stub:
        comparing(stub.url, "--cache", "answers")
        options = library.JudgeOptions(endpoint=stub.url, model="m", cache="answers")
        articles = [{"id": item, "title": item.title(), "content": "One two three."} for item in ITEMS]
        wide = [{"item": item} | {system: text_of(item, system) for system in TEXTS} for item in ITEMS]
        asked = len(stub.asked)
        found = library.judge_pairs("t.jsonl", articles="a.jsonl", options=options, preferences=PEOPLE)
        columns = library.judge_pairs(wide, articles=articles, options=options, text=list(TEXTS))
        assert len(stub.asked) == asked
    assert [row.score for row in found.rows] == [row["score"] for row in comparing.rows]
    assert [row.score for row in columns.rows] == [row["score"] for row in comparing.rows]
    assert columns.strengths == found.strengths == library.compare_preferences("out.jsonl")
    assert found.people is not None
    assert columns.people is None


def test_limits_of_win_rates(comparing: Comparing) -> None:
    with StubServer(compared) as stub:
        met = comparing(stub.url, "--fail-below", "win-rate=0")
        missed = comparing(stub.url, "--fail-below", "Win-Rate=.5", "--junit", "limits.xml")
        other = comparing(stub.url, "--fail-below", "judge=3")
    assert (met.code, missed.code, missed.out) == (0, 4, met.out)
    assert "short: win-rate is 0, below the limit of 0.5" in missed.err
    assert Path("limits.xml").read_text().count("<failure") == 1
    assert (other.code, other.err) == (2, "postil: unknown metric with a limit 'judge'. Known: win-rate\n")


def test_people_whose_pairs_have_no_verdict(comparing: Comparing) -> None:
    write("p.jsonl", [row for row in PEOPLE if row["item"] == "bus"])

    def silent(asked: Asked) -> Reply:
        texts = set(texts_of(asked))
        bus = {text_of("bus", "short"), text_of("bus", "long")} == texts and "Bus" in asked.prompt
        return completion("I cannot say.") if bus else compared(asked)

    with StubServer(silent) as stub:
        found = comparing(stub.url, "--preferences", "p.jsonl", "--format", "json")
    assert found.code == 0, found.err
    result = json.loads(found.out)
    assert result["people"] is None
    said = "no agreement with people: no pair that their 2 preferences are about has a verdict"
    assert said in result["notes"]
