"""View of a plan of which references to grade: one row per reference, and the coverage after each tenth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from postil.messages import Blank, Listed, Message, Setting
from postil.plots import Curve, curves
from postil.records.rows import PlannedReference
from postil.render.formats import counted, excerpt, noted
from postil.render.views import View

if TYPE_CHECKING:
    from postil.plots import Figure
    from postil.records.results import WeightsPlanResult

__all__ = ["coverage_curve", "summary", "view"]

ALL: Final = Listed(
    (
        Setting("out", Blank("FILE"), instead="result.to_rows()"),
        Setting("format", "csv", instead="result.to_csv()"),
    ),
    last=", or ",
)
"""The ways to all references."""

FIRST: Final = 10
"""Number of references that are shown to people."""

WIDTH: Final = 60
"""Largest number of characters of a text there."""


def view(result: WeightsPlanResult) -> View:
    """Make the view of a plan.

    Args:
        result: The plan.
    """
    grid = [["order", "item", "reference", "gain", "text"]]
    grid += [
        [f"{row.order}", row.item, f"{row.reference}", f"{row.gain:.3f}", excerpt(row.text, WIDTH)]
        for row in result.rows[:FIRST]
    ]
    more = len(result.rows) - FIRST
    remarks = [Message("{more}: {all}, has all", more=counted(more, "more reference"), all=ALL)] if more > 0 else []
    covered = [["graded", "covered"], *([f"{n:,}", f"{100 * share:.1f} %"] for n, share in _ends(result))]
    return View(
        rows=[msgspec.structs.asdict(row) for row in result.rows],
        fields=PlannedReference.__struct_fields__,
        grids=[grid, covered],
        head=summary(result),
        remarks=[*remarks, *noted(result.notes)],
    )


def _ends(result: WeightsPlanResult) -> list[tuple[int, float]]:
    """Number of references after each tenth of the budget, and the share that they cover."""
    parts = len(result.covered)
    ends = [-(-result.budget * part // parts) for part in range(1, parts + 1)]
    return list(dict(zip(ends, result.covered, strict=True)).items())


def summary(result: WeightsPlanResult) -> str:
    """Number of references to grade, and the share that they cover.

    Args:
        result: The plan.
    """
    what = f"{counted(result.budget, 'reference')} to grade"
    return ", ".join([what, *(f"{100 * share:.1f} % of the value of all references" for share in result.covered[-1:])])


def coverage_curve(result: WeightsPlanResult) -> Figure:
    """Draw the share that is covered against the number of references graded.

    Args:
        result: The plan.
    """
    graded, covered = np.array(_ends(result)).T
    return curves([Curve("covered", graded, covered)], xlabel="references graded", ylabel="share covered")
