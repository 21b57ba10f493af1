"""Coming in by an invitation, and going out."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Final

from fastapi import FastAPI, Request, Response  # noqa: TC002 - FastAPI reads annotations

from postil.annotation.models import Refused
from postil.web.error_pages import HTTPError
from postil.web.forms import form_of
from postil.web.pages import back_to
from postil.web.security import csrf_of

if TYPE_CHECKING:
    from postil.web.pages import Site

__all__ = ["add_joining_pages"]

MONTH: Final = 30 * 86_400
HOUR: Final = 3_600


def add_joining_pages(app: FastAPI, site: Site) -> None:
    """Add the first page, the page of an invitation, and signing out.

    Args:
        app: The application.
        site: The campaign.
    """
    store = site.store
    visit = f"{site.cookie}-join"

    @app.get("/")
    def home(request: Request) -> Response:
        if request.headers.get("sec-fetch-site") == "cross-site" and site.cookie not in request.cookies:
            # A strict cookie does not come along when a link elsewhere leads here; it does when our own page does.
            return site.page("again.html")
        return back_to("/lead" if site.known(request).role == "lead" else "/grade")

    @app.get("/join/{token}")
    def invited(request: Request, token: str) -> Response:
        # Looking does not use the invitation up, as programs look at links too.
        secret = request.cookies.get(visit) or secrets.token_urlsafe(32)
        lines = [site.rubric.question]
        response = site.page("words.html", title=site.campaign.name, lines=lines, join=token, csrf=csrf_of(secret))
        site.keep(response, visit, secret, HOUR)
        return response

    @app.post("/join")
    def join(request: Request) -> Response:
        form = form_of(request)
        site.check(request, form, visit)
        try:
            session = store.people.accept(form.get("token", ""))
        except Refused as refused:
            # A link that holds always works: many people may share an address, and 256 bits are not guessed.
            if refused.kind == "unknown":
                who = request.client.host if request.client else ""
                if site.limit.reached(who):
                    raise HTTPError(429, "There were too many attempts", "Wait five minutes and try again.") from None
                site.limit.count(who)
            raise
        response = back_to("/")
        site.keep(response, site.cookie, session.token, MONTH)
        site.forget(response, visit)
        return response

    @app.post("/out")
    def out(request: Request) -> Response:
        site.posted(request)
        store.people.end(request.cookies[site.cookie])
        response = site.page("words.html", title=site.say("Signed out"), lines=[], join="", href="")
        site.forget(response, site.cookie)
        return response
