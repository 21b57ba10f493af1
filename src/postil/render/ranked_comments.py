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


def summary(result: RankedCommentsResult) -> str:
    """Numbers of comments and articles.

    Args:
        result: The ranked comments.
    """
    sizes = (len(result.comments), len({row.article for row in result.comments}))
    return ", ".join(map(counted, sizes, ("comment", "article")))
