"""Options of `postil budget`, apart from what plans so that help does without it."""

from __future__ import annotations

from typing import Annotated, Final

from postil.data.arguments import check_bounds
from postil.data.options import SeedOptions
from postil.errors import UsageError
from postil.estimation.options import EstimateOptions
from postil.messages import Setting
from postil.options import Flag, options

__all__ = ["BudgetOptions"]

POWER: Final = 0.8


@options
class BudgetOptions(EstimateOptions, SeedOptions):
    """Options of `postil budget`.

    Args:
        items: Number of items that can be graded; by default those of the scores.
        graded: Number of graded items to plan; repeatable. By default 8, 10, 15, 20 and so on up to all.
        raters: Number of ratings per output to plan; repeatable. By default 1, 2 and 3.
        difference: True difference of two systems that is to be found, in grades.
        power: Power to find it in all pairs of systems together.
        width: Largest width of the 95 % interval of a difference (of a mean where there is one system), in grades.
        systems: Number of systems, without a pilot; 2 by default.
        sd: Standard deviation of single ratings of a system, without a pilot.
        reliability: Correlation of two ratings of an output, without a pilot; .5 by default.
        system_correlation: Correlation of two systems' expected grades over items, without a pilot; .3 by default.
        r_squared: Share of the variance of expected grades that scores explain, without a pilot; 0 by default.
        seconds_per_rating: Time of a rating, in seconds.
        seconds_per_item: Time that each rater of an item needs to read it, in seconds.
        annotators: Number of annotators of the plan; by default those of the pilot, 3 at least.
        overlap: Share of the outputs with a second rating where one is planned; it tells severities.
        resamples: Number of resamples of the pilot's items, for intervals of variance components.
    """

    items: Annotated[int | None, Flag(min=2, first=True)] = None
    graded: Annotated[tuple[int, ...], Flag(min=2, group="Plans")] = ()
    raters: Annotated[tuple[int, ...], Flag(min=1, first=True)] = ()
    difference: Annotated[float | None, Flag(metavar="GRADES", min=0, first=True)] = None
    power: Annotated[float, Flag(min=0, max=1, group="Plans")] = POWER
    width: Annotated[float | None, Flag(metavar="GRADES", min=0, group="Plans")] = None
    systems: Annotated[int | None, Flag(min=1, group="Without a pilot")] = None
    sd: Annotated[float | None, Flag(metavar="GRADES", min=0, group="Without a pilot")] = None
    reliability: Annotated[float | None, Flag(metavar="R", min=0, max=1, group="Without a pilot")] = None
    system_correlation: Annotated[float | None, Flag(metavar="R", min=-1, max=1, group="Without a pilot")] = None
    r_squared: Annotated[float | None, Flag(metavar="SHARE", min=0, max=1, group="Without a pilot")] = None
    seconds_per_rating: Annotated[float, Flag(min=0, group="Time")] = 40.0
    seconds_per_item: Annotated[float, Flag(min=0, group="Time")] = 0.0
    annotators: Annotated[int | None, Flag(min=1, group="Plans")] = None
    overlap: Annotated[float, Flag(metavar="SHARE", min=0, max=1, group="Plans")] = 0.2
    resamples: Annotated[int, Flag(min=1, group="Resampling")] = 1000

    def __post_init__(self) -> None:
        from postil.estimation.designs import ESTIMATORS  # noqa: PLC0415

        for several in ("graded", "raters"):
            if isinstance(given := getattr(self, several), int):
                object.__setattr__(self, several, (given,))
        super().__post_init__()
        check_bounds(self)
        if ESTIMATORS[self.method].alone:
            raise UsageError("{ppi} has no plans; expected crossed or human", ppi=Setting("method", self.method))
        for name in ("difference", "width", "sd"):
            if getattr(self, name) == 0:
                raise UsageError("{setting}: expected more than 0", setting=Setting(name))
        if not 0 < self.power < 1:
            raise UsageError(
                "{power}: expected more than 0 and less than 1, got {got:g}", power=Setting("power"), got=self.power
            )
        if self.annotators is not None and max(self.raters, default=1) > self.annotators:
            raise UsageError(
                "{raters}: expected at most the {n} of {annotators}, got {got}; an output has one rating by each",
                raters=Setting("raters"),
                n=self.annotators,
                annotators=Setting("annotators"),
                got=max(self.raters),
            )
