"""View of the best passages of several pages: one row per passage; JSON Lines have one row per page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import to_builtins

from postil.data.ids import plain_id
from postil.interest.view import BEST, cards, fields, passages_table
from postil.messages import Message
from postil.results.formats import counted, excerpt, noted
from postil.results.views import View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.interest.result import InterestingPagesResult, PageSummary

__all__ = ["view"]

OF_PAGE: Final = ("source", "title", "url", "date", "lang", "file")
"""Fields of a page in each row of its passages."""

NAME: Final = 30
"""Number of characters of the name of a page in a table."""


def view(result: InterestingPagesResult) -> View:
    """Show the best passages of each page; rows have all of them whole, tables the beginnings of the first three.

    Args:
        result: The result.
    """
    columns = fields(passage for page in result.pages for passage in page.passages)
    rows = [
        {**{name: getattr(page, name) for name in OF_PAGE}, **{name: getattr(each, name, None) for name in columns}}
        for page in result.pages
        for each in page.passages or [None]
    ]
    best = [(_name(page), each) for page in result.pages for each in page.passages[:BEST] or [None]]
    passages = passages_table(result.measure, best, pages=True)
    number = sum(len(page.passages) for page in result.pages)
    failed = f", {len(result.failed):,} failed" if result.failed else ""
    return View(
        line=f"{counted(len(result.pages), 'page')}, {counted(number, 'passage')} by {result.measure}{failed}",
        rows=rows,
        fields=[*OF_PAGE, *columns],
        nested=[to_builtins(each, enc_hook=plain_id) for each in (*result.pages, *result.failed)],
        grids=[passages],
        remarks=list(_remarks(result)),
        signatures=[result.signature] if result.signature else [],
        cards=[*cards(passages)],
    )


def _name(page: PageSummary) -> str:
    return excerpt(page.title or page.source, NAME)


def _remarks(result: InterestingPagesResult) -> Iterator[str]:
    yield from (f"failed: {each.source}: {each.problem}" for each in result.failed)
    for page in result.pages:
        yield from (Message("note: {page}: {note}", page=_name(page), note=note) for note in page.notes)
    yield from noted(result.notes)
