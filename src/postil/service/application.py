"""The application: dispatches requests in their turns, and gives each response an id, a length and a form."""

from __future__ import annotations

import re
import secrets
import time
from typing import TYPE_CHECKING, Final

from postil.errors import PostilError
from postil.web.error_log import log_failure
from postil.web.problems import Problem, problem_of, problem_reply
from postil.web.routing import CALL, Call, Guard, Reply, Router
from postil.web.security import BODY, Reachable
from postil.web.turns import FairQueue, Place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from postil.web.routing import Route

__all__ = ["REACHABLE", "Application", "Recorded", "ServicePlaces"]

REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")
"""Identifiers of requests that are taken from clients."""


class Recorded:
    """ASGI middleware around everything else: makes the `Call`, sets ``X-Request-Id``, and tells the guard of the end.

    Args:
        app: The wrapped application.
        guard: The guard.
    """

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self._app, self._guard = app, guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the ASGI specification."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.perf_counter()
        headers = dict(scope["headers"])
        sent = headers.get(b"x-request-id", b"")
        id_ = sent.decode() if REQUEST_ID.fullmatch(sent) else secrets.token_hex(8)
        client = scope.get("client")
        call = scope[CALL] = Call(
            id=id_,
            method=scope["method"],
            path=scope["path"],
            query=scope["query_string"],
            headers=headers,
            client=client[0] if client else "",
        )

        self._guard.began(call)

        async def with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                call.status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", id_.encode())]
            await send(message)

        try:
            await self._app(scope, receive, with_id)
        finally:
            self._guard.finished(call, time.perf_counter() - start)


class Application:
    """ASGI application of a table of routes.

    Args:
        routes: The routes.
        guard: Checks before each request.
    """

    def __init__(self, routes: Sequence[Route], guard: Guard) -> None:
        self._router, self._guard = Router(routes), guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        """See the ASGI specification; the body has been received before."""
        call: Call = scope[CALL]
        call.body = scope.get(BODY, b"")
        try:
            found = call.reply = await self._reply(call)
        except PostilError as error:
            found = problem_reply(problem_of(error), f"{call.path}#{call.id}")
        except Exception:  # a client must not see it, and whoever runs the service must
            log_failure(f"request {call.id}")
            problem = Problem(500, "an internal error; the log of the service has its details")
            found = problem_reply(problem, f"{call.path}#{call.id}")
        await _send(send, found, head=call.method == "HEAD")

    async def _reply(self, call: Call) -> Reply:
        methods, call.name = self._router.find(call.path)
        if not methods:
            raise Problem(404, f"there is nothing at {call.path}; /docs lists the addresses")
        call.route = methods.get("GET" if call.method == "HEAD" else call.method)
        if call.route is None:
            allowed = ", ".join(sorted({*methods, *({"HEAD"} if "GET" in methods else ())}))
            detail = f"{call.path} takes {allowed}, not {call.method}"
            raise Problem(405, detail, headers=(("allow", allowed),))
        self._guard.admit(call)
        coding = call.headers.get(b"content-encoding", b"identity").decode("latin-1")
        if coding != "identity":
            raise Problem(415, f"expected a body as it is, got content-encoding {coding}")
        return await call.route.handler(call)


async def _send(send: Send, found: Reply, *, head: bool) -> None:
    headers = [(b"content-type", found.media_type.encode())]
    headers += [(name.encode(), value.encode("latin-1")) for name, value in found.headers]
    start: Message = {"type": "http.response.start", "status": found.status, "headers": headers}
    if isinstance(found.body, bytes):
        headers.append((b"content-length", b"%d" % len(found.body)))
        await send(start)
        await send({"type": "http.response.body", "body": b"" if head else found.body})
        return
    await send(start)
    if not head:
        async for part in found.body:
            await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


REACHABLE: Final = Reachable(frozenset({"/healthz", "/readyz"}), frozenset({"/", "/docs"}).__contains__)
"""Paths that browsers may get from elsewhere: health, and links to pages. All else is data."""


BULK: Final = 64 * 1024
"""Size of a request, in bytes, above which reading it takes long."""


class ServicePlaces:
    """Places of requests.

    Requests that workers answer have a line of their own (`postil.service.pool.WorkerPool`).

    Args:
        routes: The routes.
        guard: The guard, which knows the clients.
        patience: Seconds that a request waits for its turn.
    """

    def __init__(self, routes: Sequence[Route], guard: Guard, patience: float) -> None:
        self._router, self._guard = Router(routes), guard
        self._queues = {
            # What computes in the process that answers all requests: of its time a client has a quarter at most.
            "here": FairQueue(1, each=1, line=8, patience=patience, rest=3.0),
            "GET": FairQueue(32, each=3, line=32, patience=patience),  # there are six threads or more
            "POST": FairQueue(64, each=16, line=64, patience=patience),
        }

    async def __call__(self, scope: Scope) -> Place | None:
        """The place of a request; None for one that is answered at once.

        Args:
            scope: The request, with its `Call`.
        """
        call: Call = scope[CALL]
        methods, _ = self._router.find(call.path)
        route = methods.get("GET" if call.method == "HEAD" else call.method)
        if route is None or route.queue == "open":
            return None
        client = self._guard.client_of(call)
        if route.queue == "workers":
            return Place(client, stoppable=True)
        if route.queue == "here" or len(scope.get(BODY, b"")) > BULK:
            return Place(client, self._queues["here"], stoppable=route.method == "GET")
        return Place(client, self._queues["GET" if route.method == "GET" else "POST"])
