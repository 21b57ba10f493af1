"""Item scores of several systems on their shared items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from postil.errors import InvalidInput, Undefined
from postil.messages import Message, Setting
from postil.records.results import Excluded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from postil.metaeval.score_matrix import Scored

__all__ = ["on_shared_items"]


def on_shared_items(
    scored: Scored, systems: tuple[str, ...], *, intersect: bool
) -> tuple[NDArray[np.int64], tuple[Excluded, ...]]:
    """Select the items that every system has by every metric.

    Args:
        scored: The scores.
        systems: The systems, in the order of the result.
        intersect: Exclude items that not all systems cover; otherwise raise.

    Returns:
        int64[items, systems], the row of each text in ``scored``, and the excluded items.

    Raises:
        InvalidInput: Systems cover different items and `intersect` is not set.
        Undefined: They share fewer than two.
    """
    items = {item: number for number, item in enumerate(dict.fromkeys(item for item, _ in scored.rows))}
    numbers = {system: number for number, system in enumerate(systems)}
    rows = np.full((len(items), len(systems)), -1, np.int64)
    at = np.array([(items[item], numbers[system]) for item, system in scored.rows]).T
    rows[tuple(at)] = np.arange(len(scored.rows))
    values = scored.of(rows.ravel(), scored.metrics).reshape(*rows.shape, -1)
    values[rows < 0] = np.nan
    left_out = tuple(_lacking(values, scored.metrics, tuple(items), systems))
    if left_out and not intersect:
        problem = Message(
            "systems cover different items; {items}; give all systems the same items, or compare on those that they "
            "share: {intersect}",
            items="; ".join(map(str, left_out)),
            intersect=Setting("intersect", value=True),
        )
        raise InvalidInput(problem, where=scored.where)
    rows = rows[~np.isnan(values).any(axis=(1, 2))]
    if len(rows) < 2:
        missing = f": {'; '.join(map(str, left_out))}" if left_out else ""
        shared = "one item" if len(rows) else "no item"
        raise Undefined(f"systems share {shared}, and no interval can be had from fewer than two{missing}")
    return rows, left_out


def _lacking(
    values: NDArray[np.float64], metrics: tuple[str, ...], items: tuple[str, ...], systems: tuple[str, ...]
) -> Iterator[Excluded]:
    """Items without a score in float64[items, systems, metrics], by system and metric."""
    for number, system in enumerate(systems):
        missing = np.isnan(values[:, number])
        everything = missing.all(axis=1)
        if everything.any():
            yield Excluded.of(f"items that {system} lacks", [items[item] for item in np.flatnonzero(everything)])
        for column, metric in enumerate(metrics):
            some = missing[:, column] & ~everything
            if some.any():
                names = [items[item] for item in np.flatnonzero(some)]
                yield Excluded.of(f"items of {system} without a score by {metric}", names)
