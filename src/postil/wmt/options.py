"""Options of `postil wmt`, apart from what correlates so that help does without it."""

from __future__ import annotations

from typing import Annotated

from postil.data.arguments import check_fields
from postil.data.options import ResamplingOptions, ThreadOptions
from postil.errors import UsageError
from postil.messages import Setting
from postil.meta.coefficients import CHOICES, Measure, check_names
from postil.options import Flag, options

__all__ = ["WmtOptions"]


@options
class WmtOptions(ResamplingOptions, ThreadOptions):
    """Options of `postil wmt`.

    Args:
        language_pair: Language pair, such as en-de.
        human: Human scores, such as mqm; by default those of the metrics task.
        references: Reference that metrics may have used; repeatable. By default that of the metrics task.
        metrics: Metric to keep, with or without its reference; repeatable. By default all.
        coefficients: Coefficient; repeatable. By default pearson, kendall-b.
        outliers: System to exclude as an outlier; repeatable. By default those of the metrics task.
        include_outliers: Keep the outliers.
        include_human: Keep people's translations, except the references that metrics used.
        lower_is_better: Metric for which lower is better; repeatable.
        resamples: Number of resamples of systems or segments, for confidence intervals; Kendall's coefficients take 200
            at most.
    """

    language_pair: Annotated[str, Flag("language-pair", short="l", metavar="PAIR", first=True)]
    human: Annotated[str | None, Flag(metavar="NAME", first=True)] = None
    references: Annotated[tuple[str, ...], Flag("reference", short="r", metavar="NAME", group="Metrics")] = ()
    metrics: Annotated[tuple[str, ...], Flag("metric", short="m", metavar="NAME", first=True)] = ()
    coefficients: Annotated[
        tuple[Measure, ...], Flag("coefficient", short="c", metavar="NAME", names=CHOICES, first=True)
    ] = (
        "pearson",
        "kendall-b",
    )
    outliers: Annotated[tuple[str, ...], Flag("outlier", metavar="SYSTEM", group="Systems")] = ()
    include_outliers: Annotated[bool, Flag(group="Systems")] = False
    include_human: Annotated[bool, Flag(group="Systems")] = False
    lower_is_better: Annotated[tuple[str, ...], Flag(metavar="NAME", group="Metrics")] = ()

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "coefficients", tuple(dict.fromkeys(self.coefficients)))
        check_names(self.coefficients)
        if self.outliers and self.include_outliers:
            raise UsageError(
                "{outliers} and {include_outliers} cannot be given together",
                outliers=Setting("outliers"),
                include_outliers=Setting("include_outliers"),
            )
