"""Routes, and what their handlers get and give."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import msgspec

from postil.data.fields import plain_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.web.tokens import Token

__all__ = ["CALL", "JSON", "JSON_LINES", "Call", "Guard", "Handler", "QueueName", "Reply", "Route", "Router", "reply"]

CALL: Final = "postil.call"
"""Key of the `Call` in the ASGI scope."""

QueueName: TypeAlias = Literal["open", "workers", "here", "store"]
"""Queues of requests: none, the workers' (in the pool), of what is computed in the first process, and of all else."""

JSON: Final = "application/json"
JSON_LINES: Final = "application/jsonl"

_encoder = msgspec.json.Encoder(enc_hook=plain_id)


@dataclass(frozen=True, slots=True)
class Reply:
    """A response.

    Args:
        body: The body, or its parts as they are made.
        status: HTTP status.
        media_type: Media type of the body.
        headers: Further headers; names in lower case.
    """

    body: bytes | AsyncIterator[bytes]
    status: int = 200
    media_type: str = JSON
    headers: tuple[tuple[str, str], ...] = ()


def reply(content: msgspec.Struct, status: int = 200) -> Reply:
    """A response with JSON.

    Args:
        content: The content.
        status: HTTP status.
    """
    return Reply(_encoder.encode(content), status)


@dataclass(slots=True)
class Call:
    """A request on its way through the service.

    Args:
        id: Identifier of the request: its ``X-Request-Id``.
        method: HTTP method.
        path: Path.
        query: Query of the URL, as it is sent.
        headers: Headers by name in lower case.
        client: Address of the client, as far as it is known.
        body: The body.
        route: The route; None where there is none.
        name: The last part of the path, if the path of the route ends in ``{name}``.
        user: Name of the token, once a guard has found it.
        reply: The response of the handler, once there is one.
        status: HTTP status of the response, once it has begun.
        token: Its valid token, once `identified`; None if it has none.
        identified: True once a guard has looked for its token.
    """

    id: str
    method: str
    path: str
    query: bytes
    headers: Mapping[bytes, bytes]
    client: str
    body: bytes = b""
    route: Route | None = None
    name: str = ""
    user: str | None = None
    reply: Reply | None = None
    status: int = 0
    token: Token | None = None
    identified: bool = False


Handler: TypeAlias = Callable[[Call], Awaitable[Reply]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A route: dispatch, OpenAPI, tokens, audit and metrics are all made from it.

    Args:
        method: HTTP method.
        path: Path; a last part ``{name}`` stands for any.
        scope: Right that a token needs; None if no token is needed.
        handler: Function that answers.
        summary: Purpose, in a few words.
        request: Struct of the request's JSON; None for a request without a body.
        response: Struct of the response's JSON; for JSON Lines that of a row; None for other responses.
        status: HTTP status of success.
        media_type: Media type of the response.
        documented: False for pages and static files.
        queue: Queue of the requests.
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


class Guard:
    """Checks before each request, and records after it; this one lets all pass and records nothing."""

    def began(self, call: Call) -> None:
        """Record that a request came; `finished` follows.

        Args:
            call: The request, without its route and body.
        """

    def client_of(self, call: Call) -> str:
        """The client who sends a request: a token, or an address.

        Args:
            call: The request.
        """
        return f"address {call.client}"

    def admit(self, call: Call) -> None:
        """Let a request pass, or raise `postil.web.problems.Problem`; sets `Call.user`.

        Args:
            call: The request, with its route.
        """

    def finished(self, call: Call, seconds: float) -> None:
        """Record a request, after its response was sent or the client has gone.

        Args:
            call: The request, with `Call.status`; its `Call.route` is None if there is no such route.
            seconds: Time since it came.
        """


@dataclass(frozen=True)
class Router:
    """The routes by path and method.

    Args:
        routes: The routes.

    Raises:
        ValueError: Two routes have one method and path.
    """

    routes: Sequence[Route]
    _by_path: dict[str, dict[str, Route]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        for route in self.routes:
            at = self._by_path.setdefault(route.path, {})
            if route.method in at:
                raise ValueError(f"{route.method} {route.path} twice")
            at[route.method] = route

    def find(self, path: str) -> tuple[Mapping[str, Route], str]:
        """The routes of a path by method, none where there is no such path; and the part that ``{name}`` stands for.

        Args:
            path: The path.
        """
        found = self._by_path.get(path)
        if found is not None:
            return found, ""
        folder, _, name = path.rpartition("/")
        return self._by_path.get(f"{folder}/{{name}}", {}), name
