"""Inverse document frequencies over articles and comments, and cosines with them."""

from __future__ import annotations

import numpy as np
import pytest

from postil.comments.rankers import ArticleTexts, TfidfRanker, idf_weights


def texts(*lists: list[int]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([word for each in lists for word in each], np.int32), np.cumsum([0, *map(len, lists)])


ARTICLES = texts([0, 1, 1], [0, 2])
COMMENTS = texts([3], [3, 0], [], [2, 3, 3])
STARTS = np.array([0, 2, 4])


@pytest.mark.parametrize(
    ("idf", "expected"),
    [
        # Four documents: {0, 1}, {0, 2}, {0, 3}, {2, 3}; word 4 is in none.
        ("plain", [np.log(4 / 3), np.log(4), np.log(2), np.log(2), 0]),
        ("smooth", [np.log(5 / 4) + 1, np.log(5 / 2) + 1, np.log(5 / 3) + 1, np.log(5 / 3) + 1, 0]),
    ],
)
def test_articles_and_their_discussions_are_the_documents(idf: str, expected: list[float]) -> None:
    np.testing.assert_allclose(idf_weights(ARTICLES, COMMENTS, STARTS, 5, idf), expected)  # type: ignore[arg-type]


def test_a_discussion_counts_once_however_long_it_is() -> None:
    long = texts([3] * 50, [3, 0], [3] * 50, [2, 3, 3])
    np.testing.assert_array_equal(
        idf_weights(ARTICLES, COMMENTS, STARTS, 5, "plain"), idf_weights(ARTICLES, long, STARTS, 5, "plain")
    )


def test_a_word_of_comments_alone_counts_in_their_length() -> None:
    """Article (word 1); comments (1) and (1, 3): the second is longer by a word that no article has."""
    weights = idf_weights(ARTICLES, COMMENTS, STARTS, 5, "plain")
    ranker = TfidfRanker(weights, *texts([1], [1, 3]))
    ((one, two),) = ranker.score_stored(ArticleTexts(texts([1]), texts([1]), ()), [np.array([0, 1])])
    assert one == pytest.approx(1)
    assert two == pytest.approx(2 / 5**0.5)  # ln 4 is twice ln 2


def test_stored_comments_come_and_go() -> None:
    """A ranker that is extended, reordered and weighed again equals one that is made at once."""
    idf = idf_weights(ARTICLES, texts([3], [3, 0]), np.array([0, 1, 2]), 4, "plain")
    grown = TfidfRanker(idf, *texts([3], [3, 0])).extend(texts([], [2, 4, 4]), ["", "c e e"])
    taken = grown.take(np.array([3, 1, 0]))
    for name, values in taken.arrays().items():
        np.testing.assert_array_equal(values, TfidfRanker(idf, *texts([2, 4, 4], [3, 0], [3])).arrays()[name])
    frequencies = np.array([2, 1, 1, 0, 0])
    weighed = taken.reweighted(frequencies, np.array([0, 2, 3]), "smooth")
    expected = idf_weights(ARTICLES, texts([2, 4, 4], [3, 0], [3]), np.array([0, 2, 3]), 5, "smooth")
    np.testing.assert_array_equal(weighed.idf, expected)
