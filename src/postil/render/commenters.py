"""Scores of commenters: one row per commenter and one column per metric, then what their suggestions are like."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from postil.records.results import SystemScore
from postil.render.formats import counted
from postil.render.score import score_grid, score_table, scores_summary
from postil.render.views import View

if TYPE_CHECKING:
    from postil.records.results import CommenterResult
    from postil.render.formats import Grid

__all__ = ["summary", "view"]


def view(result: CommenterResult) -> View:
    """See `postil.render.views`.

    Args:
        result: Scores of commenters.
    """
    return View(
        rows=[msgspec.structs.asdict(row) for row in result.scores],
        fields=SystemScore.__struct_fields__,
        grids=[score_grid("commenter", result.scores, n=False), _suggestions(result)],
        remarks=result.remarks,
        systems=score_table("commenter", result.scores, "article"),
    )


def _suggestions(result: CommenterResult) -> Grid:
    grid = [["commenter", "suggestions", "mean words", "distinct-1", "distinct-2"]]
    for one in result.suggestions:
        shares = ("–" if share is None else f"{share:.3f}" for share in (one.distinct_1, one.distinct_2))
        words = "–" if one.words is None else f"{one.words:.1f}"
        grid.append([one.system, f"{result.articles - one.nothing:,}", words, *shares])
    return grid


def summary(result: CommenterResult) -> str:
    """Numbers of commenters, metrics and articles, and the best score by each metric.

    Args:
        result: Scores of commenters.
    """
    return scores_summary("commenter", result.scores, counted(result.articles, "article"))
