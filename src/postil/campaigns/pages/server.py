"""The campaign server: application, static files, uvicorn."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from postil.campaigns.backups import DailyBackups
from postil.campaigns.pages.annotator import add_annotator_pages
from postil.campaigns.pages.backup_schedule import BackupSchedule
from postil.campaigns.pages.forms import LARGEST_UPLOAD
from postil.campaigns.pages.growth import UPLOADS, add_growth_pages
from postil.campaigns.pages.joining import add_joining_pages
from postil.campaigns.pages.lead import add_lead_pages
from postil.campaigns.pages.places import REACHABLE, CampaignPlaces
from postil.campaigns.pages.site import Site
from postil.campaigns.pages.supervision import CampaignMetrics, Measured, add_supervision
from postil.campaigns.store import Store
from postil.cli.signals import unwound
from postil.errors import PostilError
from postil.web.connections import ConnectionLimits, listen, make_server
from postil.web.security import LARGEST, SecurityMiddleware, refusal_parts
from postil.web.static_files import StaticFiles
from postil.web.tokens import Tokens
from postil.web.turns import Gate

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp

    from postil.campaigns.serving import ServeOptions

__all__ = ["STATIC", "WebOptions", "make_app", "serve"]

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
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    add_annotator_pages(app, site)
    add_joining_pages(app, site)
    add_lead_pages(app, site, patience=options.patience)
    add_supervision(app, metrics, store, options.tokens)
    add_growth_pages(app, site, options.url)
    kept = StaticFiles(STATIC)

    @app.get("/static/{name}")
    async def static(request: Request, name: str) -> Response:
        found = kept.find(name, request.headers.get("if-none-match", ""))
        if found is None:
            raise HTTPException(404)
        return Response(found.content, found.status, dict(found.headers), found.media_type)

    async def refuse(request: Request, error: Exception) -> Response:
        return site.error_response(request, error)

    app.add_exception_handler(PostilError, refuse)
    app.add_exception_handler(HTTPException, refuse)
    names = {"localhost", socket.gethostname(), *options.names}

    async def largest(path: str, cookies: str) -> int:
        return LARGEST_UPLOAD if path == UPLOADS and await run_in_threadpool(site.is_lead, cookies) else LARGEST

    gate = Gate(app, CampaignPlaces(site), refusal_parts)
    checked = SecurityMiddleware(gate, names, secure=options.secure, largest_for=largest, reachable=REACHABLE)
    return Measured(checked, metrics)


def serve(url: str, options: ServeOptions, *, on_message: Callable[[str], None]) -> None:
    """Serve a campaign until it is interrupted.

    Args:
        url: Location of the campaign; see `Store.open`.
        options: Options of the command.
        on_message: Callback for status messages.

    Raises:
        PostilError: The campaign cannot be opened, or the port is taken.
    """
    with unwound(serving=True), ExitStack() as until:
        store = until.enter_context(Store.open(url, alarm=on_message))
        schedule = None
        if options.backup is not None:
            schedule = BackupSchedule(DailyBackups(store, options.backup, keep=options.keep), on_message)
        web = WebOptions(
            names=options.names,
            secure=options.secure,
            base_url=options.address if options.base_url else "",
            tokens=None if options.tokens is None else Tokens(options.tokens, on_message),
            backup=schedule,
            url=url,
        )
        app = make_app(store, web)
        listening, address = until.enter_context(listen(options.host, options.port))
        if schedule is not None:
            until.enter_context(schedule)
        on_message(f"serving {store.campaign().name} at {address}; stop with Ctrl+C")
        make_server(app, secure=options.secure, limits=LIMITS).run(sockets=[listening])
