"""Hosts: which of them are this machine."""

from __future__ import annotations

from contextlib import suppress
from ipaddress import ip_address

__all__ = ["is_loopback"]


def is_loopback(host: str) -> bool:
    """True if a host is this machine.

    Args:
        host: Its name or address.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("localhost.web.org")
    (True, True, True, False)
    """
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"
