"""View of ranked comments: one row per comment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from postil.records.suggestions import RankedComment
from postil.render.formats import counted, excerpt
from postil.render.views import View

if TYPE_CHECKING:
    from postil.records.results import RankedCommentsResult

__all__ = ["summary", "view"]

TEXT, REASONS = 50, 100
"""Maximum numbers of characters of a comment and of its reasons in a table."""


def view(result: RankedCommentsResult) -> View:
    """Make the view of ranked comments.

    Args:
        result: The ranked comments.
    """
    why = ["reasons", *(excerpt("; ".join(row.reasons), REASONS) for row in result.comments)]
    width = max(map(len, why))
    grid = [["comment", "article", "id", "rank", "score", why[0].ljust(width)]]
    grid += [
        [excerpt(row.text, TEXT), row.article, row.comment, str(row.rank), f"{row.score:.4f}", reasons.ljust(width)]
        for row, reasons in zip(result.comments, why[1:], strict=True)
    ]
    document = [["comment", "article", "id", "rank", "score", "reasons"]]
    document += [
        [row.text, row.article, row.comment, str(row.rank), f"{row.score:.4f}", "; ".join(row.reasons)]
        for row in result.comments
    ]
    nested = [msgspec.structs.asdict(row) for row in result.comments]
    rows = [{**row, "reasons": "; ".join(row["reasons"])} for row in nested]
    return View(rows=rows, fields=RankedComment.__struct_fields__, grids=[grid], documents=[document], nested=nested)


def summary(result: RankedCommentsResult) -> str:
    """Numbers of comments and articles.

    Args:
        result: The ranked comments.
    """
    sizes = (len(result.comments), len({row.article for row in result.comments}))
    return ", ".join(map(counted, sizes, ("comment", "article")))
