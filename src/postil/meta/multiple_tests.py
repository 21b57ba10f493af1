"""Many tests at once: adjusted p-values, and groups of systems that cannot be told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike

    from postil.kernel.arrays import Booleans, Floats
    from postil.meta.parts import Difference

__all__ = ["MOST_SETS", "Q", "benjamini_yekutieli", "compact_letters", "holm", "rank_ranges", "significance_clusters"]

LEVEL: Final = 0.05
"""Level of the one-sided tests, whose p is half of the two-sided one."""

Q: Final = 0.05
"""False discovery rate over the annotators."""

LETTERS: Final = 26
MOST_SETS: Final = 700
"""Largest number of sets that get letters; their number may double with every significant pair."""


def holm(p: ArrayLike) -> Floats:
    """Adjust p-values for their number by Holm's step-down procedure (1979).

    The i-th smallest of m is multiplied by ``m - i + 1``; none may be below a smaller one's, nor above 1.

    Args:
        p: float64[m].

    Returns:
        float64[m], in the order of p. Rejecting those at most alpha keeps the family-wise error rate at most alpha.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p, np.float64)
    order = np.argsort(values, kind="stable")
    adjusted = np.empty_like(values)
    steps = values[order] * np.arange(len(values), 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted


def benjamini_yekutieli(p: Floats, q: float = Q) -> Booleans:
    """Reject hypotheses at a false discovery rate, whatever their dependence (Benjamini and Yekutieli 2001).

    With m hypotheses and H = 1 + 1/2 + … + 1/m, the k smallest p-values are rejected, k the last with
    ``p_(k) <= k q / (m H)``.

    Args:
        p: float64[m].
        q: False discovery rate.

    Returns:
        bool[m].

    >>> benjamini_yekutieli(np.array([0.2, 0.001, 0.02, 0.03])).tolist()
    [False, True, False, False]
    >>> benjamini_yekutieli(np.array([0.004, 0.015, 0.02])).tolist()
    [True, True, True]
    """
    places = np.arange(1, len(p) + 1)
    order = np.argsort(p, kind="stable")
    below = np.flatnonzero(p[order] <= places * q / (len(p) * (1 / places).sum()))
    rejected = np.zeros(len(p), bool)
    rejected[order[: below[-1] + 1 if len(below) else 0]] = True
    return rejected


def significance_clusters(values: Mapping[str, float], differences: Iterable[Difference]) -> dict[str, int]:
    """Rank metrics as WMT's metrics task does.

    Metrics are taken by falling correlation. A metric opens a new cluster if a better one of the current cluster is
    significantly better: one-sided p <= .05, not adjusted for the number of pairs. So rank 1 has the metrics that no
    metric of rank 1 significantly beats. The test is the paired permutation test, for Kendall's coefficients the
    bootstrap; see `postil.meta.correlation.differences`.

    Args:
        values: Correlation of each metric.
        differences: Differences between these metrics in one coefficient at one level.

    Returns:
        Rank of each metric from 1, in the order of their correlations.

    >>> from postil.meta.parts import Difference
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


def rank_ranges(significant: Booleans) -> list[tuple[int, int]]:
    """Best and worst rank of each system that the significant differences leave.

    From one plus the number of systems significantly above it, to all but those significantly below it. With
    Holm-adjusted tests all ranges hold at once with probability .95 (Mogstad, Romano, Shaikh and Wilhelm 2024).

    Args:
        significant: bool[S, S], symmetric, True where two systems differ significantly; the best system first.

    >>> rank_ranges(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], bool))
    [(1, 2), (1, 3), (2, 3)]
    """
    above, below = np.triu(significant).sum(axis=0), np.tril(significant).sum(axis=0)
    return list(zip((above + 1).tolist(), (len(significant) - below).tolist(), strict=True))


def compact_letters(significant: Booleans) -> list[str]:
    """Letters of each system, such that two share one unless they differ significantly (Piepho 2004).

    Starting with one set of all, each significant pair splits every set that holds both into two sets without one of
    them; sets inside others are dropped. The sets are named in the order of their systems. Above `MOST_SETS` of them no
    system has a letter.

    Args:
        significant: bool[S, S], symmetric, True where two systems differ significantly; the best system first.

    >>> compact_letters(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], bool))
    ['a', 'ab', 'b']
    """
    sets = [frozenset(range(len(significant)))]
    for pair in map(frozenset, np.argwhere(np.triu(significant)).tolist()):
        rest = [each for each in sets if not pair <= each]
        split = dict.fromkeys(each - {system} for each in sets if pair <= each for system in pair)
        kept = (one for one in split if not any(one < each for each in split))
        sets = rest + [one for one in kept if not any(one <= each for each in rest)]
        if len(sets) > MOST_SETS:
            return [""] * len(significant)
    named = {each: _letter(place) for place, each in enumerate(sorted(sets, key=sorted))}
    return ["".join(letter for each, letter in named.items() if system in each) for system in range(len(significant))]


def _letter(place: int) -> str:
    """``a`` to ``z``; after these ``a1`` to ``z1``, and so on."""
    return chr(ord("a") + place % LETTERS) + (str(place // LETTERS) if place >= LETTERS else "")
