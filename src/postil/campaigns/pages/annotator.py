"""Pages of annotators: rate, skip, undo."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Final

import msgspec
from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool

from postil.campaigns.models import Annotation, Refused
from postil.campaigns.pages.site import NEVER_CACHED, form_of, new_key, redirect_to, wants_json
from postil.errors import PostilError
from postil.web.pages import REASONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastapi import FastAPI

    from postil.campaigns.models import AnnotationTask, Person, Span, Upcoming
    from postil.campaigns.pages.site import Form, Site

__all__ = ["AHEAD", "add_annotator_pages"]

AHEAD: Final = 2
"""Number of tasks that a page holds in advance."""


def add_annotator_pages(app: FastAPI, site: Site) -> None:
    """Add the pages of annotators.

    Scripts get JSON: the requested task and the upcoming ones. Without scripts the forms work as plain forms.

    Args:
        app: The application.
        site: The campaign.
    """
    pages = _Pages(site)
    for path, answer in (("/rate", pages.rate), ("/skip", pages.skip)):
        app.add_api_route(path, answer, methods=["POST"])
    app.add_api_route("/undo", pages.undo, methods=["POST"])
    for path, page in (("/grade", pages.grade), ("/task", pages.task), ("/label", pages.label)):
        app.add_api_route(path, page, methods=["GET"])


class _Pages:
    def __init__(self, site: Site) -> None:
        self._site, self._grading = site, site.store.grading
        self._parts, self._labels = site.parts("task.html"), site.parts("label_parts.html")

    async def rate(self, request: Request) -> Response:
        """Store a rating."""
        return await self._answer(request, self._rating)

    async def skip(self, request: Request) -> Response:
        """Store a skip."""
        return await self._answer(request, _skip)

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
            reasons=REASONS,
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

    async def _answer(self, request: Request, read: Callable[[Form], Annotation]) -> Response:
        """Store an annotation and return the upcoming tasks.

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

    def _rating(self, form: Form) -> Annotation:
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
