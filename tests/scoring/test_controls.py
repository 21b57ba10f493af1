"""`postil score --controls`: what stands in the items file, and what it needs."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest

from postil.data.grades import Scale
from postil.data.row_files import read
from postil.data.rows import Score
from postil.scoring.files import score_files
from postil.scoring.options import ScoreOptions

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


def test_they_go_into_the_items_file(postil: Postil) -> None:
    outcome = postil(*BASE, *WEIGHTED, "--controls")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "postil: --controls writes item scores; say where to: --items FILE\n"


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
