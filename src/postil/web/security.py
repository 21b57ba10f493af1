"""What keeps strangers and accidents out: hosts, origins, sizes, headers, tokens against forged forms, limits."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import time
from collections import deque
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["BODY", "HEADERS", "LARGEST", "RateLimiter", "SecurityMiddleware", "csrf_of", "refusal_parts", "same"]

BODY: Final = "postil.body"
"""Where in the scope the body of a request stands for the pages."""

LARGEST: Final = 64 * 1024
"""The largest body of a request, in bytes."""

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


def csrf_of(token: str) -> str:
    """The token that a form carries: only who can read the page, and so is signed in, knows it.

    Args:
        token: The secret in the cookie, which scripts cannot read.
    """
    return hashlib.sha256(b"postil form " + token.encode()).hexdigest()


def same(one: str, other: str) -> bool:
    """Whether two secrets are the same, in a time that does not tell how far they are.

    Args:
        one: A secret.
        other: Another.
    """
    return hmac.compare_digest(one.encode(), other.encode())


class RateLimiter:
    """At most so many failures in so many seconds for each key.

    Args:
        most: How many.
        seconds: In how long a time.
        clock: Tells the time.

    >>> limit = RateLimiter(2, 60, clock=lambda: 0.0)
    >>> [limit.reached("a"), limit.count("a"), limit.count("a"), limit.reached("a"), limit.reached("b")]
    [False, None, None, True, False]
    """

    KEYS: Final = 10_000

    def __init__(self, most: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._seconds, self._clock = most, seconds, clock
        self._times: dict[str, deque[float]] = {}
        self._lock = Lock()

    def reached(self, key: str) -> bool:
        """Whether there have been too many.

        Args:
            key: Whose.
        """
        with self._lock:
            times = self._times.get(key, deque())
            while times and times[0] <= self._clock() - self._seconds:
                times.popleft()
            return len(times) >= self._most

    def count(self, key: str) -> None:
        """There was another.

        Args:
            key: Whose.
        """
        with self._lock:
            if len(self._times) >= self.KEYS:
                self._times.clear()
            self._times.setdefault(key, deque(maxlen=self._most)).append(self._clock())


class SecurityMiddleware:
    """Stands before the pages: looks at host, origin and size of every request, and puts headers on every answer.

    A name that is not known is refused, so that no page elsewhere can reach this one by a name of its own for this
    address (DNS rebinding). An address in digits cannot be had that way.

    Args:
        app: What it stands before.
        names: The names of this server.
        secure: Whether it is reached by https.
    """

    def __init__(self, app: ASGIApp, names: Iterable[str], *, secure: bool = False) -> None:
        self._app = app
        self._known = lru_cache(maxsize=64)(self._is_known)
        self._names = {name.lower() for name in names}
        self._headers = [*HEADERS, HTTPS_ONLY] if secure else [*HEADERS]
        self._schemes = {"https": ":443"} if secure else {"http": ":80", "https": ":443"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the ASGI specification."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *self._headers]
            await send(message)

        headers = dict(scope["headers"])
        refusal = self._refusal(scope["method"], headers)
        if [name for name, _ in scope["headers"]].count(b"host") > 1:
            refusal = 400, "The request names two servers."
        if refusal is None and scope["method"] not in {"GET", "HEAD"}:
            try:
                body = await _body(receive)
            except EOFError:
                return  # nobody waits for an answer, and a part of a form is no form
            if body is None:
                refusal = 413, f"The request is larger than {LARGEST:,} bytes."
            else:
                scope[BODY] = body
        if refusal is None:
            await self._app(scope, receive, with_headers)
        else:
            await _say(with_headers, *refusal, script=headers.get(b"accept") == b"application/json")

    def _refusal(self, method: str, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        host = headers.get(b"host", b"").decode("latin-1")
        if not self._known(host):
            return 421, "This server does not go by that name. Whoever started it can add the name."
        if method in {"GET", "HEAD"}:
            return None
        stranger = b"origin" in headers and not self._ours(headers[b"origin"].decode("latin-1"), host)
        if stranger or headers.get(b"sec-fetch-site", b"none") not in {b"same-origin", b"none"}:
            return 403, "The request comes from a page of another site, or by another address. Load the page again."
        size = headers.get(b"content-length", b"0")
        if not size.isdigit() or len(size) > 9 or int(size) > LARGEST:
            return 413, f"The request is larger than {LARGEST:,} bytes."
        return None

    def _ours(self, origin: str, host: str) -> bool:
        """Return True if an origin is this server: scheme, host and port must agree with the request."""
        scheme, _, place = origin.lower().partition("://")
        port = self._schemes.get(scheme)  # the default one, which browsers leave out
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


def refusal_parts(text: str, *, script: bool) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """Headers and body of an answer that says why a request is refused.

    Args:
        text: Why, in a sentence.
        script: True if a script asks, which wants JSON.
    """
    kind = b"application/json" if script else b"text/plain; charset=utf-8"
    body = (json.dumps({"problem": text}) if script else f"{text}\n").encode()
    return [(b"content-type", kind), (b"content-length", b"%d" % len(body))], body


async def _body(receive: Receive) -> bytes | None:
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
        if size > LARGEST:
            return None
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


async def _say(send: Send, status: int, text: str, *, script: bool) -> None:
    # The connection stays open: to close it while a large body comes in would discard this answer.
    headers, body = refusal_parts(text, script=script)
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
