"""CIDEr and CIDEr-D, and the document frequencies behind their idf."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from postil.kernel.python.bleu import ngrams
from postil.kernel.python.checks import check_offsets, check_places, check_texts, require
from postil.kernel.python.overlap import Overlap, lists

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["Grams", "cider", "count_grams", "load_grams"]

Gram = tuple[int, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Grams:
    """Document frequencies of n-grams over the references of ``items`` items; those below 2 share one idf."""

    items: int
    order: int
    df: dict[Gram, int]

    def idf(self, gram: Gram) -> float:
        """``log N - log max(1, df)``, natural logarithms."""
        return math.log(self.items) - math.log(max(1.0, self.df.get(gram, 0)))

    def vector(self, words: list[int], n: int) -> dict[Gram, float]:
        """tf-idf of a text's n-grams."""
        return {gram: count * self.idf(gram) for gram, count in Counter(ngrams(words, n)).items()}

    def norms(self, ids: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
        """L2 norm of each text's tf-idf vector in each order, float64[texts, order]."""
        check_offsets(offsets, len(ids), "expected offsets of the words of texts")
        texts = lists(ids, offsets)
        orders = range(1, self.order + 1)
        return np.array([[_length(self.vector(words, n).values()) for n in orders] for words in texts]).reshape(
            len(texts), self.order
        )

    def table(self, n: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The n-grams, int32[grams, n], and their document frequencies, int32[grams]."""
        require(1 <= n <= self.order, "expected an order that was counted")
        grams = [gram for gram in self.df if len(gram) == n]
        return (
            np.array(grams, dtype=np.int32).reshape(len(grams), n),
            np.array([self.df[gram] for gram in grams], dtype=np.int32),
        )


def _length(values: Iterable[float]) -> float:
    return math.sqrt(sum(value * value for value in values))


def count_grams(
    ids: NDArray[np.int32],
    offsets: NDArray[np.int64],
    set_offsets: NDArray[np.int64],
    groups: NDArray[np.int32],
    order: int,
) -> Grams:
    """Document frequencies over the references of each item.

    ``groups int32[sets]`` says which item a set belongs to; the sets of one item are adjacent.
    """
    check_texts(ids, offsets, "expected references as words from 0 and offsets of texts")
    check_offsets(set_offsets, len(offsets) - 1, "expected offsets of the sets of references")
    require(len(groups) == len(set_offsets) - 1, "expected an item for each set of references")
    references, bounds = lists(ids, offsets), set_offsets.tolist()
    held: dict[int, set[Gram]] = {}
    for s, item in enumerate(groups.tolist()):
        for reference in references[bounds[s] : bounds[s + 1]]:
            for n in range(1, order + 1):
                held.setdefault(item, set()).update(ngrams(reference, n))
    df = Counter(gram for grams in held.values() for gram in grams)
    return Grams(len(set(groups.tolist())), order, {gram: count for gram, count in df.items() if count > 1})


def load_grams(items: int, gram_words: list[NDArray[np.int32]], df: list[NDArray[np.int32]]) -> Grams:
    """Make document frequencies of tables as :meth:`Grams.table` gives them, one per order."""
    require(len(gram_words) == len(df), "expected a document frequency of each n-gram")
    require(items > 0, "expected at least one item")
    for n, (words, counts) in enumerate(zip(gram_words, df, strict=True), start=1):
        require(words.shape[1] == n, "expected n-grams of 1 word, of 2, and so on")
        require(len(words) == len(counts), "expected a document frequency of each n-gram")
        check_places(words, 2**31, "expected words from 0")
        of_items = "expected document frequencies from 1 to the number of items"
        check_places(counts, min(items, 2**31 - 1) + 1, of_items)
        require((counts > 0).all(), of_items)
    frequencies = {
        tuple(gram): count
        for words, counts in zip(gram_words, df, strict=True)
        for gram, count in zip(words.tolist(), counts.tolist(), strict=True)
    }
    begun = all(len(gram) == 1 or gram[:-1] in frequencies for gram in frequencies)
    require(begun, "expected the first words of each n-gram among the n-grams")
    return Grams(items, len(gram_words), frequencies)


def cider(  # noqa: PLR0917 - the kernel's arrays
    overlap: Overlap,
    weights: NDArray[np.float64],
    grams: Grams,
    norms: NDArray[np.float64],
    sigma: float,
    jobs: int = 1,
) -> NDArray[np.float64]:
    """Weighted cosines of each order, summed over the references: float64[n, order], or float64[n] of order 1.

    CIDEr where ``sigma`` is 0, else CIDEr-D (clipped, Gaussian on the length).
    ``norms float64[references, order]`` are filled in where they are needed and negative.
    """
    del jobs
    overlap.check(weights)
    require(norms.shape == (len(weights), grams.order), "expected a norm of every reference in each order")
    out = np.zeros((len(overlap), grams.order))
    for row, words, span in overlap.rows():
        for n in range(1, grams.order + 1):
            own = grams.vector(words, n)
            own_norm = _length(own.values())
            for j in span:
                reference = overlap.references[j]
                theirs = grams.vector(reference, n)
                dot = sum((min(v, theirs[g]) if sigma else v) * theirs[g] for g, v in own.items() if g in theirs)
                if dot:
                    if norms[j, n - 1] < 0.0:
                        norms[j, n - 1] = _length(theirs.values())
                    gap = max(0, len(words) - 1) - max(0, len(reference) - 1)
                    nearness = math.exp(-(gap * gap) / (2 * sigma * sigma)) if sigma else 1.0
                    out[row, n - 1] += float(weights[j]) * (dot / (own_norm * float(norms[j, n - 1])) * nearness)
    return out[:, 0] if grams.order == 1 else out
