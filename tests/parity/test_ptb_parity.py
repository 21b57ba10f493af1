"""``ptb`` against pycocoevalcap's PTBTokenizer."""

from __future__ import annotations

import csv
import gzip
import importlib
import json
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import originals
import ptb_texts
import pytest

import postil
from postil.text.ptb import split_ptb

if TYPE_CHECKING:
    from collections.abc import Iterator

FROZEN: dict[str, Any] = json.loads((Path(__file__).parent / "frozen_tokens.json").read_text("utf-8"))
KNOWN_HARD = 0.01
"""Largest share of hard cases that may differ; of captions and news none may."""


@pytest.fixture
def program(java: None) -> None:  # noqa: ARG001 - it skips
    pytest.importorskip("pycocoevalcap")


def different(texts: list[str]) -> list[tuple[str, str, str]]:
    """Texts that the two tokenize differently, with both results."""
    ours = [" ".join(split_ptb(text)) for text in texts]
    theirs = originals.ptb_lines(texts)
    return [row for row in zip(texts, ours, theirs, strict=True) if row[1] != row[2]]


@pytest.mark.parity
def test_frozen_tokens() -> None:
    assert FROZEN["made_by"]
    wrong = [(text, line) for text, line in FROZEN["tokens"] if " ".join(split_ptb(text)) != line]
    assert len(FROZEN["tokens"]) == 120 * len(ptb_texts.KINDS)
    assert wrong == []


@pytest.mark.parity
@pytest.mark.usefixtures("program")
def test_sentences_of_our_own() -> None:
    kinds = {text: kind for kind in ptb_texts.KINDS for text in ptb_texts.made(kind, 600, seed=12)}
    wrong = [(kinds[row[0]], row) for row in different([*kinds])]
    assert len(wrong) <= 600 * KNOWN_HARD, wrong
    assert {kind for kind, _ in wrong} <= {"hard"}


@pytest.mark.parity
@pytest.mark.usefixtures("program")
def test_white_space_of_every_kind() -> None:
    white = [chr(code) for code in range(0x3001) if chr(code).isspace() and not f"a{chr(code)}b".splitlines()[1:]]
    shapes = [
        "'21{}x",
        "'n{}x",
        "A.{}The cat",
        "A. The{}cat",
        "no.{}5",
        "1{}1/2",
        "(555){}555-1234",
        "cannot{}x",
        ". {}. x",
    ]
    shapes += ["555{}1234", "<b{}c>", "http://a.b/c{}d", "www.a.com/d{}e", "Mr.{}He", "x..{}.", "it{}'s"]
    wrong = different([f"go {shape.format(one)} on" for one in white for shape in shapes])
    assert len(white) > 15
    assert wrong == []


def real_texts(articles: int) -> Iterator[str]:
    with gzip.open(originals.DATA / "articles" / "reddit_college.en.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in islice(file, articles):
            row = json.loads(line)
            for text in (row["title"], row["content"], *(comment["text"] for comment in row["comments"])):
                yield from text.splitlines()
    with (originals.DATA / "judged" / "mohler" / "mohler_dataset.csv").open(encoding="utf-8", newline="") as file:
        for fields in csv.reader(file):
            yield from fields
    with (originals.DATA / "passages" / "wikipedia_trivia" / "crowd_judged.tsv").open(encoding="utf-8") as file:
        yield from file.read().splitlines()


@pytest.mark.slow
@pytest.mark.parity
@pytest.mark.usefixtures("program")
@pytest.mark.skipif(not originals.DATA.is_dir(), reason="needs the data folder POSTIL_DATA")
def test_real_texts() -> None:
    texts = [text for text in dict.fromkeys(real_texts(40)) if text.strip()]
    assert len(texts) > 5000
    assert len(different(texts)) <= len(texts) / 5000


@pytest.mark.parity
@pytest.mark.usefixtures("program")
def test_scores_of_raw_captions_are_those_of_the_pipeline() -> None:
    """PTBTokenizer, then Bleu, Rouge and Cider, against one call."""
    texts = ptb_texts.made("captions", 600, seed=5)
    references = {number: texts[5 * number : 5 * number + 5] for number in range(100)}
    candidates = {number: [texts[500 + number]] for number in references}
    cut = importlib.import_module("pycocoevalcap.tokenizer.ptbtokenizer").PTBTokenizer().tokenize
    truths, results = (
        cut({number: [{"caption": text} for text in row] for number, row in rows.items()})
        for rows in (references, candidates)
    )
    specs = ["bleu-1", "bleu-2", "bleu-3", "bleu-4", "rouge-l", "cider-d"]
    ours = postil.score(
        [row[0] for row in candidates.values()], list(references.values()), metrics=specs, tokenizer="ptb"
    )
    load = importlib.import_module
    bleu, by_order = load("pycocoevalcap.bleu.bleu").Bleu(4).compute_score(truths, results, verbose=0)
    rouge = load("pycocoevalcap.rouge.rouge").Rouge().compute_score(truths, results)
    cider = load("pycocoevalcap.cider.cider").Cider().compute_score(truths, results)
    assert [ours.corpus[spec] for spec in specs[:4]] == bleu
    for spec, items in zip(specs, [*by_order, rouge[1], cider[1]], strict=True):
        np.testing.assert_allclose(ours.items[spec], items, rtol=0, atol=1e-14)
    assert ours.corpus["rouge-l"] == pytest.approx(rouge[0], abs=1e-14)
    assert ours.corpus["cider-d"] == pytest.approx(cider[0], abs=1e-14)
