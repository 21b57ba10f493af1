"""View of an item assignment: one row per annotator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from postil.render.formats import counted
from postil.render.views import View

if TYPE_CHECKING:
    from postil.records.results import PlanResult

__all__ = ["summary", "view"]


def view(result: PlanResult) -> View:
    """Make the view of an item assignment.

    Args:
        result: The item assignment.
    """
    rows = [msgspec.structs.asdict(one) for one in result.annotators]
    head = ["annotator", "items", "gold", "repeated", "shared with another: least", "most"]
    remarks = [
        f"{result.texts:,} items, {result.annotators_per_item} of {len(rows)} annotators per item, assigned at random"
    ]
    if result.median_gap is not None:
        remarks.append(f"median gap between items of one article: {result.median_gap:g} positions")
    if result.order_correlation is not None:
        remarks.append(f"correlation of an item's positions in two presentation orders: {result.order_correlation:.2f}")
    return View(rows=rows, grids=[[head, *([str(value) for value in row.values()] for row in rows)]], remarks=remarks)


def summary(result: PlanResult) -> str:
    """Numbers of items and annotators.

    Args:
        result: The item assignment.
    """
    each = counted(result.annotators_per_item, "annotator")
    gold = f", {counted(result.gold, 'gold item')}" if result.gold else ""
    return f"{counted(result.texts, 'item')}, {each} of {len(result.annotators):,} per item{gold}"
