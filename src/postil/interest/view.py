"""View of `postil interesting`: ranked passages with the units that make their scores."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Final, TypeAlias

from postil.data.escaping import one_line
from postil.results.formats import counted, noted
from postil.results.table import Name, Number, Table, Text
from postil.results.views import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from postil.interest.result import InterestingResult, RankedPassage

__all__ = ["BEST", "Passage", "cards", "fields", "passages_table", "view"]

BEST: Final = 3
"""Number of passages of each of several pages that people are shown."""

SHOWN: Final = 80
"""Number of characters of a passage in a table."""

LOCATION: Final = ("start", "end", "page", "link")
"""Fields of a passage that only some documents have."""

Passage: TypeAlias = "tuple[str, RankedPassage | None]"
"""The name of a page, and one of its passages; None where it has none."""


def view(result: InterestingResult) -> View:
    """Show ranked passages; rows have whole texts, tables their beginnings.

    Args:
        result: The result.
    """
    columns = fields(result.passages)
    passages = passages_table(result.measure, [("", each) for each in result.passages])
    first = "".join(f"; first: {each.text}" for each in result.passages[:1])
    return View(
        line=f"{counted(len(result.passages), 'passage')} by {result.measure}{first}",
        rows=[{name: getattr(each, name) for name in columns} for each in result.passages],
        fields=columns,
        grids=[passages],
        remarks=[*noted(result.notes)],
        signatures=[result.signature] if result.signature else [],
        cards=[*cards(passages)],
    )


def fields(passages: Iterable[RankedPassage]) -> list[str]:
    """Fields of passages that hold something: a location only where a document has one.

    Args:
        passages: The passages.
    """
    known = list(passages)
    always = ["rank", "index", "text", "score", "reasons"]
    return always + [name for name in LOCATION if any(getattr(each, name) is not None for each in known)]


def passages_table(measure: str, rows: Sequence[Passage], *, pages: bool = False) -> Table:
    """Ranked passages: the rank and beginning of each, its score, its units.

    Args:
        measure: The measure that ranks them.
        rows: The passages.
        pages: True for a column of the names of pages.
    """
    return Table(
        rows=rows,
        columns=(
            Name("passage", lambda row: _beginning(row[1])),
            *([Text("page", itemgetter(0))] if pages else []),
            Number(measure, "score", at=itemgetter(1), digits=4, zero=True),
            Text("top units", lambda each: ", ".join(map(str, each.reasons)), at=itemgetter(1), none="", dash=""),
        ),
    )


def _beginning(passage: RankedPassage | None) -> str:
    text = "(no passage)" if passage is None else f"{passage.rank}. {one_line(passage.text)}"
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def cards(table: Table) -> Iterator[tuple[str, str]]:
    """Each passage in full, with its page, its score and its units.

    Args:
        table: A table of passages.
    """
    for (_, passage), (_, *about) in zip(table.rows, table.grid(typeset=False)[1:], strict=True):
        if passage is not None:
            yield f"{passage.rank}. {passage.text}", " · ".join(filter(None, about))
