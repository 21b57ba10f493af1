"""Gate of both servers: a request waits for its turn, and is given up when its client has gone."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from postil.web.fair_line import CLIENT, FairQueue, NoTurn

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from postil.web.security import Worded

__all__ = ["Gate", "Place"]

RETRY: Final = (b"retry-after", b"1")


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
                headers, body = self._worded(refusal.status, f"{refusal}", script=accept == b"application/json")
                await send({"type": "http.response.start", "status": refusal.status, "headers": [*headers, RETRY]})
                await send({"type": "http.response.body", "body": body})
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
