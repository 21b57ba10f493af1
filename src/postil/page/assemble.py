"""A whole page: the chapters of several results, their titles and the files beside it."""

from __future__ import annotations

from dataclasses import replace
from itertools import compress, count
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from postil.errors import InvalidInput
from postil.page.chapters import chapter
from postil.page.exports import RESULTS, csv_tables, latex_tables
from postil.page.html import html
from postil.page.words import isolated
from postil.results.formats import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.results.base import Result

__all__ = ["page"]

NAMED: Final = 3
"""Number of chapters that the title of a page names."""


def page(results: Sequence[Result], folder: str) -> tuple[str, dict[str, bytes]]:
    """Render results as a page.

    Args:
        results: The results; one chapter each.
        folder: Name of the folder beside the page.

    Returns:
        The page, and the tables of the folder by file name.

    Raises:
        InvalidInput: There is no result.
    """
    if not results:
        raise InvalidInput("there are no results", where="results")
    names = list(_names(results))
    keys = [f"{number}-" if len(results) > 1 else "" for number in range(1, len(results) + 1)]
    chapters = [chapter(result, key) for result, key in zip(results, keys, strict=True)]
    tables: dict[str, bytes] = {}
    for result, made in zip(results, chapters, strict=True):
        tables |= csv_tables(result, made) | latex_tables(made)
    title = chapters[0].title
    if len(chapters) > 1:
        title = _title([made.title for made in chapters], names, [made.leads for made in chapters])
        chapters = [replace(made, title=f"{made.title}: {name}") for made, name in zip(chapters, names, strict=True)]
    return html(title, chapters, {name: quote(f"{folder}/{name}") for name in sorted([RESULTS, *tables])}), tables


def _names(results: Sequence[Result]) -> Iterator[str]:
    """A unique name for each result, for titles."""
    taken: set[str] = set()
    for result in results:
        name = result.name or str(result.__struct_config__.tag)
        own = next(each for n in count(1) if (each := name if n == 1 else f"{name} ({n})") not in taken)
        taken.add(own)
        yield isolated(own)


def _title(kinds: Sequence[str], names: Sequence[str], leading: Sequence[bool]) -> str:
    """Title of a page of several chapters: that of the one that the others belong to, else of all of them.

    >>> _title(["A paper", "Metrics against human ratings"], ["forum", "people"], [True, False])
    'A paper: forum'
    >>> _title(["Metrics against human ratings"] * 3, ["en", "zh", "de"], [False] * 3)
    'Metrics against human ratings: en, zh and de'
    """
    if any(leading):
        return listed([f"{kind}: {name}" for kind, name in compress(zip(kinds, names, strict=True), leading)])
    different = list(dict.fromkeys(kinds))
    return listed(different, most=NAMED) if len(different) > 1 else f"{kinds[0]}: {listed(names, most=NAMED)}"
