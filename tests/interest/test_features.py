"""Features of a page."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.interest.features import FEATURES, WHOLE, WORD_LISTS, InterestPage
from postil.metrics.passages.collection import PassageCollection
from postil.metrics.passages.measures import FScore
from postil.metrics.passages.pool import one_pool
from postil.text.tokenizers import tokenizer
from postil.text.tokens import Vocabulary

PASSAGES = st.lists(
    st.lists(st.sampled_from(["boat", "left", "ely", "rain", "quay"]), max_size=5), min_size=1, max_size=8
)


@given(PASSAGES)
def test_overlap_is_f1_over_pairs_without_the_passage(passages: list[list[str]]) -> None:
    texts = [" ".join(words) for words in passages]
    collection = PassageCollection(Vocabulary().encode(texts, tokenizer("words")))
    every = np.arange(len(texts))
    pools = one_pool(collection.duplicates(), every, np.ones(len(texts)), every)
    expected = FScore(unit="2").values(collection, pools)
    found = InterestPage.of(texts).features.values[:, list(FEATURES).index("overlap")]
    np.testing.assert_allclose(found, np.nan_to_num(expected), rtol=1e-12)


def test_parts_add_up_to_the_values() -> None:
    page = InterestPage.of(
        [
            "The first boat left Ely for King's Lynn.",
            "But the boat (a wreck) killed nobody, did it?",
            "It left the first boat.",
            "rain fell " * 20,
            "",
        ]
    )
    for row, values in enumerate(page.features.values):
        sums = np.zeros(len(FEATURES))
        for feature, _, amount in page.features.parts(row):
            sums[feature] += amount
        assert sums[:WHOLE] == pytest.approx(values[:WHOLE])
    assert [unit for _, unit, _ in page.features.parts(0)] == [
        "first",
        "name: Ely",
        "name: King's Lynn",
        "shares 'first boat' with the page",
        "telling word: king",
    ]
    assert [unit for _, unit, _ in page.features.parts(1)] == [
        "telling word: wreck",
        "telling word: killed",
        "telling word: nobody",
        "contrast: but",
        "begins with 'but'",
        "brackets",
        "question",
    ]
    assert [unit for _, unit, _ in page.features.parts(3)] == ["longer than 32 words"]


def feature(name: str, text: str, *others: str) -> float:
    return float(InterestPage.of([text, *others]).features.values[0, list(FEATURES).index(name)])


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("telling", "He died, and died again.", np.log(2)),
        ("absolute", "Nothing in the world is old.", np.log(3)),
        ("comparison", "It is older than Ely.", np.log(3)),
        ("present", "The lock is old.", np.log(2)),
        ("pronoun", "It is old.", 1),
        ("pronoun", "The lock froze, and it broke.", 0),
        ("connective", "“However, the lock froze.", 1),
        ("question", "“Is it old?”", 1),
        ("question", "Is it old? No.", 0),
        ("long", "word " * 40, 8),
        ("letters", "the old lock", 10 / 3),
        ("new", "The lock froze.", np.log(2)),
        ("pronoun", "...", 0),
        ("letters", "...", 0),
    ],
)
def test_features_of_sentences(name: str, text: str, value: float) -> None:
    assert feature(name, text, "The lock was open.") == pytest.approx(value)


def test_a_page_without_passages_has_features() -> None:
    assert InterestPage.of([]).features.values.shape == (0, len(FEATURES))


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("every", "absolute: every"),
        ("entirely", "absolute: entirely"),
        ("hundred", "extent: hundred"),
        ("tiny", "extent: tiny"),
    ],
)
def test_a_reason_says_what_a_word_is(word: str, reason: str) -> None:
    assert WORD_LISTS["absolute"].has(word)
    assert WORD_LISTS["absolute"].reason(word) == reason
