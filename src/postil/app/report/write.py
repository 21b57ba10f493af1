"""The journey of `postil report`: results in, a page with tables beside it out."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from postil.app.report.beside import RESULTS, csv_tables, latex_tables, results_as_json
from postil.app.report.chapters import chapter
from postil.app.report.page import html
from postil.app.report.read import typed
from postil.app.report.words import isolated, listed
from postil.errors import MissingExtra, UsageError
from postil.records.atomic_file import Replacement, check_apart, refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike

__all__ = ["ENDINGS", "check_report", "write_report"]

ENDINGS: Final = (".html", ".htm")
"""How the name of a page ends."""

NEEDED: Final = ("jinja2", "matplotlib")
"""Packages that are not there without the extra."""

NAMED: Final = 3
"""So many chapters are named in the title of a page."""


def write_report(results: Sequence[Mapping[str, object]], out: str | PathLike[str]) -> list[Path]:
    """Write a page, and its tables as CSV, LaTeX and JSON into a folder beside it.

    The page is whole in itself; the folder is named after it: ``report_files`` for ``report.html``. The same results
    give the same bytes. A file appears whole or not at all, the page last.

    Args:
        results: What `read_results` gave, or what the commands make; a chapter each.
        out: The page. One that is there is replaced.

    Returns:
        The page and the folder.

    Raises:
        InvalidInput: A result is not what any command makes.
        UsageError: The name of the page does not end in .html, or its folder is missing.
        MissingExtra: jinja2 or matplotlib is not installed.
        PostilError: The system refuses to write.
    """
    page = check_report(out)
    found = typed(results)
    beside = {RESULTS: results_as_json(results)}
    chapters = [chapter(result, f"{number}-" if len(found) > 1 else "") for number, result in enumerate(found, 1)]
    for result, made in zip(found, chapters, strict=True):
        beside |= csv_tables(result, made.key) | latex_tables(made)
    title = chapters[0].title
    if len(chapters) > 1:
        names = [isolated(result.name) for result in found]
        title = _title([made.title for made in chapters], names, [each.get("kind") == "study" for each in results])
        chapters = [replace(made, title=f"{made.title}: {name}") for made, name in zip(chapters, names, strict=True)]
    folder = page.with_name(f"{page.stem}_files")
    text = html(title, chapters, {name: quote(f"{folder.name}/{name}") for name in sorted(beside)})
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise refused(str(folder), error) from error
    for path, data in [*((folder / name, data) for name, data in beside.items()), (page, text.encode())]:
        with Replacement(str(path)) as stream:
            stream.write(data)
    return [page, folder]


def _title(kinds: Sequence[str], names: Sequence[str], studies: Sequence[bool]) -> str:
    """What a page of several chapters is called: as its study, which the others belong to, else as they are.

    >>> _title(["A paper", "Metrics against people"], ["forum", "people"], [True, False])
    'A paper: forum'
    >>> _title(["Metrics against people"] * 3, ["en", "zh", "de"], [False] * 3)
    'Metrics against people: en, zh and de'
    """
    if any(studies):
        return listed([f"{kind}: {name}" for kind, name in compress(zip(kinds, names, strict=True), studies)])
    different = list(dict.fromkeys(kinds))
    return listed(different, most=NAMED) if len(different) > 1 else f"{kinds[0]}: {listed(names, most=NAMED)}"


def check_report(out: str | PathLike[str], inputs: Iterable[str | PathLike[str]] = ()) -> Path:
    """The page, if one can be written there; for those who compute for long before they write.

    Args:
        out: The page.
        inputs: The files that are read.

    Raises:
        UsageError: Its name does not end in .html, its folder is missing, or it is one of the inputs.
        MissingExtra: jinja2 or matplotlib is not installed.
    """
    page = Path(out)
    if page.suffix.lower() not in ENDINGS or page.is_dir():
        raise UsageError(f"{page}: expected the name of a file that ends in .html")
    if not page.parent.is_dir():
        raise UsageError(f"{page}: parent folder {page.parent} does not exist")
    if not all(map(find_spec, NEEDED)):
        raise MissingExtra("a report", "plot")
    check_apart(page, inputs)
    return page
