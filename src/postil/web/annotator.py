"""The annotator's pages: grade, skip, go back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import msgspec
from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool

from postil.annotation.models import Annotation, Refused
from postil.errors import PostilError
from postil.web.forms import form_of, wants_json
from postil.web.pages import NEVER_CACHED, back_to, new_key
from postil.web.translations import REASONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastapi import FastAPI

    from postil.annotation.models import Person, Span, Task, Upcoming
    from postil.web.forms import Form
    from postil.web.pages import Site

__all__ = ["AHEAD", "add_annotator_pages"]

AHEAD: Final = 2
"""How many texts the page has before they are wanted."""


def add_annotator_pages(app: FastAPI, site: Site) -> None:
    """Add the pages of annotators.

    A script gets JSON: what was asked for, and the texts that come after. Without scripts the forms work as forms.

    Args:
        app: The application.
        site: The campaign.
    """
    pages = _Pages(site)
    for path, answer in (("/rate", pages.rate), ("/skip", pages.skip)):
        app.add_api_route(path, answer, methods=["POST"])
    app.add_api_route("/undo", pages.undo, methods=["POST"])
    for path, page in (("/grade", pages.grade), ("/task", pages.task)):
        app.add_api_route(path, page, methods=["GET"])


class _Pages:
    def __init__(self, site: Site) -> None:
        self._site, self._grading = site, site.store.grading
        self._parts = site.parts("task.html")

    async def rate(self, request: Request) -> Response:
        """A grade."""
        return await self._answer(request, self._rating)

    async def skip(self, request: Request) -> Response:
        """A text that is passed over."""
        return await self._answer(request, _skip)

    def grade(self, request: Request) -> Response:
        """The page where an annotator works."""
        someone = self._site.known(request)
        if someone.role == "lead":
            return back_to("/lead")
        task, ahead = self._here(someone, self._grading.next(someone))
        return self._site.page(
            "grade.html",
            task=task,
            ahead=ahead.tasks,
            progress=ahead.progress,
            csrf=self._site.csrf(request),
            key=new_key(),
            kept=f"{self._site.cookie}.{someone.id}",
            reasons=REASONS,
        )

    def task(self, request: Request) -> Response:
        """Where the annotator is."""
        someone = self._site.known(request)
        return self._shown(request, *self._here(someone, self._grading.next(someone)))

    def undo(self, request: Request) -> Response:
        """Back to the last text."""
        someone, form = self._site.posted(request)
        task = self._grading.undo(someone, idempotency_key=form.get("idempotency_key") or new_key())
        if not wants_json(request):
            return back_to("/grade")
        return self._shown(request, *self._here(someone, task or self._grading.next(someone)))

    def _here(self, someone: Person, task: Task | None) -> tuple[Task | None, Upcoming]:
        """A text, and those after it."""
        place, wanted = (task.position, AHEAD) if task else (0, 0)
        return task, self._grading.upcoming(someone, place, wanted)

    def _shown(self, request: Request, task: Task | None, ahead: Upcoming) -> Response:
        """A text and those after it, for the script."""
        csrf = self._site.csrf(request)
        shown = self._parts.one(task, csrf, "") if task else self._parts.finished(ahead.progress)
        return self._json(request, ahead, task=shown)

    async def _answer(self, request: Request, read: Callable[[Form], Annotation]) -> Response:
        """Store an answer, and say what follows.

        Many come each second, so nothing here waits in a thread: the session is looked up, the answer stored and the
        next texts found in one go, in the thread that writes.
        """
        try:
            form = form_of(request)
            self._site.check(request, form)
            given = read(form)
            wanted = min(form.number("want"), AHEAD) if "want" in form else 0
            after = form.number("after") if wanted > 0 else 0
        except PostilError:
            await run_in_threadpool(self._site.known, request)  # whoever is not signed in hears that first
            raise
        session = request.cookies[self._site.cookie]
        ahead = await asyncio.wrap_future(self._grading.answer(session, given, after=after, wanted=wanted))
        if ahead is None:
            raise self._site.unknown()
        return self._json(request, ahead) if wants_json(request) else back_to("/grade")

    def _rating(self, form: Form) -> Annotation:
        spans = self._site.rubric.kind == "spans"
        return Annotation(
            assignment=form.number("assignment"),
            value=_marks(form) if spans else form.real("grade"),
            idempotency_key=form.get("idempotency_key", ""),
            revision=form.number("revision"),
            seconds=form.real("seconds") if "seconds" in form else None,
        )

    def _json(self, request: Request, ahead: Upcoming, **values: str) -> Response:
        csrf = self._site.csrf(request)
        said = {"progress": ahead.progress, **values, "ahead": [self._parts.one(one, csrf, "") for one in ahead.tasks]}
        return Response(msgspec.json.encode(said, enc_hook=str), media_type="application/json", headers=NEVER_CACHED)


def _skip(form: Form) -> Annotation:
    return Annotation(
        assignment=form.number("assignment"),
        reason=form.get("reason", ""),
        idempotency_key=form.get("idempotency_key", ""),
        revision=form.number("revision"),
    )


def _marks(form: Form) -> list[Span]:
    try:
        return msgspec.json.decode(form.get("spans", ""), type=list[tuple[int, int]])
    except msgspec.MsgspecError:
        raise Refused("invalid", "spans: expected pairs of whole numbers") from None
