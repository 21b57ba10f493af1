"""Security of both servers: hosts, origins, body sizes, headers, CSRF tokens, and limits of requests and attempts."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import math
import socket
import time
from collections import OrderedDict, deque
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol
from urllib.parse import urlsplit

from starlette.responses import JSONResponse, PlainTextResponse, Response

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = [
    "BODY",
    "HEADERS",
    "LARGEST",
    "RateLimiter",
    "Reachable",
    "RequestLimits",
    "SecurityMiddleware",
    "Worded",
    "address_of",
    "client_key",
    "cookie_of",
    "csrf_of",
    "refusal",
    "same",
    "set_cookie",
]

MINUTE: Final = 60.0
CLIENT_BITS: Final = 64
"""Length of the network that one client of IPv6 has, and with it 2^64 addresses."""


@lru_cache(maxsize=1024)  # it is asked for several times in a request
def client_key(address: str) -> str:
    """Key of the clients at an address: of IPv6 all addresses of one network are one client.

    Args:
        address: The address, as the server of HTTP has it.

    >>> client_key("192.0.2.7"), client_key("2001:db8:1:2:3::4"), client_key("::ffff:192.0.2.7")
    ('192.0.2.7', '2001:db8:1:2::/64', '192.0.2.7')
    """
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(found), CLIENT_BITS), strict=False))


def address_of(scope: Scope) -> str:
    """Key of the client of a request; empty where its address is not known.

    Args:
        scope: The request.
    """
    client = scope.get("client")
    return client_key(client[0]) if client else ""


class RequestLimits:
    """A token bucket per client: it holds the requests of one minute, and fills evenly.

    A bucket is kept as the time at which it will be full again, so a client that has waited that long needs no memory.

    Args:
        rate: Largest number of requests per minute of a client that has no limit of its own; None for no limit.
        clients: Largest number of clients to remember; beyond it the one that has been away longest is forgotten.
        clock: Function that returns the time, in seconds.

    >>> limits = RequestLimits(2, clock=lambda: 0.0)
    >>> [limits.take("a"), limits.take("a"), limits.take("a"), limits.take("b"), limits.take("c", rate=1)]
    [0, 0, 30, 0, 0]
    """

    def __init__(
        self, rate: int | None = None, *, clients: int = 10_000, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate, self._clients, self._clock = rate, clients, clock
        self._full: OrderedDict[str, float] = OrderedDict()

    def __len__(self) -> int:
        """Number of clients that are remembered."""
        return len(self._full)

    def take(self, client: str, rate: int | None = None) -> int:
        """Take a token out of the bucket of a client, if there is one.

        Args:
            client: The client: the name of its token, or its address.
            rate: The client's own limit, in requests per minute.

        Returns:
            0 if the request may be answered, else the seconds to wait, for the header Retry-After.
        """
        rate = rate or self._rate
        if rate is None:
            return 0
        now, each = self._clock(), MINUTE / rate
        full = max(self._full.get(client, now), now) + each
        wait = full - now - MINUTE
        if wait > each * 1e-6:  # sums of many small parts are not exact
            return math.ceil(wait)
        self._full[client] = full
        self._full.move_to_end(client)
        while len(self._full) > self._clients or self._full[next(iter(self._full))] <= now:
            self._full.popitem(last=False)
        return 0


BODY: Final = "postil.body"
"""Key of the request body in the ASGI scope."""

LARGEST: Final = 64 * 1024
"""Default of the maximum size of a request body, in bytes."""

LONGEST_QUERY: Final = 8 * 1024
"""Maximum length of the query of an address, in bytes."""

REFUSALS, PAUSE = 50, 1.0
"""Number of refusals within a second after which an address waits for further ones, and for how many seconds."""

NOT_OURS: Final = "The request comes from a page of another site. Open the page at the address of this server."

POLICY: Final = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    b"base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Final = (
    (b"content-security-policy", POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)
HTTPS_ONLY: Final = (b"strict-transport-security", b"max-age=31536000")


def cookie_of(sent: str, name: str) -> str:
    """Value of a cookie; empty where there is none. The parser of the standard library takes quadratic time.

    Args:
        sent: The header Cookie.
        name: Name of the cookie; of several the last one counts.

    >>> cookie_of('a=1; b="2"; a=3', "a"), cookie_of('a=1; b="2"', "b"), cookie_of("ab=1", "a")
    ('3', '2', '')
    """
    pairs = (one.partition("=") for one in reversed(sent.split(";")))
    return next((value.strip().strip('"') for found, _, value in pairs if found.strip() == name), "")


def csrf_of(token: str) -> str:
    """Derive the CSRF token of a form from the session: only those who can read the page know it.

    Args:
        token: Secret of the session cookie, which scripts cannot read.
    """
    return hashlib.sha256(b"postil form " + token.encode()).hexdigest()


def set_cookie(response: Response, name: str, value: str, seconds: int, *, secure: bool) -> None:
    """Set a cookie that scripts cannot read and other sites cannot use.

    Args:
        response: The response.
        name: Name of the cookie.
        value: Value of the cookie.
        seconds: Lifetime, in seconds; 0 to delete the cookie.
        secure: True if browsers send it by HTTPS alone.
    """
    response.set_cookie(name, value, max_age=seconds, path="/", secure=secure, httponly=True, samesite="strict")


def same(one: str, other: str) -> bool:
    """Compare two secrets in constant time.

    Args:
        one: A secret.
        other: Another secret.
    """
    return hmac.compare_digest(one.encode(), other.encode())


class RateLimiter:
    """Limit on failed attempts per key in a sliding window; by default that of attempts to sign in.

    Args:
        attempts: Maximum number of failed attempts.
        seconds: Length of the window.
        clock: Function that returns the time, in seconds.

    >>> limiter = RateLimiter(2, 60, clock=lambda: 0.0)
    >>> [limiter.exceeded("a"), limiter.record("a"), limiter.record("a"), limiter.exceeded("a"), limiter.exceeded("b")]
    [False, None, None, True, False]
    """

    MAX_KEYS: Final = 10_000

    def __init__(self, attempts: int = 10, seconds: float = 300.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._attempts, self._seconds, self._clock = attempts, seconds, clock
        self._times: dict[str, deque[float]] = {}
        self._lock = Lock()

    def exceeded(self, key: str) -> bool:
        """True if no further attempt is allowed for a key.

        Args:
            key: The key.
        """
        with self._lock:
            times = self._times.get(key, deque())
            while times and times[0] <= self._clock() - self._seconds:
                times.popleft()
            return len(times) >= self._attempts

    def record(self, key: str) -> None:
        """Record one failed attempt for a key.

        Args:
            key: The key.
        """
        with self._lock:
            if len(self._times) >= self.MAX_KEYS:  # bounds the memory that many addresses can take
                self._times.clear()
            self._times.setdefault(key, deque(maxlen=self._attempts)).append(self._clock())


class Worded(Protocol):
    """A function that words refusals; see `refusal`."""

    def __call__(self, status: int, text: str, *, script: bool) -> Response:
        """A response."""


def refusal(status: int, text: str, *, script: bool) -> Response:
    """Response that refuses a request.

    Args:
        status: HTTP status.
        text: The reason, one sentence.
        script: True for a script, which wants JSON.
    """
    return JSONResponse({"problem": text}, status) if script else PlainTextResponse(f"{text}\n", status)


class Reachable(NamedTuple):
    """Paths that browsers may get from elsewhere; all others are for the pages of this server alone.

    Args:
        anywhere: Paths that pages of other sites may get.
        linked: Function that tells if a path is a page, which links of other sites may lead to.
    """

    anywhere: frozenset[str] = frozenset()
    linked: Callable[[str], bool] = "/".__eq__


START: Final = Reachable()
"""The start page alone."""


class SecurityMiddleware:
    """ASGI middleware that checks host, origin and body size of every request and adds headers to every response.

    Unknown host names are refused, so that no other site can reach this server under a name of its own (DNS rebinding).
    Numeric addresses cannot be rebound.

    Args:
        app: The wrapped application.
        names: Host names of this server besides localhost and that of the machine.
        secure: True if it is reached by HTTPS.
        largest: Maximum size of a request body, in bytes.
        worded: Function that words refusals.
        largest_for: Function from the path and the cookies of a request to the maximum size of its body, in bytes;
            None if that is the same for all.
        reachable: Paths that browsers may get from elsewhere.
    """

    def __init__(
        self,
        app: ASGIApp,
        names: Iterable[str],
        *,
        secure: bool = False,
        largest: int = LARGEST,
        worded: Worded = refusal,
        largest_for: Callable[[str, str], Awaitable[int]] | None = None,
        reachable: Reachable = START,
    ) -> None:
        self._app, self._largest, self._worded, self._largest_for = app, largest, worded, largest_for
        self._reachable = reachable
        self._refused = RateLimiter(REFUSALS, PAUSE)
        self._known = lru_cache(maxsize=64)(self._is_known)
        self._names = {name.lower() for name in ("localhost", socket.gethostname(), *names)}
        self._headers = [*HEADERS, HTTPS_ONLY] if secure else [*HEADERS]
        self._schemes = {"https": ":443"} if secure else {"http": ":80", "https": ":443"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the ASGI specification."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        address = address_of(scope)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *self._headers]
                await self._slow_down(address, message["status"])
            await send(message)

        scope["headers"] = [(name, _plain(value) if name == b"cookie" else value) for name, value in scope["headers"]]
        headers = dict(scope["headers"])
        largest = self._largest
        if self._largest_for is not None and scope["method"] == "POST":
            largest = await self._largest_for(scope["path"], headers.get(b"cookie", b"").decode("latin-1"))
        refused = self._refusal(scope, headers, largest)
        if [name for name, _ in scope["headers"]].count(b"host") > 1:
            refused = 400, "The request names two servers."
        if refused is None and scope["method"] not in {"GET", "HEAD"}:
            try:
                body = await _body(receive, largest)
            except EOFError:
                return  # nobody waits for a response, and a truncated form must not be read as a form
            if body is None:
                refused = 413, f"The request is larger than {largest:,} bytes."
            else:
                scope[BODY] = body
        if refused is None:
            await self._app(scope, receive, with_headers)
        else:
            # The connection stays open: closing it while a large body arrives would discard this response.
            response = self._worded(*refused, script=headers.get(b"accept") == b"application/json")
            await response(scope, receive, with_headers)

    async def _slow_down(self, address: str, status: int) -> None:
        """Let an address wait for a refusal where it gets many: refusing costs time as well."""
        if 400 <= status < 500:
            if self._refused.exceeded(address):
                await asyncio.sleep(PAUSE)
            self._refused.record(address)

    def _refusal(self, scope: Scope, headers: dict[bytes, bytes], largest: int) -> tuple[int, str] | None:
        host = headers.get(b"host", b"").decode("latin-1")
        if not self._known(host):
            return 421, "This server does not have that name. Whoever started it can add the name."
        if len(scope["query_string"]) > LONGEST_QUERY:
            return 413, f"The address is longer than {LONGEST_QUERY:,} bytes."
        reads = scope["method"] in {"GET", "HEAD"}
        if self._is_foreign(headers, host) and not (reads and self._may_reach(scope["path"], headers)):
            return 403, NOT_OURS
        if reads:
            return None
        size = headers.get(b"content-length", b"0")
        if not size.isdigit() or len(size) > 9 or int(size) > largest:
            return 413, f"The request is larger than {largest:,} bytes."
        return None

    def _is_foreign(self, headers: dict[bytes, bytes], host: str) -> bool:
        """Return True if a browser says that a request comes from a page of another site."""
        origin = headers.get(b"origin")
        if origin is not None and not self._ours(origin.decode("latin-1"), host):
            return True
        return headers.get(b"sec-fetch-site", b"none") not in {b"same-origin", b"none"}

    def _may_reach(self, path: str, headers: dict[bytes, bytes]) -> bool:
        """Return True if a page of another site may lead to a path: by a link to a page, not by a script or a frame."""
        if path in self._reachable.anywhere:
            return True
        if b"origin" in headers or headers.get(b"sec-fetch-mode", b"navigate") != b"navigate":
            return False
        return headers.get(b"sec-fetch-dest", b"document") == b"document" and self._reachable.linked(path)

    def _ours(self, origin: str, host: str) -> bool:
        """Return True if an origin is this server: scheme, host and port must agree with the request."""
        scheme, _, place = origin.lower().partition("://")
        port = self._schemes.get(scheme)  # the default port, which browsers omit
        return port is not None and place.removesuffix(port) == host.lower().removesuffix(port)

    def _is_known(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name in self._names:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


def _plain(cookies: bytes) -> bytes:
    """The cookies without those that have backslashes, for which Starlette takes quadratic time; none of ours does."""
    return cookies if b"\\" not in cookies else b";".join(one for one in cookies.split(b";") if b"\\" not in one)


async def _body(receive: Receive, largest: int) -> bytes | None:
    """Receive the whole body; None where it is too large.

    Raises:
        EOFError: The client has gone, or was too slow.
    """
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise EOFError
        part = message.get("body", b"")
        size += len(part)
        if size > largest:
            return None
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)
