"""ROUGE-L from longest common subsequences, and ROUGE over n-grams and skip-bigrams."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from postil.kernel.python.bleu import ngrams
from postil.kernel.python.overlap import Overlap, closest_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["lcs_lengths", "leftmost_cover", "rouge_l", "rouge_n", "skip_bigrams"]


def lcs_lengths(a: Sequence[int], b: Sequence[int]) -> list[list[int]]:
    """``table[i][j]``: length of the longest common subsequence of ``a[i:]`` and ``b[j:]``.

    >>> lcs_lengths([1, 2, 3], [2, 1, 3])[0][0]
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
    left = lcs_lengths(a, b)
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
        common = lcs_lengths(words, reference)[0][0]
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


def rouge_n(
    overlap: Overlap, weights: NDArray[np.float64], order: int, skip: int = -1, jobs: int = 1
) -> NDArray[np.float64]:
    """Weighted matches and units of all references, float64[n, 2].

    Units are n-grams of ``order``, and with ``skip`` >= 0 also skip-bigrams. Reference j gives
    ``s_j sum_u min(Count(u, c), Count(u, r_j))`` matches.
    """
    del jobs
    overlap.check(weights)

    def units(words: list[int]) -> Counter[tuple[int, ...]]:
        return Counter(ngrams(words, order) + (skip_bigrams(words, skip) if skip >= 0 else []))

    out = np.zeros((len(overlap), 2))
    for row, words, span in overlap.rows():
        own = units(words)
        for j in span:
            theirs = units(overlap.references[j])
            out[row, 0] += float(weights[j]) * (own & theirs).total()
            out[row, 1] += theirs.total()
    return out
