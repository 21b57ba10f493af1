"""Tokens, limits, metrics, the audit log, labels and outcomes of the service, by its application in this process."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

pytest.importorskip("prometheus_client", reason="needs the web extra")

from starlette.testclient import TestClient

from postil.data.suggestions import Provenance
from postil.errors import PostilError, UsageError
from postil.service.bodies import SuggestResponse
from postil.service.options import ServiceOptions
from postil.service.server import Service
from postil.web.audit_log import check_audit
from postil.web.guard import bearer_of
from postil.web.tokens import AddTokenOptions, add_token, revoke_token

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUGGESTED = SuggestResponse(
    article="a1",
    model=None,
    model_hash=None,
    suggestions=(),
    filtered=(),
    reason=None,
    models=("base", "new"),
    model_hashes=("8d0c", "1f3a"),
)


class FakePool:
    """Workers that answer with one response."""

    models = b""
    pids: tuple[int, ...] = (1, 2)
    waiting = 0
    answer = msgspec.json.encode(SUGGESTED)

    async def call(self, name: str, request: bytes) -> bytes:  # noqa: ARG002
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Site:
    """A service and a client of it.

    Args:
        service: The service.
        folder: Where its files are.
    """

    def __init__(self, service: Service, folder: Path) -> None:
        self.pool: Any = FakePool()
        service.pool = self.pool
        self.service, self.folder = service, folder
        self.client = TestClient(service.app(), base_url="http://localhost")
        self.token = ""

    def ask(self, method: str, path: str, *, token: str | None = None, **more: Any) -> Any:
        presented = self.token if token is None else token
        headers = more.pop("headers", {}) | ({"authorization": f"Bearer {presented}"} if presented else {})
        return self.client.request(method, path, headers=headers, **more)

    def add(self, name: str, *scopes: str, rate: int | None = None) -> str:
        return add_token(self.folder / "tokens.json", name, AddTokenOptions(scopes=scopes, rate=rate))

    @property
    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / "audit.jsonl").read_text().splitlines()]


@contextmanager
def running(folder: Path, **options: Any) -> Iterator[Site]:
    service = Service(["model"], ServiceOptions(**options))
    site = Site(service, folder)
    try:
        with site.client:  # one event loop for all requests, since turns outlive a request
            yield site
    finally:
        service.close()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A service with everything, and a token with every right that is asked for here."""
    file = tmp_path / "tokens.json"
    token = add_token(file, "all", AddTokenOptions(scopes=("suggest", "label", "read", "metrics")))
    names = {"tokens": str(file), "audit": str(tmp_path / "audit.jsonl"), "data": str(tmp_path / "data")}
    with running(tmp_path, **names) as found:
        found.token = token
        yield found


@pytest.fixture
def open_site(tmp_path: Path) -> Iterator[Site]:
    """A service without tokens."""
    with running(tmp_path, data=str(tmp_path / "data"), audit=str(tmp_path / "audit.jsonl")) as found:
        yield found


def problem(response: Any, status: int) -> str:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["status"] == status
    detail: str = response.json()["detail"]
    return detail


LABEL = {"article": "a1", "text": "Bring a coat.", "show": True}


@pytest.mark.parametrize(
    ("header", "challenge"),
    [
        ({}, 'Bearer realm="postil"'),
        ({"authorization": ""}, 'Bearer realm="postil"'),
        ({"authorization": "Bearer"}, 'Bearer realm="postil"'),
        ({"authorization": "Basic dTpw"}, 'Bearer realm="postil"'),
        ({"authorization": "Bearer postil_wrong"}, 'Bearer realm="postil", error="invalid_token"'),
        ({"authorization": b"Bearer \xff"}, 'Bearer realm="postil", error="invalid_token"'),
        ({"authorization": f"Bearer {'x' * 5000}"}, 'Bearer realm="postil", error="invalid_token"'),
        ({"cookie": "postil-desk-web=postil_wrong"}, 'Bearer realm="postil", error="invalid_token"'),
        ({"cookie": "\x01=;;="}, 'Bearer realm="postil"'),
    ],
)
def test_without_a_valid_token_nothing_is_told(site: Site, header: dict[str, Any], challenge: str) -> None:
    for method, path in (("POST", "/v1/suggest"), ("GET", "/v1/labels"), ("GET", "/metrics"), ("GET", "/v1/models")):
        refused = site.client.request(method, path, headers=header)
        assert "token" in problem(refused, 401)
        assert refused.headers["www-authenticate"] == challenge
    assert site.client.get("/healthz").status_code == 200
    assert [(line["status"], line.get("token")) for line in site.log] == [(401, None)] * 4


def test_a_token_has_its_scopes_alone(site: Site) -> None:
    reader = site.add("reader", "read")
    assert site.ask("GET", "/v1/labels", token=reader).status_code == 200
    refused = site.ask("POST", "/v1/suggest", token=reader, json={})
    assert problem(refused, 403) == (
        "the token 'reader' lacks the scope suggest; it has read; "
        "whoever runs the service can make one with it: postil tokens add FILE NAME --scope suggest"
    )
    assert refused.headers["www-authenticate"].endswith('error="insufficient_scope", scope="suggest"')
    problem(site.ask("GET", "/v1/models", token=reader), 503)  # any token may; no model is open here
    revoke_token(site.folder / "tokens.json", "reader")
    problem(site.ask("GET", "/v1/labels", token=reader), 401)
    assert [(line.get("token"), line["status"]) for line in site.log] == [
        ("reader", 200),
        ("reader", 403),
        ("reader", 503),
        (None, 401),
    ]


def test_a_browser_presents_its_token_in_a_cookie(site: Site) -> None:
    def ask(cookie: str, **more: str) -> int:
        headers = {"cookie": cookie, **more}
        status: int = site.client.get("/v1/labels", headers=headers).status_code
        return status

    assert ask(f"lang=en; postil-desk-web={site.token}") == 200
    assert ask(f"postil-desk-8000={site.token}") == 401, "that of another port"
    assert ask(f"postil-desk-8000={site.token}", host="localhost:8000") == 200
    assert ask(f"postil-desk-web={site.token}", authorization="Bearer postil_wrong") == 401
    headers = {"cookie": f"postil-desk-web={site.token}", "origin": "http://evil.example"}
    problem(site.client.post("/v1/labels", json=LABEL, headers=headers), 403)
    assert bearer_of({}) == ""


def test_a_token_has_its_own_limit(tmp_path: Path) -> None:
    token = add_token(tmp_path / "tokens.json", "slow", AddTokenOptions(scopes=("read",), rate=1))
    with running(tmp_path, tokens=str(tmp_path / "tokens.json"), rate=3, data=str(tmp_path / "data")) as site:
        assert site.ask("GET", "/v1/labels", token=token).status_code == 200
        refused = site.ask("GET", "/v1/labels", token=token)
        assert problem(refused, 429) == "there are too many requests; wait 60 s and send it again"
        assert refused.headers["retry-after"] == "60"
        usual = site.add("usual", "read")
        assert [site.ask("GET", "/v1/labels", token=usual).status_code for _ in range(4)] == [200, 200, 200, 429]
        wrong = [site.ask("GET", "/v1/labels", token="postil_x").status_code for _ in range(4)]  # noqa: S106
        assert wrong == [401, 401, 401, 429], "guessing is limited by address"
        assert {site.client.get("/healthz").status_code for _ in range(9)} == {200}


def test_without_tokens_an_address_is_limited(tmp_path: Path) -> None:
    with running(tmp_path, rate=2) as site:
        assert [site.ask("POST", "/v1/suggest", json={}).status_code for _ in range(3)] == [200, 200, 429]


@pytest.mark.parametrize("options", [{"host": "0.0.0.0"}, {"name": ("news.example",)}, {"https": True}])  # noqa: S104
def test_others_need_tokens(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"^tokens: expected a file of tokens, as other machines reach the service"):
        ServiceOptions(**options)
    ServiceOptions(**options, tokens="tokens.json")
    for host in ("localhost", "127.0.0.7", "::1"):
        ServiceOptions(host=host)


def test_the_log_has_models_and_numbers_and_no_text(site: Site) -> None:
    site.ask("POST", "/v1/suggest", json={"article": {"title": "A secret title"}}, headers={"x-request-id": "r1"})
    site.ask("POST", "/v1/labels", json={"labels": [LABEL | {"text": "A secret text"}] * 2})
    site.ask("GET", "/v1/labels")
    site.ask("GET", "/secret-path")
    text = (site.folder / "audit.jsonl").read_text()
    assert "ecret" not in text
    assert site.token.removeprefix("postil_") not in text
    kept = [{name: line.get(name) for name in ("route", "status", "token", "model", "counts")} for line in site.log]
    assert kept == [
        {"route": "POST /v1/suggest", "status": 200, "token": "all", "model": "8d0c+1f3a", "counts": None},
        {"route": "POST /v1/labels", "status": 201, "token": "all", "model": None, "counts": {"stored": 2}},
        {"route": "GET /v1/labels", "status": 200, "token": "all", "model": None, "counts": None},
        {"route": "other", "status": 404, "token": None, "model": None, "counts": None},
    ]
    assert site.log[0]["request"] == "r1"
    assert check_audit([site.folder / "audit.jsonl"]).files[0].lines == 4


def test_reloading_goes_on_in_a_new_log(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    async def reload() -> None: ...

    monkeypatch.setattr(site.service.upkeep, "reload", reload)
    site.ask("GET", "/v1/labels")
    log, old = site.folder / "audit.jsonl", site.folder / "audit.jsonl.1"
    log.rename(old)
    asyncio.run(site.service.reload())
    site.ask("GET", "/v1/labels")
    assert [one.lines for one in check_audit([old, log]).files] == [1, 1]


def test_addresses_and_methods_that_there_are_not(open_site: Site) -> None:
    ask = open_site.ask
    for path in ("/static/{name}", "/static/a/b", "/static/none.css", "/static/", "/healthz/", "/v1"):
        assert "/docs lists the addresses" in problem(ask("GET", path), 404), path
    for method, path, allowed in (
        ("POST", "/static/postil.css", "GET, HEAD"),
        ("BREW", "/v1/score", "POST"),
        ("PUT", "/v1/labels", "DELETE, GET, HEAD, POST"),
    ):
        refused = ask(method, path)
        assert problem(refused, 405) == f"{path} takes {allowed}, not {method}"
        assert refused.headers["allow"] == allowed


def test_a_head_reads_nothing(open_site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def labels() -> Iterator[Any]:
        raise AssertionError
        yield

    monkeypatch.setattr(open_site.service.store, "labels", labels)
    head = open_site.ask("HEAD", "/v1/labels")
    assert (head.status_code, head.headers["content-type"], head.content) == (200, "application/jsonl", b"")


def test_metrics_count_what_happened(site: Site) -> None:
    site.ask("POST", "/v1/suggest", json={})
    site.ask("POST", "/v1/labels", json=LABEL)
    site.ask("GET", "/nowhere-1")
    site.ask("GET", "/nowhere-2")
    found = site.ask("GET", "/metrics")
    assert found.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    for line in (
        'postil_requests_total{route="POST /v1/suggest",status="200"} 1.0',
        'postil_requests_total{route="other",status="404"} 2.0',
        "postil_requests_in_flight 1.0",
        "postil_workers 2.0",
        "postil_labels 1.0",
    ):
        assert line in found.text.splitlines()
    assert "nowhere" not in found.text


def test_labels_are_stored_and_read(open_site: Site) -> None:
    ask = open_site.ask
    assert ask("GET", "/v1/labels").text == ""
    first = ask("POST", "/v1/labels", json=LABEL | {"id": 7, "unknown": [1]})
    assert (first.status_code, first.json()) == (201, {"stored": 1})
    several = {"labels": [LABEL | {"id": "7"}, LABEL | {"show": "hide", "reason": "unkind"}]}
    assert ask("POST", "/v1/labels", json=several).json() == {"stored": 1}
    assert ask("POST", "/v1/labels", json={"labels": []}).json() == {"stored": 0}
    read = ask("GET", "/v1/labels")
    assert read.headers["content-type"] == "application/jsonl"
    assert [json.loads(line) for line in read.text.splitlines()] == [
        LABEL,
        LABEL | {"show": False, "reason": "unkind"},
    ]


WRONG_LABELS: tuple[tuple[Any, str, str], ...] = (
    ({}, "article, text, show", "missing; a sent label needs article, text, show; this row has: no fields"),
    (LABEL | {"show": "perhaps"}, "show", 'expected true or false, show or hide, 1 or 0; got "perhaps"'),
    (LABEL | {"text": " "}, "text", "expected the text of a suggestion, got an empty one"),
    (LABEL | {"rank": 0}, "rank", "expected a rank from 1, got 0"),
    ({"labels": [LABEL, LABEL | {"text": 3}]}, "labels[1].text", "expected text, got 3"),
    ({"labels": [LABEL, LABEL | {"text": ""}]}, "labels[1].text", "expected the text of a suggestion"),
    ({"labels": [LABEL, 3]}, "labels[1]", "expected an object in braces, got 3"),
    ({"labels": 3}, "labels", "expected an array, got 3"),
    ({"labels": [LABEL | {"id": [1]}]}, "labels[0].id", "expected text or an integer, got an array"),
)


def test_a_label_that_is_none_is_refused_whole(open_site: Site) -> None:
    for body, field, detail in WRONG_LABELS:
        refused = open_site.ask("POST", "/v1/labels", json=body)
        problem(refused, 422)
        [found] = refused.json()["errors"]
        assert found["field"] == field
        assert found["detail"].startswith(detail)
    assert open_site.ask("GET", "/v1/labels").text == ""


def test_what_is_no_json_is_refused(open_site: Site) -> None:
    deep = b"[" * 50_000
    for body in (b"", b"{", b"[]", b"null", deep, b'{"labels": [' + deep, b"\xff", b'{"text": "\\ud800"}'):
        for path in ("/v1/labels", "/v1/outcomes"):
            problem(open_site.ask("POST", path, content=body), 422)


def test_too_much_is_refused(open_site: Site) -> None:
    ten = json.dumps({"labels": [LABEL | {"text": "x" * 10_000_000}]})
    assert "larger than 1,048,576 bytes" in problem(open_site.ask("POST", "/v1/labels", content=ten), 413)
    assert open_site.log[-1]["status"] == 413


def suggested(*teams: int | None) -> bytes:
    made = {
        "text": "Bring a coat.",
        "score": 1.0,
        "rank": 1,
        "provenance": msgspec.to_builtins(
            Provenance("Machine-generated suggestion", "retrieved", "ir-tc", "8d0c", (), None, None)
        ),
    }
    document = msgspec.to_builtins(SUGGESTED) | {"suggestions": [made | {"team": team} for team in teams]}
    return json.dumps(document, separators=(",", ":")).encode()


def test_interleaved_suggestions_have_an_impression_with_outcomes(open_site: Site) -> None:
    ask = open_site.ask
    assert "impression" not in ask("POST", "/v1/suggest", json={}).json(), "there is no suggestion"
    open_site.pool.answer = suggested(0, 1, 1)
    found = ask("POST", "/v1/suggest", json={}).json()
    assert [one["team"] for one in found["suggestions"]] == [0, 1, 1]
    event = {"impression": found["impression"], "event": "clicked", "rank": 2}
    assert ask("POST", "/v1/outcomes", json=event).json() == {"stored": 1}
    several = {"outcomes": [event, event | {"event": "hidden", "rank": 3}, event | {"event": "shown", "rank": None}]}
    assert ask("POST", "/v1/outcomes", json=several).status_code == 201
    assert ask("GET", "/v1/outcomes").json() == {
        "impression": found["impression"],
        "article": "a1",
        "models": ["base", "new"],
        "teams": [0, 1, 1],
        "clicked": [2],
        "shown": True,
        "answered": [],
        "hidden": [3],
    }
    for wrong, field in (
        (event | {"impression": "none"}, "impression"),
        (event | {"rank": 4}, "rank"),
        (event | {"event": "liked"}, "event"),
        ({"outcomes": [event, event | {"rank": "2"}]}, "outcomes[1].rank"),
    ):
        refused = ask("POST", "/v1/outcomes", json=wrong)
        problem(refused, 422)
        assert refused.json()["errors"][0]["field"] == field


def test_a_service_without_a_store_says_so(tmp_path: Path) -> None:
    with running(tmp_path) as site:
        for method, path in (("POST", "/v1/labels"), ("GET", "/v1/outcomes")):
            assert problem(site.ask(method, path, **({"json": LABEL} if method == "POST" else {})), 404) == (
                "this service stores nothing; whoever runs it can start it with postil serve --data DIR"
            )
        site.pool.answer = suggested(0, 1)
        assert "impression" not in site.ask("POST", "/v1/suggest", json={}).json()
        assert site.ask("GET", "/metrics").status_code == 200


def test_files_are_closed_where_one_cannot_be_opened(tmp_path: Path) -> None:
    add_token(tmp_path / "tokens.json", "cms", AddTokenOptions(scopes=("read",)))
    (tmp_path / "file").write_text("x")
    names = {"tokens": str(tmp_path / "tokens.json"), "audit": str(tmp_path / "audit.jsonl")}
    with pytest.raises(PostilError):
        Service(["model"], ServiceOptions(**names, data=str(tmp_path / "file")))
    with running(tmp_path, **names, data=str(tmp_path / "data")) as site:
        assert site.client.get("/healthz").status_code == 200


def test_nothing_of_a_request_is_logged_elsewhere(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="postil"):
        site.ask("POST", "/v1/labels", json=LABEL)
    assert caplog.text == ""
