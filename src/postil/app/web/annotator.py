"""The annotator's pages: grade, skip, go back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from postil.annotation.nouns import Refused
from postil.app.web.pages import NEVER_CACHED, back_to, new_key, wants_json
from postil.app.web.words import REASONS

if TYPE_CHECKING:
    from postil.annotation.nouns import Person, Progress, Span, Task
    from postil.app.web.pages import Form, Site

__all__ = ["AHEAD", "annotator_routes"]

AHEAD: Final = 2
"""How many texts the page has before they are wanted."""


def annotator_routes(site: Site) -> APIRouter:
    """The pages of annotators.

    A script gets JSON: what was asked for, and the texts that come after. Without scripts the forms work as forms.

    Args:
        site: The campaign.
    """
    pages = _Pages(site)
    routes = APIRouter()
    for path, page in (("/grade", pages.grade), ("/task", pages.task)):
        routes.add_api_route(path, page, methods=["GET"])
    for path, page in (("/rate", pages.rate), ("/skip", pages.skip), ("/undo", pages.undo)):
        routes.add_api_route(path, page, methods=["POST"])
    return routes


class _Pages:
    def __init__(self, site: Site) -> None:
        self._site, self._store = site, site.store

    def grade(self, request: Request) -> Response:
        """The page where an annotator works."""
        someone = self._site.known(request)
        if someone.role == "lead":
            return back_to("/lead")
        task = self._store.next(someone)
        return self._site.page(
            "grade.html",
            task=task,
            ahead=self._ahead(someone, task.place, AHEAD) if task else [],
            progress=self._store.progress(someone),
            csrf=self._site.csrf(request),
            key=new_key(),
            kept=f"{self._site.cookie}.{someone.id}",
            reasons=REASONS,
        )

    def task(self, request: Request) -> Response:
        """Where the annotator is."""
        someone = self._site.known(request)
        return self._here(request, someone, self._store.next(someone))

    def rate(self, request: Request) -> Response:
        """A grade."""
        someone, form = self._site.posted(request)
        self._store.rate(
            someone,
            form.number("assignment"),
            _marks(form) if self._site.rubric.kind == "spans" else form.real("grade"),
            request=form.get("request", ""),
            revision=form.number("revision"),
            seconds=form.real("seconds") if "seconds" in form else None,
        )
        return self._answered(request, someone, form)

    def skip(self, request: Request) -> Response:
        """A text that is passed over."""
        someone, form = self._site.posted(request)
        self._store.skip(
            someone,
            form.number("assignment"),
            form.get("reason", ""),
            request=form.get("request", ""),
            revision=form.number("revision"),
        )
        return self._answered(request, someone, form)

    def undo(self, request: Request) -> Response:
        """Back to the last text."""
        someone, form = self._site.posted(request)
        task = self._store.undo(someone, request=form.get("request") or new_key())
        if not wants_json(request):
            return back_to("/grade")
        return self._here(request, someone, task or self._store.next(someone))

    def _ahead(self, someone: Person, after: int, wanted: int) -> list[Task]:
        """Open texts after a place."""
        found: list[Task] = []
        for place in range(after + 1, after + 1 + wanted):
            try:
                task = self._store.task(someone, place)
            except Refused:
                break
            if task.state != "open":
                break
            found.append(task)
        return found

    def _here(self, request: Request, someone: Person, task: Task | None) -> Response:
        """A text and those after it, for the script."""
        parts, csrf = self._site.parts("task.html"), self._site.csrf(request)
        progress = self._store.progress(someone)
        rest = self._ahead(someone, task.place, AHEAD) if task else []
        shown = parts.one(task, csrf, "") if task else parts.finished(progress, csrf)
        return _json(progress, task=shown, ahead=[parts.one(one, csrf, "") for one in rest])

    def _answered(self, request: Request, someone: Person, form: Form) -> Response:
        """What follows an answer."""
        if not wants_json(request):
            return back_to("/grade")
        parts, csrf = self._site.parts("task.html"), self._site.csrf(request)
        wanted = min(form.number("want"), AHEAD) if "want" in form else 0
        rest = self._ahead(someone, form.number("after"), wanted) if wanted > 0 else []
        return _json(self._store.progress(someone), ahead=[parts.one(one, csrf, "") for one in rest])


def _json(progress: Progress, **values: Any) -> JSONResponse:
    return JSONResponse({"progress": msgspec.structs.asdict(progress), **values}, headers=NEVER_CACHED)


def _marks(form: Form) -> list[Span]:
    try:
        return msgspec.json.decode(form.get("spans", ""), type=list[tuple[int, int]])
    except msgspec.MsgspecError:
        raise Refused("invalid", "spans: expected pairs of whole numbers") from None
