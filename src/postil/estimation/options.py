"""Options of `postil estimate`, apart from what estimates so that help does without it."""

from __future__ import annotations

from typing import Annotated

from postil.data.arguments import check_fields
from postil.data.grades import Scale
from postil.errors import UnknownName
from postil.meta.choices import RULES, Rule
from postil.options import Flag, options

__all__ = ["EstimateOptions"]


@options
class EstimateOptions:
    """Options of `postil estimate`.

    Args:
        metrics: Metric to use; repeatable. By default all but controls.
        target: Estimand: population (mean grade over the population that the items come from) or items (over these).
        method: Estimator: crossed (all scores and systems together), human (ratings alone; the default without scores)
            or ppi (PPI++ of each system by one metric).
        lower_is_better: Metric for which lower is better, which matters to ppi alone; repeatable.
        aspect: Aspect to keep, where judgements have more than one: of the column aspect, or else a column or
            sheet of that name.
        scale: Scale of the ratings, to check them by: HIGH or LOW:HIGH.
        severity: Severities of annotators, the constants by which they grade higher or lower than others: remove them
            from the ratings, keep them, or auto (remove them where they are significant).
    """

    metrics: Annotated[tuple[str, ...], Flag("metric", short="m", metavar="NAME", first=True)] = ()
    target: Annotated[str, Flag(metavar="NAME", group="Estimator")] = "population"
    method: Annotated[str, Flag(metavar="NAME", first=True)] = "crossed"
    lower_is_better: Annotated[tuple[str, ...], Flag(metavar="NAME", group="Metrics")] = ()
    aspect: Annotated[str | None, Flag(metavar="NAME", group="Ratings")] = None
    scale: Annotated[Scale | None, Flag(metavar="SCALE", group="Ratings")] = None
    severity: Annotated[Rule, Flag(metavar="RULE", group="Ratings")] = "auto"

    def __post_init__(self) -> None:
        from postil.estimation.designs import ESTIMATORS, TARGETS  # noqa: PLC0415

        for several in ("metrics", "lower_is_better"):
            if isinstance(given := getattr(self, several), str):
                object.__setattr__(self, several, (given,))
        check_fields(self)
        for kind, name, known in (
            ("target", self.target, TARGETS),
            ("method", self.method, ESTIMATORS),
            ("rule of severities", self.severity, RULES),
        ):
            UnknownName.check(kind, name, known)
