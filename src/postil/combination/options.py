"""Options of `postil combine`, apart from what fits and grades so that help does without it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

from postil.data.arguments import check_fields
from postil.data.grades import Scale
from postil.data.options import SeedOptions
from postil.errors import UnknownName, UsageError, check_least
from postil.messages import Setting
from postil.meta.choices import PENALTY
from postil.options import Flag, options

__all__ = ["FOLDS", "ApplyOptions", "CombineOptions"]

FOLDS: Final = 9
"""Default number of folds of items."""


@options
class CombineOptions(SeedOptions):
    """Options of `postil combine fit`.

    Args:
        method: Learner: ridge (regression), isotonic (of one metric) or boosting (of trees, with scikit-learn).
        metrics: Metric to combine, controls included; repeatable. By default all but controls.
        penalty: Penalty of ridge, for metrics of standard deviation 1.
        folds: Number of folds of items; a text is graded by a fit on the other folds for the numbers to report. By
            default 9, or as many as there are items where these are fewer.
        monotone: Keep raising a reference's weight from lowering a grade: bound the weights of w- metrics at 0.
        lower_is_better: Metric for which lower is better, besides those whose signatures say so; repeatable.
        aspect: Aspect to keep, where judgements have more than one: of the column aspect, or else a column or
            sheet of that name.
        scale: Scale of the ratings: HIGH or LOW:HIGH; checks them, and is what apply --clip clips to.
        resamples: Number of resamples of the items, for confidence intervals.
        out: Folder to write the combination to; one of an older combination is replaced.
        items: Write the out-of-fold grades here, as score rows: .jsonl, .csv, .xlsx or .parquet.
    """

    method: Annotated[str, Flag(metavar="NAME", first=True)] = "ridge"
    metrics: Annotated[tuple[str, ...], Flag("metric", short="m", metavar="NAME", first=True)] = ()
    penalty: Annotated[float, Flag(min=0, group="Fit")] = PENALTY
    folds: Annotated[int | None, Flag(min=2, group="Fit")] = None
    monotone: Annotated[bool, Flag(group="Fit")] = False
    lower_is_better: Annotated[tuple[str, ...], Flag(metavar="NAME", group="Metrics")] = ()
    aspect: Annotated[str | None, Flag(metavar="NAME", group="Ratings")] = None
    scale: Annotated[Scale | None, Flag(metavar="SCALE", group="Ratings")] = None
    resamples: Annotated[int, Flag(min=1, group="Resampling")] = 1000
    out: Annotated[str | None, Flag("out", short="o", metavar="DIR", first=True)] = None
    items: Annotated[str | None, Flag(metavar="FILE", first=True)] = None

    def __post_init__(self) -> None:
        from postil.meta.grade_fits import LEARNERS  # noqa: PLC0415

        for several in ("metrics", "lower_is_better"):
            if isinstance(given := getattr(self, several), str):
                object.__setattr__(self, several, (given,))
        check_fields(self)
        UnknownName.check("method", self.method, LEARNERS)
        if self.penalty < 0:
            raise UsageError(f"penalty: expected a number from 0 up, got {self.penalty:g}")
        check_least(2, folds=self.folds)
        if self.items is not None:
            from postil.data.row_files import kind_of  # noqa: PLC0415

            kind_of(self.items)
            if self.out is not None and Path(self.items).resolve().is_relative_to(Path(self.out).resolve()):
                raise UsageError(f"items: {self.items} lies in {self.out}, the folder of the combination; name another")


@options
class ApplyOptions:
    """Options of `postil combine apply`.

    Args:
        clip: Clip grades to the scale of the ratings.
        scale: Scale to clip to: HIGH or LOW:HIGH; by default the one that the combination was fitted with.
        any_references: Take scores against other references than those of the fit.
        aspect: Aspect of the judgements to write beside, where they have more than one.
        out: Write the grades here, as score rows: .jsonl, .csv, .xlsx or .parquet.
    """

    clip: Annotated[bool, Flag(first=True)] = False
    scale: Annotated[Scale | None, Flag(metavar="SCALE", first=True)] = None
    any_references: Annotated[bool, Flag(first=True)] = False
    aspect: Annotated[str | None, Flag(metavar="NAME", group="Ratings")] = None
    out: Annotated[str | None, Flag("out", short="o", metavar="FILE", first=True)] = None

    def __post_init__(self) -> None:
        check_fields(self)
        if self.scale is not None and not self.clip:
            raise UsageError("scale: is for {clip} alone", clip=Setting("clip", value=True))
        if self.out is not None:
            from postil.data.row_files import kind_of  # noqa: PLC0415

            kind_of(self.out)
