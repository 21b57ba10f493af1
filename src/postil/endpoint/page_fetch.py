"""Guarded fetch of a page whose address a user named: nothing inside the network is reached, and nothing without end.

A host is looked up once; every address that it leads to is checked, and the connection goes to a checked address, so
that a name which leads elsewhere a moment later gains nothing. TLS still verifies the name.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
import zlib
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Final, TypeAlias

from postil.data.escaping import visible
from postil.endpoint.transport import Unawaited, httpx_for
from postil.errors import InvalidInput
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Sequence

    import httpx2

    Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]

__all__ = ["FetchLimits", "Page", "fetch_page", "is_public", "resolve"]

DEFAULT_PORTS: Final = MappingProxyType({"http": 80, "https": 443})
PORTS: Final = frozenset({80, 443, 8000, 8080, 8443})
"""Ports on which sites are; on others there may be what is no site, even on a public address."""
KINDS: Final = frozenset({"text/html", "application/xhtml+xml", "text/plain"})
LONGEST: Final = 4096
"""Maximum length of an address, in characters."""
ADDRESSES: Final = 4
"""Number of addresses of a host that are tried."""
CONNECT_SECONDS: Final = 5.0
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_CHARSET: Final = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)
_SPECIAL_4: Final = tuple(
    ip_network(each)
    for each in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",  # shared by a provider's customers; also metadata of Alibaba
        "127.0.0.0/8",
        "168.63.129.16/32",  # metadata of Azure, a public address
        "169.254.0.0/16",  # link-local; also metadata of most clouds
        "172.16.0.0/12",
        "192.0.0.0/24",  # protocol assignments; also metadata of Oracle
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",  # multicast, reserved, broadcast
    )
)
"""The special-purpose addresses of IANA's registry that no site of the internet has, and those of metadata services."""
_GLOBAL_6: Final = ip_network("2000::/3")
"""The only addresses of IPv6 that are given out as global unicast addresses."""
_SPECIAL_6: Final = tuple(
    ip_network(each)
    for each in (
        "2001::/23",  # Teredo, ORCHID and others
        "2001:db8::/32",
        "2002::/16",  # 6to4, within which any address of IPv4 can stand
        "3fff::/20",
    )
)
_NAT64: Final = ip_network("64:ff9b::/96")


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchLimits:
    """Limits of a fetch.

    Args:
        size: Maximum size of a page, in bytes, compressed and decompressed.
        seconds: Maximum time from the address to the whole page, with all redirects.
        redirects: Maximum number of redirects.
    """

    size: int = 4 << 20
    seconds: float = 15.0
    redirects: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page as it was fetched.

    Args:
        url: Its address, after redirects.
        body: Its content, decompressed.
        kind: Its media type, one of those that were asked for.
        charset: Its encoding, as the server says; None if it does not.
    """

    url: str
    body: bytes
    kind: str
    charset: str | None


async def resolve(host: str, port: int) -> Sequence[str]:
    """Look up all addresses of a host, in a thread that nothing waits for if no name server answers in time.

    Args:
        host: Its name, or an address in any spelling.
        port: The port.

    Raises:
        OSError: There is none, or no name server answers.
        ValueError: The name cannot be one.
    """
    look_up, loop = socket.getaddrinfo, asyncio.get_running_loop()
    found = await loop.run_in_executor(Unawaited(), look_up, host, port, socket.AF_UNSPEC, socket.SOCK_STREAM)
    return list(dict.fromkeys(str(where[0]) for *_, where in found))


async def fetch_page(
    url: str,
    *,
    limits: FetchLimits = FetchLimits(),
    kinds: Collection[str] = KINDS,
    allow_private: bool = False,
    resolve: Resolve = resolve,
    trust: ssl.SSLContext | None = None,
) -> Page:
    """Fetch a page of HTML or plain text.

    Args:
        url: Its address, ``http`` or ``https``.
        limits: Limits of size, time and redirects.
        kinds: Media types that may be fetched.
        allow_private: True to allow addresses inside the network and all ports: for a person at a shell, who can reach
            them anyway, and never for an address that came over the network.
        resolve: Function that looks up the addresses of a host.
        trust: Certificates to trust; by default those of the system.

    Raises:
        InvalidInput: The address is none or is not allowed, or there is no such page; `field` is ``url``.
        MissingExtra: httpx2 is not installed.
    """
    fetch = _Fetch(
        httpx_for("fetching a page"), limits, kinds, allow_private=allow_private, resolve=resolve, trust=trust
    )
    try:
        async with asyncio.timeout(limits.seconds):
            return await fetch.page(url)
    except TimeoutError:
        raise _problem(f"the page did not arrive within {limits.seconds:g} s") from None


@dataclass(frozen=True, slots=True)
class _Fetch:
    """A fetch, over all redirects."""

    httpx: ModuleType
    limits: FetchLimits
    kinds: Collection[str]
    allow_private: bool
    resolve: Resolve
    trust: ssl.SSLContext | None

    async def page(self, address: str) -> Page:
        url = self._checked(address)
        # `trust_env` is off, as a proxy of the environment would look up the name itself.
        async with self.httpx.AsyncClient(
            verify=self.trust or _context(),
            trust_env=False,
            follow_redirects=False,
            timeout=self.httpx.Timeout(self.limits.seconds, connect=CONNECT_SECONDS),
            # A connection that was kept for one name must not serve another one at the same address.
            limits=self.httpx.Limits(max_keepalive_connections=0),
        ) as client:
            for _ in range(self.limits.redirects + 1):
                found = await self._request(client, url)
                if isinstance(found, Page):
                    return found
                url = self._checked(found)
        raise _problem(f"more than {self.limits.redirects} redirects")

    def _checked(self, address: str) -> httpx2.URL:
        """An address that may be fetched, as far as can be said before its host is looked up."""
        if len(address) > LONGEST:
            raise _problem(f"expected an address of at most {LONGEST:,} characters, got {len(address):,}")
        try:
            url: httpx2.URL = self.httpx.URL(address.strip())
        except (self.httpx.InvalidURL, ValueError) as error:
            raise _problem(
                f"expected an http or https address, got '{_shown(address)}': {visible(str(error))}"
            ) from None
        if url.scheme not in DEFAULT_PORTS or not url.host or not 0 < _port(url) < 1 << 16:
            raise _problem(f"expected an http or https address, got '{_shown(address)}'")
        if url.userinfo:
            raise _problem("expected an address without user and password")
        port = _port(url)
        if port not in PORTS and not self.allow_private:
            raise _problem(f"port {port} is not fetched from; expected {', '.join(map(str, sorted(PORTS)))}")
        return url.copy_with(fragment=None)

    async def _addresses(self, host: str, port: int) -> Sequence[str]:
        try:
            found = await self.resolve(host, port)
        except (OSError, ValueError):  # the latter for names that cannot be one
            found = []
        if not found:
            raise _problem(f"there is no host '{_shown(host)}'")
        if not self.allow_private and not all(is_public(each) for each in found):
            raise _problem(f"'{_shown(host)}' is inside a private network, or this machine, which is not fetched from")
        return found[:ADDRESSES]

    async def _request(self, client: httpx2.AsyncClient, url: httpx2.URL) -> Page | str:
        """The page, or the address that it redirects to."""
        host = url.raw_host.decode("ascii")
        headers = {
            "Host": url.netloc.decode("ascii"),
            "User-Agent": f"postil/{VERSION}",
            "Accept": ",".join(sorted(self.kinds)),
            "Accept-Encoding": "gzip",
        }
        failure: Exception | None = None
        for address in await self._addresses(host, _port(url)):
            request = client.build_request(
                "GET", url.copy_with(host=address), headers=headers, extensions={"sni_hostname": host}
            )
            try:
                response = await client.send(request, stream=True)
            except (self.httpx.ConnectError, self.httpx.ConnectTimeout) as error:
                failure = error
                continue
            except self.httpx.HTTPError as error:
                raise _problem(f"'{_shown(url.host)}' gives no answer: {_reason(error)}") from None
            try:
                return await self._read(response, url)
            except self.httpx.HTTPError as error:
                raise _problem(f"'{_shown(url.host)}' broke off: {_reason(error)}") from None
            finally:
                await response.aclose()
        raise _problem(f"'{_shown(url.host)}' cannot be reached: {_reason(failure)}")

    async def _read(self, response: httpx2.Response, url: httpx2.URL) -> Page | str:
        if response.status_code in REDIRECTS and "location" in response.headers:
            try:
                return str(url.join(response.headers["location"]))
            except (self.httpx.InvalidURL, ValueError):
                raise _problem("the page redirects to what is no address") from None
        if response.status_code != 200:
            raise _problem(f"'{_shown(url.host)}' answers {response.status_code} instead of the page")
        kind, _, more = response.headers.get("content-type", "").partition(";")
        kind = kind.strip().lower()
        if kind not in self.kinds:
            expected = (
                "a page of HTML or plain text" if self.kinds == KINDS else f"one of {', '.join(sorted(self.kinds))}"
            )
            raise _problem(f"expected {expected}, got {_shown(kind) or 'no content type'}")
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in {"identity", "gzip", "x-gzip", ""}:
            raise _problem(f"the page is compressed by '{_shown(encoding)}'; expected gzip or nothing")
        body = bytearray()
        async for chunk in response.aiter_raw():
            body += chunk
            self._check_size(len(body))
        content = bytes(body)
        if encoding in {"gzip", "x-gzip"}:
            try:
                content = zlib.decompressobj(wbits=31).decompress(content, self.limits.size + 1)
            except zlib.error:
                raise _problem("the page cannot be decompressed") from None
            self._check_size(len(content))
        charset = _CHARSET.search(more)
        return Page(url=str(url), body=content, kind=kind, charset=charset and charset[1].lower())

    def _check_size(self, size: int) -> None:
        if size > self.limits.size:
            raise _problem(f"the page is larger than {self.limits.size:,} bytes")


@cache
def _context() -> ssl.SSLContext:
    context: ssl.SSLContext = httpx_for("fetching a page").create_ssl_context(trust_env=False)
    return context


def _port(url: httpx2.URL) -> int:
    return DEFAULT_PORTS[url.scheme] if url.port is None else url.port


def _problem(problem: str) -> InvalidInput:
    return InvalidInput(problem, field="url")


def _shown(text: str) -> str:
    """A text of a stranger, for a message."""
    return visible(text[:100])


def _reason(error: Exception | None) -> str:
    """Reason that a connection failed; without the addresses behind a name, which are not for everyone."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its certificate is not valid: {cause.verify_message}"
        if isinstance(cause, ssl.SSLError):
            return "no secure connection"
        cause = cause.__cause__ or cause.__context__
    return "the connection was refused or cut"


def is_public(address: str) -> bool:
    """True if an address is one of the public internet.

    An address of IPv6 that holds one of IPv4, as a mapped address or by NAT64, is public if that one is.

    Args:
        address: An address of IPv4 or IPv6; anything else is not public.

    >>> [is_public(each) for each in ("93.184.216.34", "169.254.169.254", "::ffff:10.0.0.1", "fe80::1%eth0")]
    [True, False, False, False]
    """
    try:
        found = ip_address(address)
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        inner = found.ipv4_mapped
        if found in _NAT64:
            inner = IPv4Address(int(found) & 0xFFFFFFFF)
        if inner is None:
            return found in _GLOBAL_6 and not any(found in network for network in _SPECIAL_6)
        found = inner
    return not any(found in network for network in _SPECIAL_4)
