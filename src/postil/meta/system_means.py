"""Mean scores of systems beside their mean ratings, and rank correlations of these means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from postil.data.ties import dense_ranks
from postil.meta.column_correlations import means_by
from postil.meta.parts import SystemMean, UndefinedResult

if TYPE_CHECKING:
    from postil.kernel.arrays import Floats
    from postil.meta.table import Table

__all__ = ["SystemMeans", "system_means"]


@dataclass(frozen=True, slots=True)
class SystemMeans:
    """Means of every system, and rank correlations of these means.

    Args:
        rows: The systems.
        orders: By metric, Kendall's tau-b of the systems' mean scores with their mean ratings; None where undefined.
        absent: The metrics without a tau-b, with the reason.
    """

    rows: tuple[SystemMean, ...]
    orders: dict[str, float | None]
    absent: tuple[UndefinedResult, ...]


def system_means(table: Table) -> SystemMeans:
    """Mean scores and mean ratings of the systems of a table, as in the last table of the paper's supplement.

    Equal means share the better rank; rank 1 is the best system.

    Args:
        table: Scores and ratings. The means of a system are over its own texts, so systems that were judged on
            different items are not strictly comparable; `SystemMean.n` shows it.

    >>> from postil.meta.table import join
    >>> from postil.data.rows import Judgement, Score
    >>> texts = (("a", 0.1, 2), ("b", 0.4, 3), ("c", 0.3, 5))
    >>> table = join(
    ...     [Score("1", system, "meteor", score, "") for system, score, _ in texts],
    ...     [Judgement("1", system, "ann", grade) for system, _, grade in texts],
    ... )
    >>> found = system_means(table)
    >>> [row.ranks["meteor"] for row in found.rows], [row.rank for row in found.rows], found.orders
    ([3, 1, 2], [3, 2, 1], {'meteor': 0.3333333333333333})
    """
    means, magnitudes = means_by(table.system, np.column_stack([table.oriented, table.grades]))
    places = dense_ranks(means, magnitudes=magnitudes)
    signs = np.sign(places[:, None] - places[None])  # of each system minus each other system
    ranks = 1 + (signs < 0).sum(axis=1)
    orders: dict[str, float | None] = {}
    absent: list[UndefinedResult] = []
    for column, metric in enumerate(table.metrics):
        reason = _no_order(metric, signs[..., column], signs[..., -1])
        if reason:
            absent.append(UndefinedResult(metric=metric, coefficient="kendall-b", by="system", reason=reason))
            orders[metric] = None
            continue
        untied = np.abs(signs[..., [column, -1]]).sum(axis=(0, 1))
        orders[metric] = float((signs[..., column] * signs[..., -1]).sum() / np.sqrt(untied.prod()))
    scores = np.where(table.lower_is_better, -means[:, :-1], means[:, :-1])
    rows = (
        SystemMean(
            system=system,
            n=n,
            grade=grade,
            rank=rank[-1],
            means=dict(zip(table.metrics, score, strict=True)),
            ranks=dict(zip(table.metrics, rank, strict=False)),  # the last rank is that of the mean rating
        )
        for system, n, grade, score, rank in zip(
            table.systems,
            np.bincount(table.system).tolist(),
            means[:, -1].tolist(),
            scores.tolist(),
            ranks.tolist(),
            strict=True,
        )
    )
    return SystemMeans(rows=tuple(rows), orders=orders, absent=tuple(absent))


def _no_order(metric: str, signs: Floats, people: Floats) -> str | None:
    """Reason why tau-b of two orders, given as signs of all pairs, is undefined; None where it is defined."""
    if len(signs) < 2:
        return "there is only one system"
    if not signs.any():
        return f"{metric} gives all systems the same mean"
    return None if people.any() else "people give all systems the same mean grade"
