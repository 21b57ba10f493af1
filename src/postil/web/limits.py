"""Limits of requests: a token bucket per client."""

from __future__ import annotations

import ipaddress
import math
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["RequestLimits", "client_key"]

MINUTE: Final = 60.0
CLIENT_BITS: Final = 64
"""Length of the network that one client of IPv6 has, and with it 2^64 addresses."""


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
