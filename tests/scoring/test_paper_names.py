"""Metrics by the names of papers in `postil score`: one run for a table, and what it says of tokenizers and weights."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING

import pytest

import postil as package
from command_line import refusal

if TYPE_CHECKING:
    from conftest import Postil

BASE = ("score", "c.jsonl", "-r", "r.jsonl")
ALL = ("bleu", "chrF", "rouge1", "rougeL", "METEOR", "cider-d(tokenizer=ptb)", "TER", "w-BLEU")


def test_one_run_holds_the_metrics_of_a_paper(postil: Postil) -> None:
    asked = [word for spec in ALL for word in ("-m", spec)]
    found = postil(*BASE, "--scale", "5", *asked, "--items", "items.jsonl", "--format", "json")
    assert found.code == 0, found.err
    rows = json.loads(found.out)["scores"]
    assert [row["metric"] for row in rows][: len(ALL)] == list(ALL)
    signatures = {row["metric"]: row["signature"] for row in rows}
    assert signatures["bleu"].startswith("bleu(tokenizer=13a,smooth=exp)|tokenizer:sacrebleu:13a|references:")
    assert signatures["rougeL"].startswith("rougeL(tokenizer=rouge,part=f,stem=false)|tokenizer:rouge|")
    assert "|tokenizer:ptb" in signatures["cider-d(tokenizer=ptb)"]
    assert "|tokenizer:words-2|" in signatures["METEOR"]
    assert "|better:low|" in signatures["TER"]
    assert "tokenizer" not in signatures["TER"]
    assert (
        "bleu, chrF, METEOR, TER, w-BLEU"
        in postil(*BASE, "--scale", "5", *asked).err + postil(*BASE, "--scale", "5", *asked).out
    )


def test_lower_is_better_in_what_reads_the_items(postil: Postil) -> None:
    assert postil(*BASE, "-m", "ter", "-m", "bleu", "--items", "items.jsonl").code == 0
    compared = postil("compare", "items.jsonl", "--format", "json")
    assert compared.code == 0, compared.err
    found = json.loads(compared.out)
    assert found["lower_is_better"] == ["ter"]
    systems = {(row["system"], row["metric"]): row for row in found["systems"]}
    scored = json.loads(postil(*BASE, "-m", "ter", "--format", "json").out)["scores"]
    for row in scored:
        assert systems[row["system"], "ter"]["mean"] == pytest.approx(row["score"], abs=1e-15)


def test_a_tokenizer_of_the_run_that_bleu_does_not_take_is_told() -> None:
    with pytest.warns(UserWarning, match=r"bleu splits texts by 13a, .*; bleu\(tokenizer=characters\) takes that"):
        package.score(["a b"], [["a c"]], metrics=["bleu"], tokenizer="characters")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        package.score(["a b"], [["a c"]], metrics=["bleu", "rouge1", "ter"])
        package.score(["a b"], [["a c"]], metrics=["bleu(tokenizer=characters)"], tokenizer="characters")
        package.score(["a b"], [["a c"]], metrics=["bleu"], tokenizer="13a")


def test_weights_that_bleu_does_not_read_are_told() -> None:
    with pytest.warns(UserWarning, match="the references have weights, and bleu, ter read none; w-bleu does"):
        package.score(["a b"], [["a c"]], weights=[[0.5]], metrics=["bleu", "ter"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        package.score(["a b"], [["a c"]], weights=[[0.5]], metrics=["bleu", "w-bleu"])


def test_what_cannot_be_is_refused(postil: Postil) -> None:
    assert refusal(postil, *BASE, "-m", "w-ter", code=2).startswith("w-ter: edits count against a text")
    assert "did you mean 'sacrebleu:zh'?" in refusal(postil, *BASE, "--tokenizer", "sacrebleu:zhh", code=2)
    assert "unknown tokenizer 'zhh'" in refusal(postil, *BASE, "-m", "bleu(tokenizer=zhh)", code=2)
