"""The results of `postil annotate plan` and `quality`, and their parts."""

from __future__ import annotations

from typing import Literal, TypeAlias

from postil.campaigns.models import Groups
from postil.data.parts import Estimate, OptionalPart, Part
from postil.raters.options import CompetenceModel
from postil.raters.result import Consistency
from postil.results.base import Result

__all__ = [
    "AnnotatorQuality",
    "ConcernKind",
    "PlanBalance",
    "PlanResult",
    "PlannedAnnotator",
    "PlannedPair",
    "QualityConcern",
    "QualityResult",
    "RatingWindow",
]


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
        groups: Name of the groups of items: ``articles``, ``topics``, or the ``items`` of the file.
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
    groups: Groups = "articles"


ConcernKind: TypeAlias = Literal["attention", "gold", "repeated", "fast", "apart", "severity", "drift", "competence"]
"""Measure that a concern is about."""


class QualityConcern(Part, frozen=True, kw_only=True):
    """A measure of an annotator that is worse than chance explains.

    Args:
        kind: The measure.
        value: Its value.
        usual: Its value over the other annotators; None where it is compared with nothing.
        n: Number of ratings that it rests on.
    """

    kind: ConcernKind
    value: float
    usual: float | None
    n: int


class RatingWindow(Part, frozen=True, kw_only=True):
    """Consecutive ratings of an annotator, compared with the mean of the other ratings of the same items.

    Args:
        first: Number of the first of them, from 1, among the annotator's ratings of items that others rated.
        n: Number of ratings.
        apart: Mean absolute difference.
        above: Mean difference, above 0 where the annotator's ratings are the higher; None for preferences.
        seconds: Median time per rating, in seconds; None where no times were recorded.
    """

    first: int
    n: int
    apart: float
    above: float | None
    seconds: float | None


class AnnotatorQuality(OptionalPart, frozen=True, kw_only=True):
    """The quality of one annotator's ratings.

    Args:
        annotator: The annotator's pseudonym.
        ratings: Number of ratings, gold and repeated items included.
        concerns: Measures that are worse than chance explains, the gravest first.
        gold: Agreement with gold labels, apart from training items and attention checks; None without gold items.
        training: Agreement with the labels of training items.
        repeated: Agreement with the annotator's own first ratings of repeated items.
        attention: Number of attention checks that were answered.
        passed: Number of those with the grade that the text asks for.
        seconds: Median time per rating, in seconds.
        timed: Number of ratings with a time.
        fast: Share of those that are faster than the text can be read.
        shared: Number of ratings of items that others rated as well.
        apart: Mean absolute difference from the mean of the others.
        above: Mean difference from it: positive if lenient, negative if severe; None for preferences, as `drift`.
        correlation: Pearson correlation with the mean of the others.
        drift: Mean difference in the second half of the ratings minus that in the first half, with its 95 % interval.
        competence: Estimated competence; see `postil.raters.competence`.
        windows: Agreement with the others over time.
    """

    annotator: str
    ratings: int
    concerns: tuple[QualityConcern, ...] = ()
    gold: Consistency | None = None
    training: Consistency | None = None
    repeated: Consistency | None = None
    attention: int = 0
    passed: int = 0
    seconds: float | None = None
    timed: int = 0
    fast: float | None = None
    shared: int = 0
    apart: float | None = None
    above: float | None = None
    correlation: float | None = None
    drift: Estimate | None = None
    competence: float | None = None
    windows: tuple[RatingWindow, ...] = ()


class QualityResult(Result, frozen=True, kw_only=True, tag="quality"):
    """The quality of the ratings of a campaign, by annotator.

    Args:
        annotators: One row per annotator with ratings, those with the gravest concerns first.
        ratings: Number of ratings.
        model: Model of the competence of annotators.
        undefined: The reason where there is no competence; else empty.
    """

    annotators: tuple[AnnotatorQuality, ...]
    ratings: int
    model: CompetenceModel
    undefined: str = ""
