"""Options of the service."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from sent_calls import sent_call

from made_retrievers import NEWS, made
from postil.endpoint.page_fetch import Page
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.service.config import ServiceConfig
from postil.service.options import ServiceOptions
from postil.service.routes import article_route

if TYPE_CHECKING:
    from pathlib import Path


def test_workers_filter_and_compute_as_the_options_say(tmp_path: Path) -> None:
    made(tmp_path / "news", NEWS)
    options = ServiceOptions(min_words=2, max_words=9, allow=("code",), jobs=2, metrics=("vector-f1(vectors=v)",))
    config = ServiceConfig.of_folders([f"a={tmp_path / 'news'}"], options)
    assert config.options == options
    assert config.models == {"a": str(tmp_path / "news")}


def test_wrong_options_are_refused(tmp_path: Path) -> None:
    made(tmp_path / "news", NEWS)
    with pytest.raises(InvalidInput, match="nowhere"):
        ServiceConfig.of_folders([str(tmp_path / "news")], ServiceOptions(blocklist="nowhere.txt"))
    with pytest.raises(UsageError, match="jokes"):
        ServiceConfig.of_folders([str(tmp_path / "news")], ServiceOptions(allow=("jokes",)))
    with pytest.raises(UnknownName, match="unknown metric 'vector-f'"):
        ServiceConfig.of_folders([str(tmp_path / "news")], ServiceOptions(metrics=("vector-f(vectors=v)",)))


def test_there_is_a_worker_per_core() -> None:
    assert 1 <= ServiceOptions().worker_count() <= 8
    assert ServiceOptions(workers=3).worker_count() == 3


CHINESE = "港口办公室每天九点开门，四点关门。"
PAGE = "<html lang=en><title>Rain</title><body><article><p>It rained on Ely.</p></article></body></html>"


class Asked:
    """Workers that repeat what they are asked."""

    async def call(self, name: str, request: bytes) -> bytes:
        return json.dumps([name, json.loads(request)]).encode()


def asked(body: dict[str, str], page: Page) -> Any:
    """Request that the workers get, where the page is this one."""

    async def fetch(url: str) -> Page:
        assert url == body["url"]
        return page

    pool: Any = Asked()
    call = sent_call("/v1/article", json.dumps(body).encode())
    found = asyncio.run(_answer(article_route(pool, fetch), call))
    return json.loads(found.body)


async def _answer(route: Any, call: Any) -> Any:
    return await route.handler(call)


def test_a_page_that_is_sent(served: Any) -> None:
    found = served.client.post("/v1/article", json={"html": PAGE})
    assert found.status_code == 200
    assert (found.json().pop("url"), found.json().pop("notes")) == (None, [])
    told = {"title": "Rain", "content": "It rained on Ely.", "lang": "en", "date": None}
    assert told.items() <= found.json().items()


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://127.0.0.1:8000/", "is inside a private network, or this machine"),
        ("http://[::ffff:169.254.169.254]/latest/meta-data/", "is inside a private network, or this machine"),
        ("file:///etc/passwd", "expected an http or https address"),
    ],
)
def test_an_address_inside_is_refused(served: Any, url: str, problem: str) -> None:
    found = served.client.post("/v1/article", json={"url": url})
    assert found.status_code == 422
    assert found.json()["errors"][0]["field"] == "url"
    assert problem in found.json()["detail"]


def test_a_page_that_is_fetched_is_decoded_and_read_by_a_worker() -> None:
    url = "https://ely.example/rain"
    page = Page(url=f"{url}?2", body="Regen für Köln".encode("latin-1"), kind="text/html", charset="iso-8859-1")
    assert asked({"url": url}, page) == ["article", {"url": f"{url}?2", "html": "Regen für Köln", "text": None}]
    page = Page(url=url, body=b"Rain", kind="text/plain", charset=None)
    assert asked({"url": url}, page) == ["article", {"url": url, "html": None, "text": "Rain"}]


@pytest.mark.parametrize(
    ("body", "title", "note"),
    [
        (
            "港口办公室每天九点开门，四点关门。".encode("gbk"),
            "港口办公室每天九点开门，四点关门。",
            "not UTF-8, read as gb18030",
        ),
        ("<meta charset=gbk>雨下了".encode(), "雨下了", "its bytes are UTF-8, read so, though the page says gbk"),
    ],
)
def test_remarks_on_the_encoding_of_a_page_come_back(body: bytes, title: str, note: str) -> None:
    class Reader:
        async def call(self, _: str, request: bytes) -> bytes:
            text = json.loads(request)["html"].removeprefix("<meta charset=gbk>")
            return json.dumps({"title": text, "content": "a", "lang": None, "date": None, "url": None}).encode()

    async def fetch(url: str) -> Page:
        return Page(url=url, body=body, kind="text/html", charset=None)

    pool: Any = Reader()
    call = sent_call("/v1/article", b'{"url": "https://ely.example/rain"}')
    found = json.loads(asyncio.run(_answer(article_route(pool, fetch), call)).body)
    assert (found["title"], found["notes"]) == (title, [note])


def test_a_page_that_is_sent_with_its_address_is_not_fetched() -> None:
    page = Page(url="", body=b"", kind="text/html", charset=None)
    sent = {"url": "https://ely.example/rain", "html": PAGE}
    assert asked(sent, page) == ["article", sent]
