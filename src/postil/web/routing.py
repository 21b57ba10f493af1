"""Requests on their way through a server, and the routes of the service."""

from __future__ import annotations

import re
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from postil.data.fields import plain_id
from postil.web.security import BODY, address_of

if TYPE_CHECKING:
    from starlette.types import Scope

    from postil.web.tokens import Token

__all__ = ["CALL", "JSON", "JSON_LINES", "Call", "Handler", "QueueName", "Route", "reply"]

CALL: Final = "postil.call"
"""Key of the `Call` in the ASGI scope."""

QueueName: TypeAlias = Literal["open", "workers", "here", "store"]
"""Queues of requests: none, the workers' (in the pool), of what is computed in the first process, and of all else."""

JSON: Final = "application/json"
JSON_LINES: Final = "application/jsonl"

REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")
"""Identifiers of requests that are taken from clients."""

_encoder = msgspec.json.Encoder(enc_hook=plain_id)


def reply(content: object, status: int = 200) -> Response:
    """A response with JSON.

    Args:
        content: The content, or its JSON.
        status: HTTP status.
    """
    return Response(content if isinstance(content, bytes) else _encoder.encode(content), status, media_type=JSON)


class Call(Request):
    """A request, with what becomes known of it on its way.

    Args:
        scope: Scope of ASGI.

    Attributes:
        id: Identifier of the request: its ``X-Request-Id``.
        sender: Name of its token, once a guard has found it.
        token: Its valid token, once a guard has looked for it; None if it has none.
        response: The response of the handler, once there is one.
        status: HTTP status of the response, once it has begun.
        audited: False if the audit log leaves it out.
    """

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        sent = dict(scope["headers"]).get(b"x-request-id", b"")
        self.id = sent.decode() if REQUEST_ID.fullmatch(sent) else secrets.token_hex(8)
        self.sender, self.status, self.audited = "", 0, True
        self.token: Token | msgspec.UnsetType | None = msgspec.UNSET
        self.response: Response | None = None

    @property
    def path(self) -> str:
        """Path of the address."""
        path: str = self.scope["path"]
        return path

    @property
    def address(self) -> str:
        """Address of the client; of IPv6 its network."""
        return address_of(self.scope)

    async def body(self) -> bytes:
        """The body, which has been received before."""
        body: bytes = self.scope.get(BODY, b"")
        return body


Handler: TypeAlias = Callable[[Call], Awaitable[Response]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A route: dispatch, OpenAPI, tokens, audit and metrics are all made from it.

    Args:
        method: HTTP method.
        path: Path, as Starlette reads it.
        scope: Right that a token needs; None if no token is needed.
        handler: Function that answers.
        summary: Purpose, in a few words.
        request: Struct of the request's JSON; None for a request without a body.
        response: Struct of the response's JSON; for JSON Lines that of a row; None for other responses.
        status: HTTP status of success.
        media_type: Media type of the response.
        documented: False for pages and static files.
        queue: Queue of the requests.
        keyed: True if a token may also be sent as keys of Google's form are; see `postil.web.guard.key_of`.
    """

    method: str
    path: str
    scope: str | None
    handler: Handler
    summary: str
    request: type | None = None
    response: type | None = None
    status: int = 200
    media_type: str = JSON
    documented: bool = True
    queue: QueueName = "store"
    keyed: bool = False
