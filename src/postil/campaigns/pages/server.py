"""The campaign server: application, queues of requests, its health and metrics, uvicorn."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import OrderedDict
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from postil.campaigns.backups import BackupSchedule, DailyBackups
from postil.campaigns.calls import note_address
from postil.campaigns.options import is_local
from postil.campaigns.pages.lead import UPLOADS, TextPages, lead_routes
from postil.campaigns.pages.site import LARGEST_UPLOAD, NEVER_CACHED, Site, annotator_routes, joining_routes
from postil.campaigns.store import Store
from postil.cli.output import unwound
from postil.data.hosts import is_loopback
from postil.errors import PostilError
from postil.messages import COMMAND_LINE, Blank, Message, Setting
from postil.web.connections import ConnectionLimits, listen, make_server, tell_unencrypted
from postil.web.guard import MEDIA_TYPE, Recorded, RequestMetrics, bearer_of
from postil.web.pages import static_files
from postil.web.security import LARGEST, Reachable, SecurityMiddleware, address_of, refusal
from postil.web.tokens import Tokens
from postil.web.turns import FairQueue, Gate, Place

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from starlette.requests import Request
    from starlette.types import ASGIApp, Scope

    from postil.campaigns.options import ServeOptions

__all__ = [
    "STATIC",
    "WebOptions",
    "make_app",
    "serve",
]

HEALTH: Final = "/health"
FILES: Final = "/lead/files/"
STATIC_PATH: Final = "/static/"
DATA: Final = (FILES, STATIC_PATH, "/metrics", "/task")
"""Beginnings of the paths that are no pages."""

REACHABLE: Final = Reachable(frozenset({HEALTH}), lambda path: not path.startswith(DATA))
"""Paths that browsers may get from elsewhere: health, and links to pages, as those of invitations."""

KNOWN: Final = 60.0
"""Seconds for which a session that was looked up counts as valid here."""

MOST_KNOWN: Final = 10_000
"""Largest number of sessions to remember."""


class CampaignPlaces:
    """Places of requests: clients are sessions, and addresses where nobody is signed in.

    Args:
        site: Site of the campaign.
        patience: Seconds that a request waits for its turn.
    """

    def __init__(self, site: Site, patience: float = 30.0) -> None:
        self._site = site
        self._known: OrderedDict[str, float] = OrderedDict()  # until when each session counts as valid
        # Pages are made in forty threads. Uploads and files take long, and uploads a process each.
        self._pages = FairQueue(36, each=8, line=64, patience=patience)
        self._files = FairQueue(2, each=1, line=8, patience=2 * patience)
        self._uploads = FairQueue(2, each=1, line=4, patience=2 * patience)

    async def __call__(self, scope: Scope) -> Place | None:
        """The place of a request; None for one that is answered at once.

        Args:
            scope: The request.
        """
        path: str = scope["path"]
        if path == HEALTH or path.startswith(STATIC_PATH):
            return None
        client = await self._client(scope)
        if path.startswith(FILES):
            return Place(client, self._files)
        if path.startswith(UPLOADS) and scope["method"] == "POST":
            return Place(client, self._uploads)
        return Place(client, self._pages)

    async def _client(self, scope: Scope) -> str:
        sent = b"; ".join(value for name, value in scope["headers"] if name == b"cookie").decode("latin-1")
        session = self._site.session_of(sent)
        key = hashlib.sha256(session.encode()).hexdigest()
        if session and await self._is_valid(session, key):
            return f"session {key}"
        return f"address {address_of(scope)}"

    async def _is_valid(self, session: str, key: str) -> bool:
        now = time.monotonic()
        if self._known.get(key, now) > now:
            return True
        try:
            found = await run_in_threadpool(self._site.store.people.session, session)
        except PostilError:
            return False
        if found is not None:
            self._known[key] = now + KNOWN
            self._known.move_to_end(key)
            if len(self._known) > MOST_KNOWN:
                self._known.popitem(last=False)
        return found is not None


PATIENCE: Final = 5.0
"""Seconds that the database has to answer."""

SCOPE: Final = "metrics"
"""Right that a token needs to read the metrics."""

LOCAL_ONLY: Final = Message(
    "Only this machine can read the metrics of this server, by a numeric address or localhost. To read them from "
    "elsewhere, start the server with {tokens} and send a token of the scope metrics.\n",
    tokens=Setting("tokens", Blank("FILE")),
)
NO_TOKEN: Final = "Expected a token of the scope metrics, in the header Authorization: Bearer postil_….\n"  # noqa: S105


GAUGES: Final = {
    "campaign_up": ("1 if the database of the campaign answers, else 0",),
    "campaign_ratings": ("Number of ratings that are stored",),
    "campaign_skipped": ("Number of items that were skipped",),
    "campaign_planned": ("Number of ratings that are planned",),
    "campaign_annotators": ("Number of annotators who were invited and not removed",),
}
"""Descriptions of the gauges by name."""

BACKUP_GAUGES: Final = {
    "backup_timestamp_seconds": ("Time of the last backup, or 0",),
    "backup_failures": ("Number of failed backups since the start",),
}
"""The same where backups are made."""


class CampaignMetrics(RequestMetrics):
    """Counters of requests, and gauges of a campaign's state.

    Args:
        store: Store of the campaign.
        backup: Schedule of the daily backups; None if none are made.
    """

    def __init__(self, store: Store, backup: BackupSchedule | None = None) -> None:
        super().__init__(GAUGES if backup is None else GAUGES | BACKUP_GAUGES)
        self._store, self._backup = store, backup

    def text(self) -> bytes:
        """All metrics; without a database those of the campaign are as they were last."""
        numbers: dict[str, float] = {"campaign_up": 0}
        with suppress(PostilError):
            progress, annotators = self._store.people.totals()
            numbers = {
                "campaign_up": 1,
                "campaign_ratings": progress.done,
                "campaign_skipped": progress.skipped,
                "campaign_planned": progress.total,
                "campaign_annotators": annotators,
            }
        if self._backup is not None:
            numbers |= {
                "backup_timestamp_seconds": self._backup.last or 0.0,
                "backup_failures": self._backup.failures,
            }
        return self.exposition(numbers)


def supervision_routes(metrics: CampaignMetrics, store: Store, tokens: Tokens | None) -> list[Route]:
    """Routes for whoever runs the server.

    Args:
        metrics: Its metrics.
        store: Store of the campaign.
        tokens: Tokens of programs on other machines; None if there are none.
    """

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

    def measured(request: Request) -> Response:
        if not _is_local(request):
            if tokens is None:
                return PlainTextResponse(COMMAND_LINE.words(LOCAL_ONLY), 403, NEVER_CACHED)
            bearer = bearer_of(request.headers)
            token = tokens.identify(bearer) if bearer else None
            if token is None:
                return PlainTextResponse(NO_TOKEN, 401, {**NEVER_CACHED, "www-authenticate": 'Bearer realm="postil"'})
            if SCOPE not in token.scopes:
                problem = f"The token {token.name} lacks the scope metrics (postil tokens add --scope metrics).\n"
                return PlainTextResponse(problem, 403, NEVER_CACHED)
        return Response(metrics.text(), headers=NEVER_CACHED, media_type=MEDIA_TYPE)

    return [Route(HEALTH, health), Route("/metrics", measured)]


def _is_local(request: Request) -> bool:
    """True if a request comes from this machine, and not through a reverse proxy on it.

    A proxy passes on the name that it is asked for, and by default tells for whom it asks.
    """
    if "x-forwarded-for" in request.headers or "forwarded" in request.headers or request.client is None:
        return False
    return is_loopback(request.client.host) and is_loopback(request.url.hostname or "")


LIMITS: Final = ConnectionLimits(body_bytes=LARGEST_UPLOAD)
"""Limits on connections; the application itself refuses larger bodies for all pages but one."""

STATIC: Final = ("aspects.js", "grade.js", "htmx.min.js", "icon.svg", "postil.css", "spans.js")
"""Static files; no others are served."""


@dataclass(frozen=True, slots=True)
class WebOptions:
    """Options of the web application.

    Args:
        names: Host names of the server besides localhost and numeric addresses.
        secure: True if it is reached by HTTPS.
        base_url: URL where people reach it, which invitations begin with; empty for that of the lead's page.
        tokens: Tokens of programs on other machines; None if there are none.
        backup: Schedule of the daily backups; None if none are made.
        url: Location of the campaign, for processes of their own; None to do all work in this one.
        patience: Seconds that a page of leads waits for fresh numbers before it shows the previous ones.
    """

    names: tuple[str, ...] = ()
    secure: bool = False
    base_url: str = ""
    tokens: Tokens | None = None
    backup: BackupSchedule | None = None
    url: str | None = None
    patience: float = 0.03


def make_app(store: Store, options: WebOptions = WebOptions()) -> ASGIApp:
    """Make the ASGI application of a campaign.

    Args:
        store: Store of the campaign.
        options: Options of the application.
    """
    site = Site(store, secure=options.secure, base_url=options.base_url)
    site.show(backup=options.backup, can_backup=store.file is not None)
    metrics = CampaignMetrics(store, options.backup)
    texts = TextPages(site, options.url)
    routes = [
        *joining_routes(site),
        *annotator_routes(site),
        *lead_routes(site, patience=options.patience),
        *texts.routes(),
        *supervision_routes(metrics, store, options.tokens),
        Route("/static/{name}", static_files(STATIC)),
    ]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        texts.close()

    handlers = {PostilError: site.error_response, HTTPException: site.error_response}
    app = Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)

    async def largest(path: str, cookies: str) -> int:
        return LARGEST_UPLOAD if path == UPLOADS and await run_in_threadpool(site.is_lead, cookies) else LARGEST

    gate = Gate(app, CampaignPlaces(site), refusal)
    checked = SecurityMiddleware(gate, options.names, secure=options.secure, largest_for=largest, reachable=REACHABLE)
    return Recorded(checked, metrics)


def _kept(known: str, options: ServeOptions) -> str:
    """The address that a campaign remembers, where others can open it and this server answers to it; else empty."""
    unnamed = options.base_url is None and is_local(options.address)
    return known if unnamed and known and not is_local(known) and options.answers(known) else ""


def serve(
    url: str,
    options: ServeOptions,
    *,
    on_message: Callable[[str], None],
    on_ready: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve a campaign until it is interrupted.

    Args:
        url: Location of the campaign; see `Store.open`.
        options: Options of the command.
        on_message: Callback for status messages.
        on_ready: Callback for the URL where people reach the pages, once the port is known.

    Raises:
        PostilError: The campaign cannot be opened, or the port is taken.
    """
    with unwound(serving=True), ExitStack() as until:
        store = until.enter_context(Store.open(url, alarm=on_message))
        schedule = None
        if options.backup is not None:
            schedule = BackupSchedule(DailyBackups(store, options.backup, keep=options.keep), on_message)
        kept = _kept(store.campaign().address, options)
        web = WebOptions(
            names=options.names,
            secure=options.secure,
            base_url=options.address if options.base_url else kept,
            tokens=None if options.tokens is None else Tokens(options.tokens, on_message),
            backup=schedule,
            url=url,
        )
        app = make_app(store, web)
        listening, address = until.enter_context(listen(options.host, options.port))
        if schedule is not None:
            until.enter_context(schedule)
        reached = kept or replace(options, port=listening.getsockname()[1]).address
        note_address(store, reached, on_message, named=options.base_url is not None)
        on_ready(reached)
        tell_unencrypted(listening, on_message, secure=options.secure)
        on_message(f"serving {store.campaign().name} at {address}; stop with Ctrl+C")
        make_server(app, secure=options.secure, limits=LIMITS).run(sockets=[listening])
