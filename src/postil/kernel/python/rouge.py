"""ROUGE-L from longest common subsequences, and ROUGE over n-grams and skip-bigrams."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from postil.kernel.python.bleu import ngrams
from postil.kernel.python.checks import check_offsets, require
from postil.kernel.python.overlap import Overlap, closest_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = [
    "lcs_lengths",
    "lcs_table",
    "leftmost_cover",
    "ngram_matches",
    "rouge_l",
    "rouge_n",
    "skip_bigrams",
    "union_lcs",
    "upward_cover",
]


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
    del jobs
    overlap.check(weights)
    out = np.zeros(len(overlap))
    for row, words, span in overlap.rows():
        references = [overlap.references[j] for j in span]
        s = [float(weights[j]) for j in span]
        precision_recall = _united if united else _best_of_each
        precision, recall = precision_recall(words, references, s)
        if precision > 0.0 and recall > 0.0:
            out[row] = (1.0 + beta_squared) * precision * recall / (recall + beta_squared * precision)
    return out


def _best_of_each(words: list[int], references: list[list[int]], s: list[float]) -> tuple[float, float]:
    precision = recall = 0.0
    for reference, weight in zip(references, s, strict=True):
        common = lcs_table(words, reference)[0][0]
        if common:
            precision = max(precision, weight * (common / len(words)))
            recall = max(recall, weight * (common / len(reference)))
    return precision, recall


def _united(words: list[int], references: list[list[int]], s: list[float]) -> tuple[float, float]:
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
    del jobs
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
    del jobs
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
    del jobs
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
    del jobs
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
