"""Balance of a plan: loads of annotators, and the items that two of them share."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING

from postil.campaigns.plan_result import PlanBalance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.campaigns.plan import Plan

__all__ = ["further_items", "plan_balance"]


def further_items(loads: Sequence[int], annotators_per_item: int) -> int | None:
    """Compute the number of further items after which loads can differ by at most one.

    Args:
        loads: Number of items of each annotator.
        annotators_per_item: Number of annotators of each further item, all of them different.

    Returns:
        The smallest number; None where there is none.

    >>> further_items([5, 5, 4], 2), further_items([10, 10, 0], 1), further_items([10, 10, 0], 2)
    (0, 9, 18)
    >>> further_items([10, 0], 2) is None
    True
    """
    count, each, most = len(loads), min(annotators_per_item, len(loads)), max(loads)

    def even(items: int) -> bool:
        level, over = divmod(sum(loads) + each * items, count)
        return level - min(loads) <= items and most <= level + (over > 0)

    if even(0):
        return 0
    if each == count:
        return None
    beyond = 1
    while not even(beyond):
        beyond *= 2
    low = beyond // 2  # is not even
    while beyond - low > 1:
        middle = (low + beyond) // 2
        low, beyond = (low, middle) if even(middle) else (middle, beyond)
    return beyond


def plan_balance(plan: Plan, left: frozenset[str]) -> PlanBalance | None:
    """Compute the balance of a plan.

    Args:
        plan: The plan.
        left: Pseudonyms of the annotators who were removed.

    Returns:
        The balance; None without annotators.
    """
    assigned: list[list[str]] = [[] for _ in plan.articles]
    for name, order in zip(plan.annotators, plan.orders, strict=True):
        for item, again in order:
            if again == 1 and item not in plan.gold:
                assigned[item].append(name)
    active = [name for name in plan.annotators if name not in left]
    if not active:
        return None
    counts = Counter(name for people in assigned for name in people)
    loads = {name: counts[name] for name in active}
    together = Counter(pair for people in assigned for pair in combinations(people, 2))
    shared = [together[pair] for pair in combinations(active, 2)]
    most, fewest = max(loads, key=loads.__getitem__), min(loads, key=loads.__getitem__)
    tolerance = max(Counter(plan.articles).values(), default=1) if plan.by_item else 1
    even = loads[most] - loads[fewest] <= tolerance
    return PlanBalance(
        most=most,
        most_items=loads[most],
        fewest=fewest,
        fewest_items=loads[fewest],
        tolerance=tolerance,
        missing=0 if even else further_items(list(loads.values()), plan.annotators_per_item),
        least_shared=min(shared, default=0),
        most_shared=max(shared, default=0),
        short=plan.short,
    )
