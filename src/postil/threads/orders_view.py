"""View of an evaluation of orders of threads: one row per order, one column per measure, with 95 % intervals."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from postil.comments.view import measures_summary
from postil.results.table import Interval, Name, Table, crossed
from postil.results.views import View

if TYPE_CHECKING:
    from postil.threads.result import ThreadOrdersResult

__all__ = ["view"]


def view(result: ThreadOrdersResult) -> View:
    """Make the view of an evaluation of orders.

    Args:
        result: The evaluation.
    """
    value = Interval("", "value", zero=True, none="", dash="")
    differences = crossed(
        result.differences,
        Name("difference", lambda row: (row.scorer, row.minus)),
        "measure",
        replace(value, signed=True, plus=True),
        key="differences",
    )
    weights = Table(
        key="weights",
        rows=result.weights,
        columns=(
            Name("feature", lambda row: row.feature + ("" if row.predicts else " (fit alone)")),
            Interval("points per standard deviation", "weight", zero=True, signed=True, plus=True),
        ),
    )
    return View(
        line=measures_summary(result.rows, "order", "thread"),
        rows=result.rows,
        grids=[crossed(result.rows, Name("order", "scorer"), "measure", value, key="measures")],
        details=[table for table in (differences, weights) if table.rows],
        remarks=[*(f"excluded: {each}" for each in result.excluded), *result.remarks],
    )
