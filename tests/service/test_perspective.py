"""Clients of Perspective at the service: of its documentation, of Coral and Discourse; keys, and the form of errors."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for small_screens

import small_screens
from small_screens import made_screen

from postil.erasure.models import noted
from postil.errors import MissingExtra
from postil.service import screens
from postil.service.options import ServiceOptions
from postil.service.server import Service
from postil.service.worker import InternalError
from postil.web.connections import ConnectionLimits, listen, make_server
from postil.web.problems import Busy, TimedOut, unseen_refusal
from postil.web.tokens import AddTokenOptions, add_token

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.data.rows import Decision

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")

RUDE = "Du dummer Depp, halt einfach deinen Mund!"
ANALYZE = "/v1alpha1/comments:analyze"
SUGGEST = "/v1alpha1/comments:suggestscore"
ASKED = {"comment": {"text": RUDE}, "requestedAttributes": {"TOXICITY": {}}, "languages": ["de"]}
APPROVED = {"comment": {"text": RUDE}, "attributeScores": {"APPROVED": {"summaryScore": {"value": 1}}}}


@dataclass
class Site:
    """A service, with the key of a client that may screen and of one that may not."""

    address: str
    service: Service
    folder: Path
    key: str
    other: str
    said: list[str] = field(default_factory=list)

    @property
    def decisions(self) -> list[Decision]:
        assert self.service.store is not None
        return list(self.service.store.decisions())

    def post(self, path: str, content: object, key: str | None = None, **headers: str) -> Any:
        parameters = {} if key is None else {"key": key}
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        return httpx2.post(f"{self.address}{path}", content=body, params=parameters, headers=headers, timeout=30)

    def analyze(self, content: object = ASKED, key: str | None = None, **headers: str) -> Any:
        return self.post(ANALYZE, content, self.key if key is None else key, **headers)


@contextmanager
def running(folder: Path, *folders: Path, store: bool = True, rate: int | None = None, **more: Any) -> Iterator[Site]:
    tokens = folder / "tokens.json"
    key = add_token(tokens, "coral", AddTokenOptions(scopes=("screen",), rate=rate))
    other = add_token(tokens, "cms", AddTokenOptions(scopes=("suggest", "admin", "read", "metrics")))
    chosen = folders or (made_screen(folder / "site"),)
    options = ServiceOptions(
        screens=tuple(map(str, chosen)),
        tokens=str(tokens),
        workers=1,
        audit=str(folder / "audit.jsonl"),
        data=str(folder / "data") if store else None,
        **more,
    )
    said: list[str] = []
    service = Service((), options, said.append)
    loop = asyncio.new_event_loop()
    with closing(service), listen("127.0.0.1", 0) as (listening, address):
        limits = ConnectionLimits(body_bytes=options.max_body)
        server = make_server(service.app(), limits=limits, worded=unseen_refusal)

        async def run() -> None:
            await service.start(service.config())
            await server.serve(sockets=[listening])
            await service.stop()

        with ThreadPoolExecutor(1) as thread:
            ended = thread.submit(loop.run_until_complete, run())
            while not server.started and not ended.done():
                time.sleep(0.01)
            try:
                yield Site(address, service, folder, key, other, said)
            finally:
                server.should_exit = True
                ended.result(20)
                loop.close()


@pytest.fixture(autouse=True)
def _small_screens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screens, "Screen", small_screens.SmallScreen)
    monkeypatch.setattr("postil.service.pool.open_models", small_screens.open_models)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A service that no test ends."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(screens, "Screen", small_screens.SmallScreen)
        patch.setattr("postil.service.pool.open_models", small_screens.open_models)
        with running(tmp_path_factory.mktemp("site")) as found:
            yield found


def test_libraries_of_google_make_their_methods_of_a_description_at_the_address(site: Site) -> None:
    described = f"{site.address}/$discovery/rest"
    found = httpx2.get(described, params={"version": "v1alpha1", "key": site.key}, timeout=30).json()
    methods = found["resources"]["comments"]["methods"]
    for name, body in (("analyze", ASKED), ("suggestscore", APPROVED)):
        method = methods[name]
        assert {method["request"]["$ref"], method["response"]["$ref"]} <= found["schemas"].keys()
        address = f"{found['rootUrl']}{found['servicePath']}{method['path']}"
        answer = httpx2.request(method["httpMethod"], address, json=body, params={"key": site.key, "alt": "json"})
        assert answer.status_code == 200, answer.text
    other = httpx2.get(described, params={"version": "v2"}, timeout=30)
    assert (other.status_code, other.json()["detail"]) == (404, "there is no version v2; expected v1alpha1")


class DocumentedClient:
    """A client as the public documentation of Perspective describes one: an address, a key, two methods."""

    def __init__(self, address: str, key: str) -> None:
        self.address, self.key = address, key

    def call(self, method: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = httpx2.post(f"{self.address}/v1alpha1/comments:{method}?key={self.key}", json=body, timeout=30)
        found: dict[str, Any] = answer.json()
        if answer.status_code != 200:
            error = found["error"]
            assert error["code"] == answer.status_code
            raise ValueError(f"{error['status']}: {error['message']}", error.get("details", []))
        return found

    def scores(self, text: str, *attributes: str, **more: object) -> dict[str, float]:
        body = {"comment": {"text": text, "type": "PLAIN_TEXT"}, "requestedAttributes": {one: {} for one in attributes}}
        found = self.call("analyze", body | more)
        assert found["languages"] == more.get("languages", found.get("detectedLanguages"))
        assert found.get("clientToken") == more.get("clientToken")
        for scores in found["attributeScores"].values():
            assert scores["summaryScore"]["type"] == "PROBABILITY"
            assert all(0 <= span["begin"] < span["end"] <= len(text) for span in scores["spanScores"])
        return {one: scores["summaryScore"]["value"] for one, scores in found["attributeScores"].items()}

    def scores_with_retries(self, text: str, *attributes: str) -> dict[str, float]:
        """Ask again without the attributes that the service names as unsupported, as clients do."""
        try:
            return self.scores(text, *attributes, languages=["de"])
        except ValueError as error:
            details = error.args[1]
            assert all(one["errorType"] == "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE" for one in details)
            without = {one["languageNotSupportedByAttributeError"]["attribute"] for one in details}
            return self.scores(text, *(one for one in attributes if one not in without), languages=["de"])


def test_a_client_of_the_documentation_changes_its_address_and_key(site: Site) -> None:
    client = DocumentedClient(site.address, site.key)
    asked = {"languages": ["de"], "clientToken": "7", "sessionId": "s", "communityId": "/forum", "doNotStore": True}
    assert client.scores(RUDE, "TOXICITY", "SPAM", **asked) == {"TOXICITY": 0.9, "SPAM": 0.125}
    assert client.scores("Danke für diesen schönen und ausführlichen Artikel.", "TOXICITY") == {"TOXICITY": 0.125}
    six = ("TOXICITY", "SEVERE_TOXICITY", "IDENTITY_ATTACK", "INSULT", "PROFANITY", "THREAT")
    assert client.scores_with_retries(RUDE, *six) == {"TOXICITY": 0.9, "INSULT": 0.9}
    assert client.scores(RUDE, *six, dropUnsupportedAttributes=True, languages=["de"]).keys() == {"TOXICITY", "INSULT"}
    with pytest.raises(ValueError, match="INVALID_ARGUMENT: Comment must be non-empty"):
        client.scores(" ", "TOXICITY")
    told = {
        "comment": {"text": "Eine Meinung."},
        "attributeScores": {"TOXICITY": {"summaryScore": {"value": 0}}},
        "communityId": "/forum/movies",
        "clientToken": "comment-53922",
    }
    assert client.call("suggestscore", told)["clientToken"] == "comment-53922"


class Coral:
    """Coral's calls, as its server makes them: the address of its settings, and the key in the query."""

    def __init__(self, endpoint: str, key: str) -> None:
        self.endpoint, self.key = endpoint.strip().rstrip("/"), key.strip()

    def send(self, operation: str, body: dict[str, Any]) -> Any:
        return httpx2.post(f"{self.endpoint}/{operation}", params={"key": self.key}, json=body, timeout=30)

    def analyze(self, text: str, model: str = "TOXICITY", language: str = "de") -> Any:
        body = {
            "comment": {"text": text},
            "doNotStore": True,
            "requestedAttributes": {model: {}},
            "languages": [language],
        }
        found = self.send("comments:analyze", body)
        return found.json()["attributeScores"][model]["summaryScore"]["value"] if found.is_success else found

    def feedback(
        self, text: str, status: str, comment: str, parent: str | None = None, *, of: str = "", **more: Any
    ) -> Any:
        about = {
            "url": f"https://news.example/rain?p=1&commentID={comment}",
            "reply_to_id_Coral_comment_id": parent,
            "Coral_comment_id": comment,
        }
        scores = {of: int(status != "APPROVED")} if of else {status: 1}
        body = {
            "comment": {"text": text},
            "context": {"entries": [{"text": json.dumps({key: each for key, each in about.items() if each})}]},
            "attributeScores": {name: {"summaryScore": {"value": value}} for name, value in scores.items()},
            "languages": ["de"],
            "communityId": "Coral:https://comments.news.example",
            "clientToken": f"comment:{comment}",
        }
        return self.send("comments:suggestscore", body | more)


def test_coral_asks_and_tells_what_its_moderators_decide(tmp_path: Path) -> None:
    with running(tmp_path) as site:
        coral = Coral(f" {site.address}/v1alpha1/ ", f"{site.key} ")
        assert coral.analyze(RUDE) == 0.9
        assert coral.analyze("Guten Tag.") == 0.125
        assert site.decisions == []
        for answer in (
            coral.feedback(RUDE, "APPROVED", "c-1"),
            coral.feedback("Guten Tag.", "DELETED", "c-2", "c-1"),
            coral.feedback(RUDE, "DELETED", "c-1"),  # changes the decision
            coral.feedback("Noch einer.", "APPROVED", "c-3", of="TOXICITY"),  # as newer versions tell it
            coral.feedback("Das bleibt geheim.", "DELETED", "c-4", doNotStore=True),
        ):
            assert answer.status_code == 200
            assert answer.json()["clientToken"].startswith("comment:c-")
        rows = [(one.text, one.decision, one.article, one.id) for one in site.decisions]
        article = "https://news.example/rain?p=1"
        assert rows == [
            ("Guten Tag.", "hold", article, "c-2"),
            (RUDE, "hold", article, "c-1"),
            ("Noch einer.", "keep", article, "c-3"),
        ]
        assert all(one.date for one in site.decisions)
        headers = {"authorization": f"Bearer {site.other}"}
        answer = httpx2.get(f"{site.address}/v1/decisions", headers=headers)
        assert [json.loads(line)["decision"] for line in answer.text.splitlines()] == ["hold", "hold", "keep"]
        metrics = httpx2.get(f"{site.address}/metrics", headers=headers).text
        assert "\npostil_decisions 3.0\n" in metrics
        assert noted(site.folder / "site")[1]
        assert site.post("/v1/reload", {}, authorization=f"Bearer {site.other}").status_code == 200
        assert noted(site.folder / "site")[1]  # as before: nobody else erases from it
        assert site.service.store is not None
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, site.service.store.forget({(article, "c-1")}, [])).result(20)
        assert [one.id for one in site.decisions] == ["c-2", "c-3"]
    content = b"".join(file.read_bytes() for file in (tmp_path / "data").iterdir())
    assert RUDE.encode() not in content
    assert b"geheim" not in content


def test_discourse_asks_with_its_key_and_without_a_language(site: Site) -> None:
    body = {
        "comment": {"text": RUDE},
        "doNotStore": True,
        "sessionId": "https://forum.example_7",
        "requestedAttributes": {"TOXICITY": {"scoreType": "PROBABILITY"}},
    }
    found = site.analyze(body, **{"accept": "*/*", "user-agent": "Discourse/3.5"})
    assert found.json()["attributeScores"]["TOXICITY"]["summaryScore"]["value"] == 0.9


@pytest.mark.parametrize("header", ["x-goog-api-key", "authorization"])
def test_a_header_has_the_key_too(site: Site, header: str) -> None:
    value = f"Bearer {site.key}" if header == "authorization" else site.key
    assert site.analyze(key="", **{header: value}).status_code == 200


def error_of(answer: Any) -> dict[str, Any]:
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-request-id"]
    found = answer.json()
    assert found.keys() == {"error"}
    assert found["error"]["code"] == answer.status_code
    error: dict[str, Any] = found["error"]
    return error


def test_keys_that_are_missing_or_wrong(site: Site) -> None:
    error = error_of(site.analyze(key=""))
    assert (error["code"], error["status"]) == (403, "PERMISSION_DENIED")
    assert error["message"].startswith("expected a key: a token of this service with the scope screen")
    error = error_of(site.analyze(key="postil_wrong"))
    assert (error["code"], error["status"]) == (400, "INVALID_ARGUMENT")
    assert error["message"].startswith("API key not valid")
    assert error["details"][0]["reason"] == "API_KEY_INVALID"
    error = error_of(site.analyze(key=site.other))
    assert (error["code"], error["status"]) == (403, "PERMISSION_DENIED")
    assert "the token 'cms' lacks the scope screen" in error["message"]


def test_a_key_in_an_address_is_none_elsewhere(site: Site) -> None:
    found = site.post("/v1/screen", {"text": "Rain"}, site.key)
    assert (found.status_code, found.headers["content-type"]) == (401, "application/problem+json")
    assert site.post("/v1/screen", {"text": "Rain"}, **{"x-goog-api-key": site.key}).status_code == 401


@pytest.mark.parametrize("path", [ANALYZE, SUGGEST])
@pytest.mark.parametrize(
    ("body", "problem", "field"),
    [
        (b"{", "expected JSON, got something else at line 1", None),
        (b"[]", "expected an object in braces, got an array", None),
        (b"\xff", "expected JSON in UTF-8", None),
        (b'{"comment": "a"}', 'comment: expected an object in braces, got "a"', "comment"),
        (b'{"comment": {"text": 5}}', "comment.text: expected text", "comment.text"),
        (b'{"comment": {"text": "a"}, "languages": "de"}', "languages: expected", "languages"),
        (b"[" * 100_000, "the JSON is nested too deeply", None),
        (b'{"comment": {"text": "a"}, "clientToken": ' + b"9" * 5000 + b"}", "", None),
    ],
)
def test_bodies_that_are_wrong_get_the_form_of_errors(
    site: Site, path: str, body: bytes, problem: str, field: str | None
) -> None:
    error = error_of(site.post(path, body, site.key))
    assert (error["code"], error["status"]) == (400, "INVALID_ARGUMENT")
    assert problem in error["message"]
    if field is not None:
        assert error["details"][0]["fieldViolations"][0]["field"] == field


def test_all_other_refusals_have_the_form_of_errors(site: Site) -> None:
    missing = error_of(site.post("/v1alpha1/comments:judge", ASKED, site.key))
    assert (missing["code"], missing["status"]) == (404, "NOT_FOUND")
    method = error_of(httpx2.get(f"{site.address}{ANALYZE}", params={"key": site.key}))
    assert (method["code"], method["status"]) == (404, "NOT_FOUND")
    large = error_of(site.post(ANALYZE, b" " * 1_100_000, site.key))
    assert (large["code"], large["status"]) == (400, "INVALID_ARGUMENT")
    assert "larger than 1,048,576 bytes" in large["message"]
    packed = error_of(site.analyze(**{"content-encoding": "gzip"}))
    assert (packed["code"], packed["status"]) == (400, "INVALID_ARGUMENT")
    foreign = error_of(site.analyze(origin="https://evil.example"))
    assert (foreign["code"], foreign["status"]) == (403, "PERMISSION_DENIED")
    host = error_of(site.analyze(host="evil.example"))
    assert (host["code"], host["status"]) == (400, "INVALID_ARGUMENT")
    query = error_of(site.post(ANALYZE, ASKED, "k" * 9000))
    assert "longer than 8,192 bytes" in query["message"]


def test_a_text_of_a_megabyte_is_refused_by_its_length(site: Site) -> None:
    error = error_of(site.analyze(ASKED | {"comment": {"text": "Du Depp! " * 111_000}}))
    assert error["details"][0]["errorType"] == "COMMENT_TOO_LONG"


@pytest.mark.parametrize("half", ["\\ud83d", "\\udE00", "\\uD83d\\ud83d"])
def test_half_of_a_surrogate_pair_is_no_way_past_a_screen(site: Site, half: str) -> None:
    body = json.dumps(ASKED).replace(RUDE, f"Depp {half} und \\ud83d\\ude00").encode()
    found = site.analyze(body)
    assert found.status_code == 200, found.text
    assert found.json()["attributeScores"]["TOXICITY"]["summaryScore"]["value"] == 0.9


def test_a_client_of_too_many_requests_has_to_wait(tmp_path: Path) -> None:
    with running(tmp_path, rate=2) as site:
        assert [site.analyze().status_code for _ in range(2)] == [200, 200]
        limited = site.analyze()
        error = error_of(limited)
        assert (error["code"], error["status"]) == (429, "RESOURCE_EXHAUSTED")
        assert int(limited.headers["retry-after"]) > 0


@pytest.mark.parametrize(
    ("problem", "told"),
    [
        (Busy("256 requests wait already"), (503, "UNAVAILABLE")),
        (TimedOut("the request took longer than 10 s"), (504, "DEADLINE_EXCEEDED")),
        (InternalError("an internal error"), (500, "INTERNAL")),
        (MissingExtra("HTML", "pages"), (501, "UNIMPLEMENTED")),
        (RuntimeError("a defect"), (500, "INTERNAL")),
    ],
)
@pytest.mark.parametrize("path", [ANALYZE, SUGGEST])
def test_failures_have_the_form_of_errors(
    site: Site, monkeypatch: pytest.MonkeyPatch, path: str, problem: Exception, told: tuple[int, str]
) -> None:
    async def fail(*_: object) -> bytes:
        raise problem

    monkeypatch.setattr(site.service.pool, "call", fail)
    answer = site.post(path, APPROVED | ASKED, site.key)
    error = error_of(answer)
    assert (error["code"], error["status"]) == told
    assert ("retry-after" in answer.headers) == (told[0] == 503)


def test_a_service_without_a_store_says_what_starts_it_with_one(tmp_path: Path) -> None:
    with running(tmp_path, store=False) as site:
        error = error_of(site.post(SUGGEST, APPROVED, site.key))
        assert (error["code"], error["status"]) == (501, "UNIMPLEMENTED")
        assert "postil serve" in error["message"]
        assert "--data DIR" in error["message"]


def test_the_key_is_nowhere_in_what_the_service_writes(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = "postil_wrong-but-secret"
    with running(tmp_path) as site:
        answers = [
            site.analyze(),
            site.analyze(key=wrong),
            site.post(ANALYZE, b"{", site.key),
            site.post("/v1alpha1/comments:none", ASKED, site.key),
            site.post(ANALYZE, ASKED, f"{wrong}{'x' * 9000}"),
            site.post(SUGGEST, APPROVED, site.key),
            httpx2.get(f"{site.address}/metrics", headers={"authorization": f"Bearer {site.other}"}),
        ]

        async def fail(*_: object) -> bytes:
            raise RuntimeError("a defect, whose traceback is in the log")

        monkeypatch.setattr(site.service.pool, "call", fail)
        answers.append(site.post(SUGGEST, APPROVED, site.key))
        said = site.said
    audit = (tmp_path / "audit.jsonl").read_text()
    assert '"route":"POST /v1alpha1/comments:analyze"' in audit
    assert '"token":"coral"' in audit
    log = capfd.readouterr()
    assert "a defect, whose traceback is in the log" in log.err
    written = [audit, *said, *log, *(one.text for one in answers)]
    written += [str(dict(one.headers)) for one in answers]
    assert not any(secret in text for text in written for secret in (site.key, wrong))
    with closing(sqlite3.connect(tmp_path / "data" / "service.db")) as connection:
        assert site.key not in "\n".join(connection.iterdump())


def test_screens_are_read_again_and_a_folder_is_told_to_nobody(tmp_path: Path) -> None:
    with running(tmp_path) as site:
        headers = {"authorization": f"Bearer {site.other}"}
        before = httpx2.get(f"{site.address}/v1/models", headers=headers).json()["models"]
        assert (before[0]["name"], before[0]["kind"]) == ("site", "screen")
        (tmp_path / "site" / "small.json").unlink()
        found = site.post("/v1/reload", b"{}", **headers)
        assert found.status_code == 409
        assert "model site: no such folder; expected a screen" in found.text
        assert str(tmp_path) not in found.text
        assert site.analyze().status_code == 200
        (tmp_path / "site").rmdir()
        made_screen(tmp_path / "site", {"insult": ["guten"]})
        found = site.post("/v1/reload", b"{}", **headers)
        assert found.status_code == 200
        assert found.json()["models"][0]["hash"] != before[0]["hash"]
        answer = site.analyze(ASKED | {"comment": {"text": "Guten Tag"}})
        assert answer.json()["attributeScores"]["TOXICITY"]["summaryScore"]["value"] == 0.9
