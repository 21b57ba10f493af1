"""A worker process of the local engine: reads messages from standard input, answers on standard output."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from multiprocessing.spawn import get_executable
from queue import SimpleQueue
from typing import IO, Final, TypeAlias

from postil.engine.messages import WorkerState

__all__ = [
    "CALL",
    "HEAD",
    "LOAD",
    "Inbox",
    "command",
    "described",
    "environment",
    "head",
    "length_of",
    "receive",
    "send",
    "serve",
    "take_streams",
]

Inbox: TypeAlias = "SimpleQueue[tuple[bytes, bytes] | None]"
"""Messages for a worker, each with its kind; None at the end."""

LOAD: Final = b"k"
CALL: Final = b"a"
_BYTES: Final = 8  # of a length
HEAD: Final = 1 + _BYTES
"""Number of bytes before the content of a message."""

_GRACE: Final = 1.0  # seconds
_ARITHMETIC: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def command(module: str) -> list[str]:
    """The command of a new interpreter that imports what this one can, and runs the function ``serve`` of a module.

    Args:
        module: The module.
    """
    path = [str(each) for each in sys.path]
    return [get_executable(), "-c", f"import sys; sys.path[:] = {path!a}; from {module} import serve; serve()"]


def environment(threads: int) -> dict[str, str]:
    """The environment of a worker.

    Args:
        threads: Number of threads of arithmetic libraries, unless the environment of this process says another.
    """
    return dict.fromkeys(_ARITHMETIC, str(threads)) | os.environ


def head(kind: bytes, content: bytes) -> bytes:
    """The bytes before the content of a message: its kind, its length.

    Args:
        kind: The kind, one byte.
        content: The content.
    """
    return kind + len(content).to_bytes(_BYTES, "big")


def length_of(start: bytes) -> int:
    """The length that `head` contains.

    Args:
        start: The first `HEAD` bytes of a message.

    >>> length_of(head(CALL, b"content"))
    7
    """
    return int.from_bytes(start[1:], "big")


def send(stream: IO[bytes], kind: bytes, content: bytes) -> None:
    """Write one message: its kind, its length, its content."""
    stream.write(head(kind, content))
    stream.write(content)
    stream.flush()


def receive(stream: IO[bytes]) -> tuple[bytes, bytes]:
    """Read one message.

    Raises:
        EOFError: The other side has gone.
    """
    start = stream.read(HEAD)
    length = length_of(start)
    content = stream.read(length) if len(start) == HEAD else b""
    if len(start) < HEAD or len(content) < length:
        raise EOFError
    return start[:1], content


def described(code: int) -> str:
    """Description of the end of a process, after "its worker".

    Args:
        code: Exit code; negative for a signal.

    >>> described(3), described(-9)
    ('ended with exit code 3', 'was killed (signal 9, SIGKILL; out of memory?)')
    """
    if code >= 0:
        return f"ended with exit code {code}"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else "unknown"
    memory = "; out of memory?" if name == "SIGKILL" else ""
    return f"was killed (signal {-code}, {name}{memory})"


def take_streams() -> tuple[Inbox, IO[bytes]]:
    """Take standard input and output for messages; what functions print then goes to standard error.

    The process ends when the program on the other side has gone, however it ended, busy or not. Interrupts are for
    that program to handle.

    Returns:
        The messages as they come, and the stream for results.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, results = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    inbox: Inbox = SimpleQueue()
    threading.Thread(target=_listen, args=(requests, inbox), daemon=True).start()
    return inbox, results


def serve() -> None:
    """Serve requests until the program has gone; see `take_streams`."""
    inbox, results = take_streams()
    state = WorkerState(b"")
    while message := inbox.get():
        kind, content = message
        if kind == LOAD:
            state = WorkerState(content)
        else:
            send(results, CALL, state.call(content))


def _listen(stream: IO[bytes], inbox: Inbox) -> None:
    """Read messages in a thread of its own, so that a worker whose program was killed ends even while it works."""
    try:
        while True:
            inbox.put(receive(stream))
    except (EOFError, OSError):
        inbox.put(None)
        time.sleep(_GRACE)
        os._exit(1)
