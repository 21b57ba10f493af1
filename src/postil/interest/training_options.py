"""Options of `postil train interesting`, which the help of all trainings reads."""

from __future__ import annotations

from typing import Annotated, Final

from postil.data.options import SeedOptions, ThreadOptions
from postil.errors import UsageError
from postil.options import Flag, options

__all__ = ["InterestTrainOptions"]

PENALTIES: Final = 1e9
"""Upper bound of the ridge penalty of a model of interest, which leaves no weight above its last decimal."""


@options
class InterestTrainOptions(SeedOptions, ThreadOptions):
    """Options of `postil train interesting`.

    Args:
        penalty: Ridge penalty; with a larger one the weights are smaller.
        min_count: Smallest number of passages of words and pairs that have a weight.
        min_pages: Smallest number of pages of words and pairs that have a weight.
        cues: Number that is added to the weight of cues after the fit, in grades.
        folds: Largest number of folds of pages of the cross-fit that is evaluated.
        resamples: Number of resamples of the pages, for confidence intervals.
        seed: Seed of folds and resamples.
    """

    penalty: Annotated[float, Flag(group="Fit")] = 100.0
    min_count: Annotated[int, Flag(min=1, first=True)] = 5
    min_pages: Annotated[int, Flag(min=1, first=True)] = 1
    cues: Annotated[float, Flag(min=0, group="Fit")] = 0.0
    folds: Annotated[int, Flag(min=2, group="Fit")] = 20
    resamples: Annotated[int, Flag(min=1, group="Resampling")] = 1000

    def __post_init__(self) -> None:
        if not 0.0 < self.penalty < PENALTIES:
            raise UsageError(f"penalty: expected a number above 0 and below {PENALTIES:g}, got {self.penalty:g}")
        if not 0.0 <= self.cues < PENALTIES:
            raise UsageError(f"cues: expected a number of at least 0 and below {PENALTIES:g}, got {self.cues:g}")
