"""`postil score --controls`: what stands in the items file, and what it needs."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from postil.data.grades import Scale
from postil.data.row_files import read
from postil.data.rows import Score
from postil.scoring.files import score_files
from postil.scoring.options import ScoreOptions
from postil.version import VERSION

if TYPE_CHECKING:
    from conftest import Outcome, Postil

BASE = ("score", "c.jsonl", "-r", "r.jsonl", "--scale", "5")
WEIGHTED = ("-m", "rouge-l", "-m", "w-rouge-l", "-m", "w-bleu-1")
TEXTS = [("a", "plain"), ("b", "plain"), ("a", "zoo"), ("b", "zoo")]


def controls_of(postil: Postil, *more: object, out: str = "i.jsonl") -> tuple[Outcome, list[Score]]:
    outcome = postil(*BASE, *WEIGHTED, "--controls", "--control-draws", 2, "--items", out, *more)
    assert outcome.code == 0, outcome.err
    return outcome, list(read(out, Score))


def test_rows(postil: Postil) -> None:
    outcome, rows = controls_of(postil)
    assert not outcome.err
    assert outcome.out == postil(*BASE, *WEIGHTED).out  # the scores of the systems stay what they are
    named = [
        *(f"control:shuffled({spec},draw={draw})" for draw in (1, 2) for spec in ("w-rouge-l", "w-bleu-1")),
        *(f"control:{kind}({spec})" for kind in ("best-5", "top", "nearest") for spec in ("w-rouge-l", "w-bleu-1")),
        "control:length",
    ]
    metrics = ["rouge-l", "w-rouge-l", "w-bleu-1"]
    assert [(row.item, row.system, row.metric) for row in rows] == [
        *((*text, metric) for text in TEXTS for metric in metrics),
        *((*text, name) for name in named for text in TEXTS),
    ]


def test_values(postil: Postil) -> None:
    _, rows = controls_of(postil)
    found = {(row.metric, row.item, row.system): row.score for row in rows}
    # Of the item a "the cat sat down" has the grade 4 and "a cat" 2; b has one reference with 5.
    assert [found["control:length", *text] for text in TEXTS] == [3, 3, 2, 3]
    assert [found["control:nearest(w-rouge-l)", *text] for text in TEXTS] == [0.8, 1, 0.4, 1]
    # "the cat sat" against "the cat sat down": P = 1, R = 3/4, F = 2.44 R / (R + 1.44).
    assert found["control:top(w-rouge-l)", "a", "plain"] == pytest.approx(2.44 * 0.75 / (0.75 + 1.44))
    for text in TEXTS:
        assert found["control:best-5(w-rouge-l)", *text] == found["rouge-l", *text]


def test_signatures(postil: Postil) -> None:
    _, rows = controls_of(postil, "--seed", 5)
    signatures: dict[str, set[str]] = {}
    for row in rows:
        signatures.setdefault(row.metric, set()).add(row.signature)
    assert {len(each) for each in signatures.values()} == {1}
    one = {name: each for name, (each,) in signatures.items()}
    of = f"tokenizer:words-2|weights:score|scale:0:5|references:1-2|postil:{VERSION}"
    bleu = f"w-bleu-1(smooth=coco,effective=false)|{of}"
    assert one["w-bleu-1"] == bleu
    for draw in (1, 2):
        assert one[f"control:shuffled(w-bleu-1,draw={draw})"] == f"{bleu}|control:shuffled|seed:5"
    assert one["control:best-5(w-bleu-1)"] == f"{bleu}|control:best-5|ties:1e-12|choices:20|seed:5"
    assert one["control:top(w-bleu-1)"] == f"{bleu}|control:top|ties:1e-12"
    assert one["control:nearest(w-bleu-1)"] == f"{bleu}|control:nearest|ties:mean:1e-12"
    assert one["control:length"] == f"control:length|tokenizer:words-2|postil:{VERSION}"


def many(items: int) -> None:
    words = ["the", "cat", "sat", "down", "on", "a", "mat", "while", "dogs", "bark"]
    with Path("c.jsonl").open("w") as candidates, Path("r.jsonl").open("w") as references:
        for i in range(items):
            text = " ".join(words[(i * 7 + j * (1 + i % 3)) % 10] for j in range(i % 6))
            candidates.write(f'{{"item": "{i}", "system": "s", "text": "{text}"}}\n')
            for k in range(1 + i % 5):
                text = " ".join(words[(i * 3 + j * (1 + k)) % 10] for j in range(5))
                references.write(f'{{"item": "{i}", "text": "{text}", "grade": {(i + k * k) % 6}}}\n')


def test_the_same_bytes_every_time_and_others_by_another_seed(postil: Postil) -> None:
    many(60)
    seen = []
    for more in ((), (), ("--jobs", 3), ("--seed", 20181), ("--seed", 1)):
        outcome, _ = controls_of(postil, *more)
        seen.append((outcome.out, Path("i.jsonl").read_bytes()))
    assert len(set(seen[:4])) == 1
    assert seen[4][0] == seen[0][0]
    scores = [
        [row.score for row in controls_of(postil, "--seed", seed)[1] if "shuffled" in row.metric] for seed in (20181, 1)
    ]
    assert scores[0] != scores[1]


def test_batches_leave_no_trace(postil: Postil, monkeypatch: pytest.MonkeyPatch) -> None:
    many(40)
    _, whole = controls_of(postil)
    monkeypatch.setattr("postil.scoring.graded.CHUNK", 7)
    _, parts = controls_of(postil)

    def by_name(rows: list[Score]) -> dict[str, list[Score]]:
        return {name: [row for row in rows if row.metric == name] for name in {row.metric for row in rows}}

    assert by_name(parts) == by_name(whole)


def test_parquet(postil: Postil) -> None:
    pytest.importorskip("pyarrow")
    assert controls_of(postil, out="i.parquet")[1] == controls_of(postil)[1]


def test_they_go_into_the_items_file(postil: Postil) -> None:
    outcome = postil(*BASE, *WEIGHTED, "--controls")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "postil: --controls writes item scores; say where to: --items FILE\n"


def test_without_weights_the_length_is_the_only_control(postil: Postil) -> None:
    outcome = postil(*BASE, "-m", "rouge-l", "--controls", "--items", "i.jsonl")
    assert outcome.code == 0, outcome.err
    assert {row.metric for row in read("i.jsonl", Score)} == {"rouge-l", "control:length"}


def test_a_bar_of_their_own(postil: Postil, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    _, rows = controls_of(postil)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setenv("TERM", "xterm")
    options = ScoreOptions(
        metrics=("rouge-l", "w-rouge-l", "w-bleu-1"),
        scale=Scale(0, 5),
        items="again.jsonl",
        controls=True,
        control_draws=2,
    )
    score_files("c.jsonl", "r.jsonl", options, print)
    assert "controls of candidates 1 to 4" in terminal.getvalue()
    assert list(read("again.jsonl", Score)) == rows
