"""Texts of a campaign on a page of leads: revisions of the plan, its balance, and files with more texts."""

from __future__ import annotations

import secrets
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple

from fastapi import Request, Response  # noqa: TC002 - FastAPI reads annotations

from postil.campaigns.add import Addition, AddOptions, add, add_to
from postil.campaigns.balance import plan_balance
from postil.campaigns.pages.error_pages import HTTPError
from postil.campaigns.pages.forms import LARGEST_UPLOAD, Upload, uploads_of
from postil.errors import PostilError
from postil.messages import Message
from postil.web.translations import page_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import FastAPI

    from postil.campaigns.models import Person
    from postil.campaigns.pages.site import Site
    from postil.campaigns.plan_result import PlanBalance

__all__ = ["UPLOADS", "add_growth_pages"]

UPLOADS: Final = "/lead/texts"
"""Path of the only form with files."""

MEMORY: Final = 2 << 30
"""Memory of the process that reads uploaded files, in bytes."""
ROLES: Final = ("texts", "articles", "gold")
"""Files of the form; the first one is required."""

LIFETIME: Final = 3_600.0
"""Seconds for which uploaded files wait for confirmation."""


class _Pending(NamedTuple):
    """Uploaded files that wait for confirmation."""

    token: str
    since: float
    folder: TemporaryDirectory[str]
    names: Mapping[str, str]


def add_growth_pages(app: FastAPI, site: Site, url: str | None) -> None:
    """Add the page of leads with the texts of the campaign.

    Args:
        app: The application.
        site: Site of the campaign.
        url: Location of the campaign, for a process of its own that adds texts, as the work would keep annotators
            waiting in this one; None to add them in this process.
    """
    pages = _Pages(site, url)
    app.add_api_route(UPLOADS, pages.show, methods=["GET"])
    app.add_api_route(UPLOADS, pages.preview, methods=["POST"])
    app.add_api_route(f"{UPLOADS}/add", pages.confirm, methods=["POST"])


class _Pages:
    def __init__(self, site: Site, url: str | None) -> None:
        self._site, self._store, self._url = site, site.store, url
        self._pending: dict[int, _Pending] = {}  # by lead
        self._lock = Lock()

    def show(self, request: Request) -> Response:
        """Show the revisions of the plan, its balance, and the form."""
        self._site.current_lead(request)
        return self._page(request)

    def preview(self, request: Request) -> Response:
        """Show what uploaded files would add; they wait for confirmation."""
        lead = self._site.current_lead(request)
        form, files = uploads_of(request)
        self._site.check_csrf(request, form)
        if ROLES[0] not in files:
            return self._page(request, 422, problem=Message("Choose a file with texts."))
        campaign = self._store.campaign()
        if "articles" not in files and campaign.rows == "candidates" and "article" in (campaign.context or ()):
            return self._page(request, 422, problem=Message("Choose a file with the articles of these texts, too."))
        with self._lock:
            pending = self._keep(lead, {role: files[role] for role in ROLES if role in files})
        try:
            found = self._add(pending, lead, dry_run=True)
        except PostilError as error:
            with self._lock:
                self._drop(lead)
            return self._page(request, 422, problem=self._told(request, error, pending))
        return self._page(request, found=found, pending=pending)

    def confirm(self, request: Request) -> Response:
        """Add the texts of uploaded files."""
        lead, form = self._site.submitted(request)
        self._site.current_lead(request)
        with self._lock:  # of two requests at once, one takes the files
            pending = self._pending.get(lead.id)
            if pending is None or not secrets.compare_digest(pending.token.encode(), form.get("token", "").encode()):
                raise HTTPError(404, "These files are not here any more", "Choose them again.")
            del self._pending[lead.id]
        try:
            found = self._add(pending, lead, dry_run=False)
        except PostilError as error:
            return self._page(request, 422, problem=self._told(request, error, pending))
        finally:
            _remove(pending)
        return self._page(request, done=found)

    def _page(self, request: Request, status: int = 200, **values: object) -> Response:
        lang, campaign = self._site.language(request), self._store.campaign()
        return self._site.page(
            "growth.html",
            status,
            csrf=self._site.csrf(request),
            lang=lang,
            revisions=self._store.results.revisions(()),
            balance=self._balance(),
            beside="article" in (campaign.context or ()) and campaign.rows != "passages",
            drawn=campaign.drawn is not None,
            largest=LARGEST_UPLOAD // 2**20,
            path=UPLOADS,
            **{"problem": "", "found": None, "done": None, "pending": None, **values},
        )

    def _balance(self) -> PlanBalance | None:
        left = frozenset(person.pseudonym for person in self._store.people.everyone() if person.left)
        return plan_balance(self._store.plan(), left)

    def _keep(self, lead: Person, files: Mapping[str, Upload]) -> _Pending:
        """Store uploaded files until they are confirmed; a lead has one set of them."""
        self._drop(lead, before=time.monotonic() - LIFETIME)
        folder = TemporaryDirectory(prefix="postil-texts-")
        names: dict[str, str] = {}
        for role, file in files.items():
            path = Path(folder.name, role, file.name)
            path.parent.mkdir()
            path.write_bytes(file.content)
            names[role] = str(path)
        self._pending[lead.id] = _Pending(secrets.token_hex(16), time.monotonic(), folder, names)
        return self._pending[lead.id]

    def _drop(self, lead: Person, before: float = 0.0) -> None:
        """Remove the files of a lead, and those of others that have waited for too long; the lock is held."""
        for number, one in list(self._pending.items()):
            if number == lead.id or one.since < before:
                _remove(self._pending.pop(number))

    def _told(self, request: Request, error: PostilError, pending: _Pending) -> str:
        """Words of an error, with the names of the files as the lead knows them."""
        text = error.words(page_in(self._site.language(request)))
        for path in pending.names.values():
            text = text.replace(path, Path(path).name)
        return text

    def _add(self, pending: _Pending, lead: Person, *, dry_run: bool) -> Addition:
        names = pending.names
        options = AddOptions(articles=names.get("articles"), gold=names.get("gold"), dry_run=dry_run)
        if self._url is None:
            return add_to(self._store, [names["texts"]], options, lead=lead)
        # A fresh process, not a fork: this one has threads, and connections to the database.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=limit_memory) as apart:
            try:
                return apart.submit(add, self._url, [names["texts"]], options, lead=lead).result()
            except (BrokenProcessPool, MemoryError):
                problem = Message(
                    "the files take more than {n} GiB of memory, or the process was ended; give fewer texts at once, "
                    "or try again",
                    n=MEMORY >> 30,
                )
                raise PostilError(problem) from None


def limit_memory() -> None:
    """Limit the memory of this process to `MEMORY`, where the system can."""
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY if most < 0 else min(MEMORY, most), most))


def _remove(pending: _Pending) -> None:
    with suppress(OSError):
        pending.folder.cleanup()
