"""Documents and the words in them, both ways round; and what is known of all documents of an index."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import numpy as np

from postil.kernel import count_terms, invert

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Counts = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16]]

__all__ = ["IDF", "WEIGHTINGS", "Collection", "Idf", "Segment", "Weighting"]

Weighting: TypeAlias = Literal["tf-idf", "bm25"]
Idf: TypeAlias = Literal["plain", "smooth"]
WEIGHTINGS: Final[tuple[Weighting, ...]] = get_args(Weighting)
IDF: Final[tuple[Idf, ...]] = get_args(Idf)


@dataclass(frozen=True, eq=False)
class Segment:
    """Some documents of an index.

    Args:
        rows: Where the words of each document begin, int64[n + 1]; its distinct words, int32, rising; how often each
            comes, uint16.
        lists: The same the other way round, a list a word.
    """

    rows: Counts
    lists: Counts

    @classmethod
    def of(cls, ids: NDArray[np.int32], offsets: NDArray[np.int64], words: int, jobs: int = 1) -> Segment:
        """Count and turn round.

        Args:
            ids: int32[T], the words of all documents behind one another.
            offsets: int64[n + 1]; document i is ``ids[offsets[i]:offsets[i + 1]]``.
            words: How many words there are.
            jobs: Threads.
        """
        rows = count_terms(np.ascontiguousarray(ids), np.ascontiguousarray(offsets), jobs)
        return cls(rows, invert(*rows, words))

    def __len__(self) -> int:
        return len(self.rows[0]) - 1

    @property
    def words(self) -> int:
        """How many words there are, in these documents or not."""
        return len(self.lists[0]) - 1

    @property
    def frequencies(self) -> NDArray[np.int64]:
        """In how many documents each word stands, int64[words]."""
        return np.diff(self.lists[0])

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of words of each document, int64[n]."""
        ends = np.concatenate([[0], np.cumsum(self.rows[2], dtype=np.int64)])
        return np.diff(ends[self.rows[0]])

    def widened(self, words: int) -> Segment:
        """The same documents among more words.

        Args:
            words: How many words there are now.
        """
        starts, documents, counts = self.lists
        starts = np.concatenate([starts, np.full(words - self.words, starts[-1])])
        return replace(self, lists=(starts, documents, counts))

    def part(self, first: int, last: int) -> Segment:
        """Documents ``first`` to ``last``, without the last.

        Args:
            first: The first one.
            last: The one behind them.
        """
        starts, terms, counts = self.rows
        within = slice(starts[first], starts[last])
        rows = starts[first : last + 1] - starts[first], terms[within], counts[within]
        return Segment(rows, invert(*rows, self.words))


@dataclass(frozen=True, eq=False, slots=True)
class Collection:
    """What is known of all documents of an index, which the weights of words rest on.

    Args:
        documents: How many there are, N.
        frequencies: In how many of them each word stands, int64[words], df.
    """

    documents: int
    frequencies: NDArray[np.int64]

    @classmethod
    def of(cls, segments: Sequence[Segment]) -> Collection:
        """All documents of some segments together.

        Args:
            segments: One or more, over the same words.
        """
        return cls(sum(map(len, segments)), np.asarray(sum(segment.frequencies for segment in segments)))

    def rarity(self, weighting: Weighting, idf: Idf) -> NDArray[np.float64]:
        """The inverse document frequency of each word, float64[words]; 0 for a word that no document has.

        Args:
            weighting: ``bm25``: ``ln(1 + (N - df + .5) / (df + .5))``; ``tf-idf`` as the next argument says.
            idf: ``plain``: ``ln(N / df)``; ``smooth``: ``ln((1 + N) / (1 + df)) + 1``.

        One of three documents has the first word, none the second:

        >>> Collection(3, np.array([1, 0])).rarity("tf-idf", "plain").round(4).tolist()
        [1.0986, 0.0]
        """
        df, total = self.frequencies.astype(np.float64), self.documents
        if weighting == "bm25":
            values = np.log1p((total - df + 0.5) / (df + 0.5))
        elif idf == "smooth":
            values = np.log((1 + total) / (1 + df)) + 1.0
        else:
            values = np.log(max(total, 1) / np.maximum(df, 1.0))
        return np.where(df > 0, values, 0.0)
