"""The result of `postil annotate quality`, and its parts."""

from __future__ import annotations

from typing import Literal, TypeAlias

from postil.raters.result import CompetenceModel, Consistency
from postil.results.base import Result
from postil.results.parts import Estimate, OptionalPart, Part

__all__ = ["AnnotatorQuality", "ConcernKind", "QualityConcern", "QualityResult", "RatingWindow"]


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
