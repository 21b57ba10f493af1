"""ROUGE by hand."""

from __future__ import annotations

import re

import pytest

import postil
from postil.errors import UsageError
from postil.metrics.spec import parse_metric


def score(spec: str, candidate: str, references: list[str], weights: list[float]) -> float:
    return postil.score([candidate], [references], weights=[weights], metrics=[spec], tokenizer="space").corpus[spec]


C = "a c b"
R = ["a b c d", "b"]
S = [0.5, 0.4]
"""LCS of c with r1 is "a c" or "a b", 2 long; with r2 "b", 1 long."""


def f_measure(precision: float, recall: float, beta: float) -> float:
    return (1 + beta**2) * precision * recall / (recall + beta**2 * precision)


@pytest.mark.parametrize(
    ("spec", "precision", "recall"),
    [
        # P = max(.5 * 2/3, .4 * 1/3) = 1/3 by r1, R = max(.5 * 2/4, .4 * 1/1) = 2/5 by r2
        ("w-rouge-l", 1 / 3, 2 / 5),
        ("rouge-l", 2 / 3, 1.0),
        # union: of "a c" and "a b" the leftmost in c covers a and c (.5 each), r2 covers b (.4): 1.4.
        # P = 1.4 / 3; of the lengths 4 and 1 the first is nearer to 3: R = 1.4 / 4
        ("w-rouge-l(reading=union)", 1.4 / 3, 1.4 / 4),
        ("rouge-l(reading=union)", 1.0, 3 / 4),
    ],
)
def test_rouge_l(spec: str, precision: float, recall: float) -> None:
    assert score(spec, C, R, S) == pytest.approx(f_measure(precision, recall, 1.2))
    head, _, rest = spec.partition("(")
    with_beta = f"{head}(beta=2{',' + rest if rest else ')'}"
    assert score(with_beta, C, R, S) == pytest.approx(f_measure(precision, recall, 2))


def test_rouge_l_in_full() -> None:
    """2.44 * 1/3 * 2/5 / (2/5 + 1.44 * 1/3) = (2.44 * 2/15) / .88 = 4.88 / 13.2."""
    assert score("w-rouge-l", C, R, S) == pytest.approx(4.88 / 13.2)


def test_the_best_weight_of_the_references_that_cover_a_word_counts() -> None:
    """c = a b: a by both (.3 and .8), b by the first. Sum .8 + .3 = 1.1; P = 1.1 / 2, nearest length 2: R = 1.1 / 2."""
    assert score("w-rouge-l(reading=union)", "a b", ["a b", "a"], [0.3, 0.8]) == pytest.approx(1.1 / 2)


def test_recall_of_the_union_is_at_most_1() -> None:
    """Three words covered, and every reference has one."""
    assert score("rouge-l(reading=union)", "a b c", ["a", "b", "c"], [1.0] * 3) == 1.0


@pytest.mark.parametrize(
    ("spec", "candidate", "references", "expected"),
    [
        # a: min(2, 2) = 2 of r1's 3 words; b: 1 of r2's 2.  (.5 * 2 + 1 * 1) / (3 + 2)
        ("w-rouge-1", "a b a", ["a a c", "b d"], 2 / 5),
        ("rouge-1", "a b a", ["a a c", "b d"], 3 / 5),
        # ab is 1 of r1's 2 pairs (ab bc); ba is r2's only pair.  (.5 * 1 + 1 * 1) / (2 + 1)
        ("w-rouge-2", "a b a", ["a b c", "b a"], 1.5 / 3),
        ("rouge-2", "a b a", ["a b c", "b a"], 2 / 3),
        # c has a b c ab ac bc; r1 = a c b has a c b ac ab cb: 5 of 6; r2 = b has b: 1 of 1.  (.5 * 5 + 1) / (6 + 1)
        ("w-rouge-su4", "a b c", ["a c b", "b"], 3.5 / 7),
        ("rouge-su4", "a b c", ["a c b", "b"], 6 / 7),
    ],
)
def test_rouge_over_units(spec: str, candidate: str, references: list[str], expected: float) -> None:
    assert score(spec, candidate, references, [0.5, 1.0]) == pytest.approx(expected)


def test_a_skip_bigram_spans_at_most_four_words() -> None:
    """a 1 2 3 4 b: 6 words and all 15 pairs; a, b and the pair a b match.

    a 1 2 3 4 5 b: 7 words and 21 - 1 pairs, as a and b are too far apart; a and b match.
    """
    assert score("rouge-su4", "a b", ["a 1 2 3 4 b"], [1.0]) == pytest.approx(3 / 21)
    assert score("rouge-su4", "a b", ["a 1 2 3 4 5 b"], [1.0]) == pytest.approx(2 / 27)


def test_mean_and_pooled() -> None:
    """Items 1 of 4 and 2 of 2: mean (1/4 + 1) / 2, pooled (1 + 2) / (4 + 2); with weights 1/2 and 1 (.5 + 2) / 6."""
    specs = ["rouge-1", "rouge-1(corpus=pooled)", "w-rouge-1(corpus=pooled)"]
    weights = [[0.5], [1.0]]
    result = postil.score(["a", "x y"], [["a b c d"], ["x y"]], weights=weights, metrics=specs, tokenizer="space")
    assert list(result.corpus.values()) == pytest.approx([5 / 8, 1 / 2, 2.5 / 6])
    assert result.items["rouge-1(corpus=pooled)"].tolist() == pytest.approx([1 / 4, 1.0])


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        # a b a with a a c: 2 of 3 and 2 of 3, F 2/3, times .5; with b d: 1 of 3 and 1 of 2, F 2/5, times 1: the second
        ("p", 1 / 3),
        ("r", 1 / 2),
        ("f", 2 / 5),
    ],
)
def test_the_reference_with_the_highest_weighted_f(part: str, expected: float) -> None:
    spec = f"w-rouge-1(part={part},over=max)"
    assert score(spec, "a b a", ["a a c", "b d"], [0.5, 1.0]) == pytest.approx(expected)
    assert score(spec, "a b a", ["a a c", "b d"], [0.8, 0.0]) == pytest.approx(0.8 * 2 / 3)
    assert score(spec[2:], "a b a", ["a a c", "b d"], [0.5, 1.0]) == pytest.approx(2 / 3)


def test_pooled_precision_and_f() -> None:
    """Matches .5 * 2 + 1 * 1 = 2, of 2 * 3 units of the candidate and 3 + 2 of the references."""
    references, weights = ["a a c", "b d"], [0.5, 1.0]
    assert score("w-rouge-1(part=p,over=pooled)", "a b a", references, weights) == pytest.approx(2 / 6)
    assert score("w-rouge-1(part=f,over=pooled)", "a b a", references, weights) == pytest.approx(4 / 11)


def test_skip_bigrams_have_precision_too() -> None:
    """a b c has six units; a c b has six, and all but bc and cb match: 5 of 6 on either side."""
    assert score("rouge-su4(part=p)", "a b c", ["a c b"], [1.0]) == pytest.approx(5 / 6)
    assert score("rouge-su4(part=f)", "a b", ["a c b"], [1.0]) == pytest.approx(2 * 3 / (3 + 6))


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        # C with r1: LCS 2, P = 2/3, R = 1/2, F = 4/7, times .5 is 2/7; with r2: P = 1/3, R = 1, F = 1/2, times .4 is .2
        ("w-rouge-l(reading=best,beta=1)", 2 / 7),
        ("w-rouge-l(reading=best,beta=1,part=p)", 1 / 3),
        ("w-rouge-l(reading=best,beta=1,part=r)", 1 / 4),
        ("rouge-l(reading=best,beta=1)", 4 / 7),
        # each maximum on its own
        ("w-rouge-l(part=p)", 1 / 3),
        ("w-rouge-l(part=r)", 2 / 5),
    ],
)
def test_rouge_l_of_the_best_reference(spec: str, expected: float) -> None:
    assert score(spec, C, R, S) == pytest.approx(expected)


def lsum(part: str, candidate: str, references: list[str], weights: list[float]) -> float:
    return score(f"w-rouge-lsum(part={part})", candidate, references, weights)


def test_rouge_lsum() -> None:
    """Lin 2004, section 3.2: w1 w2 of the first sentence and w1 w3 w5 of the second cover four words of five."""
    candidate = "w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5"
    assert lsum("r", candidate, ["w1 w2 w3 w4 w5"], [1.0]) == pytest.approx(4 / 5)
    assert lsum("p", candidate, ["w1 w2 w3 w4 w5"], [0.5]) == pytest.approx(0.5 * 4 / 10)
    assert lsum("f", candidate, ["w1 w2 w3 w4 w5", "x"], [1.0, 1.0]) == pytest.approx(8 / 15)


def test_a_word_counts_at_most_as_often_as_the_candidate_has_it() -> None:
    """Both lines of the reference have the a of the candidate; it is one word."""
    assert lsum("r", "a", ["a b\na c"], [1.0]) == pytest.approx(1 / 4)
    assert lsum("r", "a a", ["a b\na c"], [1.0]) == pytest.approx(2 / 4)


def test_without_line_feeds_a_text_is_one_sentence() -> None:
    for texts in (("a b. c d", "b a d. c"), ("a b c", "c b a")):
        plain = score("rouge-l(reading=best,beta=1)", texts[0], [texts[1]], [1.0])
        assert lsum("f", texts[0], [texts[1]], [1.0]) == pytest.approx(plain)
    lists = postil.score([["a", "b"]], [[["a", "c"], ["b"]]], metrics=["rouge-lsum"])
    assert lists.corpus["rouge-lsum"] == pytest.approx(2 / 3)


def test_stems() -> None:
    """skies and sky, ponies and pony; the stems of was and is are the words, which are short."""
    assert score("rouge-1(stem=true)", "was skies ponies", ["is sky pony was"], [1.0]) == pytest.approx(3 / 4)
    assert score("rouge-l(stem=true,part=r)", "skies was", ["sky is was"], [1.0]) == pytest.approx(2 / 3)
    assert score("rouge-lsum(stem=true,part=r)", "skies was", ["sky is was"], [1.0]) == pytest.approx(2 / 3)


def test_what_does_not_go_together() -> None:
    for spec, problem in {
        "rouge-l(reading=best,over=mean)": "reading=best chooses a reference, and leaves over=mean nothing",
        "rouge-l(reading=union,part=p)": "reading=union has part=f alone, got part=p",
        "rouge-lsum(beta=0)": "beta: expected a positive number, got 0",
    }.items():
        with pytest.raises(UsageError, match=re.escape(problem)):
            parse_metric(spec)


@pytest.mark.parametrize(
    ("spec", "printed"),
    [
        ("rouge-1", "rouge-1(count=clipped,corpus=mean)"),
        ("rouge-1(part=r,over=pooled,stem=false)", "rouge-1(count=clipped,corpus=mean)"),
        ("rouge-1(part=f,stem=true)", "rouge-1(count=clipped,corpus=mean,part=f,stem=true)"),
        ("rouge-1(part=f,over=max)", "rouge-1(count=clipped,corpus=mean,part=f)"),
        ("rouge-2(over=max)", "rouge-2(count=clipped,corpus=mean,over=max)"),
        ("rouge-l", "rouge-l(reading=max,beta=1.2,over=max)"),
        ("w-rouge-l(part=p)", "w-rouge-l(reading=max,beta=1.2,over=max,part=p)"),
        ("rouge-lsum", "rouge-lsum(part=f,beta=1,stem=false)"),
    ],
)
def test_printed_specs(spec: str, printed: str) -> None:
    assert str(parse_metric(spec)) == printed
