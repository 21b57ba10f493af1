"""Rank correlations of many resamples, without sorting again for each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["rank_correlations"]

_MOST_ROWS: Final = 2**21


def rank_correlations(  # noqa: PLR0917 - the compiled kernel's order
    x: NDArray[np.int32],
    y: NDArray[np.int32],
    cluster: NDArray[np.int32],
    counts: NDArray[np.int32],
    kind: str,
    jobs: int = 1,
) -> NDArray[np.float64]:
    """Correlations of m columns with one, in R resamples of C clusters of rows.

    A row counts as many equal rows as its cluster was drawn. Every sum is an integer, and exact.

    Args:
        x: int32[n, m], ranks from 0 to n - 1 that rise with what is ranked; equal values have equal ranks.
        y: int32[n], the same of the other side.
        cluster: int32[n], from 0 to C - 1.
        counts: int32[R, C], how often each cluster was drawn; fewer than 2**21 rows in each resample.
        kind: ``spearman``, ``kendall-b`` or ``kendall-c``.
        jobs: Threads, in the compiled kernel.

    Returns:
        float64[R, m], in [-1, 1]; NaN where x or y is constant.
    """
    del jobs
    n, m = x.shape
    if len(y) != n or len(cluster) != n:
        raise ValueError("expected as many y and clusters as rows of x")
    if kind not in {"spearman", "kendall-b", "kendall-c"}:
        raise ValueError("expected spearman, kendall-b or kendall-c")
    if n and m and not (min(x.min(), y.min()) >= 0 and max(x.max(), y.max()) < n):
        raise ValueError("expected ranks from 0 to n - 1")
    if n and not (cluster.min() >= 0 and cluster.max() < counts.shape[1]):
        raise ValueError("expected a count for every cluster")
    if counts.min(initial=0) < 0:
        raise ValueError("expected counts from 0 up")
    out = np.full((len(counts), m), np.nan)
    for resample, count in enumerate(counts.astype(np.int64)):
        weights = count[cluster]
        if weights.sum() >= _MOST_ROWS:
            raise ValueError("expected fewer than 2,097,152 rows in a resample")
        of_y = _Side(y, weights)
        for column in range(m):
            of_x = _Side(x[:, column], weights)
            if of_x.groups > 1 and of_y.groups > 1:
                out[resample, column] = _COEFFICIENTS[kind](of_x, of_y)
    return out


class _Side:
    """One variable of a resample: the ranks of n rows and their weights; a rank may have weight 0."""

    def __init__(self, ranks: NDArray[np.int32], weights: NDArray[np.int64]) -> None:
        self.ranks, self.weights = ranks, weights
        tied = np.bincount(ranks, weights).astype(np.int64)
        self.total = int(tied.sum())
        self.groups = int(np.count_nonzero(tied))
        # Twice the distance of the average rank of each group from the middle, (N + 1) / 2.
        self.distances: NDArray[np.int64] = 2 * (np.cumsum(tied) - tied) + tied - self.total
        self.squares = int((tied * self.distances**2).sum())
        self.untied_pairs = (self.total**2 - int((tied**2).sum())) // 2


def _spearman(x: _Side, y: _Side) -> float:
    """Pearson's coefficient of the average ranks (Spearman 1904)."""
    products = int((x.weights * x.distances[x.ranks] * y.distances[y.ranks]).sum())
    return products / math.sqrt(float(x.squares) * float(y.squares))


def _concordant_less_discordant(x: _Side, y: _Side) -> int:
    """Concordant minus discordant pairs: each row against those of smaller y."""
    out = 0
    seen = np.zeros(len(x.distances), np.int64)
    order = np.argsort(y.ranks, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(y.ranks[order])) + 1):
        here = np.bincount(x.ranks[rows], x.weights[rows], len(seen)).astype(np.int64)
        up_to = np.cumsum(seen)
        out += int((here * (up_to - seen - (up_to[-1] - up_to))).sum())
        seen += here
    return out


def _kendall_b(x: _Side, y: _Side) -> float:
    """Tau-b: divided by the geometric mean of the numbers of untied pairs of each variable (Kendall 1945)."""
    return _concordant_less_discordant(x, y) / math.sqrt(float(x.untied_pairs) * float(y.untied_pairs))


def _kendall_c(x: _Side, y: _Side) -> float:
    """Tau-c: divided by the maximum that a table of k by k groups allows (Stuart 1953)."""
    k = min(x.groups, y.groups)
    return 2 * _concordant_less_discordant(x, y) / (x.total**2 * (k - 1) / k)


_COEFFICIENTS: Final = {"spearman": _spearman, "kendall-b": _kendall_b, "kendall-c": _kendall_c}
