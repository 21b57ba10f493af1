"""A worker process as the service sees it."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final, cast

from postil.engine.worker import HEAD, command, described, environment, head, length_of
from postil.errors import PostilError
from postil.messages import Blank, Setting
from postil.service.failures import InternalError, raised
from postil.service.worker_loop import DONE

if TYPE_CHECKING:
    from typing import Self

__all__ = ["WorkerEnded", "WorkerProcess"]

WORKER: Final = "postil.service.worker"
BUFFER: Final = 1 << 20
EXIT_TIMEOUT: Final = 5.0  # seconds


class WorkerEnded(Exception):  # noqa: N818 - says what happened
    """A worker has ended; the message says how, after "its worker"."""


class WorkerProcess:
    """A process that holds the models and answers one request at a time; `start` it.

    Args:
        process: The process.

    Attributes:
        models: The answer of a worker to its configuration.
        retired: True if it is to take no further requests.
        deferred: True if it has a lower priority.
        gone: True if it was killed, or has ended.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._to = cast("asyncio.StreamWriter", process.stdin)
        self._from = cast("asyncio.StreamReader", process.stdout)
        self.models = b""
        self.retired = False
        self.deferred = False
        self.gone = False

    @classmethod
    async def launch(cls, module: str, threads: int) -> Self:
        """Start a process that takes messages.

        Args:
            module: Module whose function ``serve`` it runs.
            threads: Number of threads of arithmetic libraries.

        Raises:
            PostilError: It cannot be started.
        """
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *command(module),
                stdin=pipe,
                stdout=pipe,
                env=environment(threads),
                limit=BUFFER,
                start_new_session=True,  # Ctrl+C is for the first process
            )
        except OSError as error:
            raise PostilError(
                "cannot start a worker process: {problem}; try fewer: {workers}",
                problem=error.strerror or f"{error}",
                workers=Setting("workers", Blank("N")),
            ) from None
        return cls(process)

    @classmethod
    async def start(cls, config: bytes, threads: int, niceness: int = 0) -> Self:
        """Start a worker and let it open its models.

        Args:
            config: The configuration, encoded.
            threads: Number of threads of arithmetic libraries.
            niceness: Difference of its priority, also while it opens its models.

        Raises:
            PostilError: The process cannot be started, or a model cannot be opened.
        """
        worker = await cls.launch(WORKER, threads)
        if niceness:
            worker.defer(niceness)
        try:
            worker.models = await worker.ask(config)
        except WorkerEnded as error:
            raise InternalError(f"a worker {error} while it opened the models") from None
        except BaseException:
            worker.kill()
            await worker.ended()
            raise
        return worker

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    async def ask(self, content: bytes) -> bytes:
        """Send a message and wait for the answer.

        Args:
            content: The message.

        Raises:
            PostilError: What the worker raised.
            WorkerEnded: The process ended before it answered.
        """
        try:
            self._to.write(head(DONE, content) + content)  # one call of the system
            start = await self._from.readexactly(HEAD)
            answer = await self._from.readexactly(length_of(start))
        except (OSError, EOFError):
            self.gone = True
            raise WorkerEnded(described(await self.ended())) from None
        if start[:1] != DONE:
            raise raised(answer)
        return answer

    def defer(self, niceness: int) -> None:
        """Let the process compute when others do not need the processors.

        Args:
            niceness: Difference of its priority.
        """
        self.deferred = True
        if hasattr(os, "setpriority"):
            with suppress(OSError):  # it has ended
                os.setpriority(os.PRIO_PROCESS, self.pid, os.getpriority(os.PRIO_PROCESS, 0) + niceness)

    async def ended(self) -> int:
        """Wait for the end of the process; return its exit code."""
        return await self._process.wait()

    def kill(self) -> None:
        """Kill the process."""
        self.gone = True
        with suppress(ProcessLookupError):
            self._process.kill()

    async def end(self) -> None:
        """Let the process end, or kill it if it does not."""
        self.retired = True
        with suppress(OSError):
            self._to.close()
        try:
            await asyncio.wait_for(self.ended(), EXIT_TIMEOUT)
        except TimeoutError:
            self.kill()
            await self.ended()
