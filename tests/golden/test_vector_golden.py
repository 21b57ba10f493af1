"""vector-f1 and vector-cosine: by hand, and frozen numbers with their signatures."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import postil
from postil.text.vectors import Vectors
from postil.version import VERSION

VECTORS = Path(__file__).parents[1] / "law/vectors"
"""Vectors of run, runs, the, of, cat and 我们, in five dimensions."""
CANDIDATES = ["the cat", "run of the cat", "runs"]
REFERENCES = [["the cat runs", "of the"], ["cat", "run run"], ["我们 run"]]
WEIGHTS = [[0.25, 1.0], [0.5, 0.75], [1.0]]
FROZEN = {
    "vector-f1(V,weigh=none,over=max)": ([0.818146, 0.752525, 0.031193], ""),
    "w-vector-f1(V,weigh=idf,baseline=auto,over=near)": (
        [0.30954, 0.426649, 0.0],
        "idf:references/5|baseline:0.379536|documents:7fbc6ac07998|",
    ),
    "w-vector-f1(V,weigh=norm,over=kernel,tau=0.2,part=p)": ([0.264384, 0.714058, 1.0], ""),
    "vector-cosine(V,weigh=none,over=max)": ([0.721688, 0.851707, 0.0], ""),
    "w-vector-cosine(V,weigh=idf,baseline=auto,over=top-2)": (
        [0.043211, 0.280866, 0.0],
        "idf:references/5|baseline:0.314574|documents:7fbc6ac07998|",
    ),
}


def vectors_of(text: str) -> list[list[float]]:
    vectors = Vectors.open(VECTORS)
    return [vectors.array[vectors.words.index(word)].tolist() for word in text.split()]


def cosine(one: list[float], other: list[float]) -> float:
    return sum(x * y for x, y in zip(one, other, strict=True)) / math.hypot(*one) / math.hypot(*other)


def f1(candidate: str, reference: str) -> float:
    one, other = vectors_of(candidate), vectors_of(reference)
    precision = sum(max(cosine(x, y) for y in other) for x in one) / len(one)
    recall = sum(max(cosine(x, y) for x in one) for y in other) / len(other)
    return max(0.0, 2 * precision * recall / (precision + recall)) if precision + recall > 0 else 0.0


def of_sums(candidate: str, reference: str) -> float:
    one, other = ([sum(column) for column in zip(*vectors_of(text), strict=True)] for text in (candidate, reference))
    return max(0.0, cosine(one, other))


@pytest.mark.parametrize(("name", "similarity"), [("vector-f1", f1), ("vector-cosine", of_sums)])
def test_plain_loops_give_the_numbers(name: str, similarity) -> None:
    spec = f"w-{name}(vectors={VECTORS})"
    found = postil.score(CANDIDATES, REFERENCES, weights=WEIGHTS, metrics=[spec], tokenizer="space").items[spec]
    expected = [
        max(weight * similarity(text, reference) for reference, weight in zip(references, weights, strict=True))
        for text, references, weights in zip(CANDIDATES, REFERENCES, WEIGHTS, strict=True)
    ]
    assert found.tolist() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("frozen", FROZEN)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_frozen_numbers_and_signatures(frozen: str) -> None:
    values, notes = FROZEN[frozen]
    spec = frozen.replace("V", f"vectors={VECTORS}")
    result = postil.score(CANDIDATES, REFERENCES, weights=WEIGHTS, metrics=[spec], tokenizer="space")
    assert result.items[spec].tolist() == pytest.approx(values, abs=2e-6)
    weights = "weights:given|" if frozen.startswith("w-") else ""
    signature = f"{frozen}|tokenizer:space|{weights}references:1-2|{notes}postil:{VERSION}"
    assert result.signatures[spec] == signature.replace("V", "vectors=6x5-7388b92b19e5", 1)
