"""Loops of models: greedy matches of vectors, log-sum-exp and top-k of logits, sums of regression trees."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from postil.kernel.python.checks import check_offsets, check_places, require

if TYPE_CHECKING:
    from numpy.typing import NDArray

    UnitTexts: TypeAlias = tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]]

__all__ = ["greedy_matches", "highest", "log_sums", "tree_sums"]

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


def log_sums(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Log-sum-exp of each row of logits.

    Args:
        scores: float32[n, m], -inf for what may not come.

    Returns:
        float32[n], right to a millionth; -inf where all scores of a row are.

    >>> log_sums(np.zeros((1, 4), np.float32)).tolist() == [np.log(np.float32(4))]
    True
    """
    top = scores.max(axis=1, initial=-np.inf)  # [n]
    shift = np.where(np.isneginf(top), 0, top)
    with np.errstate(divide="ignore"):
        sums: NDArray[np.float32] = np.log(np.exp(scores - shift[:, None]).sum(axis=1, dtype=np.float64))
    return (sums + shift).astype(np.float32)


def highest(scores: NDArray[np.float32], k: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The k highest logits of each row, in descending order; ties by ascending column.

    Args:
        scores: float32[n, m].
        k: Number of logits, from 1 to m.

    Returns:
        Columns int64[n, k] and scores float32[n, k].

    >>> highest(np.array([[1, 3, 2, 3]], np.float32), 2)[0].tolist()
    [[1, 3]]
    """
    require(1 <= k <= scores.shape[1], "expected k from 1 to the number of columns")
    columns = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return columns, np.take_along_axis(scores, columns, axis=1)


MOST_LEAVES: Final = 64


def tree_sums(
    scores: NDArray[np.float64], nodes: tuple[NDArray[Any], ...], starts: NDArray[np.int64], first: float
) -> NDArray[np.float64]:
    """Add up the leaves of each row, tree by tree.

    Args:
        scores: float64[n, m].
        nodes: The nodes of all trees, which have at most 64 leaves, root first: int32 column that a node compares, -1
            for a leaf; float64 threshold, at most which a row goes left; int32 node of the tree on the left, and on the
            right, each after this one; float64 value of a leaf.
        starts: int64[trees + 1], where the nodes of each tree begin.
        first: Initial value of the sums.

    Returns:
        float64[n].
    """
    feature, threshold, left, right, value = nodes
    require(len({len(each) for each in nodes}) == 1, "expected the same number of values for each node")
    check_offsets(starts, len(feature), "expected where the nodes of each tree begin")
    require((np.diff(starts) > 0).all(), "expected a node of each tree")
    own = np.arange(len(feature)) - np.repeat(starts[:-1], np.diff(starts))
    size = np.repeat(np.diff(starts), np.diff(starts))
    inner = (feature >= 0) & (feature < scores.shape[1])
    inner &= (own < np.minimum(left, right)) & (np.maximum(left, right) < size)
    require((inner | (feature == -1)).all(), "expected columns of scores, and nodes before those below them")
    trees = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    require((np.bincount(trees, feature == -1) <= MOST_LEAVES).all(), "expected trees of at most 64 leaves")
    out = np.full(len(scores), float(first))
    for begin, _ in pairwise(starts.tolist()):
        node, rows = np.full(len(scores), begin), np.arange(len(scores))
        while len(rows):
            rows = rows[feature[node[rows]] >= 0]
            here = node[rows]
            below = np.where(scores[rows, feature[here]] <= threshold[here], left[here], right[here])
            node[rows] = begin + below
        out += value[node]
    return out
