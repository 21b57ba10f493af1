"""Padded batches from texts in memory-mapped arrays.

A *ragged* array holds n texts concatenated: text i is ``ids[offsets[i]:offsets[i + 1]]``. A padded batch is
``int64[n, L]``, filled with ``PAD`` on the right. The composition of batches follows from lengths alone, so batch 7,000
of an epoch is made without reading those before it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from postil.comments.nn.token_ids import PAD, SPECIAL, UNK
from postil.errors import UsageError
from postil.text.tokens import Ragged, ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "Batch",
    "Commented",
    "Epoch",
    "Pairs",
    "bucket_by_length",
    "concatenate_texts",
    "data_hash",
    "model_ids",
    "pad_batch",
]

Batch: TypeAlias = "dict[str, NDArray[np.int64]]"
"""Arrays of a batch by name."""


class Commented(NamedTuple):
    """Articles with comments.

    Args:
        articles: Texts of the articles.
        comments: Texts of the comments, grouped by article.
        starts: First comment of each article, int64[articles + 1].
    """

    articles: Ragged
    comments: Ragged
    starts: NDArray[np.int64]


def model_ids(ids: NDArray[np.int32] | NDArray[np.int64], vocab_size: int) -> NDArray[np.int64]:
    """Map token ids of a corpus to those of a model.

    Args:
        ids: Token ids of a corpus, frequent tokens first; any shape.
        vocab_size: Number of ids of the model, special tokens included.

    Returns:
        int64, the same shape: ``id + 4``, or ``UNK`` outside the model's vocabulary.

    >>> model_ids(np.array([0, 5, 6, 7]), vocab_size=10).tolist()
    [4, 9, 1, 1]
    """
    return np.where(ids < vocab_size - SPECIAL, ids + np.int64(SPECIAL), np.int64(UNK))


def pad_batch(texts: Ragged, rows: NDArray[np.int64], max_length: int, vocab_size: int) -> NDArray[np.int64]:
    """Right-pad some texts to a batch.

    Args:
        texts: All texts.
        rows: Indices of the texts of the batch, int64[n].
        max_length: Number of tokens to truncate texts to.
        vocab_size: Number of ids of the model, special tokens included.

    Returns:
        int64[n, L], L being the length of the longest and at least 1.

    >>> texts = Ragged(np.array([7, 7, 8, 9], np.int32), np.array([0, 1, 1, 4]))
    >>> pad_batch(texts, np.array([2, 1, 0]), max_length=2, vocab_size=12).tolist()
    [[11, 1], [0, 0], [11, 0]]
    """
    begins = texts.offsets[rows]  # [n]
    lengths = np.minimum(texts.offsets[rows + 1] - begins, max_length)  # [n]
    positions = np.arange(max(1, int(lengths.max(initial=0))))  # [L]
    mask = positions < lengths[:, None]  # [n, L]
    batch = np.full(mask.shape, PAD, dtype=np.int64)
    batch[mask] = model_ids(texts.ids[(begins[:, None] + positions)[mask]], vocab_size)
    return batch


def concatenate_texts(first: Ragged, second: Ragged, max_length: int) -> Ragged:
    """Concatenate texts pairwise: titles and contents.

    Args:
        first: n texts.
        second: n texts, truncated to ``max_length`` tokens.
        max_length: Number of tokens taken from the second text of each pair.

    Returns:
        n texts, in memory.

    >>> titles = Ragged(np.array([1, 2], np.int32), np.array([0, 1, 2]))
    >>> contents = Ragged(np.array([5, 6, 7], np.int32), np.array([0, 3, 3]))
    >>> both = concatenate_texts(titles, contents, max_length=2)
    >>> both.ids.tolist(), both.offsets.tolist()
    ([1, 5, 6, 2], [0, 3, 4])
    """
    one = first.lengths  # [n]
    two = np.minimum(second.lengths, max_length)  # [n]
    if len(one) != len(two):
        raise UsageError(f"expected as many texts as others, got {len(one)} and {len(two)}")
    offsets = np.concatenate(([0], np.cumsum(one + two)))
    ids = np.empty(offsets[-1], dtype=np.int32)
    ids[ranges(offsets[:-1], one)] = first.ids[first.offsets[0] : first.offsets[-1]]
    ids[ranges(offsets[:-1] + one, two)] = second.ids[ranges(second.offsets[:-1], two)]
    return Ragged(ids, offsets)


def bucket_by_length(texts: Ragged, max_tokens: int, max_length: int) -> list[NDArray[np.int64]]:
    """Group texts of similar length, so that batches have little padding.

    Args:
        texts: n texts.
        max_tokens: Number of tokens per bucket, padding included; a single text may have more.
        max_length: Number of tokens that texts are truncated to.

    Returns:
        Indices of each bucket's texts, int64; every text is in one bucket.

    >>> texts = Ragged(np.zeros(7, np.int32), np.array([0, 3, 4, 7]))
    >>> [rows.tolist() for rows in bucket_by_length(texts, max_tokens=6, max_length=9)]
    [[1, 0], [2]]
    """
    lengths = np.clip(texts.lengths, 1, max_length)
    order = np.argsort(lengths, kind="stable")
    buckets, begin = [], 0
    while begin < len(order):
        # Lengths ascend, so the last text of a bucket is the longest and size x its length is the padded size.
        costs = lengths[order[begin : begin + max_tokens]] * np.arange(1, len(order[begin : begin + max_tokens]) + 1)
        size = max(1, int(np.searchsorted(costs, max_tokens, side="right")))
        buckets.append(order[begin : begin + size])
        begin += size
    return buckets


@dataclass(frozen=True, eq=False, slots=True)
class Pairs:
    """Pairs of article and comment, dealt out in batches.

    Args:
        articles: Texts of the articles.
        comments: Texts of the comments, grouped by article.
        starts: First comment of each article, int64[articles + 1].
        vocab_size: Number of ids of the model, special tokens included.
        batch: Maximum number of comments per batch.
        comments_per_group: Number of comments of an article that share a batch, so that the article is encoded once.
        article_words: Number of tokens that articles are truncated to.
        comment_words: Number of tokens that comments are truncated to.
        comments_per_article: ``all``, or ``one`` that is sampled once for all epochs.
        seed: Seed; with the number of the epoch it decides everything random.
        window: Number of batches that are sorted by length together.
        article_tokens: Maximum number of article tokens per batch, padding included, unless one article has more; None
            for no limit.

    Raises:
        UsageError: The arrays do not fit together, or there is no comment.
    """

    articles: Ragged
    comments: Ragged
    starts: NDArray[np.int64]
    vocab_size: int
    batch: int = 256
    comments_per_group: int = 1
    article_words: int = 400
    comment_words: int = 50
    comments_per_article: Literal["all", "one"] = "all"
    seed: int = 0
    window: int = 50
    article_tokens: int | None = None

    def __post_init__(self) -> None:
        articles, comments = len(self.articles), len(self.comments)
        if len(self.starts) != articles + 1 or self.starts[0] != 0 or self.starts[-1] != comments:
            raise UsageError(f"starts: expected {articles + 1} numbers from 0 to {comments}")
        if not comments:
            raise UsageError("expected articles with comments, got none")
        if not 1 <= self.comments_per_group <= self.batch:
            raise UsageError(f"expected groups of 1 to {self.batch} comments, got {self.comments_per_group}")

    def epoch(self, number: int) -> Epoch:
        """Shuffled batches of an epoch.

        Args:
            number: Number of the epoch, from 0.

        Returns:
            Batches of which each but the last lacks less than a group.
        """
        rng = np.random.default_rng([self.seed, number])
        chosen, per_article = self._choose()
        article = np.repeat(np.arange(len(per_article)), per_article)  # [comments]
        lengths = np.minimum(self.comments.lengths[chosen], self.comment_words)  # [comments]
        # An article's comments are grouped by about equal length. The noise of 30 % gives each epoch other groups at
        # little cost in padding.
        order = np.lexsort((rng.uniform(0.7, 1.3, len(chosen)) * lengths, article))  # [comments]
        rank = np.arange(len(order)) - np.repeat(np.cumsum(per_article) - per_article, per_article)
        begins = np.append(np.flatnonzero(rank % self.comments_per_group == 0), len(order))  # [groups + 1]

        shuffled = rng.permutation(len(begins) - 1)  # [groups]
        sizes = np.diff(begins)[shuffled]
        longest = np.maximum.reduceat(lengths[order], begins[:-1])[shuffled]
        article_lengths = np.minimum(self.articles.lengths[article[begins[:-1]]], self.article_words)[shuffled]
        # Sorting all groups by length would pad least, but batches would hold the same groups in every epoch. So groups
        # are shuffled first and sorted within windows only: by the article's length in steps of 16 tokens, since the
        # encoder costs most, and then by the comments' length.
        window = np.cumsum(sizes) // (self.batch * self.window)
        by_length = np.lexsort((longest, article_lengths // 16, window))
        ends = np.cumsum(sizes[by_length])
        cuts = [0]
        while cuts[-1] < len(ends):  # a batch takes as many whole groups as fit
            before = ends[cuts[-1] - 1] if cuts[-1] else 0
            end = int(np.searchsorted(ends, before + self.batch, side="right"))
            if self.article_tokens is not None:
                padded = np.maximum.accumulate(article_lengths[by_length[cuts[-1] : end]])
                padded = padded * np.arange(1, len(padded) + 1)
                end = cuts[-1] + max(1, int(np.searchsorted(padded, self.article_tokens, side="right")))
            cuts.append(end)
        # Shuffled again: neighbors in a window have the same lengths, and training should not see them in a row.
        batches = rng.permutation(len(cuts) - 1)
        groups = (shuffled[by_length[cuts[at] : cuts[at + 1]]] for at in batches.tolist())
        places = [ranges(begins[some], begins[some + 1] - begins[some]) for some in groups]
        return Epoch(self, chosen[order], article, places)

    def _choose(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Comments to train on, int64[comments], and their number per article, int64[articles]."""
        per_article = np.diff(self.starts)  # [articles]
        if self.comments_per_article == "all":
            return np.arange(self.starts[-1]), per_article
        # A generator of its own, seeded without the epoch: every epoch has the same comments.
        sampled = np.random.default_rng(self.seed).random(len(per_article))  # [articles]
        chosen = (self.starts[:-1] + (sampled * per_article).astype(np.int64))[per_article > 0]
        return chosen, np.minimum(per_article, 1)


@dataclass(frozen=True, eq=False, slots=True)
class Epoch(Sequence[Batch]):
    """Batches of an epoch; each is read when it is indexed.

    A batch holds

    - ``article`` int64[a, La]: distinct articles. Two with the same tokens are one, so that comments on an article
      that was posted twice are no negatives of its duplicate.
    - ``comment`` int64[n, Lc].
    - ``owner`` int64[n]: row of each comment's article.
    """

    pairs: Pairs
    comments: NDArray[np.int64]  # [comments], in the order of groups
    article: NDArray[np.int64]  # [comments], article of each of these
    places: list[NDArray[np.int64]]  # those of each batch

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, number: int) -> Batch:  # type: ignore[override]  # there are no slices of an epoch
        pairs, places = self.pairs, self.places[number]
        rows, owner = np.unique(self.article[places], return_inverse=True)
        article = pad_batch(pairs.articles, rows, pairs.article_words, pairs.vocab_size)
        article, merged = np.unique(article, axis=0, return_inverse=True)
        comment = pad_batch(pairs.comments, self.comments[places], pairs.comment_words, pairs.vocab_size)
        return {"article": article, "comment": comment, "owner": merged[owner]}


def data_hash(*parts: Ragged | NDArray[np.generic]) -> str:
    """Hash of texts and arrays: identifies the data of a training.

    Args:
        parts: Texts and arrays.

    >>> data_hash(np.arange(3)) == data_hash(np.arange(3)), data_hash(np.arange(3)) == data_hash(np.arange(4))
    (True, False)
    """
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        for array in (part,) if isinstance(part, np.ndarray) else (part.ids, part.offsets):
            digest.update(np.ascontiguousarray(array).data)
    return f"blake2b:{digest.hexdigest()}"
