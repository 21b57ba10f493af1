"""Exact top-k retrieval by TF-IDF cosine or BM25.

Paper: Automatic Article Commenting (ACL 2018), supplement, equation C.1. A text is the vector of its words, each
weighted by term frequency and inverse document frequency (idf); similarity is the cosine of two vectors.

An index is a list of segments, each with its own forward and inverted postings. Documents are added as a new segment,
and segments are merged where many are small (`Index.add`). The idf of a word depends on all documents, so adding
recomputes norms and score bounds of every segment; terms are not counted again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import numpy as np

from postil.comments.weightings import IDF, WEIGHTINGS, Idf, Weighting
from postil.data.arrays import WHOLE, AnyArray, Expected, OpenArray
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.kernel import Searcher, count_terms, invert, search_bounds, searcher
from postil.text.tokens import Ragged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.engine import Engine

    Counts = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16]]

__all__ = ["CollectionStatistics", "Index", "Segment", "TopK", "merge"]

DOCUMENTS: Final = 16_384
"""Number of documents whose terms a worker counts at once."""


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
            Ragged(ids[offsets[first] : offsets[last]], offsets[first : last + 1] - offsets[first])
            for first, last in pairwise(bounds)
        )
        return cls.inverted(_joined(list(engine.map(Ragged.counted, shards))), words)

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


K1: Final = 1.5
B: Final = 0.75
GROUP: Final = 64
"""Number of documents that the kernel scores together."""


class Prepared(NamedTuple):
    """Arrays that the kernel needs besides a segment.

    Args:
        normalization: float64[n], the normalization of each document.
        bounds: Score upper bounds for exact dynamic pruning; see `_expected_bounds`.
    """

    normalization: NDArray[np.float64]
    bounds: tuple[AnyArray, ...]


@dataclass(frozen=True, eq=False)
class Index:
    """A search index.

    TF-IDF: the weight of word t in text x is ``n(t, x) idf(t)``; the score is the cosine of two texts' weights. BM25
    (Robertson et al. 1994, in the form of Lucene): the sum over the query's words, as often as they come in it, of
    ``ln(1 + (N - df + .5) / (df + .5)) n / (n + k1 (1 - b + b length / mean length))``, k1 = 1.5, b = .75.

    Args:
        segments: The documents, in order.
        weighting: ``tf-idf`` or ``bm25``.
        idf: For TF-IDF: ``plain`` is ``ln(N / df)``, ``smooth`` is ``ln((1 + N) / (1 + df)) + 1`` as in scikit-learn.
        whole: For a shard, the statistics of all documents of its index.
        mean_length: For a shard, the mean document length of its index in words.
        prepared: Kernel arrays of each segment, if they were kept.

    >>> ids, offsets = np.array([0, 1, 1, 2, 0, 3], dtype=np.int32), np.array([0, 3, 6])
    >>> index = Index.of(ids, offsets, words=4)
    >>> index.search(np.array([1, 2], dtype=np.int32), np.array([0, 2]), k=2).documents.tolist()
    [[0, 1]]
    """

    segments: tuple[Segment, ...]
    weighting: Weighting = "tf-idf"
    idf: Idf = "plain"
    whole: CollectionStatistics | None = None
    mean_length: float | None = None
    prepared: tuple[Prepared, ...] | None = None

    def __post_init__(self) -> None:
        UnknownName.check("weighting", self.weighting, WEIGHTINGS)
        UnknownName.check("idf", self.idf, IDF)

    @classmethod
    def of(
        cls,
        ids: NDArray[np.int32],
        offsets: NDArray[np.int64],
        words: int,
        *,
        weighting: Weighting = "tf-idf",
        idf: Idf = "plain",
        jobs: int = 1,
        engine: Engine | None = None,
    ) -> Index:
        """Index documents.

        Args:
            ids: int32[T], the words of all documents, concatenated.
            offsets: int64[n + 1]; document i is ``ids[offsets[i]:offsets[i + 1]]``.
            words: Size of the vocabulary; ids are below.
            weighting: See `Index`.
            idf: See `Index`.
            jobs: Number of threads; the index does not depend on it.
            engine: Engine that counts terms; by default this process.
        """
        return cls((Segment.of(ids, offsets, words, jobs, engine),), weighting, idf)

    def __len__(self) -> int:
        return sum(map(len, self.segments))

    def add(self, ids: NDArray[np.int32], offsets: NDArray[np.int64], words: int, jobs: int = 1) -> Index:
        """The index with documents appended as a segment of their own.

        Each segment keeps at least twice the documents of the next one: the last two are merged until that holds. So an
        index of n documents has at most log2(n) + 1 segments however often it grows, and a document is merged log2(n)
        times at most. Results are those of one segment, to the last bit.

        Args:
            ids: int32[T]; new words have higher ids.
            offsets: int64[n + 1].
            words: New size of the vocabulary.
            jobs: Number of threads.

        Raises:
            UsageError: The vocabulary shrinks, or this is a shard.
        """
        if self.whole is not None:
            raise UsageError("a shard of an index cannot grow by itself")
        before = self.segments[0].words
        if words < before:
            raise UsageError(f"expected {before:,} words or more, got {words:,}")
        segments = [*(segment.widened(words) for segment in self.segments), Segment.of(ids, offsets, words, jobs)]
        while len(segments) > 1 and (not len(segments[-1]) or len(segments[-2]) < 2 * len(segments[-1])):
            segments[-2:] = [Segment.merged(segments[-2:])]
        return replace(self, segments=tuple(segments), prepared=None)

    def take(self, documents: NDArray[np.int64]) -> Index:
        """The index of some of the documents.

        Args:
            documents: int64[m], their numbers, ascending.

        Raises:
            UsageError: This is a shard.
        """
        if self.whole is not None:
            raise UsageError("a shard of an index cannot shrink by itself")
        bounds = np.searchsorted(documents, [*self._firsts, len(self)])
        parts = [
            segment if last - first == len(segment) else segment.take(documents[first:last] - begin)
            for segment, begin, (first, last) in zip(
                self.segments, self._firsts, pairwise(bounds.tolist()), strict=True
            )
        ]
        kept = [part for part in parts if len(part)] or parts[:1]
        return replace(self, segments=tuple(kept), prepared=None)

    def shards(self, count: int) -> list[Index]:
        """Split the index into shards with the statistics of the whole, so that their scores are the same.

        Each has one segment, whatever segments its documents are in here.

        Args:
            count: Number of shards; each has at least one document.

        Raises:
            UsageError: The index has fewer documents than shards.
        """
        if not 1 <= count <= len(self):
            raise UsageError(f"expected 1 to {len(self)} shards, got {count}")
        bounds = np.linspace(0, len(self), count + 1).astype(np.int64).tolist()
        known = replace(self, whole=self.collection, mean_length=self._mean_length, prepared=None)
        return [replace(known, segments=(self._part(first, last),)) for first, last in pairwise(bounds)]

    def _part(self, first: int, last: int) -> Segment:
        """Documents ``first`` to ``last``, exclusive, as a segment."""
        parts = [
            segment.part(max(0, first - begin), min(len(segment), last - begin))
            for segment, begin in zip(self.segments, self._firsts, strict=True)
            if first < begin + len(segment) and begin < last
        ]
        return Segment.merged(parts)

    @cached_property
    def collection(self) -> CollectionStatistics:
        """Statistics of all documents; for a shard, of all documents of its index."""
        return self.whole or CollectionStatistics.of(self.segments)

    @cached_property
    def idf_weights(self) -> NDArray[np.float64]:
        """Inverse document frequencies, float64[words]; 0 for a word that is in no document."""
        return self.collection.idf_weights(self.weighting, self.idf)

    def search(self, ids: NDArray[np.int32], offsets: NDArray[np.int64], k: int, *, jobs: int = 1) -> TopK:
        """Find the k best documents of each query, exactly.

        Args:
            ids: int32[T], the words of all queries, concatenated; ids outside the vocabulary are ignored.
            offsets: int64[n + 1].
            k: Number of documents per query.
            jobs: Number of threads; the result does not depend on it.

        Returns:
            The documents that share a word with the query.

        Raises:
            UsageError: k is below 1.
            InvalidInput: The files of the index are damaged.
        """
        if k < 1:
            raise UsageError(f"expected at least one document per query, got {k}")
        ids, offsets = np.ascontiguousarray(ids), np.ascontiguousarray(offsets)
        found = []
        for number, (segment, search) in enumerate(zip(self.segments, self._searchers, strict=True)):
            try:
                found.append(TopK(*search.search(ids, offsets, min(k, max(1, len(segment))), jobs)))
            except ValueError as error:
                raise _damaged(str(error), self._array(number, str(error))) from error
        return merge(found, self._firsts, k)

    def cosines(self, ids: NDArray[np.int32], documents: NDArray[np.int32]) -> NDArray[np.float64]:
        """TF-IDF cosines of a text and documents, whatever the weighting, float64[m]; for detecting copies.

        Words that are in no document, which a search ignores, have the highest idf here.

        Args:
            ids: int32[T], the words of the text.
            documents: int32[m], the documents.
        """
        known = ids[(ids >= 0) & (ids < len(self.idf_weights))]
        known = known[self.collection.frequencies[known] > 0]
        words, counts = np.unique(known, return_counts=True)
        weights = counts * self.idf_weights[words]
        others = (len(ids) - len(known)) * self._highest_idf**2
        size, cosines = np.sqrt((weights**2).sum() + others), np.zeros(len(documents))
        segments = np.searchsorted(self._firsts, documents, side="right") - 1
        for number in np.unique(segments).tolist():
            here = np.flatnonzero(segments == number)
            starts, terms, times = self.segments[number].forward
            own = documents[here] - self._firsts[number]
            begins, ends = np.asarray(starts)[own], np.asarray(starts)[own + 1]
            sizes = ends - begins
            if (begins < 0).any() or (sizes < 0).any() or (ends > len(terms)).any():
                raise _damaged("expected ascending offsets of documents", starts)
            owners = np.repeat(np.arange(len(own)), sizes)
            places = np.arange(len(owners)) + np.repeat(ends - np.cumsum(sizes), sizes)
            found = np.asarray(terms)[places]
            if len(found) and not 0 <= found.min() <= found.max() < len(self.idf_weights):
                raise _damaged("expected terms of a document below their number", terms)
            theirs = np.asarray(times)[places] * self.idf_weights[found]
            norms = np.sqrt(np.bincount(owners, theirs**2, minlength=len(own))) * size
            at = np.searchsorted(words[:-1], found)
            shared = theirs * np.where(words[at] == found, weights[at], 0.0) if len(words) else theirs * 0.0
            cosines[here] = np.bincount(owners, shared, minlength=len(own)) / np.where(norms > 0, norms, 1.0)
        return cosines

    def prepare(self) -> Index:
        """The same index, whose first search does not have to compute its score bounds."""
        _ = self._searchers
        return self

    def arrays(self) -> dict[str, AnyArray]:
        """All arrays that `of_arrays` needs, by name."""
        found: dict[str, AnyArray] = {}
        for number, (segment, (normalization, bounds)) in enumerate(zip(self.segments, self._prepared, strict=True)):
            kinds: dict[str, tuple[AnyArray, ...]] = {
                "forward": segment.forward,
                "postings": segment.postings,
                "bounds": bounds,
            }
            for kind, arrays in kinds.items():
                found |= {f"{number}.{kind}.{place}": values for place, values in enumerate(arrays)}
            found[f"{number}.normalization"] = normalization
        return found

    @classmethod
    def of_arrays(cls, array: OpenArray, segments: int, weighting: Weighting, idf: Idf, words: int) -> Index:
        """Build an index from stored arrays, which may be memory-mapped.

        Postings, bounds and normalization are checked when a search first reads them.

        Args:
            array: Opens an array by its name, see `arrays`.
            segments: Number of segments, from 1.
            weighting: See `Index`.
            idf: See `Index`.
            words: Size of the vocabulary.

        Raises:
            InvalidInput: An array is missing, or not as expected.
        """
        parts, prepared = [], []
        for number in range(segments):
            terms = array(f"{number}.forward.1", Expected("int32"))
            size = len(terms)
            forward = array(f"{number}.forward.0", Expected("int64")), terms
            documents = len(forward[0]) - 1
            postings = (
                array(f"{number}.postings.0", Expected("int64", (words + 1,), end=size)),
                array(f"{number}.postings.1", Expected("int32", (size,))),
            )
            counts = (array(f"{number}.{kind}.2", Expected("uint16", (size,))) for kind in ("forward", "postings"))
            parts.append(Segment((*forward, next(counts)), (*postings, next(counts))))
            dense = len(array(f"{number}.bounds.4", Expected("int32")))
            expected = _expected_bounds(documents, words, size, dense)
            bounds = tuple(array(f"{number}.bounds.{place}", each) for place, each in enumerate(expected))
            normalization = array(f"{number}.normalization", Expected("float64", (documents,)))
            prepared.append(Prepared(normalization, bounds))
        return cls(tuple(parts), weighting, idf, prepared=tuple(prepared))

    def _array(self, segment: int, problem: str) -> AnyArray:
        """The array that the kernel rejected, by the words of its message."""
        normalization, bounds = self._prepared[segment]
        if "bound" in problem or "factor" in problem:
            return bounds[0] if "bound" in problem else normalization
        arrays = self.segments[segment].postings if "documents of" in problem else self.segments[segment].forward
        return arrays[0 if "offsets" in problem else 1]

    @cached_property
    def _highest_idf(self) -> float:
        return float(self.idf_weights.max(initial=0.0))

    @cached_property
    def _firsts(self) -> list[int]:
        """The number of each segment's first document."""
        return list(accumulate(map(len, self.segments), initial=0))[:-1]

    @cached_property
    def _mean_length(self) -> float:
        if self.mean_length is not None:
            return self.mean_length
        return sum(int(segment.lengths.sum()) for segment in self.segments) / max(1, len(self))

    @property
    def _gain(self) -> Literal["bm25", "cosine"]:
        return "bm25" if self.weighting == "bm25" else "cosine"

    @cached_property
    def _prepared(self) -> tuple[Prepared, ...]:
        if self.prepared is not None:
            return self.prepared
        found = []
        for segment in self.segments:
            normalization = self._normalization(segment)
            # Cauchy-Schwarz: a score is at most the product of the norms of query and document, whatever numbers scale
            # the terms of one and divide those of the other. Scaled by idf both are TF-IDF vectors, a tight bound.
            bounds = search_bounds(segment.postings, normalization, self.idf_weights, self._gain)
            found.append(Prepared(normalization, bounds))
        return tuple(found)

    @cached_property
    def _searchers(self) -> tuple[Searcher, ...]:
        return tuple(
            searcher(segment.forward, segment.postings, bounds, normalization, self.idf_weights, self._gain)  # type: ignore[arg-type]  # eight arrays
            for segment, (normalization, bounds) in zip(self.segments, self._prepared, strict=True)
        )

    def _normalization(self, segment: Segment) -> NDArray[np.float64]:
        """Per-document normalization: 1 / L2 norm (cosine) or BM25's length-scaled k1."""
        if self.weighting == "bm25":
            shares: NDArray[np.float64] = segment.lengths / max(self._mean_length, 1e-300)
            return K1 * (1 - B + B * shares)
        starts, terms, counts = segment.forward
        weights = (counts * self.idf_weights[terms]) ** 2
        sums, some = np.zeros(len(segment)), np.diff(starts) > 0
        sums[some] = np.add.reduceat(weights, starts[:-1][some])
        return np.asarray(np.where(sums > 0, 1 / np.sqrt(np.where(sums > 0, sums, 1.0)), 0.0), dtype=np.float64)


def _expected_bounds(documents: int, words: int, postings: int, dense: int) -> tuple[Expected, ...]:
    """Valid arrays of score upper bounds, as `postil.kernel.python.search.search_bounds` returns them.

    All are rounded up, so that pruning a document by them never loses one of the top k.
    """
    padded = -(-documents // GROUP) * GROUP  # the kernel scores whole groups
    return (
        Expected("float32", (words,)),  # highest contribution of each term to any document
        Expected("uint16", (postings,)),  # contribution of each posting, in 65,535ths of its term's highest
        Expected("float32", (5,), low=0),  # greatest document norm: over all terms, then by frequency class 1 to 4
        Expected("uint8", (4 * padded,)),  # norm of each document by frequency class, in 255ths of the greatest
        Expected("int32", (dense,), low=0, high=words - 1),  # dense terms: those that have a column in the last array
        Expected("float32", (padded,)),  # quantization step of each document in the last array
        Expected("float32", (1,), low=0),  # greatest norm of a document's quantized contributions
        Expected("uint8", (padded * dense,)),  # contributions of dense terms, in steps: [groups, dense terms, GROUP]
    )


def _damaged(problem: str, array: AnyArray) -> InvalidInput:
    return InvalidInput(f"{problem}; {WHOLE}", where=str(getattr(array, "filename", "index")))


@dataclass(frozen=True, eq=False, slots=True)
class TopK:
    """The k best documents of n queries.

    Args:
        documents: int32[n, k], descending score, then ascending number; -1 where there are fewer.
        scores: float64[n, k], above 0; 0 where there are fewer.
    """

    documents: NDArray[np.int32]
    scores: NDArray[np.float64]


def merge(parts: Sequence[TopK], firsts: Sequence[int], k: int) -> TopK:
    """Merge the results of the same queries over disjoint parts of the documents.

    Args:
        parts: The result of each part, which numbers its documents from 0.
        firsts: The number of each part's first document.
        k: Number of documents per query.

    >>> one = TopK(np.array([[1, 0]], np.int32), np.array([[0.9, 0.5]]))
    >>> two = TopK(np.array([[0, -1]], np.int32), np.array([[0.7, 0.0]]))
    >>> merge([one, two], [0, 2], 2).documents.tolist()
    [[1, 2]]
    """
    if len(parts) == 1 and not firsts[0] and parts[0].documents.shape[1] == k:
        return parts[0]
    documents = np.concatenate(
        [
            np.where(part.documents >= 0, part.documents + first, -1).astype(np.int32)
            for part, first in zip(parts, firsts, strict=True)
        ],
        axis=1,
    )
    scores = np.concatenate([part.scores for part in parts], axis=1)
    order = np.lexsort((documents, -scores))[:, :k]
    best = TopK(np.take_along_axis(documents, order, axis=1), np.take_along_axis(scores, order, axis=1))
    missing = k - order.shape[1]
    if missing <= 0:
        return best
    sides = (0, 0), (0, missing)
    return TopK(np.pad(best.documents, sides, constant_values=-1), np.pad(best.scores, sides))
