"""Turns of requests: clients take turns, however many requests each sent; what nobody waits for is given up.

A queue in the order of arrival belongs to whoever sends most, and limits per minute do not help where a few slow
requests have all workers.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict, deque
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, TypeVar, cast

from postil.errors import PostilError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from postil.web.security import Worded

__all__ = ["CLIENT", "FairLine", "FairQueue", "Gate", "NoTurn", "Place"]

T = TypeVar("T")

LONGEST_REST: Final = 5.0
"""Longest rest of a client, in seconds."""

CLIENT: Final[ContextVar[str]] = ContextVar("postil_client", default="")
"""The client for whom a task works: a token, a session or an address; empty for work of the server itself."""


class NoTurn(PostilError):  # noqa: N818 - says what has happened
    """Error that refuses a request which got no turn; it was not begun.

    Args:
        status: HTTP status: 429 where the client has too many requests, 503 where the server has.
        problem: The problem, and what to do.
    """

    def __init__(self, status: int, problem: str) -> None:
        self.status = status
        super().__init__(problem)


class FairLine(Generic[T]):
    """Line of things by client: clients take turns, and what one client has comes in its order.

    >>> line = FairLine[int]()
    >>> for client, thing in (("a", 1), ("a", 2), ("a", 3), ("b", 4)):
    ...     line.add(client, thing)
    >>> [line.take(), line.take(), line.take(lambda client, _: client != "a"), line.take(), len(line)]
    [('a', 1), ('b', 4), None, ('a', 2), 1]
    """

    def __init__(self) -> None:
        self._lines: OrderedDict[str, deque[T]] = OrderedDict()  # the client whose turn is next comes first

    def __len__(self) -> int:
        return sum(map(len, self._lines.values()))

    def waiting(self, client: str) -> int:
        """Number of things of a client.

        Args:
            client: The client.
        """
        return len(self._lines.get(client, ()))

    def add(self, client: str, thing: T, *, first: bool = False) -> None:
        """Let something wait.

        Args:
            client: The client.
            thing: The thing.
            first: True for what was begun before: it is next.
        """
        line = self._lines.setdefault(client, deque())
        if first:
            line.appendleft(thing)
            self._lines.move_to_end(client, last=False)
        else:
            line.append(thing)

    def take(self, may: Callable[[str, T], bool] = lambda *_: True) -> tuple[str, T] | None:
        """Take what is next, with its client; None where nothing may be taken.

        Args:
            may: Function of a client and its first thing that tells if it may be taken.
        """
        for client, line in self._lines.items():
            if may(client, line[0]):
                found = line.popleft()
                self._lines.move_to_end(client)
                if not line:
                    del self._lines[client]
                return client, found
        return None

    def discard(self, client: str, thing: T) -> None:
        """Remove something, if it is there.

        Args:
            client: The client.
            thing: The thing.
        """
        line = self._lines.get(client)
        if line is not None and thing in line:
            line.remove(thing)
            if not line:
                del self._lines[client]

    def shed(self) -> T:
        """Remove what came last of the client that has most; of several such clients, of the one that came last."""
        client = max(reversed(self._lines), key=self.waiting)
        found = self._lines[client].pop()
        if not self._lines[client]:
            del self._lines[client]
        return found

    def clear(self) -> list[T]:
        """Remove and return everything."""
        found = [thing for line in self._lines.values() for thing in line]
        self._lines.clear()
        return found


class FairQueue:
    """A limit on the number of requests at once, for all clients together and for each of them.

    Args:
        at_once: Largest number of requests that are answered at once.
        each: Largest number of those of one client.
        line: Largest number of requests of one client that wait.
        patience: Seconds that a request waits.
        rest: Seconds of rest after each second of a client's request, before its next one; for what is computed in the
            process that answers all, where a few connections without a pause would slow every other client down.

    >>> async def scenario() -> list[str]:
    ...     queue, order = FairQueue(2, each=1, line=2, patience=5.0), []
    ...
    ...     async def ask(client: str) -> None:
    ...         try:
    ...             async with queue.turn(client):
    ...                 order.append(client)
    ...                 await asyncio.sleep(0.01)
    ...         except NoTurn as error:
    ...             order.append(f"{client}: {error.status}")
    ...
    ...     await asyncio.gather(*map(ask, ["a", "a", "a", "a", "b"]))
    ...     return order
    >>> asyncio.run(scenario())
    ['a', 'a: 429', 'b', 'a', 'a']
    """

    def __init__(self, at_once: int, *, each: int, line: int, patience: float, rest: float = 0.0) -> None:
        self._at_once, self._each, self._line, self._patience, self._rest = at_once, each, line, patience, rest
        self._working = 0
        self._held = Counter[str]()  # by clients, also by those that rest
        self._waiting = FairLine[asyncio.Future[None]]()

    @asynccontextmanager
    async def turn(self, client: str) -> AsyncIterator[None]:
        """Wait for a turn, and hold it.

        Args:
            client: The client.

        Raises:
            NoTurn: The client has too many requests, or this one has waited too long.
        """
        if self._waiting.waiting(client) >= self._line:
            raise NoTurn(429, f"{self._line} requests of yours wait already; send fewer at once")
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(client, future)
        self._hand_out()
        try:
            async with asyncio.timeout(self._patience):
                await future
        except BaseException as error:
            self._waiting.discard(client, future)
            if future.done() and not future.cancelled():  # it was given the turn meanwhile
                self._give_back(client)
            if isinstance(error, TimeoutError):
                raise NoTurn(503, f"the server was busy for {self._patience:g} s; try again in a moment") from None
            raise
        began = time.monotonic()
        try:
            yield
        finally:
            self._give_back(client, time.monotonic() - began)

    def _hand_out(self) -> None:
        while self._working < self._at_once:
            found = self._waiting.take(lambda client, _: self._held[client] < self._each)
            if found is None:
                return
            client, future = found
            if not future.done():  # its request may have been given up just now
                self._working += 1
                self._held[client] += 1
                future.set_result(None)

    def _give_back(self, client: str, took: float = 0.0) -> None:
        self._working -= 1
        if self._rest:
            asyncio.get_running_loop().call_later(min(LONGEST_REST, self._rest * took), self._rested, client)
            self._hand_out()
        else:
            self._rested(client)

    def _rested(self, client: str) -> None:
        self._held[client] -= 1
        if not self._held[client]:
            del self._held[client]
        self._hand_out()


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a request.

    Args:
        client: The client who sent it.
        queue: The queue that it waits in; None if it needs no turn.
        stoppable: True if it can be stopped when its client has gone, as it changes nothing and holds no thread.
            Others are given up as long as they wait, and end once they were begun.
    """

    client: str
    queue: FairQueue | None = None
    stoppable: bool = False


class Gate:
    """ASGI middleware that lets clients take turns; the body has been received before.

    Args:
        app: The wrapped application.
        place_of: Function that finds the place of a request; None for one that is answered at once.
        worded: Function that words refusals.
    """

    def __init__(self, app: ASGIApp, place_of: Callable[[Scope], Awaitable[Place | None]], worded: Worded) -> None:
        self._app, self._place_of, self._worded = app, place_of, worded

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the ASGI specification."""
        place = await self._place_of(scope) if scope["type"] == "http" else None
        if place is None:
            await self._app(scope, receive, send)
            return
        begun, task = asyncio.Event(), cast("asyncio.Task[None]", asyncio.current_task())
        gone = asyncio.ensure_future(_disconnected(receive))

        def leave(_: object) -> None:
            if place.stoppable or not begun.is_set():
                task.cancel()

        async def left() -> Message:
            await asyncio.shield(gone)
            return {"type": "http.disconnect"}

        gone.add_done_callback(leave)
        try:
            await self._answer(place, begun, scope, left, _going(gone, send))
        except asyncio.CancelledError:
            if not gone.done() or task.uncancel():  # the server itself is being stopped
                raise
        finally:
            gone.remove_done_callback(leave)
            gone.cancel()

    async def _answer(self, place: Place, begun: asyncio.Event, scope: Scope, receive: Receive, send: Send) -> None:
        CLIENT.set(place.client)
        async with AsyncExitStack() as held:
            try:
                if place.queue is not None:
                    await held.enter_async_context(place.queue.turn(place.client))
            except NoTurn as refusal:
                accept = dict(scope["headers"]).get(b"accept")
                response = self._worded(refusal.status, f"{refusal}", script=accept == b"application/json")
                response.headers["retry-after"] = "1"
                await response(scope, receive, send)
                return
            begun.set()
            await self._app(scope, receive, _sender(held, send))


def _going(gone: asyncio.Future[None], send: Send) -> Send:
    """Function that sends the parts of a response while there is somebody who gets them, and then ends the work."""

    async def sent(message: Message) -> None:
        if message.get("more_body", False) and gone.done():
            raise asyncio.CancelledError
        await send(message)

    return sent


def _sender(held: AsyncExitStack, send: Send) -> Send:
    """Function that ends the turn before the last part of a response is sent, which its client may never read."""
    starts: list[Message] = []

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            starts.append(message)
            return
        if not message.get("more_body", False):
            await held.aclose()
        while starts:
            await send(starts.pop())
        await send(message)

    return sent


async def _disconnected(receive: Receive) -> None:
    """Wait until the client has gone; what else it sends is nothing that was asked for."""
    while (await receive())["type"] != "http.disconnect":
        pass
