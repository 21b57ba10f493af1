"""Texts on which two metrics, or a metric and human ratings, differ most.

Scores of different metrics have different scales. They are rescaled to the mean and variance of the mean ratings, then
clipped to their scale, as by Lowe et al. (2017).
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from postil.data.ties import dense_ranks, difference
from postil.errors import Undefined, UsageError
from postil.meta.column_correlations import constant, scaled
from postil.meta.parts import DisagreementText

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.meta.table import Table

__all__ = ["normalised", "worst", "worst_against_people"]


def normalised(table: Table, metrics: Sequence[str] = ()) -> NDArray[np.float64]:
    """Rescale scores to the mean and variance of the mean ratings, then clip them to the scale.

    ``clip(mean(grades) + sd(grades) (x - mean(x)) / sd(x), low, high)``; the sign of metrics for which lower is better
    is flipped first. Without a known scale, low and high are the lowest and highest mean rating of the table. Clipping
    comes last, so mean and variance equal those of the ratings only where nothing was clipped.

    Args:
        table: Scores and ratings of n texts.
        metrics: Names of k metrics, in this order; by default all.

    Returns:
        float64[n, k], higher is better.

    Raises:
        Undefined: One of the metrics, or the ratings, have no variance.
        UnknownName: The table has no such metric.

    >>> from postil.meta.table import join
    >>> from postil.data.rows import Judgement, Score
    >>> texts = (("1", 0.1, 1), ("2", 0.2, 3), ("3", 0.3, 2), ("4", 0.6, 4))
    >>> table = join(
    ...     [Score(item, "a", "meteor", score, "") for item, score, _ in texts],
    ...     [Judgement(item, "a", "ann", grade) for item, _, grade in texts],
    ... )
    >>> normalised(table).round(3).tolist()
    [[1.305], [1.902], [2.5], [4.0]]
    """
    columns = [table.column(metric) for metric in metrics] if metrics else list(range(len(table.metrics)))
    scores, grades = table.oriented[:, columns], table.grades
    alike = constant(np.column_stack([scores, grades]), np.zeros(1, np.int64))[0]
    if alike[-1]:
        raise Undefined(f"all {len(grades)} grades are {grades[0]:g}, so there is no variance to bring scores to")
    for column in range(len(columns)):
        if alike[column]:
            name = table.metrics[columns[column]]
            raise Undefined(f"{name} gives all {len(grades)} texts the same score, so it cannot be normalised")
    scores = scaled(scores)
    rescaled = grades.mean() + grades.std() * (scores - scores.mean(axis=0)) / scores.std(axis=0)
    ends = (table.scale.low, table.scale.high) if table.scale else (grades.min(), grades.max())
    return np.asarray(np.clip(rescaled, *ends), np.float64)


def worst(
    table: Table, first: str, second: str, k: int = 10, *, each_way: bool = False
) -> tuple[DisagreementText, ...]:
    """Texts on which two rescaled metrics differ most.

    Args:
        table: Scores and ratings.
        first: A metric.
        second: Another metric.
        k: Number of texts, at least 0.
        each_way: True for k texts on which the first is higher, and k on which the second is.

    Returns:
        The largest absolute differences first; equal ones by the names of item and system.

    Raises:
        Undefined: One of the metrics, or the ratings, have no variance.
        UnknownName: The table has no such metric.
        UsageError: k is negative.

    >>> from postil.meta.table import join
    >>> from postil.data.rows import Judgement, Score
    >>> texts = (("1", 0.1, 9, 1), ("2", 0.2, 3, 3), ("3", 0.6, 1, 4))
    >>> table = join(
    ...     [Score(item, "a", "meteor", score, "") for item, score, _, _ in texts]
    ...     + [Score(item, "a", "length", score, "") for item, _, score, _ in texts],
    ...     [Judgement(item, "a", "ann", grade) for item, _, _, grade in texts],
    ... )
    >>> [(at.item, at.normalised[0] < at.normalised[1]) for at in worst(table, "meteor", "length", k=2)]
    [('3', False), ('1', True)]
    """
    values = normalised(table, (first, second))
    columns = [table.column(first), table.column(second)]
    return _worst(table, columns, values, values[:, 1], k, each_way=each_way)


def worst_against_people(table: Table, metric: str, k: int = 10) -> tuple[DisagreementText, ...]:
    """Texts on which a rescaled metric and the mean rating differ most.

    Args:
        table: Scores and ratings.
        metric: A metric.
        k: Number of texts, at least 0.

    Returns:
        The largest absolute differences first; equal ones by the names of item and system.

    Raises:
        Undefined: The metric, or the ratings, have no variance.
        UnknownName: The table has no such metric.
        UsageError: k is negative.
    """
    values = normalised(table, (metric,))
    return _worst(table, [table.column(metric)], values, table.grades, k)


def _worst(
    table: Table,
    columns: list[int],
    values: NDArray[np.float64],
    others: NDArray[np.float64],
    k: int,
    *,
    each_way: bool = False,
) -> tuple[DisagreementText, ...]:
    if k < 0:
        raise UsageError(f"k counts from 0 up, got {k}")
    differences = difference(values[:, 0], others)
    largest = np.maximum(np.abs(values[:, 0]), np.abs(others))
    places = dense_ranks(np.abs(differences)[:, None], magnitudes=largest[:, None])[:, 0]

    def names(row: int) -> tuple[str, str]:
        return table.items[table.item[row]], table.systems[table.system[row]]

    def first(rows: NDArray[np.int64]) -> list[int]:
        """The first k of some rows, of which only those that may be among them are sorted."""
        least = np.partition(places[rows], len(rows) - k)[len(rows) - k] if 0 < k < len(rows) else 0
        rows = rows[places[rows] >= least]
        return sorted(rows.tolist(), key=lambda row: (-places[row], names(row)))[:k]

    chosen = first(np.arange(len(table)))
    if each_way:
        ways = [first(np.flatnonzero(sign * differences > 0)) for sign in (1, -1)]
        chosen = sorted(chain(*ways), key=lambda row: (-places[row], names(row)))
    return tuple(
        DisagreementText(
            row=row,
            item=names(row)[0],
            system=names(row)[1],
            grade=float(table.grades[row]),
            scores=tuple(table.scores[row, columns].tolist()),
            normalised=tuple(values[row].tolist()),
            difference=float(differences[row]),
            text=None,
        )
        for row in chosen
    )
