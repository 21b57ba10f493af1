"""CIDEr and CIDEr-D by hand.

Four items, N = 4. The word a is in the references of two items, so its idf is log 4 - log 2 = log 2 =: L. All other
words and pairs are in one item or none: idf log 4 - log max(1, df) = log 4 = 2 L. L cancels in every cosine.

Texts of two words have words and one pair, no triples and quadruples: those orders give 0.
"""

from __future__ import annotations

import math

import pytest

import postil

OTHERS = [["a e"], ["f g"], ["h i"]]


def score(spec: str, candidate: str, references: list[str], weights: list[float]) -> float:
    """The score of the first of the four items; the others have a candidate of their own."""
    result = postil.score(
        [candidate, "q", "q", "q"],
        [references, *OTHERS],
        weights=[weights, [1.0], [1.0], [1.0]],
        metrics=[spec],
        tokenizer="space",
    )
    assert result.corpus[spec] == pytest.approx(result.items[spec].sum() / 4)
    return float(result.items[spec][0])


def test_cider() -> None:
    """c = a b against r1 = a b and r2 = a c, K = 2.

    ::

        words  c = (a: L, b: 2L), length sqrt(5) L
               r1 the same: cosine 1
               r2 = (a: L, c: 2L): L^2 / 5 L^2 = 1/5
        pairs  r1 1, r2 0

    Plain: (1 + 1/5 + 1 + 0) / 4 / 2 = 2.2 / 8. With s = (1/2, 1): (1/2 + 1/5 + 1/2) / 8 = 1.2 / 8.
    """
    assert score("cider", "a b", ["a b", "a c"], [0.5, 1.0]) == pytest.approx(2.2 / 8)
    assert score("w-cider", "a b", ["a b", "a c"], [0.5, 1.0]) == pytest.approx(1.2 / 8)
    # two orders only: divided by 2 * 2
    assert score("w-cider(order=2)", "a b", ["a b", "a c"], [0.5, 1.0]) == pytest.approx(1.2 / 4)


def test_cider_divides_by_all_references() -> None:
    """A reference of weight 0 counts in K: (1 + 1) / 4 / 2."""
    assert score("w-cider", "a b", ["a b", "x y"], [1.0, 0.0]) == pytest.approx(1 / 4)


def test_cider_d() -> None:
    """c = a a b against r = a b.

    ::

        words  c = (a: 2 * L, b: 2L), length sqrt(8) L;  r = (a: L, b: 2L), length sqrt(5) L
               CIDEr:   (2 * 1 + 2 * 2) / sqrt(40) = 6 / sqrt(40)
               CIDEr-D: (min(2, 1) * 1 + min(2, 2) * 2) / sqrt(40) = 5 / sqrt(40)
        pairs  c = (aa: 2L, ab: 2L), r = (ab: 2L): 4 / (sqrt(8) * 2) = 1 / sqrt(2)

    c has 2 pairs, r has 1: the Gaussian is exp(-1 / (2 * 6^2)) = exp(-1/72).
    """
    words, pairs = 5 / math.sqrt(40), 1 / math.sqrt(2)
    expected = 10 * (words + pairs) / 4 * math.exp(-1 / 72)
    assert score("cider-d", "a a b", ["a b"], [1.0]) == pytest.approx(expected)
    assert score("w-cider-d", "a a b", ["a b"], [0.5]) == pytest.approx(expected / 2)
    narrow = 10 * (words + pairs) / 4 * math.exp(-1 / 2)
    assert score("cider-d(sigma=1)", "a a b", ["a b"], [1.0]) == pytest.approx(narrow)
    assert score("cider", "a a b", ["a b"], [1.0]) == pytest.approx((6 / math.sqrt(40) + pairs) / 4)


def test_an_n_gram_of_every_item_has_no_weight() -> None:
    """Both items hold a: idf log 2 - log 2 = 0. c = a b: words (0, log 2), cosine 1; pairs 1."""
    specs = ["cider", "w-cider"]
    result = postil.score(["a b", "a"], [["a b"], ["a e"]], weights=[[1.0], [0.5]], metrics=specs, tokenizer="space")
    assert result.items["cider"].tolist() == pytest.approx([2 / 4, 0.0])
    assert result.corpus["w-cider"] == pytest.approx(1 / 4)
