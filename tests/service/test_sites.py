"""`postil serve` with Coral and a webhook: all that is between them is real."""

from __future__ import annotations

import base64
import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from test_coral import SECRET, Coral
from test_webhook import verified

from postil.errors import UsageError
from postil.service.options import ServiceOptions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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
