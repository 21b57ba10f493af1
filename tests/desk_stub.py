"""A service for the desk without models: it answers what a test tells it, and stores labels as the real one does."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
from typing import TYPE_CHECKING, Any

import uvicorn

from postil.data.rows import Article, Comment
from postil.data.suggestions import LABEL
from postil.service.desk import ArticleList, Desk
from postil.service.options import ServiceOptions
from postil.service.routes import Telemetry, store_routes
from postil.service.server import application
from postil.service.store import ServiceStore
from postil.web.guard import Guard
from postil.web.routing import Route, reply
from postil.web.security import RequestLimits

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from starlette.responses import Response

    from postil.data.rows import Decision
    from postil.data.suggestions import Label
    from postil.web.problems import Problem
    from postil.web.routing import Call
    from postil.web.tokens import Tokens

EVIL = '<img src=x onerror="window.hacked = 1"><script>window.hacked = 1</script>'
STORY = (
    "The pass was closed at noon. \U0001f328\ufe0f\U0001f328\ufe0f Drivers waited for hours in the snow on the pass.\n"
    "\n"
    f"A baker brought bread. {EVIL} The pass opens again when the snow on the pass is cleared."
)
COMMENTS = (
    Comment("c1", "Bring a coat.", upvotes=8, date="2024-01-03T10:00:00Z"),
    Comment("c2", f"Who clears it? {EVIL}", upvotes=3, date="2024-01-04T10:00:00Z"),
    Comment("c3", "bring a coat", upvotes=1, date="2024-01-05T10:00:00Z"),
)
ARTICLES = (
    Article("a1", "Snow closes the pass", COMMENTS, STORY, category="weather", lang="en", date="2024-01-02T08:00:00Z"),
    Article(
        "a2", f"A title {EVIL}", (), None, category=EVIL, url="javascript:window.hacked=1", date="2020-12-02T08:00:00Z"
    ),
    Article(
        "a3",
        "山口因雪封闭",
        (),
        "中午，山口封闭。司机在雪中等了几个小时。山口的雪清除后，山口重新开放。",
        lang="zh",
        date="2020-12-01T08:00:00Z",
    ),
)
SPLITS = {"sentences": r"[^\s.。][^.。\n]*[.。]?", "paragraphs": r"\S[^\n]*"}


def source(**fields: object) -> dict[str, Any]:
    return {"article": "t1", "comment": "9"} | fields


def suggestion(rank: int, text: str, *sources: dict[str, Any], **fields: Any) -> dict[str, Any]:
    provenance = {"label": f"{LABEL}: a reader's comment found under another article", "method": "retrieved"}
    provenance |= {"model": "ir-tc", "model_hash": "8d0c", "sources": list(sources), "overlap": None}
    provenance |= fields.pop("provenance", {})
    return {"text": text, "score": 1 / rank, "rank": rank, "probability": None, "provenance": provenance} | fields


SUGGESTIONS = [
    suggestion(
        1,
        "Leave the car at home.",
        source(title="Ice on the road", url="https://news.example/ice", date="2023-12-01T09:00:00Z", upvotes=65),
        source(article="t2", title="More ice"),
        probability=0.62,
    ),
    suggestion(2, f"=1+1 {EVIL}", source(title=EVIL, url="javascript:window.hacked=1", upvotes=1)),
    suggestion(
        3,
        "Snow again, and nobody is surprised.",
        provenance={
            "method": "generated",
            "label": LABEL,
            "overlap": {"span": "nobody is surprised", "words": 3, "source": source(title="Hail")},
        },
    ),
]
MODELS = [
    {"name": "forum", "kind": "ir-tc", "hash": "8d0c", "operations": ["suggest", "rank"], "default": True},
    {"name": "news", "kind": "ir-t", "hash": "91ab", "operations": ["suggest", "rank"], "default": False},
    {"name": "votes", "kind": "quality", "hash": "77aa", "operations": ["rank", "screen"], "default": True},
]

POINTS = [
    {"coverage": share, "threshold": 0.5, "precision": precision, "low": precision - 0.2, "high": precision + 0.1}
    | {"pooled": precision, "articles": round(40 * share)}
    for share, precision in ((0.3, 0.8), (0.6, 0.8), (1.0, 0.5))
]
"""Points of a calibration."""


class DeskStub:
    """The desk with its store, and operations that tests set.

    Args:
        folder: Folder of the store.
        articles: Articles to choose from.
        tokens: Tokens; None for an open service.
    """

    def __init__(self, folder: Path, articles: tuple[Article, ...] = ARTICLES, tokens: Tokens | None = None) -> None:
        self.folder, self.articles, self.tokens = folder, ArticleList(articles), tokens
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.requests: list[tuple[str, Any]] = []
        self.calibrated: dict[str, Any] | None = None
        self.suggestions, self.filtered, self.reason = SUGGESTIONS, list[dict[str, Any]](), ""
        self.calibration: dict[str, Any] = {}
        self.held: dict[str, dict[str, float]] = {}  # reasons, by the id of a comment that screening would hold
        self.fail: Callable[[str, Any], Problem | None] = lambda _name, _body: None
        self.start()

    def start(self) -> None:
        self.store = ServiceStore.open(self.folder)
        desk = Desk(self.articles, self.tokens, store=self.store)
        operations = {
            "suggest": self._suggest,
            "rank": self._rank,
            "interesting": self._interesting,
            "article": self._article,
            "calibrate": lambda _: self.calibration,
        }
        routes = [
            Route(method="POST", path=f"/v1/{name}", scope=None, handler=self._answering(name, answer), summary="")
            for name, answer in operations.items()
        ]
        routes.append(Route(method="GET", path="/v1/models", scope=None, handler=self._models, summary=""))
        routes += [*desk.routes(), *store_routes(self.store)]
        app = application(routes, Guard(RequestLimits(), self.tokens), ServiceOptions(), Telemetry())
        config = uvicorn.Config(
            app, port=self.port, log_config=None, log_level="error", lifespan="off", timeout_graceful_shutdown=1
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=lambda: asyncio.run(self._server.serve()))
        self._thread.start()
        while not self._server.started:
            assert self._thread.is_alive()

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join()
        self.store.close()

    def labels(self) -> list[Label]:
        return list(self.store.labels())

    def decisions(self) -> list[Decision]:
        return list(self.store.decisions())

    def sent(self, name: str) -> list[Any]:
        return [body for each, body in self.requests if each == name]

    def _answering(self, name: str, answer: Callable[[Any], Any]) -> Callable[[Call], Any]:
        async def handler(call: Call) -> Response:
            body = json.loads(await call.body())
            self.requests.append((name, body))
            if problem := self.fail(name, body):
                raise problem
            return reply(json.dumps(answer(body)).encode())

        return handler

    async def _models(self, call: Call) -> Response:  # noqa: ARG002
        models = [{**one, "calibrated": self.calibrated if one["name"] == "forum" else None} for one in MODELS]
        return reply({"models": models, "version": "1"})

    def _suggest(self, body: Any) -> Any:
        article = body["article"].get("id", "made-up-1")
        shown = {"suggestions": self.suggestions[: body["k"]], "filtered": self.filtered, "reason": self.reason or None}
        return {"article": article, "model": body.get("model", "forum"), "model_hash": "8d0c", **shown}

    def _rank(self, body: Any) -> Any:
        comments = body["article"]["comments"]
        first = {"c3": "c1"}
        return {
            "article": "a1",
            "comments": [
                {"article": "a1", "comment": one["id"], "rank": rank, "score": 1.0, "text": one["text"]}
                | {"reasons": [f"{EVIL} votes"], "same_as": first.get(one["id"])}
                | self._screened(one["id"])
                for rank, one in enumerate(comments, 1)
            ],
        }

    def _screened(self, comment: str) -> dict[str, Any]:
        """The mark of a comment that moderators would hold, with the reasons that begin with it."""
        if comment not in self.held:
            return {}
        held = "moderators would hold it: probability 0.93, for insult 0.80"
        screened = {"probability": 0.93, "decision": "hold", "reasons": self.held[comment]}
        return {"reasons": [held, f"{EVIL} votes"], "screened": screened}

    def _interesting(self, body: Any) -> Any:
        """The passages that name the pass, in their order."""
        text = body["text"]
        spans = [match.span() for match in re.finditer(SPLITS[body["split"]], text)]
        found = [(start, end) for start, end in spans if "the pass" in text[start:end] or "山口" in text[start:end]]
        return {
            "passages": [
                {"rank": rank, "text": " ".join(text[start:end].split()), "start": start, "end": end}
                | {"score": 1.0, "reasons": [{"unit": "pass", "part": 0.5}, {"unit": EVIL, "part": 0.1}]}
                for rank, (start, end) in enumerate(found[: body["k"]], 1)
            ]
        }

    def _article(self, body: Any) -> Any:
        return {"title": "Fetched", "content": "One paragraph. Another one.", "lang": "en", "url": body["url"]}
