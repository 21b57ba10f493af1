"""`postil report`, and results of other commands with the page that ``--report`` asks for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from postil.cli.errors import emit, exits, say, tell

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from postil.results.base import Result
    from postil.results.formats import Format

__all__ = ["print_result", "report"]


@exits
def report(
    results: Annotated[
        list[Path], typer.Argument(metavar="RESULTS", help="Results that other commands printed with --format json.")
    ],
    *,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Output page.")] = Path("report.html"),
) -> None:
    """Write one page from the results of other commands.

    It opens from disk, and has CSV and LaTeX tables beside it.

    Example: postil correlate scores.jsonl --judgements judgements.jsonl --format json > c.json; postil report c.json
    """
    from postil.results.page.report import check_report, write_report  # noqa: PLC0415
    from postil.results.result_files import read_results  # noqa: PLC0415

    check_report(out, results)
    for path in write_report(read_results(results), out):
        say(f"written: {path}")


def print_result(make: Callable[[], Result], form: Format, page: Path | None, inputs: Sequence[str]) -> None:
    """Make a result, write its page if there is one to write, and print it.

    Args:
        make: Function that makes it.
        form: Format to print it in.
        page: HTML report to write; refused before the work is done where it cannot be.
        inputs: Files that are read, which the page must not replace.
    """
    from postil.results.views import show, view_of  # noqa: PLC0415

    if page:
        from postil.results.page.report import check_report, write_report  # noqa: PLC0415  # matplotlib is behind it

        check_report(page, inputs)
    result = make()
    if page:
        for path in write_report([result], page):
            say(f"written: {path}")
    shown = view_of(result)
    emit(show(form, result, shown), form)
    tell(form, shown.remarks)
