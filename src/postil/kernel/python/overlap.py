"""Metrics of shared words: candidates and the references they are scored against, BLEU, ROUGE and CIDEr."""

from __future__ import annotations

import math
import sys
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.kernel.python.checks import check_offsets, check_places, check_texts, require

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

__all__ = [
    "Grams",
    "Overlap",
    "bleu_score",
    "bleu_stats",
    "cider",
    "closest_length",
    "count_grams",
    "lcs_lengths",
    "lcs_table",
    "leftmost_cover",
    "load_grams",
    "ngram_matches",
    "ngrams",
    "overlap",
    "rouge_l",
    "rouge_n",
    "skip_bigrams",
    "union_lcs",
    "upward_cover",
]


@dataclass(frozen=True, eq=False, slots=True)
class Overlap:
    """n candidates as lists of token ids, and the m references that they are scored against.

    The compiled kernel indexes here which words they share, once for all metrics; this one only stores the texts.
    """

    candidates: list[list[int]]
    references: list[list[int]]
    spans: list[range]
    """Indices of the references of each candidate."""

    def __len__(self) -> int:
        return len(self.candidates)

    def check(self, weights: NDArray[np.float64]) -> None:
        """Raise a ValueError unless there is one weight per reference."""
        require(len(weights) == len(self.references), "expected a weight of every reference")

    def rows(self) -> Iterator[tuple[int, list[int], range]]:
        """Index, words and reference indices of each candidate."""
        return ((row, words, self.spans[row]) for row, words in enumerate(self.candidates))


def overlap(  # noqa: PLR0917 - the kernel's arrays
    candidate_ids: NDArray[np.int32],
    candidate_offsets: NDArray[np.int64],
    sets: NDArray[np.int32],
    reference_ids: NDArray[np.int32],
    reference_offsets: NDArray[np.int64],
    set_offsets: NDArray[np.int64],
    jobs: int = 1,
) -> Overlap:
    """Pair candidates with their references; see the shapes in :mod:`postil.kernel`."""
    check_texts(candidate_ids, candidate_offsets, "expected candidates as words from 0 and offsets of texts")
    check_texts(reference_ids, reference_offsets, "expected references as words from 0 and offsets of texts")
    check_offsets(set_offsets, len(reference_offsets) - 1, "expected offsets of the sets of references")
    require(len(sets) == len(candidate_offsets) - 1, "expected a set of references for each candidate")
    check_places(sets, len(set_offsets) - 1, "expected sets of references that there are")
    require((set_offsets[sets] < set_offsets[sets + 1]).all(), "expected a reference in each set")
    bounds = set_offsets.tolist()
    return Overlap(
        candidates=lists(candidate_ids, candidate_offsets),
        references=lists(reference_ids, reference_offsets),
        spans=[range(bounds[s], bounds[s + 1]) for s in sets.tolist()],
    )


def lists(ids: NDArray[np.int32], offsets: NDArray[np.int64]) -> list[list[int]]:
    """Ragged ids as lists."""
    flat, bounds = ids.tolist(), offsets.tolist()
    return [flat[begin:end] for begin, end in pairwise(bounds)]


def closest_length(candidate: int, references: list[int]) -> int:
    """The reference length closest to the candidate's; the shorter of two as close.

    >>> closest_length(5, [2, 4, 6])
    4
    """
    return min(references, key=lambda length: (abs(length - candidate), length))


_TINY: Final = 1e-15
_SMALL: Final = 1e-9


def ngrams(words: Sequence[int], n: int) -> list[tuple[int, ...]]:
    """All n-grams in order, with repeats.

    >>> ngrams([7, 8, 7], 2)
    [(7, 8), (8, 7)]
    """
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]


def bleu_stats(
    overlap: Overlap,
    weights: NDArray[np.float64],
    order: int,
    delta: bool = False,  # noqa: FBT001, FBT002
    jobs: int = 1,
) -> NDArray[np.float64]:
    """Statistics that add: matches of orders 1..N, n-grams of orders 1..N, candidate length, reference length.

    An n-gram w matches ``min(Count(w, c), max_j s_j Count(w, r_j))`` times (supplement B.2). With ``delta`` it is
    ``max_j s_j min(Count(w, c), Count(w, r_j))`` over the references that hold it, and the number of n-grams is scaled
    by the best weight (Galley et al. 2015, eq. 4).

    Args:
        overlap: Candidates and references.
        weights: float64[draws, m].
        order: N.
        delta: True to count as delta-BLEU does.
        jobs: Threads of the compiled kernel.

    Returns:
        float64[draws n, 2 N + 2], draw after draw.
    """
    return np.concatenate([_bleu_stats(overlap, row, order, delta=delta) for row in weights])


def _bleu_stats(overlap: Overlap, weights: NDArray[np.float64], order: int, *, delta: bool) -> NDArray[np.float64]:
    overlap.check(weights)
    out = np.zeros((len(overlap), 2 * order + 2))
    for row, words, span in overlap.rows():
        references = [overlap.references[j] for j in span]
        s = [float(weights[j]) for j in span]
        for n in range(1, order + 1):
            own = Counter(ngrams(words, n))
            theirs = [Counter(ngrams(reference, n)) for reference in references]
            if delta:
                gains = (
                    max((w * min(count, c[gram]) for w, c in zip(s, theirs, strict=True) if gram in c), default=0.0)
                    for gram, count in own.items()
                )
                scale = max(s)
            else:
                gains = (
                    min(count, max(w * c[gram] for w, c in zip(s, theirs, strict=True))) for gram, count in own.items()
                )
                scale = 1.0
            out[row, n - 1] = sum(gains)
            out[row, order + n - 1] = scale * max(0, len(words) - n + 1)
        out[row, 2 * order :] = len(words), closest_length(len(words), [len(r) for r in references])
    return out


def bleu_score(stats: NDArray[np.float64], smooth: str, k: float, effective: bool) -> NDArray[np.float64]:  # noqa: FBT001
    """BLEU of each row of statistics, in [0, 1]; ``smooth`` as in :class:`postil.metrics.bleu.Bleu`."""
    order = stats.shape[1] // 2 - 1
    out = np.empty(len(stats))
    for row, values in enumerate(stats.tolist()):
        matches, grams, (length, reference) = values[:order], values[order : 2 * order], values[2 * order :]
        if smooth == "coco":
            out[row] = _coco(matches, grams, length, reference)
        else:
            out[row] = _smoothed(matches, grams, length, reference, smooth, k, effective=effective)
    return out


def _coco(matches: list[float], grams: list[float], length: float, reference: float) -> float:
    """The two epsilons of the COCO caption evaluation: no order is ever exactly 0 or 1."""
    product = 1.0
    for m, g in zip(matches, grams, strict=True):
        product *= (m + _TINY) / (g + _SMALL)
    score: float = product ** (1.0 / len(matches))
    ratio = (length + _TINY) / (reference + _SMALL)
    return score * math.exp(1.0 - 1.0 / ratio) if ratio < 1.0 else score


def _smoothed(  # noqa: PLR0917 - one row of statistics, spread
    matches: list[float], grams: list[float], length: float, reference: float, smooth: str, k: float, *, effective: bool
) -> float:
    if length == 0.0 or all(m <= 0.0 for m in matches):
        return 0.0
    logs: list[float] = []
    pseudo = 1.0
    for n, (m, g) in enumerate(zip(matches, grams, strict=True)):
        if smooth == "add-k" and n > 0:
            m, g = m + k, g + k  # noqa: PLW2901
        if g <= 0.0:
            if not effective:
                return 0.0
            break
        if smooth == "exp" and m < pseudo / 2:
            m = pseudo = pseudo / 2  # noqa: PLW2901
        elif smooth == "floor":
            m = max(m, k)  # noqa: PLW2901
        precision = max(m / g, sys.float_info.min) if smooth == "method0" else m / g
        if precision <= 0.0:
            return 0.0
        logs.append(math.log(precision))
    if not logs:
        return 0.0
    brevity = math.exp(1.0 - reference / length) if length < reference else 1.0
    return brevity * math.exp(sum(logs) / len(logs))


def lcs_table(a: Sequence[int], b: Sequence[int]) -> list[list[int]]:
    """``table[i][j]``: length of the longest common subsequence of ``a[i:]`` and ``b[j:]``.

    >>> lcs_table([1, 2, 3], [2, 1, 3])[0][0]
    2
    """
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in reversed(range(len(a))):
        for j in reversed(range(len(b))):
            table[i][j] = table[i + 1][j + 1] + 1 if a[i] == b[j] else max(table[i + 1][j], table[i][j + 1])
    return table


def leftmost_cover(a: Sequence[int], b: Sequence[int]) -> list[int]:
    """Positions of ``a`` in an LCS with ``b``; of all LCSs the one that is leftmost in ``a``.

    >>> leftmost_cover([1, 2, 1], [1])
    [0]
    """
    left = lcs_table(a, b)
    covered: list[int] = []
    j = 0
    for i, word in enumerate(a):
        if word in b[j:]:
            met = b.index(word, j)
            if left[i + 1][met + 1] + 1 == left[i][j]:
                covered.append(i)
                j = met + 1
    return covered


def rouge_l(
    overlap: Overlap,
    weights: NDArray[np.float64],
    beta_squared: float,
    united: bool,  # noqa: FBT001
    jobs: int = 1,
) -> NDArray[np.float64]:
    """Item scores, float64[n] in [0, 1]; the two readings as in :class:`postil.metrics.rouge.RougeL`."""
    overlap.check(weights)
    out = np.zeros(len(overlap))
    for row, words, span in overlap.rows():
        references = [overlap.references[j] for j in span]
        s = [float(weights[j]) for j in span]
        precision_recall = _united_precision_recall if united else _best_precision_recall
        precision, recall = precision_recall(words, references, s)
        if precision > 0.0 and recall > 0.0:
            out[row] = (1.0 + beta_squared) * precision * recall / (recall + beta_squared * precision)
    return out


def _best_precision_recall(words: list[int], references: list[list[int]], s: list[float]) -> tuple[float, float]:
    precision = recall = 0.0
    for reference, weight in zip(references, s, strict=True):
        common = lcs_table(words, reference)[0][0]
        if common:
            precision = max(precision, weight * (common / len(words)))
            recall = max(recall, weight * (common / len(reference)))
    return precision, recall


def _united_precision_recall(words: list[int], references: list[list[int]], s: list[float]) -> tuple[float, float]:
    closest = closest_length(len(words), [len(reference) for reference in references])
    if not words or not closest:
        return 0.0, 0.0
    covered = [0.0] * len(words)
    for reference, weight in zip(references, s, strict=True):
        for i in leftmost_cover(words, reference):
            covered[i] = max(covered[i], weight)
    return sum(covered) / len(words), min(1.0, sum(covered) / closest)


def skip_bigrams(words: Sequence[int], skip: int) -> list[tuple[int, ...]]:
    """Ordered pairs with at most ``skip`` words between them.

    >>> skip_bigrams([1, 2, 3], 1)
    [(1, 2), (1, 3), (2, 3)]
    """
    return [(a, b) for i, a in enumerate(words) for b in words[i + 1 : i + 2 + skip]]


def _units(words: list[int], order: int, skip: int) -> Counter[tuple[int, ...]]:
    return Counter(ngrams(words, order) + (skip_bigrams(words, skip) if skip >= 0 else []))


def rouge_n(
    overlap: Overlap, weights: NDArray[np.float64], order: int, skip: int = -1, jobs: int = 1
) -> NDArray[np.float64]:
    """Weighted matches and units of all references, float64[n, 2].

    Units are n-grams of ``order``, and with ``skip`` >= 0 also skip-bigrams. Reference j gives
    ``s_j sum_u min(Count(u, c), Count(u, r_j))`` matches.
    """
    overlap.check(weights)
    out = np.zeros((len(overlap), 2))
    for row, words, span in overlap.rows():
        own = _units(words, order, skip)
        for j in span:
            theirs = _units(overlap.references[j], order, skip)
            out[row, 0] += float(weights[j]) * (own & theirs).total()
            out[row, 1] += theirs.total()
    return out


def ngram_matches(overlap: Overlap, order: int, skip: int = -1, jobs: int = 1) -> NDArray[np.int64]:
    """Clipped n-gram matches of each pair of candidate and reference, int64[pairs, order].

    Column n - 1 is ``sum_u min(Count(u, c), Count(u, r))`` over the n-grams u. ``skip`` >= 0 goes with order 1, and
    adds the skip-bigrams to the words.
    """
    require(1 <= order <= 9, "expected an order from 1 to 9")
    require(skip < 0 or order == 1, "expected skip-bigrams beside an order of 1")
    rows = []
    for _, words, span in overlap.rows():
        own = [_units(words, n, skip) for n in range(1, order + 1)]
        for j in span:
            theirs = (_units(overlap.references[j], n, skip) for n in range(1, order + 1))
            rows.append([(a & b).total() for a, b in zip(own, theirs, strict=True)])
    return np.array(rows, dtype=np.int64).reshape(len(rows), order)


def lcs_lengths(overlap: Overlap, jobs: int = 1) -> NDArray[np.int64]:
    """Length of the longest common subsequence of each pair of candidate and reference, int64[pairs, 1]."""
    lengths = [lcs_table(words, overlap.references[j])[0][0] for _, words, span in overlap.rows() for j in span]
    return np.array(lengths, dtype=np.int64).reshape(len(lengths), 1)


def upward_cover(a: Sequence[int], b: Sequence[int]) -> set[int]:
    """Positions of ``a`` in an LCS with ``b``; of all LCSs the one that rouge-score takes.

    It walks back from the ends of both, and skips a word of ``b`` only where skipping one of ``a`` would lose a word.

    >>> sorted(upward_cover([1, 2, 1], [1])), sorted(upward_cover([1, 2], [2, 1]))
    ([2], [0])
    """
    before = lcs_table(a[::-1], b[::-1])  # before[len(a) - i][len(b) - j]: of the first i and the first j words
    covered: set[int] = set()
    i, j = len(a), len(b)
    while i and j:
        if a[i - 1] == b[j - 1]:
            covered.add(i - 1)
            i, j = i - 1, j - 1
        elif before[len(a) - i][len(b) - j + 1] > before[len(a) - i + 1][len(b) - j]:
            j -= 1
        else:
            i -= 1
    return covered


def union_lcs(
    overlap: Overlap,
    candidate_sentences: NDArray[np.int64],
    reference_sentences: NDArray[np.int64],
    jobs: int = 1,
) -> NDArray[np.int64]:
    """Words of each pair in the union of the LCSs of their sentences, int64[pairs, 1].

    A word of a reference counts if it is in the LCS of its sentence with some sentence of the candidate, each word at
    most as often as the candidate has it (Lin 2004, section 3.2, clipped as ROUGE 1.5.5 does).

    Args:
        overlap: Candidates and references.
        candidate_sentences: int64[s + 1], offsets of the sentences of all candidates; an end of a text is one too.
        reference_sentences: The same of all references.
        jobs: Not used here.
    """
    what = "expected offsets of the sentences of all texts"
    check_offsets(candidate_sentences, sum(map(len, overlap.candidates)), what)
    check_offsets(reference_sentences, sum(map(len, overlap.references)), what)
    theirs = _sentences(overlap.references, reference_sentences)
    sums = []
    for (_, words, span), own in zip(overlap.rows(), _sentences(overlap.candidates, candidate_sentences), strict=True):
        for j in span:
            union = Counter(
                sentence[i]
                for sentence in theirs[j]
                for i in set().union(*(upward_cover(sentence, other) for other in own))
            )
            sums.append((union & Counter(words)).total())
    return np.array(sums, dtype=np.int64).reshape(len(sums), 1)


def _sentences(texts: list[list[int]], offsets: NDArray[np.int64]) -> list[list[list[int]]]:
    """The sentences of each text."""
    cuts, begin, out = set(offsets.tolist()), 0, []
    for words in texts:
        inner = [0, *(i for i in range(1, len(words)) if begin + i in cuts), len(words)]
        out.append([words[a:b] for a, b in pairwise(inner)])
        begin += len(words)
    return out


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
        return np.array([[_norm(self.vector(words, n).values()) for n in orders] for words in texts]).reshape(
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


def _norm(values: Iterable[float]) -> float:
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
    overlap.check(weights)
    require(norms.shape == (len(weights), grams.order), "expected a norm of every reference in each order")
    out = np.zeros((len(overlap), grams.order))
    for row, words, span in overlap.rows():
        for n in range(1, grams.order + 1):
            own = grams.vector(words, n)
            own_norm = _norm(own.values())
            for j in span:
                reference = overlap.references[j]
                theirs = grams.vector(reference, n)
                dot = sum((min(v, theirs[g]) if sigma else v) * theirs[g] for g, v in own.items() if g in theirs)
                if dot:
                    if norms[j, n - 1] < 0.0:
                        norms[j, n - 1] = _norm(theirs.values())
                    gap = max(0, len(words) - 1) - max(0, len(reference) - 1)
                    nearness = math.exp(-(gap * gap) / (2 * sigma * sigma)) if sigma else 1.0
                    out[row, n - 1] += float(weights[j]) * (dot / (own_norm * float(norms[j, n - 1])) * nearness)
    return out[:, 0] if grams.order == 1 else out
