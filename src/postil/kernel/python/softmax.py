"""Log-sum-exp and top-k of logits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["highest", "log_sums"]


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
    if not 1 <= k <= scores.shape[1]:
        raise ValueError("expected k from 1 to the number of columns")
    columns = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return columns, np.take_along_axis(scores, columns, axis=1)
