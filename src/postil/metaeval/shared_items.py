"""Item scores of several systems on their shared items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from postil.errors import InvalidInput, Undefined
from postil.records.results import Excluded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from postil.metaeval.score_matrix import Scored

__all__ = ["on_shared_items"]


def on_shared_items(
    scored: Scored, systems: tuple[str, ...], *, intersect: bool, where: str
) -> tuple[NDArray[np.float64], tuple[Excluded, ...]]:
    """Scores of the items that every system has by every metric.

    Args:
        scored: The scores.
        systems: The systems, in the order of the result.
        intersect: Exclude items that not all systems cover; otherwise raise.
        where: Name of the scores, for messages.

    Returns:
        float64[items, systems, metrics], and the excluded items.

    Raises:
        InvalidInput: Systems cover different items and `intersect` is not set.
        Undefined: They share fewer than two.
    """
    items = {item: number for number, item in enumerate(dict.fromkeys(item for item, _ in scored.rows))}
    numbers = {system: number for number, system in enumerate(systems)}
    values = np.full((len(items), len(systems), len(scored.metrics)), np.nan)
    at = np.array([(items[item], numbers[system]) for item, system in scored.rows]).T
    values[tuple(at)] = scored.dense[:, [scored.columns[name] for name in scored.metrics]]
    left_out = tuple(_lacking(values, scored.metrics, tuple(items), systems))
    if left_out and not intersect:
        advice = "give all systems the same items, or compare on those that they share: --intersect"
        raise InvalidInput(f"systems cover different items; {'; '.join(map(str, left_out))}; {advice}", where=where)
    values = values[~np.isnan(values).any(axis=(1, 2))]
    if len(values) < 2:
        missing = f": {'; '.join(map(str, left_out))}" if left_out else ""
        shared = "one item" if len(values) else "no item"
        raise Undefined(f"systems share {shared}, and no interval can be had from fewer than two{missing}")
    return values, left_out


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
