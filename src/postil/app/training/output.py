"""How well a commenter finds comments, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from postil.records.results import SCHEMA, to_json
from postil.render.formats import grid_as, rows_as_csv, rows_as_jsonl

if TYPE_CHECKING:
    from postil.records.results import RankingResult
    from postil.render.formats import Format

__all__ = ["evaluation_as"]


def evaluation_as(form: Format, found: RankingResult) -> str:
    """A row a scorer, a column a measure, with 95 % intervals.

    Args:
        form: The format.
        found: The evaluation.
    """
    rows = [msgspec.to_builtins(row) for row in found.rows]
    if form == "json":
        differences, absent = (
            [msgspec.to_builtins(row) for row in several] for several in (found.differences, found.absent)
        )
        return to_json(
            {"schema": SCHEMA, "kind": "evaluation", "rows": rows, "differences": differences, "absent": absent}
        )
    if form == "jsonl":
        return rows_as_jsonl(rows)
    if form == "csv":
        return rows_as_csv(rows)
    measures = list(dict.fromkeys(row.measure for row in found.rows))
    cells = {(row.scorer, row.measure): f"{row.value:.3f} [{row.low:.3f}, {row.high:.3f}]" for row in found.rows}
    grid = [["ranked by", *measures]]
    grid += [
        [name, *(cells[name, measure] for measure in measures)]
        for name in dict.fromkeys(row.scorer for row in found.rows)
    ]
    text = grid_as(form, grid)
    if form == "table":
        text += "".join(f"{row.scorer}: {row.reason}\n" for row in found.absent)
    return text
