"""What every page needs: the campaign, templates, and who is asking."""

from __future__ import annotations

import hashlib
import re
import secrets
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final

from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from postil.web.error_pages import HTTPError, told
from postil.web.forms import form_of, wants_json
from postil.web.security import RateLimiter, csrf_of, same
from postil.web.translations import translator

if TYPE_CHECKING:
    from fastapi import Request, Response

    from postil.annotation.models import Person
    from postil.annotation.store import Store
    from postil.web.forms import Form

__all__ = ["NEVER_CACHED", "Site", "back_to", "new_key"]

NEVER_CACHED: Final = {"cache-control": "no-store"}
ATTEMPTS, MINUTES = 10, 5
TAG: Final = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}")


class Site:
    """A campaign as its pages see it.

    Args:
        store: Where it lives.
        secure: Whether it is reached by https.

    Attributes:
        cookie: The name of the cookie; another for each campaign, as browsers do not tell ports apart.
        limit: Of failed attempts to sign in.
        say: Says a sentence in the language of the rubric.
    """

    def __init__(self, store: Store, *, secure: bool) -> None:
        self.store, self.secure = store, secure
        self.campaign, self.rubric = store.campaign(), store.rubric()
        made = f"{self.campaign.name}\0{self.campaign.created!r}\0{self.campaign.seed}"
        self.cookie = f"postil-{hashlib.sha256(made.encode()).hexdigest()[:10]}"
        self.limit = RateLimiter(ATTEMPTS, MINUTES * 60)
        self.say = translator(self.rubric.lang)
        self._shown: dict[str, object] = {}
        self.show(campaign=self.campaign, rubric=self.rubric, lang_of=_lang, lang=self.rubric.lang, _=self.say)
        parts = self.parts("task.html")
        self.show(levels=parts.choices(None), tools=parts.actions())  # the same beside every text

    def show(self, **values: object) -> None:
        """Let all templates see something.

        Args:
            values: What they see, by name.
        """
        self._shown |= values

    def page(self, name: str, status: int = 200, **values: object) -> HTMLResponse:
        """A page.

        Args:
            name: The template.
            status: The status of the answer.
            values: What the template shows.
        """
        return HTMLResponse(_templates().get_template(name).render(self._shown | values), status, NEVER_CACHED)

    def parts(self, name: str) -> Any:
        """The macros of a template.

        Args:
            name: The template.
        """
        return _templates().get_template(name).make_module(self._shown)

    def person(self, request: Request) -> Person | None:
        """Who asks; None for nobody who is known.

        Args:
            request: The request.
        """
        token = request.cookies.get(self.cookie, "")
        return self.store.people.session(token) if token else None

    def known(self, request: Request) -> Person:
        """Who asks.

        Args:
            request: The request.

        Raises:
            HTTPError: Nobody is signed in.
        """
        found = self.person(request)
        if found is None:
            raise self.unknown()
        return found

    def unknown(self) -> HTTPError:
        """What somebody hears who is not signed in."""
        return HTTPError(401, "You are not signed in", "A link works once. Ask your lead for a new one.")

    def lead(self, request: Request) -> Person:
        """The lead who asks.

        Args:
            request: The request.

        Raises:
            HTTPError: It is somebody else.
        """
        found = self.known(request)
        if found.role != "lead":
            raise HTTPError(403, "This page is for leads")
        return found

    def posted(self, request: Request) -> tuple[Person, Form]:
        """Who sends a form of ours, and what is in it.

        Args:
            request: The request.

        Raises:
            HTTPError: Nobody is signed in, or the form is not from a page of ours.
        """
        form = form_of(request)
        found = self.known(request)
        self.check(request, form)
        return found, form

    def csrf(self, request: Request) -> str:
        """The token for the forms of a page.

        Args:
            request: The request for the page.
        """
        return csrf_of(request.cookies.get(self.cookie, ""))

    def check(self, request: Request, form: Form, cookie: str | None = None) -> None:
        """Look whether a form is from a page of ours.

        Args:
            request: The request.
            form: The fields.
            cookie: The cookie that the page's token is made of.

        Raises:
            HTTPError: It is not.
        """
        secret = request.cookies.get(cookie or self.cookie, "")
        if not secret or not same(csrf_of(secret), form.get("csrf", "")):
            line = "You have signed in again since it was opened. Load it again; no answer is lost."
            raise HTTPError(403, "This page is out of date", line)

    def keep(self, response: Response, name: str, value: str, seconds: int) -> None:
        """Give the browser a cookie that scripts cannot read and other sites cannot use.

        Args:
            response: The answer.
            name: The cookie.
            value: What is in it.
            seconds: For how long.
        """
        response.set_cookie(
            name, value, max_age=seconds, path="/", secure=self.secure, httponly=True, samesite="strict"
        )

    def forget(self, response: Response, name: str) -> None:
        """Take a cookie away.

        Args:
            response: The answer.
            name: The cookie.
        """
        response.delete_cookie(name, path="/", secure=self.secure, httponly=True, samesite="strict")

    def refuse(self, request: Request, error: Exception) -> Response:
        """The answer to what went wrong, for a person or for a script.

        Args:
            request: The request.
            error: What went wrong.
        """
        title, lines, status = told(error, self.say)
        if wants_json(request):
            said = " ".join([title if title[-1] in ".。" else f"{title}.", *lines])
            return JSONResponse({"problem": said}, status, NEVER_CACHED)
        href = "" if status == 401 else "/"  # where nobody is signed in there is no way on
        link = self.say("Go on")
        return self.page("words.html", status, title=title, lines=lines, join="", href=href, link=link)


def back_to(path: str) -> RedirectResponse:
    """Go to another page.

    Args:
        path: Its path.
    """
    return RedirectResponse(path, 303)


def new_key() -> str:
    """A key for an answer that was not given yet."""
    return secrets.token_hex(16)


@cache
def _templates() -> Environment:
    loader = PackageLoader("postil.web")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, auto_reload=False)


@lru_cache(maxsize=64)
def _lang(lang: str) -> Markup:
    """The attribute that tells a text's language, and nothing where it is not known."""
    return Markup(' lang="{}"').format(escape(lang)) if TAG.fullmatch(lang) else Markup("")
