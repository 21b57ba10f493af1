"""Route of the article of a page: the page is fetched here, and read by a worker."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from postil.app.service.requests import ArticleRequest, decoded
from postil.app.service.responses import ArticleResponse
from postil.endpoint.page_fetch import fetch_page
from postil.records.encodings import told_encoding
from postil.records.ids import plain_id
from postil.text.html_article import decoded_html
from postil.web.fair_line import CLIENT, FairQueue
from postil.web.service.routing import Reply, Route, reply

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from postil.endpoint.page_fetch import Page
    from postil.web.service.pool import WorkerPool
    from postil.web.service.routing import Call

__all__ = ["article_route"]

FETCHES: Final = 8
"""Largest number of pages that are fetched at a time; further ones wait."""

EACH: Final = 4
"""Largest number of those that one client asks for."""

PATIENCE: Final = 30.0
"""Seconds that a page waits to be fetched: twice as long as one takes at most."""


def article_route(pool: WorkerPool, fetch: Callable[[str], Awaitable[Page]] = fetch_page) -> Route:
    """The route.

    Args:
        pool: The workers.
        fetch: Function that fetches a page.
    """
    turns = FairQueue(FETCHES, each=EACH, line=2 * EACH, patience=PATIENCE)

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
        return reply(replace(msgspec.json.decode(article, type=ArticleResponse), notes=notes))

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
