"""An event loop in a thread of its own, for plain functions whose calls must end at a deadline."""

from __future__ import annotations

import asyncio
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

__all__ = ["LoopThread"]

T = TypeVar("T")


class _Unawaited(ThreadPoolExecutor):
    """Threads that the end of the process does not wait for, as for one that looks up a name in vain."""

    def submit(self, work: Callable[..., T], /, *args: object) -> Future[T]:  # type: ignore[override]
        """Let a thread of its own do some work."""
        future: Future[T] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(work(*args))
            except BaseException as error:  # whoever waits must hear of it
                future.set_exception(error)

        Thread(target=run, daemon=True).start()
        return future


class LoopThread:
    """An event loop that runs in a thread until it is closed; for several threads.

    >>> loop = LoopThread()
    >>> loop.run(asyncio.sleep(0, "done"), seconds=5)
    'done'
    >>> loop.run(asyncio.sleep(60), seconds=0)
    Traceback (most recent call last):
    TimeoutError
    >>> loop.close(asyncio.sleep(0))
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(_Unawaited())
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[object, object, T], *, seconds: float) -> T:
        """Let the loop do some work, all of which must be done by a deadline.

        Args:
            work: The work, of its own alone.
            seconds: Time until the deadline.

        Raises:
            TimeoutError: It is not done by then, and was given up.
            CancelledError: The loop is closed.
        """

        async def done_in_time() -> T:
            async with asyncio.timeout(seconds):
                return await work

        return asyncio.run_coroutine_threadsafe(done_in_time(), self._loop).result()

    def close(self, last: Coroutine[object, object, None]) -> None:
        """Give up all work and end the loop; what waits for it gets a CancelledError.

        Args:
            last: Work to do before the loop ends, such as closing connections.
        """

        async def given_up() -> None:
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            await last

        with suppress(CancelledError):
            asyncio.run_coroutine_threadsafe(given_up(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
