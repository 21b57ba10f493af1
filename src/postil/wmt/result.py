"""Results of `postil wmt`."""

from __future__ import annotations

from postil.data.parts import Excluded, OptionalPart
from postil.meta.parts import Correlation, UndefinedResult
from postil.results.base import Result

__all__ = ["MetricsTaskResult", "MetricsTaskSettings"]


class MetricsTaskSettings(OptionalPart, frozen=True, kw_only=True):
    """Options of `postil wmt`.

    Args:
        coefficients: Names of the coefficients.
        lower_is_better: Metrics for which lower is better.
        resamples: Number of resamples of systems or segments.
        permutations: Number of permutations.
        seed: Seed of both.
        postil: The version that made the result.
        command: The command line, if there was one.
    """

    coefficients: tuple[str, ...]
    lower_is_better: tuple[str, ...]
    resamples: int
    permutations: int
    seed: int
    postil: str
    command: str = ""


class MetricsTaskResult(Result, frozen=True, kw_only=True, tag="wmt"):
    """Metrics against human scores of one language pair of a test set of WMT.

    Args:
        test_set: Name of the test set.
        language_pair: The language pair.
        references: References that the metrics may have used.
        human: Name of the human scores by level, ``system`` and ``segment``.
        systems: The systems that all is over.
        segments: Number of segments with human scores.
        correlations: One row per metric, level and coefficient. The level is ``system`` (one score per system),
            ``pool`` (all segments of all systems) or ``item`` (the systems' translations of a segment, then the mean).
        ranks: Rank of the significance cluster of each metric, by level and coefficient, such as ``system pearson``.
        absent: Coefficients that do not exist, and why.
        left_out: Systems, segments and metrics that were excluded.
        settings: Options of the command.
    """

    test_set: str
    language_pair: str
    references: tuple[str, ...]
    human: dict[str, str]
    systems: tuple[str, ...]
    segments: int
    correlations: tuple[Correlation, ...]
    ranks: dict[str, dict[str, int]]
    absent: tuple[UndefinedResult, ...]
    left_out: tuple[Excluded, ...]
    settings: MetricsTaskSettings

    def __post_init__(self) -> None:
        for row in self.correlations:
            if row.metric not in self.ranks.get(f"{row.by} {row.coefficient}", ()):
                raise ValueError(f"expected a rank of {row.metric} by {row.by} {row.coefficient}")
