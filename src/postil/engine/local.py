"""The engine of one machine: worker processes, fresh interpreters that are talked to through two pipes each.

Why not `multiprocessing`: *fork* copies locks that threads of numpy, Arrow or the caller hold, and hangs now and then;
*spawn* and *forkserver* import the caller's script again in every worker, so each script needs
``if __name__ == "__main__"``, and they leave a resource tracker behind. A plain new interpreter (``python -c``) is safe
with threads and needs nothing of the script, at the price that functions of the script itself cannot be sent.

A worker sees the end of its pipe when the program is gone, even if it was killed, and ends. Its own end is seen the
same way. It never hears of Ctrl-C, which is the program's to handle. Arithmetic libraries get one thread in a worker.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Final, Generic, TypeVar, cast

from postil.engine.worker import CALL, LOAD, command, described, environment, receive, send
from postil.engine.worker_pool import PooledEngine, WorkerDied, WorkerSlot
from postil.errors import PostilError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import TracebackType
    from typing import Self

    from postil.engine.base import Engine, StatefulWorkers

__all__ = ["open_local"]

A = TypeVar("A")
Q = TypeVar("Q")
R = TypeVar("R")
S = TypeVar("S")
W = TypeVar("W")

_EXIT_TIMEOUT: Final = 5.0  # seconds from the end of a worker's pipe to its own


def open_local(*, jobs: int, retries: int, address: str | None, on_message: Callable[[str], None]) -> Engine:
    """Open the engine of this machine; see `postil.engine.open_engine`."""
    if address is not None:
        raise UsageError(f"address: the engine 'local' has none, got '{address}'; did you mean the engine 'ray'?")
    return _InProcess() if jobs == 1 else _Processes("local", jobs, retries, on_message)


class _InProcess:
    """An engine without workers: everything runs in this process."""

    name = "local"
    jobs = 1

    def map(self, function: Callable[[S], R], shards: Iterable[S]) -> Iterator[R]:
        """See `postil.engine.Engine.map`."""
        return (function(shard) for shard in shards)

    def start_workers(self, load: Callable[[S], W], shards: Iterable[S]) -> StatefulWorkers[W]:
        """See `postil.engine.Engine.start_workers`."""
        return _LocalWorkers([load(shard) for shard in shards])

    def close(self) -> None:
        """There is nothing to end."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.close()


class _LocalWorkers(Generic[W]):
    """Loaded shards in this process."""

    def __init__(self, shards: list[W]) -> None:
        self._shards = shards

    def call(self, function: Callable[[W, Q], A], request: Q) -> list[A]:
        """See `postil.engine.StatefulWorkers.call`."""
        return [function(shard, request) for shard in self._shards]

    def close(self) -> None:
        """See `postil.engine.StatefulWorkers.close`."""
        self._shards = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.close()


class _Processes(PooledEngine):
    """Slots with worker processes. A process outlives its slot and waits for the next one."""

    def __init__(self, name: str, jobs: int, retries: int, on_message: Callable[[str], None]) -> None:
        super().__init__(name, jobs, retries, on_message)
        self._idle: list[_Worker] = []

    def take(self) -> _Worker:
        """Take an idle process, or start one."""
        with suppress(IndexError):
            while True:
                worker = self._idle.pop()
                if worker.lives():
                    return worker
                worker.end()
        return _Worker()

    def give(self, worker: _Worker) -> None:
        """Return a process to the idle ones."""
        self._idle.append(worker)

    def _map_slot(self, payload: bytes) -> WorkerSlot:
        return _ProcessSlot(payload, self)

    _worker_slot = _map_slot

    def _worker_count(self, shards: int) -> int:  # noqa: ARG002
        return self.jobs

    def _end(self) -> None:
        for worker in self._idle:
            worker.kill()
        while self._idle:
            self._idle.pop().end()


class _ProcessSlot(WorkerSlot):
    """See `WorkerSlot`."""

    def __init__(self, payload: bytes, engine: _Processes) -> None:
        super().__init__(payload)
        self._engine = engine
        self._worker: _Worker | None = None
        self._busy = False

    def call(self, request: bytes) -> bytes:
        """See `WorkerSlot.call`."""
        with self.lock:
            if self.over:
                raise WorkerDied("was stopped")
            worker = self._worker
            if fresh := worker is None:
                worker = self._worker = self._engine.take()
            self._busy = True
        answer = None
        try:
            if fresh:
                worker.send(LOAD, self.payload)
            worker.send(CALL, request)
            answer = worker.receive()
        except (OSError, EOFError):
            raise WorkerDied(worker.end()) from None
        finally:
            with self.lock:
                self._busy = False
                if answer is None or self.over:
                    worker.end()
                    self._worker = None
        return answer

    def stop(self) -> None:
        """See `WorkerSlot.stop`."""
        with self.lock:
            self.over = True
            if self._worker is not None:
                if self._busy:
                    self._worker.kill()
                else:
                    self._engine.give(self._worker)
                    self._worker = None


class _Worker:
    """A worker process, as the program sees it."""

    def __init__(self) -> None:
        try:
            with _ignoring_interrupts():
                self._process = subprocess.Popen(  # noqa: S603 - this interpreter, our own code
                    command("postil.engine.worker"),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=environment(1),
                )
        except OSError as error:
            raise PostilError(f"cannot start a worker process: {error.strerror or error}; try fewer jobs") from error
        self._to, self._from = cast("IO[bytes]", self._process.stdin), cast("IO[bytes]", self._process.stdout)

    def send(self, kind: bytes, content: bytes) -> None:
        send(self._to, kind, content)

    def receive(self) -> bytes:
        return receive(self._from)[1]

    def lives(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        self._process.kill()

    def end(self) -> str:
        """End the process, and tell how it ended if it did so by itself."""
        for stream in (self._to, self._from):
            with suppress(OSError):
                stream.close()
        try:
            code = self._process.wait(_EXIT_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        return described(code)


@contextmanager
def _ignoring_interrupts() -> Iterator[None]:
    """Block SIGINT in processes started inside, even before their first line of Python."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
