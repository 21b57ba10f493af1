"""View of a plan of which references to grade: one row per reference, and the coverage after each tenth."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.data.explain import counted
from postil.data.rows import PlannedReference
from postil.messages import Blank, Listed, Message, Setting
from postil.results.formats import excerpt, noted
from postil.results.page.blocks import Picture
from postil.results.plots.lines import Curve, curves
from postil.results.table import Count, Figure, Name, Number, Table, Text
from postil.results.views import View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.weights.calls import WeightsPlanResult

__all__ = ["pictures", "view"]

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
    planned = Table(
        key="references",
        rows=result.rows[:FIRST],
        columns=(
            Name("order", lambda row: f"{row.order}"),
            Text("item", "item"),
            Count("reference", "reference", separated=False),
            Number("gain", "gain", zero=True),
            Text("text", lambda row: excerpt(row.text, WIDTH)),
        ),
    )
    more = len(result.rows) - FIRST
    remarks = [Message("{more}: {all}, has all", more=counted(more, "more reference"), all=ALL)] if more > 0 else []
    columns = (Name("graded", lambda end: f"{end[0]:,}"), Figure("covered", lambda end: f"{100 * end[1]:.1f} %"))
    share = [f"{100 * share:.1f} % of the value of all references" for share in result.covered[-1:]]
    line = ", ".join([f"{counted(result.budget, 'reference')} to grade", *share])
    return View(
        line=line,
        rows=result.rows,
        fields=PlannedReference.__struct_fields__,
        grids=[planned, Table(key="covered", rows=_ends(result), columns=columns)],
        head=line,
        remarks=[*remarks, *noted(result.notes)],
        cards=[
            (f"{row.order}. {row.text}", f"{row.item} · reference {row.reference} · gain {row.gain:.3f}")
            for row in planned.rows
        ],
    )


def _ends(result: WeightsPlanResult) -> list[tuple[int, float]]:
    """Number of references after each tenth of the budget, and the share that they cover."""
    parts = len(result.covered)
    ends = [-(-result.budget * part // parts) for part in range(1, parts + 1)]
    return list(dict(zip(ends, result.covered, strict=True)).items())


def pictures(result: WeightsPlanResult) -> Iterator[Picture]:
    """The picture of the coverage, if there is something to draw.

    Args:
        result: The plan.
    """
    if result.budget > 1 and result.covered:
        title = "Share of the value of all references by references graded"
        graded, covered = np.array(_ends(result)).T
        line = Curve("covered", graded, covered)
        draw = partial(curves, [line], xlabel="references graded", ylabel="share covered")
        yield Picture("coverage", title, title, title, draw)
