"""The parts of the result of `postil estimate`."""

from __future__ import annotations

from postil.records.parts import OptionalPart, Part, check_interval

__all__ = [
    "EstimateSettings",
    "IntervalWidths",
    "PredictingScore",
    "RelativeEfficiency",
    "SystemDifference",
    "SystemEstimate",
    "UndefinedInterval",
]


class SystemEstimate(Part, frozen=True, kw_only=True):
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

    def __post_init__(self) -> None:
        check_interval(self.low, self.high)
        check_interval(self.human_low, self.human_high)


class SystemDifference(Part, frozen=True, kw_only=True):
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

    def __post_init__(self) -> None:
        check_interval(self.low, self.high)


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
