"""Rankings of a thread's own comments against their votes: nDCG, rank correlations, share of pairs in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from postil.data.ties import dense_ranks
from postil.meta.column_correlations import rank_coefficient

if TYPE_CHECKING:
    from postil.kernel.arrays import Floats, Int32s, Int64s


__all__ = ["MEASURES", "centered_ranks", "thread_measures", "vote_gains"]

CUTOFFS: Final = (1, 5)
MEASURES: Final = (*(f"ndcg@{k}" for k in CUTOFFS), "spearman", "kendall-b", "pairs")
"""Names of the measures of `thread_measures`, in order; higher is better."""


def vote_gains(votes: Floats) -> Floats:
    """Gains of nDCG: ``log(1 + max(votes, 0))``.

    Args:
        votes: float64[n], upvotes; some may be below 0.

    >>> vote_gains(np.array([-3.0, 0.0, 1.0])).round(3).tolist()
    [0.0, 0.0, 0.693]
    """
    return np.log1p(np.maximum(votes, 0.0))


def thread_measures(scores: Floats, votes: Floats, starts: Int64s) -> Floats:
    """Compare rankings of each thread's comments with their votes.

    - ``ndcg@k``: sum of ``gain / log2(1 + rank)`` over the first k ranks, over the highest possible sum (Järvelin and
      Kekäläinen 2002); gains as in `vote_gains`, their mean over all orders of tied scores.
    - ``spearman`` and ``kendall-b``: rank correlation within the thread; 0 where all scores of the thread are tied.
    - ``pairs``: share of the pairs with different votes that the scores put in order; tied scores count half.

    Args:
        scores: float64[n, M], higher is better.
        votes: float64[n]; each thread has two different ones, and one above 0.
        starts: int64[A], first comment of each thread.

    Returns:
        float64[A, M, 5], by the names of `MEASURES`. A constant scorer has the expected values of a random order.

    >>> scores = np.array([[3.0, 1.0], [2.0, 1.0], [1.0, 1.0]])
    >>> thread_measures(scores, np.array([7.0, 0.0, 1.0]), np.array([0])).round(3).tolist()
    [[[1.0, 0.964, 0.5, 0.333, 0.667], [0.444, 0.783, 0.0, 0.0, 0.5]]]
    """
    gains = vote_gains(votes)
    ideal = np.stack([_discounted(gains, gains, starts, k) for k in CUTOFFS], axis=-1)  # [A, cutoffs]
    reached = np.stack(
        [np.stack([_discounted(column, gains, starts, k) for k in CUTOFFS], axis=-1) for column in scores.T], axis=1
    )
    spearman, kendall = (
        np.nan_to_num(rank_coefficient(name, scores, votes, starts)) for name in ("spearman", "kendall-b")
    )  # NaN: all scores are tied, since votes are not
    # tau-b = (C - D) / sqrt(untied x * untied y), so the share of pairs in order is ((C - D) / untied y + 1) / 2.
    untied = _untied_pairs(np.column_stack([scores, votes]), starts)
    pairs = (kendall * np.sqrt(untied[:, :-1] / untied[:, -1:]) + 1) / 2
    return np.concatenate([reached / ideal[:, None], np.stack([spearman, kendall, pairs], axis=-1)], axis=-1)


def centered_ranks(values: Floats, starts: Int64s) -> Floats:
    """Average ranks within each thread, as shares of it, with mean 0.

    Args:
        values: float64[n, M].
        starts: int64[A], first row of each thread.

    Returns:
        float64[n, M] between -1/2 and 1/2, ascending with the values.

    >>> centered_ranks(np.array([[5.0], [1.0], [1.0], [9.0]]), np.array([0, 3])).round(3).tolist()
    [[0.333], [-0.167], [-0.167], [0.0]]
    """
    sizes = np.diff([*starts, len(values)])
    thread, size = np.repeat(np.arange(len(starts)), sizes), np.repeat(sizes, sizes)
    out = np.empty(values.shape)
    for column, ranks in enumerate(dense_ranks(values, starts).T):
        order = np.lexsort((ranks, thread))
        tie = _ties(ranks[order], thread[order])
        place = np.arange(len(values)) - np.repeat(starts, sizes)
        out[order, column] = (_mean_by(tie, place.astype(np.float64)) - (size - 1) / 2) / size
    return out


def _discounted(scores: Floats, gains: Floats, starts: Int64s, k: int) -> Floats:
    """Expected discounted cumulative gain of each thread at rank cutoff k, float64[A]."""
    sizes = np.diff([*starts, len(scores)])
    thread = np.repeat(np.arange(len(starts)), sizes)
    ranks = dense_ranks(scores[:, None], starts)[:, 0]
    order = np.lexsort((-ranks, thread))
    expected = _mean_by(_ties(ranks[order], thread[order]), gains[order])
    place = np.arange(len(scores)) - np.repeat(starts, sizes)
    return np.asarray(np.add.reduceat(np.where(place < k, expected / np.log2(place + 2), 0.0), starts))


def _ties(ranks: Int32s, thread: Int64s) -> Int64s:
    """Number of the tie of each row, int64[n]; rows are sorted by thread and rank."""
    new = np.concatenate([[False], (np.diff(ranks) != 0) | (np.diff(thread) != 0)])
    return np.cumsum(new)


def _mean_by(group: Int64s, values: Floats) -> Floats:
    """Mean of each row's group, float64[n]."""
    return np.asarray((np.bincount(group, values) / np.bincount(group))[group])


def _untied_pairs(columns: Floats, starts: Int64s) -> Floats:
    """Number of pairs of each thread that are not tied, float64[A, M]."""
    sizes = np.diff([*starts, len(columns)])
    thread = np.repeat(np.arange(len(starts)), sizes)
    out = np.empty((len(starts), columns.shape[1]))
    for column, ranks in enumerate(dense_ranks(columns, starts).T):
        _, first, tied = np.unique(thread * len(columns) + ranks, return_index=True, return_counts=True)
        out[:, column] = (sizes**2 - np.bincount(thread[first], tied.astype(np.float64) ** 2)) / 2
    return out
