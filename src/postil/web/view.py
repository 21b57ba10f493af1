"""Views of an audit log that was verified, and of the tokens of the service."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from postil.data.explain import counted
from postil.results.table import Count, Name, Table, Text
from postil.results.views import View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.web.audit_log import AuditLogResult
    from postil.web.tokens import TokensResult

__all__ = ["audit_log", "tokens"]


def audit_log(result: AuditLogResult) -> View:
    """Make the view of an audit log.

    Args:
        result: The log.
    """
    columns = (
        Name("file", "file"),
        Count("lines", "lines"),
        Count("lost", "lost"),
        Text("hash of the last line", "last"),
    )
    lines = counted(sum(one.lines for one in result.files), "line")
    return View(
        line=f"{lines} of {counted(len(result.files), 'file')}, none changed or removed",
        rows=result.files,
        grids=[Table(rows=result.files, columns=columns)],
        remarks=list(_remarks(result)),
    )


def _remarks(result: AuditLogResult) -> Iterator[str]:
    yield "no line was changed, inserted or removed; note the last hash to find later that the end was cut off"
    if result.files and result.files[0].first:
        yield f"{result.files[0].file}: the first line follows one of an earlier file, which was not given"
    if lost := sum(one.lost for one in result.files):
        yield f"{counted(lost, 'line')} could not be written, as the disk was full or the file out of reach"


def tokens(result: TokensResult) -> View:
    """Make the view of a file of tokens.

    Args:
        result: The tokens.
    """
    table = Table(
        key="tokens",
        rows=result.tokens,
        columns=(
            Name("token", "name"),
            Text("state", "state"),
            Text("scopes", lambda one: ", ".join(one.scopes)),
            Count("requests per minute", "rate", none="", dash=""),
            Text("created", "created"),
            Text("expires", "expires", none="", dash=""),
        ),
    )
    states = Counter(one.state for one in result.tokens)
    rest = [f"{states[state]} {state}" for state in ("expired", "revoked") if states[state]]
    return View(line=", ".join([counted(len(result.tokens), "token"), *rest]), rows=result.tokens, grids=[table])
