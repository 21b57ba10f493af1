"""The server of the service: its parts, its start, and its graceful stop."""

from __future__ import annotations

import asyncio
import math
import socket
from typing import TYPE_CHECKING

from postil.app.serve import service_config
from postil.app.signals import unwound
from postil.web.connections import ConnectionLimits
from postil.web.listening import listen, make_server
from postil.web.security import SecurityMiddleware
from postil.web.service.application import Application, Recorded
from postil.web.service.pool import WorkerPool
from postil.web.service.problems import problem_parts
from postil.web.service.routes import health_routes, model_routes
from postil.web.service.routing import Guard

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import uvicorn
    from starlette.types import ASGIApp

    from postil.app.serve import ServiceOptions
    from postil.app.service.config import ServiceConfig
    from postil.web.service.routing import Route

__all__ = ["Service", "serve"]


class Service:
    """The parts of the service; nothing runs before `start`.

    Args:
        folders: Models, ``NAME=DIR`` or ``DIR``.
        options: Options of the command.
        on_message: Callback for status messages.
    """

    def __init__(
        self, folders: Sequence[str], options: ServiceOptions, on_message: Callable[[str], None] = lambda _: None
    ) -> None:
        self.folders, self.options, self.on_message = folders, options, on_message
        self.pool = WorkerPool(
            options.worker_count(), timeout=options.timeout, queue=options.queue, on_message=on_message
        )
        self.guard = Guard()

    def config(self) -> ServiceConfig:
        """The configuration of workers, by the folders as they are now.

        Raises:
            InvalidInput: A folder holds no model.
            UsageError: Names or settings are wrong.
        """
        return service_config(self.folders, self.options)

    def routes(self) -> list[Route]:
        """All routes."""
        return [*model_routes(self.pool), *health_routes(self.pool)]

    def app(self) -> ASGIApp:
        """The ASGI application."""
        options = self.options
        checked = SecurityMiddleware(
            Application(self.routes(), self.guard),
            {"localhost", socket.gethostname(), *options.name},
            secure=options.https,
            largest=options.max_body,
            worded=problem_parts,
        )
        return Recorded(checked, self.guard)

    async def start(self, config: ServiceConfig) -> None:
        """Start the workers.

        Args:
            config: Their configuration.

        Raises:
            PostilError: A model cannot be opened.
        """
        await self.pool.start(config)

    async def stop(self) -> None:
        """End the workers."""
        await self.pool.stop()


def serve(folders: Sequence[str], options: ServiceOptions, *, on_message: Callable[[str], None]) -> None:
    """Serve models until it is interrupted.

    Args:
        folders: Models, ``NAME=DIR`` or ``DIR``.
        options: Options of the command.
        on_message: Callback for status messages.

    Raises:
        PostilError: A model cannot be opened, or the port is taken.
    """
    service = Service(folders, options, on_message)
    config = service.config()
    with unwound(serving=True), listen(options.host, options.port) as (listening, address):
        server = make_server(
            service.app(),
            secure=options.https,
            limits=ConnectionLimits(body_bytes=options.max_body),
            worded=problem_parts,
            grace=math.ceil(options.timeout),
        )
        count = len(config.models) + len(config.quality)
        loop = asyncio.Runner(loop_factory=server.config.get_loop_factory())
        with loop as runner:
            runner.run(_run(service, config, server, listening, f"{count} model{'s' * (count > 1)} at {address}"))


async def _run(
    service: Service, config: ServiceConfig, server: uvicorn.Server, listening: socket.socket, what: str
) -> None:
    """Listen at once, so that a supervisor sees the service live, and stop where a model cannot be opened."""

    async def start() -> None:
        try:
            await service.start(config)
        except BaseException:
            server.should_exit = True
            raise
        service.on_message(f"serving {what}; stop with Ctrl+C")

    starting = asyncio.create_task(start())
    try:
        await server.serve(sockets=[listening])
    finally:
        if not starting.done():
            starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)
        await service.stop()
    if not starting.cancelled():
        starting.result()
