"""The result of `postil compare`, and its parts."""

from __future__ import annotations

from postil.results.base import Result
from postil.results.parts import Excluded, OptionalPart, Ranged

__all__ = ["Comparison", "ComparisonSettings", "SystemComparison"]


class SystemComparison(Ranged, frozen=True, kw_only=True):
    """The score of one system by one metric, and its difference from the baseline's.

    Args:
        metric: The metric.
        system: The system.
        n: Number of items that the score is over.
        mean: Corpus score of a metric of `Comparison.summed`; of any other the mean of the item scores.
        low: Lower end of the 95 % confidence interval over resamples of the items.
        high: Upper end.
        difference: Score minus the baseline's; None, like all that follows, for the baseline itself.
        difference_low: Lower end of the difference's 95 % confidence interval, over the same resamples.
        difference_high: Upper end.
        p_bootstrap: Two-sided, by the same resamples.
        p_randomisation: Two-sided, by approximate randomization.
        p_holm: `p_randomisation` adjusted by Holm for the number of systems.
    """

    metric: str
    system: str
    n: int
    mean: float
    low: float | None
    high: float | None
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    p_bootstrap: float | None = None
    p_randomisation: float | None = None
    p_holm: float | None = None


class ComparisonSettings(OptionalPart, frozen=True, kw_only=True):
    """Options of `postil compare`; see `CorrelationSettings`."""

    resamples: int
    permutations: int
    seed: int
    p_values: str = "postil"
    postil: str = ""
    command: str = ""


class Comparison(Result, frozen=True, kw_only=True, tag="compare"):
    """Systems against a baseline.

    Args:
        aggregation: ``corpus``: the corpus scores of `summed` metrics, the mean of the item scores by all others.
            ``item mean``: the mean of the item scores by every metric.
        baseline: The system that the others are compared with.
        items: Number of items that all systems share.
        systems: One row per metric and system.
        lower_is_better: Metrics for which lower is better; differences keep their sign for them.
        left_out: Items that not every system covers.
        notes: Notes, in words.
        settings: Options of the command.
        weights: Source of the references' weights, if known.
        summed: Metrics whose corpus scores, of summed item statistics, are compared.
        signatures: Signature of each metric, if known.
    """

    aggregation: str
    baseline: str
    items: int
    systems: tuple[SystemComparison, ...]
    lower_is_better: tuple[str, ...]
    left_out: tuple[Excluded, ...]
    notes: tuple[str, ...]
    settings: ComparisonSettings
    weights: str = ""
    summed: tuple[str, ...] = ()
    signatures: dict[str, str] = {}
