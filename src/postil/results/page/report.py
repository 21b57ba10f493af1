"""`postil report`: results in, one self-contained HTML page out, with its tables as CSV, LaTeX and JSON beside it."""

from __future__ import annotations

import os
import platform
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.util import find_spec
from itertools import compress, count
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from postil.data.atomic_file import check_apart, write_file, writing
from postil.errors import InvalidInput, MissingExtra, UsageError
from postil.messages import Message, spoken
from postil.results.base import Result, encoded, read_results
from postil.results.formats import grid_as, listed, plain_rows, rows_as_cells
from postil.results.page.blocks import NAME, Block, Chapter, Collapsed, clean, isolated, plain
from postil.results.page.chapters import chapter
from postil.results.table import Table
from postil.results.views import view_of
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from markupsafe import Markup

    from postil.data.streams import FilePath

__all__ = ["check_report", "csv_tables", "report", "write_report"]

RESULTS: Final = "results.json"
"""Name of the file with all results."""

SHORT: Final = 30
"""Largest number of characters of a name without line breaks."""

NAMED: Final = 3
"""Number of chapters that the title of a page names."""

ENDINGS: Final = (".html", ".htm")
"""Endings of the name of a page."""

NEEDED: Final = ("jinja2", "matplotlib")
"""Packages of the extra."""


def latex_tables(chapter: Chapter) -> dict[str, bytes]:
    """The tables that a chapter shows, for the booktabs package, by file name.

    Args:
        chapter: The chapter.
    """
    return {
        f"{chapter.key}{sheet.key}.tex": grid_as("latex", sheet.grid(typeset=True, page=True)).encode()
        for part in chapter.parts
        for sheet in _sheets(part.blocks)
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
        return {name: str(view.cells()).encode()} if view.rows else {}
    return {
        f"{chapter.key}{name}.csv": str(
            rows_as_cells(rows, list(dict.fromkeys(field for row in plain_rows(rows) for field in row)))
        ).encode()
        for name, rows in chapter.numbers
        if rows
    }


def _sheets(several: Iterable[Block]) -> Iterator[Table]:
    for block in several:
        if isinstance(block, Table):
            yield block
        elif isinstance(block, Collapsed):
            yield from _sheets(block.blocks)


def html(title: str, chapters: Sequence[Chapter], beside: Mapping[str, str]) -> str:
    """A page.

    Args:
        title: Its title.
        chapters: Its chapters.
        beside: Relative URL of each file beside the page, by its name.
    """
    import jinja2  # noqa: PLC0415 - optional

    style = _file("tokens.css") + _file("page.css")

    def links(stem: str) -> list[tuple[str, str]]:
        kinds = {"csv": "CSV", "tex": "LaTeX"}
        return [(beside[f"{stem}.{end}"], kind) for end, kind in kinds.items() if f"{stem}.{end}" in beside]

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, finalize=_finalize, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"marked": _marked, "plain": plain}
    return environment.from_string(_file("page.html")).render(
        title=title,
        level=2 if len(chapters) == 1 else 3,
        chapters=chapters,
        links=links,
        results=beside[RESULTS],
        style=style,
        style_hash=b64encode(sha256(style.encode()).digest()).decode(),
        made_by=_made_by(),
    )


def _finalize(value: object) -> object:
    """Put a message into words, and remove invalid characters from a text before it is escaped."""
    value = spoken(value) if isinstance(value, Message) else value
    return clean(value) if type(value) is str else value  # what is marked as HTML is of a class of its own


def _marked(text: str) -> Markup:
    """A sentence as HTML, with its names marked as such."""
    from markupsafe import Markup  # noqa: PLC0415 - comes with jinja2

    def shown(name: str) -> Markup:
        return Markup('<bdi class="{}">{}</bdi>').format("short" if len(name) <= SHORT else "name", name)

    pieces = NAME.split(clean(spoken(text)))  # words and names in turn
    return Markup().join(shown(plain(piece)) if place % 2 else plain(piece) for place, piece in enumerate(pieces))


def _file(name: str) -> str:
    return (files("postil.results.page") / name).read_text(encoding="utf-8")


def _made_by() -> str:
    packages = [f"postil {VERSION}", f"Python {platform.python_version()}"]
    for name in ("numpy", "matplotlib"):
        try:
            packages.append(f"{name} {version(name)}")
        except PackageNotFoundError:  # installed without its description
            packages.append(name)
    return ", ".join(packages)


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


def write_report(results: Sequence[Result], out: str | PathLike[str]) -> list[Path]:
    """Write a page, and its tables as CSV, LaTeX and JSON into a folder beside it.

    The page is whole in itself; the folder is named after it: ``report_files`` for ``report.html``. The same results
    give the same bytes. Each file is written atomically, the page last.

    Args:
        results: Results, from commands or from `postil.results.base.read_results`; one chapter each.
        out: The page. One that is there is replaced.

    Returns:
        The page and the folder.

    Raises:
        InvalidInput: There is no result, or one holds a number that is not finite.
        UsageError: The name of the page does not end in .html, or its folder is missing.
        MissingExtra: jinja2 or matplotlib is not installed.
        PostilError: The operating system reports an error.
    """
    target = check_report(out)
    folder = target.with_name(f"{target.stem}_files")
    everything = encoded(results)
    text, tables = page(results, folder.name)
    with writing(folder):
        folder.mkdir(exist_ok=True)
    files = {RESULTS: everything, **tables}
    for path, data in [*((folder / name, data) for name, data in files.items()), (target, text.encode())]:
        write_file(path, data)
    return [target, folder]


def report(*results: Result | FilePath, path: FilePath) -> Path:
    """Write one HTML page of results, with tables beside it as CSV, LaTeX and JSON.

    Args:
        results: Results, or JSON files of results that commands wrote; one chapter each, in this order.
        path: The page, a name that ends in ``.html``; one that is there is replaced. The tables go into a folder beside
            it that is named after it: ``report_files`` for ``report.html``.

    Returns:
        The page. It is whole in itself and opens from disk.

    Raises:
        InvalidInput: There is no result, a file holds none, or a number is not finite.
        UsageError: An argument is of another kind, the name of the page does not end in ``.html``, or its folder is
            missing.
        MissingExtra: jinja2 or matplotlib is not installed.

    >>> import pathlib, postil, tempfile
    >>> scores = postil.score(["a b", "b c"], [["a b"], ["b c d"]], metrics=["rouge-l"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = postil.report(scores, path=pathlib.Path(folder) / "report.html")
    ...     page.name, sorted(each.name for each in page.parent.iterdir())
    ('report.html', ['report.html', 'report_files'])
    """
    for number, each in enumerate(results, start=1):
        if not isinstance(each, Result | str | os.PathLike):
            raise UsageError(f"results: expected results or paths of JSON files, got {type(each).__name__} ({number})")
    check_report(path, [each for each in results if not isinstance(each, Result)])
    found = [[each] if isinstance(each, Result) else read_results([each]) for each in results]
    return write_report([result for several in found for result in several], path)[0]


def check_report(out: str | PathLike[str], inputs: Iterable[str | PathLike[str]] = ()) -> Path:
    """Check that a page can be written, before the work is done.

    Args:
        out: The page.
        inputs: The files that are read.

    Returns:
        The page.

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
        raise MissingExtra("a report", "report")
    check_apart(page, inputs)
    return page
