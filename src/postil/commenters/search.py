"""The documents most like a query: exact top-k by TF-IDF cosine, or by BM25.

Paper: Automatic Article Commenting (ACL 2018), supplement, equation C.1. A text is the vector of its words, each
weighted by how often it comes and how rare it is; likeness is the cosine of two vectors.

An index is a list of segments, each with its own lists of documents. Documents are added as a new segment. How rare a
word is depends on all documents, so after that, norms and bounds are found anew for every segment; words are not
counted again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import numpy as np

from postil.errors import UnknownName, UsageError
from postil.kernel import count_terms, invert, search_bounds, searcher

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType
    from typing import Self

    from numpy.typing import NDArray

    from postil.engine import Engine, Held
    from postil.kernel import Searcher

    Counts = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16]]
    Arrays = dict[str, NDArray[Any]]

__all__ = ["IDF", "WEIGHTINGS", "Idf", "Index", "Likest", "Segment", "Sharded", "Weighting", "merged"]

Weighting: TypeAlias = Literal["tf-idf", "bm25"]
Idf: TypeAlias = Literal["plain", "smooth"]
WEIGHTINGS: Final[tuple[Weighting, ...]] = get_args(Weighting)
IDF: Final[tuple[Idf, ...]] = get_args(Idf)
K1: Final = 1.5
B: Final = 0.75


@dataclass(frozen=True, eq=False, slots=True)
class Likest:
    """The best documents of n queries.

    Args:
        documents: int32[n, k], best first, the lower number first where scores are equal; -1 where there are fewer.
        scores: float64[n, k], above 0; 0 where there are fewer.
    """

    documents: NDArray[np.int32]
    scores: NDArray[np.float64]


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
    def frequencies(self) -> NDArray[np.int64]:
        """In how many documents each word stands, int64[words]."""
        return np.diff(self.lists[0])

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of words of each document, int64[n]."""
        ends = np.concatenate([[0], np.cumsum(self.rows[2], dtype=np.int64)])
        return np.diff(ends[self.rows[0]])


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
        frequencies: int64[words], in how many documents each word stands, where that is more than these segments know
            (they are a shard of something larger).
        total: The number of documents then.
        mean_length: The mean number of words of a document then.
        prepared: For each segment the factors of its documents and what the kernel skips by, if that was kept.

    >>> ids, offsets = np.array([0, 1, 1, 2, 0, 3], dtype=np.int32), np.array([0, 3, 6])
    >>> index = Index.of(ids, offsets, words=4)
    >>> index.search(np.array([1, 2], dtype=np.int32), np.array([0, 2]), k=2).documents.tolist()
    [[0, 1]]
    """

    segments: tuple[Segment, ...]
    weighting: Weighting = "tf-idf"
    idf: Idf = "plain"
    frequencies: NDArray[np.int64] | None = None
    total: int | None = None
    mean_length: float | None = None
    prepared: tuple[tuple[NDArray[np.float64], tuple[NDArray[Any], ...]], ...] | None = None

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
        if self.frequencies is not None:
            raise UsageError("a shard of an index cannot grow by itself")
        if words < len(self.segments[0].lists[0]) - 1:
            raise UsageError(f"expected {len(self.segments[0].lists[0]) - 1:,} words or more, got {words:,}")
        grown = tuple(replace(segment, lists=_widened(segment.lists, words)) for segment in self.segments)
        return replace(self, segments=(*grown, Segment.of(ids, offsets, words, jobs)), prepared=None)

    def shards(self, count: int) -> list[Index]:
        """The index cut into parts that know how rare a word is in all of it, so that their scores are the same.

        Args:
            count: How many parts; each has at least one document.

        Raises:
            UsageError: The index has more than one segment, or fewer documents than parts.
        """
        if len(self.segments) > 1 or not 1 <= count <= len(self):
            raise UsageError(f"expected one segment and 1 to {len(self)} parts, got {len(self.segments)} and {count}")
        (segment,) = self.segments
        starts, terms, counts = segment.rows
        words = len(segment.lists[0]) - 1
        bounds = np.linspace(0, len(self), count + 1).astype(np.int64)
        parts = []
        for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            within = slice(starts[first], starts[last])
            rows = starts[first : last + 1] - starts[first], terms[within], counts[within]
            parts.append(
                replace(
                    self,
                    segments=(Segment(rows, invert(*rows, words)),),
                    frequencies=self.document_frequencies,
                    total=self.documents,
                    mean_length=self.length,
                    prepared=None,
                )
            )
        return parts

    @cached_property
    def document_frequencies(self) -> NDArray[np.int64]:
        """In how many documents each word stands, int64[words]."""
        if self.frequencies is not None:
            return self.frequencies
        return np.asarray(sum(segment.frequencies for segment in self.segments))

    @property
    def documents(self) -> int:
        """How many documents there are, N."""
        return len(self) if self.total is None else self.total

    @cached_property
    def length(self) -> float:
        """The mean number of words of a document."""
        if self.mean_length is not None:
            return self.mean_length
        return sum(int(segment.lengths.sum()) for segment in self.segments) / max(1, len(self))

    @cached_property
    def rarity(self) -> NDArray[np.float64]:
        """The inverse document frequency of each word, float64[words]; 0 for a word that no document has."""
        df, total = self.document_frequencies.astype(np.float64), self.documents
        some = df > 0
        if self.weighting == "bm25":
            values = np.log1p((total - df + 0.5) / (df + 0.5))
        elif self.idf == "smooth":
            values = np.log((1 + total) / (1 + df)) + 1.0
        else:
            values = np.log(max(total, 1) / np.maximum(df, 1.0))
        return np.where(some, values, 0.0)

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
        """
        if k < 1:
            raise UsageError(f"expected at least one document a query, got {k}")
        starts, terms, weights = self.weighted(ids, offsets)
        first, found = 0, []
        for segment, search in zip(self.segments, self._searchers, strict=True):
            best = Likest(*search.search(starts, terms, weights, min(k, max(1, len(segment))), jobs))
            found.append(_shifted(best, first))
            first += len(segment)
        return merged(found, k)

    def weighted(
        self, ids: NDArray[np.int32], offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """Queries as the kernel takes them: where each begins, its words, rising, and what one occurrence gains.

        Args:
            ids: int32[T].
            offsets: int64[n + 1].
        """
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
            # Both texts weigh a word by its rarity: once is in the query's weight, once is added here.
            weights = weights * rarity / np.where(norms > 0, norms, 1.0)[queries]
        return starts, np.ascontiguousarray(terms), weights

    def cosines(self, ids: NDArray[np.int32], documents: NDArray[np.int32]) -> NDArray[np.float64]:
        """How near a text is to being a copy of documents: the TF-IDF cosine, whatever the weighting, float64[m].

        Words that no document has, which a search passes over, count like the rarest here.

        Args:
            ids: int32[T], the words of the text.
            documents: int32[m].
        """
        known = ids[(ids >= 0) & (ids < len(self.rarity))]
        known = known[self.document_frequencies[known] > 0]
        words, counts = np.unique(known, return_counts=True)
        weights = np.zeros(len(self.rarity))
        weights[words] = counts * self.rarity[words]
        others = (len(ids) - len(known)) * self.rarity.max(initial=0.0) ** 2
        size, cosines = np.sqrt((weights**2).sum() + others), np.zeros(len(documents))
        firsts = np.cumsum([0, *map(len, self.segments)])
        for place, document in enumerate(documents.tolist()):
            number = int(np.searchsorted(firsts, document, side="right")) - 1
            starts, terms, times = self.segments[number].rows
            within = slice(*starts[document - firsts[number] :][:2].tolist())
            theirs = times[within] * self.rarity[terms[within]]
            norms = np.sqrt((theirs**2).sum()) * size
            cosines[place] = (theirs * weights[terms[within]]).sum() / (norms or 1.0)
        return cosines

    def factors(self, segment: Segment) -> NDArray[np.float64]:
        """What the kernel needs to know of each document: 1 / norm, or what its length makes of k1.

        Args:
            segment: The documents.
        """
        if self.weighting == "bm25":
            shares: NDArray[np.float64] = segment.lengths / max(self.length, 1e-300)
            return K1 * (1 - B + B * shares)
        starts, terms, counts = segment.rows
        weights = (counts * self.rarity[terms]) ** 2
        sizes = np.diff(starts)
        sums = np.zeros(len(segment))
        some = sizes > 0
        sums[some] = np.add.reduceat(weights, starts[:-1][some])
        return np.asarray(np.where(sums > 0, 1 / np.sqrt(np.where(sums > 0, sums, 1.0)), 0.0), dtype=np.float64)

    def arrays(self) -> Arrays:
        """All that `of_arrays` needs, by name."""
        found: Arrays = {}
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
    def of_arrays(cls, array: Callable[[str], NDArray[Any]], segments: int, weighting: Weighting, idf: Idf) -> Index:
        """An index from arrays that were kept; they may lie in files and are not read here.

        Args:
            array: Gives an array by its name, see `arrays`.
            segments: How many segments there are.
            weighting: See `Index`.
            idf: See `Index`.
        """
        parts, prepared = [], []
        for number in range(segments):
            rows, lists = (tuple(array(f"{number}.{kind}.{place}") for place in range(3)) for kind in ("rows", "lists"))
            parts.append(Segment(rows, lists))  # type: ignore[arg-type]  # three of each
            bounds = tuple(array(f"{number}.bounds.{place}") for place in range(8))
            prepared.append((array(f"{number}.factors"), bounds))
        return cls(tuple(parts), weighting, idf, prepared=tuple(prepared))

    @cached_property
    def _prepared(self) -> tuple[tuple[NDArray[np.float64], tuple[NDArray[Any], ...]], ...]:
        if self.prepared is not None:
            return self.prepared
        found = []
        for segment in self.segments:
            factors = self.factors(segment)
            found.append((factors, search_bounds(segment.lists, factors, self.rarity, self._gain)))
        return tuple(found)

    @property
    def _gain(self) -> str:
        return "bm25" if self.weighting == "bm25" else "cosine"

    @cached_property
    def _searchers(self) -> tuple[Searcher, ...]:
        return tuple(
            searcher(segment.rows, segment.lists, bounds, factors, self.rarity, self._gain)  # type: ignore[arg-type]  # eight
            for segment, (factors, bounds) in zip(self.segments, self._prepared, strict=True)
        )


class Sharded:
    """An index whose parts lie with workers, on this machine or on many.

    Each part knows how rare a word is in all of it, so that the answers are those of the whole, to the last bit.
    Leaving ``with`` lets the parts go.

    Args:
        engine: What keeps the parts.
        parts: The parts, see `Index.shards`.

    >>> from postil.engine import open_engine
    >>> ids, offsets = np.array([0, 1, 1, 2, 0, 3], dtype=np.int32), np.array([0, 3, 6])
    >>> index = Index.of(ids, offsets, words=4)
    >>> with open_engine() as engine, Sharded(engine, index.shards(2)) as sharded:
    ...     sharded.search(np.array([3, 1], dtype=np.int32), np.array([0, 1, 2]), k=2).documents.tolist()
    [[1, -1], [0, -1]]
    """

    def __init__(self, engine: Engine, parts: Sequence[Index]) -> None:
        self._firsts = np.cumsum([0, *map(len, parts)])[:-1].tolist()
        self._held: Held[Index] = engine.hold(_ready, parts)

    def search(self, ids: NDArray[np.int32], offsets: NDArray[np.int64], k: int) -> Likest:
        """See `Index.search`.

        Args:
            ids: int32[T].
            offsets: int64[n + 1].
            k: How many.
        """
        found = self._held.ask(_asked, (ids, offsets, k))
        return merged([_shifted(part, first) for part, first in zip(found, self._firsts, strict=True)], k)

    def close(self) -> None:
        """Let the parts go."""
        self._held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _ready(part: Index) -> Index:
    """A part that will not have to prepare itself when it is asked."""
    _ = part._searchers  # noqa: SLF001 - its own class
    return part


def _asked(part: Index, question: tuple[NDArray[np.int32], NDArray[np.int64], int]) -> Likest:
    return part.search(*question)


def _shifted(found: Likest, first: int) -> Likest:
    """The same with documents counted from another."""
    return Likest(np.where(found.documents >= 0, found.documents + first, -1).astype(np.int32), found.scores)


def merged(found: Sequence[Likest], k: int) -> Likest:
    """The best of several answers to the same queries.

    Args:
        found: Answers over documents that are not the same.
        k: How many to keep.
    """
    documents = np.concatenate([part.documents for part in found], axis=1)
    scores = np.concatenate([part.scores for part in found], axis=1)
    order = np.lexsort((documents, -scores))[:, :k]
    best = Likest(np.take_along_axis(documents, order, axis=1), np.take_along_axis(scores, order, axis=1))
    missing = k - best.documents.shape[1]
    if missing <= 0:
        return best
    return Likest(
        np.pad(best.documents, ((0, 0), (0, missing)), constant_values=-1), np.pad(best.scores, ((0, 0), (0, missing)))
    )


def _widened(lists: Counts, words: int) -> Counts:
    """Lists of more words; the new ones are empty."""
    starts, documents, counts = lists
    return np.concatenate([starts, np.full(words + 1 - len(starts), starts[-1])]), documents, counts
