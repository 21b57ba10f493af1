"""Guards of servers: tokens and limits before a request, metrics and the audit log after it."""

from __future__ import annotations

import time
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import msgspec
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from postil.web.problems import Problem
from postil.web.routing import CALL, JSON, Call, Route
from postil.web.security import RequestLimits, cookie_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from postil.web.audit_log import AuditLog
    from postil.web.tokens import Token, Tokens

__all__ = ["ANY", "MEDIA_TYPE", "Guard", "Recorded", "RequestMetrics", "bearer_of", "cookie_name", "key_of"]

ANY: Final = "any"
"""Scope of routes that every token may use."""

ELSEWHERE: Final = "other"
"""Route of requests that are for none, in metrics and in the audit log."""

COUNTED: Final = ("suggestions", "filtered", "comments", "passages", "scores")
"""Lists of responses whose lengths the audit log has."""

SCHEME: Final = "bearer "


MEDIA_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4
"""Media type of the text, which servers of all versions read."""


BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
"""Upper bounds of the latencies that are counted together, in seconds."""


class RequestMetrics:
    """Counters of requests, numbers of the process, and gauges of the server's state, in a registry of their own.

    Args:
        gauges: Descriptions of the gauges, and what each tells apart, by name.

    Attributes:
        gauges: The gauges by name.

    >>> metrics = RequestMetrics()
    >>> metrics.begin()
    >>> metrics.observe("GET /health", 200, 0.0004)
    >>> 'postil_requests_total{route="GET /health",status="200"} 1.0' in metrics.exposition().decode()
    True
    """

    def __init__(self, gauges: Mapping[str, Sequence[str]] = MappingProxyType({})) -> None:
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._requests = Counter(
            "postil_requests", "Number of requests that were answered.", ["route", "status"], registry=registry
        )
        self._seconds = Histogram(
            "postil_request_seconds", "Time until the response was sent.", ["route"], buckets=BUCKETS, registry=registry
        )
        self._in_flight = Gauge("postil_requests_in_flight", "Number of requests being answered.", registry=registry)
        self.gauges = {
            name: Gauge(f"postil_{name}", f"{words}.", labels, registry=registry)
            for name, (words, *labels) in gauges.items()
        }

    def begin(self) -> None:
        """Count a request that came; `observe` follows."""
        self._in_flight.inc()

    def observe(self, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered.

        Args:
            route: Method and path of the route, as the server declares it: one of few, whatever clients send.
            status: Status of the response; 0 where the client had gone before.
            seconds: Time since the request came.
        """
        self._in_flight.dec()
        self._requests.labels(route, f"{status}").inc()
        self._seconds.labels(route).observe(seconds)

    def exposition(self, numbers: Mapping[str, float] = MappingProxyType({})) -> bytes:
        """All metrics of the registry as text.

        Args:
            numbers: Values of gauges by name; the others stay as they are.
        """
        for name, number in numbers.items():
            self.gauges[name].set(number)
        return generate_latest(self._registry)


class _Answer(msgspec.Struct, frozen=True):
    """The parts of a response that the audit log counts."""

    model_hash: str | None = None
    model_hashes: tuple[str, ...] = ()
    suggestions: tuple[msgspec.Raw, ...] = ()
    filtered: tuple[msgspec.Raw, ...] = ()
    comments: tuple[msgspec.Raw, ...] = ()
    passages: tuple[msgspec.Raw, ...] = ()
    scores: tuple[msgspec.Raw, ...] = ()
    stored: int = 0


_answers = msgspec.json.Decoder(_Answer)


def cookie_name(host: str) -> str:
    """Name of the cookie of a browser that has signed in: one per port, as browsers send a host's cookies to all.

    Args:
        host: The header Host.

    >>> cookie_name("localhost:8000"), cookie_name("comments.example"), cookie_name("[::1]:8000")
    ('postil-desk-8000', 'postil-desk-web', 'postil-desk-8000')
    """
    port = host.rpartition("]")[2].rpartition(":")[2] if ":" in host.rpartition("]")[2] else ""
    return f"postil-desk-{port or 'web'}"


def bearer_of(headers: Mapping[str, str]) -> str:
    """The token that a request presents, in its header or in the cookie of the desk; empty for none.

    Args:
        headers: Headers by name in lower case.

    >>> bearer_of({"authorization": "Bearer postil_x"}), bearer_of({"authorization": "Basic dTpw"})
    ('postil_x', '')
    """
    sent = headers.get("authorization", "")
    if sent:
        return sent[len(SCHEME) :].strip() if sent[: len(SCHEME)].lower() == SCHEME else ""
    return cookie_of(headers.get("cookie", ""), cookie_name(headers.get("host", "")))


KEY_HEADER: Final = "x-goog-api-key"
KEY_PARAMETER: Final = "key"


def key_of(call: Call) -> str:
    """The token of a request to a route that clients of Google's form use; empty for none.

    It is in the header of all tokens, in a header of its own, or in the query of the address, which nothing prints.

    Args:
        call: The request.
    """
    sent = bearer_of(call.headers) or call.headers.get(KEY_HEADER, "") or call.query_params.get(KEY_PARAMETER, "")
    return sent.strip()


class Recorded:
    """ASGI middleware around everything else: ``X-Request-Id``, metrics, and the audit log.

    Args:
        app: The wrapped application.
        metrics: Counters of requests.
        audit: The audit log; None for none.
    """

    def __init__(self, app: ASGIApp, metrics: RequestMetrics, audit: AuditLog | None = None) -> None:
        self._app, self._metrics, self._audit = app, metrics, audit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the ASGI specification."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.perf_counter()
        call = scope[CALL] = Call(scope)

        async def with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                call.status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", call.id.encode())]
            await send(message)

        self._metrics.begin()
        try:
            await self._app(scope, receive, with_id)
        finally:
            self._finish(call, time.perf_counter() - start)
            del scope[CALL]  # each refers to the other, and would wait for the garbage collector with its response

    def _finish(self, call: Call, seconds: float) -> None:
        route = _route_of(call.scope)
        self._metrics.observe(route, call.status, seconds)
        if self._audit is not None and call.audited:
            model, counts = _counted(call.response)
            self._audit.write(
                request=call.id,
                route=route,
                status=call.status,
                milliseconds=1000 * seconds,
                token=call.sender,
                model=model,
                counts=counts,
            )


def _route_of(scope: Scope) -> str:
    """Method and path of the route, as it is declared; clients choose neither."""
    route, method = scope.get("route"), scope["method"]
    if route is None or method not in route.methods:
        return ELSEWHERE
    return f"{'GET' if method == 'HEAD' else method} {route.path}"


class Guard:
    """Admits requests by tokens and limits.

    Args:
        limits: Limits of requests, by token; without tokens, and for requests without a valid one, by address.
        tokens: The valid tokens; None to admit all.
    """

    def __init__(self, limits: RequestLimits, tokens: Tokens | None = None) -> None:
        self._limits, self._tokens = limits, tokens

    def client_of(self, call: Call, route: Route) -> str:
        """The client who sends a request: a token, or an address.

        Args:
            call: The request.
            route: Its route.
        """
        token = self._token(call, route)
        return f"address {call.address}" if token is None else f"token {token.name}"

    def admit(self, call: Call, route: Route) -> None:
        """Let a request pass, or raise `postil.web.problems.Problem`.

        Args:
            call: The request.
            route: Its route.
        """
        if (scope := route.scope) is None:
            return
        token = self._token(call, route)
        if token is None:
            self._limit(f"address {call.address}")
            if self._tokens is None:
                return
            raise _unauthorized(presented=bool(_presented(call, route)))
        call.sender = token.name
        self._limit(f"token {token.name}", token.rate)
        if scope != ANY and scope not in token.scopes:
            raise _forbidden(token, scope)

    def _token(self, call: Call, route: Route) -> Token | None:
        """The token of a request; None where it has no valid one, or none is asked for."""
        if call.token is msgspec.UNSET:
            bearer = "" if self._tokens is None else _presented(call, route)
            call.token = self._tokens.identify(bearer) if self._tokens is not None and bearer else None
        return call.token

    def _limit(self, client: str, rate: int | None = None) -> None:
        if wait := self._limits.take(client, rate):
            problem = f"there are too many requests; wait {wait} s and send it again"
            raise Problem(429, problem, headers=(("retry-after", f"{wait}"),))


def _presented(call: Call, route: Route) -> str:
    return key_of(call) if route.keyed else bearer_of(call.headers)


def _unauthorized(*, presented: bool) -> Problem:
    if presented:
        challenge = 'Bearer realm="postil", error="invalid_token"'
        detail = "the token is unknown, expired or revoked; whoever runs the service can make another one"
    else:
        challenge = 'Bearer realm="postil"'
        detail = "expected a token, in the header Authorization: Bearer postil_…"
    return Problem(401, detail, headers=(("www-authenticate", challenge),))


def _forbidden(token: Token, scope: str) -> Problem:
    has = ", ".join(sorted(token.scopes))
    detail = (
        f"the token '{token.name}' lacks the scope {scope}; it has {has}; "
        f"whoever runs the service can make one with it: postil tokens add FILE NAME --scope {scope}"
    )
    challenge = f'Bearer realm="postil", error="insufficient_scope", scope="{scope}"'
    return Problem(403, detail, headers=(("www-authenticate", challenge),))


def _counted(response: Response | None) -> tuple[str, dict[str, int]]:
    """Hashes of the models that a response names, and numbers of what it has."""
    if response is None or response.media_type != JSON:
        return "", {}
    try:
        answer = _answers.decode(response.body)
    except msgspec.MsgspecError:  # a list, or fields that mean something else
        return "", {}
    counts = {name: len(getattr(answer, name)) for name in COUNTED}
    counts["stored"] = answer.stored
    model = "+".join(answer.model_hashes) or answer.model_hash or ""
    return model, {name: number for name, number in counts.items() if number}
