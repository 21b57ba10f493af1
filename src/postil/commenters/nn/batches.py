"""Batches from texts that lie in memory-mapped arrays.

A *ragged* array holds n texts behind one another: text i is ``ids[offsets[i]:offsets[i + 1]]``. Batches are rectangles
``int64[n, L]``, filled up with ``PAD``. Which texts a batch holds is worked out from lengths alone, so batch 7,000 of
an epoch is made without those before it.

=====  =========  ==================================
id     name       meaning
=====  =========  ==================================
0      ``<pad>``  no word
1      ``<unk>``  a word that the model does not know
2      ``<bos>``  a text begins
3      ``<eos>``  a text ends
4 + w             word w of the corpus
=====  =========  ==================================
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, overload

import numpy as np

from postil.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "BOS",
    "EOS",
    "PAD",
    "SPECIAL",
    "UNK",
    "Batch",
    "Commented",
    "Epoch",
    "Pairs",
    "Ragged",
    "Texts",
    "by_length",
    "hashed",
    "joined",
    "model_ids",
    "padded",
]

PAD: Final = 0
UNK: Final = 1
BOS: Final = 2
EOS: Final = 3
SPECIAL: Final = 4
"""How many ids stand before those of words."""

Batch = dict[str, Any]
"""Arrays by name; the training loop turns them into tensors and can write them to a file."""


class Texts(Protocol):
    """What holds ragged texts: arrays of a corpus, or :class:`Ragged`."""

    @property
    def ids(self) -> NDArray[np.int32]:
        """int32[T], the words of all texts."""

    @property
    def offsets(self) -> NDArray[np.int64]:
        """int64[n + 1], where each text begins."""


class Ragged(NamedTuple):
    """Texts as two arrays.

    Args:
        ids: int32[T].
        offsets: int64[n + 1].
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]


class Commented(NamedTuple):
    """Articles with comments.

    Args:
        articles: The articles' texts.
        comments: The comments' texts, those of each article behind one another.
        starts: int64[articles + 1], where the comments of each article begin.
    """

    articles: Texts
    comments: Texts
    starts: NDArray[np.int64]


def model_ids(ids: NDArray[np.integer[Any]], vocabulary: int) -> NDArray[np.int64]:
    """The model's numbers for a corpus's.

    Args:
        ids: Words as a corpus numbers them, frequent ones first; any shape.
        vocabulary: How many ids the model knows, special ones included.

    Returns:
        int64, the same shape: ``w + 4``, or ``UNK`` where the model does not reach so far.

    >>> model_ids(np.array([0, 5, 6, 7]), vocabulary=10).tolist()
    [4, 9, 1, 1]
    """
    return np.where(ids < vocabulary - SPECIAL, ids + np.int64(SPECIAL), np.int64(UNK))


def padded(texts: Texts, rows: NDArray[np.int64], longest: int, vocabulary: int) -> NDArray[np.int64]:
    """Some texts as a rectangle.

    Args:
        texts: Where they are.
        rows: int64[n], which.
        longest: Texts are cut behind this many words.
        vocabulary: How many ids the model knows, special ones included.

    Returns:
        int64[n, L], L the length of the longest and at least 1.

    >>> texts = Ragged(np.array([7, 7, 8, 9], np.int32), np.array([0, 1, 1, 4]))
    >>> padded(texts, np.array([2, 1, 0]), longest=2, vocabulary=12).tolist()
    [[11, 1], [0, 0], [11, 0]]
    """
    begins = texts.offsets[rows]  # [n]
    lengths = np.minimum(texts.offsets[rows + 1] - begins, longest)  # [n]
    places = np.arange(max(1, int(lengths.max(initial=0))))  # [L]
    inside = places < lengths[:, None]  # [n, L]
    out = np.full(inside.shape, PAD, dtype=np.int64)
    out[inside] = model_ids(texts.ids[(begins[:, None] + places)[inside]], vocabulary)
    return out


def joined(first: Texts, second: Texts, longest: int) -> Ragged:
    """Each text of one array with that of another behind it: titles and contents.

    Args:
        first: n texts.
        second: n texts, which are cut behind ``longest`` words.
        longest: As many words.

    Returns:
        n texts, in memory.

    >>> titles = Ragged(np.array([1, 2], np.int32), np.array([0, 1, 2]))
    >>> contents = Ragged(np.array([5, 6, 7], np.int32), np.array([0, 3, 3]))
    >>> [array.tolist() for array in joined(titles, contents, longest=2)]
    [[1, 5, 6, 2], [0, 3, 4]]
    """
    one = np.diff(first.offsets)  # [n]
    two = np.minimum(np.diff(second.offsets), longest)  # [n]
    if len(one) != len(two):
        raise UsageError(f"expected as many texts as others, got {len(one)} and {len(two)}")
    offsets = np.concatenate(([0], np.cumsum(one + two)))
    ids = np.empty(offsets[-1], dtype=np.int32)
    ids[_places(offsets[:-1], one)] = first.ids[first.offsets[0] : first.offsets[-1]]
    ids[_places(offsets[:-1] + one, two)] = second.ids[_places(second.offsets[:-1], two)]
    return Ragged(ids, offsets)


def _places(begins: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places ``begins[i], begins[i] + 1, …`` of runs behind one another, int64[sum of lengths]."""
    before = np.cumsum(lengths) - lengths  # [n]
    places: NDArray[np.int64] = np.arange(lengths.sum()) + np.repeat(begins - before, lengths)
    return places


def by_length(texts: Texts, words: int, longest: int) -> list[NDArray[np.int64]]:
    """All texts, in groups of like length.

    Args:
        texts: n texts.
        words: About how many words, filled up, a group has at most.
        longest: Texts are cut behind this many words.

    Returns:
        Rows of each group, int64; every text is in one.

    >>> texts = Ragged(np.zeros(7, np.int32), np.array([0, 3, 4, 7]))
    >>> [rows.tolist() for rows in by_length(texts, words=6, longest=9)]
    [[1, 0], [2]]
    """
    lengths = np.clip(np.diff(texts.offsets), 1, longest)
    order = np.argsort(lengths, kind="stable")
    groups, begin = [], 0
    while begin < len(order):
        # The longest text is the last one; a group may grow while size x last length fits.
        costs = lengths[order[begin : begin + words]] * np.arange(1, len(order[begin : begin + words]) + 1)
        size = max(1, int(np.searchsorted(costs, words, side="right")))
        groups.append(order[begin : begin + size])
        begin += size
    return groups


@dataclass(frozen=True, eq=False, slots=True)
class Pairs:
    """Articles and their comments, to be dealt out in batches.

    Args:
        articles: The articles' texts.
        comments: The comments' texts, those of each article behind one another.
        starts: int64[articles + 1], where the comments of each article begin.
        vocabulary: How many ids the model knows, special ones included.
        batch: Comments a batch, at most.
        group: Comments of an article that go into a batch together, so that it is encoded once for them.
        article_words: Articles are cut behind so many words.
        comment_words: Comments are cut behind so many words.
        pairs: All comments of an article, or one that is drawn once for all epochs.
        seed: Together with the number of the epoch, decides all that is drawn.
        window: How many batches are sorted by length together.

    Raises:
        UsageError: The arrays do not fit together, or there is no comment.
    """

    articles: Texts
    comments: Texts
    starts: NDArray[np.int64]
    vocabulary: int
    batch: int = 256
    group: int = 1
    article_words: int = 400
    comment_words: int = 50
    pairs: Literal["all", "one"] = "all"
    seed: int = 0
    window: int = 50

    def __post_init__(self) -> None:
        articles, comments = len(self.articles.offsets) - 1, len(self.comments.offsets) - 1
        if len(self.starts) != articles + 1 or self.starts[0] != 0 or self.starts[-1] != comments:
            raise UsageError(f"starts: expected {articles + 1} numbers from 0 to {comments}")
        if not comments:
            raise UsageError("expected articles with comments, got none")
        if not 1 <= self.group <= self.batch:
            raise UsageError(f"expected groups of 1 to {self.batch} comments, got {self.group}")

    def epoch(self, number: int) -> Epoch:
        """The batches of an epoch.

        Comments of an article are cut into groups of about like length, others in each epoch. Groups are shuffled, and
        sorted by length within windows of some batches, so that rectangles have little to fill up. Then the batches are
        shuffled. Each but the last lacks less than a group.

        Args:
            number: Of the epoch, from 0.
        """
        rng = np.random.default_rng([self.seed, number])
        per_article = np.diff(self.starts)  # [articles]
        if self.pairs == "one":
            drawn = np.random.default_rng(self.seed).random(len(per_article))  # [articles]
            chosen = (self.starts[:-1] + (drawn * per_article).astype(np.int64))[per_article > 0]
            per_article = np.minimum(per_article, 1)
        else:
            chosen = np.arange(self.starts[-1])
        article = np.repeat(np.arange(len(per_article)), per_article)  # [comments]
        lengths = np.minimum(np.diff(self.comments.offsets)[chosen], self.comment_words)  # [comments]
        order = np.lexsort((rng.uniform(0.7, 1.3, len(chosen)) * lengths, article))  # [comments]
        place = np.arange(len(order)) - np.repeat(np.cumsum(per_article) - per_article, per_article)
        begins = np.append(np.flatnonzero(place % self.group == 0), len(order))  # [groups + 1]

        shuffled = rng.permutation(len(begins) - 1)
        sizes = np.diff(begins)[shuffled]
        longest = np.maximum.reduceat(lengths[order], begins[:-1])[shuffled]
        of_article = np.minimum(np.diff(self.articles.offsets)[article[begins[:-1]]], self.article_words)[shuffled]
        # Articles of about the same length, among these comments of the same length.
        window = np.cumsum(sizes) // (self.batch * self.window)
        sort = np.lexsort((longest, of_article // 16, window))
        ends = np.cumsum(sizes[sort])
        cuts = [0]
        while cuts[-1] < len(ends):
            before = ends[cuts[-1] - 1] if cuts[-1] else 0
            cuts.append(int(np.searchsorted(ends, before + self.batch, side="right")))
        return Epoch(
            self, chosen[order], article, begins, shuffled[sort], np.array(cuts), rng.permutation(len(cuts) - 1)
        )


@dataclass(frozen=True, eq=False, slots=True)
class Epoch(Sequence[Batch]):
    """The batches of an epoch; each is read when it is asked for.

    A batch holds

    - ``article`` int64[a, La]: different articles. Two with the same words are one, so that no comment counts as one on
      something else because its article was posted twice.
    - ``comment`` int64[n, Lc].
    - ``owner`` int64[n]: the row of the article that a comment is on.
    """

    pairs: Pairs
    comments: NDArray[np.int64]  # [comments], in the order of groups
    article: NDArray[np.int64]  # [comments], on which each of these is
    begins: NDArray[np.int64]  # [groups + 1], where groups begin in these
    dealt: NDArray[np.int64]  # [groups], in the order of batches
    cuts: NDArray[np.int64]  # [batches + 1], where batches begin in these
    order: NDArray[np.int64]  # [batches]

    def __len__(self) -> int:
        return len(self.order)

    @overload
    def __getitem__(self, number: int) -> Batch: ...

    @overload
    def __getitem__(self, number: slice) -> list[Batch]: ...

    def __getitem__(self, number: int | slice) -> Batch | list[Batch]:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(len(self)))]
        batch = self.order[number]
        groups = self.dealt[self.cuts[batch] : self.cuts[batch + 1]]
        places = _places(self.begins[groups], self.begins[groups + 1] - self.begins[groups])  # [n]
        pairs = self.pairs
        rows, owner = np.unique(self.article[places], return_inverse=True)
        article = padded(pairs.articles, rows, pairs.article_words, pairs.vocabulary)
        article, same = np.unique(article, axis=0, return_inverse=True)
        comment = padded(pairs.comments, self.comments[places], pairs.comment_words, pairs.vocabulary)
        return {"article": article, "comment": comment, "owner": same[owner]}


def hashed(*parts: Texts | NDArray[Any]) -> str:
    """A hash of texts and arrays: what a training is on.

    Args:
        parts: The texts and arrays.

    >>> hashed(np.arange(3)) == hashed(np.arange(3)), hashed(np.arange(3)) == hashed(np.arange(4))
    (True, False)
    """
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        for array in (part,) if isinstance(part, np.ndarray) else (part.ids, part.offsets):
            digest.update(np.ascontiguousarray(array).data)
    return f"blake2b:{digest.hexdigest()}"
