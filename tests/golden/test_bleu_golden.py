"""BLEU and delta-BLEU by hand.

The running example, K = 2::

    c  = a b a c          4 words, 3 pairs (ab ba ac), 2 triples (aba bac), 1 quadruple
    r1 = a b c d e   s = 1/2
    r2 = a a b       s = 1

A word w matches min(Count(w, c), max_j s_j Count(w, r_j)) times::

    a   min(2, max(1/2 * 1, 1 * 2)) = 2        plain: min(2, max(1, 2)) = 2
    b   min(1, max(1/2 * 1, 1 * 1)) = 1               1
    c   min(1, max(1/2 * 1, 0))     = 1/2             1
    PRC_1 = 3.5 / 4 = 7/8                      plain: 4/4

    ab  min(1, max(1/2, 1)) = 1, ba and ac 0   PRC_2 = 1/3, plain too
    aba bac: none                              PRC_3 = 0/2
    abac: none                                 PRC_4 = 0/1

The lengths 5 and 3 are as near to 4: the shorter counts, 4 > 3, so BP = 1.
"""

from __future__ import annotations

import math
import sys

import pytest

import postil

C = "a b a c"
R = ["a b c d e", "a a b"]
S = [0.5, 1.0]


def score(spec: str, candidate: str, references: list[str], weights: list[float]) -> float:
    result = postil.score([candidate], [references], weights=[weights], metrics=[spec], tokenizer="space")
    assert result.corpus[spec] == result.items[spec][0]
    return result.corpus[spec]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("bleu-1", 1.0),
        ("w-bleu-1", 7 / 8),
        ("bleu-2", (1 / 3) ** (1 / 2)),
        ("w-bleu-2", (7 / 8 * 1 / 3) ** (1 / 2)),
        # coco leaves 1e-15 of a match in an order without one: PRC_3 = 1e-15 / 2, PRC_4 = 1e-15 / 1
        ("w-bleu-3", (7 / 24 * 0.5e-15) ** (1 / 3)),
        ("w-bleu-4", (7 / 24 * 0.5e-15 * 1e-15) ** (1 / 4)),
    ],
)
def test_orders_and_weights_with_the_default_smoothing(spec: str, expected: float) -> None:
    assert score(spec, C, R, S) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("w-bleu-1(smooth=none)", 7 / 8),
        ("w-bleu-2(smooth=none)", (7 / 24) ** (1 / 2)),
        ("w-bleu-3(smooth=none)", 0.0),
        # exp: half a match in the first order without one, a quarter in the next: PRC_3 = 1/2 / 2, PRC_4 = 1/4 / 1
        ("w-bleu-3(smooth=exp)", (7 / 24 * 1 / 4) ** (1 / 3)),
        ("w-bleu-4(smooth=exp)", (7 / 24 * 1 / 4 * 1 / 4) ** (1 / 4)),
        # floor: 0.1 of a match: PRC_3 = 0.1 / 2
        ("w-bleu-3(smooth=floor)", (7 / 24 * 1 / 20) ** (1 / 3)),
        # add-k: PRC_1 = 7/8, PRC_2 = (1 + 1) / (3 + 1), PRC_3 = (0 + 1) / (2 + 1)
        ("w-bleu-3(smooth=add-k)", (7 / 8 * 2 / 4 * 1 / 3) ** (1 / 3)),
        # method0: the smallest positive float is the precision
        ("w-bleu-3(smooth=method0)", (7 / 24) ** (1 / 3) * sys.float_info.min ** (1 / 3)),
        ("bleu-3(smooth=exp)", (1 / 3 * 1 / 4) ** (1 / 3)),
    ],
)
def test_smoothings(spec: str, expected: float) -> None:
    assert score(spec, C, R, S) == pytest.approx(expected, rel=1e-12)


def test_exp_lifts_matches_below_its_pseudo_count() -> None:
    """c = a b c, r = a b x of weight 1/4.

    a and b match 1/4 each: 1/2, not less than the pseudo-count 1/2, so PRC_1 = (1/2) / 3. The pair ab matches 1/4,
    less than 1/2, so it is lifted: PRC_2 = (1/2) / 2. An unlifted 1/4 would score below a weight of 0.
    """
    assert score("w-bleu-2(smooth=exp)", "a b c", ["a b x"], [0.25]) == pytest.approx(math.sqrt(1 / 6 * 1 / 4))


def test_floor_lifts_matches_below_its_pseudo_count() -> None:
    """c = a b, r = a x of weight 1/20: a matches 1/20, lifted to 1/10 of 2 words."""
    assert score("w-bleu-1(smooth=floor)", "a b", ["a x"], [0.05]) == pytest.approx(0.1 / 2)


@pytest.mark.parametrize("weights", [[1.0, 1.0], [1.0, 0.0]])
def test_brevity_takes_the_closest_length_whatever_its_weight(weights: list[float]) -> None:
    """c = a b against lengths 4 and 6: r = 4, BP = exp(1 - 4/2). Both words match fully."""
    expected = math.exp(1 - 4 / 2)
    assert score("w-bleu-1(smooth=none)", "a b", ["a b c d", "a b c d e f"], weights) == pytest.approx(expected)
    assert score("w-bleu-1(smooth=none)", "a b", ["a b c d e f", "x x x x"], weights) == pytest.approx(expected)


def test_effective_leaves_out_the_orders_that_the_candidate_is_too_short_for() -> None:
    """c = a b has no triples. PRC_1 = 2/2, PRC_2 = 1/1, BP = exp(1 - 3/2)."""
    assert score("bleu-4(smooth=none)", "a b", ["a b c"], [1.0]) == 0.0
    assert score("bleu-4(smooth=none,effective=true)", "a b", ["a b c"], [1.0]) == pytest.approx(math.exp(-1 / 2))


def test_the_corpus_score_sums_statistics() -> None:
    """Items: a b a c of above, and x y z against x q of weight 1/2.

    The second: x matches 1/2 of 3 words, no pair of 2, lengths 3 and 2. Sums: PRC_1 = (3.5 + 0.5) / (4 + 3) = 4/7,
    PRC_2 = (1 + 0) / (3 + 2) = 1/5, lengths 7 and 3 + 2 = 5, so BP = 1.
    """
    spec = "w-bleu-2(smooth=none)"
    result = postil.score([C, "x y z"], [R, ["x q"]], weights=[S, [0.5]], metrics=[spec], tokenizer="space")
    assert result.items[spec].tolist() == pytest.approx([math.sqrt(7 / 24), 0.0])
    assert result.corpus[spec] == pytest.approx(math.sqrt(4 / 7 * 1 / 5))


def test_delta_bleu() -> None:
    """c = a b x; r1 = a b c of weight 0.8, r2 = a x of weight -0.5.

    ::

        a   max(0.8 * 1, -0.5 * 1) = 0.8
        b   0.8                            only r1 holds it
        x   -0.5                           only r2 holds it
        p_1 = (0.8 + 0.8 - 0.5) / (0.8 * 3) = 1.1 / 2.4 = 11/24

        ab  0.8, bx in none: 0
        p_2 = 0.8 / (0.8 * 2) = 1/2

    Lengths 3 and 2 against 3: BP = 1.
    """
    for spec in ("delta-bleu(order=1)", "w-delta-bleu(order=1)"):
        assert score(spec, "a b x", ["a b c", "a x"], [0.8, -0.5]) == pytest.approx(11 / 24)
    assert score("delta-bleu(order=2)", "a b x", ["a b c", "a x"], [0.8, -0.5]) == pytest.approx(math.sqrt(11 / 48))


def test_delta_bleu_clips_before_it_weighs() -> None:
    """c = a a b, r = a b b of weight 1/2: a 1/2 * min(2, 1), b 1/2 * min(1, 2), so (1/2 + 1/2) / (1/2 * 3) = 2/3.

    W-BLEU: a min(2, 1/2 * 1) = 1/2, b min(1, 1/2 * 2) = 1, so 1.5 / 3 = 1/2.
    """
    assert score("delta-bleu(order=1)", "a a b", ["a b b"], [0.5]) == pytest.approx(2 / 3)
    assert score("w-bleu-1(smooth=none)", "a a b", ["a b b"], [0.5]) == pytest.approx(1 / 2)


def test_delta_bleu_of_a_corpus_with_an_item_of_bad_references_only() -> None:
    """Item 1: a a a against itself, weight 1: 3 of 3. Item 2: x x x x against x of weight -1/2: -1/2 of 0.

    (3 - 1/2) / (3 + 0) = 5/6; lengths 7 and 4.
    """
    spec = "delta-bleu(order=1)"
    weights = [[1.0], [-0.5]]
    result = postil.score(["a a a", "x x x x"], [["a a a"], ["x"]], weights=weights, metrics=[spec])
    assert result.items[spec].tolist() == [1.0, 0.0]
    assert result.corpus[spec] == pytest.approx(5 / 6)
