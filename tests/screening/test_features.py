"""Hashed n-grams: the same as scikit-learn's vectorizers give, whatever stands around a text."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.screening.features import COLUMNS, Counts, Vocabulary, count_grams, idf_of, unseen_idf, weighted


def grams_of(text: str) -> set[str]:
    """Distinct n-grams of characters, found one by one."""
    return {
        f" {token} "[at : at + size]
        for token in text.split()
        for size in (2, 3, 4, 5)
        for at in range(len(token) + 3 - size)
    }


@pytest.mark.parametrize("text", ["bring a coat", "no rain today no rain", "x", "shopping"])
def test_columns_are_those_of_words_and_of_characters_within_words(text: str) -> None:
    counts = count_grams([text])
    words = text.split()
    distinct = len({*words, *pairwise(words)})
    assert (counts.columns < COLUMNS).sum() == len(grams_of(text))
    assert (counts.columns >= COLUMNS).sum() == distinct
    assert counts.counts[counts.columns >= COLUMNS].sum() == 2 * len(words) - 1


def test_case_white_space_and_composition_make_no_difference() -> None:
    first, second = count_grams(["Caf\u00e9  NOW\n", " cafe\u0301 now"]), count_grams(["café now"])
    assert (first.take(np.array([0])).columns == second.columns).all()
    assert (first.take(np.array([1])).columns == second.columns).all()


@given(st.lists(st.text(max_size=30), max_size=8))
def test_a_text_has_the_same_columns_alone_and_among_others(texts: list[str]) -> None:
    together, alone = count_grams(texts), Counts.joined([count_grams([text]) for text in texts])
    assert together.offsets.tolist() == alone.offsets.tolist()
    assert together.columns.tolist() == alone.columns.tolist()
    assert together.counts.tolist() == alone.counts.tolist()


def test_texts_beyond_a_block_are_counted_as_those_within() -> None:
    texts = ["a rainy day " * 4_000] * 12
    counts = count_grams(texts)
    assert len(set(np.diff(counts.offsets).tolist())) == 1
    assert counts.counts.max() == 255  # a count grows no further


def test_letters_of_scripts_without_spaces_are_words_by_themselves() -> None:
    counts = count_grams(["我们都在"])
    assert (counts.columns >= COLUMNS).sum() == 4 + 3  # letters, and pairs of them


def test_weights_are_those_of_scikit_learn_where_all_is_known() -> None:
    text = pytest.importorskip("sklearn.feature_extraction.text")
    texts = ["bring coat coat today", "no rain today", "rain coat and rain"]
    own = text.TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True).fit_transform(texts)
    counts = count_grams(texts)
    frequencies = np.bincount(counts.columns, minlength=2 * COLUMNS)
    columns = np.flatnonzero(frequencies)
    vocabulary = Vocabulary(columns.astype(np.uint32), idf_of(frequencies[columns], 3), unseen_idf(3))
    found = weighted(counts, vocabulary.places(counts.columns), vocabulary.idf, vocabulary.unseen)
    for at in range(3):
        here = (counts.owners == at) & (counts.columns >= COLUMNS)
        np.testing.assert_allclose(np.sort(found[here]), np.sort(own[at].data), rtol=1e-6)


def test_an_unseen_word_lessens_the_weight_of_others_and_has_none() -> None:
    known = count_grams(["rain today"])
    vocabulary = Vocabulary(known.columns, np.ones(len(known.columns), np.float32), 2.0)

    def words(text: str) -> list[float]:
        counts = count_grams([text])
        found = weighted(counts, vocabulary.places(counts.columns), vocabulary.idf, vocabulary.unseen)
        return sorted(found[counts.columns >= COLUMNS].astype(float).round(4).tolist())

    assert words("rain today") == [0.5774] * 3
    assert words("rain zebra") == [0.0, 0.0, 0.3333]  # 1 / sqrt(1 + 4 + 4)


def test_places_are_the_same_by_search_and_by_table() -> None:
    known = np.arange(0, 90, 3, dtype=np.uint32)
    vocabulary = Vocabulary(known, np.ones(30, np.float32), 1.0)
    many = np.arange(100, dtype=np.uint32)
    assert vocabulary.places(many).tolist() == [int(vocabulary.places(many[at : at + 1])[0]) for at in range(100)]
    assert Vocabulary(known[:0], np.ones(0, np.float32), 1.0).places(many[:3]).tolist() == [-1, -1, -1]
