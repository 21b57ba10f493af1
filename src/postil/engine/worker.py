"""A worker process of the local engine: reads parcels from standard input, answers on standard output."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from queue import SimpleQueue
from typing import IO, Final

from postil.engine.messages import Keeper

__all__ = ["ASK", "KEEP", "receive", "send", "serve"]

KEEP: Final = b"k"
ASK: Final = b"a"
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
    """Work until the other side has gone, however it ended, and then end as well, busy or not.

    What functions print goes to standard error. Interrupts are for the program to handle.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    inbox: SimpleQueue[tuple[bytes, bytes] | None] = SimpleQueue()
    threading.Thread(target=_listen, args=(questions, inbox), daemon=True).start()
    keeper = Keeper(b"")
    while message := inbox.get():
        kind, content = message
        if kind == KEEP:
            keeper = Keeper(content)
        else:
            send(answers, ASK, keeper.ask(content))


def _listen(stream: IO[bytes], inbox: SimpleQueue[tuple[bytes, bytes] | None]) -> None:
    """Listening goes on during work, so that a worker whose program was killed does not work on for nobody."""
    try:
        while True:
            inbox.put(receive(stream))
    except (EOFError, OSError):
        inbox.put(None)
        time.sleep(_GRACE)
        os._exit(1)
