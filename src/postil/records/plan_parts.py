"""Parts of the result of `postil annotate plan`."""

from __future__ import annotations

from postil.records.parts import Part

__all__ = ["PlanBalance", "PlanRevision", "PlannedAnnotator", "PlannedPair"]


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


class PlanRevision(Part, frozen=True, kw_only=True):
    """Revision of the plan of a campaign: the items that were added at one time.

    Args:
        number: Number of the revision; 1 is the first plan.
        time: Time in UTC, as in ISO 8601.
        items: Number of items, gold ones included.
        known: Number of items of the files that were left out, as the campaign had them already.
        ratings: Number of ratings so far, repeated ones included.
    """

    number: int
    time: str
    items: int
    known: int
    ratings: int
