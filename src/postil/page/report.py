"""`postil report`: results in, a page with tables beside it out."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from postil.data.atomic_file import AtomicFile, check_apart, write_error
from postil.errors import MissingExtra, UsageError
from postil.page.assemble import page
from postil.page.exports import RESULTS
from postil.results.base import Result
from postil.results.result_files import encoded, read_results

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from postil.data.row_files import FilePath

__all__ = ["check_report", "report", "write_report"]

ENDINGS: Final = (".html", ".htm")
"""Endings of the name of a page."""

NEEDED: Final = ("jinja2", "matplotlib")
"""Packages of the extra."""


def write_report(results: Sequence[Result], out: str | PathLike[str]) -> list[Path]:
    """Write a page, and its tables as CSV, LaTeX and JSON into a folder beside it.

    The page is whole in itself; the folder is named after it: ``report_files`` for ``report.html``. The same results
    give the same bytes. Each file is written atomically, the page last.

    Args:
        results: Results, from commands or from `postil.results.result_files.read_results`; one chapter each.
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
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise write_error(str(folder), error) from error
    files = {RESULTS: everything, **tables}
    for path, data in [*((folder / name, data) for name, data in files.items()), (target, text.encode())]:
        with AtomicFile(str(path)) as stream:
            stream.write(data)
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
        raise MissingExtra("a report", "plot")
    check_apart(page, inputs)
    return page
