"""A worker of the service: a process of the engine as an event loop sees it, and the errors that come from it."""

from __future__ import annotations

import asyncio
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, cast

from postil.engine.worker import (
    CALL,
    HEAD,
    LOAD,
    WorkerDied,
    command,
    described,
    environment,
    head,
    length_of,
    result_of,
    serialize,
)
from postil.errors import PostilError
from postil.messages import COMMAND_LINE, Blank, Setting
from postil.web.error_log import log_failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["InternalError", "WorkerProcess", "for_clients"]

Q = TypeVar("Q")
S = TypeVar("S")

BUFFER: Final = 1 << 20
EXIT_TIMEOUT: Final = 5.0  # seconds


class InternalError(PostilError):
    """A defect of this program, or of the machine; its log says more."""


@contextmanager
def for_clients() -> Iterator[None]:
    """Let all errors of a request be such as clients may hear, and end no worker.

    One of a request has its words already; any other, as when models are opened, gets those of the command.
    """
    try:
        yield
    except PostilError as error:
        error.freeze(COMMAND_LINE)
        raise
    except MemoryError:
        raise InternalError("the request needs more memory than there is; send shorter texts") from None
    except (Exception, SystemExit):  # one request must not end the others
        log_failure("a worker")
        raise InternalError("an internal error; the log of the service has its details") from None


class WorkerProcess:
    """A process that loads one thing and answers one request at a time; `start` it.

    Args:
        process: The process.

    Attributes:
        models: List of the models that it has opened, JSON.
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
    async def start(cls, load: Callable[[S], object], shard: S, *, threads: int = 1, niceness: int = 0) -> Self:
        """Start a process.

        Args:
            load: Called with the shard in the process, before the first request is answered.
            shard: Description of what the process loads.
            threads: Number of threads of arithmetic libraries.
            niceness: Difference of its priority.

        Raises:
            PostilError: It cannot be started.
        """
        payload, pipe = serialize("a shard", (load, [shard])), asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *command(),
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
        worker = cls(process)
        if niceness:
            worker.defer(niceness)
        worker._send(LOAD, payload)
        return worker

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    async def ask(self, function: Callable[[Any, Q], object], request: Q) -> Any:
        """Call a function in the process and wait for what it returns.

        Args:
            function: Called with what was loaded, and the request.
            request: Its argument.

        Raises:
            PostilError: What loading or the function raised.
            WorkerDied: The process ended before it answered.
        """
        try:
            self._send(CALL, serialize("the request", (function, request)))
            start = await self._from.readexactly(HEAD)
            answer = await self._from.readexactly(length_of(start))
        except (OSError, EOFError):
            self.gone = True
            raise WorkerDied(described(await self.ended())) from None
        return result_of(answer)

    def _send(self, kind: bytes, content: bytes) -> None:
        self._to.write(head(kind, content) + content)  # one call of the system

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
