"""The route for Coral, asked as Coral's documentation says that Coral asks.

The client is written after the pages "External Moderation Phases" and "Webhooks" of Coral, and knows nothing of postil.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from postil.errors import InvalidInput
from postil.service.operations import OPERATIONS
from postil.service.sites import coral_route, parse_coral_secret
from postil.web.problems import Busy, Problem, TimedOut
from postil.web.routing import Call
from postil.web.tokens import secrets_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SECRET = "a3f1c2d4e5b6978812340a3f1c2d4e5b"  # noqa: S105 - of these tests
OLDER = "ffee0011223344556677889900aabbcc"


@dataclass
class Coral:
    """Coral's side of an external moderation phase."""

    secrets: tuple[str, ...] = (SECRET,)
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
class Workers:
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
    (tmp_path / "secrets").write_text(f"{OLDER}\n\n  {SECRET}\n")

    def asked(body: bytes, headers: dict[str, str], workers: Workers | None = None, **more: Any) -> tuple[int, bytes]:
        pool: Any = workers or Workers()
        route = coral_route(pool, secrets_of(tmp_path / "secrets", parse_coral_secret), **more)
        sent = {name.lower().encode(): value.encode("latin-1") for name, value in headers.items()}
        call = Call("1", "POST", "/integrations/coral", b"", sent, "", body=body)
        found = asyncio.run(_answer(route, call))
        return found.status, found.body

    return asked


async def _answer(route: Any, call: Call) -> Any:
    return await route.handler(call)


def test_a_comment_is_held_or_goes_on(ask: Ask) -> None:
    coral, workers = Coral(), Workers()
    assert coral.decision(*ask(*coral.request("Bring an umbrella."), workers)) is None
    assert coral.decision(*ask(*coral.request("Bring a coat.", parent="d79b787f"), workers)) == "SYSTEM_WITHHELD"
    assert coral.decision(*ask(*coral.request("Bring a coat."), workers, status="PREMOD")) == "PREMOD"
    assert workers.texts == ["Bring an umbrella.", "Bring a coat.", "Bring a coat."]


@pytest.mark.parametrize(
    ("facts", "flags"), [({"profanity": True}, ["COMMENT_DETECTED_TOXIC"]), ({"profanity": False}, []), ({}, [])]
)
def test_only_profanity_is_flagged_as_toxic(ask: Ask, facts: dict[str, bool], flags: list[str]) -> None:
    _, body = ask(*Coral().request("coat"), Workers(facts=facts))
    assert [each["reason"] for each in json.loads(body).get("actions", [])] == flags
    assert "tags" not in json.loads(body)


def test_a_picture_without_text_goes_on(ask: Ask) -> None:
    coral = Coral()
    assert coral.decision(*ask(*coral.request("coat"), Workers(facts={"empty": True}))) is None


@pytest.mark.parametrize("secrets", [(SECRET,), (OLDER,), (OLDER, SECRET), ("another secret", SECRET)])
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
    status, body = ask(*Coral().request("Bring a coat."), Workers(failure), on_message=said.append)
    assert (status, body) == (200, b"{}")
    assert said == [f"a comment of Coral was not screened, and goes on: {failure}"]


def test_half_a_surrogate_pair_does_not_pass_by(ask: Ask) -> None:
    workers = Workers()
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
    path.write_text(f"{OLDER}\r\n{SECRET}\r\n")
    assert secrets.content() == (OLDER.encode(), SECRET.encode())
    path.write_text("short")
    assert secrets.content() == (OLDER.encode(), SECRET.encode())
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
        (f"{SECRET}\nshort".encode(), "secrets:2: expected a signing secret of Coral, of at least 16 characters"),
    ],
)
def test_what_is_no_file_of_secrets_is_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    (tmp_path / "secrets").write_bytes(content)
    with pytest.raises(InvalidInput, match=problem):
        secrets_of(tmp_path / "secrets", parse_coral_secret)
