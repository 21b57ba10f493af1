"""View of a ranking evaluation: one row per scorer, one column per measure, with 95 % intervals."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from postil.comments.training.result import value_text
from postil.results.formats import counted
from postil.results.table import Count, Figure, Interval, Name, Number, Table, Text, crossed
from postil.results.views import View, best

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.comments.result import RankingMeasure, RankingResult
    from postil.comments.training.result import GridPoint, GridSearch

__all__ = ["measures_summary", "search_tables", "view"]


def view(result: RankingResult) -> View:
    """Make the view of a ranking evaluation.

    Args:
        result: The evaluation.
    """
    measures = crossed(
        result.rows, Name("ranked by", "scorer"), "measure", Interval("", "value", zero=True), key="measures"
    )
    return View(
        line=measures_summary(result.rows, "scorer", "article"),
        rows=result.rows,
        grids=[measures, *search_tables(result.grid)],
        remarks=[f"{row.scorer}: {row.reason}" for row in result.absent],
    )


def search_tables(search: GridSearch | None) -> list[Table]:
    """The table of a choice of hyperparameters, one row per combination; none without a choice.

    Args:
        search: The choice.
    """
    if search is None:
        return []
    first, *others = search.points[0].values
    columns = (
        Name(first, partial(_setting, first)),
        *(Figure(name, partial(_setting, name)) for name in others),
        Number(f"dev {search.measure}", "dev", zero=True),
        Count("steps", "steps"),
        Text("", lambda point: "chosen" if point.chosen else ""),
    )
    return [Table(key="search", rows=search.points, columns=columns)]


def _setting(name: str, point: GridPoint) -> str:
    return value_text(point.values[name])


def measures_summary(rows: Sequence[RankingMeasure], scorer: str, unit: str) -> str:
    """Numbers of scorers and of what they rank, and the best value of each measure.

    Args:
        rows: Values by scorer and measure.
        scorer: Name of a scorer.
        unit: Name of what a scorer ranks.
    """
    scorers = counted(len({row.scorer for row in rows}), scorer)
    units = counted(max((row.n for row in rows), default=0), unit)
    return f"{scorers}, {units}; {best((row.measure, row.scorer, row.value) for row in rows)}"
