"""Scores of commenters: one row per commenter and one column per metric, then what their suggestions are like."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from postil.records.results import SystemScore
from postil.render.formats import counted
from postil.render.score import score_table, scores_summary, scores_table
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
        grids=[scores_table("commenter", result.scores, n=False), _suggestions(result), *_periods(result)],
        remarks=result.remarks,
        systems=score_table("commenter", result.scores, "article"),
    )


def _suggestions(result: CommenterResult) -> Grid:
    aged = any(one.dated for one in result.suggestions)
    grid = [
        ["commenter", "suggestions", "mean words", "distinct-1", "distinct-2", *["mean age in days", "later"] * aged]
    ]
    for one in result.suggestions:
        shares = ("–" if share is None else f"{share:.3f}" for share in (one.distinct_1, one.distinct_2))
        words = "–" if one.words is None else f"{one.words:.1f}"
        ages = ["–" if one.age is None else f"{one.age:.0f}", f"{one.later:,}" if one.dated else "–"]
        grid.append([one.system, f"{result.articles - one.nothing:,}", words, *shares, *ages * aged])
    return grid


def _periods(result: CommenterResult) -> list[Grid]:
    """Scores by period, if there are any: one row per system and period."""
    if not result.periods:
        return []
    grid = [["commenter", "period", "articles", "days", *result.periods[0].scores]]
    for one in result.periods:
        days = "–" if one.days is None else f"{one.days:.0f}"
        scores = (f"{score:.4f}" for score in one.scores.values())
        grid.append([one.system, one.period, f"{one.articles:,}", days, *scores])
    return [grid]


def summary(result: CommenterResult) -> str:
    """Numbers of commenters, metrics and articles, and the best score by each metric.

    Args:
        result: Scores of commenters.
    """
    return scores_summary("commenter", result.scores, counted(result.articles, "article"))
