"""Addresses of Perspective's form, and its form of errors, which all refusals at these addresses have."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

import msgspec

from postil.messages import JSON as IN_JSON
from postil.service.perspective import (
    AnalyzeRequest,
    AnalyzeResponse,
    Refused,
    Suggested,
    SuggestScoreRequest,
    SuggestScoreResponse,
)
from postil.service.routes import NO_STORE, dated
from postil.web.guard import key_of
from postil.web.problems import MEDIA_TYPE, ProblemDocument
from postil.web.routing import CALL, Call, Handler, Route, reply

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from postil.service.pool import WorkerPool
    from postil.service.store import ServiceStore

__all__ = ["PREFIX", "ErrorForm", "perspective_routes"]

PREFIX: Final = "/v1alpha1/"
"""Beginning of the paths of these addresses."""

STATUSES: Final[Mapping[int, str]] = {
    400: "INVALID_ARGUMENT",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ABORTED",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    501: "UNIMPLEMENTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
"""Name of each HTTP status that errors have."""

OTHERS: Final[Mapping[int, int]] = {401: 403, 405: 404, 502: 503}
"""Status in place of others; those of the request that are not here are 400."""

INFO: Final = "type.googleapis.com/google.rpc.ErrorInfo"
FIELDS: Final = "type.googleapis.com/google.rpc.BadRequest"

NO_KEY: Final = (
    "expected a key: a token of this service with the scope screen, as the parameter key of the address, "
    "in the header x-goog-api-key, or in the header Authorization: Bearer postil_…"
)
WRONG_KEY: Final = (
    "API key not valid: the token is unknown, expired or revoked; whoever runs the service can make another one"
)

HALF: Final = re.compile(rb"\\u[dD][89a-fA-F]")
"""Half of a surrogate pair, escaped."""


def perspective_routes(pool: WorkerPool, store: ServiceStore | None) -> list[Route]:
    """The routes of Perspective's form.

    Args:
        pool: The workers.
        store: The store of decisions; None where the service stores nothing, and says so.
    """

    async def analyze(call: Call) -> Response:
        return reply(await pool.call("analyze", _whole(await call.body())))

    async def suggest_score(call: Call) -> Response:
        if store is None:
            raise Refused(IN_JSON.words(NO_STORE), code=501)
        found = msgspec.json.decode(await pool.call("suggestscore", _whole(await call.body())), type=Suggested)
        if found.decision is not None:
            await store.add_decisions([dated(found.decision)], sender=call.sender)
        return reply(found.response)

    return [
        Route(
            method="POST",
            path=f"{PREFIX}comments:analyze",
            scope="screen",
            handler=_in_form(analyze),
            summary="Score a comment by attribute, as Perspective does",
            request=AnalyzeRequest,
            response=AnalyzeResponse,
            queue="workers",
            keyed=True,
        ),
        Route(
            method="POST",
            path=f"{PREFIX}comments:suggestscore",
            scope="screen",
            handler=_in_form(suggest_score),
            summary="Store the decision of a moderator, as Perspective takes it",
            request=SuggestScoreRequest,
            response=SuggestScoreResponse,
            queue="workers",
            keyed=True,
        ),
    ]


def _whole(body: bytes) -> bytes:
    """The body with a mark in place of each half of a surrogate pair.

    Where a request is refused its client goes on as if there were no screen, so a reader could send such a half to be
    published unseen.
    """
    if HALF.search(body) is None:
        return body
    try:
        text = json.dumps(json.loads(body), ensure_ascii=False)
    except (ValueError, RecursionError):
        return body
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _in_form(handler: Handler) -> Handler:
    """The same handler, whose refusals keep their details for programs."""

    async def answer(call: Call) -> Response:
        try:
            return await handler(call)
        except Refused as error:
            return _error(error.code, error.words(IN_JSON), error.details)

    return answer


def _error(code: int, message: str, details: Sequence[Mapping[str, object]] = ()) -> Response:
    content: dict[str, object] = {"code": code, "message": message, "status": STATUSES[code]}
    if details:
        content["details"] = [*details]
    return reply({"error": content}, code)


class ErrorForm:
    """ASGI middleware that puts the problem documents of these addresses into the original's form of errors.

    Args:
        app: The wrapped application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the ASGI specification."""
        if scope["type"] != "http" or not scope["path"].startswith(PREFIX):
            await self._app(scope, receive, send)
            return
        start: list[Message] = []
        parts: list[bytes] = []

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start" and dict(message["headers"]).get(b"content-type") == PROBLEM:
                start.append(message)
            elif not start:
                await send(message)
            else:
                parts.append(message.get("body", b""))
                if not message.get("more_body", False):
                    await self._translate(start.pop(), b"".join(parts), scope[CALL], send)

        await self._app(scope, receive, sent)

    async def _translate(self, start: Message, body: bytes, call: Call, send: Send) -> None:
        problem = msgspec.json.decode(body, type=ProblemDocument)
        response = _of_problem(problem, presented=bool(key_of(call)))
        kept = [(name, value) for name, value in start["headers"] if name not in REPLACED]
        await send({**start, "status": response.status_code, "headers": [*response.raw_headers, *kept]})
        await send({"type": "http.response.body", "body": response.body})


PROBLEM: Final = MEDIA_TYPE.encode()
REPLACED: Final = frozenset({b"content-type", b"content-length", b"www-authenticate"})
"""Headers of a problem document that the error has otherwise, or not at all."""


def _of_problem(problem: ProblemDocument, *, presented: bool) -> Response:
    """The error that a problem is.

    Args:
        problem: The problem.
        presented: True if the request has a token.
    """
    if problem.status == 401:
        if presented:
            return _error(400, WRONG_KEY, ({"@type": INFO, "reason": "API_KEY_INVALID", "domain": "postil"},))
        return _error(403, NO_KEY)
    code = OTHERS.get(problem.status, problem.status)
    fields = [{"field": one.field, "description": one.detail} for one in problem.errors]
    details = ({"@type": FIELDS, "fieldViolations": fields},) if fields else ()
    return _error(code if code in STATUSES else 400, problem.detail, details)
