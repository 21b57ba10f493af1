"""`postil report`: flags, nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from postil.cli.errors import exits, say

__all__ = ["report"]


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
    from postil.app.report import check_report, write_report  # noqa: PLC0415
    from postil.records.result_files import read_results  # noqa: PLC0415

    check_report(out, results)
    for path in write_report(read_results(results), out):
        say(f"written: {path}")
