"""The chapter of other kinds of result: the tables of their views."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from postil.render.page.blocks import Cell, Chapter, Line, Part, Sheet, Words
from postil.render.views import view_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from postil.records.results import Result
    from postil.render.formats import Grid

__all__ = ["viewed_chapter"]

TITLES: Final[Mapping[str, str]] = {
    "agreement": "Inter-annotator agreement",
    "commenters": "Commenters against readers",
    "evaluation": "Ranking of comments",
    "interesting": "Interesting passages",
    "plan": "An item assignment",
    "ranked-comments": "Ranked comments",
    "statistics": "Statistics of a corpus",
    "suggestions": "Suggested comments",
    "training": "A training",
}
"""Titles of chapters by kind."""

NUMBER: Final = re.compile(r"[-−+.,:%\[\]()\s\d–]*(e[+-]\d+)?")


def viewed_chapter(result: Result, key: str) -> Chapter:
    """The chapter of a result that is shown through its view.

    Args:
        result: The result.
        key: Prefix of the chapter's ids.
    """
    view, kind = view_of(result), str(result.__struct_config__.tag)
    title = TITLES.get(kind, kind)
    several = len(view.grids) > 1
    sheets = [
        _sheet(f"{kind}-{number}" if several else kind, f"{title}, table {number}" if several else title, grid)
        for number, grid in enumerate(view.grids, 1)
    ]
    return Chapter(
        key, title, view.head, (), (Part(f"{kind}-numbers", "Numbers", (*sheets, *map(Words, view.remarks))),)
    )


def _sheet(key: str, caption: str, grid: Grid) -> Sheet:
    head, *rows = grid
    words = [not all(map(NUMBER.fullmatch, column)) for column in zip(*rows, strict=True)]
    lines = (
        Line(row[0], tuple(Cell(text, words=of) for text, of in zip(row[1:], words[1:], strict=True))) for row in rows
    )
    return Sheet(key, caption, tuple(head), tuple(lines))
