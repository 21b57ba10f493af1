"""`postil serve` in a process of its own with all that is real: sites, a store that survives a kill, interleaving."""

from __future__ import annotations

import base64
import json
import re
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from test_coral import SECRET, Coral
from test_webhook import verified

import postil
from postil.errors import UsageError
from postil.service.options import ServiceOptions
from postil.service.store import ServiceStore
from postil.web.audit_log import check_audit
from postil.web.tokens import AddTokenOptions, add_token

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conftest import Served


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
    (tmp_path / "coral").write_text(SECRET)
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
