"""A worker process of the local engine: reads messages from standard input, answers on standard output."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from queue import SimpleQueue
from typing import IO, Final

from postil.engine.messages import WorkerState

__all__ = ["CALL", "LOAD", "receive", "send", "serve"]

LOAD: Final = b"k"
CALL: Final = b"a"
_BYTES: Final = 8  # of a length
_GRACE: Final = 1.0  # seconds


def send(stream: IO[bytes], kind: bytes, content: bytes) -> None:
    """Write one message: its kind, its length, its content."""
    stream.write(kind + len(content).to_bytes(_BYTES, "big"))
    stream.write(content)
    stream.flush()


def receive(stream: IO[bytes]) -> tuple[bytes, bytes]:
    """Read one message.

    Raises:
        EOFError: The other side has gone.
    """
    head = stream.read(1 + _BYTES)
    length = int.from_bytes(head[1:], "big")
    content = stream.read(length) if len(head) == 1 + _BYTES else b""
    if len(head) < 1 + _BYTES or len(content) < length:
        raise EOFError
    return head[:1], content


def serve() -> None:
    """Serve requests until the program has gone, however it ended; then end as well, busy or not.

    What functions print goes to standard error. Interrupts are for the program to handle.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, results = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    inbox: SimpleQueue[tuple[bytes, bytes] | None] = SimpleQueue()
    threading.Thread(target=_listen, args=(requests, inbox), daemon=True).start()
    state = WorkerState(b"")
    while message := inbox.get():
        kind, content = message
        if kind == LOAD:
            state = WorkerState(content)
        else:
            send(results, CALL, state.call(content))


def _listen(stream: IO[bytes], inbox: SimpleQueue[tuple[bytes, bytes] | None]) -> None:
    """Read messages in a thread of its own, so that a worker whose program was killed ends even while it works."""
    try:
        while True:
            inbox.put(receive(stream))
    except (EOFError, OSError):
        inbox.put(None)
        time.sleep(_GRACE)
        os._exit(1)
