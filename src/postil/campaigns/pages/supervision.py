"""Routes for whoever runs the server of a campaign: its health, and metrics for Prometheus."""

from __future__ import annotations

import asyncio
import ipaddress
import time
from typing import TYPE_CHECKING, Final

from fastapi import Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from prometheus_client import Gauge

from postil.campaigns.pages.site import NEVER_CACHED
from postil.errors import PostilError
from postil.messages import COMMAND_LINE, Blank, Message, Setting
from postil.web.guard import bearer_of
from postil.web.request_metrics import MEDIA_TYPE, RequestMetrics

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import ASGIApp, Receive, Scope, Send
    from starlette.types import Message as Event

    from postil.campaigns.pages.backup_schedule import BackupSchedule
    from postil.campaigns.store import Store
    from postil.web.tokens import Tokens

__all__ = ["CampaignMetrics", "Measured", "add_supervision"]

PATIENCE: Final = 5.0
"""Seconds that the database has to answer."""

SCOPE: Final = "metrics"
"""Right that a token needs to read the metrics."""

ELSEWHERE: Final = "other"
"""Route of requests that are for none."""

LOCAL_ONLY: Final = Message(
    "Only this machine can read the metrics of this server, by a numeric address or localhost. To read them from "
    "elsewhere, start the server with {tokens} and send a token of the scope metrics.\n",
    tokens=Setting("tokens", Blank("FILE")),
)
NO_TOKEN: Final = "Expected a token of the scope metrics, in the header Authorization: Bearer postil_….\n"  # noqa: S105


class CampaignMetrics(RequestMetrics):
    """Counters of requests, and gauges of a campaign's state.

    Args:
        store: Store of the campaign.
        backup: Schedule of the daily backups; None if none are made.
    """

    def __init__(self, store: Store, backup: BackupSchedule | None = None) -> None:
        super().__init__()
        self._store, registry = store, self.registry
        self._up = Gauge("postil_campaign_up", "1 if the database of the campaign answers, else 0.", registry=registry)
        self._ratings = Gauge("postil_campaign_ratings", "Number of ratings that are stored.", registry=registry)
        self._skipped = Gauge("postil_campaign_skipped", "Number of items that were skipped.", registry=registry)
        self._planned = Gauge("postil_campaign_planned", "Number of ratings that are planned.", registry=registry)
        self._annotators = Gauge(
            "postil_campaign_annotators", "Number of annotators who were invited and not removed.", registry=registry
        )

        if backup is not None:
            made = Gauge("postil_backup_timestamp_seconds", "Time of the last backup, or 0.", registry=registry)
            made.set_function(lambda: backup.last or 0.0)
            failed = Gauge("postil_backup_failures", "Number of failed backups since the start.", registry=registry)
            failed.set_function(lambda: backup.failures)

    def text(self) -> bytes:
        """All metrics; without a database those of the campaign are as they were last."""
        try:
            progress, annotators = self._store.people.totals()
        except PostilError:
            self._up.set(0)
        else:
            self._up.set(1)
            self._ratings.set(progress.done)
            self._skipped.set(progress.skipped)
            self._planned.set(progress.total)
            self._annotators.set(annotators)
        return self.exposition()


class Measured:
    """ASGI middleware around everything else that counts requests by their routes.

    Args:
        app: The wrapped application.
        metrics: Counters of requests.
    """

    def __init__(self, app: ASGIApp, metrics: RequestMetrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the ASGI specification."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status = time.perf_counter(), 0

        async def watched(message: Event) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        self._metrics.begin()
        try:
            await self._app(scope, receive, watched)
        finally:
            self._metrics.observe(_route_of(scope), status, time.perf_counter() - start)


def add_supervision(app: FastAPI, metrics: CampaignMetrics, store: Store, tokens: Tokens | None) -> None:
    """Add the routes for whoever runs the server.

    Args:
        app: The application.
        metrics: Its metrics.
        store: Store of the campaign.
        tokens: Tokens of programs on other machines; None if there are none.
    """

    @app.api_route("/health", methods=["GET", "HEAD"])
    async def health(request: Request) -> Response:
        try:
            await asyncio.wait_for(asyncio.wrap_future(store.check()), PATIENCE)
        except PostilError as error:
            # It names the place of the database, which is for whoever runs the server.
            problem = str(error) if _is_local(request) else "the database of the campaign takes no answers"
        except TimeoutError:
            problem = f"the database has not answered for {PATIENCE:g} s"
        else:
            return JSONResponse({"status": "ok"}, 200, NEVER_CACHED)
        return JSONResponse({"status": "unavailable", "problem": problem}, 503, NEVER_CACHED)

    @app.get("/metrics")
    def measured(request: Request) -> Response:
        if not _is_local(request):
            if tokens is None:
                return PlainTextResponse(COMMAND_LINE.words(LOCAL_ONLY), 403, NEVER_CACHED)
            bearer = bearer_of(dict(request.headers.raw))
            token = tokens.identify(bearer) if bearer else None
            if token is None:
                return PlainTextResponse(NO_TOKEN, 401, {**NEVER_CACHED, "www-authenticate": 'Bearer realm="postil"'})
            if SCOPE not in token.scopes:
                problem = f"The token {token.name} lacks the scope metrics (postil tokens add --scope metrics).\n"
                return PlainTextResponse(problem, 403, NEVER_CACHED)
        return Response(metrics.text(), headers=NEVER_CACHED, media_type=MEDIA_TYPE)


def _is_local(request: Request) -> bool:
    """True if a request comes from this machine, and not through a reverse proxy on it.

    A proxy passes on the name that it is asked for, and by default tells for whom it asks.
    """
    if "x-forwarded-for" in request.headers or "forwarded" in request.headers or request.client is None:
        return False
    return _is_loopback(request.client.host) and _is_loopback(request.url.hostname or "")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _route_of(scope: Scope) -> str:
    """Method and path of the route, as it is declared; clients choose neither."""
    route = scope.get("route")
    if route is None or scope["method"] not in route.methods:
        return ELSEWHERE
    return f"{scope['method']} {route.path}"
