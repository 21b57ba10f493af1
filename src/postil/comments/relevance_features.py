"""Features of an article and a comment that tell whether the comment belongs to the article.

| feature | value |
|---|---|
| ``tfidf_V`` | TF-IDF cosine of the comment and view V of the article |
| ``shared_idf_V``, ``highest_idf_V`` | sum and maximum of the idf of the words that both have; 0 for none |
| ``cosine_V`` | cosine of the static vectors of both texts |
| ``less_hub_V`` | the same less the comment's mean cosine with view V of up to 500 training articles |
| ``log_length`` | ln(1 + number of words of the comment) |
| ``mean_idf``, ``top_idf`` | mean idf of the comment's distinct words, and of the three with the highest |
| ``first_person``, ``second_person`` | share of its words that mean *I* or *we*, and *you* |
| ``question`` | 1 if it has a question mark, else 0 |

Views of words are ``article`` (title and content) and ``title``; of vectors also ``opening`` (the first 80 units of the
content) and ``sentence`` (the most similar sentence; its hub is the mean over all sentences). A model that reads titles
alone has the view ``title`` alone. A word that no training text has counts as one that is in one of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from postil.comments.ranked_texts import take
from postil.comments.text_vectors import OPENING, TextVectors, sentences
from postil.kernel import count_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.comments.ranked_texts import ArticleTexts, CommentTexts, Texts

__all__ = ["COMMENT_FEATURES", "FIRST_PERSON", "SECOND_PERSON", "CommentFeatures", "RelevanceFeatures", "hubs_of"]

COMMENT_FEATURES: Final = ("log_length", "mean_idf", "top_idf", "first_person", "second_person", "question")
"""Features of a comment alone."""
VIEWS: Final = ("article", "title", "opening", "sentence")
"""Views of an article by vectors; those by words are the first two."""
FIRST_PERSON: Final = ("i", "I", "me", "my", "mine", "myself", "we", "us", "our", "i'm", "I'm", "我", "我们", "咱们")
"""Words that mean *I* or *we*, as tokenizers leave them."""
SECOND_PERSON: Final = ("you", "You", "your", "yours", "yourself", "you're", "u", "ur", "你", "你们", "您", "妳")
"""Words that mean *you*."""
HUB_ARTICLES: Final = 500
"""Most training articles whose mean vector is a hub."""
_DECIMALS: Final = 6
"""Decimals of cosines of vectors, since products of other shapes differ in their last digits."""
_BLOCK: Final = 4096
"""Number of comments that are encoded together."""


@dataclass(frozen=True, eq=False)
class CommentFeatures:
    """Words, columns and vectors of n comments, which the features are computed from.

    Args:
        words: Their words.
        columns: float32[n, 6], `COMMENT_FEATURES`.
        vectors: float16[n, d], their unit vectors; None without vectors.
    """

    words: Texts
    columns: NDArray[np.float32]
    vectors: NDArray[np.float16] | None

    def __len__(self) -> int:
        return len(self.columns)

    def take(self, which: NDArray[np.int64]) -> CommentFeatures:
        """Some of the comments.

        Args:
            which: int64[m], their indices.
        """
        vectors = None if self.vectors is None else self.vectors[which]
        return CommentFeatures(take(self.words, which), self.columns[which], vectors)


class _Weighed(NamedTuple):
    """The distinct words of comments: the comment, the word, its idf, and its weight, and the norm of each comment."""

    owners: NDArray[np.int64]
    terms: NDArray[np.int32]
    idf: NDArray[np.float64]
    weights: NDArray[np.float64]
    norms: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RelevanceFeatures:
    """The features of pairs of article and comment, with what they are computed from.

    Args:
        idf: float64[words], the idf of each word; the highest one for words that no training text has.
        persons: Ids of the words of the first and of the second person.
        with_content: True if contents are read, False for titles alone.
        text_vectors: The vectors; None for words only.
        hubs: float32[views, d], the mean vector of each view over training articles.
    """

    idf: NDArray[np.float64]
    persons: tuple[NDArray[np.int32], NDArray[np.int32]]
    with_content: bool
    text_vectors: TextVectors | None = None
    hubs: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), np.float32))

    @property
    def views(self) -> tuple[str, ...]:
        """Views of an article by vectors."""
        return VIEWS if self.with_content else ("title",)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features, in the order of the columns."""
        of_words = VIEWS[:2] if self.with_content else ("title",)
        of_vectors = self.views if self.text_vectors else ()
        return (
            *(f"{name}_{view}" for view in of_words for name in ("tfidf", "shared_idf", "highest_idf")),
            *(f"cosine_{view}" for view in of_vectors),
            *(f"less_hub_{view}" for view in of_vectors),
            *COMMENT_FEATURES,
        )

    def comments(self, comments: CommentTexts) -> CommentFeatures:
        """Compute what is needed of comments, once for all articles.

        Args:
            comments: n comments.
        """
        vectors = None
        if self.text_vectors is not None:
            raw, encode = comments.texts, self.text_vectors.unit
            blocks = [encode(raw[at : at + _BLOCK]).astype(np.float16) for at in range(0, len(raw), _BLOCK)]
            vectors = np.concatenate([np.zeros((0, self.hubs.shape[1]), np.float16), *blocks])
        ids, offsets = comments.words
        sizes = np.diff(offsets)
        columns = np.zeros((len(sizes), len(COMMENT_FEATURES)), np.float32)
        columns[:, 0] = np.log1p(sizes)
        owners = np.repeat(np.arange(len(sizes)), sizes)
        for column, person in zip((3, 4), self.persons, strict=True):
            found = np.bincount(owners, np.isin(ids, person), minlength=len(sizes))
            columns[:, column] = found / np.maximum(sizes, 1)
        columns[:, 5] = [("?" in text) or ("？" in text) for text in comments.texts]
        return self.with_idf(CommentFeatures(comments.words, columns, vectors))

    def with_idf(self, comments: CommentFeatures) -> CommentFeatures:
        """Compute the features of comments that depend on the idf anew.

        Args:
            comments: n comments.
        """
        starts, terms, _ = _counted(comments.words)
        sizes = np.diff(starts)
        owners = np.repeat(np.arange(len(sizes)), sizes)
        weights = self._idf_of(terms)
        columns = comments.columns.copy()
        columns[:, 1] = np.bincount(owners, weights, minlength=len(sizes)) / np.maximum(sizes, 1)
        order = np.lexsort((-weights, owners))
        best = np.arange(len(order)) - np.repeat(starts[:-1], sizes) < 3
        top = np.bincount(owners, weights[order] * best, minlength=len(sizes))
        columns[:, 2] = top / np.maximum(np.minimum(sizes, 3), 1)
        return replace(comments, columns=columns)

    def pairs(self, articles: ArticleTexts, comments: Sequence[CommentFeatures]) -> list[NDArray[np.float64]]:
        """Compute the features of articles and comments.

        Args:
            articles: n articles.
            comments: For each article m comments.

        Returns:
            For each article float64[m, features].
        """
        weighed = [self._weighed(some.words) for some in comments]
        by_words = [self._by_words(articles.words, weighed)] if self.with_content else []
        by_words.append(self._by_words(articles.titles, weighed))
        blocks = [*by_words, *([self._by_vectors(articles, comments)] if self.text_vectors else [])]
        return [
            np.hstack([*(block[at] for block in blocks), some.columns.astype(np.float64)])
            for at, some in enumerate(comments)
        ]

    def _idf_of(self, terms: NDArray[np.int32]) -> NDArray[np.float64]:
        highest = self.idf.max(initial=0.0)
        known = terms < len(self.idf)
        return np.where(known, self.idf[np.where(known, terms, 0)], highest) if len(self.idf) else np.zeros(len(terms))

    def _weighed(self, comments: Texts) -> _Weighed:
        """The distinct words of n comments."""
        bounds, terms, times = _counted(comments)
        owners, idf = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds)), self._idf_of(terms)
        weights = times * idf
        norms = np.sqrt(np.bincount(owners, weights**2, minlength=len(bounds) - 1))
        return _Weighed(owners, terms, idf, weights, np.where(norms > 0, norms, 1.0))

    def _by_words(self, articles: Texts, comments: Sequence[_Weighed]) -> list[NDArray[np.float64]]:
        """For each article float64[m, 3]: TF-IDF cosine, and sum and maximum of the idf of shared words."""
        starts, terms, counts = _counted(articles)
        idf = self._idf_of(terms)
        found = []
        for (begin, end), some in zip(pairwise(starts.tolist()), comments, strict=True):
            words, weights = terms[begin:end], counts[begin:end] * idf[begin:end]
            weights = weights / (np.sqrt((weights**2).sum()) or 1.0)
            out = np.zeros((len(some.norms), 3))
            places = np.zeros(max(words.max(initial=-1), some.terms.max(initial=-1)) + 1, np.int32)
            places[words] = np.arange(1, len(words) + 1)
            at = places[some.terms]
            shared = np.flatnonzero(at)
            owner, rare = some.owners[shared], some.idf[shared]
            dots = np.bincount(owner, weights[at[shared] - 1] * some.weights[shared], minlength=len(out))
            out[:, 0] = dots / some.norms
            out[:, 1] = np.bincount(owner, rare, minlength=len(out))
            np.maximum.at(out[:, 2], owner, rare)
            found.append(out)
        return found

    def _by_vectors(self, articles: ArticleTexts, comments: Sequence[CommentFeatures]) -> list[NDArray[np.float64]]:
        """For each article float64[m, 2 * views]: cosines, and the same less the hub."""
        assert self.text_vectors is not None  # noqa: S101 - for the type checker
        found = []
        for views, some in zip(article_vectors(self.text_vectors, articles.texts, self.views), comments, strict=True):
            assert some.vectors is not None  # noqa: S101 - for the type checker
            several = np.vstack([self.hubs, views])
            products = (some.vectors.astype(np.float32) @ several.T).astype(np.float64)
            hubs, cosines = products[:, : len(self.hubs)], products[:, len(self.hubs) :]
            if self.with_content:
                cosines = np.hstack([cosines[:, :3], cosines[:, 3:].max(axis=1, keepdims=True)])
            found.append(np.hstack([cosines, cosines - hubs]).round(_DECIMALS))
        return found


def article_vectors(
    vectors: TextVectors, texts: Sequence[tuple[str, str]], views: Sequence[str]
) -> list[NDArray[np.float32]]:
    """Unit vectors of the views of articles.

    Args:
        vectors: The vectors.
        texts: Title and content of each of n articles.
        views: Names of the views, of which ``sentence`` is the last.

    Returns:
        For each article float32[k, d], a row for each view; k is larger with several sentences.
    """
    titles = [title for title, _ in texts]
    if tuple(views) == ("title",):
        return [row[None] for row in vectors.unit(titles)]
    wholes = [f"{title}\n{content}" for title, content in texts]
    lists = [sentences(whole) or [whole] for whole in wholes]
    article, title = vectors.unit(wholes), vectors.unit(titles)
    opening = vectors.unit([content or title for title, content in texts], OPENING)
    bounds = np.cumsum([0, *map(len, lists)]).tolist()
    each = vectors.unit([sentence for some in lists for sentence in some])
    return [
        np.vstack([article[at], title[at], opening[at], each[begin:end]])
        for at, (begin, end) in enumerate(pairwise(bounds))
    ]


def hubs_of(vectors: TextVectors, texts: Sequence[tuple[str, str]], *, with_content: bool) -> NDArray[np.float32]:
    """Compute the mean vector of each view over articles; that of sentences over the means of articles.

    Args:
        vectors: The vectors.
        texts: Title and content of the training articles; 500 of them, evenly spaced, are read if there are more.
        with_content: False for titles alone.

    Returns:
        float32[views, d].
    """
    chosen = np.unique(np.linspace(0, len(texts) - 1, min(len(texts), HUB_ARTICLES)).astype(int)).tolist()
    views = VIEWS if with_content else ("title",)
    each = article_vectors(vectors, [texts[at] for at in chosen], views)
    rows = [np.vstack([one[: len(views) - 1], one[len(views) - 1 :].mean(axis=0, keepdims=True)]) for one in each]
    return np.asarray(np.mean(np.stack(rows), axis=0, dtype=np.float64), np.float32)


def _counted(texts: Texts) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    starts, terms, counts = count_terms(np.ascontiguousarray(texts[0]), np.ascontiguousarray(texts[1]))
    return np.asarray(starts), np.asarray(terms), np.asarray(counts)
