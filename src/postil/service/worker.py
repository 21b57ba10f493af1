"""A process that works for the service: requests in, responses or errors out, as both sides know them.

A message is a kind, a length and its content: of a request the name of the operation, a line end and JSON. No pickle
is read on either side.
"""

from __future__ import annotations

import signal
from functools import partial
from typing import IO, TYPE_CHECKING, Final

import msgspec

from postil.data.fields import plain_id
from postil.engine.worker import send, take_streams
from postil.errors import InvalidInput, MissingExtra, PostilError, Undefined, UnknownName, UsageError
from postil.messages import COMMAND_LINE
from postil.web.error_log import log_failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from postil.engine.worker import Inbox

__all__ = ["DONE", "FAILED", "InternalError", "answer_all", "encode_error", "guarded", "raised", "taken_streams"]


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


DONE: Final = b"d"
FAILED: Final = b"f"
IGNORED: Final = ("SIGHUP", "SIGTERM")
"""Signals that a terminal or a supervisor sends to all processes of a service, and that its first process handles."""


def taken_streams() -> tuple[Inbox, IO[bytes]]:
    """The streams of a process that ends with the service alone; see `postil.engine.worker.take_streams`."""
    for name in IGNORED:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    return take_streams()


def answer_all(call: Callable[[str, bytes], bytes], inbox: Inbox, results: IO[bytes]) -> None:
    """Answer requests until the service ends.

    Args:
        call: Function of the name of an operation and the request; it returns the response.
        inbox: The requests, each with the name in front.
        results: Stream for responses.
    """
    while message := inbox.get():
        name, _, request = message[1].partition(b"\n")
        send(results, *guarded(partial(call, name.decode(), request)))


def guarded(function: Callable[[], bytes]) -> tuple[bytes, bytes]:
    """Kind and content of the message of an outcome: what a function returns, or its error.

    Args:
        function: The function.
    """
    try:
        return DONE, function()
    except PostilError as error:
        return FAILED, encode_error(error)
    except MemoryError:
        return FAILED, encode_error(InternalError("the request needs more memory than there is; send shorter texts"))
    except Exception:  # one request must not end the others
        log_failure("a worker")
        return FAILED, encode_error(InternalError("an internal error; the log of the service has its details"))
