"""Rankers of comments: a relevance model, the TF-IDF cosine of article and comment, and weighted sums of rankers.

They read articles and comments as token ids, and as the texts themselves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Self, TypeAlias

import numpy as np

from postil.comments.index import CollectionStatistics
from postil.data.arrays import WHOLE, AnyArray
from postil.errors import InvalidInput
from postil.text.tokens import Ragged

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from postil.comments.nn.relevance import Relevance
    from postil.comments.weightings import Idf

    Stored: TypeAlias = Sequence[NDArray[np.int64]]
    Scores: TypeAlias = list[NDArray[np.float64]]

__all__ = [
    "ArticleTexts",
    "CommentTexts",
    "EmbeddingRanker",
    "InteractionRanker",
    "InterpolatedRanker",
    "Ranker",
    "TfidfRanker",
    "WordsRanker",
    "idf_weights",
    "shared_idf",
    "take",
]


@dataclass(frozen=True, eq=False, slots=True)
class ArticleTexts:
    """n articles.

    Args:
        words: Their words: those of the title, or of title and content.
        titles: The words of their titles.
        texts: Title and content of each, the latter empty where it is not read; needed by rankers that read vectors.
    """

    words: Ragged
    titles: Ragged
    texts: Sequence[tuple[str, str]]

    def __len__(self) -> int:
        return len(self.words)

    def take(self, which: NDArray[np.int64]) -> ArticleTexts:
        """Some of the articles.

        Args:
            which: int64[m], their indices.
        """
        texts = [self.texts[at] for at in which.tolist()] if self.texts else ()
        return ArticleTexts(self.words.take(which), self.titles.take(which), texts)


@dataclass(frozen=True, eq=False, slots=True)
class CommentTexts:
    """n comments.

    Args:
        words: Their words; one that no vocabulary has must have the same id in articles.
        texts: The comments themselves.
    """

    words: Ragged
    texts: Sequence[str]


def take(texts: Ragged, which: NDArray[np.int64]) -> Ragged:
    """Gather some of the comments of a model.

    Args:
        texts: Their words.
        which: int64[m], the indices of the comments.

    Raises:
        InvalidInput: An id is negative.
    """
    taken = texts.take(which)
    if taken.ids.min(initial=0) < 0:
        problem = f"expected the words of comments as ids from 0, got {taken.ids.min()}; {WHOLE}"
        raise InvalidInput(problem, where="ranker/words.ids.npy")
    return taken


class Ranker(ABC):
    """Scores the relevance of comments to articles."""

    @abstractmethod
    def score_stored(self, articles: ArticleTexts, comments: Stored) -> Scores:
        """Score stored comments: for each article float64[m], higher is better.

        Args:
            articles: The n articles.
            comments: For each article int64[m], the indices of stored comments.
        """

    @abstractmethod
    def score_texts(self, articles: ArticleTexts, comments: Sequence[CommentTexts]) -> Scores:
        """Score other comments: for each article float64[m], higher is better.

        Args:
            articles: The n articles.
            comments: For each article its m comments.
        """

    @abstractmethod
    def arrays(self) -> dict[str, AnyArray]:
        """Arrays that a model folder keeps of the ranker, by name."""

    @abstractmethod
    def take(self, comments: NDArray[np.int64]) -> Self:
        """The ranker with some of the stored comments; nothing is computed anew.

        Args:
            comments: int64[m], their indices, in the new order.
        """

    @abstractmethod
    def extend(self, comments: Ragged, texts: Sequence[str]) -> Self:
        """The ranker with further comments after the stored ones; its parameters stay.

        Args:
            comments: Their words.
            texts: The comments themselves.
        """

    def reweighted(self, frequencies: NDArray[np.int64], starts: NDArray[np.int64], idf: Idf) -> Self:
        """The ranker with the inverse document frequencies of the articles and comments that are there now.

        Args:
            frequencies: int64[words], the number of articles with each word.
            starts: int64[articles + 1], the index of each article's first stored comment.
            idf: ``plain`` or ``smooth``.
        """
        del frequencies, starts, idf
        return self


@dataclass(frozen=True, eq=False)
class EmbeddingRanker(Ranker):
    """A two-tower relevance model, with the vectors of stored comments computed in advance.

    Args:
        relevance: The model.
        vectors: float32[comments, d], the stored comments.
    """

    relevance: Relevance
    vectors: NDArray[np.float32]

    def score_stored(self, articles: ArticleTexts, comments: Stored) -> Scores:
        """See `Ranker`."""
        return self._score(articles, map(self._stored, comments))

    def score_texts(self, articles: ArticleTexts, comments: Sequence[CommentTexts]) -> Scores:
        """See `Ranker`."""
        return self._score(articles, (self.relevance.encode_comments(some.words) for some in comments))

    def arrays(self) -> dict[str, AnyArray]:
        """See `Ranker`."""
        return {"vectors": self.vectors}

    def take(self, comments: NDArray[np.int64]) -> EmbeddingRanker:
        """See `Ranker`."""
        return replace(self, vectors=self.vectors[comments])

    def extend(self, comments: Ragged, texts: Sequence[str]) -> EmbeddingRanker:  # noqa: ARG002 - see `Ranker`
        """See `Ranker`."""
        return replace(self, vectors=np.concatenate([self.vectors, self.relevance.encode_comments(comments)]))

    def _stored(self, comments: NDArray[np.int64]) -> NDArray[np.float32]:
        vectors = np.asarray(self.vectors[comments])
        if not np.isfinite(vectors).all():
            raise InvalidInput(f"expected finite numbers; {WHOLE}", where="ranker/vectors.npy")
        return vectors

    def _score(self, articles: ArticleTexts, comments: Iterable[NDArray[np.float32]]) -> Scores:
        encoded = self.relevance.encode_articles(articles.words)
        return [
            np.asarray(self.relevance.score(encoded[at : at + 1], vectors)[0], dtype=np.float64)
            for at, vectors in enumerate(comments)
        ]


@dataclass(frozen=True, eq=False)
class InterpolatedRanker(Ranker):
    """A weighted sum of the scores of rankers.

    A network knows which comments suit an article, the cosine rewards rare words of the article, and features add other
    vectors and what is known of a comment alone.

    Args:
        parts: Rankers with their weights.
    """

    parts: tuple[tuple[Ranker, float], ...]

    def score_stored(self, articles: ArticleTexts, comments: Stored) -> Scores:
        """See `Ranker`."""
        return self._sum([part.score_stored(articles, comments) for part, _ in self.parts])

    def score_texts(self, articles: ArticleTexts, comments: Sequence[CommentTexts]) -> Scores:
        """See `Ranker`."""
        return self._sum([part.score_texts(articles, comments) for part, _ in self.parts])

    def arrays(self) -> dict[str, AnyArray]:
        """See `Ranker`."""
        return {name: array for part, _ in self.parts for name, array in part.arrays().items()}

    def take(self, comments: NDArray[np.int64]) -> InterpolatedRanker:
        """See `Ranker`."""
        return InterpolatedRanker(tuple((part.take(comments), weight) for part, weight in self.parts))

    def extend(self, comments: Ragged, texts: Sequence[str]) -> InterpolatedRanker:
        """See `Ranker`."""
        return InterpolatedRanker(tuple((part.extend(comments, texts), weight) for part, weight in self.parts))

    def reweighted(self, frequencies: NDArray[np.int64], starts: NDArray[np.int64], idf: Idf) -> InterpolatedRanker:
        """See `Ranker`."""
        return InterpolatedRanker(
            tuple((part.reweighted(frequencies, starts, idf), weight) for part, weight in self.parts)
        )

    def _sum(self, scores: list[Scores]) -> Scores:
        weights = [weight for _, weight in self.parts]
        return [
            np.asarray(sum(weight * some for weight, some in zip(weights, each, strict=True)), np.float64)
            for each in zip(*scores, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class WordsRanker(Ranker):
    """A ranker that reads the words of comments, and keeps those of stored ones.

    Args:
        words: The words of the stored comments.
    """

    words: Ragged

    def score_stored(self, articles: ArticleTexts, comments: Stored) -> Scores:
        """See `Ranker`."""
        return self._score(articles, [take(self.words, some) for some in comments])

    def score_texts(self, articles: ArticleTexts, comments: Sequence[CommentTexts]) -> Scores:
        """See `Ranker`."""
        return self._score(articles, [some.words for some in comments])

    def arrays(self) -> dict[str, AnyArray]:
        """See `Ranker`."""
        return {"words.ids": self.words.ids, "words.offsets": self.words.offsets}

    def take(self, comments: NDArray[np.int64]) -> Self:
        """See `Ranker`."""
        return replace(self, words=take(self.words, comments))

    def extend(self, comments: Ragged, texts: Sequence[str]) -> Self:  # noqa: ARG002 - see `Ranker`
        """See `Ranker`."""
        return replace(self, words=Ragged.concatenate([self.words, comments]))

    @abstractmethod
    def _score(self, articles: ArticleTexts, comments: Sequence[Ragged]) -> Scores:
        """Score comments: for each article float64[m]."""


@dataclass(frozen=True, eq=False)
class InteractionRanker(WordsRanker):
    """A relevance model that reads article and comment together.

    Args:
        relevance: The model.
    """

    relevance: Relevance

    def _score(self, articles: ArticleTexts, comments: Sequence[Ragged]) -> Scores:
        found = []
        for at, texts in enumerate(comments):
            which = np.arange(len(texts))
            scores = self.relevance.score_pairs(articles.words, texts, np.full(len(which), at), which)
            found.append(scores.astype(np.float64))
        return found


@dataclass(frozen=True, eq=False)
class TfidfRanker(WordsRanker):
    """The TF-IDF cosine of article and comment.

    Args:
        idf: float64[words], the idf of each word.
    """

    idf: NDArray[np.float64]

    def arrays(self) -> dict[str, AnyArray]:
        """See `Ranker`."""
        return super().arrays() | {"idf": self.idf}

    def reweighted(self, frequencies: NDArray[np.int64], starts: NDArray[np.int64], idf: Idf) -> TfidfRanker:
        """See `Ranker`."""
        return replace(self, idf=shared_idf(frequencies, self.words, starts, idf))

    def _score(self, articles: ArticleTexts, comments: Sequence[Ragged]) -> Scores:
        starts, terms, counts = articles.words.counted()
        found = []
        for (start, end), texts in zip(pairwise(starts.tolist()), comments, strict=True):
            known = terms[start:end] < len(self.idf)
            words = terms[start:end][known]
            weights = counts[start:end][known] * self.idf[words]
            found.append(self._cosines(words, weights / (np.sqrt((weights**2).sum()) or 1.0), texts))
        return found

    def _cosines(self, words: NDArray[np.int32], weights: NDArray[np.float64], comments: Ragged) -> NDArray[np.float64]:
        """Cosines of an article, as ascending words and L2-normalized weights, and comments."""
        starts, terms, counts = comments.counted()
        known = terms < len(self.idf)
        of_comment = counts * np.where(known, self.idf[np.where(known, terms, 0)], 0.0)
        at = np.minimum(np.searchsorted(words, terms), max(len(words) - 1, 0))
        shared = np.zeros(len(terms))
        if len(words):
            shared = np.where(words[at] == terms, weights[at] * of_comment, 0.0)
        owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        dots, squares = (np.bincount(owners, each, minlength=len(starts) - 1) for each in (shared, of_comment**2))
        return np.asarray(dots / np.sqrt(np.where(squares > 0, squares, 1.0)), dtype=np.float64)


def idf_weights(
    articles: Ragged, comments: Ragged, starts: NDArray[np.int64], words: int, idf: Idf
) -> NDArray[np.float64]:
    """Inverse document frequencies for the cosine of articles and comments.

    They (supplement, C.1) are over 2n documents: each of n articles is one, and its comments together are another. An
    index of articles alone knows too little, since readers' words are in few titles; counting comments one by one would
    outvote the articles, in whose length a word is far more likely to occur.

    Args:
        articles: The n articles.
        comments: Their comments, article by article.
        starts: int64[n + 1], the index of each article's first comment.
        words: Size of the vocabulary.
        idf: ``plain`` or ``smooth``, see `postil.comments.index.CollectionStatistics`.

    Returns:
        float64[words], 0 for a word that is in no document.

    Word 0 is in one article and one discussion, word 1 in one discussion:

    >>> articles = Ragged(np.array([0, 2], np.int32), np.array([0, 1, 2]))
    >>> comments = Ragged(np.array([0, 0, 1], np.int32), np.array([0, 1, 2, 3]))
    >>> idf_weights(articles, comments, np.array([0, 1, 3]), 3, "plain").round(3).tolist()
    [0.288, 1.386, 1.386]
    """
    _, terms, _ = articles.counted()
    return shared_idf(np.bincount(terms, minlength=words), comments, starts, idf)


def shared_idf(
    frequencies: NDArray[np.int64], comments: Ragged, starts: NDArray[np.int64], idf: Idf, least: int = 0
) -> NDArray[np.float64]:
    """See `idf_weights`; of the articles, the number with each word is known.

    Args:
        frequencies: int64[words], the number of articles with each word.
        comments: Their comments, article by article.
        starts: int64[n + 1], the index of each article's first comment.
        idf: ``plain`` or ``smooth``.
        least: Fewest documents that a word counts as being in.
    """
    _, terms, _ = Ragged(comments.ids, comments.offsets[starts]).counted()
    both = np.maximum(frequencies + np.bincount(terms, minlength=len(frequencies)), least)
    return CollectionStatistics(2 * (len(starts) - 1), both).idf_weights("tf-idf", idf)
