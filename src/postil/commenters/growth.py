"""A retriever that grows: further articles and comments, without training it again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from postil.commenters.candidate_pool import CandidatePool
from postil.records.forgotten import comment_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.commenters.rankers import Ranker
    from postil.commenters.retrieval import Retriever
    from postil.commenters.search import Index

    Texts = tuple[NDArray[np.int32], NDArray[np.int64]]

__all__ = ["Additions", "Grown", "grown"]


@dataclass(frozen=True, eq=False)
class Additions:
    """Articles with comments that are added to a retriever.

    Args:
        pool: The comments, article by article.
        articles: Words of what the retriever reads of each article: ids int32[T] in ``words``, offsets int64[n + 1].
        comments: Words of the comments, in the same way.
        words: The words, by id.
    """

    pool: CandidatePool
    articles: Texts
    comments: Texts
    words: Sequence[str]


@dataclass(frozen=True, eq=False)
class Grown:
    """A retriever with further articles and comments, to be written into a model folder.

    Args:
        index: The articles.
        pool: Their comments.
        words: The vocabulary, by id; that of before, then new words.
        ranker: The ranker.
        articles: Number of articles that were added.
        comments: Number of comments that were added.
        updated: Number of comments that took the place of one with the same id.
        kept_out: Number of comments that were left out since they were forgotten.
    """

    index: Index
    pool: CandidatePool
    words: Sequence[str]
    ranker: Ranker
    articles: int
    comments: int
    updated: int
    kept_out: int


def grown(retriever: Retriever, new: Additions, forgotten: frozenset[str] = frozenset()) -> Grown:
    """Add articles and comments to a retriever.

    An article whose id is known gets the comments, and its text stays as it is in the index; a comment whose id is
    known takes the place of the old one. Other articles become the last ones. The parameters of the ranker stay;
    inverse document frequencies are those of all articles.

    Args:
        retriever: The retriever.
        new: The articles and comments.
        forgotten: Keys of comments that must not come back; see `postil.records.forgotten.comment_key`.
    """
    old = retriever.pool
    places = {name: place for place, name in enumerate(old.articles)}
    names = list(new.pool.articles)
    target = np.array([places.get(name, -1) for name in names], dtype=np.int64)
    erased = np.array([bool(forgotten) and comment_key(name) in forgotten for name in names], dtype=bool)
    added = np.flatnonzero((target < 0) & ~erased)
    target[added] = len(old.articles) + np.arange(len(added))

    owners = new.pool.owner(np.arange(len(new.pool)))
    ids = list(new.pool.ids)
    kept = np.ones(len(ids), dtype=bool)
    if forgotten:
        pairs = zip(owners.tolist(), ids, strict=True)
        kept[:] = [forgotten.isdisjoint((comment_key(names[at]), comment_key(names[at], one))) for at, one in pairs]
    stays = _not_replaced(old, {(int(target[owner]), one) for owner, one in zip(owners.tolist(), ids, strict=True)})
    replaced = int(len(old) - stays.sum())

    # The old comments that stay and the new ones, sorted by article; within one the old ones come first.
    place = np.concatenate([np.flatnonzero(stays), len(old) + np.flatnonzero(kept)])
    of_article = np.concatenate([old.owner(np.flatnonzero(stays)), target[owners[kept]]])
    order = np.argsort(of_article, kind="stable")
    place, of_article = place[order], of_article[order]
    articles = np.concatenate([np.arange(len(old.articles)), len(old.articles) + added])
    pool = CandidatePool.concatenate([old, new.pool]).take(articles, place, of_article)

    article_words, comment_words = _texts(new.articles, added), _texts(new.comments, np.flatnonzero(kept))
    words, numbers = _vocabulary(retriever.model.words(), new.words, [article_words[0], comment_words[0]])
    index = retriever.index.add(numbers[article_words[0]], article_words[1], len(words), retriever.jobs)
    said = [new.pool.texts[one] for one in np.flatnonzero(kept).tolist()]
    ranker = retriever.ranker.extend((numbers[comment_words[0]], comment_words[1]), said)
    stored = np.concatenate([np.arange(len(old)), len(old) + np.cumsum(kept) - 1])  # the index of each in the ranker
    ranker = ranker.take(stored[place]).reweighted(index.collection.frequencies, pool.starts, index.idf)
    comments = int(kept.sum()) - replaced
    return Grown(index, pool, words, ranker, len(added), comments, replaced, int(len(kept) - kept.sum()))


def _not_replaced(pool: CandidatePool, new: set[tuple[int, str]]) -> NDArray[np.bool_]:
    """True for each comment of a pool but for those with an article's place and an id of the new ones."""
    stays = np.ones(len(pool), dtype=bool)
    for article in sorted({article for article, _ in new if article < len(pool.articles)}):
        for comment in range(int(pool.starts[article]), int(pool.starts[article + 1])):
            stays[comment] = (article, pool.ids[comment]) not in new
    return stays


def _texts(texts: Texts, which: NDArray[np.int64]) -> Texts:
    """Some of several texts."""
    ids, offsets = texts
    sizes = np.diff(offsets)[which]
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return ids[np.repeat(offsets[:-1][which] - ends[:-1], sizes) + np.arange(ends[-1])], ends


def _vocabulary(
    known: Sequence[str], new: Sequence[str], used: Sequence[NDArray[np.int32]]
) -> tuple[list[str], NDArray[np.int32]]:
    """The known words with those of the new ones that are used, and the id of each new word among them."""
    words, numbers = list(known), np.full(len(new), -1, dtype=np.int32)
    ids = {word: number for number, word in enumerate(known)}
    for one in np.unique(np.concatenate(used)).tolist():
        numbers[one] = ids.setdefault(new[one], len(words))
        if numbers[one] == len(words):
            words.append(new[one])
    return words, numbers
