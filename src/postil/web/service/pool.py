"""The workers of the service: a queue in front of them, and new ones in place of those that end."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Final

from postil.errors import PostilError
from postil.web.service.failures import InternalError
from postil.web.service.worker_process import WorkerEnded, WorkerProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from postil.app.service.config import ServiceConfig

__all__ = ["Busy", "TimedOut", "WorkerPool"]

ATTEMPTS: Final = 2
"""Number of workers that a request is given to, if they end while they compute."""

PATIENCE: Final = 3
"""Number of new workers that may be killed before requests are refused at once."""

HOPELESS: Final = "no worker can be started"

PAUSES: Final = (0.0, 0.1, 0.5, 2.0, 5.0)
"""Seconds before each attempt to start a worker again; the last one is repeated."""


class Busy(PostilError):  # noqa: N818 - says what has happened
    """No worker is free for this request; it was not begun, and can be sent again."""


class TimedOut(PostilError):  # noqa: N818 - says what has happened
    """A request took too long, and was ended."""


class WorkerPool:
    """Worker processes that share one queue of requests.

    A worker that ends is replaced, and its request is given to another one, once: a request that ends two workers is
    refused. A worker that computes for too long is killed.

    Args:
        workers: Number of worker processes.
        timeout: Seconds that a request may wait for a worker, and that a worker may compute.
        queue: Largest number of requests that wait for a worker.
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
        self._waiting: deque[asyncio.Future[WorkerProcess]] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._failure: PostilError | None = None
        self._swapping = asyncio.Lock()
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
            self._workers, self._idle = set(), deque()
            for worker in fresh:
                self._enter(worker)
            for worker in old:
                worker.retired = True
                if worker in idle:
                    self._spawn(worker.end())
                # a busy one is ended when it is released

    async def call(self, name: str, request: bytes) -> bytes:
        """Let a worker answer a request.

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
        content = b"%b\n%b" % (name.encode(), request)
        for attempt in range(ATTEMPTS):
            worker = await self._acquire(again=attempt > 0)
            try:
                async with asyncio.timeout(self._timeout):
                    return await worker.ask(content)
            except WorkerEnded as error:
                self._on_message(f"a worker {error}")
            except TimeoutError:
                worker.kill()
                problem = f"the request took longer than {self._timeout:g} s and was ended; send less in one request"
                raise TimedOut(problem) from None
            except asyncio.CancelledError:
                worker.kill()  # its answer would be read as that to another request
                raise
            finally:
                self._release(worker)
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
        for future in self._waiting:
            if not future.done():
                future.set_exception(Busy("the service is being stopped"))
        self._workers, self._idle = set(), deque()
        await asyncio.gather(*(worker.end() for worker in list(self._processes)))
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _acquire(self, *, again: bool) -> WorkerProcess:
        """Take a worker, or wait for one; a request that was begun before waits in front of the others."""
        if self._idle:
            return self._idle.popleft()
        if self._failure is not None and not self._workers:
            raise self._hopeless(self._failure)
        if len(self._waiting) >= self._queue and not again:
            raise Busy(f"{self._queue} requests wait already")
        future: asyncio.Future[WorkerProcess] = asyncio.get_running_loop().create_future()
        (self._waiting.appendleft if again else self._waiting.append)(future)
        try:
            async with asyncio.timeout(self._timeout):
                return await future
        except BaseException as error:
            if future.done() and not future.cancelled() and future.exception() is None:
                self._release(future.result())
            if isinstance(error, TimeoutError):
                raise Busy(f"no worker was free for {self._timeout:g} s") from None
            raise
        finally:
            if future in self._waiting:
                self._waiting.remove(future)

    def _release(self, worker: WorkerProcess) -> None:
        """Give a worker to the request that has waited longest."""
        if worker.retired:
            self._spawn(worker.end())
        elif worker in self._workers and not worker.gone:
            while self._waiting:
                future = self._waiting.popleft()
                if not future.done():
                    future.set_result(worker)
                    return
            self._idle.append(worker)

    def _enter(self, worker: WorkerProcess) -> None:
        self._workers.add(worker)
        self._release(worker)

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

    async def _started(self, config: ServiceConfig) -> WorkerProcess:
        worker = await WorkerProcess.start(config.encoded(), config.jobs)
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
                fresh = await self._started(config)
            except PostilError as error:
                if attempt == 0:
                    self._on_message(f"a worker cannot be started again: {error}")
                attempt += 1
                if attempt == PATIENCE or not isinstance(error, InternalError):
                    self._refuse(error)
                continue
            if self._config is config:
                self._failure = None
                self._enter(fresh)
            else:
                await fresh.end()
            return

    def _refuse(self, failure: PostilError) -> None:
        """Refuse requests at once, until a worker is there, as no model can be opened."""
        self._failure = failure
        if not self._workers:
            for future in self._waiting:
                if not future.done():
                    future.set_exception(self._hopeless(failure))

    def _hopeless(self, failure: PostilError) -> Busy:
        """The refusal of a request where no worker can be started; the log names the folders."""
        return Busy(f"{HOPELESS}: {self.without_paths(str(failure))}")

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
