"""Places of the service's requests in its queues: what each takes turns for, and who sends it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.web.fair_line import FairQueue
from postil.web.gate import Place
from postil.web.routing import CALL, Router
from postil.web.security import BODY, Reachable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import Scope

    from postil.web.routing import Call, Guard, Route

__all__ = ["REACHABLE", "ServicePlaces"]

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
