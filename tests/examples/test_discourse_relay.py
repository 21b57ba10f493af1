"""The relay from Discourse to the service, between a client and two servers written from their documentation."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

KEY = "of the forum"


class _Peer(HTTPServer):
    """The service and the forum in one: it keeps the requests, and answers by route."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.seen: list[tuple[str, dict[str, str], Any]] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _Answer(BaseHTTPRequestHandler):
    server: _Peer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((self.path, dict(self.headers), body))
        rude = body.get("text") == "You idiot."
        answer: dict[str, object] = {"decision": "hold", "reasons": ["an insult"]} if rude else {"decision": "accept"}
        data = json.dumps(answer).encode()
        self.send_response(500 if body.get("text") == "break" else 200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def peer() -> Iterator[_Peer]:
    with _Peer() as server:
        yield server
        server.shutdown()


@pytest.fixture
def relay(example: Callable[[str], ModuleType], peer: _Peer) -> Iterator[Any]:
    script = example("discourse_relay")
    url = f"http://127.0.0.1:{peer.server_port}"
    with script.Relay(("127.0.0.1", 0), script.Settings(url, "t", url, "k", "system", KEY)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def _deliver(relay: Any, body: bytes, *, key: str = KEY, event: str = "post_created") -> int:
    signature = "sha256=" + hmac.new(key.encode(), body, hashlib.sha256).hexdigest()
    headers = {"X-Discourse-Event": event, "X-Discourse-Event-Signature": signature}
    request = urllib.request.Request(f"http://127.0.0.1:{relay.server_port}/", body, headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return int(error.code)


def _post(number: int, text: str, **fields: object) -> bytes:
    return json.dumps({"post": {"id": number, "raw": text, "topic_title": "Bus", **fields}}).encode()


def test_held_posts_are_flagged(relay: Any, peer: _Peer, capsys: pytest.CaptureFixture[str]) -> None:
    """The moderators hear of what the service would hold, and of nothing else."""
    assert _deliver(relay, _post(1, "More trips, please.")) == 202
    assert _deliver(relay, _post(2, "You idiot.")) == 202
    assert _deliver(relay, _post(3, "You idiot.", staff=True)) == 202
    assert _deliver(relay, _post(4, "break")) == 202
    assert _deliver(relay, _post(5, "Thanks.")) == 202
    relay.posts.join()
    flags = [(headers, body) for path, headers, body in peer.seen if path == "/post_actions.json"]
    assert [(body["id"], body["post_action_type_id"]) for _, body in flags] == [(2, 7)]
    assert "an insult" in flags[0][1]["message"]
    assert (flags[0][0]["Api-Key"], flags[0][0]["Api-Username"]) == ("k", "system")
    screened = [(headers["Authorization"], body["text"]) for path, headers, body in peer.seen if path == "/v1/screen"]
    assert screened == [("Bearer t", text) for text in ("More trips, please.", "You idiot.", "break", "Thanks.")]
    assert "post 4: not screened" in capsys.readouterr().err


def test_other_deliveries_are_refused(relay: Any, peer: _Peer) -> None:
    """Nothing is asked for what is not signed, not JSON, not a new post, or too large."""
    assert _deliver(relay, _post(1, "Hello."), key="another") == 403
    assert _deliver(relay, b"not JSON") == 400
    assert _deliver(relay, b'{"post": [1]}') == 400
    assert _deliver(relay, _post(1, "Hello."), event="post_edited") == 204
    relay.posts.join()
    assert peer.seen == []


def test_settings(example: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch) -> None:
    """Missing settings are named."""
    script = example("discourse_relay")
    monkeypatch.setenv("POSTIL_URL", "http://127.0.0.1")
    monkeypatch.delenv("DISCOURSE_KEY", raising=False)
    with pytest.raises(SystemExit, match="DISCOURSE_KEY"):
        script.Settings.of_environment()
