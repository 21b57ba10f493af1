"""The answers of a search, and one answer out of several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Likest", "merged"]


@dataclass(frozen=True, eq=False, slots=True)
class Likest:
    """The best documents of n queries.

    Args:
        documents: int32[n, k], best first, the lower number first where scores are equal; -1 where there are fewer.
        scores: float64[n, k], above 0; 0 where there are fewer.
    """

    documents: NDArray[np.int32]
    scores: NDArray[np.float64]


def merged(found: Sequence[Likest], firsts: Sequence[int], k: int) -> Likest:
    """The best of several answers to the same queries, over parts of the documents.

    Args:
        found: The answer of each part, which counts its documents from 0.
        firsts: The number of each part's first document.
        k: How many to keep.

    >>> one = Likest(np.array([[1, 0]], np.int32), np.array([[0.9, 0.5]]))
    >>> two = Likest(np.array([[0, -1]], np.int32), np.array([[0.7, 0.0]]))
    >>> merged([one, two], [0, 2], 2).documents.tolist()
    [[1, 2]]
    """
    documents = np.concatenate(
        [
            np.where(part.documents >= 0, part.documents + first, -1).astype(np.int32)
            for part, first in zip(found, firsts, strict=True)
        ],
        axis=1,
    )
    scores = np.concatenate([part.scores for part in found], axis=1)
    order = np.lexsort((documents, -scores))[:, :k]
    best = Likest(np.take_along_axis(documents, order, axis=1), np.take_along_axis(scores, order, axis=1))
    missing = k - order.shape[1]
    if missing <= 0:
        return best
    sides = (0, 0), (0, missing)
    return Likest(np.pad(best.documents, sides, constant_values=-1), np.pad(best.scores, sides))
