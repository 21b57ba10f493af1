"""A worker process of the local engine or of the service: what it loads, its messages, its errors and its end.

Messages are serialized by pickle, since both sides are processes of one program and one user, so that errors keep their
facts; JSON would be no barrier, as who runs code in a worker can do all that the service can. Programs talk to workers
in two ways, by threads that wait or by an event loop, as each is slow in the other's place; see `postil.engine.local`
and `postil.service.worker`.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
import traceback
from dataclasses import dataclass
from multiprocessing.spawn import get_executable
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING, Any, Final, TypeVar

from postil.errors import PostilError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "CALL",
    "HEAD",
    "LOAD",
    "Failure",
    "Results",
    "WorkerDied",
    "WorkerState",
    "apply",
    "command",
    "described",
    "deserialize",
    "environment",
    "head",
    "length_of",
    "receive",
    "result_of",
    "send",
    "serialize",
    "serve",
]

A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class Results:
    """One result for each shard of the worker."""

    values: list[object]


@dataclass(frozen=True, slots=True)
class Failure:
    """The function raised at the shard with this index."""

    index: int
    error: BaseException


class WorkerDied(Exception):  # noqa: N818 - says what happened
    """A worker has died; the message says how, after "its worker"."""


class WorkerState:
    """The state of a worker: loads its shards at the first call, then calls functions with each of them.

    Args:
        payload: ``(load, shards)``, serialized.
        path: More folders to import modules from.

    >>> state = WorkerState(serialize("these", (str.split, ["a b", "c"])))
    >>> deserialize(state.call(serialize("it", (list.count, "c"))))
    Results(values=[0, 1])
    >>> deserialize(state.call(serialize("it", (list.index, "a")))).index
    1
    """

    def __init__(self, payload: bytes, path: Sequence[str] = ()) -> None:
        sys.path.extend(each for each in path if each not in sys.path)
        self._payload = payload
        self._load: Callable[[object], object] | None = None
        self._shards: list[object] = []
        self._loaded: list[object] = []

    def call(self, request: bytes) -> bytes:
        """Run a request; the first one loads the shards.

        Args:
            request: ``(function, argument)``, serialized.

        Returns:
            `Results` or `Failure`, serialized. Nothing is raised.
        """
        values: list[object] = []
        try:
            if self._load is None:
                self._load, self._shards = deserialize(self._payload)
                self._payload = b""
            function, argument = deserialize(request)
            for index, shard in enumerate(self._shards):
                if index == len(self._loaded):
                    self._loaded.append(self._load(shard))
                values.append(function(self._loaded[index], argument))
            return serialize("a result", Results(values))
        except BaseException as error:
            # The last shard if only serializing the results failed.
            index = min(len(values), max(len(self._shards) - 1, 0))
            return pickle.dumps(Failure(index, _portable(error)))


def apply(function: Callable[[object], object], shard: object) -> object:
    """Call the loaded function with a shard: the request of `Engine.map`."""
    return function(shard)


def identity(thing: A) -> A:
    """Load a shard that is its own description."""
    return thing


def serialize(what: str, thing: object) -> bytes:
    """Pickle a message.

    Args:
        what: Name of the message, for errors.
        thing: The message.

    Raises:
        PostilError: It cannot be pickled.

    >>> serialize("the function", lambda: 1)
    Traceback (most recent call last):
    ...
    postil.errors.PostilError: the function cannot be sent between processes: ...
    """
    try:
        return pickle.dumps(thing, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        raise PostilError(f"{what} cannot be sent between processes: {_described(error)}") from error


def deserialize(wrapped: bytes) -> Any:
    """Unpickle a message of our own processes.

    Raises:
        PostilError: Something in it cannot be found here.

    >>> deserialize(serialize("a number", 2))
    2
    """
    try:
        return pickle.loads(wrapped)  # noqa: S301 - from our own processes
    except Exception as error:
        raise PostilError(
            f"what was sent to another process cannot be read there: {_described(error)}. It must be defined in a "
            "module that both can import, not in the script that was started"
        ) from error


def result_of(answer: bytes) -> Any:
    """The result of a worker of one shard; what the function raised there is raised here.

    Args:
        answer: An answer of `WorkerState.call`.

    >>> result_of(WorkerState(serialize("these", (str, [5]))).call(serialize("it", (str.zfill, 3))))
    '005'
    """
    outcome = deserialize(answer)
    if isinstance(outcome, Failure):
        raise outcome.error
    return outcome.values[0]


def _described(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _portable(error: BaseException) -> BaseException:
    """The exception with the worker's traceback as a note; a `PostilError` where it cannot be pickled."""
    trace = "".join(traceback.format_exception(error))
    try:
        arrived = pickle.loads(pickle.dumps(error))  # noqa: S301
        whole = type(arrived) is type(error) and str(arrived) == str(error)
    except Exception:  # a class may raise anything when it is pickled
        whole = False
    if not whole:
        error = PostilError(f"{_described(error)} (raised in a worker; the exception itself cannot be sent)")
    error.add_note(f"In the worker:\n{trace}")
    return error


LOAD: Final = b"k"
CALL: Final = b"a"
_BYTES: Final = 8  # of a length
HEAD: Final = 1 + _BYTES
"""Number of bytes before the content of a message."""

_GRACE: Final = 1.0  # seconds
_IGNORED: Final = ("SIGINT", "SIGHUP", "SIGTERM")
"""Signals that a terminal or a supervisor sends to all processes of a program, and that its first one handles."""

_ARITHMETIC: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def command() -> list[str]:
    """The command of a worker: a new interpreter that imports what this one can."""
    path = [str(each) for each in sys.path]
    return [get_executable(), "-c", f"import sys; sys.path[:] = {path!a}; from {__name__} import serve; serve()"]


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


def serve() -> None:
    """Serve requests, until the program on the other side has gone, however it ended, this worker busy or not.

    Standard input and output are for messages; what functions print goes to standard error.
    """
    for name in _IGNORED:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
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
