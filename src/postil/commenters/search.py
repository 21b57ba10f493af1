"""The documents most like a query: exact top-k by TF-IDF cosine, or by BM25.

Paper: Automatic Article Commenting (ACL 2018), supplement, equation C.1. A text is the vector of its words, each
weighted by how often it comes and its inverse document frequency (idf); likeness is the cosine of two vectors.

An index is a list of segments, each with its own lists of documents. Documents are added as a new segment. The idf of a
word depends on all documents, so after that, norms and bounds are found anew for every segment; words are not
counted again.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from postil.arrays import WHOLE, Expected
from postil.commenters.segment import IDF, WEIGHTINGS, Collection, Idf, Segment, Weighting
from postil.commenters.top_k import Likest, merged
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.kernel import count_terms, search_bounds, searcher

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.arrays import Open
    from postil.kernel import Searcher

    Prepared = tuple[NDArray[np.float64], tuple[NDArray[Any], ...]]

__all__ = ["Index"]

K1: Final = 1.5
B: Final = 0.75
GROUP: Final = 64
"""Documents that the kernel looks at together."""


@dataclass(frozen=True, eq=False)
class Index:
    """Documents that can be searched.

    TF-IDF: the weight of word t in text x is ``n(t, x) idf(t)``; the score is the cosine of two texts' weights. BM25
    (Robertson et al. 1994, in the form of Lucene): the sum over the query's words, as often as they come in it, of
    ``ln(1 + (N - df + .5) / (df + .5)) n / (n + k1 (1 - b + b length / mean length))``, k1 = 1.5, b = .75.

    Args:
        segments: The documents, in order.
        weighting: ``tf-idf`` or ``bm25``.
        idf: For TF-IDF: ``plain`` is ``ln(N / df)``, ``smooth`` is ``ln((1 + N) / (1 + df)) + 1`` as in scikit-learn.
        whole: For a shard, what is known of all documents of its index.
        mean_length: For a shard, the mean number of words of all documents of its index.
        prepared: For each segment the factors of its documents and what the kernel skips by, if that was kept.

    >>> ids, offsets = np.array([0, 1, 1, 2, 0, 3], dtype=np.int32), np.array([0, 3, 6])
    >>> index = Index.of(ids, offsets, words=4)
    >>> index.search(np.array([1, 2], dtype=np.int32), np.array([0, 2]), k=2).documents.tolist()
    [[0, 1]]
    """

    segments: tuple[Segment, ...]
    weighting: Weighting = "tf-idf"
    idf: Idf = "plain"
    whole: Collection | None = None
    mean_length: float | None = None
    prepared: tuple[Prepared, ...] | None = None

    def __post_init__(self) -> None:
        if self.weighting not in WEIGHTINGS:
            raise UnknownName("weighting", self.weighting, WEIGHTINGS)
        if self.idf not in IDF:
            raise UnknownName("idf", self.idf, IDF)

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
    ) -> Index:
        """Index documents.

        Args:
            ids: int32[T], the words of all documents behind one another.
            offsets: int64[n + 1]; document i is ``ids[offsets[i]:offsets[i + 1]]``.
            words: How many words there are; ids are below.
            weighting: See `Index`.
            idf: See `Index`.
            jobs: Threads; the index does not depend on it.
        """
        return cls((Segment.of(ids, offsets, words, jobs),), weighting, idf)

    def __len__(self) -> int:
        return sum(map(len, self.segments))

    def add(self, ids: NDArray[np.int32], offsets: NDArray[np.int64], words: int, jobs: int = 1) -> Index:
        """The index with more documents behind those that it has.

        Args:
            ids: int32[T]; new words have higher numbers.
            offsets: int64[n + 1].
            words: How many words there are now.
            jobs: Threads.

        Raises:
            UsageError: There are fewer words than before, or this is a shard.
        """
        if self.whole is not None:
            raise UsageError("a shard of an index cannot grow by itself")
        before = self.segments[0].words
        if words < before:
            raise UsageError(f"expected {before:,} words or more, got {words:,}")
        grown = (segment.widened(words) for segment in self.segments)
        return replace(self, segments=(*grown, Segment.of(ids, offsets, words, jobs)), prepared=None)

    def shards(self, count: int) -> list[Index]:
        """The index cut into parts that know the idf of each word in all of it, so that their scores are the same.

        Args:
            count: How many parts; each has at least one document.

        Raises:
            UsageError: The index has more than one segment, or fewer documents than parts.
        """
        if len(self.segments) > 1 or not 1 <= count <= len(self):
            raise UsageError(f"expected one segment and 1 to {len(self)} parts, got {len(self.segments)} and {count}")
        bounds = np.linspace(0, len(self), count + 1).astype(np.int64).tolist()
        parts = (self.segments[0].part(first, last) for first, last in pairwise(bounds))
        known = replace(self, whole=self.collection, mean_length=self._mean_length, prepared=None)
        return [replace(known, segments=(part,)) for part in parts]

    @cached_property
    def collection(self) -> Collection:
        """What is known of all documents; of a shard, of all documents of its index."""
        return self.whole or Collection.of(self.segments)

    @cached_property
    def rarity(self) -> NDArray[np.float64]:
        """The inverse document frequency of each word, float64[words]; 0 for a word that no document has."""
        return self.collection.rarity(self.weighting, self.idf)

    def search(self, ids: NDArray[np.int32], offsets: NDArray[np.int64], k: int, *, jobs: int = 1) -> Likest:
        """The k documents most like each query, exactly.

        Args:
            ids: int32[T], the words of all queries behind one another; numbers that are no words are passed over.
            offsets: int64[n + 1].
            k: How many.
            jobs: Threads; the result does not depend on it.

        Returns:
            The documents; only those that share a word with the query.

        Raises:
            UsageError: k is below 1.
            InvalidInput: An index that lies in files has a list or a row that cannot be.
        """
        if k < 1:
            raise UsageError(f"expected at least one document a query, got {k}")
        query = self._weighted(ids, offsets)
        found = []
        for number, (segment, search) in enumerate(zip(self.segments, self._searchers, strict=True)):
            try:
                found.append(Likest(*search.search(*query, min(k, max(1, len(segment))), jobs)))
            except ValueError as error:
                raise _damaged(str(error), self._array(number, str(error))) from error
        return merged(found, self._firsts, k)

    def cosines(self, ids: NDArray[np.int32], documents: NDArray[np.int32]) -> NDArray[np.float64]:
        """How near a text is to being a copy of documents: the TF-IDF cosine, whatever the weighting, float64[m].

        Words that no document has, which a search passes over, count like the rarest here.

        Args:
            ids: int32[T], the words of the text.
            documents: int32[m].
        """
        known = ids[(ids >= 0) & (ids < len(self.rarity))]
        known = known[self.collection.frequencies[known] > 0]
        words, counts = np.unique(known, return_counts=True)
        weights = np.zeros(len(self.rarity))
        weights[words] = counts * self.rarity[words]
        others = (len(ids) - len(known)) * self.rarity.max(initial=0.0) ** 2
        size, cosines = np.sqrt((weights**2).sum() + others), np.zeros(len(documents))
        for place, document in enumerate(documents.tolist()):
            number = bisect_right(self._firsts, document) - 1
            starts, terms, times = self.segments[number].rows
            within = slice(*starts[document - self._firsts[number] :][:2].tolist())
            here = terms[within].view(np.uint32)  # so that a negative one is out of range too
            try:
                theirs = times[within] * self.rarity[here]
            except IndexError as error:
                raise _damaged("expected terms of a document below their number", terms) from error
            norms = np.sqrt((theirs**2).sum()) * size
            cosines[place] = (theirs * weights[here]).sum() / (norms or 1.0)
        return cosines

    def prepare(self) -> None:
        """Find at once what the first search would find: what the kernel skips by."""
        _ = self._searchers

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that `of_arrays` needs, by name."""
        found: dict[str, NDArray[Any]] = {}
        for number, (segment, (factors, bounds)) in enumerate(zip(self.segments, self._prepared, strict=True)):
            kinds: dict[str, tuple[NDArray[Any], ...]] = {
                "rows": segment.rows,
                "lists": segment.lists,
                "bounds": bounds,
            }
            for kind, several in kinds.items():
                found |= {f"{number}.{kind}.{place}": values for place, values in enumerate(several)}
            found[f"{number}.factors"] = factors
        return found

    @classmethod
    def of_arrays(cls, array: Open, segments: int, weighting: Weighting, idf: Idf, words: int) -> Index:
        """An index from arrays that were kept; they may lie in files.

        Postings, and what the kernel reads of each word and each document, are looked at when they are first read.

        Args:
            array: Opens an array by its name, see `arrays`.
            segments: Number of segments, from 1.
            weighting: See `Index`.
            idf: See `Index`.
            words: Number of words.

        Raises:
            InvalidInput: An array is missing, or another one.
        """
        parts, prepared = [], []
        for number in range(segments):
            terms = array(f"{number}.rows.1", Expected("int32"))
            size = len(terms)
            rows = array(f"{number}.rows.0", Expected("int64")), terms
            documents = len(rows[0]) - 1
            lists = (
                array(f"{number}.lists.0", Expected("int64", (words + 1,), end=size)),
                array(f"{number}.lists.1", Expected("int32", (size,))),
            )
            counts = (array(f"{number}.{kind}.2", Expected("uint16", (size,))) for kind in ("rows", "lists"))
            parts.append(Segment((*rows, next(counts)), (*lists, next(counts))))
            dense = len(array(f"{number}.bounds.4", Expected("int32")))
            expected = _bounds(documents, words, size, dense)
            bounds = tuple(array(f"{number}.bounds.{place}", each) for place, each in enumerate(expected))
            prepared.append((array(f"{number}.factors", Expected("float64", (documents,))), bounds))
        return cls(tuple(parts), weighting, idf, prepared=tuple(prepared))

    def _array(self, segment: int, problem: str) -> NDArray[Any]:
        """The array that the kernel refused."""
        factors, bounds = self._prepared[segment]
        if "bound" in problem or "factor" in problem:
            return bounds[0] if "bound" in problem else factors
        arrays = self.segments[segment].lists if "documents of" in problem else self.segments[segment].rows
        return arrays[0 if "offsets" in problem else 1]

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
    def _gain(self) -> str:
        return "bm25" if self.weighting == "bm25" else "cosine"

    @cached_property
    def _prepared(self) -> tuple[Prepared, ...]:
        if self.prepared is not None:
            return self.prepared
        found = []
        for segment in self.segments:
            factors = self._factors(segment)
            found.append((factors, search_bounds(segment.lists, factors, self.rarity, self._gain)))
        return tuple(found)

    @cached_property
    def _searchers(self) -> tuple[Searcher, ...]:
        return tuple(
            searcher(segment.rows, segment.lists, bounds, factors, self.rarity, self._gain)  # type: ignore[arg-type]  # eight
            for segment, (factors, bounds) in zip(self.segments, self._prepared, strict=True)
        )

    def _factors(self, segment: Segment) -> NDArray[np.float64]:
        """What the kernel needs to know of each document: 1 / norm, or what its length makes of k1."""
        if self.weighting == "bm25":
            shares: NDArray[np.float64] = segment.lengths / max(self._mean_length, 1e-300)
            return K1 * (1 - B + B * shares)
        starts, terms, counts = segment.rows
        weights = (counts * self.rarity[terms]) ** 2
        sums, some = np.zeros(len(segment)), np.diff(starts) > 0
        sums[some] = np.add.reduceat(weights, starts[:-1][some])
        return np.asarray(np.where(sums > 0, 1 / np.sqrt(np.where(sums > 0, sums, 1.0)), 0.0), dtype=np.float64)

    def _weighted(
        self, ids: NDArray[np.int32], offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """Queries as the kernel takes them: where each begins, its words, rising, and what one occurrence gains."""
        starts, terms, counts = count_terms(np.ascontiguousarray(ids), np.ascontiguousarray(offsets))
        known = (terms >= 0) & (terms < len(self.rarity))
        if not known.all():
            starts = np.concatenate([[0], np.cumsum(known)])[starts]
            terms, counts = terms[known], counts[known]
        rarity = self.rarity[terms]
        weights = counts * rarity
        if self.weighting == "tf-idf":
            queries = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
            norms = np.sqrt(np.bincount(queries, weights**2, minlength=len(starts) - 1))
            # Both texts weigh a word by its idf: once is in the query's weight, once is added here.
            weights = weights * rarity / np.where(norms > 0, norms, 1.0)[queries]
        return starts, np.ascontiguousarray(terms), weights


def _bounds(documents: int, words: int, postings: int, dense: int) -> tuple[Expected, ...]:
    """Valid arrays of skip bounds; see `postil.kernel.python.search.search_bounds`."""
    padded = -(-documents // GROUP) * GROUP
    return (
        Expected("float32", (words,)),
        Expected("uint16", (postings,)),
        Expected("float32", (5,), low=0),
        Expected("uint8", (4 * padded,)),
        Expected("int32", (dense,), low=0, high=words - 1),
        Expected("float32", (padded,)),
        Expected("float32", (1,), low=0),
        Expected("uint8", (padded * dense,)),
    )


def _damaged(problem: str, array: NDArray[Any]) -> InvalidInput:
    return InvalidInput(f"{problem}; {WHOLE}", where=str(getattr(array, "filename", "index")))
