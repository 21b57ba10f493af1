"""The workers of the service: a queue in front of them, and new ones in place of those that end.

The process that speaks HTTP holds no model, so it answers and refuses while all workers compute. Operations only read.
So what a worker had begun when it ended can be computed again by another one.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, TypeVar

from postil.engine.worker import WorkerDied
from postil.errors import PostilError
from postil.messages import COMMAND_LINE
from postil.service.operations import TOGETHER, answer, answer_all, open_models
from postil.service.worker import InternalError, WorkerProcess
from postil.web.problems import Busy, TimedOut
from postil.web.turns import CLIENT, FairLine

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from postil.service.config import ServiceConfig
    from postil.service.operations import OpenModels

__all__ = ["KeptAnswers", "Paces", "WorkerPool"]

BRIEF, SHARE = 0.01, 0.2
"""Share of the time that a request may take up to which it is brief, and of the last request in the mean."""

MOST_KEPT: Final = 32 << 20
"""Number of bytes of answers that are kept."""

LATEST: Final = 2
"""Number of clients that are remembered for having asked last: each of them is another one for somebody."""

SLOW: Final = 0.1
"""Share of the time that a request may take from which on it takes long."""


class Paces:
    """Record of clients whose requests took long lately, and of those whose requests did not.

    Args:
        timeout: Seconds that a request may take; as long is remembered that one took long.
        clients: Largest number of clients to remember.
        clock: Function that returns the time, in seconds.

    Attributes:
        slow: Seconds from which on a request takes long.

    >>> paces = Paces(10.0, clock=lambda: 0.0)
    >>> paces.note("a", 0.01), paces.note("b", 3.0)
    (None, None)
    >>> [(paces.is_quick(client), paces.is_slow(client)) for client in ("a", "b", "unknown")]
    [(True, False), (False, True), (False, False)]
    >>> paces.came("a"), paces.is_alone("a"), paces.is_alone("b")
    (None, True, False)
    """

    def __init__(self, timeout: float, *, clients: int = 10_000, clock: Callable[[], float] = time.monotonic) -> None:
        self.slow = SLOW * timeout
        self._timeout, self._clients, self._clock = timeout, clients, clock
        self._until: OrderedDict[str, float] = OrderedDict()  # until when each client is slow
        self._mean: dict[str, float] = {}  # of the time that the last requests of each client took
        self._latest: dict[str, float] = {}  # the two clients that asked last, and when

    def came(self, client: str) -> None:
        """Record that a request came.

        Args:
            client: The client.
        """
        self._latest.pop(client, None)
        self._latest[client] = self._clock()
        if len(self._latest) > LATEST:
            del self._latest[next(iter(self._latest))]

    def is_alone(self, client: str) -> bool:
        """True if no other client sent a request lately.

        Args:
            client: The client.
        """
        since = self._clock() - self._timeout
        return not any(one != client and when > since for one, when in self._latest.items())

    def note(self, client: str, seconds: float) -> None:
        """Record how long a request took.

        Args:
            client: The client.
            seconds: The time, in seconds.
        """
        now = self._clock()
        mean = self._mean.get(client, seconds)
        self._mean[client] = mean + SHARE * (seconds - mean)
        until = now + self._timeout if seconds >= self.slow else min(self._until.get(client, now), now + self._timeout)
        self._until[client] = until
        self._until.move_to_end(client)
        if len(self._until) > self._clients:
            del self._mean[self._until.popitem(last=False)[0]]

    def is_slow(self, client: str) -> bool:
        """True if a request of a client took long lately.

        Args:
            client: The client.
        """
        return self._until.get(client, 0.0) > self._clock()

    def is_brief(self, client: str) -> bool:
        """True if the requests of a client take a hundredth of the time that they may take, or less.

        Args:
            client: The client.
        """
        return self._mean.get(client, 0.0) <= BRIEF * self._timeout

    def is_quick(self, client: str) -> bool:
        """True if there were requests of a client, and none took long lately.

        Args:
            client: The client.
        """
        return client in self._until and not self.is_slow(client)


class KeptAnswers:
    """Answers that were given last, by a hash of their requests: as long as the models stay, so do answers.

    They are kept in the process that speaks HTTP, as each worker has an encoder of its own: vectors that one kept would
    leave an article new to the others, and to encode one takes 40 to 100 ms.

    Args:
        most: Number of bytes to keep.

    >>> kept = KeptAnswers(most=8)
    >>> for request in (b"a", b"b", b"a", b"c"):
    ...     if kept.get("suggest", request) is None:
    ...         kept.keep("suggest", request, b"1234")
    >>> [kept.get("suggest", request) is not None for request in (b"a", b"b", b"c")]
    [True, False, True]
    """

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most, self._bytes = most, 0
        self._answers: OrderedDict[bytes, bytes] = OrderedDict()

    def get(self, name: str, request: bytes) -> bytes | None:
        """The answer to a request; None where it is not known.

        Args:
            name: Name of the operation.
            request: The request.
        """
        key = _key(name, request)
        found = self._answers.get(key)
        if found is not None:
            self._answers.move_to_end(key)
        return found

    def keep(self, name: str, request: bytes, answer: bytes) -> None:
        """Keep an answer, and drop those that were asked for longest ago.

        Args:
            name: Name of the operation.
            request: The request.
            answer: Its answer.
        """
        key = _key(name, request)
        self._bytes += len(answer) - len(self._answers.pop(key, b""))
        self._answers[key] = answer
        while self._bytes > self._most:
            self._bytes -= len(self._answers.popitem(last=False)[1])


def _key(name: str, request: bytes) -> bytes:
    return blake2b(name.encode() + b" " + request, digest_size=16).digest()


T = TypeVar("T")
Q = TypeVar("Q")

KEPT: Final = frozenset({"suggest"})
"""Operations whose answers are kept: an article is often asked for again, and a new one may have to be encoded."""

ATTEMPTS: Final = 2
"""Number of workers that a request is given to, if they end while they compute."""

PATIENCE: Final = 3
"""Number of new workers that may be killed before requests are refused at once."""

ABANDONED: Final = 0.3
"""Share of the time that a worker may compute for which it goes on where nobody waits for the answer.

Killing it at once would let anybody end workers, each of which takes a second to start, by hanging up."""

NICENESS: Final = 19
"""Priority of all workers but one below that of the process that speaks HTTP."""

LIGHT: Final = 64 * 1024
"""Size of a request, in bytes, above which it may take long."""

HOPELESS: Final = "no worker can be started"

PAUSES: Final = (0.0, 0.1, 0.5, 2.0, 5.0)
"""Seconds before each attempt to start a worker again; the last one is repeated."""


MOST_TOGETHER: Final = 16
"""Largest number of requests that a worker answers at once: those of one client for scores that waited for it.

A screen takes 1 ms for a text by itself and .13 ms for one of 500. At 700 requests per second on two cores, 95 % are
then answered within 11 ms and none is refused; one at a time, within 163 ms, and .8 % are."""


@dataclass(eq=False, slots=True)
class _Batch:
    """Requests of a client for one operation that wait for a worker, which answers them at once.

    Args:
        requests: The requests, JSON.
        answers: A future for the answer to each.
        task: The task that waits for the worker.
    """

    requests: list[bytes] = field(default_factory=list)
    answers: list[asyncio.Future[bytes]] = field(default_factory=list)
    task: asyncio.Task[None] | None = None

    def takes(self, request: bytes) -> bool:
        """True if a request may join."""
        return len(self.requests) < MOST_TOGETHER and sum(map(len, self.requests)) + len(request) <= LIGHT

    def leave(self, future: asyncio.Future[bytes]) -> None:
        """Drop a request whose client has gone; with the last one nothing waits for a worker."""
        at = self.answers.index(future)
        del self.requests[at], self.answers[at]
        if not self.requests and self.task is not None:
            self.task.cancel()

    def end(self, found: Sequence[bytes | PostilError]) -> None:
        """Give the answers to those who still wait."""
        for future, one in zip(self.answers, found, strict=True):
            if future.done():
                continue
            if isinstance(one, bytes):
                future.set_result(one)
            else:
                future.set_exception(one)


@dataclass(eq=False, slots=True)
class _Asked:
    """A request that waits for a worker, or has one.

    Args:
        client: The client who sent it.
        heavy: True if it is large.
        worker: Future of its worker.
        begun: Time at which it got the worker.
        ousted: True if its worker was taken from it.
    """

    client: str
    heavy: bool
    worker: asyncio.Future[WorkerProcess]
    begun: float = 0.0
    ousted: bool = False


class WorkerPool:
    """Worker processes, which clients (`postil.web.turns.CLIENT`) get in turns.

    A worker that ends is replaced, and its request is given to another one, once: a request that ends two workers is
    refused. A worker that computes for too long is killed.

    Of several workers no client has all while another one sends requests as well, and one is kept for requests that are
    quickly done: those that are large, or of a client whose requests take long (`Paces`), never have all of them, and
    neither has a client of which nothing is known yet. A client who was alone and has all of them for long gives one
    back where another client waits: the last resort, for one who was quick until now, as it costs a worker's start. All
    workers but one have a lower priority and get what takes longer, since an attack would otherwise have the processors
    where other programs need them as well.

    Args:
        workers: Number of worker processes.
        timeout: Seconds that a request may wait for a worker, and that a worker may compute. Where only requests of
            other clients are before it, a request may wait twice as long: they may take all of that time.
        queue: Largest number of requests that wait for a worker; beyond it the client that has most loses its last.
        on_message: Callback for status messages.
    """

    def __init__(
        self, workers: int, *, timeout: float, queue: int, on_message: Callable[[str], None] = lambda _: None
    ) -> None:
        self._count, self._timeout, self._queue, self._on_message = workers, timeout, queue, on_message
        self._config: ServiceConfig | None = None
        self._processes: set[WorkerProcess] = set()  # all that live, those that are to end as well
        self._workers: set[WorkerProcess] = set()
        self._idle: deque[WorkerProcess] = deque()
        self._busy: dict[WorkerProcess, _Asked] = {}
        self._waiting = FairLine[_Asked]()
        self._paces, self._now = Paces(timeout), time.monotonic
        self._tasks: set[asyncio.Task[Any]] = set()
        self._failure: PostilError | None = None
        self._swapping = asyncio.Lock()
        self._answers = KeptAnswers()
        self._batches: dict[tuple[str, str], _Batch] = {}
        self.models = b""

    @property
    def ready(self) -> bool:
        """True if a worker is there, busy or not."""
        return bool(self._workers)

    @property
    def pids(self) -> list[int]:
        """Numbers of the processes that take requests."""
        return [worker.pid for worker in self._workers]

    @property
    def waiting(self) -> int:
        """Number of requests that wait for a worker."""
        return len(self._waiting)

    async def start(self, config: ServiceConfig) -> None:
        """Start the workers; until one is ready, requests wait.

        Args:
            config: The configuration.

        Raises:
            PostilError: A worker cannot open the models.
        """
        await self.swap(config)

    async def swap(self, config: ServiceConfig) -> None:
        """Start new workers, and end the old ones when all new ones are ready and each old one is idle.

        Args:
            config: The configuration of the new workers.

        Raises:
            PostilError: A new worker cannot open the models; the old ones go on.
        """
        async with self._swapping:
            fresh = await self._all_started(config)
            old, idle = self._workers, set(self._idle)
            self._config, self._failure, self.models = config, None, fresh[0].models
            self._workers, self._idle, self._answers = set(), deque(), KeptAnswers()
            for worker in fresh:
                self._enter(worker)
            for worker in old:
                worker.retired = True
                if worker in idle:
                    self._spawn(worker.end())
                # a busy one is ended when it is released

    async def call(self, name: str, request: bytes) -> bytes:
        """Let a worker answer a request, or give the answer that these models gave before.

        Args:
            name: Name of the operation.
            request: The request, JSON.

        Returns:
            The response, JSON.

        Raises:
            Busy: Too many requests wait, this one has waited too long, or no worker can be started.
            TimedOut: The worker took too long.
            PostilError: What the operation raised.
        """
        if name in TOGETHER:
            return await self._together(name, request)
        answers = self._answers  # of the models as they are now
        if name in KEPT and (kept := answers.get(name, request)) is not None:
            return kept
        found = await self._computed(answer, lambda: (name, request), heavy=len(request) > LIGHT)
        if name in KEPT:
            answers.keep(name, request, found)
        return found

    async def _together(self, name: str, request: bytes) -> bytes:
        """Let a worker answer a request with those that its client has sent while none was free."""
        key = (CLIENT.get(), name)
        batch = self._batches.get(key)
        if batch is None or not batch.takes(request):
            batch = self._batches[key] = _Batch()
            batch.task = self._spawn(self._answer(key, batch, heavy=len(request) > LIGHT))
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        batch.requests.append(request)
        batch.answers.append(future)
        try:
            return await future
        except asyncio.CancelledError:
            if self._batches.get(key) is batch:  # it waits still, and nobody for this answer
                batch.leave(future)
            raise

    async def _answer(self, key: tuple[str, str], batch: _Batch, *, heavy: bool) -> None:
        """Let a worker answer a batch; it takes no more requests once a worker has it."""

        def close() -> tuple[str, tuple[bytes, ...]]:
            if self._batches.get(key) is batch:
                del self._batches[key]
            return key[1], tuple(batch.requests)

        try:
            batch.end(await self._computed(answer_all, close, heavy=heavy))
        except PostilError as error:
            batch.end([error] * len(batch.answers))
        except BaseException:  # the service is being stopped, or nobody waits any more
            for future in batch.answers:
                future.cancel()
            raise
        finally:
            close()

    async def _computed(self, function: Callable[[OpenModels, Q], T], request: Callable[[], Q], *, heavy: bool) -> T:
        """The answer of a worker to a request, which is asked for when there is a worker."""
        ended, again = 0, False
        while ended < ATTEMPTS:
            worker, asked = await self._acquire(heavy=heavy, again=again)
            task = self._spawn(self._compute(worker, asked, function, request()))
            try:
                return await asyncio.shield(task)
            except WorkerDied as error:
                again = True
                if not asked.ousted:
                    ended += 1
                    self._on_message(f"a worker {error}")
            except asyncio.CancelledError:
                # Nobody waits for the answer. A worker is soon ready again, and seldom has to be killed for that.
                asyncio.get_running_loop().call_later(ABANDONED * self._timeout, task.cancel)
                raise
        raise InternalError("the workers that computed this request ended; the log of the service says how")

    def without_paths(self, text: str) -> str:
        """A message for clients; see `ServiceConfig.without_paths`.

        Args:
            text: The message.
        """
        return text if self._config is None else self._config.without_paths(text)

    async def stop(self) -> None:
        """End all workers; requests that wait are refused."""
        self._config = None
        self._refuse_waiting(Busy("the service is being stopped"))
        self._workers, self._idle = set(), deque()
        await asyncio.gather(*(worker.end() for worker in list(self._processes)))
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(worker.end() for worker in list(self._processes)))  # those that were being started

    async def _compute(
        self, worker: WorkerProcess, asked: _Asked, function: Callable[[OpenModels, Q], T], request: Q
    ) -> T:
        """Let a worker answer, and release it: also where nobody waits for the answer any more."""
        try:
            async with asyncio.timeout(self._timeout):
                found: T = await worker.ask(function, request)
                return found
        except TimeoutError:
            worker.kill()
            problem = f"the request took longer than {self._timeout:g} s and was ended; send less in one request"
            raise TimedOut(problem) from None
        except asyncio.CancelledError:
            worker.kill()  # its answer would be read as that to another request
            raise
        finally:
            self._paces.note(asked.client, self._now() - asked.begun)
            self._release(worker)

    async def _acquire(self, *, heavy: bool, again: bool) -> tuple[WorkerProcess, _Asked]:
        """Wait for a worker; a request that was begun before waits in front of the others."""
        if self._failure is not None and not self._workers:
            raise self._hopeless(self._failure)
        loop, client = asyncio.get_running_loop(), CLIENT.get()
        asked = _Asked(client, heavy, loop.create_future())
        self._paces.came(client)
        first = not self._waiting.waiting(client) and not self._held(client)
        self._waiting.add(client, asked, first=again)
        self._hand_out()
        if len(self._waiting) > self._queue and not again:
            _refuse(self._waiting.shed(), Busy(f"{self._queue} requests wait already"))
        patience = (1 + first) * self._timeout
        hurry = loop.call_later(self._paces.slow, self._make_room, asked)
        try:
            async with asyncio.timeout(patience):
                return await asked.worker, asked
        except BaseException as error:
            if asked.worker.done() and not asked.worker.cancelled() and asked.worker.exception() is None:
                self._release(asked.worker.result())
            if isinstance(error, TimeoutError):
                raise Busy(f"no worker was free for {patience:g} s") from None
            raise
        finally:
            hurry.cancel()
            self._waiting.discard(client, asked)

    def _hand_out(self) -> None:
        """Give idle workers to those whose turn is next."""
        while self._idle:
            found = self._waiting.take(self._may_begin)
            if found is None:
                return
            asked = found[1]
            if not asked.worker.done():  # it may have been given up just now
                worker = self._taken(asked)
                asked.begun, self._busy[worker] = self._now(), asked
                asked.worker.set_result(worker)

    def _taken(self, asked: _Asked) -> WorkerProcess:
        """Take an idle worker: of lower priority for what may take long, else the other one."""
        deferred = self._is_long(asked) or not self._paces.is_brief(asked.client)
        worker = next((one for one in self._idle if one.deferred == deferred), self._idle[0])
        self._idle.remove(worker)
        return worker

    def _may_begin(self, client: str, asked: _Asked) -> bool:
        """True if a request may have one of the workers, and another client one that is left."""
        if self._count == 1 or self._failure is not None:
            return True
        least, held = len(self._workers) - 1, self._held(client)
        if held >= max(1, least) and not (self._paces.is_quick(client) and self._paces.is_alone(client)):
            return False
        busy = [one for worker, one in self._busy.items() if worker in self._workers]
        return not self._is_long(asked) or sum(map(self._is_long, busy)) < least

    def _is_long(self, asked: _Asked) -> bool:
        return asked.heavy or self._paces.is_slow(asked.client)

    def _held(self, client: str) -> int:
        """Number of workers that a client has."""
        return sum(one.client == client and worker in self._workers for worker, one in self._busy.items())

    def _make_room(self, asked: _Asked) -> None:
        """Take a worker from a client who has several, all of them for long, for one who has none.

        The request that was begun last loses it, and is computed once more when there is a worker for it.
        """
        busy = {worker: one for worker, one in self._busy.items() if worker in self._workers}
        holders = {one.client for one in busy.values()}
        if len(busy) < max(2, len(self._workers)) or len(holders) > 1 or asked.client in holders:
            return
        worker, last = max(busy.items(), key=lambda each: each[1].begun)
        if self._now() - last.begun >= self._paces.slow:
            self._paces.note(last.client, self._paces.slow)
            last.ousted = True
            worker.kill()

    def _release(self, worker: WorkerProcess) -> None:
        """Give a worker to the request whose turn is next."""
        self._busy.pop(worker, None)
        if worker.retired:
            self._spawn(worker.end())
        elif worker in self._workers and not worker.gone:
            self._idle.append(worker)
        self._hand_out()

    def _enter(self, worker: WorkerProcess) -> None:
        if self._has_prompt() and not worker.deferred:
            worker.defer(NICENESS)
        self._workers.add(worker)
        self._release(worker)

    def _has_prompt(self) -> bool:
        """True if there is a worker whose priority is not lower."""
        return any(not one.deferred and not one.gone for one in self._workers)

    async def _all_started(self, config: ServiceConfig) -> list[WorkerProcess]:
        """Start all workers, or none; one after the other where requests need the processors meanwhile."""
        fresh: list[WorkerProcess] = []
        at_once = 1 if self._workers else self._count
        while len(fresh) < self._count:
            starts = (self._started(config) for _ in range(at_once))
            outcomes = await asyncio.gather(*starts, return_exceptions=True)
            fresh += [one for one in outcomes if isinstance(one, WorkerProcess)]
            failures = [one for one in outcomes if isinstance(one, BaseException)]
            if failures:
                await asyncio.gather(*(worker.end() for worker in fresh))
                raise failures[0]
        return fresh

    async def _started(self, config: ServiceConfig, niceness: int = 0) -> WorkerProcess:
        worker = await WorkerProcess.start(open_models, config, threads=config.options.jobs, niceness=niceness)
        try:
            worker.models = await worker.ask(answer, ("models", b"{}"))
        except WorkerDied as error:
            raise InternalError(f"a worker {error} while it opened the models") from None
        except BaseException:
            worker.kill()
            await worker.ended()
            raise
        self._processes.add(worker)
        self._spawn(self._watch(worker))
        return worker

    async def _watch(self, worker: WorkerProcess) -> None:
        """Wait for the end of a worker, and start another one unless it was meant to end."""
        await worker.ended()
        self._processes.discard(worker)
        if worker in self._idle:
            self._idle.remove(worker)
        if worker in self._workers:
            self._workers.discard(worker)
            await self._replace()

    async def _replace(self) -> None:
        config, attempt = self._config, 0
        while config is not None and self._config is config:
            await asyncio.sleep(PAUSES[min(attempt, len(PAUSES) - 1)])
            try:
                fresh = await self._started(config, NICENESS * self._has_prompt())
            except PostilError as error:
                if attempt == 0:
                    self._on_message(f"a worker cannot be started again: {error.words(COMMAND_LINE)}")
                attempt += 1
                if attempt == PATIENCE or not isinstance(error, InternalError):
                    self._refuse(error)
                continue
            if self._config is config:
                self._failure = None
                if fresh.models != self.models:  # a folder was changed since
                    self.models, self._answers = fresh.models, KeptAnswers()
                self._enter(fresh)
            else:
                await fresh.end()
            return

    def _refuse(self, failure: PostilError) -> None:
        """Refuse requests at once, until a worker is there, as no model can be opened."""
        self._failure = failure
        if not self._workers:
            self._refuse_waiting(self._hopeless(failure))
        self._hand_out()

    def _refuse_waiting(self, refusal: Busy) -> None:
        for asked in self._waiting.clear():
            _refuse(asked, refusal)

    def _hopeless(self, failure: PostilError) -> Busy:
        """The refusal of a request where no worker can be started; the log names the folders."""
        return Busy(f"{HOPELESS}: {self.without_paths(str(failure))}")

    def _spawn(self, work: Coroutine[None, None, T]) -> asyncio.Task[T]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # of an answer that nobody waits for


def _refuse(asked: _Asked, refusal: Busy) -> None:
    if not asked.worker.done():
        asked.worker.set_exception(refusal)
