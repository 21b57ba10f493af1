"""Top-k search results, and merging those of shards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["TopK", "merge"]


@dataclass(frozen=True, eq=False, slots=True)
class TopK:
    """The k best documents of n queries.

    Args:
        documents: int32[n, k], descending score, then ascending number; -1 where there are fewer.
        scores: float64[n, k], above 0; 0 where there are fewer.
    """

    documents: NDArray[np.int32]
    scores: NDArray[np.float64]


def merge(parts: Sequence[TopK], firsts: Sequence[int], k: int) -> TopK:
    """Merge the results of the same queries over disjoint parts of the documents.

    Args:
        parts: The result of each part, which numbers its documents from 0.
        firsts: The number of each part's first document.
        k: Number of documents per query.

    >>> one = TopK(np.array([[1, 0]], np.int32), np.array([[0.9, 0.5]]))
    >>> two = TopK(np.array([[0, -1]], np.int32), np.array([[0.7, 0.0]]))
    >>> merge([one, two], [0, 2], 2).documents.tolist()
    [[1, 2]]
    """
    if len(parts) == 1 and not firsts[0] and parts[0].documents.shape[1] == k:
        return parts[0]
    documents = np.concatenate(
        [
            np.where(part.documents >= 0, part.documents + first, -1).astype(np.int32)
            for part, first in zip(parts, firsts, strict=True)
        ],
        axis=1,
    )
    scores = np.concatenate([part.scores for part in parts], axis=1)
    order = np.lexsort((documents, -scores))[:, :k]
    best = TopK(np.take_along_axis(documents, order, axis=1), np.take_along_axis(scores, order, axis=1))
    missing = k - order.shape[1]
    if missing <= 0:
        return best
    sides = (0, 0), (0, missing)
    return TopK(np.pad(best.documents, sides, constant_values=-1), np.pad(best.scores, sides))
