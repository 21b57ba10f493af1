"""The engine of one machine: a pool of worker processes, fresh interpreters, each talked to through two pipes."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from abc import ABC, abstractmethod
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any, Final, Generic, cast

from postil.engine.base import A, Closing, Engine, Q, R, S, StatefulWorkers, W
from postil.engine.worker import (
    CALL,
    LOAD,
    Failure,
    WorkerDied,
    apply,
    command,
    described,
    deserialize,
    environment,
    identity,
    receive,
    result_of,
    send,
    serialize,
)
from postil.errors import PostilError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


__all__ = ["PooledEngine", "WorkerSlot", "open_local"]


class WorkerSlot(ABC):
    """One worker at a time, started by the first request, and again after it died.

    Args:
        payload: Message for the worker's `postil.engine.worker.WorkerState`.
    """

    def __init__(self, payload: bytes) -> None:
        self.payload = payload
        self.over = False
        self.lock = threading.Lock()
        self.turn = threading.Lock()

    @abstractmethod
    def call(self, request: bytes) -> bytes:
        """Run a request; called by one thread at a time.

        Raises:
            WorkerDied: The worker died, or `stop` was called.
        """

    @abstractmethod
    def stop(self) -> None:
        """Refuse further requests; a thread that waits for a result gets `WorkerDied`."""


class PooledEngine(Engine):
    """An engine with worker slots; see `postil.engine.Engine`."""

    def __init__(self, name: str, jobs: int, retries: int, on_message: Callable[[str], None]) -> None:
        self.name = name
        self.jobs = jobs
        self._retries = retries
        self._on_message = on_message
        self._open: set[WorkerSlot] = set()
        self._closed = False

    @abstractmethod
    def _map_slot(self, payload: bytes) -> WorkerSlot:
        """Make a slot for `map`."""

    @abstractmethod
    def _worker_slot(self, payload: bytes) -> WorkerSlot:
        """Make a slot for `start_workers`."""

    @abstractmethod
    def _worker_count(self, shards: int) -> int:
        """Number of slots for a number of shards."""

    @abstractmethod
    def _end(self) -> None:
        """End the workers that are left when all slots are stopped."""

    def map(self, function: Callable[[S], R], shards: Iterable[S]) -> Iterator[R]:
        """See `postil.engine.Engine.map`."""
        return self._results(serialize("the function", (identity, [function])), iter(shards))

    def start_workers(self, load: Callable[[S], W], shards: Iterable[S]) -> StatefulWorkers[W]:
        """See `postil.engine.Engine.start_workers`."""
        all_shards = list(shards)
        slots = min(self._worker_count(len(all_shards)), len(all_shards))
        parts = [range(first, len(all_shards), slots) for first in range(slots)]
        payloads = [serialize("a shard", (load, [all_shards[index] for index in part])) for part in parts]
        workers = _PooledWorkers(self, [self.enter(self._worker_slot(each)) for each in payloads], parts)
        try:
            workers.call(_do_nothing, None)  # loads
        except BaseException:
            workers.close()
            raise
        return workers

    def close(self) -> None:
        """See `postil.engine.Engine.close`."""
        self._closed = True
        self.leave(list(self._open))
        self._end()

    def enter(self, slot: WorkerSlot) -> WorkerSlot:
        """Register a slot until `leave`."""
        if self._closed:
            raise PostilError("the engine is closed")
        self._open.add(slot)
        return slot

    def leave(self, slots: Sequence[WorkerSlot]) -> None:
        """Stop slots, and wait until no thread is at them."""
        for slot in slots:
            slot.stop()
        for slot in slots:
            with slot.turn:
                self._open.discard(slot)

    def call(self, slot: WorkerSlot, request: bytes, what: str) -> bytes:
        """Run a request at a slot, again if the worker dies.

        Args:
            slot: The slot.
            request: The request.
            what: Name of the shard, for messages.
        """
        with slot.turn:
            for left in range(self._retries, -1, -1):
                try:
                    return slot.call(request)
                except WorkerDied as died:
                    if slot.over:
                        raise PostilError(f"{what}: the engine was closed") from None
                    if left:
                        self._on_message(f"{what}: its worker {died}; running it again in a new one ({left} left)")
                    else:
                        raise PostilError(
                            f"{what}: its worker {died}. That was attempt {self._retries + 1}, the last; "
                            "fewer jobs or smaller shards take less memory"
                        ) from None
        raise AssertionError

    def _results(self, payload: bytes, shards: Iterator[object]) -> Iterator[Any]:
        slots = [self.enter(self._map_slot(payload)) for _ in range(self.jobs)]
        # Used from the end: the slot that was freed last has a worker already, so no more workers start than have work.
        free = deque(slots)
        threads = ThreadPoolExecutor(self.jobs)
        pending: deque[Future[bytes]] = deque()

        def answer(request: bytes, what: str) -> bytes:
            slot = free.pop()
            try:
                return self.call(slot, request, what)
            finally:
                free.append(slot)

        def sent() -> Iterator[Future[bytes]]:
            try:
                for number, shard in enumerate(shards, start=1):
                    what = f"shard {number}"
                    yield threads.submit(answer, serialize(what, (apply, shard)), what)
            except Exception as error:
                failed: Future[bytes] = Future()
                failed.set_exception(error)
                yield failed

        try:
            for future in sent():
                pending.append(future)
                if len(pending) >= 2 * self.jobs or pending[0].done():
                    yield result_of(pending.popleft().result())
            while pending:
                yield result_of(pending.popleft().result())
        finally:
            self.leave(slots)
            threads.shutdown(cancel_futures=True)


class _PooledWorkers(Closing):
    """See `postil.engine.StatefulWorkers`.

    Args:
        engine: The engine of the slots.
        slots: One slot for each part of the shards.
        parts: Indices of the shards in each slot.
    """

    def __init__(self, engine: PooledEngine, slots: Sequence[WorkerSlot], parts: Sequence[range]) -> None:
        self._engine, self._slots, self._parts = engine, slots, parts
        self._names = [f"shard{'s' * (len(part) > 1)} {', '.join(str(index + 1) for index in part)}" for part in parts]
        self._threads = ThreadPoolExecutor(max(len(slots), 1))

    def call(self, function: Callable[[Any, Q], A], request: Q) -> list[A]:
        """See `postil.engine.StatefulWorkers.call`."""
        sent = serialize("the request", (function, request))
        futures = [
            self._threads.submit(self._engine.call, slot, sent, name)
            for slot, name in zip(self._slots, self._names, strict=True)
        ]
        results: dict[int, A] = {}
        failures: dict[int, BaseException] = {}
        for future, part in zip(futures, self._parts, strict=True):
            try:
                outcome = deserialize(future.result())
            except PostilError as error:
                failures[part[0]] = error
            else:
                if isinstance(outcome, Failure):
                    failures[part[outcome.index]] = outcome.error
                else:
                    results.update(zip(part, outcome.values, strict=True))
        if failures:
            raise failures[min(failures)]
        return [results[index] for index in sorted(results)]

    def close(self) -> None:
        """See `postil.engine.StatefulWorkers.close`."""
        self._engine.leave(self._slots)
        self._threads.shutdown(cancel_futures=True)


def _do_nothing(shard: object, request: None) -> None:
    """Do nothing: a request that only makes the worker load."""


_EXIT_TIMEOUT: Final = 5.0  # seconds from the end of a worker's pipe to its own


def open_local(*, jobs: int, retries: int, address: str | None, on_message: Callable[[str], None]) -> Engine:
    """Open the engine of this machine; see `postil.engine.open_engine`."""
    if address is not None:
        raise UsageError(f"address: the engine 'local' has none, got '{address}'; did you mean the engine 'ray'?")
    return _InProcess() if jobs == 1 else _Processes("local", jobs, retries, on_message)


class _InProcess(Engine):
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


class _LocalWorkers(Closing, Generic[W]):
    """Loaded shards in this process."""

    def __init__(self, shards: list[W]) -> None:
        self._shards = shards

    def call(self, function: Callable[[W, Q], A], request: Q) -> list[A]:
        """See `postil.engine.StatefulWorkers.call`."""
        return [function(shard, request) for shard in self._shards]

    def close(self) -> None:
        """See `postil.engine.StatefulWorkers.close`."""
        self._shards = []


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
                if worker.process.poll() is None:
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
            worker.process.kill()
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
                    self._worker.process.kill()
                else:
                    self._engine.give(self._worker)
                    self._worker = None


class _Worker:
    """A worker process, as the program sees it."""

    def __init__(self) -> None:
        try:
            with _ignoring_interrupts():
                self.process = subprocess.Popen(  # noqa: S603 - this interpreter, our own code
                    command(),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=environment(1),
                )
        except OSError as error:
            raise PostilError(f"cannot start a worker process: {error.strerror or error}; try fewer jobs") from error
        self._to, self._from = cast("IO[bytes]", self.process.stdin), cast("IO[bytes]", self.process.stdout)

    def send(self, kind: bytes, content: bytes) -> None:
        send(self._to, kind, content)

    def receive(self) -> bytes:
        return receive(self._from)[1]

    def end(self) -> str:
        """End the process, and tell how it ended if it did so by itself."""
        for stream in (self._to, self._from):
            with suppress(OSError):
                stream.close()
        try:
            code = self.process.wait(_EXIT_TIMEOUT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
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
