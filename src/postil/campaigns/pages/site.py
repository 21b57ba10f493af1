"""Site of a campaign: templates, forms and errors, who is signed in, and the pages of joining and annotating."""

from __future__ import annotations

import asyncio
import hashlib
import re
import secrets
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import parse_qsl

import msgspec
from markupsafe import Markup, escape
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from postil.campaigns.models import HEADINGS, Annotation, AnnotationTask, Person, Refused, Span, Upcoming
from postil.campaigns.options import is_local
from postil.campaigns.pages import tables
from postil.errors import MissingExtra, PostilError
from postil.messages import Message
from postil.web.pages import OF_ARTICLE, OF_CONTEXT, REASONS, Page, language_of, page_in, templates
from postil.web.security import BODY, LARGEST, RateLimiter, address_of, cookie_of, csrf_of, same, set_cookie

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import Message as Event

    from postil.campaigns.store import Store

__all__ = [
    "AHEAD",
    "LANGUAGE_COOKIE",
    "LARGEST_UPLOAD",
    "NEVER_CACHED",
    "Form",
    "HTTPError",
    "Site",
    "Upload",
    "annotator_routes",
    "form_of",
    "joining_routes",
    "new_key",
    "redirect_to",
    "uploads_of",
    "wants_json",
]

STATUS: Final = {
    "unknown": 404,
    "forbidden": 403,
    "expired": 410,
    "used": 409,
    "stale": 409,
    "left": 403,
    "full": 409,
    "closed": 423,
    "invalid": 422,
}
"""HTTP status by kind of refusal."""


class HTTPError(PostilError):
    """Error that ends a request with an HTTP status.

    Args:
        status: HTTP status.
        title: The problem, in a few words.
        lines: Advice, one sentence each.
    """

    def __init__(self, status: int, title: str, *lines: str) -> None:
        self.status, self.title, self.lines = status, title, lines
        super().__init__(" ".join([f"{title}.", *lines]))


def error_content(error: Exception, words: Page) -> tuple[str, list[str], int]:
    """Title, advice and HTTP status for an error.

    Args:
        error: The error.
        words: Words of pages.
    """
    if isinstance(error, HTTPException):  # of the framework, on what is no page
        error = HTTPError(error.status_code, "This request is not supported")
        if error.status == 404:
            error = HTTPError(404, "There is no such page")
    if isinstance(error, HTTPError):
        return words.gettext(error.title), [words.gettext(line) for line in error.lines], error.status
    if isinstance(error, Refused) and error.kind == "closed":
        message = error.message.facts.get("message")  # of the lead, in any language
        return words.gettext("The campaign is closed"), [f"{message}"] if message else [], STATUS["closed"]
    if isinstance(error, Refused) and error.kind == "stale":
        said = words.gettext(
            "This item was rated in the meantime, perhaps in another window. The earlier rating was kept. "
            "To change it, go back to it."
        )
        return said, [], STATUS["stale"]
    if isinstance(error, Refused):
        return words.sentence(error.message), [], STATUS[error.kind]
    if isinstance(error, MissingExtra):
        return error.words(words), [], 501
    return (
        words.gettext("The campaign cannot be reached"),
        [words.gettext("Try again in a moment; your answers are saved in this browser.")],
        503,
    )


MAX_FIELDS: Final = 30
"""Maximum number of fields of a form."""
LARGEST_UPLOAD: Final = 16 * 1024 * 1024
"""Maximum size of a form with files, in bytes."""

MAX_FILES: Final = 10
"""Maximum number of files of a form."""

CHUNK: Final = 64 * 1024
"""Number of bytes that are parsed at once."""

_FORM: Final = re.compile(r"multipart/form-data; *boundary=(\"?)([0-9A-Za-z'()+_,./:=? -]{1,70})\1", re.IGNORECASE)
"""Content type of a form as browsers send it: a boundary of RFC 2046 and nothing else, such as an encoding."""

FIELDS: Final = {"grade": Message("grade"), "person": Message("person")}
"""Words for fields that people fill in; the others have their names."""


class Form(dict[str, str]):
    """Fields of a form."""

    def number(self, name: str) -> int:
        """Parse a field as an integer.

        Args:
            name: Name of the field.

        Raises:
            Refused: It is no integer.
        """
        return int(self._matching(name, "-?[0-9]{1,9}", Message("an integer")))

    def real(self, name: str) -> float:
        """Parse a field as a decimal number.

        Args:
            name: Name of the field.

        Raises:
            Refused: It is no number.
        """
        return float(self._matching(name, r"-?[0-9]{1,9}(\.[0-9]{1,9})?", Message("a number")))

    def _matching(self, name: str, pattern: str, expected: Message) -> str:
        text = self.get(name, "")
        if not re.fullmatch(pattern, text):
            raise Refused("invalid", "{name}: expected {what}", name=FIELDS.get(name, name), what=expected)
        return text


def form_of(request: Request) -> Form:
    """Parse the body of a request as a form.

    Args:
        request: The request.

    Raises:
        HTTPError: The body is no form.
    """
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPError(415, "The request is not a form", "Submit it from the page.")
    try:
        text = request.scope[BODY].decode("utf-8")
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS)
    except ValueError:
        raise HTTPError(400, "The form cannot be parsed", "Reload the page.") from None
    return Form(pairs)


def wants_json(request: Request) -> bool:
    """True if the request comes from a script, which wants JSON.

    Args:
        request: The request.
    """
    return request.headers.get("accept") == "application/json"


class Upload(NamedTuple):
    """A file of a form.

    Args:
        name: Name of the file, without folders and characters that a file name cannot have.
        content: Content of the file.
    """

    name: str
    content: bytes


def uploads_of(request: Request) -> tuple[Form, dict[str, Upload]]:
    """Parse the body of a request as a form with files; for a thread that is not the event loop's.

    Args:
        request: The request.

    Returns:
        The fields, and the files by name of their field; a field without a chosen file is missing.

    Raises:
        HTTPError: The body is no form with files.
    """
    kind = _FORM.fullmatch(request.headers.get("content-type", "").strip())
    if kind is None:
        raise HTTPError(415, "The request is not a form", "Submit it from the page.")
    broken = HTTPError(400, "The form cannot be parsed", "Reload the page.")
    if not request.scope[BODY].endswith((b"--%b--" % kind[2].encode(), b"--%b--\r\n" % kind[2].encode())):
        raise broken  # the library takes what is cut off for a form
    try:
        return asyncio.run(_parsed(request))
    except (MultiPartException, HTTPException):
        raise broken from None


async def _parsed(request: Request) -> tuple[Form, dict[str, Upload]]:
    """Let python-multipart parse a form, part by part, in an event loop of its own."""
    body = memoryview(request.scope[BODY])
    starts = iter(range(0, len(body), CHUNK))

    async def receive() -> Event:
        start = next(starts, len(body))
        end = start + CHUNK
        return {"type": "http.request", "body": bytes(body[start:end]), "more_body": end < len(body)}

    fields, files = Form(), dict[str, Upload]()
    whole = Request(request.scope, receive)
    async with whole.form(max_files=MAX_FILES, max_fields=MAX_FIELDS, max_part_size=LARGEST) as form:
        for name, value in form.multi_items():
            if isinstance(value, str):
                fields[name] = value
            elif value.filename:
                files[name] = Upload(_plain(value.filename), await value.read())
    return fields, files


def _plain(name: str) -> str:
    """Last part of a file name, with other characters than letters, digits and a few signs replaced."""
    last = re.split(r"[/\\]", name)[-1]
    return re.sub(r"[^\w.() -]", "_", last).lstrip(". ")[-100:] or "file"


NEVER_CACHED: Final = {"cache-control": "no-store"}
LANGUAGE_COOKIE: Final = "postil-lang"
"""Cookie with the language that a lead has chosen."""

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
        self.limiter = RateLimiter()
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
        """Return the language of the pages of leads.

        Args:
            request: The request for the page.
        """
        return language_of(request, request.cookies.get(LANGUAGE_COOKIE, ""))

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
        token = request.cookies.get(self.cookie, "")
        found = self.store.people.session(token) if token else None
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

    def is_here(self, link: str) -> bool:
        """True if only this machine can open a link, and nobody has asked for that.

        Args:
            link: A link from `link`.
        """
        return not self._base_url and is_local(link)

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
        """Set a cookie; see `postil.web.security.set_cookie`.

        Args:
            response: The response.
            name: Name of the cookie.
            value: Value of the cookie.
            seconds: Lifetime, in seconds; 0 to delete the cookie.
        """
        set_cookie(response, name, value, seconds, secure=self.secure)

    async def error_response(self, request: Request, error: Exception) -> Response:
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


MONTH: Final = 30 * 86_400
HOUR: Final = 3_600


def joining_routes(site: Site) -> list[Route]:
    """Routes of the start page, of an invitation, and of sign-out.

    Args:
        site: Site of the campaign.
    """
    store = site.store
    visit = f"{site.cookie}-join"

    def home(request: Request) -> Response:
        if request.headers.get("sec-fetch-site") == "cross-site" and site.cookie not in request.cookies:
            # Browsers send no strict cookie along with a link from another site, so our own page asks once more.
            return site.page("again.html")
        return redirect_to("/lead" if site.current_user(request).role == "lead" else "/grade")

    def invited(request: Request) -> Response:
        # Opening the link does not use the invitation up: mail programs open links too.
        token, secret = request.path_params["token"], request.cookies.get(visit) or secrets.token_urlsafe(32)
        lines = [site.rubric.question]
        response = site.page("words.html", title=site.campaign.name, lines=lines, join=token, csrf=csrf_of(secret))
        site.set_cookie(response, visit, secret, HOUR)
        return response

    def join(request: Request) -> Response:
        form = form_of(request)
        site.check_csrf(request, form, visit)
        try:
            session = store.people.accept(form.get("token", ""))
        except Refused as write_error:
            # Only unknown tokens count, and valid ones are accepted even over the limit: many people may share an
            # address, and 256 bits cannot be guessed.
            if write_error.kind == "unknown":
                address = address_of(request.scope)
                if site.limiter.exceeded(address):
                    raise HTTPError(429, "There were too many attempts", "Wait five minutes and try again.") from None
                site.limiter.record(address)
            raise
        response = redirect_to("/")
        site.set_cookie(response, site.cookie, session.token, MONTH)
        site.set_cookie(response, visit, "", 0)
        return response

    def out(request: Request) -> Response:
        site.submitted(request)
        store.people.end(request.cookies[site.cookie])
        response = site.page("words.html", title=site.words.gettext("Signed out"), lines=[], join="", href="")
        site.set_cookie(response, site.cookie, "", 0)
        return response

    return [
        Route("/", home),
        Route("/join/{token}", invited),
        Route("/join", join, methods=["POST"]),
        Route("/out", out, methods=["POST"]),
    ]


AHEAD: Final = 2
"""Number of tasks that a page holds in advance."""


def annotator_routes(site: Site) -> list[Route]:
    """Routes of annotators.

    Scripts get JSON: the requested task and the upcoming ones. Without scripts the forms work as plain forms.

    Args:
        site: The campaign.
    """
    pages = _Pages(site)
    return [
        Route("/rate", partial(pages.answer, read=pages.rating), methods=["POST"]),
        Route("/skip", partial(pages.answer, read=_skip), methods=["POST"]),
        Route("/undo", pages.undo, methods=["POST"]),
        Route("/grade", pages.grade),
        Route("/task", pages.task),
        Route("/label", pages.label),
    ]


class _Pages:
    def __init__(self, site: Site) -> None:
        self._site, self._grading = site, site.store.grading
        self._parts, self._labels = site.parts("task.html"), site.parts("label_parts.html")
        campaign = site.campaign
        fits = OF_ARTICLE if campaign.shows_articles else OF_CONTEXT if campaign.shown else ""
        self._reasons = [reason for reason in REASONS if reason not in {OF_ARTICLE, OF_CONTEXT} - {fits}]

    def grade(self, request: Request) -> Response:
        """Show the page with the first open task."""
        user = self._site.current_user(request)
        if user.role == "lead":
            return redirect_to("/lead")
        task, ahead = self._here(user, self._grading.next(user))
        return self._site.page(
            "grade.html",
            task=task,
            ahead=ahead.tasks,
            progress=ahead.progress,
            state=ahead.state,
            csrf=self._site.csrf(request),
            key=new_key(),
            kept=f"{self._site.cookie}.{user.id}",
            reasons=self._reasons,
        )

    def task(self, request: Request) -> Response:
        """Return the first open task, for the script."""
        user = self._site.current_user(request)
        return self._shown(request, *self._here(user, self._grading.next(user)))

    def label(self, request: Request) -> Response:
        """Show the label of the gold item that was just rated, to a browser without scripts."""
        user, number = self._site.current_user(request), request.query_params.get("assignment", "")
        assignment = int(number) if re.fullmatch("[0-9]{1,9}", number) else 0
        label = self._grading.label(user, assignment, self._site.campaign.feedback)
        return redirect_to("/grade") if label is None else self._site.page("label.html", label=label)

    def undo(self, request: Request) -> Response:
        """Undo the last annotation and return its task."""
        user, form = self._site.submitted(request)
        task = self._grading.undo(user, idempotency_key=form.get("idempotency_key") or new_key())
        if not wants_json(request):
            return redirect_to("/grade")
        return self._shown(request, *self._here(user, task or self._grading.next(user)))

    def _here(self, user: Person, task: AnnotationTask | None) -> tuple[AnnotationTask | None, Upcoming]:
        """A task, and the upcoming ones."""
        place, wanted = (task.position, AHEAD) if task else (0, 0)
        return task, self._grading.upcoming(user, place, wanted)

    def _shown(self, request: Request, task: AnnotationTask | None, ahead: Upcoming) -> Response:
        """A task and the upcoming ones as JSON."""
        csrf = self._site.csrf(request)
        shown = self._parts.one(task, csrf, "") if task else self._parts.without(ahead.state, ahead.progress)
        return self._json(request, ahead, task=shown)

    async def answer(self, request: Request, read: Callable[[Form], Annotation]) -> Response:
        """Store an annotation, a rating or a skip, and return the upcoming tasks.

        Hundreds come per second, so no thread waits here: one transaction in the writer's thread looks the session up,
        stores the annotation and reads the next tasks.
        """
        try:
            form = form_of(request)
            self._site.check_csrf(request, form)
            given = read(form)
            wanted = min(form.number("want"), AHEAD) if "want" in form else 0
            after = form.number("after") if wanted > 0 else 0
        except PostilError:
            await run_in_threadpool(
                self._site.current_user, request
            )  # not being signed in is reported before a wrong form
            raise
        session = request.cookies[self._site.cookie]
        feedback = self._site.campaign.feedback
        answered = self._grading.submit(session, given, after=after, wanted=wanted, feedback=feedback)
        ahead = await asyncio.wrap_future(answered)
        if ahead is None:
            raise await run_in_threadpool(self._site.not_signed_in, request)
        if not wants_json(request):
            return redirect_to(f"/label?assignment={given.assignment}" if ahead.label else "/grade")
        if ahead.state.status == "running":
            return self._json(request, ahead)
        return self._json(request, ahead, task=self._parts.without(ahead.state, ahead.progress))

    def rating(self, form: Form) -> Annotation:
        """Read a rating."""
        spans = self._site.rubric.kind == "spans"
        return Annotation(
            assignment=form.number("assignment"),
            value=_spans(form) if spans else self._grades(form),
            idempotency_key=form.get("idempotency_key", ""),
            revision=form.number("revision"),
            seconds=form.real("seconds") if "seconds" in form else None,
        )

    def _grades(self, form: Form) -> float | list[float | None]:
        """The grade, or one of each aspect; None for those that are missing."""
        aspects = self._site.rubric.aspects
        if not aspects:
            return form.real("grade")
        names = [f"grade{n}" for n in range(1, len(aspects) + 1)]
        return [form.real(name) if name in form else None for name in names]

    def _json(self, request: Request, ahead: Upcoming, **values: str) -> Response:
        csrf = self._site.csrf(request)
        said = {"progress": ahead.progress, **values, "ahead": [self._parts.one(one, csrf, "") for one in ahead.tasks]}
        if ahead.label:
            said["label"] = self._labels.shown(ahead.label)
        return Response(msgspec.json.encode(said, enc_hook=str), media_type="application/json", headers=NEVER_CACHED)


def _skip(form: Form) -> Annotation:
    return Annotation(
        assignment=form.number("assignment"),
        reason=form.get("reason", ""),
        idempotency_key=form.get("idempotency_key", ""),
        revision=form.number("revision"),
    )


def _spans(form: Form) -> list[Span]:
    try:
        return msgspec.json.decode(form.get("spans", ""), type=list[tuple[int, int]])
    except msgspec.MsgspecError:
        raise Refused("invalid", "spans: expected pairs of integers") from None
