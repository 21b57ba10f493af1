"""Parts of the result of `postil compare`."""

from __future__ import annotations

from postil.records.parts import OptionalPart, Part, check_interval

__all__ = ["ComparisonSettings", "SystemComparison"]


class SystemComparison(Part, frozen=True, kw_only=True):
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

    def __post_init__(self) -> None:
        check_interval(self.low, self.high)


class ComparisonSettings(OptionalPart, frozen=True, kw_only=True):
    """Options of `postil compare`; see `CorrelationSettings`."""

    resamples: int
    permutations: int
    seed: int
    p_values: str = "postil"
    postil: str = ""
    command: str = ""
