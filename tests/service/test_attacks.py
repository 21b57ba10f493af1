"""Attacks on the service while a client is served: its statuses, and who is answered before whom."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("uvicorn", reason="needs the web extra")
pytest.importorskip("httpx2", reason="needs httpx2")

import httpx2

sys.path.insert(0, str(Path(__file__).parent))  # for patient_worker

import patient_worker

from postil.data.rows import Article
from postil.service.config import ServiceConfig
from postil.service.desk import ArticleList
from postil.service.options import ServiceOptions
from postil.service.server import Service
from postil.web.connections import ConnectionLimits, listen, make_server
from postil.web.problems import unseen_refusal
from postil.web.tokens import SCOPES, AddTokenOptions, add_token

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")

QUICK = {"article": {"title": "Rain"}}
OTHER = {"origin": "http://evil.example"}
FOREIGN = ({"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}, OTHER, {"origin": "null"})


@pytest.fixture(autouse=True)
def _patient_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postil.service.pool.open_models", patient_worker.PatientModels)


class Running:
    """A service whose workers answer when they are told to, with two clients."""

    def __init__(self, service: Service, address: str, folder: Path, tokens: list[str]) -> None:
        self.service, self.folder = service, folder
        self.until = {"until": str(folder / "now")}
        self.clients = [
            httpx2.AsyncClient(
                base_url=address, timeout=60, headers={"authorization": f"Bearer {token}"} if token else {}
            )
            for token in tokens
        ]
        self.one, self.other = self.clients

    def slow(self, **more: Any) -> asyncio.Task[Any]:
        """A request of the first client that takes until `release`."""
        return asyncio.create_task(self.one.post("/v1/suggest", json=self.until | more))

    def release(self) -> None:
        (self.folder / "now").touch()

    async def busy(self, workers: int) -> None:
        """Wait until so many workers compute."""
        while len(self.service.pool._busy) != workers:
            await asyncio.sleep(0.01)


@asynccontextmanager
async def running(folder: Path, articles: int = 0, **options: Any) -> AsyncIterator[Running]:
    tokens = []
    if options.pop("open", False):
        tokens = ["", ""]
    else:
        options["tokens"] = str(folder / "tokens.json")
        tokens = [add_token(options["tokens"], name, AddTokenOptions(scopes=SCOPES)) for name in ("one", "other")]
    service = Service(["model"], ServiceOptions(**{"workers": 2, "data": str(folder / "data")} | options))
    service.articles = ArticleList([Article(f"a{n}", f"Rain in town {n}", ()) for n in range(articles)])
    await service.pool.start(ServiceConfig(models={"model": str(folder)}))
    with listen("127.0.0.1", 0) as (listening, address):
        limits = ConnectionLimits(body_bytes=service.options.max_body)
        server = make_server(service.app(), limits=limits, worded=unseen_refusal)
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        here = Running(service, address, folder, tokens)
        try:
            yield here
        finally:
            here.release()
            for client in here.clients:
                await client.aclose()
            server.should_exit = True
            await serving
            await service.pool.stop()
            service.close()


async def served(client: Any, times: int = 9) -> list[int]:
    """Statuses of as many requests at once."""
    asked = (client.post("/v1/suggest", json=QUICK) for _ in range(times))
    return [answer.status_code for answer in await asyncio.gather(*asked)]


@pytest.mark.parametrize("known", [False, True], ids=["unknown", "known as quick"])
@pytest.mark.parametrize("large", [False, True], ids=["small", "large"])
async def test_slow_requests_of_one_token_never_starve_another(tmp_path: Path, *, known: bool, large: bool) -> None:
    async with running(tmp_path, timeout=20.0) as here:
        if known:
            assert await served(here.one, 3) == [200] * 3
        slow = [here.slow(text="x" * 100_000 * large) for _ in range(6)]
        await here.busy(2 if known and not large else 1)
        assert await served(here.other) == [200] * 9
        assert not any(task.done() for task in slow)
        here.release()
        assert [(await task).status_code for task in slow] == [200] * 6


async def test_what_takes_long_is_computed_at_a_lower_priority(tmp_path: Path) -> None:
    async with running(tmp_path, timeout=20.0) as here:
        ours = os.getpriority(os.PRIO_PROCESS, 0)
        pids = {os.getpriority(os.PRIO_PROCESS, pid): pid for pid in here.service.pool.pids}
        assert set(pids) == {ours, min(19, ours + 19)}
        slow = here.slow(text="x" * 100_000)
        await here.busy(1)
        assert [worker.pid for worker in here.service.pool._busy] == [pids[max(pids)]]
        assert await served(here.other) == [200] * 9
        here.release()
        assert (await slow).status_code == 200


async def test_a_client_whose_line_is_full_is_refused_and_others_are_served(tmp_path: Path) -> None:
    async with running(tmp_path, timeout=20.0, queue=8) as here:
        slow = [here.slow() for _ in range(6)]
        await here.busy(1)
        assert await served(here.other, 3) == [200] * 3
        more = [here.slow() for _ in range(9)]
        done, _ = await asyncio.wait(more, return_when=asyncio.FIRST_COMPLETED)
        assert {task.result().status_code for task in done} == {503}, "its own line is full"
        assert await served(here.other, 3) == [200] * 3
        here.release()
        assert {(await task).status_code for task in slow} == {200}
        await asyncio.gather(*more)


async def test_a_full_line_loses_the_requests_of_who_filled_it(tmp_path: Path) -> None:
    async with running(tmp_path, timeout=20.0, workers=1, queue=4) as here:
        slow = [here.slow() for _ in range(5)]
        await here.busy(1)
        while here.service.pool.waiting < 4:
            await asyncio.sleep(0.01)
        asked = asyncio.create_task(here.other.post("/v1/suggest", json=QUICK))
        done, _ = await asyncio.wait(slow, return_when=asyncio.FIRST_COMPLETED)
        assert [task.result().status_code for task in done] == [503]
        assert not asked.done()
        here.release()
        assert (await asked).status_code == 200
        assert sorted([(await task).status_code for task in slow]) == [200] * 4 + [503]


async def test_work_of_a_client_who_has_gone_ends(tmp_path: Path) -> None:
    async with running(tmp_path, timeout=5.0) as here:
        pids = set(here.service.pool.pids)
        slow = [here.slow() for _ in range(6)]
        await here.busy(1)
        while here.service.pool.waiting < 5:
            await asyncio.sleep(0.01)
        for task in slow:
            task.cancel()
        await asyncio.gather(*slow, return_exceptions=True)
        while here.service.pool.waiting or here.service.pool._busy:
            await asyncio.sleep(0.01)
        assert await served(here.other) == [200] * 9
        assert len(set(here.service.pool.pids) - pids) <= 1, "those that waited were never begun"


async def test_an_answer_that_nobody_waits_for_costs_no_worker(tmp_path: Path) -> None:
    async with running(tmp_path, timeout=100.0, workers=1) as here:
        pids = here.service.pool.pids
        for _ in range(5):
            (tmp_path / "now").unlink(missing_ok=True)
            slow = here.slow()
            await here.busy(1)
            slow.cancel()
            here.release()
            await here.busy(0)
        assert await served(here.other, 3) == [200] * 3
        assert here.service.pool.pids == pids


SEARCHES = (
    ("a " * 30_000, 413),
    ("a " * 1_000, 400),
    ("a " * 33, 400),
    ("雨" * 2_800, 413),
    ("a " * 32, 200),
    ("", 200),
)


async def test_searches_are_bounded_and_others_are_served(tmp_path: Path) -> None:
    async with running(tmp_path, 20_000, timeout=30.0) as here:
        for query, status in SEARCHES:
            found = [asyncio.create_task(here.one.get("/desk/articles", params={"q": query})) for _ in range(6)]
            beside = [
                asyncio.create_task(here.other.get(path))
                for path in ("/desk/articles?q=rain", "/desk/labels?article=a1", "/metrics", "/healthz", "/")
            ]
            assert [(await task).status_code for task in beside] == [200] * 5
            answers = [await task for task in found]
            assert [answer.status_code for answer in answers] == [status] * 6, query[:50]
            if status != 200:
                assert {answer.headers["content-type"] for answer in answers} == {"application/problem+json"}
                assert "words" in answers[0].json()["detail"] or "longer than" in answers[0].json()["detail"]


async def test_a_client_that_sends_too_many_searches_at_once_is_told_so(tmp_path: Path) -> None:
    async with running(tmp_path, 200_000, timeout=60.0) as here:
        many = [asyncio.create_task(here.one.get("/desk/articles", params={"q": "rain"})) for _ in range(30)]
        done, _ = await asyncio.wait(many, return_when=asyncio.FIRST_COMPLETED)
        refused = [task.result() for task in done if task.result().status_code == 429]
        assert refused, "before any search has ended"
        assert refused[0].headers["retry-after"] == "1"
        assert refused[0].json()["title"] == "There are too many requests"
        other = asyncio.create_task(here.other.get("/desk/articles", params={"q": "rain"}))
        assert (await other).status_code == 200
        assert sum(not task.done() for task in many) >= 5, "the other one's turn was next"
        statuses = [(await task).status_code for task in many]
        assert sorted(set(statuses)) == [200, 429]


async def test_a_search_ends_when_its_client_has_gone(tmp_path: Path) -> None:
    async with running(tmp_path, timeout=60.0) as here:
        steps = 0

        def forever(_: str) -> Any:
            nonlocal steps
            while True:
                steps += 1
                yield []

        here.service.articles.steps = forever  # type: ignore[method-assign]
        asked = asyncio.create_task(here.one.get("/desk/articles"))
        while not steps:
            await asyncio.sleep(0.01)
        asked.cancel()
        del here.service.articles.steps
        assert (await here.other.get("/desk/articles")).status_code == 200, "there is one turn, and it is free"
        before = steps
        assert (await here.other.get("/desk/articles")).status_code == 200
        assert steps == before


@pytest.mark.parametrize("path", ["/desk/articles", "/desk/articles/0", "/desk/labels", "/metrics", "/v1/models"])
async def test_pages_of_other_sites_get_nothing_of_a_service_without_tokens(tmp_path: Path, path: str) -> None:
    async with running(tmp_path, 3, open=True) as here:
        assert (await here.one.get(path)).status_code == 200
        ours = str(here.one.base_url).rstrip("/")
        for headers in ({"origin": ours}, {"sec-fetch-site": "same-origin"}, {"sec-fetch-site": "none"}):
            assert (await here.one.get(path, headers=headers)).status_code == 200, headers
        for headers in FOREIGN:
            refused = await here.one.get(path, headers=headers)
            assert refused.status_code == 403, headers
            assert "page of another site" in refused.json()["detail"]
            assert (await here.one.head(path, headers=headers)).status_code == 403
        link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
        assert (await here.one.get(path, headers=link)).status_code == 403, "a link to data"


async def test_links_lead_to_pages_and_supervisors_ask_from_anywhere(tmp_path: Path) -> None:
    async with running(tmp_path, open=True) as here:
        link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
        for path in ("/", "/docs"):
            assert (await here.one.get(path, headers=link)).status_code == 200
            for other in ({"sec-fetch-dest": "iframe"}, {"sec-fetch-mode": "no-cors"}, OTHER):
                assert (await here.one.get(path, headers=link | other)).status_code == 403
        for headers in (*FOREIGN, link):
            assert (await here.one.get("/healthz", headers=headers)).status_code == 200


async def test_health_tells_when_the_store_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postil.service.routes.PATIENCE", 0.2)

    async with running(tmp_path) as here:
        assert (await here.one.get("/healthz")).json() == {"status": "ok", "workers": 2}
        stuck = [asyncio.create_task(asyncio.to_thread(_wait, tmp_path / "now")) for _ in range(40)]
        for path in ("/healthz", "/readyz"):
            found = await here.one.get(path)
            assert found.status_code == 503
            assert "have not been answered for 0.2 s" in found.json()["detail"]
        here.release()
        await asyncio.gather(*stuck)
        assert (await here.one.get("/readyz")).status_code == 200


def _wait(path: Path) -> None:
    while not path.exists():
        os.sched_yield()


async def test_many_labels_in_one_request_let_others_pass(tmp_path: Path) -> None:
    async with running(tmp_path, timeout=20.0, max_body=1 << 24) as here:
        label = {"article": "a1", "text": "Bring a coat.", "show": True}
        sent = json.dumps({"labels": [label] * 20_000}).encode()
        asked = [asyncio.create_task(here.one.post("/v1/labels", content=sent)) for _ in range(2)]
        assert await served(here.other) == [200] * 9
        assert [(await task).status_code for task in asked] == [201] * 2
        found = (await here.one.get("/desk/labels?article=a1")).json()
        assert (len(found["labels"]), found["total"]) == (1_000, 40_000), "the page of an article gets the last"
