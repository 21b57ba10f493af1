"""The definition of search: exact top-k over an inverted index, by TF-IDF cosine or BM25.

Documents and terms have ids from 0. The *forward index* is ``(starts int64[N + 1], terms int32[nnz], counts
uint16[nnz])``, terms ascending within each document. The *inverted index* is the same transposed: the postings of each
term, documents ascending.

A term with frequency ``count`` in document d contributes ``weight * count * factor[d]`` (``cosine``) or
``weight * count / (count + factor[d])`` (``bm25``) to its score; ``factor`` is the document normalization.

Both kernels agree to the last bit. The compiled one prunes by bounds from frequent words, but adds up all postings of a
query that has few, those of frequent words from rows of counts: below about 20,000 documents that takes less time.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.kernel.python.checks import check_offsets, check_places, check_rising, check_types, require

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16]]
    Bounds = tuple[
        NDArray[np.float32],
        NDArray[np.uint16],
        NDArray[np.float32],
        NDArray[np.uint8],
        NDArray[np.int32],
        NDArray[np.float32],
        NDArray[np.float32],
        NDArray[np.uint8],
    ]

__all__ = ["Searcher", "count_terms", "invert", "search_bounds", "searcher"]

CLASSES: Final = (128, 32, 8, 2)
"""Document frequency, as 1 in N, from which on a term is of class 1, 2, 3, 4; the others are of class 0."""
DENSE: Final = 3
"""First class of terms whose contributions are in the dense table."""
MOST_DENSE: Final = 4096
"""Maximum number of terms in the dense table; further ones count to the class below."""
GROUP: Final = 64
"""Number of documents per block of the compiled kernel."""
_COUNTS: Final = ("int64", "int32", "uint16")
_BOUNDS: Final = ("float32", "uint16", "float32", "uint8", "int32", "float32", "float32", "uint8")
_OFFSETS: Final = "expected offsets of the documents of terms"
ROW_STEPS: Final = 2000
"""Approximate maximum of the sum of a row of the table."""
GAINS: Final = ("cosine", "bm25")


def count_terms(ids: NDArray[np.int32], offsets: NDArray[np.int64], jobs: int = 1) -> Counts:
    """Term frequencies of each text, as a forward index; saturated at 65,535."""
    check_offsets(offsets, len(ids), "expected offsets of the words of texts")
    texts = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((ids, texts))
    texts, terms = texts[order], ids[order]
    new = np.concatenate([[True], (np.diff(texts) != 0) | (np.diff(terms) != 0)])[: len(terms)]
    counts = np.diff(np.concatenate([new.nonzero()[0], [len(terms)]]))
    starts = np.concatenate([[0], np.cumsum(np.bincount(texts[new], minlength=len(offsets) - 1))])
    return starts, terms[new], np.minimum(counts, np.iinfo(np.uint16).max).astype(np.uint16)


def invert(starts: NDArray[np.int64], terms: NDArray[np.int32], counts: NDArray[np.uint16], vocabulary: int) -> Counts:
    """Invert a forward index: the postings of each term."""
    require(len(terms) == len(counts), "expected a count of each term of a document")
    check_offsets(starts, len(terms), "expected offsets of the terms of documents")
    require(vocabulary >= 0, "a term is out of range")
    check_places(terms, vocabulary, "a term is out of range")
    documents = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
    order = np.argsort(terms, kind="stable")
    begins = np.concatenate([[0], np.cumsum(np.bincount(terms, minlength=vocabulary))])
    return begins.astype(np.int64), documents[order], counts[order]


def search_bounds(lists: Counts, factors: NDArray[np.float64], scales: NDArray[np.float64], gain: str) -> Bounds:
    """Score upper bounds for exact dynamic pruning, rounded up; unused by this implementation.

    A document's vector has ``scale * contribution`` for each term. Arrays over documents are padded to whole blocks.

    Args:
        lists: The inverted index.
        factors: float64[N], document normalization.
        scales: float64[terms], any numbers above 0; others are taken as 1. The idf makes the bounds tight.
        gain: ``cosine`` or ``bm25``.

    Returns:
        The largest contribution of each term to any document, float32[terms], and its contribution to each, in
        65,535ths of that, uint16[nnz]. The largest L2 norm of a vector: of all terms, then of the terms of each class
        from 1, float32[5], and each document's norm for each class, in 255ths of that, uint8. The dense terms, int32.
        The step in which each document counts their contributions, float32, the largest norm of a vector of
        ``scale * steps``, float32[1], and the steps, uint8[blocks, dense terms, documents of a block].
    """
    check_types(lists, _COUNTS, "expected lists as arrays of int64, int32 and uint16")
    _check(lists, scales)
    starts, documents, counts = lists
    check_offsets(starts, len(documents), _OFFSETS)
    check_places(documents, len(factors), "expected a factor for each document")
    total, padded = len(factors), -(-len(factors) // GROUP) * GROUP
    gains = _gains(gain, counts.astype(np.float64), factors[documents])
    sizes = np.diff(starts)
    terms = np.repeat(np.arange(len(sizes)), sizes)
    scaled = np.where(scales > 0, scales, 1.0)[terms]
    # weight * highest bounds the contribution of a term to any document. Impacts are 16-bit shares of it, rounded up,
    # so that a sum of impacts bounds the score of a document and nothing that could be among the best is skipped.
    highest = np.zeros(len(sizes), dtype=np.float32)
    highest[sizes > 0] = _up(np.array([gains[a:b].max() for a, b in pairwise(starts.tolist()) if b > a]))
    impacts = _parts(gains, highest[terms].astype(np.float64), np.iinfo(np.uint16).max).astype(np.uint16)

    # Frequent terms have long postings, so their part of a score is bounded without reading them. By Cauchy-Schwarz it
    # is at most |query / scale| * |document * scale|, over the terms of one class; classes by document frequency keep
    # the norms of documents apart from the many rare terms, which would loosen the bound.
    kinds = (sizes[:, None] * np.array(CLASSES) >= total).sum(1) * (sizes > 0)
    dense = (kinds >= DENSE).nonzero()[0]
    kinds[dense[MOST_DENSE:]] = DENSE - 1
    dense = dense[:MOST_DENSE]

    def length(some: NDArray[np.bool_], values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.sqrt(np.bincount(documents[some], values[some] ** 2, minlength=padded))

    every = [length(np.ones(len(gains), dtype=bool), scaled * gains)]
    every += [length(kinds[terms] == kind, scaled * gains) for kind in range(1, len(CLASSES) + 1)]
    longest = _up(np.array([values.max(initial=0.0) for values in every]))
    lengths = [
        _parts(values, most, np.iinfo(np.uint8).max)
        for values, most in zip(every[1:], longest[1:].astype(np.float64), strict=True)
    ]

    mine = kinds[terms] >= DENSE
    steps, number = _dense_steps(documents, gains, mine, factors, gain, padded)
    table = np.zeros((padded // GROUP, len(dense), GROUP), dtype=np.uint8)
    groups, places = np.divmod(documents[mine], GROUP)
    table[groups, np.searchsorted(dense, terms[mine]), places] = number[mine]
    return (
        highest,
        impacts,
        longest,
        np.concatenate(lengths).astype(np.uint8),
        dense.astype(np.int32),
        steps,
        _up(length(mine, scaled * number).max(initial=0.0, keepdims=True)),
        table.ravel(),
    )


def _dense_steps(  # noqa: PLR0917 - arrays of `search_bounds`
    documents: NDArray[np.int32],
    gains: NDArray[np.float64],
    mine: NDArray[np.bool_],
    factors: NDArray[np.float64],
    gain: str,
    padded: int,
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Steps of documents, float32[padded], and the contributions in these steps, rounded up, float64[nnz].

    The most frequent terms have a dense table of 8-bit steps in place of postings. A document's step is large enough
    for its largest contribution to fit in 8 bits, and for the sum of a row to stay near `ROW_STEPS`, within 16 bits.
    """
    most_gained = np.zeros(padded)
    np.maximum.at(most_gained, documents[mine], gains[mine])
    step = np.maximum(
        most_gained / np.iinfo(np.uint8).max, np.bincount(documents[mine], gains[mine], padded) / ROW_STEPS
    )
    if gain == "cosine":
        step[: len(factors)] = np.maximum(step[: len(factors)], factors)
    steps = _up(step)
    return steps, np.minimum(np.ceil(gains / steps.astype(np.float64)[documents]), np.iinfo(np.uint8).max)


class Searcher:
    """Exact top-k search of an inverted index; made by `searcher`."""

    def __init__(self, lists: Counts, factors: NDArray[np.float64], scales: NDArray[np.float64], gain: str) -> None:
        self._lists = lists
        self._factors = factors
        self._scales = scales
        self._gain = gain

    def search(
        self, ids: NDArray[np.int32], offsets: NDArray[np.int64], k: int, jobs: int = 1
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The k documents with the highest scores above 0 for each query; of equal scores the lower number first.

        A term's weight in a query is its frequency there times its scale. For ``cosine``, the weights of a query are
        divided by their L2 norm, and multiplied by the scale again, which is the document's. Terms with no document or
        no weight above 0 are ignored.

        Args:
            ids: int32[T], the words of all queries, concatenated.
            offsets: int64[n + 1].
            k: At least 1.
            jobs: Threads.

        Returns:
            Documents int32[n, k] and scores float64[n, k]; -1 and 0 where there are fewer.
        """
        require(k >= 1, "expected k of at least 1")
        require(k < 2**31, "expected k below 2,147,483,648")
        starts, terms, times = count_terms(ids, offsets, jobs)
        found = np.full((len(starts) - 1, k), -1, dtype=np.int32)
        best = np.zeros((len(starts) - 1, k))
        for query, (start, stop) in enumerate(pairwise(starts.tolist())):
            scores = self._scores(terms[start:stop], times[start:stop])
            some = (scores > 0).nonzero()[0]
            order = some[np.lexsort((some, -scores[some]))][:k]
            found[query, : len(order)] = order
            best[query, : len(order)] = scores[order]
        return found, best

    def _scores(self, terms: NDArray[np.int32], times: NDArray[np.uint16]) -> NDArray[np.float64]:
        """Scores of all documents for one query."""
        begins, documents, counts = self._lists
        there = (terms >= 0) & (terms < len(self._scales))
        terms = terms[there]
        weights = times[there] * self._scales[terms]
        if self._gain == "cosine":
            norm = np.sqrt(np.cumsum(weights**2)[-1:])  # added up term by term
            weights = weights * self._scales[terms] / np.where(norm > 0, norm, 1.0)
        sums = np.zeros(len(self._factors))
        for term, weight in zip(terms.tolist(), weights.tolist(), strict=True):
            mine = slice(begins[term], begins[term + 1])
            require(0 <= mine.start <= mine.stop <= len(documents), _OFFSETS)
            if not weight > 0:
                continue
            check_rising(documents[mine], len(self._factors), "expected rising documents of a term, below their number")
            require(_right(self._factors[documents[mine]]), "expected a finite factor of a document, from 0")
            count = counts[mine].astype(np.float64)
            if self._gain == "bm25":
                count /= count + self._factors[documents[mine]]
            sums[documents[mine]] += weight * count
        return sums * self._factors if self._gain == "cosine" else sums


def searcher(  # noqa: PLR0917 - as the compiled one
    rows: Counts,
    lists: Counts,
    bounds: Bounds,
    factors: NDArray[np.float64],
    scales: NDArray[np.float64],
    gain: str,
) -> Searcher:
    """Make a searcher of postings; bounds, those of `search_bounds` with these scales, are for the compiled kernel."""
    require(gain in GAINS, "expected cosine or bm25")
    check_types(rows, _COUNTS, "expected rows as arrays of int64, int32 and uint16")
    check_types(lists, _COUNTS, "expected lists as arrays of int64, int32 and uint16")
    check_types(bounds, _BOUNDS, "expected bounds of search_bounds")
    require(len(factors) == len(rows[0]) - 1, "expected a factor for each document")
    require(len(rows[1]) == len(rows[2]), "expected a count of each term of a document")
    _check(lists, scales)
    padded = -(-len(factors) // GROUP) * GROUP
    sizes = (len(scales), len(lists[1]), 5, 4 * padded, len(bounds[4]), padded, 1, padded * len(bounds[4]))
    require(tuple(bound.size for bound in bounds) == sizes, "expected the bounds of these lists")
    return Searcher(lists, factors, scales, gain)


def _right(numbers: NDArray[np.float64]) -> object:
    return np.isfinite(numbers).all() and (numbers >= 0).all()


def _check(lists: Counts, scales: NDArray[np.float64]) -> None:
    require(len(lists[0]) and len(scales) == len(lists[0]) - 1, "expected a scale for each term")
    require(len(lists[1]) == len(lists[2]), "expected a count of each document of a term")


def _gains(gain: str, counts: NDArray[np.float64], factors: NDArray[np.float64]) -> NDArray[np.float64]:
    require(gain in GAINS, "expected cosine or bm25")
    return counts * factors if gain == "cosine" else counts / (counts + factors)


def _parts(values: NDArray[np.float64], whole: NDArray[np.float64], parts: int) -> NDArray[np.float64]:
    """Shares of a whole, rounded up."""
    return np.minimum(np.ceil(values / whole * parts), parts)


def _up(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """Single-precision numbers that are not below the double-precision ones: bounds must not be rounded down."""
    return np.nextafter(values.astype(np.float32), np.float32(np.inf))
