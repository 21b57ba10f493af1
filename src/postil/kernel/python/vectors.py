"""Greedy matches between texts whose units have vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from postil.kernel.python.checks import check_offsets, check_places, require

if TYPE_CHECKING:
    from numpy.typing import NDArray

    UnitTexts: TypeAlias = tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]]

__all__ = ["greedy_matches"]

SAME: Final = 1.0 - 2e-6
"""Least product of a vector of length 1 with itself, which rounding to single precision leaves."""


def greedy_matches(
    left: UnitTexts, right: UnitTexts, pairs: tuple[NDArray[np.int32], NDArray[np.int32]], jobs: int = 1
) -> NDArray[np.float64]:
    """Match each unit of a text with the most similar unit of another, in pairs of texts.

    With unit vectors x_i of the left text and y_j of the right one, ``P = sum_i a_i max_j x_i . y_j / sum_i a_i`` and
    ``R = sum_j r_j max_i x_i . y_j / sum_j r_j``; 0 where the weights of a side add up to 0 or a text is empty.
    A product of 1 up to rounding is 1, so that equal units match fully, and texts that do so are ties.

    Args:
        left: Texts as ``vectors float32[k, d]``, ``rows int32[u]`` (the vector of each unit), ``offsets int64[n + 1]``
            (text i has the units ``offsets[i]:offsets[i + 1]``) and ``weights float64[u]``.
        right: The same of other texts, with vectors of the same length.
        pairs: int32[p] and int32[p], the left and the right text of each pair.
        jobs: Threads, in the compiled kernel.

    Returns:
        float64[p, 2], P and R. The compiled kernel adds products in single precision, and so agrees to 2e-6; the
        bits of a pair depend neither on the other pairs nor on ``jobs``.
    """
    del jobs
    lefts, rights = pairs
    require(left[0].shape[1] == right[0].shape[1], "expected vectors of the same length on both sides")
    require(len(lefts) == len(rights), "expected pairs of texts")
    for (vectors, rows, offsets, weights), texts in ((left, lefts), (right, rights)):
        what = "expected a row and a weight of each unit, and offsets of the units of texts"
        require(len(rows) == len(weights), what)
        check_offsets(offsets, len(rows), what)
        check_places(rows, len(vectors), what)
        check_places(texts, len(offsets) - 1, "expected pairs of texts")
    out = np.zeros((len(lefts), 2))
    for pair, (i, j) in enumerate(zip(lefts.tolist(), rights.tolist(), strict=True)):
        own, own_weights = _text(left, i)
        theirs, their_weights = _text(right, j)
        if len(own) and len(theirs):
            products = own @ theirs.T
            out[pair] = _mean(products.max(axis=1), own_weights), _mean(products.max(axis=0), their_weights)
    return out


def _text(texts: UnitTexts, text: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Vectors and weights of the units of a text."""
    vectors, rows, offsets, weights = texts
    inside = slice(offsets[text], offsets[text + 1])
    return vectors[rows[inside]].astype(np.float64), weights[inside]


def _mean(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    total = float(weights.sum())
    return float((weights * np.where(values >= SAME, 1.0, values)).sum()) / total if total > 0 else 0.0
