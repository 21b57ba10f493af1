"""Coming in by an invitation, and going out."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Final

from fastapi import APIRouter, Request, Response

from postil.annotation.nouns import Refused
from postil.app.web.pages import Halt, back_to, form_of
from postil.app.web.security import csrf_of

if TYPE_CHECKING:
    from postil.app.web.pages import Site

__all__ = ["joining_routes"]

MONTH: Final = 30 * 86_400
HOUR: Final = 3_600


def joining_routes(site: Site) -> APIRouter:
    """The first page, the page of an invitation, and signing out.

    Args:
        site: The campaign.
    """
    routes = APIRouter()
    store = site.store
    visit = f"{site.cookie}-join"

    @routes.get("/")
    def home(request: Request) -> Response:
        if request.headers.get("sec-fetch-site") == "cross-site" and site.cookie not in request.cookies:
            # A strict cookie does not come along when a link elsewhere leads here; it does when our own page does.
            return site.page("again.html")
        return back_to("/lead" if site.known(request).role == "lead" else "/grade")

    @routes.get("/join/{token}")
    def invited(request: Request, token: str) -> Response:
        # Looking does not use the invitation up, as programs look at links too.
        secret = request.cookies.get(visit) or secrets.token_urlsafe(32)
        lines = [site.rubric.question]
        response = site.page("words.html", title=site.campaign.name, lines=lines, join=token, csrf=csrf_of(secret))
        site.keep(response, visit, secret, HOUR)
        return response

    @routes.post("/join")
    def join(request: Request) -> Response:
        form = form_of(request)
        who = request.client.host if request.client else ""
        if site.limit.reached(who):
            raise Halt(429, "There were too many attempts", "Wait five minutes and try again.")
        site.check(request, form, visit)
        try:
            session = store.accept(form.get("token", ""))
        except Refused:
            site.limit.count(who)
            raise
        response = back_to("/")
        site.keep(response, site.cookie, session.token, MONTH)
        site.forget(response, visit)
        return response

    @routes.post("/out")
    def out(request: Request) -> Response:
        site.posted(request)
        store.end(request.cookies[site.cookie])
        response = site.page("words.html", title=site.say("Signed out"), lines=[], join="", href="")
        site.forget(response, site.cookie)
        return response

    return routes
