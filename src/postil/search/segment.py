"""Forward and inverted index of documents, and collection statistics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import numpy as np

from postil.kernel import count_terms, invert

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.engine import Engine

    Counts = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16]]

__all__ = ["IDF", "WEIGHTINGS", "CollectionStatistics", "Idf", "Segment", "Weighting"]

Weighting: TypeAlias = Literal["tf-idf", "bm25"]
Idf: TypeAlias = Literal["plain", "smooth"]
DOCUMENTS: Final = 16_384
"""Number of documents whose terms a worker counts at once."""
WEIGHTINGS: Final[tuple[Weighting, ...]] = get_args(Weighting)
IDF: Final[tuple[Idf, ...]] = get_args(Idf)


@dataclass(frozen=True, eq=False)
class Segment:
    """Some documents of an index, in CSR form both ways.

    Args:
        forward: The forward index: offsets int64[n + 1] of the documents, their distinct terms int32, ascending, and
            term frequencies uint16.
        postings: The inverted index: offsets int64[terms + 1] of the terms, their documents int32, ascending, and term
            frequencies uint16.
    """

    forward: Counts
    postings: Counts

    @classmethod
    def of(
        cls,
        ids: NDArray[np.int32],
        offsets: NDArray[np.int64],
        words: int,
        jobs: int = 1,
        engine: Engine | None = None,
    ) -> Segment:
        """Count terms and invert.

        Args:
            ids: int32[T], the words of all documents, concatenated.
            offsets: int64[n + 1]; document i is ``ids[offsets[i]:offsets[i + 1]]``.
            words: Size of the vocabulary.
            jobs: Number of threads.
            engine: Engine that counts; by default this process.
        """
        ids, offsets = np.ascontiguousarray(ids), np.ascontiguousarray(offsets)
        if engine is None:
            return cls.inverted(count_terms(ids, offsets, jobs), words)
        bounds = [*range(0, len(offsets) - 1, DOCUMENTS), len(offsets) - 1]
        shards = (
            (ids[offsets[first] : offsets[last]], offsets[first : last + 1] - offsets[first])
            for first, last in pairwise(bounds)
        )
        return cls.inverted(_joined(list(engine.map(_count, shards))), words)

    @classmethod
    def inverted(cls, forward: Counts, words: int) -> Segment:
        """Invert a forward index.

        Args:
            forward: See `Segment`.
            words: Size of the vocabulary.
        """
        return cls(forward, invert(*forward, words))

    def __reduce__(self) -> tuple[object, ...]:
        # Half the bytes: postings are made anew in the process that a segment is sent to.
        return Segment.inverted, (self.forward, self.words)

    def __len__(self) -> int:
        return len(self.forward[0]) - 1

    @property
    def words(self) -> int:
        """Size of the vocabulary."""
        return len(self.postings[0]) - 1

    @property
    def frequencies(self) -> NDArray[np.int64]:
        """Document frequencies, int64[words]."""
        return np.diff(self.postings[0])

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Document lengths in words, int64[n]."""
        ends = np.concatenate([[0], np.cumsum(self.forward[2], dtype=np.int64)])
        return np.diff(ends[self.forward[0]])

    def widened(self, words: int) -> Segment:
        """The same documents over a larger vocabulary.

        Args:
            words: Its size.
        """
        starts, documents, counts = self.postings
        starts = np.concatenate([starts, np.full(words - self.words, starts[-1])])
        return replace(self, postings=(starts, documents, counts))

    def take(self, documents: NDArray[np.int64]) -> Segment:
        """Some of the documents.

        Args:
            documents: int64[m], their numbers, ascending.
        """
        starts, terms, counts = self.forward
        kept = np.zeros(len(self), dtype=bool)
        kept[documents] = True
        within = np.repeat(kept, np.diff(starts))
        offsets = np.concatenate([[0], np.cumsum(np.diff(starts)[documents])]).astype(np.int64)
        forward = offsets, np.asarray(terms[within]), np.asarray(counts[within])
        return Segment.inverted(forward, self.words)

    @classmethod
    def merged(cls, segments: Sequence[Segment]) -> Segment:
        """The documents of several segments as one.

        Args:
            segments: One or more, over the same vocabulary.

        >>> offsets = np.array([0, 2])
        >>> one, two = (Segment.of(np.array(ids, np.int32), offsets, words=3) for ids in ([0, 2], [2, 1]))
        >>> Segment.merged([one, two]).frequencies.tolist()
        [1, 1, 2]
        """
        if len(segments) == 1:
            return segments[0]
        return cls.inverted(_joined([segment.forward for segment in segments]), segments[0].words)

    def part(self, first: int, last: int) -> Segment:
        """Documents ``first`` to ``last``, exclusive.

        Args:
            first: The first document.
            last: The document after the last one.
        """
        starts, terms, counts = self.forward
        within = slice(starts[first], starts[last])
        forward = starts[first : last + 1] - starts[first], np.asarray(terms[within]), np.asarray(counts[within])
        return Segment.inverted(forward, self.words)


def _count(texts: tuple[NDArray[np.int32], NDArray[np.int64]]) -> Counts:
    return count_terms(*texts)


def _joined(parts: Sequence[Counts]) -> Counts:
    """The forward index of several one after the other."""
    ends = np.cumsum([0, *(starts[-1] for starts, _, _ in parts)])
    begins = [starts[:-1] + end for (starts, _, _), end in zip(parts, ends[:-1].tolist(), strict=True)]
    return (
        np.concatenate([*begins, ends[-1:]]).astype(np.int64),
        np.concatenate([np.zeros(0, np.int32), *(terms for _, terms, _ in parts)]),
        np.concatenate([np.zeros(0, np.uint16), *(counts for _, _, counts in parts)]),
    )


@dataclass(frozen=True, eq=False, slots=True)
class CollectionStatistics:
    """Statistics of all documents of an index, on which term weights depend.

    Args:
        documents: Number of documents, N.
        frequencies: Document frequencies df, int64[words].
    """

    documents: int
    frequencies: NDArray[np.int64]

    @classmethod
    def of(cls, segments: Sequence[Segment]) -> CollectionStatistics:
        """Statistics of several segments together.

        Args:
            segments: One or more, over the same vocabulary.
        """
        return cls(sum(map(len, segments)), np.asarray(sum(segment.frequencies for segment in segments)))

    def idf_weights(self, weighting: Weighting, idf: Idf) -> NDArray[np.float64]:
        """Inverse document frequencies, float64[words]; 0 for a word that is in no document.

        Args:
            weighting: ``bm25``: ``ln(1 + (N - df + .5) / (df + .5))``; ``tf-idf`` as `idf` says.
            idf: ``plain``: ``ln(N / df)``; ``smooth``: ``ln((1 + N) / (1 + df)) + 1``.

        The first word is in one of three documents, the second in none:

        >>> CollectionStatistics(3, np.array([1, 0])).idf_weights("tf-idf", "plain").round(4).tolist()
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
