"""One call over HTTP: the named host and no other, with the answer's size and time limited."""

from __future__ import annotations

import asyncio
import math
import os
import re
import zlib
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from email.utils import parsedate_to_datetime
from threading import Thread
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import urlsplit

import msgspec

from postil.endpoint.chat import ErrorBody, read_error, read_token_count
from postil.errors import PostilError, UsageError, needs
from postil.messages import Message, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping
    from types import ModuleType

    import httpx2


__all__ = ["Refused", "Rejected", "TooLong", "TransientError", "Transport", "httpx_for", "retry_after"]

LARGEST: Final = 8 << 20
"""Largest response, in bytes."""
RETRIED: Final = frozenset({408, 429, *range(500, 600)})
REJECTED: Final = frozenset({400, 403, 404, 422, 501})
"""Statuses of requests whose form a server may not like."""
SHORTEST_KEY: Final = 8
"""Length from which on a key is taken out of what the server says; shorter ones, such as ``none``, are no secrets."""
COMPRESSED: Final = frozenset({"gzip", "x-gzip", "deflate"})
_EXAMPLE: Final = "such as http://127.0.0.1:8080/v1"
_NO_ADDRESS: Final = f"expected an http or https address, {_EXAMPLE}"
_TOO_LONG: Final = re.compile(r"context.{0,20}(length|size|window)|prompt is too long|too many tokens", re.IGNORECASE)
_TOO_LARGE: Final = re.compile(r"too large to process", re.IGNORECASE)
"""Words of llama.cpp for a text that is too long for a batch, with the status of a failure."""
_BEARER: Final = re.compile(r"[A-Za-z0-9._~+/:-]+=*")
_NUMBER: Final = re.compile(r"\d{3,}")
T = TypeVar("T")


class TransientError(Exception):
    """A call that may succeed when it is made again.

    Args:
        reason: The reason, in words.
        after: Seconds to wait, as the server says; None if it does not.
        served: True if the server may have charged for the call.
        reached: True if the server said anything, or might have.
    """

    def __init__(self, reason: str, *, after: float | None = None, served: bool = False, reached: bool = True) -> None:
        super().__init__(reason)
        self.reason, self.after, self.served, self.reached = reason, after, served, reached


class Refused(Exception):  # noqa: N818 - says what has happened
    """A response that no repetition makes useful; its text is the reason."""


class TooLong(PostilError):  # noqa: N818 - says what has happened
    """A request that is too long for the model, or too large for the server."""


class Rejected(PostilError):  # noqa: N818 - says what has happened
    """A request that the server does not take as it is; another form of it, or another request, it may.

    Args:
        reason: The reason, in words.
        body: Body of the response.
    """

    def __init__(self, reason: str, body: ErrorBody) -> None:
        super().__init__(reason)
        self.body = body


class _Late(Exception):  # noqa: N818 - says what has happened
    """The deadline of a call has passed.

    Args:
        connected: True if the request was sent.
        begun: True if the head of the response was there.
    """

    def __init__(self, *, connected: bool, begun: bool) -> None:
        super().__init__()
        self.connected, self.begun = connected, begun


class Transport:
    """Calls to one endpoint; for several threads.

    A call has one deadline, from looking up the host to the last byte of the response. The limits of httpx are those of
    single reads, which a server that drips never reaches; so an event loop makes the calls, and ends those that are
    late.

    Args:
        url: Address of the endpoint, such as ``http://127.0.0.1:8080/v1``.
        api_key: Key of access.
        timeout: Seconds until an answer must be there.
        shorten: Advice for requests that are too long for the model.
        setting: Name of the setting that the address is of.

    Raises:
        UsageError: The address or the key is none.
        MissingExtra: httpx2 is not installed.
    """

    def __init__(
        self, url: str, *, api_key: str | None, timeout: float, shorten: str, setting: str = "endpoint"
    ) -> None:
        self.host = _host(url, Setting(setting))
        self.encrypted = url.lower().startswith("https:")
        self._url = url.rstrip("/")
        self._tokenize = f"{url.rstrip('/').removesuffix('/v1')}/tokenize"
        self._key, self._timeout, self._shorten = api_key, timeout, shorten
        self._httpx = httpx_for("an endpoint")
        try:
            self._httpx.URL(self._url)
        except self._httpx.InvalidURL as error:
            raise UsageError(
                "{setting}: {problem}: {error}", setting=Setting(setting), problem=_NO_ADDRESS, error=f"{error}"
            ) from None
        # `trust_env` is off: proxies and .netrc of the environment would name other hosts and other keys.
        self._client = self._httpx.AsyncClient(
            headers=_headers(api_key), timeout=None, trust_env=False, follow_redirects=False
        )
        self._loop = LoopThread()

    def close(self) -> None:
        """Close the connections; calls on their way are given up."""
        self._loop.close(self._client.aclose())

    def count_tokens(self, text: str) -> int:
        """Let the server count the tokens of a text, as llama.cpp and vLLM do.

        Args:
            text: The text.

        Raises:
            PostilError: It does not.
        """
        body = msgspec.json.encode({"content": text, "prompt": text})
        try:
            status, _, data = self._exchange(self._tokenize, body)
        except (self._httpx.TransportError, _Late, TransientError, Refused) as error:
            said = f"no complete answer within {self._timeout:g} s" if isinstance(error, _Late) else _reason(error)
            raise PostilError(f"{self.host} does not count tokens: {self._hide(said)}") from error
        count = read_token_count(data) if status == 200 else None
        if count is None:
            raise PostilError(f"{self.host} does not count tokens: {self._tokenize} answers {status} without a number")
        return count

    def post(self, path: str, body: bytes, tokens: int) -> bytes:
        """Make a call.

        Args:
            path: Path below the address of the endpoint.
            body: Body of the request.
            tokens: Estimated number of its tokens.

        Returns:
            Body of the response.

        Raises:
            TransientError: The call may succeed when it is made again.
            Refused: The response cannot be used.
            Rejected: The server does not take this request.
            PostilError: No call can succeed, such as without a valid key.
        """
        httpx = self._httpx
        try:
            status, headers, data = self._exchange(f"{self._url}/{path}", body)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise TransientError(
                f"{self.host} cannot be reached: {self._hide(_reason(error))}", reached=False
            ) from error
        except _Late as error:
            if not error.connected:
                problem = f"{self.host} cannot be reached: no connection within {self._timeout:g} s"
                raise TransientError(problem, reached=False) from error
            what = "no complete answer" if error.begun else "no answer"
            raise TransientError(f"{what} within {self._timeout:g} s", served=True) from error
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise TransientError(f"the connection was cut: {self._hide(str(error))}", served=True) from error
        if status == 200:
            return data
        raise self._problem(status, headers, read_error(data), tokens)

    def _problem(self, status: int, headers: Mapping[str, str], body: ErrorBody, tokens: int) -> Exception:
        """The error of a response that is no answer."""
        said = f"{self.host} answers {status}{f': {body.message}' if body.message else ''}"
        if status == 429 and body.exhausted:
            return PostilError(f"{said.rstrip('.')}; the account has nothing left, so that nothing was asked again")
        if status in RETRIED and not _TOO_LARGE.search(body.message):
            return TransientError(said, after=retry_after(headers))
        if 300 <= status < 400:
            address = self._hide(headers.get("location", "another address"))
            return PostilError(f"{self.host} redirects to {address}; name that address if it is the right one")
        if status == 413 or status >= 500 or (status in {400, 422} and _TOO_LONG.search(body.message)):
            return TooLong(self._too_long(body.message, body.tokens or tokens))
        reason = said + _advice(status, keyed=self._key is not None)
        return Rejected(reason, body) if status in REJECTED else PostilError(reason)

    def _exchange(self, url: str, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body of a response.

        Raises:
            _Late: They are not there by the deadline.
        """
        connected = begun = False

        async def follow(event: str, _: object) -> None:
            nonlocal connected
            connected = connected or event == "http11.send_request_headers.complete"

        async def exchange() -> tuple[int, Mapping[str, str], bytes]:
            nonlocal begun
            async with self._client.stream("POST", url, content=body, extensions={"trace": follow}) as response:
                begun = True
                return response.status_code, dict(response.headers), await self._read(response)

        try:
            status, headers, data = self._loop.run(exchange(), seconds=self._timeout)
        except TimeoutError:
            raise _Late(connected=connected, begun=begun) from None
        if headers.get("content-encoding", "identity") in COMPRESSED:
            data = self._decompressed(data)
        if self._key is None or not self._secret:
            return status, headers, data
        return status, headers, re.sub(_spellings(self._key).encode(), b"***", data, flags=re.IGNORECASE)

    async def _read(self, response: httpx2.Response) -> bytes:
        data = bytearray()
        async for chunk in response.aiter_raw():  # as it came, since a small response can become a large one
            data += chunk
            if len(data) > LARGEST:
                raise Refused(f"the answer of {self.host} is larger than {LARGEST >> 20} MiB")
        return bytes(data)

    def _decompressed(self, data: bytes) -> bytes:
        """A body that is compressed, although it was not asked for."""
        stream = zlib.decompressobj(wbits=47)  # gzip or zlib
        try:
            whole = stream.decompress(data, LARGEST + 1)
        except zlib.error as error:
            raise TransientError(f"the answer cannot be decompressed: {error}", served=True) from error
        if len(whole) > LARGEST:
            raise Refused(f"the answer of {self.host} is larger than {LARGEST >> 20} MiB")
        return whole

    @property
    def _secret(self) -> bool:
        return self._key is not None and len(self._key) >= SHORTEST_KEY

    def _hide(self, text: str) -> str:
        """A text without the key, should the server repeat it."""
        return re.sub(_spellings(self._key), "***", text, flags=re.IGNORECASE) if self._key and self._secret else text

    def _too_long(self, message: str, tokens: int) -> str:
        numbers = "" if _NUMBER.search(message) else f" (about {tokens:,} tokens)"
        problem = f"a request is too long for the model{numbers}: {message or 'status 413'}"
        return Message("{problem}; {advice}", problem=problem, advice=self._shorten) if self._shorten else problem


def _reason(error: BaseException) -> str:
    """Message of an error: that of the operating system, where it is behind it."""
    said, cause = str(error), error.__cause__ or error.__context__
    while cause is not None:
        if isinstance(cause, BaseExceptionGroup):  # of several addresses
            cause = cause.exceptions[0]
        if isinstance(cause, OSError) and cause.errno is not None:
            said = f"{cause}" if cause.errno < 0 else f"[Errno {cause.errno}] {os.strerror(cause.errno)}"
        cause = cause.__cause__ or cause.__context__
    return said


def httpx_for(what: str) -> ModuleType:
    """The package httpx2.

    Args:
        what: Purpose, for the error.

    Raises:
        MissingExtra: It is not installed.
    """
    with needs(what, "serve"):
        import httpx2  # noqa: PLC0415 - an extra
    return httpx2


def _host(url: str, setting: Setting) -> str:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in {"http", "https"} or not host:
        raise UsageError("{setting}: {problem}", setting=setting, problem=_NO_ADDRESS)
    if parts.username or parts.password or parts.query or parts.fragment:
        problem = f"expected an address without user, password, query and fragment, {_EXAMPLE}"
        key = "a key of access goes into POSTIL_API_KEY"
        raise UsageError("{setting}: {problem}; {key}", setting=setting, problem=problem, key=key)
    return host


def _headers(api_key: str | None) -> Mapping[str, str]:
    headers = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
    if api_key is not None:
        if not _BEARER.fullmatch(api_key):  # as RFC 6750 has it, and nothing that JSON would escape
            raise UsageError("POSTIL_API_KEY: expected letters, digits and -._~+/: only")
        headers["Authorization"] = f"Bearer {api_key}"
    return headers


def _spellings(key: str) -> str:
    r"""Pattern of a key as JSON and addresses can have it, such as ``\/`` and ``%2F`` for a slash."""
    return "".join(rf"(?:\\?{re.escape(c)}|\\u00{ord(c):02x}|%{ord(c):02x})" for c in key)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to wait, None if it does not; a date is compared with the server's own clock.

    Args:
        headers: Headers of a response by name in lower case.
    """
    value = headers.get("retry-after", "")
    with suppress(ValueError):
        seconds = float(value)
        return seconds if 0 <= seconds < math.inf else None
    with suppress(ValueError, KeyError, TypeError):
        wait = (parsedate_to_datetime(value) - parsedate_to_datetime(headers["date"])).total_seconds()
        return max(0.0, wait)
    return None


def _advice(status: int, *, keyed: bool) -> str:
    if status in {401, 403}:
        return "; check the key in POSTIL_API_KEY" if keyed else "; put a key of access into POSTIL_API_KEY"
    if status == 404:
        return "; check the model's name and the address, which often ends in /v1"
    return ""


class Unawaited(ThreadPoolExecutor):
    """Threads that the end of the process does not wait for, as for one that looks up a name in vain."""

    def submit(self, work: Callable[..., T], /, *args: object) -> Future[T]:  # type: ignore[override]
        """Let a thread of its own do some work."""
        future: Future[T] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(work(*args))
            except BaseException as error:  # whoever waits must hear of it
                future.set_exception(error)

        Thread(target=run, daemon=True).start()
        return future


class LoopThread:
    """An event loop that runs in a thread until it is closed; for several threads.

    >>> loop = LoopThread()
    >>> loop.run(asyncio.sleep(0, "done"), seconds=5)
    'done'
    >>> loop.run(asyncio.sleep(60), seconds=0)
    Traceback (most recent call last):
    TimeoutError
    >>> loop.close(asyncio.sleep(0))
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(Unawaited())
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[object, object, T], *, seconds: float) -> T:
        """Let the loop do some work, all of which must be done by a deadline.

        Args:
            work: The work, of its own alone.
            seconds: Time until the deadline.

        Raises:
            TimeoutError: It is not done by then, and was given up.
            CancelledError: The loop is closed.
        """

        async def done_in_time() -> T:
            async with asyncio.timeout(seconds):
                return await work

        return asyncio.run_coroutine_threadsafe(done_in_time(), self._loop).result()

    def close(self, last: Coroutine[object, object, None]) -> None:
        """Give up all work and end the loop; what waits for it gets a CancelledError.

        Args:
            last: Work to do before the loop ends, such as closing connections.
        """

        async def given_up() -> None:
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            await last

        with suppress(CancelledError):
            asyncio.run_coroutine_threadsafe(given_up(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
