"""Options of `postil study uses`."""

from __future__ import annotations

from typing import Annotated

from postil.data.options import SeedOptions, ThreadOptions
from postil.options import Flag, options

__all__ = ["UsesOptions"]


@options
class UsesOptions(SeedOptions, ThreadOptions):
    """Options of `postil study uses`.

    Args:
        model: Trained ir-t or ir-tc, whose ranker is one more scorer of comments.
        folds: Number of folds of articles; a comment is scored by a fit on the other folds.
        resamples: Number of resamples of the articles, for confidence intervals.
        train: Train generators of titles, from contents and from comments.
        epochs: Maximum number of epochs of each.
        device: Device for training: auto, cpu or cuda.
        stage: Run this stage alone; by default all that are not done yet.
    """

    model: Annotated[str | None, Flag(metavar="DIR")] = None
    folds: Annotated[int, Flag(min=2)] = 5
    resamples: Annotated[int, Flag(min=1)] = 1000
    train: bool = True
    epochs: Annotated[int, Flag(min=1)] = 10
    device: Annotated[str, Flag(metavar="NAME")] = "auto"
    stage: Annotated[str | None, Flag(metavar="NAME")] = None
