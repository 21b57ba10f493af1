"""The files beside a page: its tables as CSV and LaTeX, and its results as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.page.blocks import Collapsed
from postil.results.formats import grid_as, plain_rows, rows_as_csv
from postil.results.table import Table
from postil.results.views import view_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from postil.page.blocks import Block, Chapter, Rows
    from postil.results.base import Result

__all__ = ["RESULTS", "csv_tables", "latex_tables"]

RESULTS: Final = "results.json"
"""Name of the file with all results."""


def latex_tables(chapter: Chapter) -> dict[str, bytes]:
    """The tables that a chapter shows, for the booktabs package, by file name.

    Args:
        chapter: The chapter.
    """
    sheets = (sheet for part in chapter.parts for sheet in _sheets(part.blocks))
    return {
        f"{chapter.key}{sheet.key}.tex": grid_as("latex", sheet.grid(typeset=True, page=True)).encode()
        for sheet in sheets
        if not sheet.long
    }


def csv_tables(result: Result, chapter: Chapter) -> dict[str, bytes]:
    """All numbers of a result in full, by file name; no file where there are no rows.

    Args:
        result: The result.
        chapter: Its chapter.
    """
    if chapter.numbers is None:
        view = view_of(result)
        name = f"{chapter.key}{result.__struct_config__.tag}.csv"
        return {name: rows_as_csv(view.rows, view.fields).encode()} if view.rows else {}
    return {
        f"{chapter.key}{name}.csv": rows_as_csv(rows, _fields(rows)).encode() for name, rows in chapter.numbers if rows
    }


def _sheets(several: Iterable[Block]) -> Iterator[Table]:
    for block in several:
        if isinstance(block, Table):
            yield block
        elif isinstance(block, Collapsed):
            yield from _sheets(block.blocks)


def _fields(rows: Rows) -> list[str]:
    return list(dict.fromkeys(name for row in plain_rows(rows) for name in row))
