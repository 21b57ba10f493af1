"""View of ranked comments: one row per comment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from postil.records.suggestions import RankedComment
from postil.render.formats import excerpt
from postil.render.views import View

if TYPE_CHECKING:
    from postil.records.results import RankedCommentsResult

__all__ = ["view"]


def view(result: RankedCommentsResult) -> View:
    """Make the view of ranked comments.

    Args:
        result: The ranked comments.
    """
    grid = [["comment", "article", "id", "rank", "score"]]
    grid += [
        [excerpt(row.text), row.article, row.comment, str(row.rank), f"{row.score:.4f}"] for row in result.comments
    ]
    rows = [msgspec.structs.asdict(row) for row in result.comments]
    return View(rows=rows, fields=RankedComment.__struct_fields__, grids=[grid])
