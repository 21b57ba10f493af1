"""Williams' and paired permutation tests of two metrics with the same ratings, for many pairs of metrics at once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from postil.metaeval.accuracy import swapping_pairs
from postil.metaeval.coefficients import constant, correlate_groups, rows_by
from postil.metaeval.permutation import (
    average_ranks,
    permutation_p,
    standardized,
    swapping_coefficients,
    swapping_groups,
    swapping_rows,
    swapping_systems,
)
from postil.metaeval.swapped_systems import swapped_pairwise, swapped_soft
from postil.metaeval.williams import williams_p
from postil.records.coefficients import TABLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.metaeval.coefficients import Accuracy, Coefficient
    from postil.metaeval.replicates import By
    from postil.metaeval.table import Table

__all__ = ["paired_tests", "swapping_texts"]

Floats: TypeAlias = "NDArray[np.float64]"
Integers: TypeAlias = "NDArray[np.int64]"


def paired_tests(
    table: Table,
    columns: Integers,
    pairs: Integers,
    coefficient: Coefficient,
    by: By,
    *,
    permutations: int,
    seed: int,
) -> tuple[list[float | None], list[float]]:
    """Williams' test and the paired permutation test; see `postil.metaeval.significance.differences`.

    Args:
        table: Scores and ratings.
        columns: int64[m], columns of the metrics that have a coefficient.
        pairs: int64[2, k], positions in ``columns`` of the metrics to compare.
        coefficient: ``pearson`` or ``spearman``.
        by: Level.
        permutations: Number of permutations.
        seed: Seed of the permutations.

    Returns:
        p-values of the pairs by Williams' test, None where it does not apply, and by permutation.
    """
    spearman = coefficient == "spearman"
    both = np.column_stack([table.oriented[:, columns], table.grades])
    by_williams = [math.nan] * pairs.shape[1]
    if by == "item":
        of_item = correlate_groups(both[:, :-1], both[:, -1], table.starts, coefficient)
        statistic = swapping_coefficients(of_item, pairs)
    elif by == "system":
        scores, size = standardized(both), np.bincount(table.system)
        cell = table.item.astype(np.int64) * len(size) + table.system
        sums = np.array([np.bincount(cell, column, len(table.starts) * len(size)) for column in scores.T])
        sums = sums.reshape(len(sums), -1, len(size)).swapaxes(0, 1) / size
        statistic = swapping_systems(sums, pairs, spearman=spearman)
        means = sums.sum(axis=0).T
        by_williams = williams_p(standardized(average_ranks(means, np.ones_like(means)) if spearman else means), pairs)
    elif by == "within-system":
        groups = [(table.item[rows], _points(both[rows], spearman=spearman)) for rows in rows_by(table.system)]
        statistic = swapping_groups(groups, pairs)
    else:
        points = standardized(average_ranks(both) if spearman else both)
        statistic = swapping_rows(points, table.starts, pairs)
        by_williams = williams_p(points, pairs)
    found: list[float] = permutation_p(statistic, len(table.starts), permutations, seed).tolist()
    return [None if math.isnan(p) else p for p in by_williams], found


def swapping_texts(
    table: Table,
    columns: Integers,
    pairs: Integers,
    measure: Accuracy,
    by: By,
    *,
    permutations: int,
    seed: int,
    jobs: int = 1,
) -> list[float]:
    """Paired permutation tests that swap single texts or pairs; see `postil.metaeval.significance.differences`.

    Args:
        table: Scores and ratings.
        columns: int64[m], columns of the metrics that have an accuracy.
        pairs: int64[2, k], positions in ``columns`` of the metrics to compare.
        measure: Name of the accuracy.
        by: Level.
        permutations: Largest number of permutations.
        seed: Seed of the permutations.
        jobs: Number of threads.

    Returns:
        p-values of the pairs.
    """
    scores = table.oriented[:, columns]
    if TABLE[measure].ties:
        every = scores, table.grades, table.item, table.system, by, pairs
        return swapping_pairs(*every, permutations=permutations, seed=seed, jobs=jobs)
    points = _points(scores, spearman=False)
    if TABLE[measure].soft:
        texts = points, table.grades, table.item, table.system
        return [float(p) for p in swapped_soft(*texts, pairs, permutations, seed, jobs)]
    return [float(p) for p in swapped_pairwise(points, table.grades, table.system, pairs, permutations, seed)]


def _points(both: Floats, *, spearman: bool) -> Floats:
    """Standardized scores or ranks of some rows, float64[n, m + 1]; 0 in constant columns."""
    varied = ~constant(both, np.zeros(1, np.int64))[0]
    points = np.zeros(both.shape)
    points[:, varied] = standardized(average_ranks(both[:, varied]) if spearman else both[:, varied])
    return points
