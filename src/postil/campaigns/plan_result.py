"""The result of `postil annotate plan`, and its parts."""

from __future__ import annotations

from postil.results.base import Result
from postil.results.parts import Part

__all__ = ["PlanBalance", "PlanResult", "PlannedAnnotator", "PlannedPair"]


class PlannedAnnotator(Part, frozen=True, kw_only=True):
    """The items of one annotator.

    Args:
        annotator: The annotator.
        texts: Number of items, gold and repeated ones not counted.
        gold: Number of gold items.
        repeated: Number of repeated items.
        least_shared: Smallest number of items shared with another annotator.
        most_shared: Largest number.
    """

    annotator: str
    texts: int
    gold: int
    repeated: int
    least_shared: int
    most_shared: int


class PlannedPair(Part, frozen=True, kw_only=True):
    """The number of items that two annotators share."""

    first: str
    second: str
    texts: int


class PlanBalance(Part, frozen=True, kw_only=True):
    """Balance of a plan that has grown or changed, over the annotators who were not removed.

    Args:
        most: Annotator with the most items.
        most_items: Number of items of that one, without gold and repeated ones.
        fewest: Annotator with the fewest items.
        fewest_items: Number of items of that one.
        tolerance: Difference of loads that an even plan may have: one item, or the items of one article where they go
            together.
        missing: Number of further items that would make loads even; 0 where they are, None where no number does, as
            every item has all annotators.
        least_shared: Smallest number of items that two annotators share.
        most_shared: Largest number.
        short: Number of items with fewer annotators than planned.
    """

    most: str
    most_items: int
    fewest: str
    fewest_items: int
    tolerance: int
    missing: int | None
    least_shared: int
    most_shared: int
    short: int


class PlanResult(Result, frozen=True, kw_only=True, tag="plan"):
    """An item assignment.

    Args:
        texts: Number of items.
        annotators_per_item: Number of annotators that an item is meant to have.
        gold: Number of items that everyone has.
        order_correlation: Correlation of an item's position for one annotator and for another, 0 for independent
            orders; None where no two annotators share two items.
        median_gap: Median number of steps from an item to the next of the same article; None where nobody has two.
        annotators: One row per annotator.
        pairs: One row per pair of annotators.
        overlapping: Number of items with one annotator more.
        by_item: True if all items of an article have the same annotators.
        sampled: Number of articles that were sampled at random; None where all were taken.
        sampled_from: Number of articles that there were to sample from.
        balance: Balance of a plan that has changed; None for a new one.
    """

    texts: int
    annotators_per_item: int
    gold: int
    order_correlation: float | None
    median_gap: float | None
    annotators: tuple[PlannedAnnotator, ...]
    pairs: tuple[PlannedPair, ...]
    overlapping: int = 0
    by_item: bool = False
    sampled: int | None = None
    sampled_from: int | None = None
    balance: PlanBalance | None = None
