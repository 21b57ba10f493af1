"""View of an evaluation of orders of threads: one row per order, one column per measure, with 95 % intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from postil.render.formats import counted
from postil.render.views import View, best

if TYPE_CHECKING:
    from postil.records.results import RankingDifference, RankingMeasure, ThreadOrdersResult
    from postil.render.formats import Grid

__all__ = ["summary", "view"]


def view(result: ThreadOrdersResult) -> View:
    """Make the view of an evaluation of orders.

    Args:
        result: The evaluation.
    """
    measures = list(dict.fromkeys(row.measure for row in result.rows))
    values = {(row.scorer, row.measure): _value(row) for row in result.rows}
    grid = [["order", *measures]]
    grid += [
        [name, *(values.get((name, measure), "") for measure in measures)]
        for name in dict.fromkeys(row.scorer for row in result.rows)
    ]
    return View(
        rows=[msgspec.structs.asdict(row) for row in result.rows],
        grids=[grid],
        details=[*_differences(result, measures), *_weights(result)],
        remarks=[*(f"excluded: {each}" for each in result.excluded), *result.remarks],
    )


def _differences(result: ThreadOrdersResult, measures: list[str]) -> list[Grid]:
    pairs = list(dict.fromkeys((row.scorer, row.minus) for row in result.differences))
    values = {(row.scorer, row.minus, row.measure): _value(row, sign="+") for row in result.differences}
    rows = [[f"{one} - {other}", *(values.get((one, other, each), "") for each in measures)] for one, other in pairs]
    return [[["difference", *measures], *rows]] if rows else []


def _weights(result: ThreadOrdersResult) -> list[Grid]:
    rows = [
        [row.feature + ("" if row.predicts else " (fit alone)"), f"{row.weight:+.3f} [{row.low:+.3f}, {row.high:+.3f}]"]
        for row in result.weights
    ]
    return [[["feature", "points per standard deviation"], *rows]] if rows else []


def _value(row: RankingMeasure | RankingDifference, sign: str = "") -> str:
    return f"{row.value:{sign}.3f} [{row.low:{sign}.3f}, {row.high:{sign}.3f}]"


def summary(result: ThreadOrdersResult) -> str:
    """Numbers of orders and threads, and the best value of each measure.

    Args:
        result: The evaluation.
    """
    values: dict[str, dict[str, float]] = {}
    for row in result.rows:
        values.setdefault(row.measure, {})[row.scorer] = row.value
    orders = counted(len({row.scorer for row in result.rows}), "order")
    threads = counted(max((row.n for row in result.rows), default=0), "thread")
    return f"{orders}, {threads}; {best(values)}"
