"""The same numbers by SciPy, with one call per metric, resample and permutation."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from postil.meta.table import Table

CALLS: dict[str, Callable[[NDArray[np.float64], NDArray[np.float64]], float]] = {
    "pearson": lambda x, y: stats.pearsonr(x, y).statistic,
    "spearman": lambda x, y: stats.spearmanr(x, y).statistic,
    "kendall-b": lambda x, y: stats.kendalltau(x, y).statistic,
}


def values(table: Table, coefficient: str) -> list[float]:
    """Coefficient of each metric with the mean ratings."""
    call = CALLS[coefficient]
    return [float(call(column, table.grades)) for column in table.oriented.T]


def intervals(table: Table, coefficient: str, resamples: int) -> None:
    """Coefficients on items resampled with replacement."""
    rng = np.random.default_rng(1)
    call = CALLS[coefficient]
    ends = np.append(table.starts[1:], len(table))
    for _ in range(resamples):
        drawn = rng.integers(0, len(ends), len(ends))
        rows = np.concatenate([np.arange(table.starts[i], ends[i]) for i in drawn])
        grades = table.grades[rows]
        for column in table.oriented.T:
            call(column[rows], grades)


def tests(table: Table, coefficient: str, permutations: int) -> None:
    """Williams' test and the paired permutation test of all pairs of metrics."""
    rng = np.random.default_rng(1)
    columns = table.oriented if coefficient == "pearson" else stats.rankdata(table.oriented, axis=0)
    grades = table.grades if coefficient == "pearson" else stats.rankdata(table.grades)
    columns = (columns - columns.mean(axis=0)) / columns.std(axis=0)

    def r(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
        return float(stats.pearsonr(x, y).statistic)

    for first, second in combinations(range(columns.shape[1]), 2):
        one, other = columns[:, first], columns[:, second]
        _williams(r(one, grades), r(other, grades), r(one, other), len(grades))
        observed, reached = abs(r(one, grades) - r(other, grades)), 0
        for _ in range(permutations):
            swapped = rng.random(len(table.starts)) < 0.5
            swap = swapped[table.item]
            difference = r(np.where(swap, other, one), grades) - r(np.where(swap, one, other), grades)
            reached += abs(difference) >= observed


def _williams(r12: float, r13: float, r23: float, n: int) -> float:
    d = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    below = 2 * d * (n - 1) / (n - 3) + (r12 + r13) ** 2 * (1 - r23) ** 3 / 4
    t = (r12 - r13) * np.sqrt((n - 1) * (1 + r23) / below)
    return float(2 * stats.t.sf(abs(t), n - 3))
