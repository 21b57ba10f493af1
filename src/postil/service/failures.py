"""Errors between processes: a worker's error as a message, and the error again on the other side."""

from __future__ import annotations

from typing import Final

import msgspec

from postil.data.ids import plain_id
from postil.errors import InvalidInput, MissingExtra, PostilError, Undefined, UnknownName, UsageError
from postil.messages import COMMAND_LINE

__all__ = ["InternalError", "encode_error", "raised"]


class InternalError(PostilError):
    """A defect of this program, or of the machine; its log says more."""


PLAIN: Final = {kind.__name__: kind for kind in (Undefined, UsageError, InternalError)}
"""Errors that consist of their message."""


class _Failure(msgspec.Struct, frozen=True):
    """An error: its class, its message, and its parts if it has some."""

    kind: str
    message: str
    field: str = ""
    known: tuple[str, ...] = ()
    where: str = ""
    line: int | None = None


def encode_error(error: PostilError) -> bytes:
    """Encode an error as a message.

    One of a request has its words already; any other, as when models are opened, gets those of the command.

    Args:
        error: The error.
    """
    if isinstance(error, InvalidInput):
        problem = COMMAND_LINE.words(error.message)
        failure = _Failure("InvalidInput", problem, error.field, where=error.where, line=error.line)
    elif isinstance(error, UnknownName):
        failure = _Failure("UnknownName", error.name, error.kind, error.known)
    elif isinstance(error, MissingExtra):
        failure = _Failure("MissingExtra", error.what, error.extra)
    else:
        kind = next((name for name, each in PLAIN.items() if isinstance(error, each)), "PostilError")
        failure = _Failure(kind, error.words(COMMAND_LINE))
    return msgspec.json.encode(failure, enc_hook=plain_id)


def raised(message: bytes) -> PostilError:
    r"""The error that `encode_error` encoded.

    Args:
        message: The message.

    >>> raised(encode_error(InvalidInput("expected an integer, got \"5\"", field="k")))
    InvalidInput('k: expected an integer, got "5"')
    """
    failure = msgspec.json.decode(message, type=_Failure)
    if failure.kind == "InvalidInput":
        return InvalidInput(failure.message, where=failure.where, line=failure.line, field=failure.field)
    if failure.kind == "UnknownName":
        return UnknownName(failure.field, failure.message, failure.known)
    if failure.kind == "MissingExtra":
        return MissingExtra(failure.message, failure.field)
    return PLAIN.get(failure.kind, PostilError)(failure.message)
