"""Requests as handlers get them, without a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.web.routing import Call
from postil.web.security import BODY

if TYPE_CHECKING:
    from collections.abc import Mapping


def sent_call(path: str, body: bytes, headers: Mapping[str, str] | None = None) -> Call:
    """A POST request."""
    sent = [(name.lower().encode(), value.encode("latin-1")) for name, value in (headers or {}).items()]
    return Call({"type": "http", "method": "POST", "path": path, "headers": sent, BODY: body})
