"""Pages to sign in with an invitation, and to sign out."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Final

from fastapi import FastAPI, Request, Response

from postil.campaigns.models import Refused
from postil.campaigns.pages.error_pages import HTTPError
from postil.campaigns.pages.forms import form_of
from postil.campaigns.pages.site import redirect_to
from postil.web.security import csrf_of

if TYPE_CHECKING:
    from postil.campaigns.pages.site import Site

__all__ = ["add_joining_pages"]

MONTH: Final = 30 * 86_400
HOUR: Final = 3_600


def add_joining_pages(app: FastAPI, site: Site) -> None:
    """Add the start page, the page of an invitation, and sign-out.

    Args:
        app: The application.
        site: Site of the campaign.
    """
    store = site.store
    visit = f"{site.cookie}-join"

    @app.get("/")
    def home(request: Request) -> Response:
        if request.headers.get("sec-fetch-site") == "cross-site" and site.cookie not in request.cookies:
            # Browsers send no strict cookie along with a link from another site, so our own page asks once more.
            return site.page("again.html")
        return redirect_to("/lead" if site.current_user(request).role == "lead" else "/grade")

    @app.get("/join/{token}")
    def invited(request: Request, token: str) -> Response:
        # Opening the link does not use the invitation up: mail programs open links too.
        secret = request.cookies.get(visit) or secrets.token_urlsafe(32)
        lines = [site.rubric.question]
        response = site.page("words.html", title=site.campaign.name, lines=lines, join=token, csrf=csrf_of(secret))
        site.set_cookie(response, visit, secret, HOUR)
        return response

    @app.post("/join")
    def join(request: Request) -> Response:
        form = form_of(request)
        site.check_csrf(request, form, visit)
        try:
            session = store.people.accept(form.get("token", ""))
        except Refused as write_error:
            # Only unknown tokens count, and valid ones are accepted even over the limit: many people may share an
            # address, and 256 bits cannot be guessed.
            if write_error.kind == "unknown":
                address = request.client.host if request.client else ""
                if site.limiter.exceeded(address):
                    raise HTTPError(429, "There were too many attempts", "Wait five minutes and try again.") from None
                site.limiter.record(address)
            raise
        response = redirect_to("/")
        site.set_cookie(response, site.cookie, session.token, MONTH)
        site.delete_cookie(response, visit)
        return response

    @app.post("/out")
    def out(request: Request) -> Response:
        site.submitted(request)
        store.people.end(request.cookies[site.cookie])
        response = site.page("words.html", title=site.words.gettext("Signed out"), lines=[], join="", href="")
        site.delete_cookie(response, site.cookie)
        return response
