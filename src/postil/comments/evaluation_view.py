"""Scores of commenters: one row per commenter and one column per metric, then what their suggestions are like."""

from __future__ import annotations

from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING

from postil.metrics.result import SystemScore
from postil.results.formats import counted
from postil.results.numbers import DASH
from postil.results.table import Count, Name, Number, Table, Text
from postil.results.views import View
from postil.scoring.view import score_table, scores_summary, scores_table

if TYPE_CHECKING:
    from postil.comments.result import CommenterResult

__all__ = ["view"]


def view(result: CommenterResult) -> View:
    """See `postil.results.views`.

    Args:
        result: Scores of commenters.
    """
    return View(
        line=scores_summary("commenter", result.scores, counted(result.articles, "article")),
        rows=result.scores,
        fields=SystemScore.__struct_fields__,
        grids=[scores_table("commenter", result.scores, n=False), _suggestions(result), *_periods(result)],
        remarks=result.remarks,
        systems=score_table("commenter", result.scores, "article"),
    )


def _suggestions(result: CommenterResult) -> Table:
    ages = (
        Number("mean age in days", "age", digits=0, zero=True, none=DASH),
        Count("later", lambda one: one.later if one.dated else None, none=DASH),
    )
    return Table(
        rows=result.suggestions,
        columns=(
            Name("commenter", "system"),
            Count("suggestions", lambda one: result.articles - one.nothing),
            Number("mean words", "words", digits=1, zero=True, none=DASH),
            Number("distinct-1", "distinct_1", zero=True, none=DASH),
            Number("distinct-2", "distinct_2", zero=True, none=DASH),
            *(ages if any(one.dated for one in result.suggestions) else ()),
        ),
    )


def _periods(result: CommenterResult) -> list[Table]:
    """Scores by period, if there are any: one row per system and period."""
    scores = (
        Number(name, itemgetter(name), at=attrgetter("scores"), digits=4, zero=True)
        for row in result.periods[:1]
        for name in row.scores
    )
    columns = (
        Name("commenter", "system"),
        Text("period", "period"),
        Count("articles", "articles"),
        Number("days", "days", digits=0, zero=True, none=DASH),
        *scores,
    )
    return [Table(rows=result.periods, columns=columns)] if result.periods else []
