"""The server of the service: its application and its other parts, its start, and its graceful stop."""

from __future__ import annotations

import asyncio
import math
import signal
from contextlib import ExitStack, closing
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec
from starlette.exceptions import HTTPException
from starlette.routing import Match, Router
from starlette.routing import Route as StarletteRoute

from postil.cli.output import unwound
from postil.erasure.models import ServedModels
from postil.errors import PostilError
from postil.messages import COMMAND_LINE
from postil.service.bodies import ModelsResponse
from postil.service.config import ServiceConfig
from postil.service.desk import ArticleList, Desk
from postil.service.discovery import discovery_route
from postil.service.documentation import DocsPage
from postil.service.perspective_routes import ErrorForm, perspective_routes
from postil.service.pool import WorkerPool
from postil.service.routes import (
    Telemetry,
    article_route,
    health_routes,
    metrics_route,
    model_routes,
    store_routes,
    with_impressions,
)
from postil.service.sites import Sites
from postil.service.store import ServiceStore
from postil.service.upkeep import Upkeep
from postil.web.audit_log import AuditLog
from postil.web.connections import ConnectionLimits, listen, make_server, tell_unencrypted
from postil.web.error_log import log_failure, unbroken
from postil.web.guard import Guard, Recorded
from postil.web.problems import Problem, problem_of, problem_refusal, problem_response, unseen_refusal
from postil.web.routing import CALL, Call, Route
from postil.web.security import BODY, Reachable, RequestLimits, SecurityMiddleware
from postil.web.tokens import Tokens
from postil.web.turns import FairQueue, Gate, Place

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Sequence

    import uvicorn
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

    from postil.service.options import ServiceOptions


__all__ = ["Service", "application", "serve"]

REACHABLE: Final = Reachable(frozenset({"/healthz", "/readyz"}), frozenset({"/", "/docs"}).__contains__)
"""Paths that browsers may get from elsewhere: health, and links to pages. All else is data."""


BULK: Final = 64 * 1024
"""Size of a request, in bytes, above which reading it takes long."""


class ServicePlaces:
    """Places of requests.

    Requests that workers answer have a line of their own (`postil.service.pool.WorkerPool`).

    Args:
        guard: The guard, which knows the clients.
        patience: Seconds that a request waits for its turn.
    """

    def __init__(self, guard: Guard, patience: float) -> None:
        self._guard = guard
        self._queues = {
            # What computes in the process that answers all requests: of its time a client has a quarter at most.
            "here": FairQueue(1, each=1, line=8, patience=patience, rest=3.0),
            "GET": FairQueue(32, each=3, line=32, patience=patience),  # there are six threads or more
            "POST": FairQueue(64, each=16, line=64, patience=patience),
        }

    def gate(self, route: Route) -> ASGIApp:
        """The application of a route, behind a gate unless its requests are answered at once.

        Args:
            route: The route.
        """
        endpoint = Endpoint(route, self._guard)
        return endpoint if route.queue == "open" else Gate(endpoint, partial(self._place, route), problem_refusal)

    async def _place(self, route: Route, scope: Scope) -> Place:
        client = self._guard.client_of(scope[CALL], route)
        if route.queue == "workers":
            return Place(client, stoppable=True)
        if route.queue == "here" or len(scope.get(BODY, b"")) > BULK:
            return Place(client, self._queues["here"], stoppable=route.method == "GET")
        return Place(client, self._queues["GET" if route.method == "GET" else "POST"])


class Endpoint:
    """ASGI application of one route.

    Args:
        route: The route.
        guard: Checks before each request.
    """

    def __init__(self, route: Route, guard: Guard) -> None:
        self._route, self._guard = route, guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the ASGI specification."""
        call: Call = scope[CALL]
        # Supervisors, pages and documentation would be most of the audit log.
        call.audited = self._route.scope is not None or self._route.method != "GET"
        try:
            call.response = await self._answer(call)
        except HTTPException:  # of a static file that is missing
            call.response = _refused(call, _missing(call))
        except PostilError as error:
            call.response = _refused(call, problem_of(error))
        except Exception:  # a client must not see it, and whoever runs the service must
            log_failure(f"request {call.id}")
            call.response = _refused(call, Problem(500, "an internal error; the log of the service has its details"))
        await call.response(scope, receive, send)

    async def _answer(self, call: Call) -> Response:
        self._guard.admit(call, self._route)
        coding = call.headers.get("content-encoding", "identity")
        if coding != "identity":
            raise Problem(415, f"expected a body as it is, got content-encoding {coding}")
        return await self._route.handler(call)


class _Route(StarletteRoute):
    """A route that is none of another method's requests; `_nothing` answers those."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return super().matches(scope) if self.methods and scope["method"] in self.methods else (Match.NONE, {})


class _Router(Router):
    """Starlette's router, which tries one route after the other, behind an index of paths without parameters.

    That takes 12 µs for 26 routes, of 59 that a short request takes without the sockets. Starlette's two layers for
    exceptions would take 4, so errors are answered where a route ends.
    """

    def __init__(self, routes: Sequence[_Route]) -> None:
        super().__init__(routes, redirect_slashes=False, default=_nothing)
        plain = [each for each in routes if not each.param_convertors]
        self._plain = {(method, each.path): each for each in plain for method in each.methods or ()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the ASGI specification."""
        route = self._plain.get((scope.get("method", ""), scope.get("path", "")))
        if route is None:
            await super().__call__(scope, receive, send)
        else:
            scope["route"] = route
            await route.app(scope, receive, send)


async def _nothing(scope: Scope, receive: Receive, send: Send) -> None:
    call: Call = scope[CALL]
    here = [each for each in scope["router"].routes if each.path_regex.match(call.path)]
    response = _refused(call, _wrong_method(call, here) if here else _missing(call))
    await response(scope, receive, send)


def _refused(call: Call, problem: Problem) -> Response:
    return problem_response(problem, f"{call.path}#{call.id}")


def _missing(call: Call) -> Problem:
    return Problem(404, f"there is nothing at {call.path}; /docs lists the addresses")


def _wrong_method(call: Call, here: Sequence[_Route]) -> Problem:
    allowed = ", ".join(sorted({method for each in here for method in each.methods or ()}))
    return Problem(405, f"{call.path} takes {allowed}, not {call.method}", headers=(("allow", allowed),))


def application(
    routes: Sequence[Route], guard: Guard, options: ServiceOptions, metrics: Telemetry, audit: AuditLog | None = None
) -> ASGIApp:
    """Make the ASGI application of a table of routes.

    Args:
        routes: The routes.
        guard: Checks before each request.
        options: Options of the command.
        metrics: Counters of requests.
        audit: The audit log; None for none.
    """
    places = ServicePlaces(guard, options.timeout)
    by_kind = sorted(routes, key=lambda route: "{" not in route.path)  # those with parameters, which are tried, first
    checked = SecurityMiddleware(
        _Router([_Route(each.path, places.gate(each), methods=[each.method]) for each in by_kind]),
        options.name,
        secure=options.https,
        largest=options.max_body,
        worded=problem_refusal,
        reachable=REACHABLE,
    )
    return Recorded(ErrorForm(checked), metrics, audit)


class Service:
    """The parts of the service; no worker runs before `start`, and `close` must follow.

    Args:
        folders: Models, ``NAME=DIR`` or ``DIR``.
        options: Options of the command.
        on_message: Callback for status messages.

    Raises:
        UsageError: Another service uses the audit log or the store.
        InvalidInput: A file of tokens, an audit log or a store is another file.
        PostilError: The operating system reports an error.
    """

    def __init__(
        self, folders: Sequence[str], options: ServiceOptions, on_message: Callable[[str], None] = lambda _: None
    ) -> None:
        on_message = unbroken(on_message)
        self.folders, self.options, self.on_message = folders, options, on_message
        self.pool = WorkerPool(
            options.worker_count(), timeout=options.timeout, queue=options.queue, on_message=on_message
        )
        self.telemetry = Telemetry()
        self.articles = ArticleList.read(options.articles, on_message)
        with ExitStack() as undo:
            self.tokens = None if options.tokens is None else Tokens(options.tokens, on_message)
            self.audit = None if options.audit is None else AuditLog(options.audit, on_message)
            if self.audit is not None:
                undo.callback(self.audit.close)
            self.store = None if options.data is None else ServiceStore.open(options.data)
            if self.store is not None:
                undo.callback(self.store.close)
            self.sites = Sites(options, self.pool, self.store, on_message)
            self.served = ServedModels(options.data, on_message)
            undo.callback(self.served.close)
            self._until = undo.pop_all()
        self.guard = Guard(RequestLimits(options.rate), self.tokens)
        self.upkeep = Upkeep(self.pool, self.config, self.store, self.served)

    def config(self) -> ServiceConfig:
        """The configuration of workers, by the folders as they are now.

        Raises:
            InvalidInput: A folder holds no model.
            UsageError: Names or settings are wrong.
        """
        return ServiceConfig.of_folders(self.folders, self.options)

    def routes(self) -> list[Route]:
        """All routes."""
        models = model_routes(self.pool)
        if (store := self.store) is not None:
            models = [with_impressions(route, store) if route.path == "/v1/suggest" else route for route in models]
        described = [
            *models,
            article_route(self.pool),
            *store_routes(self.store),
            *perspective_routes(self.pool, self.store),
            discovery_route(),
            *self.sites.routes,
            *self.upkeep.routes(),
            *health_routes(self.pool, self.store),
            metrics_route(self.metrics),
        ]
        desk = Desk(self.articles, self.tokens, store=self.store, secure=self.options.https)
        return [*described, *desk.routes(), *DocsPage(described).routes()]

    async def metrics(self) -> bytes:
        """The metrics of the service as it is now."""
        return self.telemetry.text(
            workers=len(self.pool.pids),
            waiting=self.pool.waiting,
            models=msgspec.json.decode(self.pool.models, type=ModelsResponse).models if self.pool.models else (),
            stored=None if self.store is None else await asyncio.to_thread(self.store.counts),
            audit_lost=0 if self.audit is None else self.audit.lost,
        )

    def app(self) -> ASGIApp:
        """The ASGI application."""
        return application(self.routes(), self.guard, self.options, self.telemetry, self.audit)

    async def start(self, config: ServiceConfig) -> None:
        """Start the workers, then the deliveries.

        Args:
            config: Their configuration.

        Raises:
            PostilError: A model cannot be opened.
        """
        with self.served.moving_to(config.kept):
            await self.pool.start(config)
        self.sites.start()

    async def reload(self) -> None:
        """Read the folders of the models again, and say how it went; begin a new audit log if it was moved away."""
        if self.audit is not None:
            self.audit.reopen()
        try:
            await self.upkeep.reload()
        except PostilError as error:
            self.on_message(f"not reloaded, the models that were opened before go on: {error.words(COMMAND_LINE)}")
        else:
            self.on_message("reloaded")

    async def stop(self) -> None:
        """End the deliveries and the workers."""
        await self.sites.stop()
        await self.pool.stop()
        self.served.close()

    def close(self) -> None:
        """Close the audit log and the store."""
        self._until.close()


def serve(
    folders: Sequence[str],
    options: ServiceOptions,
    *,
    on_message: Callable[[str], None],
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve models until it is interrupted.

    Args:
        folders: Models, ``NAME=DIR`` or ``DIR``.
        options: Options of the command.
        on_message: Callback for status messages.
        on_ready: Callback for the address, once the models are open; by default a status message has it.

    Raises:
        PostilError: A model cannot be opened, or the port is taken.
    """
    config = ServiceConfig.of_folders(folders, options)
    with (
        unwound(serving=True),
        closing(Service(folders, options, on_message)) as service,
        listen(options.host, options.port) as (listening, address),
    ):
        server = make_server(
            service.app(),
            secure=options.https,
            limits=ConnectionLimits(body_bytes=options.max_body),
            worded=unseen_refusal,
            grace=math.ceil(3 * options.timeout),  # to wait for a worker, and to compute
        )
        tell_unencrypted(listening, service.on_message, secure=options.https)
        count = len(config.models) + len(config.quality) + len(config.screens)
        places = "the desk is there, /docs describes requests"
        said = f"serving {count} model{'s' * (count > 1)} at {address}; {places}; stop with Ctrl+C"
        ready = partial(service.on_message, said) if on_ready is None else partial(on_ready, address)
        with asyncio.Runner(loop_factory=server.config.get_loop_factory()) as runner:
            runner.run(_run(service, config, server, listening, ready))


async def _run(
    service: Service,
    config: ServiceConfig,
    server: uvicorn.Server,
    listening: socket.socket,
    ready: Callable[[], None],
) -> None:
    """Listen at once, so that a supervisor sees the service live, and stop where a model cannot be opened."""

    async def start() -> None:
        try:
            await service.start(config)
        except BaseException:
            server.should_exit = True
            raise
        ready()

    hang_up = getattr(signal, "SIGHUP", None)
    reloads: set[asyncio.Task[None]] = set()
    if hang_up is not None:

        def reload() -> None:
            task = asyncio.create_task(service.reload())
            reloads.add(task)
            task.add_done_callback(reloads.discard)

        asyncio.get_running_loop().add_signal_handler(hang_up, reload)
    starting = asyncio.create_task(start())
    try:
        await server.serve(sockets=[listening])
    finally:
        for task in (starting, *reloads):
            task.cancel()
        await asyncio.gather(starting, *reloads, return_exceptions=True)
        await service.stop()
    if not starting.cancelled():
        starting.result()
