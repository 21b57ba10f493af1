"""Other servers of a service: Coral, asked as its documentation says that it asks, and the receiver of a webhook."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import TYPE_CHECKING, Any

import httpx2
import msgspec
import pytest
from sent_calls import sent_call

import postil
from postil.errors import InvalidInput, PostilError, UsageError
from postil.service import sites
from postil.service.operations import OPERATIONS
from postil.service.options import ServiceOptions
from postil.service.sites import (
    DELAYS,
    Receipt,
    Receiver,
    Webhook,
    coral_route,
    parse_coral_secret,
    parse_webhook_secret,
    webhook_headers,
)
from postil.service.store import ServiceStore
from postil.web.audit_log import check_audit
from postil.web.problems import Busy, Problem, TimedOut
from postil.web.tokens import AddTokenOptions, add_token, secrets_of
from raw_server import raw_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping

    from conftest import Served


CORAL_SECRET = "a3f1c2d4e5b6978812340a3f1c2d4e5b"  # noqa: S105 - of these tests
OLDER = "ffee0011223344556677889900aabbcc"


@dataclass
class Coral:
    """Coral's side of an external moderation phase."""

    secrets: tuple[str, ...] = (CORAL_SECRET,)
    statuses: tuple[str, ...] = ("NONE", "APPROVED", "REJECTED", "PREMOD", "SYSTEM_WITHHELD")
    flags: tuple[str, ...] = ("COMMENT_DETECTED_TOXIC", "COMMENT_DETECTED_SPAM")

    def request(self, text: str, parent: str | None = None) -> tuple[bytes, dict[str, str]]:
        """Body and headers of a request: two spaces of indentation, and a signature for each secret that is valid."""
        whole = {
            "action": "NEW",
            "comment": {"body": text, "parentID": parent},
            "author": {"id": "baf4e943-3594-4fcc-b2ba-3e8de7a76352", "role": "COMMENTER"},
            "story": {"id": "245b3856-b0a0-4d2f-a6bb-58c71f18d6a6", "url": "http://localhost:1313/posts/a-story-url/"},
            "site": {"id": "a4bede88-2d2c-4424-bc18-4322a9e285a6"},
            "tenantID": "19ba5794-7eeb-4d46-a81b-c00c61672501",
            "tenantDomain": "localhost",
        }
        body = json.dumps(whole, indent=2, ensure_ascii=False).encode("utf-8", "backslashreplace")
        return body, self.signed(body)

    def signed(self, body: bytes) -> dict[str, str]:
        made = (hmac.new(each.encode(), body, hashlib.sha256).hexdigest() for each in self.secrets)
        return {
            "Content-Type": "application/json",
            "User-Agent": "Coral Moderation/9.0.0",
            "X-Coral-Signature": ",".join(f"sha256={each}" for each in made),
        }

    def decision(self, status: int, body: bytes) -> str | None:
        """Status that Coral gives the comment; None where the phase is skipped and Coral goes on."""
        if not 200 <= status < 300 or status == 204 or body in {b"", b"{}"}:
            return None
        found = json.loads(body)
        for action in found.get("actions", []):
            assert set(action) == {"actionType", "reason"}
            assert action["actionType"] == "FLAG"
            assert action["reason"] in self.flags
        assert set(found.get("tags", [])) <= {"FEATURED", "STAFF"}
        assert found.get("status") in {None, *self.statuses}
        return found.get("status")


@dataclass
class Screening:
    """Workers that hold what holds the word "coat", or that fail."""

    failure: Exception | None = None
    reasons: tuple[str, ...] = ("holds a web address",)
    facts: dict[str, bool] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)

    async def call(self, name: str, request: bytes) -> bytes:
        if self.failure is not None:
            raise self.failure
        text = msgspec.json.decode(request, type=OPERATIONS[name].request).text  # type: ignore[attr-defined]
        self.texts.append(text)
        held = "coat" in text
        found = {"decision": "hold" if held else "accept", "reasons": self.reasons if held else (), "quality": None}
        return json.dumps(found | (self.facts if held else {})).encode()


Ask = Any


@pytest.fixture
def ask(tmp_path: Path) -> Callable[..., Ask]:
    """Asks a route, made with some arguments, and gives Coral's decision."""
    (tmp_path / "secrets").write_text(f"{OLDER}\n\n  {CORAL_SECRET}\n")

    def asked(body: bytes, headers: dict[str, str], workers: Screening | None = None, **more: Any) -> tuple[int, bytes]:
        pool: Any = workers or Screening()
        route = coral_route(pool, secrets_of(tmp_path / "secrets", parse_coral_secret), **more)
        found = asyncio.run(_answer(route, sent_call("/integrations/coral", body, headers)))
        return found.status_code, found.body

    return asked


async def _answer(route: Any, call: Any) -> Any:
    return await route.handler(call)


def test_a_comment_is_held_or_goes_on(ask: Ask) -> None:
    coral, workers = Coral(), Screening()
    assert coral.decision(*ask(*coral.request("Bring an umbrella."), workers)) is None
    assert coral.decision(*ask(*coral.request("Bring a coat.", parent="d79b787f"), workers)) == "SYSTEM_WITHHELD"
    assert coral.decision(*ask(*coral.request("Bring a coat."), workers, status="PREMOD")) == "PREMOD"
    assert workers.texts == ["Bring an umbrella.", "Bring a coat.", "Bring a coat."]


@pytest.mark.parametrize(
    ("facts", "flags"), [({"profanity": True}, ["COMMENT_DETECTED_TOXIC"]), ({"profanity": False}, []), ({}, [])]
)
def test_only_profanity_is_flagged_as_toxic(ask: Ask, facts: dict[str, bool], flags: list[str]) -> None:
    _, body = ask(*Coral().request("coat"), Screening(facts=facts))
    assert [each["reason"] for each in json.loads(body).get("actions", [])] == flags
    assert "tags" not in json.loads(body)


def test_a_picture_without_text_goes_on(ask: Ask) -> None:
    coral = Coral()
    assert coral.decision(*ask(*coral.request("coat"), Screening(facts={"empty": True}))) is None


@pytest.mark.parametrize(
    "secrets", [(CORAL_SECRET,), (OLDER,), (OLDER, CORAL_SECRET), ("another secret", CORAL_SECRET)]
)
def test_a_signature_by_one_of_the_secrets_is_enough(ask: Ask, secrets: tuple[str, ...]) -> None:
    coral = Coral(secrets)
    assert coral.decision(*ask(*coral.request("Bring a coat."))) == "SYSTEM_WITHHELD"


def test_another_signature_is_refused(ask: Ask) -> None:
    body, headers = Coral().request("Bring a coat.")
    right = headers["X-Coral-Signature"]
    for wrong in ("", right[:-1], right.replace("sha256=", "sha1="), right.removeprefix("sha256="), "sha256=", "é"):
        with pytest.raises(Problem, match="expected a signature by the signing secret of Coral's phase") as caught:
            ask(body, {"X-Coral-Signature": wrong})
        assert caught.value.status == 401
    for changed in (body + b" ", body.replace(b"coat", b"cost")):
        with pytest.raises(Problem, match="expected a signature"):
            ask(changed, headers)
    with pytest.raises(Problem, match="expected a signature"):
        ask(*Coral(("another secret",)).request("Bring a coat."))
    with pytest.raises(Problem, match="expected a signature"):
        ask(body, {})


@pytest.mark.parametrize("failure", [Busy("64 requests wait already"), TimedOut("the request took longer than 10 s")])
def test_coral_goes_on_where_the_service_fails(ask: Ask, failure: Exception) -> None:
    said: list[str] = []
    status, body = ask(*Coral().request("Bring a coat."), Screening(failure), on_message=said.append)
    assert (status, body) == (200, b"{}")
    assert said == [f"a comment of Coral was not screened, and goes on: {failure}"]


def test_half_a_surrogate_pair_does_not_pass_by(ask: Ask) -> None:
    workers = Screening()
    body, headers = Coral().request("Bring a coat. \ud800")
    assert rb"\ud800" in body
    assert Coral().decision(*ask(body, headers, workers)) == "SYSTEM_WITHHELD"
    assert workers.texts == ["Bring a coat. \ufffd"]


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]", b'{"comment": {"body": 1}}', b"[" * 100_000, b"\xff", b'{"comment": 1}']
)
def test_what_is_no_request_of_coral_is_refused(ask: Ask, body: bytes) -> None:
    with pytest.raises(InvalidInput, match=r"comment\.body: expected a request of Coral's external moderation phase"):
        ask(body, Coral().signed(body))


def test_secrets_are_read_again_when_they_change(tmp_path: Path) -> None:
    path, said = tmp_path / "secrets", list[str]()
    path.write_text(OLDER)
    secrets = secrets_of(path, parse_coral_secret, said.append)
    path.write_text(f"{OLDER}\r\n{CORAL_SECRET}\r\n")
    assert secrets.content() == (OLDER.encode(), CORAL_SECRET.encode())
    path.write_text("short")
    assert secrets.content() == (OLDER.encode(), CORAL_SECRET.encode())
    path.unlink()
    assert len(secrets.content()) == 2
    kept = "the secrets that were read last stay valid"
    assert [each.partition(": ")[2] for each in said] == [
        f"expected a signing secret of Coral, of at least 16 characters; {kept}",
        f"expected a file of secrets: [Errno 2] No such file or directory: '{path}'; {kept}",
    ]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "expected a secret on a line, got an empty file"),
        (b"\n\n", "expected a secret on a line, got an empty file"),
        (b"\xff", "expected a file of secrets: "),
        (f"{CORAL_SECRET}\nshort".encode(), "secrets:2: expected a signing secret of Coral, of at least 16 characters"),
    ],
)
def test_what_is_no_file_of_secrets_is_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    (tmp_path / "secrets").write_bytes(content)
    with pytest.raises(InvalidInput, match=problem):
        secrets_of(tmp_path / "secrets", parse_coral_secret)


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
        call = sent_call("/v1/hooks/article", json.dumps(article).encode())
        reply: Any = await self.hook.route().handler(call)
        assert reply.status_code == 202
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
from test_sites import ARTICLE, Receives, delivering
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


KEYS = [bytes(range(32)), bytes(24)]


@contextmanager
def receiving() -> Iterator[tuple[str, Queue[Any]]]:
    """Address of a receiver, and the headers and bodies that it gets."""
    got: Queue[Any] = Queue()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            got.put(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/hook", got
        server.shutdown()


def test_coral_asks_and_a_webhook_is_told(start: Any, tmp_path: Path) -> None:
    (tmp_path / "coral").write_text(CORAL_SECRET)
    (tmp_path / "hook").write_text("\n".join(f"whsec_{base64.b64encode(key).decode()}" for key in KEYS))
    with receiving() as (url, got):
        words = ("--coral-secret", tmp_path / "coral", "--webhook", url, "--webhook-secret", tmp_path / "hook")
        served = start("plain", "--workers", "1", "--data", tmp_path / "data", *words)
        served.ready()
        coral = Coral()

        def decision(text: str) -> str | None:
            body, headers = coral.request(text)
            answer = served.client.post("/integrations/coral", content=body, headers=headers)
            assert answer.status_code == 200
            return coral.decision(answer.status_code, answer.content)

        assert decision("<div>It rains in Ely &amp; in March.</div>") is None
        assert decision("<div>Buy at <a href='https://web.example/'>this shop</a></div>") == "SYSTEM_WITHHELD"
        answer = served.client.post("/integrations/coral", content=b"{}", headers={"X-Coral-Signature": "sha256=00"})
        assert (answer.status_code, answer.json()["title"]) == (401, "The request has no valid token")

        article = {"id": "n1", "title": "Rain in the north", "content": "It rained on Ely.\n\nIt was wet."}
        accepted = served.client.post("/v1/hooks/article", json=article)
        assert accepted.status_code == 202
        headers, body = got.get(timeout=10)
        assert headers["webhook-id"] == accepted.json()["delivery"]
        assert all(verified([key], headers, body) for key in KEYS)
        message = json.loads(body)
        assert message["type"] == "article.suggested"
        assert message["data"]["article"] == "n1"
        assert message["data"]["suggestions"][0]["provenance"]["label"].startswith("Machine-generated suggestion")
        assert {one["text"] for one in message["data"]["passages"]} == {"It rained on Ely.", "It was wet."}
        assert {"/integrations/coral", "/v1/hooks/article"} <= set(served.client.get("/openapi.json").json()["paths"])


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"webhook": "https://hooks.example/"}, "expected an address and a file of secrets, got one of them"),
        ({"webhook_secret": "secrets"}, "expected an address and a file of secrets, got one of them"),
        ({"webhook": "https://hooks.example/", "webhook_secret": "secrets"}, "expected data"),
    ],
)
def test_options_that_go_together(options: dict[str, str], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        ServiceOptions(**options)  # type: ignore[arg-type]


Make = Any


def test_a_killed_service_has_lost_nothing_that_it_acknowledged(start: Make, tmp_path: Path) -> None:
    tokens, audit, data = tmp_path / "tokens.json", tmp_path / "audit.jsonl", tmp_path / "data"
    token = add_token(tokens, "cms", AddTokenOptions(scopes=("suggest", "label")))
    here = start("plain", "--workers", "1", "--tokens", tokens, "--audit", audit, "--data", data)
    here.ready()
    here.client.headers["authorization"] = f"Bearer {token}"
    assert here.client.post("/v1/suggest", json={"article": {"title": "Rain in the north"}}).status_code == 200
    numbers, stored = count(), []

    def send() -> None:
        try:
            while True:
                label = {"article": f"a{next(numbers)}", "text": "Bring a coat.", "show": True}
                if here.client.post("/v1/labels", json=label).status_code == 201:
                    stored.append(label["article"])
                if len(stored) >= 100:
                    here.process.send_signal(signal.SIGKILL)
        except httpx2.TransportError:
            pass

    with ThreadPoolExecutor(4) as pool:
        for sending in [pool.submit(send) for _ in range(4)]:
            sending.result()
    here.process.wait(20)
    store = ServiceStore.open(data)
    assert len(stored) >= 100
    assert {label.article for label in store.labels()} >= set(stored)
    store.close()
    lines = [json.loads(line) for line in audit.read_text().splitlines()]
    assert check_audit([audit]).files[0].lines == len(lines) >= 100
    assert lines[0]["route"] == "POST /v1/suggest"
    assert lines[0]["model"]
    assert {line["token"] for line in lines} == {"cms"}


PAGE = (Path(__file__).parents[2] / "docs/interleave.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:8000"


def test_the_page_from_question_to_answer(start: Callable[..., Served], tmp_path: Path) -> None:
    (_, question), (outcomes, events) = re.findall(
        rf"^curl {ADDRESS}(\S+) --json '(.*?)'$", PAGE, re.MULTILINE | re.DOTALL
    )
    assert f"curl {ADDRESS}{outcomes} > outcomes.jsonl\n" in PAGE
    of_page = json.loads(events)["outcomes"]
    service = start("base=plain", "new=both", "--workers", "1", "--data", str(tmp_path / "data"))
    service.ready()
    asked = json.loads(question)
    for number in range(6):
        asked["article"]["id"] = f"a{number}"
        found = service.client.post("/v1/suggest", json=asked).json()
        assert {0, 1} == {one["team"] for one in found["suggestions"]}
        done = [event | {"impression": found["impression"]} for event in of_page]
        assert service.client.post(outcomes, json={"outcomes": done}).status_code == 201
    (tmp_path / "outcomes.jsonl").write_bytes(service.client.get(outcomes).content)
    service.stop(signal.SIGTERM)
    compared = postil.compare_interleaved(tmp_path / "outcomes.jsonl", baseline="base")
    assert (compared.pairs[0].shown, compared.rows[0].wins + compared.rows[0].losses) == (6, 6)
    assert compared.ranks[1].model_clicked + compared.ranks[1].baseline_clicked == 6
