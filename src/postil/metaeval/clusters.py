"""Significance clusters: metrics in the order of their correlations, ranked by tests of their differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from postil.records.results import Difference

__all__ = ["significance_clusters"]

LEVEL: Final = 0.05
"""Level of the one-sided tests, whose p is half of the two-sided one."""


def significance_clusters(values: Mapping[str, float], differences: Iterable[Difference]) -> dict[str, int]:
    """Rank metrics as WMT's metrics task does.

    Metrics are taken by falling correlation. A metric opens a new cluster if a better one of the current cluster is
    significantly better: one-sided p <= .05, not adjusted for the number of pairs. So rank 1 has the metrics that no
    metric of rank 1 significantly beats. The test is the paired permutation test, for Kendall's coefficients the
    bootstrap; see `postil.metaeval.significance.differences`.

    Args:
        values: Correlation of each metric.
        differences: Differences between these metrics in one coefficient at one level.

    Returns:
        Rank of each metric from 1, in the order of their correlations.

    >>> from postil.records.results import Difference
    >>> def row(first, second, p):
    ...     return Difference(
    ...         first=first, second=second, coefficient="pearson", by="pool", value=0.1, low=0.0, high=0.2, n=9,
    ...         p_bootstrap=p, p=p,
    ...     )
    >>> tests = [row("a", "b", 0.3), row("b", "c", 0.2), row("a", "c", 0.02)]
    >>> significance_clusters({"c": 0.5, "a": 0.8, "b": 0.7}, tests)
    {'a': 1, 'b': 1, 'c': 2}
    """
    p = {frozenset((row.first, row.second)): row.p_bootstrap if row.p is None else row.p for row in differences}
    ranks: dict[str, int] = {}
    cluster: list[str] = []
    rank = 1
    for metric in sorted(values, key=lambda name: -values[name]):
        tests = [p.get(frozenset((better, metric))) for better in cluster]
        if any(each is not None and each / 2 <= LEVEL for each in tests):
            rank, cluster = rank + 1, []
        cluster.append(metric)
        ranks[metric] = rank
    return ranks
