"""Requests take turns in lines that are fair, and are given up when their client has gone."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from itertools import pairwise
from threading import Event
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.web.security import LONGEST_QUERY, PAUSE, REFUSALS, SecurityMiddleware, refusal
from postil.web.turns import CLIENT, FairLine, FairQueue, Gate, NoTurn, Place

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@given(st.lists(st.sampled_from("abc"), max_size=40))
def test_everybody_is_served_before_anybody_is_served_twice(clients: list[str]) -> None:
    line = FairLine[int]()
    for number, client in enumerate(clients):
        line.add(client, number)
    taken = []
    while (found := line.take()) is not None:
        taken.append(found)
    assert sorted(number for _, number in taken) == list(range(len(clients)))
    for client in set(clients):
        own = [number for one, number in taken if one == client]
        assert own == sorted(own), "each in its own order"
        between = [one for one, _ in taken]
        places = [at for at, one in enumerate(between) if one == client]
        for first, second in pairwise(places):
            assert len(between[first + 1 : second]) == len(set(between[first + 1 : second]))


def test_the_longest_line_loses_its_last() -> None:
    line = FairLine[int]()
    for client, number in (("a", 1), ("a", 2), ("b", 3), ("b", 4), ("a", 5), ("c", 6)):
        line.add(client, number)
    assert [line.shed(), line.shed(), line.shed()] == [5, 4, 2]
    line.discard("a", 1)
    line.discard("a", 9)
    assert (line.clear(), len(line), line.take()) == ([3, 6], 0, None)


def test_what_was_begun_before_is_next() -> None:
    line = FairLine[int]()
    for client, number in (("a", 1), ("b", 2)):
        line.add(client, number)
    line.add("b", 3, first=True)
    assert [line.take(), line.take(), line.take()] == [("b", 3), ("a", 1), ("b", 2)]


async def test_a_request_waits_no_longer_than_the_patience() -> None:
    queue = FairQueue(1, each=1, line=2, patience=0.01)
    async with queue.turn("a"):
        with pytest.raises(NoTurn, match="busy") as refused:
            async with queue.turn("b"):
                raise AssertionError
    assert refused.value.status == 503
    async with queue.turn("b"):
        pass


async def test_a_client_rests_as_long_as_its_request_took_and_others_go_on() -> None:
    queue, order = FairQueue(1, each=1, line=9, patience=60.0, rest=2.0), list[str]()

    async def ask(client: str) -> None:
        async with queue.turn(client):
            order.append(client)
            await asyncio.sleep(0.1)

    first = [asyncio.create_task(ask("a")), asyncio.create_task(ask("a"))]
    await asyncio.sleep(0)
    await first[0]
    await ask("b")
    await first[1]
    assert order == ["a", "b", "a"]


async def test_who_gives_up_keeps_no_turn() -> None:
    queue, order = FairQueue(1, each=1, line=9, patience=9.0), list[str]()

    async def ask(client: str) -> None:
        async with queue.turn(client):
            order.append(client)
            await asyncio.sleep(0)

    async with queue.turn("a"):
        tasks = [asyncio.create_task(ask(client)) for client in ("a", "b", "b", "c")]
        await asyncio.sleep(0)
        tasks[0].cancel()
    tasks[1].cancel()  # it was given the turn just now
    await asyncio.gather(*tasks, return_exceptions=True)
    assert order == ["c", "b"]


Make = Any
LINK = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


class Asked:
    """A request to a gate, byte by byte."""

    def __init__(self, gate: Gate, client: str) -> None:
        self.gone, self.reads = asyncio.Event(), asyncio.Event()
        self.reads.set()
        self.sent: list[Any] = []
        scope = {"type": "http", "method": "GET", "path": client, "headers": [(b"accept", b"application/json")]}
        self.task = asyncio.ensure_future(gate(scope, self.receive, self.send))

    async def receive(self) -> Any:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        await self.reads.wait()
        self.sent.append(message)

    async def status(self) -> int:
        await self.task
        return int(self.sent[0]["status"]) if self.sent else 0


class Application:
    """An application that answers when it is told to."""

    def __init__(self) -> None:
        self.now = asyncio.Event()
        self.begun: list[str] = []
        self.ended: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:  # noqa: ARG002
        assert CLIENT.get() == scope["path"]
        self.begun.append(scope["path"])
        await self.now.wait()
        self.ended.append(scope["path"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def gate_of(app: Any, *, stoppable: bool) -> Gate:
    queue = FairQueue(2, each=1, line=2, patience=30.0)

    async def place(scope: Any) -> Place:
        return Place(scope["path"], queue, stoppable)

    return Gate(app, place, refusal)


async def test_clients_take_turns_and_too_many_of_one_are_refused() -> None:
    app = Application()
    gate = gate_of(app, stoppable=False)
    asked = [Asked(gate, client) for client in ("a", "a", "a", "a", "b", "c")]
    assert await asked[3].status() == 429
    assert (b"retry-after", b"1") in asked[3].sent[0]["headers"]
    assert b"send fewer at once" in asked[3].sent[1]["body"]
    while len(app.begun) < 2:
        await asyncio.sleep(0)
    assert app.begun == ["a", "b"]
    app.now.set()
    assert [await one.status() for one in asked] == [200, 200, 200, 429, 200, 200]
    assert app.begun[2:] in (["c", "a", "a"], ["a", "c", "a"])


@pytest.mark.parametrize("stoppable", [False, True])
async def test_work_of_a_client_who_has_gone_is_given_up(*, stoppable: bool) -> None:
    app = Application()
    gate = gate_of(app, stoppable=stoppable)
    first, waiting, other = Asked(gate, "a"), Asked(gate, "a"), Asked(gate, "b")
    while len(app.begun) < 2:
        await asyncio.sleep(0)
    waiting.gone.set()
    assert await waiting.status() == 0, "it never began"
    first.gone.set()
    for _ in range(9):
        await asyncio.sleep(0)
    assert first.task.done() == stoppable, "what changes something ends once it was begun"
    app.now.set()
    assert await other.status() == 200
    await first.task
    assert sorted(app.ended) == (["b"] if stoppable else ["a", "b"])


async def test_a_client_that_does_not_read_its_answer_holds_no_turn() -> None:
    app = Application()
    app.now.set()
    gate = gate_of(app, stoppable=False)
    silent = [Asked(gate, client) for client in ("a", "a", "b")]
    for one in silent:
        one.reads.clear()
    assert await asyncio.wait_for(Asked(gate, "c").status(), 20) == 200
    assert len(app.ended) == 4
    assert not any(one.task.done() for one in silent)
    for one in silent:
        one.reads.set()
    assert [await one.status() for one in silent] == [200] * 3


async def test_parts_of_an_answer_end_when_its_client_has_gone() -> None:
    async def forever(scope: Any, receive: Any, send: Any) -> None:  # noqa: ARG001
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while True:
            await send({"type": "http.response.body", "body": b"x", "more_body": True})
            await asyncio.sleep(0)

    asked = Asked(gate_of(forever, stoppable=False), "a")
    while len(asked.sent) < 9:
        await asyncio.sleep(0)
    asked.gone.set()
    done, _ = await asyncio.wait({asked.task}, timeout=20)
    asked.task.cancel()
    assert done


async def test_an_error_of_the_application_is_raised() -> None:
    async def broken(*_: Any) -> None:
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        await Asked(gate_of(broken, stoppable=True), "a").task


@asynccontextmanager
async def browser(here: Any, who: Any) -> AsyncIterator[Any]:
    """The browser of somebody who has signed in, for several requests at once."""
    transport = httpx2.ASGITransport(here.app)
    cookies = dict(who.client.cookies)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", cookies=cookies) as client:
        yield client


async def test_slow_files_of_a_lead_let_annotators_go_on(place: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    here = place()
    lead, ann = here.visitor("Lee", "lead"), here.visitor("Ann")
    form, now = ann.form(), Event()

    def slow(*_: Any) -> bytes:
        assert now.wait(60)
        return b"{}"

    monkeypatch.setattr("postil.campaigns.pages.lead._file_of", slow)

    async with browser(here, lead) as one, browser(here, ann) as other:
        files = [asyncio.create_task(one.get("/lead/files/codebook.json")) for _ in range(40)]
        done, _ = await asyncio.wait(files, return_when=asyncio.FIRST_COMPLETED)
        assert {task.result().status_code for task in done} == {429}
        pages = await asyncio.gather(*(other.get("/grade") for _ in range(9)))
        assert [page.status_code for page in pages] == [200] * 9
        headers = {"accept": "application/json"}
        assert (await other.post("/rate", data={**form, "grade": "4"}, headers=headers)).status_code == 200
        assert (await other.get("/health")).json() == {"status": "ok"}
        assert (await one.get("/lead/conflicts")).status_code == 200
        assert sum(not task.done() for task in files) == 9, "one at work, and eight that wait"
        now.set()
        statuses = [(await task).status_code for task in files]
        assert (statuses.count(200), statuses.count(429)) == (9, 31)
    assert [event.grade for event in here.store.results.events()] == [4]


async def test_made_up_sessions_are_one_address(place: Make) -> None:
    here = place()
    cookie = next(iter(here.visitor("Ann").client.cookies))

    transport = httpx2.ASGITransport(here.app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        asked = (client.get("/grade", headers={"cookie": f"{cookie}=made-up-{n}"}) for n in range(120))
        statuses = [answer.status_code for answer in await asyncio.gather(*asked)]
        assert set(statuses) == {401, 429}
        assert statuses.count(401) >= 72


@pytest.mark.parametrize("path", ["/task", "/metrics", "/lead/files/codebook.json", "/static/postil.css"])
def test_pages_of_other_sites_get_no_data(place: Make, path: str) -> None:
    here = place()
    who = here.visitor("Ann")
    for headers in ({"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}, LINK):
        refused = who.client.get(path, headers=headers | {"accept": "application/json"})
        assert (refused.status_code, "another site" in refused.json()["problem"]) == (403, True), headers
    ours = {"origin": "http://localhost", "sec-fetch-site": "same-origin"}
    assert "another site" not in who.client.get(path, headers=ours).text


def test_links_of_other_sites_lead_to_pages(place: Make) -> None:
    here = place()
    token = here.store.people.invite("Ann", "annotator")
    who = here.visitor()
    assert who.client.get(f"/join/{token}", headers=LINK).status_code == 200
    for other in ({"sec-fetch-dest": "iframe"}, {"sec-fetch-mode": "cors"}, {"origin": "http://evil.example"}):
        assert who.client.get(f"/join/{token}", headers=LINK | other).status_code == 403
    assert who.client.get("/health", headers={"origin": "http://evil.example"}).status_code == 200


def test_many_refusals_make_their_address_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    paused: list[float] = []

    async def sleep(seconds: float) -> None:
        paused.append(seconds)

    async def app(scope: Any, receive: Any, send: Any) -> None:  # noqa: ARG001
        await send({"type": "http.response.start", "status": int(scope["path"]), "headers": []})

    async def scenario() -> None:
        checked = SecurityMiddleware(app, {"localhost"})

        async def ask(path: str, address: str) -> None:
            scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "client": (address, 1)}
            await checked(scope | {"headers": [(b"host", b"localhost")]}, _nothing, _nothing)

        for _ in range(REFUSALS):
            await ask("404", "192.0.2.1")
        for address, path in (("192.0.2.1", "200"), ("192.0.2.1", "503"), ("192.0.2.2", "404")):
            await ask(path, address)
        assert paused == []
        await ask("401", "192.0.2.1")
        assert paused == [PAUSE]

    monkeypatch.setattr("postil.web.security.asyncio.sleep", sleep)
    asyncio.run(scenario())


async def _nothing(*_: Any) -> Any: ...


def test_an_address_that_is_too_long_is_refused(place: Make) -> None:
    who = place().visitor("Ann")
    assert who.get(f"/lead?aspect={'x' * LONGEST_QUERY}").status_code == 413
    assert who.get(f"/label?assignment={'9' * (LONGEST_QUERY - 11)}").status_code == 303
