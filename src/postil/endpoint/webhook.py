"""Signed messages to one receiver, after the specification Standard Webhooks 1.0."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from postil.endpoint.transport import httpx_for, retry_after
from postil.errors import PostilError, UsageError
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

__all__ = ["Receipt", "Receiver", "parse_webhook_secret", "webhook_headers"]

PREFIX: Final = "whsec_"
KEY_BYTES: Final = (24, 64)
"""Smallest and largest length of a key."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The answer of a receiver.

    Args:
        status: HTTP status.
        after: Seconds that it asks to wait before the next attempt; None if it does not.
    """

    status: int
    after: float | None

    @property
    def delivered(self) -> bool:
        """True if the message was taken."""
        return 200 <= self.status < 300


def parse_webhook_secret(secret: str) -> bytes:
    """Key of a secret.

    Args:
        secret: The secret: ``whsec_`` and the key in Base64.

    Raises:
        ValueError: It is none.

    >>> parse_webhook_secret("whsec_" + "AAAA" * 8) == bytes(24)
    True
    """
    low, high = KEY_BYTES
    expected = f"{PREFIX} and {low} to {high} random bytes in Base64"
    if not secret.startswith(PREFIX):
        raise ValueError(expected)
    encoded = secret.removeprefix(PREFIX)
    try:
        key = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError(expected) from None
    if not low <= len(key) <= high:
        raise ValueError(f"{expected}, got {len(key)} bytes")
    return key


def webhook_headers(keys: Collection[bytes], message: str, timestamp: int, body: bytes) -> Mapping[str, str]:
    """Headers of a message, with a signature by each key.

    Args:
        keys: The keys; of two, one is being replaced.
        message: Id of the message, which stays the same when it is sent again; without a full stop.
        timestamp: Time of this attempt, in seconds of Unix time.
        body: The body.

    >>> webhook_headers([bytes(24)], "msg_1", 1674087231, b"{}")["webhook-signature"]
    'v1,uG34EZimU3gLfAAHUU/ZZD18ztMwLodeY5h1Ti5ZO9M='
    """
    content = f"{message}.{timestamp}.".encode() + body
    made = (base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode() for key in keys)
    return {
        "content-type": "application/json",
        "webhook-id": message,
        "webhook-timestamp": f"{timestamp}",
        "webhook-signature": " ".join(f"v1,{each}" for each in made),
    }


class Receiver:
    """A receiver whose address the operator of a service gave, and which may be inside the network.

    Args:
        url: Its address, ``http`` or ``https``.
        seconds: Time until an answer must be there.

    Raises:
        UsageError: The address is none.
        MissingExtra: httpx2 is not installed.
    """

    def __init__(self, url: str, *, seconds: float = 20.0) -> None:
        httpx2 = httpx_for("a webhook")
        self._seconds, self._httpx = seconds, httpx2
        try:
            self._url = httpx2.URL(url)
        except (httpx2.InvalidURL, ValueError) as error:
            raise UsageError(f"webhook: expected an http or https address: {error}") from None
        self.host = self._url.host
        if self._url.scheme not in {"http", "https"} or not self.host or self._url.userinfo:
            raise UsageError("webhook: expected an http or https address without user and password")
        # `trust_env` is off: proxies of the environment would get the messages.
        self._client = httpx2.AsyncClient(
            headers={"user-agent": f"postil/{VERSION}"}, timeout=seconds, trust_env=False, follow_redirects=False
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def post(self, body: bytes, headers: Mapping[str, str]) -> Receipt:
        """Send a message; the body of the answer is not read.

        Args:
            body: The message.
            headers: Its headers.

        Raises:
            PostilError: There is no answer.
        """
        try:
            async with (
                asyncio.timeout(self._seconds),
                self._client.stream("POST", self._url, content=body, headers=dict(headers)) as response,
            ):
                return Receipt(response.status_code, retry_after(response.headers))
        except TimeoutError:
            raise PostilError(f"{self.host} gives no answer within {self._seconds:g} s") from None
        except self._httpx.HTTPError as error:
            raise PostilError(f"{self.host} cannot be reached: {str(error) or type(error).__name__}") from error
