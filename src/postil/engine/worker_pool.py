"""What engines with workers have in common: order, bounded memory, retries.

A *lane* is a place where questions are answered one after the other by a worker that keeps something. `map` is a few
lanes that keep the function and are asked about shards, whichever is free; `hold` is a lane for each part of the
shards, and all are asked at once. A thread waits at each lane; the work is done elsewhere.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from postil.engine.messages import Failure, apply, opened, parcel, same
from postil.errors import PostilError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import TracebackType
    from typing import Self

    from postil.engine.base import Held

__all__ = ["Died", "Lane", "LaneEngine"]

A = TypeVar("A")
Q = TypeVar("Q")
R = TypeVar("R")
S = TypeVar("S")
W = TypeVar("W")


class Died(Exception):  # noqa: N818 - says what happened
    """A worker is no more; the message says how, after "its worker"."""


class Lane(ABC):
    """One worker at a time, which is made when the first question comes, and again after it died.

    Args:
        kept: The parcel for the worker's `postil.engine.messages.Keeper`.
    """

    def __init__(self, kept: bytes) -> None:
        self.kept = kept
        self.over = False
        self.lock = threading.Lock()
        self.turn = threading.Lock()

    @abstractmethod
    def ask(self, question: bytes) -> bytes:
        """Have a question answered; called by one thread at a time.

        Raises:
            Died: The worker died over it, or `stop` was called.
        """

    @abstractmethod
    def stop(self) -> None:
        """Ask nothing any more; a thread that waits for an answer has done so in vain."""


class LaneEngine(ABC):
    """An engine over lanes; see `postil.engine.Engine`."""

    def __init__(self, name: str, jobs: int, retries: int, say: Callable[[str], None]) -> None:
        self.name = name
        self.jobs = jobs
        self._retries = retries
        self._say = say
        self._open: set[Lane] = set()
        self._closed = False

    @abstractmethod
    def _map_lane(self, kept: bytes) -> Lane:
        """A lane for `map`."""

    @abstractmethod
    def _hold_lane(self, kept: bytes) -> Lane:
        """A lane for `hold`."""

    @abstractmethod
    def _holders(self, shards: int) -> int:
        """How many lanes that many shards are held in."""

    @abstractmethod
    def _end(self) -> None:
        """End what is left when all lanes are stopped."""

    def map(self, function: Callable[[S], R], shards: Iterable[S]) -> Iterator[R]:
        """See `postil.engine.Engine.map`."""
        return self._results(parcel("the function", (same, [function])), iter(shards))

    def hold(self, load: Callable[[S], W], shards: Iterable[S]) -> Held[W]:
        """See `postil.engine.Engine.hold`."""
        all_shards = list(shards)
        lanes = min(self._holders(len(all_shards)), len(all_shards))
        places = [range(first, len(all_shards), lanes) for first in range(lanes)]
        kept = [parcel("a shard", (load, [all_shards[place] for place in part])) for part in places]
        held = _Held(self, [self.enter(self._hold_lane(each)) for each in kept], places)
        try:
            held.ask(_nothing, None)  # loads
        except BaseException:
            held.close()
            raise
        return held

    def close(self) -> None:
        """See `postil.engine.Engine.close`."""
        self._closed = True
        self.leave(list(self._open))
        self._end()

    def enter(self, lane: Lane) -> Lane:
        """Remember a lane until `leave`."""
        if self._closed:
            raise PostilError("the engine is closed")
        self._open.add(lane)
        return lane

    def leave(self, lanes: Sequence[Lane]) -> None:
        """Stop lanes, and wait until no thread is at them."""
        for lane in lanes:
            lane.stop()
        for lane in lanes:
            with lane.turn:
                self._open.discard(lane)

    def ask(self, lane: Lane, question: bytes, what: str) -> bytes:
        """Ask at a lane, again if the worker dies.

        Args:
            lane: Where.
            question: What.
            what: The shard, in words.
        """
        with lane.turn:
            for left in range(self._retries, -1, -1):
                try:
                    return lane.ask(question)
                except Died as died:
                    if lane.over:
                        raise PostilError(f"{what}: the engine was closed") from None
                    if left:
                        self._say(f"{what}: its worker {died}; running it again in a new one ({left} left)")
                    else:
                        raise PostilError(
                            f"{what}: its worker {died}. That was attempt {self._retries + 1}, the last; "
                            "fewer jobs or smaller shards take less memory"
                        ) from None
        raise AssertionError

    def _results(self, kept: bytes, shards: Iterator[Any]) -> Iterator[Any]:
        lanes = [self.enter(self._map_lane(kept)) for _ in range(self.jobs)]
        free = deque(lanes)  # used from the end, so that no more workers start than have work
        threads = ThreadPoolExecutor(self.jobs)
        pending: deque[Future[bytes]] = deque()

        def answer(question: bytes, what: str) -> bytes:
            lane = free.pop()
            try:
                return self.ask(lane, question, what)
            finally:
                free.append(lane)

        def sent() -> Iterator[Future[bytes]]:
            try:
                for number, shard in enumerate(shards, start=1):
                    what = f"shard {number}"
                    yield threads.submit(answer, parcel(what, (apply, shard)), what)
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
            self.leave(lanes)
            threads.shutdown(cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.close()


class _Held:
    """See `postil.engine.Held`.

    Args:
        engine: Whose lanes these are.
        lanes: Where the shards are kept.
        places: Which shards each lane keeps.
    """

    def __init__(self, engine: LaneEngine, lanes: Sequence[Lane], places: Sequence[range]) -> None:
        self._engine, self._lanes, self._places = engine, lanes, places
        self._names = [f"shard{'s' * (len(part) > 1)} {', '.join(str(place + 1) for place in part)}" for part in places]
        self._threads = ThreadPoolExecutor(max(len(lanes), 1))

    def ask(self, function: Callable[[Any, Q], A], question: Q) -> list[A]:
        """See `postil.engine.Held.ask`."""
        sent = parcel("the question", (function, question))
        futures = [
            self._threads.submit(self._engine.ask, lane, sent, name)
            for lane, name in zip(self._lanes, self._names, strict=True)
        ]
        answers: dict[int, A] = {}
        failures: dict[int, BaseException] = {}
        for future, places in zip(futures, self._places, strict=True):
            try:
                outcome = opened(future.result())
            except PostilError as error:
                failures[places[0]] = error
            else:
                if isinstance(outcome, Failure):
                    failures[places[outcome.place]] = outcome.error
                else:
                    answers.update(zip(places, outcome.values, strict=True))
        if failures:
            raise failures[min(failures)]
        return [answers[place] for place in sorted(answers)]

    def close(self) -> None:
        """See `postil.engine.Held.close`."""
        self._engine.leave(self._lanes)
        self._threads.shutdown(cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.close()


def _result(future: Future[bytes]) -> Any:
    outcome = opened(future.result())
    if isinstance(outcome, Failure):
        raise outcome.error
    return outcome.values[0]


def _nothing(thing: Any, question: None) -> None:
    """A question that only makes the worker load."""
