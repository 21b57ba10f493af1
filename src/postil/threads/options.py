"""Options of `postil rank-comments` and of `postil train quality`."""

from __future__ import annotations

from typing import Annotated, Final

import numpy as np

from postil.data.options import SeedOptions, ThreadOptions
from postil.errors import UnknownName, UsageError
from postil.messages import Blank, Setting
from postil.options import Flag, options

__all__ = ["FOLDS", "ORDERS", "QualityTrainOptions", "RankOptions"]

FOLDS: Final = 5
"""Default number of folds of articles."""

ORDERS: Final = ("relevance", "quality", "votes", "oldest", "newest", "length")
"""The orders of a thread by name."""


@options
class RankOptions(ThreadOptions):
    """Options of `postil rank-comments`.

    Args:
        by: Order of the comments: relevance (with --model), quality (with --quality), votes, oldest, newest or length;
            repeatable, with a weight after = (default 1). Each order gives a comment the share of the others that come
            after it, and their weighted mean decides. By default quality where there is a model of it, else relevance.
        quality: A model that postil train quality made, for --by quality.
        diversity: Weight from 0 to 1 of the difference from the comments above, against repetition.
        screen: A screen that postil train screen made: marks the comments that moderators would hold.
    """

    by: Annotated[tuple[str, ...], Flag(metavar="ORDER[=WEIGHT]", first=True)] = ()
    quality: Annotated[str | None, Flag(metavar="DIR", first=True)] = None
    diversity: Annotated[float, Flag(min=0, max=1, metavar="WEIGHT", first=True)] = 0.0
    screen: Annotated[str | None, Flag(metavar="DIR", first=True)] = None

    def weights(self, *, model: bool) -> dict[str, float]:
        """The weight of each order.

        Args:
            model: True if there is a model for relevance.

        Raises:
            UnknownName: There is no such order.
            UsageError: A weight is not above 0, an order stands twice, or it and the models do not go together.
        """
        found: dict[str, float] = {}
        given = {"relevance": model, "quality": self.quality is not None}
        best = [name for name in ("quality", "relevance") if given[name]][:1]
        for word in self.by or best:
            name, equals, weight = word.partition("=")
            UnknownName.check("order", name, ORDERS)
            if name in found:
                raise UsageError("{by}: given twice", by=Setting("by", name))
            try:
                found[name] = float(weight) if equals else 1.0
            except ValueError:
                found[name] = np.nan
            if not 0 < found[name] < np.inf:
                raise UsageError(
                    "{by}: expected a number above 0 after =, got '{weight}'", by=Setting("by", word), weight=weight
                )
        if not found:
            raise UsageError(
                "expected an order of the comments: {model} for relevance, {quality}, or {by}, as in {votes}",
                model=Setting("model", Blank("DIR")),
                quality=Setting("quality", Blank("DIR")),
                by=Setting("by"),
                votes=Setting("by", "votes"),
            )
        for (name, there), setting in zip(given.items(), ("model", "quality"), strict=True):
            by = Setting("by", name)
            if self.by and there and name not in found:
                raise UsageError("{model}: for {by} alone", model=Setting(setting), by=by)
            if name in found and not there:
                raise UsageError("{by} needs a model: {model}", by=by, model=Setting(setting, Blank("DIR")))
        return found


@options
class QualityTrainOptions(SeedOptions):
    """Options of `postil train quality`.

    Args:
        target: Judgement of the comments to learn: votes, grades or labels.
        folds: Number of folds of articles of the cross-fit that is evaluated; by default 5, or as many as there are
            articles where these are fewer.
        resamples: Number of resamples of the articles, for confidence intervals.
        seed: Seed of folds and resamples.
    """

    target: Annotated[str, Flag("from", metavar="NAME")] = "votes"
    folds: Annotated[int | None, Flag(min=2)] = None
    resamples: Annotated[int, Flag(min=1)] = 1000
