"""A worker of the service: a process that holds the models and answers one request after the other."""

from __future__ import annotations

import gc

from postil.engine.worker import send
from postil.service.operations import ServiceModels
from postil.service.options import ServiceConfig
from postil.service.worker_loop import DONE, answer_all, guarded, taken_streams

__all__ = ["serve"]


def serve() -> None:
    """Open the models of the configuration that the first message is, then answer requests, until the program ends.

    The response to the configuration is that of the operation ``models``.
    """
    inbox, results = taken_streams()
    if (config := inbox.get()) is None:
        return
    opened: list[ServiceModels] = []

    def listed() -> bytes:
        opened.append(ServiceModels.open(ServiceConfig.decoded(config[1])))
        return opened[0].call("models", b"{}")

    kind, answer = guarded(listed)
    gc.collect()
    gc.freeze()  # models stay for good, and no collection needs to look at them
    send(results, kind, answer)
    if kind == DONE:
        answer_all(opened[0].call, inbox, results)
