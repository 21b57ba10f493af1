"""chrF by hand."""

from __future__ import annotations

import re

import numpy as np
import pytest

import postil
from postil.errors import UsageError
from postil.metrics import references as bound_references
from postil.metrics.references import References
from postil.metrics.spec import parse_metric
from postil.text.tokens import Vocabulary


def score(spec: str, candidate: str, references: list[str], weights: list[float] | None = None) -> float:
    given = [weights or [1.0] * len(references)]
    return postil.score([candidate], [references], weights=given, metrics=[spec]).corpus[spec]


def f_measure(precision: float, recall: float, beta: float = 2.0) -> float:
    return (1 + beta**2) * precision * recall / (recall + beta**2 * precision)


def test_characters() -> None:
    """abc with ab d: characters 2 of 3 and 2 of 3, pairs ab of ab bc and of ab bd: 1 of 2; no white space."""
    assert score("chrf(order=2)", "abc", ["ab d"]) == pytest.approx(f_measure(7 / 12, 7 / 12))
    assert score("chrf(order=2,whitespace=true)", "abc", ["ab d"]) == pytest.approx(
        f_measure((2 / 3 + 1 / 2) / 2, (2 / 4 + 1 / 3) / 2)
    )


def test_orders_that_a_text_is_too_short_for_are_left_out() -> None:
    assert score("chrf", "ab", ["ab"]) == 1.0
    assert score("chrf(smooth=eps)", "ab", ["ab"]) == pytest.approx(2 / 6)
    assert score("chrf", "abc", ["ab"]) == pytest.approx(f_measure((2 / 3 + 1 / 2) / 2, 1.0))


def test_words() -> None:
    """Hi, you! is Hi , you ! of words; (hi) is (hi and )."""
    words = "chrf(order=1,words=1,beta=1)"
    # characters: Hi,you! and Hiyou: 5 of 7 and 5 of 5; words: Hi and you, 2 of 4 and 2 of 2
    assert score(words, "Hi, you!", ["Hi you"]) == pytest.approx(f_measure((5 / 7 + 2 / 4) / 2, 1.0, 1.0))
    assert score(words, "(hi)", [")"]) == pytest.approx(f_measure((1 / 4 + 1 / 2) / 2, 1.0, 1.0))


def test_case() -> None:
    assert score("chrf", "AB", ["ab"]) == 0.0
    assert score("chrf(lowercase=true)", "AB", ["ab"]) == 1.0


def test_the_best_weighted_reference() -> None:
    """F 1 times .5 and F of ab in abc times .9: P 1, R (2/3 + 1/2) / 2."""
    other = f_measure(1.0, 7 / 12)
    assert score("w-chrf", "ab", ["ab", "abc"], [0.5, 0.9]) == pytest.approx(0.9 * other)
    assert score("w-chrf", "ab", ["ab", "abc"], [0.7, 0.9]) == pytest.approx(0.7)


def test_the_corpus_score_is_of_sums() -> None:
    """Items a of a, weight .5, and bcd of b: matches .5 + 1 of 1 + 3 and of 1 + 1."""
    spec = "w-chrf(order=1)"
    result = postil.score(["a", "bcd"], [["a"], ["b"]], weights=[[0.5], [1.0]], metrics=[spec])
    assert result.corpus[spec] == pytest.approx(f_measure(1.5 / 4, 1.5 / 2))
    assert result.items[spec].tolist() == pytest.approx([0.5, f_measure(1 / 3, 1.0)])


def test_it_reads_the_texts_whatever_the_tokenizer() -> None:
    texts, references = ["It's 我们 50%."], [["It is 我们, 50 %"]]
    found = [postil.score(texts, references, metrics=["chrf++"], tokenizer=name) for name in ("space", "characters")]
    assert found[0].corpus == found[1].corpus
    assert found[0].signatures["chrf++"].startswith("chrf++(order=6,words=2,beta=2)|references:1|")
    lists = postil.score([texts[0].split()], [[references[0][0].split()]], metrics=["chrf++"])
    assert lists.corpus == found[0].corpus


@pytest.mark.parametrize(
    ("spec", "printed"),
    [
        ("chrf", "chrf(order=6,words=0,beta=2)"),
        ("w-chrf++", "w-chrf++(order=6,words=2,beta=2)"),
        ("chrf(words=2)", "chrf++(order=6,words=2,beta=2)"),
        ("chrf(words=1,smooth=eps)", "chrf(order=6,words=1,beta=2,smooth=eps)"),
    ],
)
def test_printed_specs(spec: str, printed: str) -> None:
    assert str(parse_metric(spec)) == printed


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("chrf(order=0)", "chrf: order: expected 1 to 9, got 0"),
        ("chrf(words=10)", "chrf: words: expected 0 to 9, got 10"),
        ("chrf++(beta=0)", "chrf++: beta: expected a positive number, got 0"),
    ],
)
def test_what_is_out_of_range(spec: str, problem: str) -> None:
    with pytest.raises(UsageError, match=re.escape(problem)):
        parse_metric(spec)


def test_texts_must_be_there() -> None:
    vocabulary = Vocabulary()
    references = References(vocabulary.encode_tokens([["a"]]), np.array([0, 1]))
    candidates = vocabulary.branch().encode_tokens([["a"]])
    with pytest.raises(UsageError, match="reads texts, not tokens; encode them with keep_texts=True"):
        parse_metric("chrf").against(references).stats(candidates, np.array([0], dtype=np.int32))


def test_many_texts_are_matched_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"text {i} of {i * i} words" for i in range(40)]
    references = [[texts[i - 1], texts[i - 2]] for i in range(40)]
    specs = ["chrf++", "rouge-lsum"]
    whole = postil.score(texts, references, metrics=specs)
    monkeypatch.setattr(bound_references, "PIECES", 100)
    parts = postil.score(texts, references, metrics=specs)
    for spec in specs:
        assert parts.items[spec].tolist() == whole.items[spec].tolist()
