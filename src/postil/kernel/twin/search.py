"""The definition of search: exact top-k over an inverted index, by TF-IDF cosine or BM25.

Documents are numbered from 0, terms too. *Rows* are documents over terms: ``(starts int64[N + 1], terms int32[nnz]
rising within a document, counts uint16[nnz])``. *Lists* are the same the other way round, a list a term, documents
rising.

A term that comes ``count`` times in document d gains it ``weight * count * factor[d]`` (``cosine``) or
``weight * count / (count + factor[d])`` (``bm25``).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16]]
    Bounds = tuple[
        NDArray[np.float32],
        NDArray[np.int32],
        NDArray[np.int64],
        NDArray[np.float32],
        NDArray[np.int32],
        NDArray[np.uint8],
    ]

__all__ = ["Searcher", "count_terms", "invert", "search_bounds", "searcher"]

BLOCK: Final = 4096
"""The compiled kernel goes through documents in blocks of so many."""
FREQUENT: Final = 1024
"""Terms of so many documents have bounds for every block."""
DENSE: Final = 8
"""Terms of one document in so many have their counts in a row."""
GAINS: Final = ("cosine", "bm25")


def count_terms(ids: NDArray[np.int32], offsets: NDArray[np.int64], jobs: int = 1) -> Counts:
    """How often each term comes in each text, as rows; more than 65,535 times is 65,535 times."""
    del jobs
    texts = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((ids, texts))
    texts, terms = texts[order], ids[order]
    new = np.concatenate([[True], (np.diff(texts) != 0) | (np.diff(terms) != 0)])[: len(terms)]
    counts = np.diff(np.concatenate([new.nonzero()[0], [len(terms)]]))
    starts = np.concatenate([[0], np.cumsum(np.bincount(texts[new], minlength=len(offsets) - 1))])
    return starts, terms[new], np.minimum(counts, np.iinfo(np.uint16).max).astype(np.uint16)


def invert(starts: NDArray[np.int64], terms: NDArray[np.int32], counts: NDArray[np.uint16], vocabulary: int) -> Counts:
    """Lists of rows."""
    if len(terms) and not 0 <= int(terms.min()) <= int(terms.max()) < vocabulary:
        raise ValueError("a term is out of range")
    documents = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
    order = np.argsort(terms, kind="stable")
    begins = np.concatenate([[0], np.cumsum(np.bincount(terms, minlength=vocabulary))])
    return begins.astype(np.int64), documents[order], counts[order]


def search_bounds(lists: Counts, factors: NDArray[np.float64], gain: str) -> Bounds:
    """What the compiled search skips by; the search here looks at none of it.

    Returns:
        The most that each term gains any document, float32[terms]. The row of each frequent term in the next two, or
        -1, int32[terms]: where its documents of each block begin, int64, and the most that it gains one of them,
        float32. The row of each very frequent term in the last, or -1, int32[terms]: its count in every document,
        uint8.
    """
    starts, documents, counts = lists
    terms, blocks = len(starts) - 1, -(-len(factors) // BLOCK)
    gains = _gains(gain, counts.astype(np.float64), factors[documents])
    sizes = np.diff(starts)
    highest = _up(np.array([gains[a:b].max(initial=0.0) for a, b in pairwise(starts.tolist())]))
    row, dense_row = np.full(terms, -1, dtype=np.int32), np.full(terms, -1, dtype=np.int32)
    frequent = (sizes >= FREQUENT).nonzero()[0]
    row[frequent] = np.arange(len(frequent))
    block_starts = np.empty((len(frequent), blocks + 1), dtype=np.int64)
    block_highest = np.zeros((len(frequent), blocks), dtype=np.float32)
    dense: list[NDArray[np.uint8]] = []
    for place, term in enumerate(frequent.tolist()):
        mine = slice(starts[term], starts[term + 1])
        block_starts[place] = starts[term] + np.searchsorted(documents[mine], np.arange(blocks + 1) * BLOCK)
        np.maximum.at(block_highest[place], documents[mine] // BLOCK, _up(gains[mine]))
        if sizes[term] * DENSE >= len(factors) and counts[mine].max() <= np.iinfo(np.uint8).max:
            dense_row[term] = len(dense)
            dense.append(np.zeros(blocks * BLOCK, dtype=np.uint8))
            dense[-1][documents[mine]] = counts[mine]
    every = np.concatenate(dense) if dense else np.zeros(0, dtype=np.uint8)
    return highest, row, block_starts.ravel(), block_highest.ravel(), dense_row, every


class Searcher:
    """Finds the best documents of queries; `searcher` makes it."""

    def __init__(self, lists: Counts, factors: NDArray[np.float64], gain: str) -> None:
        self._lists = lists
        self._factors = factors
        self._gain = gain

    def search(
        self,
        starts: NDArray[np.int64],
        terms: NDArray[np.int32],
        weights: NDArray[np.float64],
        k: int,
        jobs: int = 1,
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The k documents with the highest scores above 0 for each query; of equal scores the lower number first.

        Args:
            starts: int64[n + 1], where each query begins.
            terms: int32, rising within a query; those that no document has are passed over.
            weights: float64, 0 or more.
            k: At least 1.
            jobs: Threads.

        Returns:
            Documents int32[n, k] and scores float64[n, k]; -1 and 0 where there are fewer.
        """
        del jobs
        if k < 1:
            raise ValueError("expected k of at least 1")
        begins, documents, counts = self._lists
        found = np.full((len(starts) - 1, k), -1, dtype=np.int32)
        best = np.zeros((len(starts) - 1, k))
        for query in range(len(starts) - 1):
            sums = np.zeros(len(self._factors))
            for place in range(starts[query], starts[query + 1]):
                if 0 <= terms[place] < len(begins) - 1:
                    mine = slice(begins[terms[place]], begins[terms[place] + 1])
                    count = counts[mine].astype(np.float64)
                    if self._gain == "bm25":
                        count /= count + self._factors[documents[mine]]
                    sums[documents[mine]] += weights[place] * count
            if self._gain == "cosine":
                sums *= self._factors
            some = (sums > 0).nonzero()[0]
            order = some[np.lexsort((some, -sums[some]))][:k]
            found[query, : len(order)] = order
            best[query, : len(order)] = sums[order]
        return found, best


def searcher(rows: Counts, lists: Counts, bounds: Bounds, factors: NDArray[np.float64], gain: str) -> Searcher:
    """What searches these lists; rows and bounds are for the compiled kernel."""
    del bounds
    if gain not in GAINS:
        raise ValueError("expected cosine or bm25")
    if len(factors) != len(rows[0]) - 1:
        raise ValueError("expected a factor for each document")
    return Searcher(lists, factors, gain)


def _gains(gain: str, counts: NDArray[np.float64], factors: NDArray[np.float64]) -> NDArray[np.float64]:
    if gain not in GAINS:
        raise ValueError("expected cosine or bm25")
    return counts * factors if gain == "cosine" else counts / (counts + factors)


def _up(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """Short numbers that are not below the long ones."""
    return np.nextafter(values.astype(np.float32), np.float32(np.inf))
