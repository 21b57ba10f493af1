"""`postil score --weights consensus`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import postil as package

if TYPE_CHECKING:
    from conftest import Postil

ROWS = {"a": ["a b c", "a b d", "x"], "b": ["q r", "q"]}
TEXTS = {"a": "x a", "b": "q r s"}


@pytest.fixture
def files() -> tuple[str, ...]:
    """References come item by item mixed up, so that weights must find their rows."""
    references = [("a", 0), ("b", 0), ("a", 1), ("b", 1), ("a", 2)]
    lines = [json.dumps({"item": item, "text": ROWS[item][i]}) for item, i in references]
    Path("refs.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = [json.dumps({"item": item, "system": "s", "text": text}) for item, text in TEXTS.items()]
    Path("cands.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return "score", "cands.jsonl", "-r", "refs.jsonl"


@pytest.mark.parametrize(
    ("method", "metric", "printed"),
    [
        ("consensus", "rouge-l(beta=1)", "rouge-l(reading=max,beta=1,over=max)"),
        ("consensus(bleu-1)", "bleu-1", "bleu-1(smooth=coco,effective=false)"),
        ("consensus(cider-d)", "cider-d", "cider-d(order=4,sigma=6)"),
    ],
)
def test_it_is_what_python_says(postil: Postil, files: tuple[str, ...], method: str, metric: str, printed: str) -> None:
    specs = ["rouge-l", "w-rouge-l", "w-meteor(over=mean)"]
    outcome = postil(*files, "--weights", method, *(word for m in specs for word in ("-m", m)), "--format", "jsonl")
    weights = package.consensus_weights(list(ROWS.values()), metric=metric)
    expected = package.score(list(TEXTS.values()), list(ROWS.values()), weights=weights, metrics=specs).corpus
    assert {name: score for (_, name), score in outcome.scores.items()} == pytest.approx(dict(expected))
    assert outcome.scores["s", "w-rouge-l"] < outcome.scores["s", "rouge-l"]
    signatures = [json.loads(line)["signature"] for line in outcome.out.splitlines()]
    assert [f"|weights:consensus({printed})|" in signature for signature in signatures] == [False, True, True]
    assert not outcome.err


def test_the_signature_has_the_function_words_of_the_similarity(postil: Postil, files: tuple[str, ...]) -> None:
    signatures = []
    for words in ("a\n", "b\n"):
        Path("words.txt").write_text(words, encoding="utf-8")
        method = "consensus(meteor(function_words=words.txt))"
        outcome = postil(*files, "--weights", method, "-m", "w-rouge-l", "--format", "json")
        signatures.append(json.loads(outcome.out)["scores"][0]["signature"])
    assert signatures[0] != signatures[1]
    assert not any("words.txt" in text for text in signatures)


def test_controls_and_jobs(postil: Postil, files: tuple[str, ...]) -> None:
    command = [*files, "--weights", "consensus", "-m", "w-rouge-l", "--controls", "--draws", "2"]
    one = postil(*command, "--items", "one.jsonl", "--format", "json")
    two = postil(*command, "--items", "two.jsonl", "--format", "json", "--jobs", "2")
    assert (one.code, one.out) == (0, two.out)
    assert Path("one.jsonl").read_bytes() == Path("two.jsonl").read_bytes()
    assert "control:shuffled(w-rouge-l,draw=2)" in Path("one.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("consensus(w-meteor)", "consensus: expected a metric that reads no weights, got 'w-meteor'"),
        ("consensus(meteo)", "unknown metric 'meteo'; did you mean 'meteor'?"),
        ("consensus(meteor", "unknown weights method 'consensus(meteor'; did you mean 'consensus'?"),
    ],
)
def test_a_similarity_that_makes_no_sense(postil: Postil, files: tuple[str, ...], method: str, message: str) -> None:
    outcome = postil(*files, "--weights", method, "-m", "w-meteor")
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
