"""Words, n-grams and skip-grams of texts, counted."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from postil.text.tokenizers import tokenizer
from postil.text.tokens import Units, Vocabulary, ngram_units


def counted(*texts: str, n: int = 1, gap: int = 0, up_to: bool = False) -> tuple[list[Counter[str]], Units]:
    """The units of each text as words, with their counts."""
    vocabulary = Vocabulary()
    units = ngram_units(vocabulary.encode(texts, tokenizer("words")), n, gap, up_to=up_to)
    words = vocabulary.words()
    found = [
        Counter(
            {" ".join(words[word] for word in units.grams[units.units[e]]): int(units.counts[e]) for e in range(*row)}
        )
        for row in pairwise(units.offsets.tolist())
    ]
    return found, units


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"n": 1}, {"a": 3, "b": 2, "c": 1}),
        ({"n": 2}, {"a b": 2, "b a": 1, "b c": 1, "c a": 1}),
        ({"n": 3}, {"a b a": 1, "b a b": 1, "a b c": 1, "b c a": 1}),
        # a gap of exactly one word: places 0 2, 1 3, 2 4, 3 5
        ({"n": 2, "gap": 1}, {"a a": 1, "b b": 1, "a c": 1, "b a": 1}),
        # and of none as well
        ({"n": 2, "gap": 1, "up_to": True}, {"a b": 2, "b a": 2, "b c": 1, "c a": 1, "a a": 1, "b b": 1, "a c": 1}),
        ({"n": 2, "gap": 4}, {"a a": 1}),
        ({"n": 9}, {}),
    ],
)
def test_units_of_a_text(asked, expected) -> None:
    (found,), _ = counted("a b a b c a", **asked)
    assert found == Counter(expected)


def test_words_are_those_of_the_tokenizer() -> None:
    (found,), _ = counted("Café, CAFÉ: don't!")
    assert found == {"café": 2, "don": 1, "t": 1}


def test_units_do_not_cross_texts() -> None:
    found, units = counted("a b", "c", "", "d a b", n=2)
    assert found == [{"a b": 1}, {}, {}, {"d a": 1, "a b": 1}]
    assert len(units) == 4
    assert units.distinct == 2


def test_numbers_of_units() -> None:
    """Types are distinct units, totals count repeats: what |S| is for F1, and what it is for the others."""
    _, units = counted("a b a", "", "c c c c")
    assert units.types.tolist() == [2, 0, 1]
    assert units.totals.tolist() == [3, 0, 4]


def test_units_are_numbered_by_first_sight_and_stand_so_in_their_text() -> None:
    _, units = counted("b a", "a c b a")
    assert units.units.tolist() == [0, 1, 1, 2, 0]
    assert units.counts.tolist() == [1, 1, 2, 1, 1]
    assert (units.offsets.dtype, units.units.dtype, units.counts.dtype) == (np.int64, np.int32, np.int32)


@pytest.mark.parametrize("texts", [[], [""], ["", ""]])
@pytest.mark.parametrize("n", [1, 2])
def test_nothing_has_no_units(texts, n) -> None:
    found, units = counted(*texts, n=n)
    assert found == [{}] * len(texts)
    assert (units.distinct, units.grams.shape) == (0, (0, n))
    assert units.totals.tolist() == [0] * len(texts)


@pytest.mark.parametrize(("n", "gap"), [(0, 0), (10, 0), (2, -1)])
def test_units_that_cannot_be(n, gap) -> None:
    with pytest.raises(ValueError, match="expected"):
        counted("a b", n=n, gap=gap)
