"""Bad input: exit code 3, one line on standard error that says where and what, and nothing half-written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from command_line import refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Postil

HERE = Path(__file__).parents[1]
CANDIDATES = (HERE / "candidates.jsonl").read_text()
REFERENCES = (HERE / "references.jsonl").read_text()
HAN = "今天天气很好"
SCALE = ("--scale", "1:5")


def write_error(postil: Postil, *args: object, candidates: str = "c.jsonl", references: str = "r.jsonl") -> str:
    return refusal(postil, "score", candidates, "-r", references, "--items", "items.jsonl", *args)


def references(change: Callable[[str], str]) -> None:
    Path("r.jsonl").write_text(change(REFERENCES), encoding="utf-8")


def weights(*values: object) -> None:
    rows = [json.loads(line) for line in REFERENCES.splitlines()]
    lines = [json.dumps({"item": r["item"], "text": r["text"], "weight": v}) for r, v in zip(rows, values, strict=True)]
    Path("r.jsonl").write_text("\n".join(lines))


@pytest.mark.parametrize("weight", [1.5, -0.5])
@pytest.mark.parametrize("metric", [(), ("-m", "w-meteor"), ("-m", "delta-bleu", "-m", "w-bleu-2")])
def test_weight_outside_0_to_1(postil: Postil, weight: float, metric: tuple[str, ...]) -> None:
    weights(1, 0.5, weight)
    assert write_error(postil, *metric) == f"r.jsonl:3: weight: expected a number from 0 to 1, got {weight:g}"


@pytest.mark.parametrize("options", [SCALE, (), ("--weights", "score", *SCALE)])
def test_misspelt_grade(postil: Postil, options: tuple[str, ...]) -> None:
    references(lambda text: text.replace('"grade"', '"grad"'))
    line = write_error(postil, "-m", "w-meteor", *options)
    assert line.startswith(
        "r.jsonl:1: grade: missing; a w- metric needs a grade, ratings or a weight on every reference"
    )
    assert "this row has: item, text, grad, upvotes" in line


@pytest.mark.parametrize(("method", "field"), [("votes", "upvotes"), ("given", "weight")])
def test_missing_field_of_a_weights_method(postil: Postil, method: str, field: str) -> None:
    references(lambda text: text.replace('"upvotes"', '"likes"'))
    assert write_error(postil, "--weights", method).startswith(
        f"r.jsonl:1: {field}: missing; the weights method '{method}'"
    )


def test_han_reference_with_words(postil: Postil) -> None:
    # between the two references of item a, so that lines and places by item differ
    first, second, third = REFERENCES.splitlines(keepends=True)
    Path("r.jsonl").write_text(first + third.replace("dogs bark", HAN) + second, encoding="utf-8")
    assert write_error(postil).startswith("r.jsonl:2: text: Han text cannot be split into words")


def test_cider_of_one_item(postil: Postil) -> None:
    Path("c.jsonl").write_text(CANDIDATES.splitlines()[0])
    Path("r.jsonl").write_text(REFERENCES.splitlines()[0])
    line = write_error(postil, "-m", "cider")
    assert line.startswith("r.jsonl: CIDEr needs document frequencies from at least two items, got one")
    assert line.endswith("--background FOLDER")


def test_an_earlier_items_file_stays_as_it_was(postil: Postil) -> None:
    Path("items.jsonl").write_text("earlier")
    Path("c.jsonl").write_text(CANDIDATES + "{")
    assert write_error(postil).startswith("c.jsonl:5: expected a whole object on one line")
    assert Path("items.jsonl").read_text() == "earlier"


def test_no_background_is_left_of_a_run_that_failed(postil: Postil) -> None:
    Path("c.jsonl").write_text(CANDIDATES + "{")
    assert write_error(postil, "--save-background", "bg").startswith("c.jsonl:5: ")


def test_bad_line_on_standard_input(postil: Postil) -> None:
    outcome = postil("score", "-", "-r", "r.jsonl", stdin=CANDIDATES.encode() + b'{"item": "a"')
    assert outcome.code == 3
    assert outcome.err.splitlines()[-1] == "postil: stdin:5: the JSON ends too early; is the line cut off?"
    outcome = postil("score", "-", "-r", "r.jsonl", stdin=b"item,text\na,Rain\n")
    problem = 'expected JSON Lines, one object in braces per line, got "item,text"; if it is CSV: --input-format csv'
    assert outcome.err == f"postil: stdin:1: {problem}\n"
    outcome = postil("score", "c.jsonl", "-r", "-", "--scale", "3", stdin=REFERENCES.encode())
    assert outcome.err == "postil: stdin:1: grade: expected a number from 0 to 3, got 4\n"


def test_too_little_memory(postil: Postil, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("postil.scoring.files.score_files", full)
    outcome = postil("score", "c.jsonl", "-r", "r.jsonl", *SCALE)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("postil: not enough memory; give it fewer or shorter texts")


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("rubric.json", ("annotate", "plan", "a.jsonl", "a.db", "-n", "2", "--rubric", "rubric.json")),
        ("results.json", ("report", "results.json", "--out", "report.html")),
        ("config.json", ("score", "c.jsonl", "-r", "r.jsonl", "-m", "cider", "--background", ".")),
        ("metadata.json", ("corpus", "stats", ".")),
        ("config.json", ("comment", "a.jsonl", "--model", ".")),
    ],
)
def test_a_key_that_stands_twice_in_a_file_of_its_own(postil: Postil, name: str, command: tuple[str, ...]) -> None:
    Path(name).write_text('{"name": "x",\n "name": "y"}\n')
    Path("a.jsonl").write_text('{"id":"a","title":"t","comments":[{"id":1,"text":"x"},{"id":2,"text":"y"}]}\n')
    outcome = postil(*command)
    assert outcome.code == 3, outcome
    assert 'expected every key once in its object, got "name" twice; keep one of them' in outcome.err
