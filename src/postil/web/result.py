"""Parts of the outcomes of the commands of the service."""

from __future__ import annotations

from typing import Literal

from postil.data.parts import OptionalPart, Part
from postil.results.base import Result

__all__ = ["AuditLogFile", "AuditLogResult", "TokenInfo", "TokensResult"]


class AuditLogFile(Part, frozen=True, kw_only=True):
    """A file of an audit log whose lines are as they were written.

    Args:
        file: The file.
        lines: Number of lines.
        lost: Number of lines that could not be written, as the lines after them say, or the count beside the log.
        first: Hash of the line before the first one, in the file before; empty where the log begins here.
        last: Hash of the last line; empty where there is none.
    """

    file: str
    lines: int
    lost: int
    first: str
    last: str


class TokenInfo(OptionalPart, frozen=True, kw_only=True):
    """A token as the file of tokens has it, without its hash.

    Args:
        name: Its name.
        state: valid, expired or revoked.
        scopes: Its rights.
        created: Date of its making, in UTC.
        rate: Largest number of requests per minute; None for that of the service.
        expires: Date from which on it is refused; None for none.
        revoked: Date of its revocation; None if it was not revoked.
    """

    name: str
    state: Literal["valid", "expired", "revoked"]
    scopes: tuple[str, ...]
    created: str
    rate: int | None = None
    expires: str | None = None
    revoked: str | None = None


class AuditLogResult(Result, frozen=True, kw_only=True, tag="audit-log"):
    """An audit log whose lines are as they were written.

    Args:
        files: Its files, the oldest first.
    """

    files: tuple[AuditLogFile, ...]


class TokensResult(Result, frozen=True, kw_only=True, tag="tokens"):
    """The tokens of a file.

    Args:
        tokens: The tokens, in the order of their making.
    """

    tokens: tuple[TokenInfo, ...]
