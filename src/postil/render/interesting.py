"""View of `postil interesting`: ranked passages with the units that make their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.escaping import one_line
from postil.render.formats import counted, noted
from postil.render.views import View

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from postil.records.results import InterestingResult, RankedPassage

__all__ = ["BEST", "card_of", "cells", "fields", "summary", "values", "view"]

BEST: Final = 3
"""Number of passages of each of several pages that people are shown."""

SHOWN: Final = 80
"""Number of characters of a passage in a table."""

LOCATION: Final = ("start", "end", "page", "link")
"""Fields of a passage that only some documents have."""


def view(result: InterestingResult) -> View:
    """Show ranked passages; rows have whole texts, tables their beginnings.

    Args:
        result: The result.
    """
    columns = fields(result.passages)
    return View(
        rows=[values(each, columns) for each in result.passages],
        fields=columns,
        grids=[[["passage", result.measure, "top units"], *map(cells, result.passages)]],
        remarks=[*noted(result.notes)],
        signatures=[result.signature] if result.signature else [],
        cards=[card_of(each) for each in result.passages],
    )


def fields(passages: Iterable[RankedPassage]) -> list[str]:
    """Fields of passages that hold something: a location only where a document has one.

    Args:
        passages: The passages.
    """
    known = list(passages)
    always = ["rank", "index", "text", "score", "reasons"]
    return always + [name for name in LOCATION if any(getattr(each, name) is not None for each in known)]


def values(passage: RankedPassage, columns: Collection[str]) -> dict[str, object]:
    """Values of a passage for CSV, JSON Lines and data frames.

    Args:
        passage: The passage.
        columns: Names of its fields.
    """
    return {name: getattr(passage, name) for name in columns}


def cells(passage: RankedPassage) -> list[str]:
    """Cells of a passage in a table: its rank and beginning, its score, its units.

    Args:
        passage: The passage.
    """
    text = f"{passage.rank}. {one_line(passage.text)}"
    return [
        text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…",
        "-" if passage.score is None else f"{passage.score:.4f}",
        ", ".join(map(str, passage.reasons)),
    ]


def card_of(passage: RankedPassage, page: str = "") -> tuple[str, str]:
    """A passage in full, and below it the page, its score and its units.

    Args:
        passage: The passage.
        page: The name of its page, where there are several.
    """
    _, *about = cells(passage)
    return f"{passage.rank}. {passage.text}", " · ".join(filter(None, [page, *about]))


def summary(result: InterestingResult) -> str:
    """Number of passages, the measure, and the first passage.

    Args:
        result: The result.
    """
    first = "".join(f"; first: {each.text}" for each in result.passages[:1])
    return f"{counted(len(result.passages), 'passage')} by {result.measure}{first}"
