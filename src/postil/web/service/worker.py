"""A worker of the service: a process that holds the models and answers one request after the other."""

from __future__ import annotations

import gc
import signal
import traceback
from typing import TYPE_CHECKING, Final

from postil.app.service.config import ServiceConfig
from postil.app.service.operations import ServiceModels
from postil.engine.worker import send, take_streams
from postil.errors import PostilError
from postil.web.service.failures import InternalError, encode_error

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["DONE", "FAILED", "serve"]

DONE: Final = b"d"
FAILED: Final = b"f"
IGNORED: Final = ("SIGHUP", "SIGTERM")
"""Signals that a terminal or a supervisor sends to all processes of a service, and that its first process handles."""


def serve() -> None:
    """Open the models of the configuration that the first message is, then answer requests, until the program ends.

    The response to the configuration is that of the operation ``models``.
    """
    for name in IGNORED:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    inbox, results = take_streams()
    if (config := inbox.get()) is None:
        return
    opened: list[ServiceModels] = []

    def listed() -> bytes:
        opened.append(ServiceModels.open(ServiceConfig.decoded(config[1])))
        return opened[0].call("models", b"{}")

    kind, answer = _guarded(listed)
    gc.collect()
    gc.freeze()  # models stay for good, and no collection needs to look at them
    send(results, kind, answer)
    while kind == DONE and (message := inbox.get()):
        send(results, *_answered(opened[0], message[1]))


def _answered(models: ServiceModels, content: bytes) -> tuple[bytes, bytes]:
    name, _, request = content.partition(b"\n")
    return _guarded(lambda: models.call(name.decode(), request))


def _guarded(function: Callable[[], bytes]) -> tuple[bytes, bytes]:
    try:
        return DONE, function()
    except PostilError as error:
        return FAILED, encode_error(error)
    except MemoryError:
        return FAILED, encode_error(InternalError("the request needs more memory than there is; send shorter texts"))
    except Exception:  # one request must not end the others
        traceback.print_exc()
        return FAILED, encode_error(InternalError("an internal error; the log of the service has its details"))
