"""Counts of meta-evaluation: rank correlations and pairwise accuracy of resamples, sign patterns of permutations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from postil.kernel.python.checks import check_places, require

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["both_right", "calibrate", "order_counts", "rank_correlations", "right_pairs"]

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
    n, m = x.shape
    require(len(y) == len(cluster) == n, "expected as many y and clusters as rows of x")
    require(kind in _COEFFICIENTS, "expected spearman, kendall-b or kendall-c")
    require(not x.size or (min(x.min(), y.min()) >= 0 and max(x.max(), y.max()) < n), "expected ranks from 0 to n - 1")
    check_places(cluster, counts.shape[1], "expected a count for every cluster")
    require(counts.min(initial=0) >= 0, "expected counts from 0 up")
    out = np.full((len(counts), m), np.nan)
    for resample, count in enumerate(counts.astype(np.int64)):
        weights = count[cluster]
        require(weights.sum() < _MOST_ROWS, "expected fewer than 2,097,152 rows in a resample")
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


_TOLERANCE: Final = 1e-12


def calibrate(  # noqa: PLR0917 - the compiled kernel's order
    scores: NDArray[np.float64],
    sizes: NDArray[np.float64],
    ranks: NDArray[np.int32],
    starts: NDArray[np.int64],
    weights: NDArray[np.int64],
    fixed: NDArray[np.int64],
    slack: int = 0,
    jobs: int = 1,
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Best thresholds below which a difference of scores is a tie, for M metrics and D orders of the grades.

    Thresholds are 0 and the largest difference of each chain of equal ones: neighbors, sorted, that differ by at most
    1e-12 of the largest size.

    Args:
        scores: float64[n, M]; ties are equal numbers.
        sizes: float64[n, M], magnitudes of what the scores were computed from.
        ranks: int32[n, D], ranks of the grades within the groups.
        starts: int64[k], first row of each group.
        weights: int64[k], weight of a pair of each group; all pairs together weigh at most 2**62.
        fixed: int64[k], gain of each tie of a metric whatever the grades; or empty.
        slack: Weight by which the sum at the threshold may be below the highest.
        jobs: Number of threads, in the compiled kernel.

    Returns:
        float64[M], the smallest best threshold in the first order; int64[M], the weight of the pairs that are right in
        it at threshold 0; int64[M, D], the highest such weight at any threshold, and one column more, the highest sum
        of gains, where there is ``fixed``.
    """
    _check(scores, starts, len(sizes), len(ranks))
    require(ranks.shape[1] >= 1, "expected ranks of grades")
    require(len(weights) == len(starts), "expected a weight for each group")
    require(len(fixed) in {0, len(starts)}, "expected a gain for each group")
    metrics, orders = scores.shape[1], ranks.shape[1]
    epsilons, plain = np.zeros(metrics), np.zeros(metrics, np.int64)
    best = np.zeros((metrics, orders + (len(fixed) > 0)), np.int64)
    for metric in range(metrics):
        pairs = _Pairs.of(scores[:, metric], starts)
        ascending, ends = _thresholds(pairs.difference, np.maximum(*sizes[[pairs.high, pairs.low], metric]))
        ties = pairs.difference == 0
        for order in range(best.shape[1]):
            high, low = (ranks[rows, min(order, orders - 1)] for rows in (pairs.high, pairs.low))
            weight = weights[pairs.group]
            # Each pair's weight where the metric orders it, and where it ties it.
            ordered, tied = (high > low) * weight, (high == low) * weight
            if order == orders:
                ordered, tied = np.zeros(len(weight), np.int64), fixed[pairs.group]
            zero = int(np.where(ties, tied, ordered).sum())
            sums = zero + np.cumsum(np.where(ties, 0, tied - ordered)[ascending])[ends]
            best[metric, order] = sums.max(initial=zero)
            if order == 0:
                plain[metric] = zero
                enough = np.flatnonzero(sums >= best[metric, 0] - slack)
                epsilons[metric] = (
                    0.0 if zero >= best[metric, 0] - slack else pairs.difference[ascending][ends][enough[0]]
                )
    return epsilons, plain, best


def right_pairs(  # noqa: PLR0917
    scores: NDArray[np.float64],
    ranks: NDArray[np.int32],
    starts: NDArray[np.int64],
    cluster: NDArray[np.int32],
    counts: NDArray[np.int32],
    epsilons: NDArray[np.float64],
    jobs: int = 1,
) -> NDArray[np.int64]:
    """Numbers of pairs of rows that are right, in R resamples of C clusters of rows.

    A pair is right if people tie and the metric does, or both order it the same way; the metric ties where scores
    differ by epsilon or less. A row counts as many equal rows as its cluster was drawn, which are no pairs with one
    another.

    Args:
        scores: float64[n, M].
        ranks: int32[n], ranks of the grades within the groups, from 0 to n - 1.
        starts: int64[k], first row of each group.
        cluster: int32[n], from 0 to C - 1.
        counts: int32[R, C], resample multiplicities.
        epsilons: float64[M], threshold of each metric.
        jobs: Number of threads, in the compiled kernel.

    Returns:
        int64[R, k, M].
    """
    _check(scores, starts, len(ranks), len(cluster))
    require(len(epsilons) == scores.shape[1], "expected an epsilon for every column")
    check_places(ranks, len(ranks), "expected ranks from 0 to n - 1")
    check_places(cluster, counts.shape[1], "expected a count for every cluster")
    out = np.zeros((len(counts), len(starts), scores.shape[1]), np.int64)
    weights = counts.astype(np.int64)[:, cluster]
    for group, begin, end in _groups(starts, len(ranks)):
        first, second = np.add(np.triu_indices(end - begin, 1), begin)
        weight = weights[:, first] * weights[:, second]
        for metric in range(scores.shape[1]):
            right = _right(scores[:, metric], ranks, first, second, epsilons[metric])
            out[:, group, metric] = weight @ right.astype(np.int64)
    return out


def both_right(  # noqa: PLR0917
    scores: NDArray[np.float64],
    ranks: NDArray[np.int32],
    starts: NDArray[np.int64],
    kind: NDArray[np.int32],
    kinds: int,
    epsilons: NDArray[np.float64],
    jobs: int = 1,
) -> NDArray[np.int64]:
    """Numbers of pairs of rows that two metrics both have right, each at its own threshold.

    Args:
        scores: float64[n, M].
        ranks: int32[n], ranks of the grades within the groups.
        starts: int64[k], first row of each group.
        kind: int32[k], kind of each group, from 0 to ``kinds`` - 1.
        kinds: Number of kinds.
        epsilons: float64[M], threshold of each metric.
        jobs: Number of threads, in the compiled kernel.

    Returns:
        int64[kinds, M, M], the pairs in groups of each kind; on the diagonal those that a metric has right.
    """
    _check(scores, starts, len(ranks))
    require(len(epsilons) == scores.shape[1], "expected an epsilon for every column")
    require(len(kind) == len(starts), "expected a kind for every group")
    check_places(kind, kinds, "expected a kind for every group")
    out = np.zeros((kinds, scores.shape[1], scores.shape[1]), np.int64)
    for group, begin, end in _groups(starts, len(ranks)):
        first, second = np.add(np.triu_indices(end - begin, 1), begin)
        right = np.array(
            [_right(column, ranks, first, second, at) for column, at in zip(scores.T, epsilons, strict=True)], np.int64
        ).reshape(len(epsilons), -1)
        out[kind[group]] += right @ right.T
    return out


class _Pairs(NamedTuple):
    """The pairs of rows of one metric: the row with the higher score, the other, their difference and their group."""

    high: NDArray[np.int64]
    low: NDArray[np.int64]
    difference: NDArray[np.float64]
    group: NDArray[np.int64]

    @classmethod
    def of(cls, scores: NDArray[np.float64], starts: NDArray[np.int64]) -> _Pairs:
        rows = [np.zeros((3, 0), np.int64)]
        for group, begin, end in _groups(starts, len(scores)):
            first, second = np.add(np.triu_indices(end - begin, 1), begin)
            high, low = np.where(scores[first] > scores[second], (first, second), (second, first))
            rows.append(np.array([high, low, np.full(len(high), group)]))
        high, low, of_group = np.hstack(rows)
        return cls(high, low, scores[high] - scores[low], of_group)


def _thresholds(
    difference: NDArray[np.float64], size: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Order of the differences, and the positions in it where a chain of equal ones above 0 ends."""
    order = np.argsort(difference, kind="stable")
    values, same = np.unique(difference, return_inverse=True)
    largest = np.zeros(len(values))
    np.maximum.at(largest, same, size)
    ends = np.diff(values, append=np.inf) > _TOLERANCE * np.maximum(largest, np.append(largest[1:], 0.0))
    last = np.cumsum(np.bincount(same, minlength=len(values))) - 1
    return order, last[ends & (values > 0)]


def _right(
    scores: NDArray[np.float64],
    ranks: NDArray[np.int32],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    epsilon: float,
) -> NDArray[np.bool_]:
    difference = scores[first] - scores[second]
    says = np.where(np.abs(difference) <= epsilon, 0.0, np.sign(difference))
    return np.asarray(says == np.sign(ranks[first] - ranks[second]))


def _groups(starts: NDArray[np.int64], n: int) -> Iterator[tuple[int, int, int]]:
    yield from zip(range(len(starts)), starts.tolist(), [*starts[1:].tolist(), n], strict=False)


def _check(scores: NDArray[np.float64], starts: NDArray[np.int64], *rows: int) -> None:
    require(all(each == len(scores) for each in rows), "expected as many ranks and clusters as rows of scores")
    require(np.isfinite(scores).all(), "expected finite scores")
    ends = np.append(starts, len(scores))
    require(ends[0] == 0 and (np.diff(ends) >= 1).all(), "expected groups that cover the rows, with ascending starts")


def order_counts(  # noqa: PLR0917 - the compiled kernel's order
    own: NDArray[np.float64],
    other: NDArray[np.float64],
    together: NDArray[np.int32],
    pairs: NDArray[np.int32],
    slack: NDArray[np.float64],
    jobs: int = 1,
) -> NDArray[np.int64]:
    """Count the patterns k in which one column is not above another, and in which it is not below it.

    With ``d = (own[m, a, k] - own[m, b, k]) + (other[l, a, k] - other[l, b, k])`` these are the patterns with ``d <=
    slack``, and those with ``d >= -slack``.

    Args:
        own: float64[M, C, K], C columns of sums.
        other: float64[L, C, K], sums that are added.
        together: int32[Q, 2], m and l.
        pairs: int32[P, 2], a and b.
        slack: float64[Q, P], largest difference that counts as none.
        jobs: Threads, in the compiled kernel.

    Returns:
        int64[Q, P, 2].
    """
    require(own.shape[1:] == other.shape[1:], "expected the same columns and patterns on both sides")
    require(slack.shape == (len(together), len(pairs)), "expected a slack for each pair")
    for places, end in ((together[:, 0], len(own)), (together[:, 1], len(other)), (pairs, own.shape[1])):
        check_places(places, end, "expected sums of each pair")
    out = np.empty((len(together), len(pairs), 2), np.int64)
    for p, (a, b) in enumerate(pairs):
        of_own, of_other = own[:, a] - own[:, b], other[:, a] - other[:, b]
        for q, (m, added) in enumerate(together):
            apart = of_own[m] + of_other[added]
            out[q, p] = (apart <= slack[q, p]).sum(), (apart >= -slack[q, p]).sum()
    return out
