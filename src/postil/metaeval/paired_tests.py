"""Williams' and paired permutation tests of two metrics with the same ratings, for many pairs of metrics at once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from postil.metaeval.coefficients import constant, rows_by
from postil.metaeval.permutation import (
    average_ranks,
    permutation_p,
    standardized,
    swapping_coefficients,
    swapping_groups,
    swapping_rows,
    swapping_systems,
)
from postil.metaeval.williams import williams_p

if TYPE_CHECKING:
    from postil.metaeval.arrays import Floats, Int64s
    from postil.metaeval.replicates import OnGroups
    from postil.metaeval.resampling import Draws
    from postil.metaeval.table import Table
    from postil.records.coefficients import By

__all__ = ["paired_tests", "standardized_points"]


def paired_tests(  # noqa: PLR0917 - what is compared, what is asked
    table: Table,
    columns: Int64s,
    pairs: Int64s,
    on: OnGroups,
    by: By,
    draws: Draws,
    *,
    ranks: bool,
) -> tuple[list[float | None], list[float]]:
    """Williams' test and the paired permutation test; see `postil.metaeval.significance.differences`.

    Args:
        table: Scores and ratings.
        columns: int64[m], columns of the metrics that have a coefficient.
        pairs: int64[2, k], positions in ``columns`` of the metrics to compare.
        on: The coefficient within groups of rows.
        by: Level.
        draws: Random draws.
        ranks: True for a coefficient of ranks, which are what is swapped.

    Returns:
        p-values of the pairs by Williams' test, None where it does not apply, and by permutation.
    """
    both = np.column_stack([table.oriented[:, columns], table.grades])
    by_williams = [math.nan] * pairs.shape[1]
    if by == "item":
        of_item = on(both[:, :-1], both[:, -1], table.starts)
        statistic = swapping_coefficients(of_item, pairs)
    elif by == "system":
        scores, size = standardized(both), np.bincount(table.system)
        cell = table.item.astype(np.int64) * len(size) + table.system
        sums = np.array([np.bincount(cell, column, len(table.starts) * len(size)) for column in scores.T])
        sums = sums.reshape(len(sums), -1, len(size)).swapaxes(0, 1) / size
        statistic = swapping_systems(sums, pairs, spearman=ranks)
        means = sums.sum(axis=0).T
        by_williams = williams_p(standardized(average_ranks(means, np.ones_like(means)) if ranks else means), pairs)
    elif by == "within-system":
        groups = [(table.item[rows], standardized_points(both[rows], ranks=ranks)) for rows in rows_by(table.system)]
        statistic = swapping_groups(groups, pairs)
    else:
        points = standardized(average_ranks(both) if ranks else both)
        statistic = swapping_rows(points, table.starts, pairs)
        by_williams = williams_p(points, pairs)
    found: list[float] = permutation_p(statistic, len(table.starts), draws).tolist()
    return [None if math.isnan(p) else p for p in by_williams], found


def standardized_points(both: Floats, *, ranks: bool = False) -> Floats:
    """Standardized scores or ranks of some rows, float64[n, m]; 0 in constant columns.

    Args:
        both: float64[n, m].
        ranks: True for those of ranks.
    """
    varied = ~constant(both, np.zeros(1, np.int64))[0]
    points = np.zeros(both.shape)
    points[:, varied] = standardized(average_ranks(both[:, varied]) if ranks else both[:, varied])
    return points
