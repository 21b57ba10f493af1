"""Choice of the references to grade: greedy facility location over the texts to be scored."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from operator import itemgetter
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["TENTHS", "ReferencePlan", "plan_references"]

TENTHS: Final = 10
"""Number of parts of the budget whose value is told."""


@dataclass(frozen=True, eq=False, slots=True)
class ReferencePlan:
    """References in the order in which to grade them; any beginning is a plan.

    Args:
        order: int64[budget], index of each reference.
        gains: float64[budget], increase of the value by each.
        covered: float64[10], value after each tenth of the budget, as a share of that of all references.
    """

    order: NDArray[np.int64]
    gains: NDArray[np.float64]
    covered: NDArray[np.float64]


class _Item:
    """References of an item, with the highest similarity of each of its texts to those that are chosen.

    Args:
        similarities: float64[texts, references].
        rows: Row of each reference, rising.
        graded: bool[references], those that are chosen from the start.
    """

    def __init__(self, similarities: NDArray[np.float64], rows: list[int], graded: NDArray[np.bool_]) -> None:
        self.rows = rows
        self.chosen = graded.copy()
        self.of_reference = np.ascontiguousarray(similarities.T)
        self.highest = np.max(self.of_reference[graded], axis=0, initial=0.0)

    def gain(self, reference: int) -> float:
        """Increase of the value by a reference, by its index within the item."""
        # Of equal numbers in equal order: as `highest` rises, no term and so no rounded sum rises, and `_in_order` may
        # take an earlier gain as an upper bound.
        return float(np.maximum(self.of_reference[reference] - self.highest, 0.0).sum())

    def gains(self) -> list[tuple[float, int]]:
        """Negative gain and row of each reference that is not chosen."""
        return [(-self.gain(each), self.rows[each]) for each in np.flatnonzero(~self.chosen).tolist()]

    def place(self, row: int) -> int:
        """Index of a reference within the item, by its row."""
        return bisect_left(self.rows, row)

    def choose(self, row: int) -> None:
        """Add a reference to those that are chosen, by its row."""
        reference = self.place(row)
        self.chosen[reference] = True
        self.highest = np.maximum(self.highest, self.of_reference[reference])


def plan_references(
    similarities: NDArray[np.float64],
    sets: NDArray[np.int32],
    offsets: NDArray[np.int64],
    graded: NDArray[np.bool_],
    *,
    budget: int,
    each: int = 1,
    rows: NDArray[np.int64] | None = None,
) -> ReferencePlan:
    """Choose references such that every text is similar to one of them.

    The value of a set of references is the sum over the texts of the highest similarity to one of the text's item.
    First comes the best reference of every item, items by gain, then the reference with the largest gain anywhere.
    Gains never rise, so those known before are upper bounds, and few are computed anew. Ties go to the first row.

    Args:
        similarities: float64[pairs], from 0 up, of each text with each reference of its item, text after text.
        sets: int32[n], item of each text.
        offsets: int64[k + 1]; item i has the references ``offsets[i]:offsets[i + 1]``.
        graded: bool[m], references that have a grade already, and so count as chosen.
        budget: Number of references to choose, at most those of items with texts that are not graded.
        each: Number of references per item that come first, graded ones included.
        rows: int64[m], row of each reference, a permutation, rising within an item; by default its index.

    >>> similarities = np.array([0.5, 0.25, 0.0, 0.75, 1.0, 0.0])  # two texts of the first item, one of the second
    >>> items, bounds = np.array([0, 0, 1], np.int32), np.array([0, 2, 4])
    >>> plan = plan_references(similarities, items, bounds, np.zeros(4, bool), budget=3)
    >>> plan.order.tolist(), plan.gains.tolist()
    ([1, 2, 0], [1.0, 1.0, 0.25])
    """
    rows = np.arange(len(graded)) if rows is None else rows
    items = _items(similarities, sets, offsets, graded, rows)
    start = sum(float(item.highest.sum()) for item in items.values())
    order: list[tuple[float, int]] = []
    for count in range(1, each + 1):
        lacking = [item for item in items.values() if item.chosen.sum() < count and not item.chosen.all()]
        best = sorted(((min(item.gains()), item) for item in lacking), key=itemgetter(0))
        for (gain, row), item in best[: budget - len(order)]:
            item.choose(row)
            order.append((gain, row))
    order += _in_order(items, budget - len(order))
    gains = np.array([-gain for gain, _ in order])
    values = start + np.concatenate([[0.0], np.cumsum(gains)])
    whole = sum(float(item.of_reference.max(axis=0).sum()) for item in items.values())
    ends = -(-budget * np.arange(1, TENTHS + 1) // TENTHS)
    return ReferencePlan(
        order=np.argsort(rows)[[row for _, row in order]],
        gains=gains,
        covered=np.minimum(values[ends] / whole, 1.0) if whole else np.ones(TENTHS),
    )


def _items(
    similarities: NDArray[np.float64],
    sets: NDArray[np.int32],
    offsets: NDArray[np.int64],
    graded: NDArray[np.bool_],
    rows: NDArray[np.int64],
) -> dict[int, _Item]:
    """Items that have texts, in their order."""
    counts = np.diff(offsets)
    begins = np.concatenate([[0], np.cumsum(counts[sets])])
    by_item = np.argsort(sets, kind="stable")
    found: dict[int, _Item] = {}
    for texts in np.split(by_item, np.flatnonzero(np.diff(sets[by_item])) + 1):
        item = int(sets[texts[0]])
        own = slice(int(offsets[item]), int(offsets[item + 1]))
        found[item] = _Item(
            similarities[begins[texts][:, None] + np.arange(counts[item])], rows[own].tolist(), graded[own]
        )
    return found


def _in_order(items: dict[int, _Item], count: int) -> list[tuple[float, int]]:
    """Choose further references by their gain: negative gain and row of each."""
    bounds = [(*gain, number, 0) for number, item in items.items() for gain in item.gains()] if count > 0 else []
    heapify(bounds)
    changes = dict.fromkeys(items, 0)
    order: list[tuple[float, int]] = []
    while len(order) < count:
        gain, row, number, known = heappop(bounds)
        item = items[number]
        if known < changes[number]:  # an upper bound
            heappush(bounds, (-item.gain(item.place(row)), row, number, changes[number]))
            continue
        item.choose(row)
        changes[number] += 1
        order.append((gain, row))
    return order
