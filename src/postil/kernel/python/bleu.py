"""BLEU's statistics and its score from them."""

from __future__ import annotations

import math
import sys
from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.kernel.python.overlap import Overlap, closest_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["bleu_score", "bleu_stats", "ngrams"]

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
    del jobs
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
