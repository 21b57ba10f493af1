"""A pool of workers: order of results, bounded memory, retries.

A *worker slot* runs requests one after the other in a worker, and replaces a worker that died. `map` has `jobs` slots
that are sent the function once, and gives the next shard to whichever is free. `start_workers` has one slot for each
part of the shards, and calls all of them at once. A thread waits at each slot; the work is done in the worker.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from postil.engine.messages import Failure, apply, deserialize, identity, serialize
from postil.errors import PostilError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import TracebackType
    from typing import Self

    from postil.engine.base import StatefulWorkers

__all__ = ["PooledEngine", "WorkerDied", "WorkerSlot"]

A = TypeVar("A")
Q = TypeVar("Q")
R = TypeVar("R")
S = TypeVar("S")
W = TypeVar("W")


class WorkerDied(Exception):  # noqa: N818 - says what happened
    """A worker has died; the message says how, after "its worker"."""


class WorkerSlot(ABC):
    """One worker at a time, started by the first request, and again after it died.

    Args:
        payload: Message for the worker's `postil.engine.messages.WorkerState`.
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


class PooledEngine(ABC):
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
                    yield _result(pending.popleft())
            while pending:
                yield _result(pending.popleft())
        finally:
            self.leave(slots)
            threads.shutdown(cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.close()


class _PooledWorkers:
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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.close()


def _result(future: Future[bytes]) -> Any:
    outcome = deserialize(future.result())
    if isinstance(outcome, Failure):
        raise outcome.error
    return outcome.values[0]


def _do_nothing(shard: object, request: None) -> None:
    """Do nothing: a request that only makes the worker load."""
