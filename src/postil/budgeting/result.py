"""The result of `postil budget`, and its parts."""

from __future__ import annotations

from typing import Literal

from postil.data.parts import Excluded, OptionalPart, Part
from postil.estimation.result import BudgetComponents
from postil.meta.parts import Severity
from postil.results.base import Result

__all__ = ["BudgetResult", "BudgetRow", "BudgetSettings"]


class BudgetRow(Part, frozen=True, kw_only=True):
    """Widths, power and hours of a number of graded items and of raters.

    Args:
        items: Number of graded items.
        raters: Number of ratings per output.
        ratings: Number of ratings.
        hours: Time of all raters together.
        mean_width: Expected width of the 95 % confidence interval of a mean.
        difference_width: Expected width of that of a difference; None for one system.
        human_difference_width: Width of that of a difference without scores; None for one system.
        human_mean_width: Width of that of a mean without scores.
        power: Power to find the difference that was asked for; None where none was, or for one system.
        power_all: Power to find it in all pairs of systems together (at .05 divided by their number).
        layout: ``item`` where the raters of an item rate all its systems, ``output`` where raters are drawn output by
            output.
    """

    items: int
    raters: int
    ratings: int
    hours: float
    mean_width: float
    difference_width: float | None
    human_difference_width: float | None
    human_mean_width: float
    power: float | None
    power_all: float | None
    layout: Literal["item", "output"] = "item"


class BudgetSettings(OptionalPart, frozen=True, kw_only=True):
    """Options of `postil budget`.

    Args:
        items: Number of items.
        systems: Number of systems.
        target: Estimand.
        raters: Numbers of ratings per output to choose from.
        seconds_per_rating: Time of a rating.
        seconds_per_item: Time that each rater of an item needs to read it.
        postil: The version that made the result.
        pilot: Number of graded items of the pilot; 0 without one.
        scores_used: True if the scores of the pilot are used.
        sd: Assumed standard deviation of single ratings; None with a pilot.
        reliability: Assumed correlation of two ratings of an output; None with a pilot.
        system_correlation: Assumed correlation of two systems' expected grades; None with a pilot.
        r_squared: Share of the variance of expected grades that scores explain: assumed, or estimated by the pilot.
        difference: Difference of two systems that is to be found.
        power: Power that is wanted for all pairs.
        width: Largest width that is wanted.
        annotators: Number of annotators of the plan; None where it is not said and no pilot tells it.
        overlap: Share of the outputs with a second rating, where one is planned.
        resamples: Number of resamples of the intervals of components; 0 without any.
        seed: Seed of the resamples.
        command: The command line, if there was one.
    """

    items: int
    systems: int
    target: str
    raters: tuple[int, ...]
    seconds_per_rating: float
    seconds_per_item: float
    postil: str
    pilot: int = 0
    scores_used: bool = False
    sd: float | None = None
    reliability: float | None = None
    system_correlation: float | None = None
    r_squared: float | None = None
    difference: float | None = None
    power: float | None = None
    width: float | None = None
    annotators: int | None = None
    overlap: float = 0.2
    resamples: int = 0
    seed: int = 0
    command: str = ""


class BudgetResult(Result, frozen=True, kw_only=True, tag="budget"):
    """Plans of a rating campaign: what numbers of items and raters give, and the cheapest that is enough.

    Args:
        components: Variance components that the plans rest on.
        rows: One row per number of items and of raters.
        cheapest: The plan with the fewest hours that gives what is wanted; None where none does, or nothing is wanted.
        notes: Notes on the plans.
        settings: Options of the command.
        excluded: Rows of the pilot that are not in the numbers, or not as they came.
        severity: Severities of the annotators of the pilot; None without one in which an output has two ratings.
    """

    components: BudgetComponents
    rows: tuple[BudgetRow, ...]
    cheapest: BudgetRow | None
    notes: tuple[str, ...]
    settings: BudgetSettings
    excluded: tuple[Excluded, ...] = ()
    severity: Severity | None = None
