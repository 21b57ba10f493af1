"""The pictures of commenters, rankings and trainings."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from postil.comments.view import loss_curves
from postil.results.page.blocks import Picture
from postil.results.page.chapters import forests
from postil.results.plots.forest import IntervalRow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.comments.result import CommenterResult, RankingResult, TrainingResult

__all__ = ["commenters", "rankings", "training"]


def commenters(result: CommenterResult) -> Iterator[Picture]:
    """The scores of commenters by all metrics together, and by each.

    Args:
        result: The result.
    """
    return forests("Corpus scores", [IntervalRow(row.system, row.score, group=row.metric) for row in result.scores])


def rankings(result: RankingResult) -> Iterator[Picture]:
    """The means of rankers over articles by all measures together, and by each.

    Args:
        result: The result.
    """
    rows = [IntervalRow(row.scorer, row.value, row.low, row.high, row.measure) for row in result.rows]
    return forests("Means over articles", rows)


def training(result: TrainingResult) -> Iterator[Picture]:
    """The losses of a training.

    Args:
        result: The result.
    """
    if result.rows:
        title = "Cross-entropy by steps of training"
        yield Picture("losses", title, title, title, partial(loss_curves, {result.name or "model": result}))
