"""`postil check-audit`."""

from __future__ import annotations

from typing import Annotated

import typer

from postil.cli.command import command
from postil.cli.errors import emit, tell
from postil.cli.options import FormatOption
from postil.results.views import show, view_of
from postil.web.audit_log import check_audit

__all__ = ["check"]


@command
def check(
    files: Annotated[
        list[str], typer.Argument(metavar="FILES", help="Files of the log of postil serve --audit, the oldest first.")
    ],
    *,
    contains: Annotated[
        str | None,
        typer.Option(metavar="HASH", help="Hash of a line that was noted earlier; all up to it must be as it was."),
    ] = None,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Verify an audit log: each line has the hash of the line before it.

    A line that was changed, inserted or removed ends with exit code 3 and its number.

    Example: postil check-audit audit.jsonl.1 audit.jsonl
    """
    result = check_audit(files, contains)
    emit(show(format, result), format)
    tell(format, view_of(result).remarks)
