"""External moderation phase of Coral: Coral asks whether a comment may be published before it publishes it.

Coral goes on without an answer when a response is no success, is empty or comes late, and so do readers' comments; see
docs/sites/coral.md.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from postil.errors import InvalidInput, PostilError
from postil.service.calls import CoralStatus  # noqa: TC001 - msgspec reads annotations
from postil.service.error_log import Seldom
from postil.service.operations.requests import Request, ScreenRequest
from postil.service.operations.responses import ScreenResponse
from postil.web.problems import Problem
from postil.web.routing import Reply, Route, reply

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from postil.service.pool import WorkerPool
    from postil.web.routing import Call
    from postil.web.service.watched_file import WatchedFile

__all__ = ["CoralRequest", "CoralResponse", "coral_route", "parse_coral_secret", "signed_by"]

HEADER: Final = b"x-coral-signature"
PREFIX: Final = "sha256="
SIGNATURES: Final = 8
"""Number of signatures of a request that are compared; Coral sends one per secret that is valid."""
SHORTEST: Final = 16
NOTHING: Final = Reply(b"{}")
"""The response by which Coral goes on."""


class CoralComment(Request, frozen=True, kw_only=True, gc=False):
    """A comment of Coral.

    Args:
        body: Its text, as HTML or plain.
    """

    body: str


class CoralRequest(Request, frozen=True, kw_only=True, gc=False):
    """Request of Coral's external moderation phase, as far as it is read.

    Args:
        comment: The comment.
    """

    comment: CoralComment


class CoralAction(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A flag of a comment in Coral.

    Args:
        actionType: Always ``FLAG``.
        reason: The reason, as Coral names it.
    """

    actionType: Literal["FLAG"] = "FLAG"  # noqa: N815 - Coral's name
    reason: Literal["COMMENT_DETECTED_TOXIC", "COMMENT_DETECTED_SPAM"]


class CoralResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Response to Coral's external moderation phase; an empty one lets Coral go on.

    Args:
        status: Status of a comment that is held.
        actions: Flags of a comment that is held.
    """

    status: CoralStatus | None = None
    actions: tuple[CoralAction, ...] = ()


TOXIC: Final = CoralAction(reason="COMMENT_DETECTED_TOXIC")


def parse_coral_secret(line: str) -> bytes:
    """Key of a signing secret of Coral.

    Args:
        line: The secret.

    Raises:
        ValueError: It is too short to be one.
    """
    if len(line) < SHORTEST:
        raise ValueError(f"a signing secret of Coral, of at least {SHORTEST} characters")
    return line.encode()


def signed_by(keys: Collection[bytes], body: bytes, header: str) -> bool:
    """True if a body was signed with one of the keys.

    Args:
        keys: The keys.
        body: The body, as it came.
        header: The header of the signatures.

    >>> made = hmac.new(b"secret", b"{}", hashlib.sha256).hexdigest()
    >>> signed_by([b"secret"], b"{}", f"sha256=0,sha256={made}"), signed_by([b"secret"], b"{ }", f"sha256={made}")
    (True, False)
    """
    sent = [each.strip() for each in header.split(",")[:SIGNATURES]]
    given = [each[len(PREFIX) :].encode() for each in sent if each.startswith(PREFIX)]
    expected = [hmac.new(key, body, hashlib.sha256).hexdigest().encode() for key in keys]
    return any(hmac.compare_digest(one, other) for one in given for other in expected)


def coral_route(
    pool: WorkerPool,
    secrets: WatchedFile[tuple[bytes, ...]],
    status: CoralStatus = "SYSTEM_WITHHELD",
    *,
    on_message: Callable[[str], None] = lambda _: None,
) -> Route:
    """The route that Coral asks.

    Args:
        pool: The workers.
        secrets: Signing secrets of Coral.
        status: Status of a comment that is held.
        on_message: Callback for messages about comments that were not screened.
    """
    tell = Seldom(on_message)

    async def answer(call: Call) -> Reply:
        if not signed_by(secrets.content(), call.body, call.headers.get(HEADER, b"").decode("latin-1")):
            detail = "expected a signature by the signing secret of Coral's phase, in the header X-Coral-Signature"
            raise Problem(401, detail)
        request = msgspec.json.encode(ScreenRequest(text=_text(call.body)))
        try:
            found = msgspec.json.decode(await pool.call("screen", request), type=ScreenResponse)
        except PostilError as error:
            tell(f"a comment of Coral was not screened, and goes on: {error}")
            return NOTHING
        # A comment without text is a picture or a rating; Coral has a rule for those that are nothing.
        if found.decision == "accept" or (found.empty and len(found.reasons) == 1):
            return NOTHING
        return reply(CoralResponse(status=status, actions=(TOXIC,) if found.profanity else ()))

    return Route(
        method="POST",
        path="/integrations/coral",
        scope=None,
        handler=answer,
        summary="Answer Coral's external moderation phase, by its signature",
        request=CoralRequest,
        response=CoralResponse,
        queue="workers",
    )


def _text(body: bytes) -> str:
    """The text of a comment, with a mark in place of each half of a surrogate pair.

    A request that could not be read would pass by, so a reader could send such a half to be published unseen.
    """
    try:
        text = json.loads(body)["comment"]["body"]
    except (ValueError, TypeError, KeyError, RecursionError):
        text = None
    if not isinstance(text, str):
        raise InvalidInput("expected a request of Coral's external moderation phase", field="comment.body")
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
