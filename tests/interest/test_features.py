"""Features of a page, its cues and its names."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.interest.features import FEATURES, NO_SUPERLATIVES, WHOLE, WORD_LISTS, Features, cues, page_names
from postil.metrics.passage_measures import FScore
from postil.metrics.passage_pools import PassageCollection, one_pool
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
    found = Features.of(texts).values[:, list(FEATURES).index("overlap")]
    np.testing.assert_allclose(found, np.nan_to_num(expected), rtol=1e-12)


def test_parts_add_up_to_the_values() -> None:
    page = Features.of(
        [
            "The first boat left Ely for King's Lynn.",
            "But the boat (a wreck) killed nobody, did it?",
            "It left the first boat.",
            "rain fell " * 20,
            "",
        ]
    )
    for row, values in enumerate(page.values):
        sums = np.zeros(len(FEATURES))
        for feature, _, amount in page.parts(row):
            sums[feature] += amount
        assert sums[:WHOLE] == pytest.approx(values[:WHOLE])
    first, second, _, fourth, _ = ("; ".join(unit for _, unit, _ in page.parts(row)) for row in range(5))
    assert first == "first; name: Ely; name: King's Lynn; shares 'first boat' with the page; telling word: king"
    assert second == (
        "telling word: wreck; telling word: killed; telling word: nobody; contrast: but; begins with 'but'; brackets; "
        "question"
    )
    assert fourth == "longer than 32 words"


def feature(name: str, text: str, *others: str) -> float:
    return float(Features.of([text, *others]).values[0, list(FEATURES).index(name)])


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It was the FIRST and the Largest.", ["first", "superlative: largest"]),
        ("She never paid, and only he knew.", ["never", "only"]),
        ("The most expensive and the least used.", ["superlative: most", "superlative: least"]),
        ("Most people left; most were poor, and it was most unusual.", ["most", "most", "most"]),
        ("Its most visited hall, the city’s most costly one.", ["superlative: most", "superlative: most"]),
        ("Best of all, worst of all, best again", ["superlative: best", "superlative: worst", "superlative: best"]),
        ("First, cut it. At first it fails; first of all, wait.", []),
        ("At least ten, at most twenty, most of them; not only that, if only.", []),
        ("Guests at rest in the west protest: an honest interest, modestly.", []),
        ("firsthand, lonely, nevertheless, fastened, aesthetics", []),
        ("最大的城市", []),
        ("", []),
    ],
)
def test_cues_of_a_text(text: str, expected: list[str]) -> None:
    assert list(cues(text)) == expected


def test_each_exception_is_needed() -> None:
    assert all(word.endswith("est") for word in NO_SUPERLATIVES)
    assert [found for word in NO_SUPERLATIVES for found in cues(word)] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("They met Mr. Smith and J. R. Hartley in St. Ives.", ("Mr. Smith", "J. R. Hartley", "St. Ives")),
        ("Then the Bishop of Ely saw it, with Ana de la Cruz.", ("Bishop of Ely", "Ana de la Cruz")),
        ("On Monday we left in May, and I'm glad I did.", ()),
        ("NATO and the U.S. Army agreed.", ("NATO", "U.S. Army")),
        ("We saw Ely, Ely’s tower, and York's.", ("Ely", "York")),
        ("Rain fell. Snow fell! (Hail fell.) “Sleet fell,” he said: Wind.", ()),
        ("We read \N{LEFT DOUBLE QUOTATION MARK}The Old Mill\N{RIGHT DOUBLE QUOTATION MARK}.", ("Old Mill",)),
        ("we met Émile in Ålesund", ("Émile", "Ålesund")),
        ("CONTENTS AND INDEX", ()),
        ("北京是首都", ()),
        ("", ()),
    ],
)
def test_names_of_a_passage(text: str, expected: tuple[str, ...]) -> None:
    assert page_names([text]) == [expected]


def test_the_first_word_counts_where_the_page_has_it_inside_a_sentence() -> None:
    alone, both = page_names(["Ada wrote it."]), page_names(["Ada wrote it.", "It was Ada.", "The Ada."])
    assert alone == [()]
    assert both == [("Ada",), ("Ada",), ("Ada",)]


@given(st.lists(st.text(st.sampled_from("Ab É.’' -“(中I\n"), max_size=12), max_size=5))
def test_names_are_parts_of_their_passages(texts: list[str]) -> None:
    for text, names in zip(texts, page_names(texts), strict=True):
        assert len(set(names)) == len(names)
        for name in names:
            assert name in text
            assert any(letter.isupper() for letter in name)
