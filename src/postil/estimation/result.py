"""The result of `postil estimate`, and its parts."""

from __future__ import annotations

from typing import ClassVar, Literal

from postil.data.parts import Excluded, OptionalPart, Part, Ranged
from postil.meta.parts import Severity
from postil.results.base import Result

__all__ = [
    "BudgetComponents",
    "BudgetFacet",
    "EstimateResult",
    "EstimateSettings",
    "IntervalWidths",
    "PredictingScore",
    "RelativeEfficiency",
    "SpreadComponents",
    "SystemDifference",
    "SystemEstimate",
    "UndefinedInterval",
]


class SystemEstimate(Ranged, frozen=True, kw_only=True):
    """The estimated mean grade of one system.

    Args:
        system: The system.
        n: Number of graded items.
        ratings: Number of ratings.
        mean: Estimated mean grade.
        low: Lower end of its 95 % confidence interval; None where there is none.
        high: Upper end.
        human_mean: Mean of the grades alone.
        human_low: Lower end of the 95 % confidence interval of that.
        human_high: Upper end.
        slope: Slope of grades on weighted scores (of ``ppi`` lambda), 0 where scores are not used; None without scores.
        rank_low: Best rank that the significant differences leave, from 1.
        rank_high: Worst rank that they leave.
        letters: Compact letter display: two systems share a letter unless their difference is significant; empty
            where there are too many groups.
    """

    system: str
    n: int
    ratings: int
    mean: float
    low: float | None
    high: float | None
    human_mean: float
    human_low: float | None
    human_high: float | None
    slope: float | None
    rank_low: int
    rank_high: int
    letters: str

    INTERVALS: ClassVar = (("low", "high"), ("human_low", "human_high"))


class SystemDifference(Ranged, frozen=True, kw_only=True):
    """The difference of two systems' mean grades.

    Args:
        first: A system.
        second: Another, with a lower or equal mean.
        value: Mean of the first minus that of the second.
        low: Lower end of the 95 % confidence interval; None where there is none.
        high: Upper end.
        p: Two-sided p-value of no difference; None where there is none.
        p_holm: The same adjusted by Holm for the number of pairs.
    """

    first: str
    second: str
    value: float
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None


class PredictingScore(Part, frozen=True, kw_only=True):
    """A score that grades are predicted from.

    Args:
        metric: The metric.
        weight: Weight of the standardized score, 0 where scores are not used; None where there are no weights.
        balance_z: Mean score of the graded items minus that of the others, in standard errors; None where all items
            are graded or all have one mean score.
    """

    metric: str
    weight: float | None
    balance_z: float | None


class RelativeEfficiency(Part, frozen=True, kw_only=True):
    """Variance of the grades alone divided by that with scores; with 2 the graded items are worth twice as many.

    Args:
        means: For means of systems; None where no mean has a variance.
        differences: For differences; None where there is one system.
    """

    means: float | None
    differences: float | None


class IntervalWidths(Part, frozen=True, kw_only=True):
    """Expected widths of 95 % confidence intervals for a number of graded items.

    Args:
        graded: Number of graded items.
        mean_width: For a mean.
        difference_width: For a difference; None where there is one system.
        human_mean_width: For a mean of the grades alone.
        human_difference_width: For a difference of the grades alone.
    """

    graded: int
    mean_width: float
    difference_width: float | None
    human_mean_width: float
    human_difference_width: float | None


class UndefinedInterval(OptionalPart, frozen=True, kw_only=True):
    """A mean or a difference without a confidence interval.

    Args:
        system: The system.
        other: The system that it is compared with; empty for a mean, whose differences have no interval either.
        reason: The reason, in words.
    """

    system: str
    other: str = ""
    reason: str


class EstimateSettings(OptionalPart, frozen=True, kw_only=True):
    """Options of `postil estimate`.

    Args:
        postil: The version that made the result.
        metrics: The metrics that were asked for; empty for all.
        lower_is_better: Metrics for which lower is better.
        aspect: The aspect that was judged, where there is more than one.
        scale: Scale of the ratings, where it is known.
        command: The command line, if there was one.
    """

    postil: str
    metrics: tuple[str, ...] = ()
    lower_is_better: tuple[str, ...] = ()
    aspect: str | None = None
    scale: str | None = None
    command: str = ""


class EstimateResult(Result, frozen=True, kw_only=True, tag="estimate"):
    """Mean grades of systems, estimated from the ratings of some outputs and the scores of all.

    Args:
        target: Estimand: mean over the ``population`` of items, or over these ``items``.
        method: ``crossed`` (all scores and systems together), ``human`` (ratings alone) or ``ppi`` (PPI++).
        items: Number of items.
        graded: Number of graded items.
        annotators: Number of annotators.
        scores_used: True if scores are used; the numbers are those of the ratings alone otherwise.
        crossed: True if grades are predicted within items.
        systems: One row per system, the best first.
        differences: One row per pair of systems, the better one first.
        scores: The scores.
        common_slope: Slope of grades on weighted scores over all systems; None without predictions.
        item_slope: Slope of items' mean grades; None without predictions within items.
        r_squared: Share of the variance of the grades that leave-one-out predictions explain; None without any.
        rater_variance: Variance of ratings within outputs, without severities where they are removed; None without
            repeated ratings.
        relative_efficiency: Worth of the graded items with scores, in graded items without.
        curve: Expected widths of intervals by number of graded items.
        undefined: Means and differences without an interval, and why.
        excluded: Rows that are not in the numbers, or not as they came.
        notes: Notes on the numbers.
        signatures: All that the scores of each metric depend on.
        settings: Options of the command.
        severity: Severities of the annotators; None where no output has two ratings.
        unused: The note on why scores are not used although the method would; empty otherwise.
    """

    target: Literal["population", "items"]
    method: Literal["crossed", "human", "ppi"]
    items: int
    graded: int
    annotators: int
    scores_used: bool
    crossed: bool
    systems: tuple[SystemEstimate, ...]
    differences: tuple[SystemDifference, ...]
    scores: tuple[PredictingScore, ...]
    common_slope: float | None
    item_slope: float | None
    r_squared: float | None
    rater_variance: float | None
    relative_efficiency: RelativeEfficiency
    curve: tuple[IntervalWidths, ...]
    undefined: tuple[UndefinedInterval, ...]
    excluded: tuple[Excluded, ...]
    notes: tuple[str, ...]
    signatures: dict[str, str]
    settings: EstimateSettings
    severity: Severity | None = None
    unused: str = ""


class SpreadComponents(Part, frozen=True, kw_only=True):
    """Variance over items of what a mean and a difference are over, in squared grades.

    Args:
        mean: Variance of expected grades of a system.
        difference: Half the variance of the difference of two systems' expected grades.
    """

    mean: float
    difference: float


class BudgetFacet(Ranged, frozen=True, kw_only=True):
    """A variance component of single ratings, by item, system and rater.

    Args:
        component: Its facets, such as ``item:rater``; ``residual`` or ``within`` for the rest.
        estimate: The estimate, in squared grades; may be below 0, and counts as 0 then.
        low: Lower end of its 95 % interval over items; None where there is none.
        high: Upper end.
        share: Its share of the sum; None where the sum is 0.
        absent: True if the interval stays below a tenth of the sum, without severities where they are removed, so that
            a plan may do without the component.
    """

    component: str
    estimate: float
    low: float | None
    high: float | None
    share: float | None
    absent: bool


class BudgetComponents(Part, frozen=True, kw_only=True):
    """Variance components of one output, averaged over systems.

    Args:
        rater_variance: Variance of ratings within outputs, without severities where they are removed; None without
            repeated ratings.
        total: Variance over items.
        residual: The part of it that scores leave.
        facets: Components by item, system and rater; empty without a pilot that tells them apart.
        raters_by_item: Variance that one rater puts on an output's rating where the raters of an item rate all its
            systems; None without such a pilot.
        raters_by_output: The same where raters are drawn output by output; None with one system as well.
    """

    rater_variance: float | None
    total: SpreadComponents
    residual: SpreadComponents
    facets: tuple[BudgetFacet, ...] = ()
    raters_by_item: SpreadComponents | None = None
    raters_by_output: SpreadComponents | None = None
