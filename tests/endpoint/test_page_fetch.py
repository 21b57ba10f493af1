from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING

import pytest

from postil.endpoint import page_fetch
from postil.endpoint.page_fetch import FetchLimits, Page, fetch_page, is_public
from postil.errors import InvalidInput
from raw_server import raw_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

# A certificate for the name site.example, until 2120, that signs itself.
KEY = """-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgh2Byhk85a5P0Ph3o
WT7FDhBpGY3hd8YdRz8B6Vm40RChRANCAARf0OZi1JFyHS+PdtyoYISL72OUKyj+
4pszezGKQteo4dVLpvjrILhbBOxIo+Ocm+Fk/BIeRlY1GwfWz5tDPfwZ
-----END PRIVATE KEY-----
"""
CERTIFICATE = """-----BEGIN CERTIFICATE-----
MIIBajCCARCgAwIBAgIBATAKBggqhkjOPQQDAjAXMRUwEwYDVQQDDAxzaXRlLmV4
YW1wbGUwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBcxFTATBgNV
BAMMDHNpdGUuZXhhbXBsZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABF/Q5mLU
kXIdL4923KhghIvvY5QrKP7imzN7MYpC16jh1Uum+OsguFsE7Eij45yb4WT8Eh5G
VjUbB9bPm0M9/BmjSzBJMBcGA1UdEQQQMA6CDHNpdGUuZXhhbXBsZTAPBgNVHRMB
Af8EBTADAQH/MB0GA1UdDgQWBBRVdB3tbvZ8b6nqQ7z0/Ohdc1e47jAKBggqhkjO
PQQDAgNIADBFAiEA2LG+5teDCYuHWiHae9xUFFBcXwWT5VFHPaOqiqcpWA0CICns
NAhFuywI0ad+dh6FLn2/FwDrpOuHjBP8qjD5iR12
-----END CERTIFICATE-----
"""
PAGE = b"<html><p>Rain in Ely.</p></html>"


def reply(body: bytes = PAGE, status: str = "200 OK", kind: str = "text/html", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"content-type: {kind}", f"content-length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


@dataclass
class Site:
    """A server of one reply by path: bytes, or a list of bytes between which a hundredth of a second passes."""

    replies: dict[str, bytes | list[bytes]]
    port: int = 0
    hosts: list[str] = field(default_factory=list)
    lookups: list[str] = field(default_factory=list)
    addresses: dict[str, Sequence[str]] = field(default_factory=dict)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.hosts.append(head.lower().partition("host: ")[2].partition("\r\n")[0])
        parts = self.replies[head.split(" ")[1]]
        for part in [parts] if isinstance(parts, bytes) else parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0 if isinstance(parts, bytes) else 0.01)

    async def resolve(self, host: str, _: int) -> Sequence[str]:
        self.lookups.append(host)
        return self.addresses.get(host, ["127.0.0.1"])


@asynccontextmanager
async def served(replies: dict[str, bytes | list[bytes]], context: ssl.SSLContext | None = None) -> AsyncIterator[Site]:
    site = Site(replies)
    async with raw_server(site.answer, context) as site.port:
        yield site


SMALL = FetchLimits(size=10_000, seconds=5)


def fetched(replies: bytes | list[bytes] | dict[str, bytes | list[bytes]], limits: FetchLimits = SMALL) -> Page:
    async def run() -> Page:
        async with served(replies if isinstance(replies, dict) else {"/": replies}) as site:
            url = f"http://site.example:{site.port}"
            return await fetch_page(url, limits=limits, allow_private=True, resolve=site.resolve)

    return asyncio.run(run())


PUBLIC = "93.184.216.34 8.8.8.8 172.15.0.1 172.32.0.1 192.0.3.1 2606:2800:220:1::1 ::ffff:8.8.8.8 64:ff9b::808:808"
SPECIAL = """
    0.0.0.0 10.1.2.3 100.64.0.1 100.100.100.200 127.0.0.1 127.255.0.1 168.63.129.16 169.254.169.254 172.16.0.1
    172.31.255.255 192.0.0.192 192.168.1.1 198.18.0.1 198.51.100.1 203.0.113.9 224.0.0.1 240.0.0.1 255.255.255.255
    :: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:169.254.169.254 64:ff9b::a00:1 64:ff9b:1::1 100::1 2001::1 2001:db8::1
    2002:7f00:1:: 3fff::1 fc00::1 fd00:ec2::254 fe80::1 fe80::1%eth0 fec0::1 ff02::1 localhost 1.2.3
"""


def test_public_addresses_are_told_from_all_others() -> None:
    assert [each for each in PUBLIC.split() if not is_public(each)] == []
    assert [each for each in SPECIAL.split() if is_public(each)] == []


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0/",
        "http://localhost/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[2002:7f00:1::]/",
        "https://169.254.169.254/latest/meta-data/",
    ],
)
def test_spellings_of_addresses_inside_are_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match="is inside a private network, or this machine") as caught:
        asyncio.run(fetch_page(url))
    assert caught.value.field == "url"


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("", "expected an http or https address, got ''"),
        ("site.example", "expected an http or https address, got 'site.example'"),
        ("file:///etc/passwd", "expected an http or https address"),
        ("ftp://site.example:80/", "expected an http or https address"),
        ("http:///etc", "expected an http or https address"),
        ("http://site.example:0/", "expected an http or https address"),
        ("http://site.example:99999/", "expected an http or https address"),
        ("http://a\0b/", r"expected an http or https address, got 'http://a\\x00b/'"),
        ("http://\ud800.example/", "expected an http or https address"),
        ("http://me:pw@site.example/", "expected an address without user and password"),
        ("http://site.example:22/", "port 22 is not fetched from; expected 80, 443, "),
        ("http://" + "a" * 5000, "expected an address of at most 4,096 characters, got 5,007"),
        ("http://nowhere.invalid/", "there is no host 'nowhere.invalid'"),
    ],
)
def test_what_is_no_address_of_a_page_is_refused(url: str, problem: str) -> None:
    async def nobody(_: str, __: int) -> Sequence[str]:
        raise OSError

    with pytest.raises(InvalidInput, match=problem):
        asyncio.run(fetch_page(url, resolve=nobody))


def test_a_page_is_fetched_with_its_kind_and_charset() -> None:
    page = fetched(reply(kind="Text/HTML; charset=ISO-8859-1"))
    assert (page.body, page.kind, page.charset) == (PAGE, "text/html", "iso-8859-1")
    assert fetched(reply(gzip.compress(PAGE), content_encoding="gzip")).body == PAGE
    assert fetched(reply(kind="text/plain")).charset is None


async def test_a_name_is_looked_up_once_and_the_connection_goes_to_the_checked_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with served({"/": reply()}) as site:
        monkeypatch.setattr(page_fetch, "PORTS", {site.port})
        monkeypatch.setattr(page_fetch, "is_public", lambda address: address == "127.0.0.1")
        await fetch_page(f"http://site.example:{site.port}/", resolve=site.resolve)
        assert (site.lookups, site.hosts) == (["site.example"], [f"site.example:{site.port}"])
        # One address inside is enough, wherever it stands.
        site.addresses["mixed.example"] = ["127.0.0.1", "10.0.0.1"]
        with pytest.raises(InvalidInput, match=r"'mixed\.example' is inside a private network") as caught:
            await fetch_page(f"http://mixed.example:{site.port}/", resolve=site.resolve)
        assert "10.0.0.1" not in str(caught.value)
        assert len(site.hosts) == 1


@pytest.mark.parametrize(
    ("to", "problem"),
    [
        ("http://inside.example/", r"'inside\.example' is inside a private network"),
        ("//inside.example/", r"'inside\.example' is inside a private network"),
        ("http://127.0.0.2/", r"'127\.0\.0\.2' is inside a private network"),
        ("http://site.example:6379/", "port 6379 is not fetched from"),
        ("http://me@site.example/", "without user and password"),
        ("ftp://site.example/", "expected an http or https address"),
        ("http://a:b/", "redirects to what is no address"),
        ("/", "more than 2 redirects"),
    ],
)
async def test_every_redirect_is_checked(to: str, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with served({"/": reply(b"", "302 Found", location=to)}) as site:
        monkeypatch.setattr(page_fetch, "PORTS", {site.port, 80})
        monkeypatch.setattr(page_fetch, "is_public", lambda address: address == "127.0.0.1")
        site.addresses |= {"inside.example": ["127.0.0.2"], "127.0.0.2": ["127.0.0.2"]}
        url = f"http://site.example:{site.port}/"
        with pytest.raises(InvalidInput, match=problem):
            await fetch_page(url, limits=FetchLimits(redirects=2), resolve=site.resolve)


def test_a_redirect_is_followed() -> None:
    page = fetched({"/": reply(b"", "301 Moved Permanently", location="new?a=1#top"), "/new?a=1": reply()})
    assert page.body == PAGE
    assert page.url.endswith("/new?a=1")


@pytest.mark.parametrize(
    ("replies", "problem"),
    [
        (reply(status="404 Not Found"), r"'site\.example' answers 404 instead of the page"),
        (reply(status="302 Found"), "answers 302 instead of the page"),
        (reply(kind="image/png"), "expected a page of HTML or plain text, got image/png"),
        (reply(kind=""), "expected a page of HTML or plain text, got no content type"),
        (reply(b"x" * 10_001), "the page is larger than 10,000 bytes"),
        (reply(gzip.compress(b"x" * 9_000_000), content_encoding="gzip"), "the page is larger than 10,000 bytes"),
        (reply(b"no gzip", content_encoding="gzip"), "the page cannot be decompressed"),
        (reply(content_encoding="br"), "the page is compressed by 'br'; expected gzip or nothing"),
        (b"SSH-2.0-OpenSSH\r\n", r"'site\.example' gives no answer: the connection was refused or cut"),
        (b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 40_000, "gives no answer"),
        (reply()[:-5], r"'site\.example' broke off"),
    ],
)
def test_what_is_no_page_is_refused(replies: bytes, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        fetched(replies)


@pytest.mark.parametrize("part", [b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n", b""])
def test_a_server_that_drips_is_left(part: bytes) -> None:
    with pytest.raises(InvalidInput, match=r"the page did not arrive within 0\.2 s"):
        fetched([part] + [b"x"] * 1000, FetchLimits(seconds=0.2))


def test_a_name_server_that_does_not_answer_is_left() -> None:
    async def slow(_: str, __: int) -> Sequence[str]:
        await asyncio.sleep(60)
        return []

    with pytest.raises(InvalidInput, match=r"did not arrive within 0\.05 s"):
        asyncio.run(fetch_page("http://site.example/", limits=FetchLimits(seconds=0.05), resolve=slow))


def test_the_thread_that_looks_up_a_name_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    answers, ended = Event(), Event()

    def slow(*_: object, **__: object) -> list[object]:
        answers.wait(60)
        ended.set()
        return []

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    with pytest.raises(InvalidInput, match=r"did not arrive within 0\.05 s"):
        asyncio.run(fetch_page("http://site.example/", limits=FetchLimits(seconds=0.05)))
    assert not ended.is_set()
    answers.set()
    assert ended.wait(60)


def test_the_next_address_is_tried_where_one_cannot_be_reached() -> None:
    async def run() -> tuple[Page, str]:
        async with served({"/": reply()}) as site:
            site.addresses["site.example"] = ["127.0.0.9", "127.0.0.1"]
            url = f"http://site.example:{site.port}/"
            page = await fetch_page(url, allow_private=True, resolve=site.resolve)
            site.addresses["site.example"] = ["127.0.0.9"]
            with pytest.raises(InvalidInput, match="cannot be reached: the connection was refused or cut") as caught:
                await fetch_page(url, allow_private=True, resolve=site.resolve)
            return page, str(caught.value)

    page, problem = asyncio.run(run())
    assert page.body == PAGE
    assert "127.0.0.9" not in problem


async def test_tls_verifies_the_name_and_not_the_address(tmp_path: Path) -> None:
    chain = tmp_path / "site.pem"
    chain.write_text(KEY + CERTIFICATE)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    names: list[str | None] = []
    context.sni_callback = lambda _, name, __: names.append(name)
    trust = ssl.create_default_context(cadata=CERTIFICATE)

    async with served({"/": reply()}, context) as site:
        page = await fetch_page(
            f"https://site.example:{site.port}/", allow_private=True, resolve=site.resolve, trust=trust
        )
        assert (page.body, names) == (PAGE, ["site.example"])
        for name, trusted in (("other.example", trust), ("site.example", None)):
            url = f"https://{name}:{site.port}/"
            with pytest.raises(InvalidInput, match="its certificate is not valid: "):
                await fetch_page(url, allow_private=True, resolve=site.resolve, trust=trusted)
        assert site.hosts == [f"site.example:{site.port}"]
