"""Tokens, known again by the service, and the requests that they may send in a minute."""

from __future__ import annotations

import json
import stat
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from postil.cli.main import app
from postil.errors import InvalidInput, PostilError, UnknownName, UsageError
from postil.web.security import RequestLimits, client_key
from postil.web.tokens import PREFIX, SCOPES, AddTokenOptions, Token, Tokens, add_token, revoke_token

if TYPE_CHECKING:
    from pathlib import Path


SUGGEST = AddTokenOptions(scopes=("suggest",))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tokens.json"


def facts(token: Token | None) -> tuple[str, set[str], int | None] | None:
    """Name, rights and rate of a token."""
    return None if token is None else (token.name, set(token.scopes), token.rate)


def edited(file: Path, **fields: object) -> None:
    """The first token with other fields."""
    content = json.loads(file.read_bytes())
    content["tokens"][0] |= fields
    file.write_text(json.dumps(content))


def test_a_token_is_known_again_by_its_scopes_and_its_rate(file: Path) -> None:
    token = add_token(file, "cms", AddTokenOptions(scopes=("rank", "suggest", "rank"), rate=60))
    other = add_token(file, "desk", AddTokenOptions(scopes=("desk",)))
    known = Tokens(file)
    assert facts(known.identify(token)) == ("cms", {"suggest", "rank"}, 60)
    assert facts(known.identify(other)) == ("desk", {"desk"}, None)


def test_tokens_are_random_and_the_file_has_none_of_them(file: Path) -> None:
    tokens = [add_token(file, f"client {number}", SUGGEST) for number in range(3)]
    assert len(set(tokens)) == 3
    assert all(token.startswith(PREFIX) and len(token) == len(PREFIX) + 43 for token in tokens)
    assert not any(token.removeprefix(PREFIX) in file.read_text() for token in tokens)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("bearer", ["", "postil_", "postil_" + "a" * 43, "\ud800", "\0", "x" * 100_000, "é"])
def test_another_token_is_unknown(file: Path, bearer: str) -> None:
    token = add_token(file, "cms", SUGGEST)
    known = Tokens(file)
    assert known.identify(bearer) is None
    assert known.identify(token + bearer) is (None if bearer else known.identify(token))


def test_a_revoked_token_is_refused_at_once(file: Path) -> None:
    token, other = add_token(file, "cms", SUGGEST), add_token(file, "desk", SUGGEST)
    known = Tokens(file)
    assert known.identify(token) is not None
    revoke_token(file, "cms")
    assert known.identify(token) is None
    assert known.identify(other) is not None
    with pytest.raises(UsageError, match="'cms' was revoked at 2"):
        revoke_token(file, "cms")


def test_an_expired_token_is_refused(file: Path) -> None:
    token = add_token(file, "cms", AddTokenOptions(scopes=("suggest",), days=1))
    known = Tokens(file)
    assert known.identify(token) is not None
    edited(file, expires="2020-01-01T00:00:00Z")
    assert known.identify(token) is None


def test_a_new_token_is_known_without_a_restart(file: Path) -> None:
    add_token(file, "cms", SUGGEST)
    known = Tokens(file)
    assert known.identify(add_token(file, "desk", SUGGEST)) is not None


def test_a_broken_file_keeps_the_tokens_that_were_read_last(file: Path) -> None:
    token = add_token(file, "cms", SUGGEST)
    warnings: list[str] = []
    known = Tokens(file, warnings.append)
    file.write_text("{")
    assert all(known.identify(token) is not None for _ in range(3))
    file.unlink()
    assert known.identify(token) is not None
    assert len(warnings) == 2, "one for each state of the file"
    assert warnings[0].startswith(f"{file}: expected the JSON of postil tokens: ")
    assert all(warning.endswith("; the tokens that were read last stay valid") for warning in warnings)
    other = add_token(file, "desk", SUGGEST)
    assert known.identify(token) is None
    assert known.identify(other) is not None


def test_no_change_is_lost_when_several_are_made_at_once(file: Path) -> None:
    with ThreadPoolExecutor(6) as pool:
        tokens = list(pool.map(lambda number: add_token(file, f"client {number}", SUGGEST), range(6)))
    known = Tokens(file)
    assert all(known.identify(token) is not None for token in tokens)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "expected the JSON of postil tokens"),
        (b"\xff\xfe", "expected the JSON of postil tokens"),
        (b"[" * 100_000, "expected the JSON of postil tokens"),
        (b"[]", "expected an object in braces, got an array"),
        (b"{}", "tokens: missing; a file needs tokens;"),
        (b'{"tokens": 3}', "tokens: expected an array, got 3"),
    ],
)
def test_another_file_is_refused(file: Path, content: bytes, problem: str) -> None:
    file.write_bytes(content)
    for use in (Tokens, lambda path: add_token(path, "cms", SUGGEST), lambda path: revoke_token(path, "cms")):
        with pytest.raises(InvalidInput, match=problem):
            use(file)
    assert file.read_bytes() == content


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"sha256": "AB" * 32}, "sha256: expected 64 hexadecimal digits in lower case"),
        ({"sha256": "postil_abc"}, "sha256: expected 64 hexadecimal digits"),
        ({"scopes": ["suggests"]}, "unknown scope 'suggests'; did you mean 'suggest'"),
        ({"scopes": []}, "expected one of suggest, rank"),
        ({"scopes": "suggest"}, r"tokens\[0\].scopes: expected an array"),
        ({"rate": 0}, "rate: expected at least 1 request per minute, got 0"),
        ({"rate": "60"}, r"tokens\[0\].rate: expected an integer.*write it without quotes"),
        ({"expires": "soon"}, "expected a date such as"),
        ({"expires": "2020-01-01"}, "expires: expected a date such as 2020-01-01T00:00:00Z, got 2020-01-01"),
        ({"name": "\x1b[31m"}, "name: expected 1 to 64 printable characters"),
    ],
)
def test_a_field_that_is_wrong_is_named(file: Path, fields: dict[str, object], problem: str) -> None:
    add_token(file, "cms", SUGGEST)
    edited(file, **fields)
    with pytest.raises(PostilError, match=problem):
        Tokens(file)


def test_a_name_stands_for_one_token(file: Path) -> None:
    add_token(file, "cms", SUGGEST)
    with pytest.raises(UsageError, match="there is a token 'cms' already; choose another name, such as 'cms-2'"):
        add_token(file, "cms", SUGGEST)
    content = json.loads(file.read_bytes())
    file.write_text(json.dumps({"tokens": content["tokens"] * 2}))
    with pytest.raises(InvalidInput, match="expected every name once, got 'cms' twice"):
        Tokens(file)


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "\ud800", "n" * 65])
def test_a_name_that_is_none_is_refused(file: Path, name: str) -> None:
    with pytest.raises(UsageError, match="name: expected 1 to 64 printable characters"):
        add_token(file, name, SUGGEST)
    assert not file.exists()


def test_scopes_are_checked() -> None:
    with pytest.raises(UnknownName, match="unknown scope 'disk'; did you mean 'desk'"):
        AddTokenOptions(scopes=("disk",))
    with pytest.raises(UsageError, match="expected one of suggest"):
        AddTokenOptions(scopes=())
    assert AddTokenOptions(scopes=SCOPES).scopes == SCOPES


def test_a_folder_that_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"parent folder .*/none does not exist"):
        add_token(tmp_path / "none" / "tokens.json", "cms", SUGGEST)


def test_the_command_line_makes_lists_and_revokes(file: Path) -> None:
    def run(*words: str) -> tuple[int, str, str]:
        result = CliRunner().invoke(app, ["tokens", *words])
        return result.exit_code, result.stdout, result.stderr

    code, token, said = run("add", str(file), "cms", "--scope", "suggest", "--scope", "read", "--rate", "60")
    assert (code, said) == (0, f"{file}: added 'cms'; the token is not shown again:\n")
    assert facts(Tokens(file).identify(token.removesuffix("\n"))) == ("cms", {"suggest", "read"}, 60)
    assert run("add", str(file), "old", "--scope", "desk", "--days", "3")[0] == 0
    edited(file, expires="2020-01-01T00:00:00Z")
    assert run("revoke", str(file), "old") == (0, "", f"{file}: revoked 'old'\n")
    code, listed, _ = run("list", str(file), "--format", "jsonl")
    assert code == 0
    assert [(row["name"], row["state"], row["rate"]) for row in map(json.loads, listed.splitlines())] == [
        ("cms", "expired", 60),
        ("old", "revoked", None),
    ]
    assert run("revoke", str(file), "odl")[::2] == (
        2,
        "postil: unknown token 'odl'; did you mean 'old'? Known: cms, old\n",
    )


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_client_gets_its_requests_and_is_told_when_to_come_again() -> None:
    limits = RequestLimits(60, clock=(clock := Clock()))
    assert [limits.take("a") for _ in range(61)] == [0] * 60 + [1]
    clock.now = 2.0
    assert [limits.take("a") for _ in range(3)] == [0, 0, 1]
    clock.now = 1000.0
    assert [limits.take("a") for _ in range(61)] == [0] * 60 + [1], "no more than a minute's requests are saved up"


def test_waiting_as_long_as_told_is_enough() -> None:
    limits = RequestLimits(7, clock=(clock := Clock()))
    for _ in range(50):
        clock.now += (wait := limits.take("a"))
        assert wait == 0 or limits.take("a") == 0


def test_refused_requests_cost_nothing() -> None:
    limits = RequestLimits(1, clock=(clock := Clock()))
    assert [limits.take("a") for _ in range(100)] == [0] + [60] * 99
    clock.now = 60.0
    assert limits.take("a") == 0


def test_clients_do_not_share_a_bucket_and_may_have_limits_of_their_own() -> None:
    limits = RequestLimits(1, clock=Clock())
    assert [limits.take("a"), limits.take("b"), limits.take("a")] == [0, 0, 60]
    assert [limits.take("c", rate=2) for _ in range(3)] == [0, 0, 30]


def test_without_a_limit_nobody_waits_and_nobody_is_remembered() -> None:
    limits = RequestLimits(clock=Clock())
    assert {limits.take("a") for _ in range(1000)} == {0}
    assert len(limits) == 0
    assert [limits.take("a", rate=1), limits.take("a", rate=1)] == [0, 60]


def test_memory_is_bounded() -> None:
    limits = RequestLimits(60, clients=10, clock=(clock := Clock()))
    assert {limits.take(f"client {number}") for number in range(1000)} == {0}
    assert len(limits) == 10
    clock.now = 61.0
    limits.take("new")
    assert len(limits) == 1, "clients with a full bucket are forgotten"


def test_a_flood_of_others_does_not_free_a_busy_client() -> None:
    limits = RequestLimits(2, clients=10, clock=Clock())
    assert [limits.take("busy"), limits.take("busy")] == [0, 0]
    for number in range(9):
        limits.take(f"other {number}")
    assert limits.take("busy") == 30


@given(st.integers(1, 100_000), st.lists(st.floats(0, 90), max_size=60))
def test_no_minute_has_more_than_twice_the_limit(rate: int, pauses: list[float]) -> None:
    limits, times = RequestLimits(rate, clock=(clock := Clock())), list[float]()
    for pause in pauses:
        clock.now += pause
        times += [clock.now] * sum(limits.take("a") == 0 for _ in range(5))
    for start in times:
        assert sum(start <= each < start + 60 for each in times) <= 2 * rate


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("192.0.2.1", "192.0.2.2", False),
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("fe80::1%eth0", "fe80::1%eth0", True),
        ("", "", True),
    ],
)
def test_networks_of_ipv6_are_one_client(one: str, other: str, same: bool) -> None:
    assert (client_key(one) == client_key(other)) is same
