"""A listening socket, the server on it, and limits on clients: sizes, times, number of connections."""

from __future__ import annotations

import math
import os
import socket
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from postil.data.hosts import is_loopback
from postil.errors import PostilError
from postil.messages import Message, Setting
from postil.web.security import HEADERS, LARGEST, Worded, refusal

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterator

    from starlette.types import ASGIApp
    from uvicorn.server import ServerState


__all__ = ["ConnectionLimits", "LimitedProtocol", "listen", "make_server", "tell_unencrypted"]

ENCODED: Final = 4
"""Maximum size of a body as transferred, with chunk sizes, chunk extensions and trailers, by that of the body."""

PIPELINED: Final = 8
"""Maximum number of requests that wait on a connection for the responses to earlier ones. Browsers send none."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Limits of connections.

    Args:
        body_bytes: Maximum size of a body, in bytes.
        head_bytes: Maximum size of the request line with all headers, in bytes.
        headers: Maximum number of headers, and of trailers.
        head_seconds: Time for the whole head, from the connection or from its first byte on.
        body_seconds: Time for the whole body.
        idle_seconds: Time between two requests, and time without progress for a response that is not read.
        linger_seconds: Time for a client to read a refusal, while further data are dropped.
        connections: Maximum number of connections.
        per_address: Maximum number of connections from one address; None behind a proxy, which has one address.
        tick: Time between two checks of a connection, in seconds.
    """

    body_bytes: int = LARGEST
    head_bytes: int = 64 * 1024
    headers: int = 100
    head_seconds: float = 10.0
    body_seconds: float = 30.0
    idle_seconds: float = 30.0
    linger_seconds: float = 2.0
    connections: int = 512
    per_address: int | None = 128
    tick: float = 1.0


_IDLE, _HEAD, _BODY, _OVER = range(4)
"""Phases of a connection: before a request, within its head, within its body, and refused."""


class LimitedProtocol(HttpToolsProtocol):
    """HTTP/1.1 of uvicorn and httptools, within limits.

    httptools buffers incomplete data of any length, and uvicorn waits for the rest forever. So bytes are counted before
    they are parsed, and one timer per connection checks its phase: a request then needs no timer of its own.

    Args:
        limits: The limits.
        worded: Function that words refusals.
        config: Configuration of uvicorn.
        server_state: State that the connections of a server share.
        app_state: State of the application.
        _loop: The event loop.
    """

    def __init__(
        self,
        limits: ConnectionLimits,
        worded: Worded,
        config: uvicorn.Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._limits, self._worded = limits, worded
        self._now = self.loop.time
        self._phase, self._since = _IDLE, 0.0
        self._room = limits.head_bytes  # number of bytes that may still come in this phase
        self._patience = limits.head_seconds  # time until a request begins; a silent client gets no response
        self._unsent, self._moved = 0, 0.0
        self.headers = []

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        """Accept a connection, or refuse it if there are too many."""
        super().connection_made(transport)
        self._since = self._now()
        self._timer = self.loop.call_later(self._limits.tick, self._check_phase)
        each = self._limits.per_address
        if len(self.connections) > self._limits.connections or (
            each is not None and sum(self._is_neighbor(one) for one in self.connections) > each
        ):
            # Without lingering: a client with too many connections gets no time for each.
            self._phase = _OVER
            transport.write(self._refusal(503, "There are too many connections. Try again in a moment."))
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer as well."""
        self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse as many bytes as the phase of the request may have; see `asyncio.Protocol`."""
        while data and self._phase != _OVER:
            part, data = (data, b"") if len(data) <= self._room else (data[: self._room], data[self._room :])
            self._room -= len(part)  # a callback that begins another phase sets it anew
            super().data_received(part)
            if not self._room or len(self.headers) > self._limits.headers:
                self._refuse_size()

    def on_message_begin(self) -> None:
        """See httptools."""
        super().on_message_begin()
        self._phase, self._since = _HEAD, self._now()

    def on_headers_complete(self) -> None:
        """See httptools."""
        if len(self.headers) > self._limits.headers:
            self._refuse_size()
            raise ValueError("too many headers")  # ends the parser
        super().on_headers_complete()
        self.headers = []  # for trailers, which the application must not take for headers
        self._phase, self._since, self._room = _BODY, self._now(), ENCODED * self._limits.body_bytes
        if len(self.pipeline) > PIPELINED:
            self._refuse(400, "")
            raise ValueError("too many requests wait")

    def on_message_complete(self) -> None:
        """See httptools."""
        super().on_message_complete()
        self._phase, self._room = _IDLE, self._limits.head_bytes

    def on_response_complete(self) -> None:
        """Start the idle time between two requests."""
        super().on_response_complete()
        if self._phase == _IDLE:
            self._since, self._patience = self._now(), self._limits.idle_seconds

    def send_400_response(self, msg: str) -> None:
        """Refuse a request that cannot be parsed."""
        self._refuse(400, msg)

    def shutdown(self) -> None:
        """End connections that would delay the shutdown of the server; see uvicorn."""
        if self._phase in {_HEAD, _BODY}:
            self._refuse(503, "The server has been stopped. Try again in a moment.")
        if self._phase == _OVER:
            self.transport.close()
        else:
            super().shutdown()

    def _is_neighbor(self, other: Any) -> bool:
        return other.client is not None and self.client is not None and bool(other.client[0] == self.client[0])

    def _check_phase(self) -> None:
        """End a connection whose phase takes too long."""
        self._timer = self.loop.call_later(self._limits.tick, self._check_phase)
        now, unsent = self._now(), self.transport.get_write_buffer_size()
        waited = now - self._since
        if unsent != self._unsent:
            self._unsent, self._moved = unsent, now
        elif unsent and now - self._moved > self._limits.idle_seconds:
            self.transport.abort()
        elif self._phase == _OVER:
            if waited > self._limits.linger_seconds:
                self.transport.abort()
        elif self._phase == _BODY:
            if waited > self._limits.body_seconds:
                self._refuse(408, f"The request took longer than {self._limits.body_seconds:g} s. Send it again.")
        elif self._phase == _HEAD:
            if waited > self._limits.head_seconds:
                self._refuse(408, f"The request took longer than {self._limits.head_seconds:g} s. Send it again.")
        elif not self._pending() and waited > self._patience:
            self.transport.close()

    def _pending(self) -> bool:
        """True while a response is due to a request whose head is complete."""
        cycle: Any = self.cycle
        return cycle is not None and not cycle.response_complete

    def _refuse_size(self) -> None:
        if self._phase == _BODY:
            self._refuse(413, f"The request is larger than {self._limits.body_bytes:,} bytes.")
        else:
            most = f"{self._limits.head_bytes:,} bytes, or has more than {self._limits.headers} headers"
            self._refuse(431, f"The head of the request is larger than {most}. Delete this server's cookies.")

    def _refuse(self, status: int, text: str) -> None:
        """Refuse an incomplete request with a reason; the application never sees it.

        The connection is closed only after the client has closed it, or after a while: closing it while data arrive
        would make the operating system discard the response.
        """
        if self._phase == _OVER or self.transport.is_closing():
            return
        body, pending = self._phase == _BODY, self._pending()
        self._phase, self._since = _OVER, self._now()
        if self.pipeline or (pending and (not body or self.cycle.response_started)):
            self.transport.abort()  # another response is due first
            return
        if pending:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if pending or not body:  # else the request was answered already
            self.transport.write(self._refusal(status, text))
        self.flow.resume_reading()
        self.transport.write_eof()

    def _refusal(self, status: int, text: str) -> bytes:
        scope: Any = self.scope  # None before the first request
        script = scope is not None and (b"accept", b"application/json") in scope["headers"]
        response = self._worded(status, text, script=script)
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}".encode()]
        lines += [b": ".join(header) for header in (*response.raw_headers, *HEADERS, (b"connection", b"close"))]
        return b"\r\n".join([*lines, b"", bytes(response.body)])


LIMITS: Final = ConnectionLimits()
"""Default limits on connections."""


@contextmanager
def listen(host: str, port: int) -> Iterator[tuple[socket.socket, str]]:
    """Listen on an address; give the socket and the URL.

    Args:
        host: Address, or name of a host.
        port: Port; 0 for a free one.

    Raises:
        PostilError: The port is taken, or there is no such address.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=256)
    except OSError as error:
        why = os.strerror(error.errno) if isinstance(error.errno, int) and error.errno > 0 else str(error)
        raise PostilError(f"cannot listen on {host}, port {port}: {why}") from None
    with listening:
        shown = f"[{host}]" if ":" in host else host
        yield listening, f"http://{shown}:{listening.getsockname()[1]}"


def tell_unencrypted(listening: socket.socket, on_message: Callable[[str], None], *, secure: bool) -> None:
    """Warn where other machines reach a server that speaks HTTP, and no reverse proxy is known to encrypt it.

    Args:
        listening: Socket of the server.
        on_message: Callback for the warning.
        secure: True if the server is behind a reverse proxy that speaks HTTPS.
    """
    address = str(listening.getsockname()[0]).partition("%")[0]
    if not secure and not is_loopback(address):
        on_message(
            Message(
                "other machines reach this address by HTTP: passwords, tokens and texts travel unencrypted, unless a "
                "reverse proxy in front speaks HTTPS; {https} says that one does",
                https=Setting("https"),
            )
        )


def make_server(
    app: ASGIApp,
    *,
    secure: bool = False,
    limits: ConnectionLimits = LIMITS,
    worded: Worded = refusal,
    grace: int = 3,
) -> uvicorn.Server:
    """Make the server of an application.

    Args:
        app: The application.
        secure: True if it is behind a reverse proxy that speaks HTTPS and limits connections itself.
        limits: Limits on connections.
        worded: Function that words refusals.
        grace: Seconds that requests have to end when the server is stopped.
    """
    if secure:
        limits = replace(limits, per_address=None)
    config = uvicorn.Config(
        app,
        http=partial(LimitedProtocol, limits, worded),  # type: ignore[arg-type]  # it is called only
        ws="none",
        log_config=None,  # uvicorn's would close the handlers of all loggers of the process
        log_level="warning",
        access_log=False,  # the URL of an invitation contains its token
        server_header=False,
        proxy_headers=secure,
        timeout_keep_alive=math.ceil(limits.idle_seconds),
        timeout_graceful_shutdown=grace,
    )
    return uvicorn.Server(config)
