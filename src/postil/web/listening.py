"""A listening socket, and the server that answers on it within limits."""

from __future__ import annotations

import math
import os
import socket
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

import uvicorn

from postil.errors import PostilError
from postil.web.connections import ConnectionLimits, LimitedProtocol
from postil.web.security import refusal_parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import ASGIApp

    from postil.web.security import Worded

__all__ = ["listen", "make_server"]

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


def make_server(
    app: ASGIApp,
    *,
    secure: bool = False,
    limits: ConnectionLimits = LIMITS,
    worded: Worded = refusal_parts,
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
        log_level="warning",
        access_log=False,  # the URL of an invitation contains its token
        server_header=False,
        proxy_headers=secure,
        timeout_keep_alive=math.ceil(limits.idle_seconds),
        timeout_graceful_shutdown=grace,
    )
    return uvicorn.Server(config)
