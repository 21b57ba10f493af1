"""Site of a campaign, shared by all pages: the store, templates, the current user, CSRF tokens and cookies."""

from __future__ import annotations

import hashlib
import re
import secrets
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from markupsafe import Markup, escape

from postil.campaigns.item_types import HEADINGS
from postil.campaigns.pages import tables
from postil.campaigns.pages.error_pages import HTTPError, error_content
from postil.campaigns.pages.forms import form_of, wants_json
from postil.web.security import RateLimiter, cookie_of, csrf_of, same
from postil.web.static_files import templates
from postil.web.translations import page_in, preferred_language

if TYPE_CHECKING:
    from fastapi import Request, Response

    from postil.campaigns.models import Person
    from postil.campaigns.pages.forms import Form
    from postil.campaigns.store import Store

__all__ = ["LANGUAGE_COOKIE", "NEVER_CACHED", "Site", "new_key", "redirect_to"]

NEVER_CACHED: Final = {"cache-control": "no-store"}
LANGUAGE_COOKIE: Final = "postil-lang"
"""Cookie with the language that a lead has chosen."""

ATTEMPTS, MINUTES = 10, 5
TAG: Final = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}")


class Site:
    """The web site of a campaign.

    Args:
        store: Store of the campaign.
        secure: True if the site is reached by HTTPS.
        base_url: URL where people reach the site; empty for that of each request.

    Attributes:
        cookie: Name of the session cookie; one per campaign, as browsers share cookies between ports.
        limiter: Limit on failed attempts to sign in.
        words: Words of the pages of annotators, in the language of the rubric.
    """

    def __init__(self, store: Store, *, secure: bool, base_url: str = "") -> None:
        self.store, self.secure, self._base_url = store, secure, base_url
        self.campaign, self.rubric = store.campaign(), store.rubric()
        made = f"{self.campaign.name}\0{self.campaign.created!r}\0{self.campaign.seed}"
        self.cookie = f"postil-{hashlib.sha256(made.encode()).hexdigest()[:10]}"
        self.limiter = RateLimiter(ATTEMPTS, MINUTES * 60)
        self.words = page_in(self.rubric.lang)
        self._shown: dict[str, object] = {}
        self.show(campaign=self.campaign, rubric=self.rubric, lang_of=_lang, lang=self.rubric.lang, tables=tables)
        self.show(headings=HEADINGS[self.campaign.item_type])
        parts = self.parts("task.html")
        self.show(levels=parts.choices(None), tools=parts.actions())  # rendered once: the same beside every item

    def show(self, **values: object) -> None:
        """Add variables for all templates.

        Args:
            values: Values by name.
        """
        self._shown |= values

    def page(self, name: str, status: int = 200, /, **values: object) -> HTMLResponse:
        """Render a page.

        Args:
            name: Name of the template.
            status: HTTP status.
            values: Variables of the template.
        """
        shown = self._in_language(values)
        return HTMLResponse(templates().get_template(name).render(shown), status, NEVER_CACHED)

    def parts(self, name: str, lang: str | None = None) -> Any:
        """Load the macros of a template.

        Args:
            name: Name of the template.
            lang: Language of the page; by default that of the rubric.
        """
        return templates().get_template(name).make_module(self._in_language({} if lang is None else {"lang": lang}))

    def _in_language(self, values: dict[str, object]) -> dict[str, object]:
        """Variables of a template, with the words of its language."""
        shown = self._shown | values
        words = page_in(str(shown["lang"]))
        return shown | {
            "_": words.gettext,
            "ngettext": words.ngettext,
            "say": words.words,
            "sentence": words.sentence,
        }

    def language(self, request: Request) -> str:
        """Return the language of the pages of leads: what the address names, what was chosen, what the browser asks.

        Args:
            request: The request for the page.
        """
        chosen = request.query_params.get("lang", ""), request.cookies.get(LANGUAGE_COOKIE, "")
        return preferred_language(*chosen, *request.headers.get("accept-language", "").split(","))

    def person(self, request: Request) -> Person | None:
        """Return the signed-in user; None if there is none.

        Args:
            request: The request.
        """
        token = request.cookies.get(self.cookie, "")
        return self.store.people.session(token) if token else None

    def session_of(self, cookies: str) -> str:
        """The session that the cookies of a request have, valid or not; empty for none.

        Args:
            cookies: The header of the request.
        """
        return cookie_of(cookies, self.cookie)

    def is_lead(self, cookies: str) -> bool:
        """True if the cookies of a request are those of a lead who is signed in.

        Args:
            cookies: The header of the request.
        """
        token = self.session_of(cookies)
        found = self.store.people.session(token) if token else None
        return found is not None and found.role == "lead"

    def current_user(self, request: Request) -> Person:
        """Return the signed-in user.

        Args:
            request: The request.

        Raises:
            HTTPError: Nobody is signed in (401).
        """
        found = self.person(request)
        if found is None:
            raise self.not_signed_in(request)
        return found

    def not_signed_in(self, request: Request) -> HTTPError:
        """Make the error for a request without a valid session.

        Args:
            request: The request.
        """
        if self.store.people.was_removed(request.cookies.get(self.cookie, "")):
            return HTTPError(
                401,
                "You are no longer in this campaign",
                "Your ratings so far are kept; your open items went to others.",
            )
        return HTTPError(401, "You are not signed in", "A link works once. Ask your lead for a new one.")

    def current_lead(self, request: Request) -> Person:
        """Return the signed-in user, who must be a lead.

        Args:
            request: The request.

        Raises:
            HTTPError: Nobody is signed in (401), or the user is no lead (403).
        """
        found = self.current_user(request)
        if found.role != "lead":
            raise HTTPError(403, "This page is for leads")
        return found

    def submitted(self, request: Request) -> tuple[Person, Form]:
        """Return the signed-in user and the submitted form.

        Args:
            request: The request.

        Raises:
            HTTPError: Nobody is signed in, or the CSRF token is wrong.
        """
        form = form_of(request)
        found = self.current_user(request)
        self.check_csrf(request, form)
        return found, form

    def link(self, request: Request, path: str) -> str:
        """Return the URL of a page, to be sent to somebody.

        Args:
            request: The request of the sender.
            path: Path of the page.
        """
        here = f"{'https' if self.secure else 'http'}://{request.headers['host']}"
        return (self._base_url or here) + path

    def csrf(self, request: Request) -> str:
        """Return the CSRF token for the forms of a page.

        Args:
            request: The request for the page.
        """
        return csrf_of(request.cookies.get(self.cookie, ""))

    def check_csrf(self, request: Request, form: Form, cookie: str | None = None) -> None:
        """Check the CSRF token of a form.

        Args:
            request: The request.
            form: The form.
            cookie: Cookie that the token is derived from; by default that of the session.

        Raises:
            HTTPError: The token is wrong (403).
        """
        secret = request.cookies.get(cookie or self.cookie, "")
        if not secret or not same(csrf_of(secret), form.get("csrf", "")):
            raise HTTPError(
                403,
                "This page is out of date",
                "You have signed in again since it was opened. Reload it; no answer is lost.",
            )

    def set_cookie(self, response: Response, name: str, value: str, seconds: int) -> None:
        """Set a cookie that scripts cannot read and other sites cannot use.

        Args:
            response: The response.
            name: Name of the cookie.
            value: Value of the cookie.
            seconds: Lifetime, in seconds.
        """
        response.set_cookie(
            name, value, max_age=seconds, path="/", secure=self.secure, httponly=True, samesite="strict"
        )

    def delete_cookie(self, response: Response, name: str) -> None:
        """Delete a cookie.

        Args:
            response: The response.
            name: Name of the cookie.
        """
        response.delete_cookie(name, path="/", secure=self.secure, httponly=True, samesite="strict")

    def error_response(self, request: Request, error: Exception) -> Response:
        """Make the response to an error: a page, or JSON for a script.

        Args:
            request: The request.
            error: The error.
        """
        lang = self.language(request) if request.url.path.startswith("/lead") else self.rubric.lang
        words = page_in(lang)
        title, lines, status = error_content(error, words)
        if wants_json(request):
            said = " ".join([title if title[-1] in ".。" else f"{title}.", *lines])
            return JSONResponse({"problem": said}, status, NEVER_CACHED)
        href = "" if status == 401 else "/"  # without a session there is no page to continue to
        link = words.gettext("Continue")
        return self.page("words.html", status, title=title, lines=lines, join="", href=href, link=link, lang=lang)


def redirect_to(path: str) -> RedirectResponse:
    """Redirect to another page.

    Args:
        path: Path of the page.
    """
    return RedirectResponse(path, 303)


def new_key() -> str:
    """Make an idempotency key for an annotation to come."""
    return secrets.token_hex(16)


@lru_cache(maxsize=64)
def _lang(lang: str) -> Markup:
    """HTML attribute for the language of a text; empty if it is unknown."""
    return Markup(' lang="{}"').format(escape(lang)) if TAG.fullmatch(lang) else Markup("")
