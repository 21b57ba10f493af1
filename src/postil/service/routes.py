"""Routes that the workers answer, and those by which a supervisor sees that the service lives."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import msgspec

from postil.data.encodings import told_encoding
from postil.data.ids import plain_id
from postil.documents.html import decoded_html
from postil.endpoint.page_fetch import fetch_page
from postil.errors import PostilError
from postil.service.operations.requests import ArticleRequest, decoded
from postil.service.operations.responses import ArticleResponse, ModelsResponse
from postil.service.operations.table import OPERATIONS
from postil.web.fair_line import CLIENT, FairQueue
from postil.web.problems import Problem
from postil.web.routing import Reply, Route, reply

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from postil.endpoint.page_fetch import Page
    from postil.service.pool import WorkerPool
    from postil.service.store import ServiceStore
    from postil.web.routing import Call, Handler

__all__ = ["Health", "article_route", "health_routes", "model_routes"]

PATIENCE: Final = 5.0
"""Seconds that threads and store have to answer a supervisor."""

FETCHES: Final = 8
"""Largest number of pages that are fetched at a time; further ones wait."""

EACH: Final = 4
"""Largest number of those that one client asks for."""

FETCHED_WITHIN: Final = 30.0
"""Seconds that a page waits to be fetched: twice as long as one takes at most."""

SUMMARIES = {
    "suggest": "Suggest comments for an article",
    "rank": "Sort the comments of an article",
    "screen": "Tell if a comment should wait for a moderator",
    "score": "Score texts against references",
    "interesting": "Find the most interesting passages of a text",
}
"""Purpose of each operation that has a route."""


class Health(msgspec.Struct, frozen=True):
    """State of the service.

    Args:
        status: ``ok``.
        workers: Number of workers that take requests.
    """

    status: str
    workers: int


def model_routes(pool: WorkerPool) -> list[Route]:
    """Routes of the models.

    Args:
        pool: The workers.
    """

    def operation(name: str) -> Handler:
        async def answer(call: Call) -> Reply:
            return Reply(await pool.call(name, call.body))

        return answer

    async def models(call: Call) -> Reply:  # noqa: ARG001
        if not pool.models:
            raise Problem(503, "the models are being opened; try again in a moment", headers=(("retry-after", "1"),))
        return Reply(pool.models)

    return [
        *(
            Route(
                method="POST",
                path=f"/v1/{name}",
                scope=name,
                handler=operation(name),
                summary=summary,
                request=OPERATIONS[name].request,
                response=OPERATIONS[name].response,
                queue="workers",
            )
            for name, summary in SUMMARIES.items()
        ),
        Route(
            method="GET",
            path="/v1/models",
            scope="any",
            handler=models,
            summary="List the models and what each can do",
            response=ModelsResponse,
            queue="open",
        ),
    ]


def article_route(pool: WorkerPool, fetch: Callable[[str], Awaitable[Page]] = fetch_page) -> Route:
    """The route of the article of a page, which is fetched here and read by a worker.

    Args:
        pool: The workers.
        fetch: Function that fetches a page.
    """
    turns = FairQueue(FETCHES, each=EACH, line=2 * EACH, patience=FETCHED_WITHIN)

    async def answer(call: Call) -> Reply:
        request = decoded(call.body, ArticleRequest)
        if request.url is None or request.html is not None or request.text is not None:
            return Reply(await pool.call("article", call.body))
        async with turns.turn(CLIENT.get()):
            page = await fetch(request.url)
        # In a thread, as telling an encoding that nobody names takes a while.
        text, notes = await asyncio.to_thread(decoded_html, page.body, page.charset, told_encoding)
        plain = page.kind == "text/plain"
        found = ArticleRequest(url=page.url, html=None if plain else text, text=text if plain else None)
        article = await pool.call("article", msgspec.json.encode(found, enc_hook=plain_id))
        if not notes:
            return Reply(article)
        return reply(msgspec.structs.replace(msgspec.json.decode(article, type=ArticleResponse), notes=notes))

    return Route(
        method="POST",
        path="/v1/article",
        scope="desk",
        handler=answer,
        summary="Read the article of a page",
        request=ArticleRequest,
        response=ArticleResponse,
        queue="workers",
    )


def health_routes(pool: WorkerPool, store: ServiceStore | None = None) -> list[Route]:
    """Routes of a supervisor.

    Args:
        pool: The workers.
        store: The store; None where the service has none.
    """
    pulse = _Pulse(store)

    async def alive(call: Call) -> Reply:  # noqa: ARG001
        if problem := await pulse.problem():
            raise Problem(503, problem, headers=(("retry-after", "1"),))
        return reply(Health("ok", len(pool.pids)))

    async def ready(call: Call) -> Reply:
        if not pool.ready:
            raise Problem(503, "no worker is ready; try again in a moment", headers=(("retry-after", "1"),))
        return await alive(call)

    paths = {"/healthz": (alive, "Tell that the service lives"), "/readyz": (ready, "Tell that a worker is ready")}
    return [
        Route(method="GET", path=path, scope=None, handler=handler, summary=summary, response=Health, queue="open")
        for path, (handler, summary) in paths.items()
    ]


class _Pulse:
    """Check that threads and store answer: one at a time, however many supervisors ask."""

    def __init__(self, store: ServiceStore | None) -> None:
        self._look = store.check if store is not None else lambda: None
        self._looking: asyncio.Task[None] | None = None

    async def problem(self) -> str:
        """The problem; empty if all is well."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(asyncio.to_thread(self._look))
        try:
            await asyncio.wait_for(asyncio.shield(self._looking), PATIENCE)
        except TimeoutError:
            return f"requests that need the store have not been answered for {PATIENCE:g} s"
        except PostilError:
            return "the store cannot be read"
        return ""
