"""What ranks comments: the relevance model, the TF-IDF cosine of article and comment, or their sum."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from postil.arrays import WHOLE
from postil.commenters.nn.batches import Ragged
from postil.commenters.segment import Collection
from postil.errors import InvalidInput
from postil.kernel import count_terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.commenters.nn.relevance import Relevance
    from postil.commenters.segment import Idf

    Texts = tuple[NDArray[np.int32], NDArray[np.int64]]
    _Weighted = tuple[NDArray[np.int32], NDArray[np.float64]]

__all__ = ["ByBoth", "ByPairs", "ByRelevance", "ByWords", "Ranker", "rarity"]


class Ranker(Protocol):
    """Says how relevant comments are to articles."""

    def articles(self, ids: NDArray[np.int32], offsets: NDArray[np.int64]) -> Any:
        """Take articles in.

        Args:
            ids: int32[T], their words.
            offsets: int64[n + 1].
        """

    def kept(self, articles: Any, article: int, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """How relevant kept comments are, float64[m], high is good.

        Args:
            articles: What `articles` gave.
            article: Which of them.
            places: int64[m], the comments.
        """

    def given(
        self, articles: Any, article: int, ids: NDArray[np.int32], offsets: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """How relevant other comments are, float64[m].

        Args:
            articles: What `articles` gave.
            article: Which of them.
            ids: int32[T], the comments' words.
            offsets: int64[m + 1].
        """


@dataclass(frozen=True, eq=False)
class ByRelevance:
    """Ranks by the relevance model.

    Args:
        relevance: The model.
        vectors: float32[comments, d], the kept comments.
    """

    relevance: Relevance
    vectors: NDArray[np.float32]

    def articles(self, ids: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.float32]:
        """See `Ranker`."""
        return self.relevance.encode_articles(ids, offsets)

    def kept(self, articles: NDArray[np.float32], article: int, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """See `Ranker`."""
        vectors = np.asarray(self.vectors[places])
        if not np.isfinite(vectors).all():
            raise InvalidInput(f"expected finite numbers; {WHOLE}", where="ranker/vectors.npy")
        return self._scores(articles, article, vectors)

    def given(
        self, articles: NDArray[np.float32], article: int, ids: NDArray[np.int32], offsets: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """See `Ranker`."""
        return self._scores(articles, article, self.relevance.encode_comments(ids, offsets))

    def _scores(self, articles: NDArray[np.float32], article: int, vectors: NDArray[np.float32]) -> NDArray[np.float64]:
        return np.asarray(self.relevance.score(articles[article : article + 1], vectors)[0], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class ByBoth:
    """Ranks by the sum of two scores: the relevance model's, and so many times that of `ByWords`.

    The network knows what goes with an article, and the cosine knows that a rare word of it came.

    Args:
        relevance: The one.
        words: The other.
        mixture: How many times.
    """

    relevance: Ranker
    words: ByWords
    mixture: float

    def articles(self, ids: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[Any, list[_Weighted]]:
        """See `Ranker`."""
        return self.relevance.articles(ids, offsets), self.words.articles(ids, offsets)

    def kept(
        self, articles: tuple[Any, list[_Weighted]], article: int, places: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """See `Ranker`."""
        relevance, words = articles
        return self.relevance.kept(relevance, article, places) + self.mixture * self.words.kept(words, article, places)

    def given(
        self,
        articles: tuple[Any, list[_Weighted]],
        article: int,
        ids: NDArray[np.int32],
        offsets: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """See `Ranker`."""
        relevance, words = articles
        scores = self.relevance.given(relevance, article, ids, offsets)
        return scores + self.mixture * self.words.given(words, article, ids, offsets)


@dataclass(frozen=True, eq=False)
class ByPairs:
    """Ranks by a relevance model that looks at article and comment together.

    Args:
        relevance: The model.
        ids: int32[T], the words of the kept comments.
        offsets: int64[comments + 1].
    """

    relevance: Relevance
    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]

    def articles(self, ids: NDArray[np.int32], offsets: NDArray[np.int64]) -> Ragged:
        """See `Ranker`."""
        return Ragged(ids, offsets)

    def kept(self, articles: Ragged, article: int, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """See `Ranker`."""
        return self.given(articles, article, *_taken(self.ids, self.offsets, places))

    def given(
        self, articles: Ragged, article: int, ids: NDArray[np.int32], offsets: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """See `Ranker`."""
        comments = np.arange(len(offsets) - 1)
        rows = np.full(len(comments), article)
        return self.relevance.score_pairs(articles, Ragged(ids, offsets), rows, comments).astype(np.float64)


@dataclass(frozen=True, eq=False)
class ByWords:
    """Ranks by the TF-IDF cosine of article and comment.

    Args:
        rarity: float64[words], the idf of each word.
        ids: int32[T], the words of the kept comments.
        offsets: int64[comments + 1].
    """

    rarity: NDArray[np.float64]
    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]

    def articles(self, ids: NDArray[np.int32], offsets: NDArray[np.int64]) -> list[_Weighted]:
        """See `Ranker`: the words of each article, rising, and their weights, of length 1."""
        found: list[_Weighted] = []
        starts, terms, counts = count_terms(np.ascontiguousarray(ids), np.ascontiguousarray(offsets))
        for start, end in pairwise(starts.tolist()):
            known = terms[start:end] < len(self.rarity)
            words = terms[start:end][known]
            weights = counts[start:end][known] * self.rarity[words]
            found.append((words, weights / (np.sqrt((weights**2).sum()) or 1.0)))
        return found

    def kept(self, articles: list[_Weighted], article: int, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """See `Ranker`."""
        return self.given(articles, article, *_taken(self.ids, self.offsets, places))

    def given(
        self, articles: list[_Weighted], article: int, ids: NDArray[np.int32], offsets: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """See `Ranker`."""
        words, weights = articles[article]
        starts, terms, counts = count_terms(np.ascontiguousarray(ids), np.ascontiguousarray(offsets))
        known = terms < len(self.rarity)
        of_comment = counts * np.where(known, self.rarity[np.where(known, terms, 0)], 0.0)
        place = np.minimum(np.searchsorted(words, terms), max(len(words) - 1, 0))
        shared = np.zeros(len(terms))
        if len(words):
            shared = np.where(words[place] == terms, weights[place] * of_comment, 0.0)
        owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        dots, squares = (np.bincount(owners, each, minlength=len(starts) - 1) for each in (shared, of_comment**2))
        return np.asarray(dots / np.sqrt(np.where(squares > 0, squares, 1.0)), dtype=np.float64)


def rarity(articles: Texts, comments: Texts, starts: NDArray[np.int64], words: int, idf: Idf) -> NDArray[np.float64]:
    """Inverse document frequencies for comparing articles with comments.

    They (supplement, C.1) are over 2n documents: each of n articles is one, and its comments
    together are another. An index of articles knows too little: words of readers stand in few titles. Comments one by
    one would outvote the articles, in whose length a word is far more likely to come.

    Args:
        articles: Ids int32[T] and offsets int64[n + 1].
        comments: The same of the comments, article after article.
        starts: int64[n + 1], where the comments of each article begin.
        words: How many words there are.
        idf: ``plain`` or ``smooth``, see `postil.commenters.segment.Collection`.

    Returns:
        float64[words], 0 for a word that no document has.

    Word 0 is in one article and one discussion, word 1 in one discussion:

    >>> articles = np.array([0, 2], np.int32), np.array([0, 1, 2])
    >>> comments = np.array([0, 0, 1], np.int32), np.array([0, 1, 2, 3])
    >>> rarity(articles, comments, np.array([0, 1, 3]), 3, "plain").round(3).tolist()
    [0.288, 1.386, 1.386]
    """
    frequencies = np.zeros(words, dtype=np.int64)
    for ids, offsets in (articles, (comments[0], comments[1][starts])):
        _, terms, _ = count_terms(np.ascontiguousarray(ids), np.ascontiguousarray(offsets))
        frequencies += np.bincount(terms, minlength=words)
    return Collection(2 * (len(starts) - 1), frequencies).rarity("tf-idf", idf)


def _taken(
    ids: NDArray[np.int32], offsets: NDArray[np.int64], places: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Some texts of many: their words and where each begins."""
    sizes = offsets[places + 1] - offsets[places]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    within = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)
    taken = ids[np.repeat(offsets[places], sizes) + within]
    if taken.min(initial=0) < 0:
        problem = f"expected the words of comments as numbers from 0, got {taken.min()}; {WHOLE}"
        raise InvalidInput(problem, where="ranker/words.ids.npy")
    return taken, starts
