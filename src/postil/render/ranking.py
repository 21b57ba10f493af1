"""View of a ranking evaluation: one row per scorer, one column per measure, with 95 % intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from postil.records.results import value_text
from postil.render.formats import counted
from postil.render.views import View, best

if TYPE_CHECKING:
    from postil.records.results import GridSearch, RankingResult
    from postil.render.formats import Grid

__all__ = ["search_grids", "summary", "view"]


def view(result: RankingResult) -> View:
    """Make the view of a ranking evaluation.

    Args:
        result: The evaluation.
    """
    measures = list(dict.fromkeys(row.measure for row in result.rows))
    cells = {(row.scorer, row.measure): f"{row.value:.3f} [{row.low:.3f}, {row.high:.3f}]" for row in result.rows}
    grid = [["ranked by", *measures]]
    grid += [
        [name, *(cells[name, measure] for measure in measures)]
        for name in dict.fromkeys(row.scorer for row in result.rows)
    ]
    return View(
        rows=[msgspec.structs.asdict(row) for row in result.rows],
        grids=[grid, *search_grids(result.grid)],
        remarks=[f"{row.scorer}: {row.reason}" for row in result.absent],
    )


def search_grids(search: GridSearch | None) -> list[Grid]:
    """The table of a choice of hyperparameters, one row per combination; none without a choice.

    Args:
        search: The choice.
    """
    if search is None:
        return []
    names = list(search.points[0].values)
    rows = [
        [
            *(value_text(point.values[name]) for name in names),
            f"{point.dev:.3f}",
            f"{point.steps:,}",
            "chosen" if point.chosen else "",
        ]
        for point in search.points
    ]
    return [[[*names, f"dev {search.measure}", "steps", ""], *rows]]


def summary(result: RankingResult) -> str:
    """Numbers of scorers and articles, and the best value of each measure.

    Args:
        result: The evaluation.
    """
    values: dict[str, dict[str, float]] = {}
    for row in result.rows:
        values.setdefault(row.measure, {})[row.scorer] = row.value
    scorers = counted(len({row.scorer for row in result.rows}), "scorer")
    articles = counted(max((row.n for row in result.rows), default=0), "article")
    return f"{scorers}, {articles}; {best(values)}"
