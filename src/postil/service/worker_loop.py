"""The loop of a process that works for the service: requests in, responses or errors out."""

from __future__ import annotations

import signal
from functools import partial
from typing import IO, TYPE_CHECKING, Final

from postil.engine.worker import send, take_streams
from postil.errors import PostilError
from postil.service.error_log import log_failure
from postil.service.failures import InternalError, encode_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from postil.engine.worker import Inbox

__all__ = ["DONE", "FAILED", "answer_all", "guarded", "taken_streams"]

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
