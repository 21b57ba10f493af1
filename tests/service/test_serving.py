"""`postil serve` in a process of its own: requests, refusals, and its end."""

from __future__ import annotations

import json
import os
import signal
import socket
from typing import TYPE_CHECKING, Any

import pytest

from postil.errors import PostilError
from postil.service.config import ServiceConfig
from postil.service.options import ServiceOptions
from postil.service.server import serve
from postil.web.tokens import AddTokenOptions, add_token

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
Make = Any
RAIN = {"article": {"title": "Rain in the north"}}


def problem(response: Any, status: int) -> dict[str, Any]:
    """The problem document of a response."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    found: dict[str, Any] = response.json()
    assert found["status"] == status
    return found


def test_a_suggestion_has_its_provenance(served: Make) -> None:
    answer = served.client.post("/v1/suggest", json=RAIN)
    assert answer.status_code == 200
    found = answer.json()
    assert found["model"] == "plain"
    assert found["suggestions"][0]["text"] == "Rain today, rain tomorrow."
    assert found["suggestions"][0]["provenance"]["label"].startswith("Machine-generated suggestion")
    assert served.client.post("/v1/suggest", json=RAIN | {"model": "two"}).json()["model"] == "two"


def test_the_other_operations_have_routes(served: Make) -> None:
    """Their answers are tested with the operations; here that each is reached."""
    ask = served.client.post
    thread = [{"id": "1", "text": "Rain again.", "upvotes": 1}, {"id": "2", "text": "Bring a coat.", "upvotes": 9}]
    ranked = ask("/v1/rank", json={"article": {"title": "Rain", "comments": thread}, "by": {"votes": 1}}).json()
    assert [one["comment"] for one in ranked["comments"]] == ["2", "1"]
    assert ask("/v1/screen", json={"text": "You fucking idiot."}).json()["decision"] == "hold"
    texts = {"candidates": [{"item": "1", "text": "rain"}], "references": [{"item": "1", "text": "rain"}]}
    assert ask("/v1/score", json={**texts, "metrics": ["bleu-1"]}).json()["scores"][0]["score"] == pytest.approx(1)
    passages = ask("/v1/interesting", json={"text": "Rain fell on rain.\n\nNothing.", "k": 1}).json()["passages"]
    assert [(one["start"], one["end"]) for one in passages] == [(0, 18)]


def test_a_supervisor_sees_that_it_lives(served: Make) -> None:
    for path in ("/healthz", "/readyz"):
        assert served.client.get(path).json() == {"status": "ok", "workers": 2}
        empty = served.client.head(path)
        assert (empty.status_code, empty.content) == (200, b"")


def test_wrong_fields_are_named(served: Make) -> None:
    found = problem(served.client.post("/v1/suggest", json=RAIN | {"k": "5"}), 422)
    wrong = 'expected an integer from 1 to 100, got "5"; write it without quotes'
    assert found["errors"] == [{"field": "k", "detail": wrong}]
    found = problem(served.client.post("/v1/suggest", json=RAIN | {"model": "plane"}), 422)
    assert "did you mean 'plain'?" in found["detail"]
    assert found["errors"][0]["field"] == "model"
    scored = {"candidates": [{"item": 1, "text": "rain"}], "references": [{"item": 1, "text": "rain"}]}
    found = problem(served.client.post("/v1/score", json=scored | {"metrics": ["roug"]}), 422)
    assert found["errors"][0]["field"] == "metrics"


@pytest.mark.parametrize(
    "body",
    [b"", b"[" * 1900, b'{"article": {"title": "\xff"}}'],
)
def test_what_is_no_request_is_refused(served: Make, body: bytes) -> None:
    assert problem(served.client.post("/v1/suggest", content=body), 422)["type"] == "/docs#invalid"


def test_odd_texts_are_texts(served: Make) -> None:
    for title in ("\0", "\u202e\ufffe", "雨", "𝄞" * 99, ""):
        answer = served.client.post("/v1/suggest", content=json.dumps({"article": {"title": title}}))
        assert answer.status_code == 200
        assert answer.json()["suggestions"] or answer.json()["reason"]


def test_each_response_has_an_id(served: Make) -> None:
    for path in ("/healthz", "/nowhere", "/v1/suggest"):
        assert served.client.get(path, headers={"x-request-id": "mine-1"}).headers["x-request-id"] == "mine-1"
        assert len(served.client.get(path, headers={"x-request-id": "a b"}).headers["x-request-id"]) == 16
    assert problem(served.client.get("/nowhere", headers={"x-request-id": "x"}), 404)["instance"] == "/nowhere#x"


def test_requests_that_are_not_for_it(served: Make) -> None:
    ask = served.client
    assert problem(ask.get("/v1/suggest"), 405)["detail"] == "/v1/suggest takes POST, not GET"
    assert ask.get("/v1/suggest").headers["allow"] == "POST"
    assert ask.put("/healthz").headers["allow"] == "GET, HEAD"
    problem(ask.post("/v1/suggest", json=RAIN, headers={"origin": "http://evil.example"}), 403)
    problem(ask.post("/v1/suggest", json=RAIN, headers={"host": "evil.example"}), 421)
    problem(ask.post("/v1/suggest", content=b"x", headers={"content-encoding": "gzip"}), 415)
    refused = ask.post("/v1/suggest", content=b"x" * 2001)
    assert problem(refused, 413)["detail"] == "The request is larger than 2,000 bytes."
    assert refused.headers["x-request-id"]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: " + b"x" * 70_000, 431),
        (b"POST /v1/suggest HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n1\r\n" * 200, 400),
        (b"POST /v1/suggest HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9999999999999\r\n\r\n", 413),
    ],
)
def test_requests_that_are_never_complete(served: Make, sent: bytes, status: int) -> None:
    with socket.create_connection(("localhost", served.client.base_url.port)) as one:
        one.sendall(sent)
        answer = b""
        while not answer.partition(b"\r\n\r\n")[2]:  # the body may come by itself
            more = one.recv(65536)
            assert more, answer
            answer += more
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert head.count(b"x-request-id: ") == 1
    assert json.loads(body)["status"] == status


def test_it_reloads_and_its_end_waits_for_requests(start: Make, folders: Path) -> None:
    link = folders / "link"
    link.symlink_to("plain")
    here = start("link", "--workers", "1")
    here.ready()
    link.unlink()
    here.process.send_signal(signal.SIGHUP)
    assert here.wait_for("not reloaded, the models that were opened before go on: ")
    link.symlink_to("both")
    here.process.send_signal(signal.SIGHUP)
    assert here.wait_for("reloaded")
    assert here.client.get("/v1/models").json()["models"][0]["kind"] == "ir-tc"
    body = json.dumps(RAIN).encode()
    with socket.create_connection(("localhost", here.client.base_url.port)) as one:
        head = f"POST /v1/suggest HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(body)}\r\n"
        one.sendall(f"{head}expect: 100-continue\r\n\r\n".encode())
        assert one.recv(25) == b"HTTP/1.1 100 Continue\r\n\r\n"  # so the request is being served
        one.sendall(body)
        here.process.send_signal(signal.SIGTERM)
        assert one.recv(12) == b"HTTP/1.1 200"
    assert here.end() == -signal.SIGTERM
    assert here.log[3:] == ["postil: interrupted\n"]


@pytest.mark.usefixtures("_small_workers")
def test_a_model_that_cannot_be_opened_ends_it(folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = ServiceConfig(models={"x": "nowhere"})
    monkeypatch.setattr(ServiceConfig, "of_folders", lambda *_: wrong)
    said: list[str] = []
    with pytest.raises(PostilError, match="nowhere: No such file"):
        serve([str(folders / "plain")], ServiceOptions(port=0, workers=2), on_message=said.append)
    assert said == []
    add_token(tmp_path / "tokens.json", "cms", AddTokenOptions(scopes=("suggest",)))
    for https in (False, True):
        options = ServiceOptions(host="0.0.0.0", port=0, workers=2, tokens=str(tmp_path / "tokens.json"), https=https)  # noqa: S104 - it is told
        with pytest.raises(PostilError, match="nowhere: No such file"):
            serve([str(folders / "plain")], options, on_message=said.append)
    assert [line.partition(":")[0] for line in said] == ["other machines reach this address by HTTP"]
