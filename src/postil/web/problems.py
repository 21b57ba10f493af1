"""Problem documents: errors as responses (RFC 9457)."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Final

import msgspec
from starlette.responses import Response

from postil.data.fields import plain_id
from postil.errors import InvalidInput, MissingExtra, PostilError, Undefined, UnknownName, UsageError
from postil.messages import JSON
from postil.web.turns import NoTurn

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "KINDS",
    "MEDIA_TYPE",
    "Busy",
    "Problem",
    "ProblemDocument",
    "TimedOut",
    "problem_of",
    "problem_refusal",
    "problem_response",
    "unseen_refusal",
]

MEDIA_TYPE: Final = "application/problem+json"
RETRY: Final = 1
"""Seconds after which a client may try again where no worker was free."""

KINDS: Final[Mapping[int, tuple[str, str]]] = {
    400: ("malformed", "The request is malformed"),
    401: ("no-token", "The request has no valid token"),
    403: ("forbidden", "The request is not allowed"),
    404: ("not-found", "There is nothing at this address"),
    405: ("method", "The address has no such method"),
    408: ("slow", "The request came too slowly"),
    409: ("conflict", "The request conflicts with another one"),
    413: ("too-large", "The request is too large"),
    415: ("media-type", "The form of the request is not supported"),
    421: ("wrong-host", "The server does not have this name"),
    422: ("invalid", "The request is not as expected"),
    429: ("too-many", "There are too many requests"),
    431: ("head-too-large", "The head of the request is too large"),
    500: ("internal", "The service has failed"),
    501: ("not-installed", "An optional package is not installed"),
    502: ("upstream", "Another server has failed"),
    503: ("busy", "The service is busy"),
    504: ("timed-out", "The request took too long"),
}
"""Type and title of the problem of each HTTP status."""


class Busy(PostilError):  # noqa: N818 - says what has happened
    """No worker is free for this request; it was not begun, and can be sent again."""


class TimedOut(PostilError):  # noqa: N818 - says what has happened
    """A request took too long, and was ended."""


STATUS: Final[Mapping[type[PostilError], int]] = {
    InvalidInput: 422,
    MissingExtra: 501,
    UsageError: 422,
    Undefined: 422,
    Busy: 503,
    TimedOut: 504,
}
"""HTTP status of errors; the first one that fits counts, and others are failures of the service."""


FIELDS: Final[Mapping[str, str]] = {"metric": "metrics"}
"""Fields of requests that are named otherwise than what they hold."""


class FieldProblem(msgspec.Struct, frozen=True, gc=False):
    """A problem of one field of a request.

    Args:
        field: The field, with dots and indices: ``article.comments[2].text``.
        detail: The expected value, and the one that was sent.
    """

    field: str
    detail: str


class ProblemDocument(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The reason why a request has no other response; see RFC 9457.

    Args:
        type: Address of the kind of problem, on the page ``/docs``.
        title: The kind of problem, in a few words.
        status: HTTP status.
        detail: The problem of this request, and what to do.
        instance: The request: its path and its ``X-Request-Id``.
        errors: Problems of single fields.
    """

    type: str
    title: str
    status: int
    detail: str
    instance: str = ""
    errors: tuple[FieldProblem, ...] = ()


class Problem(PostilError):  # noqa: N818 - says what is wrong
    """Error that ends a request with a problem document.

    Args:
        status: HTTP status, one of `KINDS`.
        detail: The problem, and what to do.
        headers: Further headers of the response; names in lower case.
        errors: Problems of single fields: names and details.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        headers: tuple[tuple[str, str], ...] = (),
        errors: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self.status, self.detail, self.headers, self.errors = status, detail, headers, errors
        super().__init__(detail)


def problem_of(error: PostilError) -> Problem:
    """The problem that an error of an operation is.

    Args:
        error: The error.

    >>> problem = problem_of(InvalidInput("expected an integer, got true", field="k"))
    >>> problem.status, problem.errors
    (422, (('k', 'expected an integer, got true'),))
    """
    if isinstance(error, Problem):
        return error
    if isinstance(error, NoTurn):
        return Problem(error.status, str(error), headers=(("retry-after", f"{RETRY}"),))
    status = next((status for kind, status in STATUS.items() if isinstance(error, kind)), 500)
    detail = error.words(JSON)
    if isinstance(error, InvalidInput) and error.field:
        return Problem(status, detail, errors=((error.field, JSON.words(error.message)),))
    if isinstance(error, UnknownName):
        return Problem(status, detail, errors=((FIELDS.get(error.kind, error.kind), detail),))
    if isinstance(error, Busy):
        return Problem(status, f"{detail}; send it again in a moment", headers=(("retry-after", f"{RETRY}"),))
    return Problem(status, detail)


def problem_response(problem: Problem, instance: str = "") -> Response:
    """The response of a problem.

    Args:
        problem: The problem.
        instance: The request; empty where it is not known.
    """
    kind, title = KINDS[problem.status]
    document = ProblemDocument(
        type=f"/docs#{kind}",
        title=title,
        status=problem.status,
        detail=problem.detail,
        instance=instance,
        errors=tuple(FieldProblem(*each) for each in problem.errors),
    )
    content = msgspec.json.encode(document, enc_hook=plain_id)
    return Response(content, problem.status, dict(problem.headers), MEDIA_TYPE)


def problem_refusal(status: int, text: str, *, script: bool) -> Response:  # noqa: ARG001
    """Response that refuses a request; see `postil.web.security.refusal`.

    Args:
        status: HTTP status.
        text: The reason, one sentence.
        script: Ignored: everybody gets a problem document.
    """
    return problem_response(Problem(status, text or "The request cannot be read."))


def unseen_refusal(status: int, text: str, *, script: bool) -> Response:
    """The same for a request that is refused before it is complete: no middleware gives that response an id.

    Args:
        status: HTTP status.
        text: The reason, one sentence.
        script: Ignored.
    """
    response = problem_refusal(status, text, script=script)
    response.headers["x-request-id"] = secrets.token_hex(8)
    return response
