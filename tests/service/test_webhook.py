"""Deliveries to a webhook: signatures, attempts, and what survives."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import signal
import subprocess
import sys
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from postil.errors import InvalidInput, PostilError, UsageError
from postil.service import sites
from postil.service.sites import DELAYS, Receipt, Receiver, Webhook, parse_webhook_secret, webhook_headers
from postil.service.store import ServiceStore
from postil.web.problems import Busy
from postil.web.routing import Call
from postil.web.tokens import secrets_of
from raw_server import raw_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

KEY = bytes(range(24))
SECRET = f"whsec_{base64.b64encode(KEY).decode()}"
ARTICLE = {"title": "Rain", "content": "It rained on Ely.", "comments": [{"text": "Not here."}]}
DIGEST = {"article": "a1", "suggestions": [], "passages": []}


def verified(keys: list[bytes], headers: Mapping[str, str], body: bytes) -> bool:
    """Verify as Standard Webhooks has it; written after the specification."""
    content = b".".join([headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), body])
    expected = {base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()) for key in keys}
    sent = {each.partition(",")[2].encode() for each in headers["webhook-signature"].split(" ") if each[:3] == "v1,"}
    return bool(expected & sent)


def test_signatures_are_those_of_the_reference_implementation() -> None:
    # Made by the package standardwebhooks 1.1.0.
    secret = parse_webhook_secret("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD")
    headers = webhook_headers([secret], "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk", 1649367553, b'{"email":"test@example.com"}')
    assert headers["webhook-signature"] == "v1,+G/Or2EQ/fZ2/xE0z8lIefb92yw92Ac61HvR8ydrk0o="
    assert (headers["webhook-id"], headers["webhook-timestamp"]) == ("msg_27UH4WbU6Z5A5EzD8u03UvzRbpk", "1649367553")


def test_each_secret_signs() -> None:
    headers = webhook_headers([KEY, bytes(32)], "m", 1, b"{}")
    assert headers["webhook-signature"].count("v1,") == 2
    assert verified([KEY], headers, b"{}")
    assert verified([bytes(32)], headers, b"{}")
    assert not verified([KEY], headers, b"{ }")


@pytest.mark.parametrize(
    "secret",
    ["", "whsec_", "whsec_AAAA", "whsec_" + "A" * 100, "whsec_" + "é" * 32, "whsec_" + "*" * 32, KEY.hex(), SECRET[6:]],
)
def test_what_is_no_secret_is_refused(secret: str) -> None:
    with pytest.raises(ValueError, match="whsec_ and 24 to 64 random bytes in Base64"):
        parse_webhook_secret(secret)
    assert parse_webhook_secret(SECRET.rstrip("=")) == KEY


@pytest.mark.parametrize(
    "url", ["", "hooks.example", "ftp://hooks.example/", "http://", "https://me:pw@hooks.example/", "http://\0/"]
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="webhook: expected an http or https address"):
        Receiver(url)


@dataclass
class Receives:
    """A receiver that answers by a list of statuses, errors, or the last one of them for ever."""

    answers: list[int | Receipt | Exception]
    host: str = "hooks.example"
    got: list[tuple[Mapping[str, str], bytes]] = field(default_factory=list)

    async def post(self, body: bytes, headers: Mapping[str, str]) -> Receipt:
        self.got.append((headers, body))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return Receipt(answer, None) if isinstance(answer, int) else answer


class Workers:
    """Workers that fail as a list says, and then answer."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.asked: list[bytes] = []

    async def call(self, name: str, request: bytes) -> bytes:
        assert name == "digest"
        self.asked.append(request)
        if self.failures:
            raise self.failures.pop(0)
        return json.dumps(DIGEST).encode()


class Clock:
    """A clock that stands still until it is moved; it is ahead of the store's, so that a new delivery is due."""

    def __init__(self) -> None:
        self.now = time.time() + 60

    def __call__(self) -> float:
        return self.now


@dataclass
class Delivering:
    """A webhook at work, on a clock that a test moves."""

    hook: Webhook
    store: ServiceStore
    clock: Clock
    said: list[str]

    async def accept(self, article: Mapping[str, object] = ARTICLE) -> str:
        call = Call("1", "POST", "/v1/hooks/article", b"", {}, "", body=json.dumps(article).encode())
        reply: Any = await self.hook.route().handler(call)
        assert reply.status == 202
        return str(json.loads(reply.body)["delivery"])

    async def settled(self, *, attempts: int = 1, ended: bool = False) -> None:
        """Wait until each delivery had a number of attempts, or has ended, and what is to be said of it was said."""
        async with asyncio.timeout(10):
            while True:
                rows = self.store._read("SELECT state, attempts FROM deliveries")
                there = all(state != "waiting" if ended else made >= attempts for state, made in rows)
                if there and not self.hook._busy:
                    return
                await asyncio.sleep(0.005)

    def row(self) -> tuple[str, int, float | None, str, bytes | None]:
        """State, attempts, seconds until the next one, problem and body of the only delivery."""
        [(state, attempts, due, problem, body)] = self.store._read(
            "SELECT state, attempts, due, problem, body FROM deliveries"
        )
        return state, attempts, due and round(due - self.clock.now, 3), problem, body


@asynccontextmanager
async def delivering(
    folder: Path, receiver: Receives, workers: Workers | None = None, chance: float = 0.0
) -> AsyncIterator[Delivering]:
    (folder / "secrets").write_text(SECRET)
    store, clock, said, pool = ServiceStore.open(folder / "data"), Clock(), list[str](), workers or Workers()
    hook = Webhook(
        store,
        pool,  # type: ignore[arg-type]
        receiver,
        secrets_of(folder / "secrets", parse_webhook_secret),
        on_message=said.append,
        clock=clock,
        chance=lambda: chance,
    )
    running = asyncio.create_task(hook.run())
    try:
        yield Delivering(hook, store, clock, said)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        store.close()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sites, "POLL", 0.01)


async def test_an_article_is_delivered_with_a_signature(tmp_path: Path) -> None:
    receiver, workers = Receives([204]), Workers()

    async with delivering(tmp_path, receiver, workers) as here:
        delivery = await here.accept()
        await here.settled(ended=True)
        assert here.row() == ("delivered", 1, None, "", None)
        [(headers, body)] = receiver.got
        assert headers["webhook-id"] == delivery
        assert headers["webhook-timestamp"] == f"{int(here.clock.now)}"
        assert verified([KEY], headers, body)
        message = json.loads(body)
        assert message["type"] == "article.suggested"
        assert message["data"] == DIGEST
        assert message["timestamp"][:4] == time.strftime("%Y")
        # What readers wrote is not kept for it.
        assert json.loads(workers.asked[0])["comments"] == []
        assert here.said == []


async def test_attempts_follow_the_schedule_and_end_in_a_message(tmp_path: Path) -> None:
    receiver = Receives([500, PostilError("hooks.example cannot be reached"), 302, 404])

    async with delivering(tmp_path, receiver, chance=0.5) as here:
        delivery = await here.accept()
        waits = []
        for number, delay in enumerate(DELAYS, 1):
            await here.settled(attempts=number)
            state, attempts, due, _, body = here.row()
            assert (state, attempts, body is not None) == ("waiting", number, True)
            waits.append(due)
            here.clock.now += 1.1 * delay
        assert waits == [pytest.approx(1.1 * delay, abs=0.01) for delay in DELAYS]
        await here.settled(ended=True)
        assert here.row() == ("failed", 10, None, "hooks.example answers 404", None)
        assert here.store.counts().deliveries["failed"] == 1
        assert here.said == [
            f"delivery {delivery} failed, and is tried again: hooks.example answers 500",
            f"delivery {delivery} is given up after 10 attempts: hooks.example answers 404",
        ]
        assert {headers["webhook-id"] for headers, _ in receiver.got} == {delivery}
        assert len({headers["webhook-timestamp"] for headers, _ in receiver.got}) == 10
        assert len({body for _, body in receiver.got}) == 1


@pytest.mark.parametrize(("after", "due"), [(1.0, 5.0), (120.0, 120.0), (1e9, 86_400.0)])
async def test_a_receiver_may_ask_to_wait_longer(tmp_path: Path, after: float, due: float) -> None:
    async with delivering(tmp_path, Receives([Receipt(429, after)])) as here:
        await here.accept()
        await here.settled()
        assert here.row()[:4] == ("waiting", 1, due, "hooks.example answers 429")


async def test_a_receiver_that_is_gone_gets_nothing_more(tmp_path: Path) -> None:
    async with delivering(tmp_path, Receives([410])) as here:
        delivery = await here.accept()
        await here.settled(ended=True)
        assert here.said == [f"delivery {delivery} is given up after 1 attempt: hooks.example answers 410"]


async def test_workers_that_are_busy_are_asked_again_and_an_impossible_article_is_not(tmp_path: Path) -> None:
    receiver = Receives([200])
    async with delivering(tmp_path, receiver, Workers(Busy("64 requests wait already"))) as here:
        await here.accept()
        await here.settled()
        assert here.row()[:4] == ("waiting", 1, 5.0, "64 requests wait already")
        here.clock.now += 5
        await here.settled(ended=True)
        assert here.row()[:2] == ("delivered", 2)
    (tmp_path / "data" / "service.db").unlink()
    async with delivering(tmp_path, receiver, Workers(UsageError("no model suggests comments"))) as here:
        await here.accept()
        await here.settled(ended=True)
        assert here.row()[:4] == ("failed", 1, None, "no model suggests comments")


async def test_what_is_no_article_is_refused_before_it_is_stored(tmp_path: Path) -> None:
    async with delivering(tmp_path, Receives([200])) as here:
        with pytest.raises(InvalidInput, match="title"):
            await here.accept({"content": "It rained on Ely."})
        assert here.store._read("SELECT count(*) FROM deliveries") == [(0,)]


async def test_many_articles_are_delivered_four_at_a_time(tmp_path: Path) -> None:
    class Counts(Receives):
        now = most = 0
        four = asyncio.Event()

        async def post(self, body: bytes, headers: Mapping[str, str]) -> Receipt:
            self.now += 1
            self.most = max(self.most, self.now)
            if self.now == 4:
                self.four.set()
            await self.four.wait()
            await asyncio.sleep(0)
            self.now -= 1
            return await super().post(body, headers)

    receiver = Counts([200])

    async with delivering(tmp_path, receiver) as here:
        sent = {await here.accept() for _ in range(12)}
        await here.settled(ended=True)
        assert sorted(headers["webhook-id"] for headers, _ in receiver.got) == sorted(sent)
        assert receiver.most == 4


async def test_an_outcome_that_cannot_be_stored_is_not_repeated_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    receiver = Receives([200])

    async with delivering(tmp_path, receiver) as here:

        async def full(*_: object, **__: object) -> None:
            raise PostilError("service.db: the disk is full")

        monkeypatch.setattr(here.store, "settle", full)
        await here.accept()
        async with asyncio.timeout(10):
            while not here.said:
                await asyncio.sleep(0.005)
        await asyncio.sleep(0.05)
        assert here.said == ["the outcome of a delivery cannot be stored: service.db: the disk is full"]
        assert len(receiver.got) == 1


KILLED = """
import asyncio, sys
sys.path[:0] = sys.argv[2:]
from test_webhook import ARTICLE, Receives, delivering
from pathlib import Path

class Stalls(Receives):
    async def post(self, body, headers):
        print(headers["webhook-id"], flush=True)
        await asyncio.sleep(60)

async def run():
    async with delivering(Path(sys.argv[1]), Stalls([200])) as here:
        await here.accept()
        await asyncio.sleep(60)

asyncio.run(run())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
async def test_a_delivery_survives_that_the_service_is_killed(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    words = [sys.executable, "-c", KILLED, tmp_path, request.path.parent, request.path.parents[1]]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - ours
        assert process.stdout is not None
        delivery = process.stdout.readline().strip()  # its first attempt is on its way
        process.send_signal(signal.SIGKILL)
    assert delivery
    receiver = Receives([200])

    async with delivering(tmp_path, receiver) as here:
        await here.settled(ended=True)
        assert here.row()[0] == "delivered"
    assert [headers["webhook-id"] for headers, _ in receiver.got] == [delivery]


@asynccontextmanager
async def answering(answer: bytes, wait: float, drip: float) -> AsyncIterator[tuple[str, list[bytes]]]:
    """A server of one answer: its address, and what it got."""
    got: list[bytes] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        got.append(await reader.readuntil(b"\r\n\r\n"))
        await asyncio.sleep(wait)
        for part in map(bytes, zip(answer)) if drip else (answer,):
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(drip)

    async with raw_server(handle) as port:
        yield f"http://127.0.0.1:{port}/hook?a=1", got


def posted(answer: bytes, wait: float = 0.0, seconds: float = 5.0, drip: float = 0.0) -> tuple[Receipt, list[bytes]]:
    async def run() -> tuple[Receipt, list[bytes]]:
        async with answering(answer, wait, drip) as (url, got):
            receiver = Receiver(url, seconds=seconds)
            try:
                return await receiver.post(b"{}", webhook_headers([KEY], "m1", 1, b"{}")), got
            finally:
                await receiver.close()

    return asyncio.run(run())


def test_a_message_reaches_a_receiver() -> None:
    receipt, [head] = posted(b"HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n")
    assert receipt == Receipt(201, None)
    assert receipt.delivered
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /hook?a=1 HTTP/1.1"
    assert {"webhook-id: m1", "webhook-timestamp: 1", "content-type: application/json"} <= {*map(str.lower, lines)}


@pytest.mark.parametrize(
    ("answer", "receipt"),
    [
        (b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n", Receipt(302, None)),
        (b"HTTP/1.1 503 Busy\r\nretry-after: 30\r\ncontent-length: 0\r\n\r\n", Receipt(503, 30.0)),
        (b"HTTP/1.1 500 No\r\nretry-after: soon\r\ncontent-length: 9000000\r\n\r\nx", Receipt(500, None)),
    ],
)
def test_other_answers_are_failures(answer: bytes, receipt: Receipt) -> None:
    found, _ = posted(answer)
    assert found == receipt
    assert not found.delivered


def test_a_receiver_that_does_not_answer_is_left() -> None:
    with pytest.raises(PostilError, match=r"127\.0\.0\.1 gives no answer within 0\.1 s"):
        posted(b"", wait=60, seconds=0.1)
    with pytest.raises(PostilError, match=r"127\.0\.0\.1 gives no answer within 0\.2 s"):
        posted(b"HTTP/1.1 200 OK\r\nx: " + b"y" * 1000, drip=0.05, seconds=0.2)
    with pytest.raises(PostilError, match=r"127\.0\.0\.1 cannot be reached: "):
        posted(b"")
