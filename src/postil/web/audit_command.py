"""`postil check-audit`: flags, and what is printed."""

from __future__ import annotations

from typing import Annotated

from postil.cli.command import Argument, FormatOption, Option, command
from postil.cli.output import emit, tell

__all__ = ["check"]


@command
def check(
    files: Annotated[
        list[str], Argument(metavar="FILES", help="Files of the log of postil serve --audit, the oldest first.")
    ],
    *,
    contains: Annotated[
        str | None,
        Option(metavar="HASH", help="Hash of a line that was noted earlier; all up to it must be as it was."),
    ] = None,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Verify an audit log: each line has the hash of the line before it.

    A line that was changed, inserted or removed ends with exit code 3 and its number.

    Example: postil check-audit audit.jsonl.1 audit.jsonl
    """
    from postil.results.views import show, view_of  # noqa: PLC0415
    from postil.web.audit_log import check_audit  # noqa: PLC0415

    result = check_audit(files, contains)
    emit(show(format, result), format)
    tell(format, view_of(result).remarks)
