"""The definition of sums of regression trees."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from postil.kernel.python.checks import check_offsets, require

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["tree_sums"]

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
