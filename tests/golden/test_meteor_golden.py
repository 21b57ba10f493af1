"""METEOR by hand.

``F = P R / (alpha P + (1 - alpha) R)``, penalty ``gamma (chunks / matches)^beta``, none where the texts are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import postil

if TYPE_CHECKING:
    from pathlib import Path


def score(spec: str, candidate: str, references: list[str], weights: list[float]) -> float:
    result = postil.score([candidate], [references], weights=[weights], metrics=[spec], tokenizer="space")
    return float(result.items[spec][0])


C = "a b x d"
R = ["a b c d", "a b"]
"""For c: 3 matches in 2 chunks (a b, d), P = R = 3/4; and 2 matches in 1 chunk, P = 2/4, R = 2/2."""


@pytest.mark.parametrize(
    ("params", "first", "second"),
    [
        # 2005 (.9, 3, .5): F = 3/4, 1 - .5 (2/3)^3 = 23/27, together 23/36
        #                   F = .5 / (.45 + .1) = 10/11, 1 - .5 (1/2)^3 = 15/16, together 75/88
        ("2005", 23 / 36, 75 / 88),
        # other (.75, 1.4, .7): F = 3/4; F = .5 / (.375 + .25) = .8
        ("other", 3 / 4 * (1 - 0.7 * (2 / 3) ** 1.4), 0.8 * (1 - 0.7 * (1 / 2) ** 1.4)),
    ],
)
def test_f_penalty_and_weights(params: str, first: float, second: float) -> None:
    plain, weighted = f"meteor(params={params},stages=exact)", f"w-meteor(params={params},stages=exact)"
    assert score(plain, C, R[:1], [1.0]) == pytest.approx(first)
    assert score(plain, C, R[1:], [1.0]) == pytest.approx(second)
    assert score(plain, C, R, [1.0, 0.5]) == pytest.approx(max(first, second))
    assert score(weighted, C, R, [1.0, 0.5]) == pytest.approx(max(first, 0.5 * second))
    assert score(weighted, C, R, [0.5, 0.25]) == pytest.approx(max(0.5 * first, 0.25 * second))


def test_the_penalty_counts_chunks() -> None:
    """c = d c b a against a b c d: all match, P = R = F = 1, in 4 chunks of 1: penalty .5 (4/4)^3."""
    assert score("meteor(params=2005,stages=exact)", "d c b a", ["a b c d"], [1.0]) == pytest.approx(1 / 2)


def test_of_two_partners_the_one_that_makes_fewer_chunks_is_taken() -> None:
    """c = a x a b against a b: the second a stands before b, one chunk. P = 2/4, R = 1 as of "a b" above."""
    assert score("meteor(params=2005,stages=exact)", "a x a b", ["a b"], [1.0]) == pytest.approx(75 / 88)


def test_equal_texts_have_no_penalty() -> None:
    assert score("meteor(params=2005,stages=exact)", "a b", ["a b"], [1.0]) == 1.0
    # one chunk, but a word is left over: P = 1, R = 2/3, F = (2/3) / (.9 + .1 * 2/3) = 20/29, penalty .5 (1/2)^3
    assert score("meteor(params=2005,stages=exact)", "a b", ["a b c"], [1.0]) == pytest.approx(20 / 29 * 15 / 16)


def test_function_words_weigh_less(tmp_path: Path) -> None:
    """en (.85, .2, .6, delta .75): a content word weighs 3/4, a function word 1/4.

    c = the cat weighs 1/4 + 3/4 = 1, r = the cat sat 1/4 + 3/4 + 3/4 = 7/4; both words match, 1. So P = 1, R = 4/7 and
    F = (4/7) / (.85 + .15 * 4/7) = 80/131. One chunk of two matches: penalty .6 (1/2)^.2.
    """
    words = tmp_path / "function_words.txt"
    words.write_text("the\n", "utf-8")
    spec = f"meteor(params=en,stages=exact,function_words={words})"
    expected = 80 / 131 * (1 - 0.6 * (1 / 2) ** 0.2)
    assert score(spec, "the cat", ["the cat sat"], [1.0]) == pytest.approx(expected)
    assert score("meteor(params=en,stages=exact)", "the cat", ["the cat sat"], [1.0]) == pytest.approx(expected)


def test_stems_match_with_weight_six_tenths() -> None:
    """c = cats sat against cat sat.

    By stem: P = R = (.6 + 1) / 2 = .8 = F, all words in one chunk, no penalty. Exact only: P = R = F = 1/2, one match
    in one chunk, penalty .6 (1/1)^.2.
    """
    assert score("meteor(params=en)", "cats sat", ["cat sat"], [1.0]) == pytest.approx(0.8)
    assert score("meteor(params=en,stages=exact)", "cats sat", ["cat sat"], [1.0]) == pytest.approx(0.5 * (1 - 0.6))
    # 2005 gives every stage weight 1
    assert score("meteor(params=2005)", "cats sat", ["cat sat"], [1.0]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("spec", "items", "corpus"),
    [
        # Weighted, item 1 chooses a b c d: 23/36 > 1/2 * 75/88. Item 2 chooses a b: 1/2 * 1, as for a c d e
        # P = 1/2, R = 1/4, F = .125 / (.45 + .025) = 5/19, and its penalty is 1/2.
        #            matches  s  words of c, of r  chunks  matches of both texts
        #   item 1      3     1       4      4        2      3
        #   item 2      2    1/2      2      2        0      2     equal texts: no chunk
        # stats: P = R = (3 * 1 + 2 * 1/2) / 6 = 2/3 = F, penalty .5 (2/5)^3 = .032
        ("w-meteor(params=2005,stages=exact)", [23 / 36, 1 / 2], 2 / 3 * 0.968),
        ("w-meteor(params=2005,stages=exact,corpus=mean)", [23 / 36, 1 / 2], (23 / 36 + 1 / 2) / 2),
        # chosen: P = R = (3 + 2) / 6 = 5/6 = F, the same penalty
        ("w-meteor(params=2005,stages=exact,corpus=chosen)", [23 / 36, 1 / 2], 5 / 6 * 0.968),
        # Plain, item 1 chooses a b: matches 2, words 4 and 2, chunks 1. P = 4/6, R = 4/4,
        # F = (2/3) / (.9 * 2/3 + .1) = 20/21, penalty .5 (1/4)^3 = 1/128
        ("meteor(params=2005,stages=exact)", [75 / 88, 1.0], 20 / 21 * 127 / 128),
        ("meteor(params=2005,stages=exact,corpus=mean)", [75 / 88, 1.0], (75 / 88 + 1) / 2),
        ("meteor(params=2005,stages=exact,corpus=chosen)", [75 / 88, 1.0], 20 / 21 * 127 / 128),
    ],
)
def test_the_three_corpus_rules(spec: str, items: list[float], corpus: float) -> None:
    references = [R, ["a b", "a c d e"]]
    result = postil.score([C, "a b"], references, weights=[[1.0, 0.5], [0.5, 1.0]], metrics=[spec], tokenizer="space")
    assert result.items[spec].tolist() == pytest.approx(items)
    assert result.corpus[spec] == pytest.approx(corpus)


SCATTERED = ["d c b a", "a b c x"]
"""For a b c d, params=2005: F = 1, pen .5 (4/4)^3, together 1/2; and F = 3/4, pen .5 (1/3)^3, together 53/72."""


@pytest.mark.parametrize(
    ("weights", "inside", "outside"),
    [
        ([0.5, 1.0], 53 / 72, 53 / 72),  # .5 * 1 < 1 * 3/4: both choose the second
        ([0.8, 1.0], 53 / 72, 0.4),  # .8 * 1 > 1 * 3/4: outside chooses the first, which scores .8 * 1/2
        ([0.8, 0.2], 0.4, 0.4),
    ],
)
def test_a_raised_weight_can_lower_the_score_with_the_penalty_outside(
    weights: list[float], inside: float, outside: float
) -> None:
    """The default is inside, as outside a weight that rises from .5 to .8 lowers the score from .74 to .4."""
    spec = "w-meteor(params=2005,stages=exact)"
    assert score(spec, "a b c d", SCATTERED, weights) == pytest.approx(inside)
    assert score(spec.replace(")", ",penalty=outside)"), "a b c d", SCATTERED, weights) == pytest.approx(outside)


def test_one_more_reference_can_lower_the_score_with_the_penalty_outside() -> None:
    """Without weights too: F = 1 beats F = 3/4, whatever its penalty."""
    spec = "meteor(params=2005,stages=exact,penalty=outside)"
    assert score(spec, "a b c d", SCATTERED[1:], [1.0]) == pytest.approx(53 / 72)
    assert score(spec, "a b c d", SCATTERED, [1.0, 1.0]) == pytest.approx(1 / 2)


@pytest.mark.parametrize("references", [["d c b a", "a b c d"], ["a b c d", "d c b a"]])
def test_of_equal_references_outside_the_lowest_penalty_counts(references: list[str]) -> None:
    """F is 1 of both, so that a copy of a reference scores 1 wherever it stands."""
    assert score("meteor(params=2005,stages=exact,penalty=outside)", "a b c d", references, [1.0, 1.0]) == 1.0


@pytest.mark.parametrize(
    ("corpus", "expected"),
    [
        # Item 1 chooses d c b a: matches 4, s .8, words 4 and 4, chunks 4. Item 2: a b, matches 2, s 1/2, no chunk.
        ("stats", 0.7 * 23 / 27),  # P = R = (4 * .8 + 2 * .5) / 6, penalty .5 (4/6)^3 = 4/27
        ("chosen", 23 / 27),  # P = R = 1
        ("mean", (0.4 + 0.5) / 2),
    ],
)
def test_the_corpus_rules_take_the_reference_chosen_outside(corpus: str, expected: float) -> None:
    spec = f"w-meteor(params=2005,stages=exact,penalty=outside,corpus={corpus})"
    result = postil.score(
        ["a b c d", "a b"], [SCATTERED, ["a b"]], weights=[[0.8, 1.0], [0.5]], metrics=[spec], tokenizer="space"
    )
    assert result.items[spec].tolist() == pytest.approx([0.4, 0.5])
    assert result.corpus[spec] == pytest.approx(expected)
