"""Paces of clients: who is alone, and known for requests that are quickly done, may have all workers."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Paces"]

BRIEF, SHARE = 0.01, 0.2
"""Share of the time that a request may take up to which it is brief, and of the last request in the mean."""

LATEST: Final = 2
"""Number of clients that are remembered for having asked last: each of them is another one for somebody."""

SLOW: Final = 0.1
"""Share of the time that a request may take from which on it takes long."""


class Paces:
    """Record of clients whose requests took long lately, and of those whose requests did not.

    Args:
        timeout: Seconds that a request may take; as long is remembered that one took long.
        clients: Largest number of clients to remember.
        clock: Function that returns the time, in seconds.

    Attributes:
        slow: Seconds from which on a request takes long.

    >>> paces = Paces(10.0, clock=lambda: 0.0)
    >>> paces.note("a", 0.01), paces.note("b", 3.0)
    (None, None)
    >>> [(paces.is_quick(client), paces.is_slow(client)) for client in ("a", "b", "unknown")]
    [(True, False), (False, True), (False, False)]
    >>> paces.came("a"), paces.is_alone("a"), paces.is_alone("b")
    (None, True, False)
    """

    def __init__(self, timeout: float, *, clients: int = 10_000, clock: Callable[[], float] = time.monotonic) -> None:
        self.slow = SLOW * timeout
        self._timeout, self._clients, self._clock = timeout, clients, clock
        self._until: OrderedDict[str, float] = OrderedDict()  # until when each client is slow
        self._mean: dict[str, float] = {}  # of the time that the last requests of each client took
        self._latest: dict[str, float] = {}  # the two clients that asked last, and when

    def came(self, client: str) -> None:
        """Record that a request came.

        Args:
            client: The client.
        """
        self._latest.pop(client, None)
        self._latest[client] = self._clock()
        if len(self._latest) > LATEST:
            del self._latest[next(iter(self._latest))]

    def is_alone(self, client: str) -> bool:
        """True if no other client sent a request lately.

        Args:
            client: The client.
        """
        since = self._clock() - self._timeout
        return not any(one != client and when > since for one, when in self._latest.items())

    def note(self, client: str, seconds: float) -> None:
        """Record how long a request took.

        Args:
            client: The client.
            seconds: The time, in seconds.
        """
        now = self._clock()
        mean = self._mean.get(client, seconds)
        self._mean[client] = mean + SHARE * (seconds - mean)
        until = now + self._timeout if seconds >= self.slow else min(self._until.get(client, now), now + self._timeout)
        self._until[client] = until
        self._until.move_to_end(client)
        if len(self._until) > self._clients:
            del self._mean[self._until.popitem(last=False)[0]]

    def is_slow(self, client: str) -> bool:
        """True if a request of a client took long lately.

        Args:
            client: The client.
        """
        return self._until.get(client, 0.0) > self._clock()

    def is_brief(self, client: str) -> bool:
        """True if the requests of a client take a hundredth of the time that they may take, or less.

        Args:
            client: The client.
        """
        return self._mean.get(client, 0.0) <= BRIEF * self._timeout

    def is_quick(self, client: str) -> bool:
        """True if there were requests of a client, and none took long lately.

        Args:
            client: The client.
        """
        return client in self._until and not self.is_slow(client)
