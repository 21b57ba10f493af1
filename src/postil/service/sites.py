"""Other servers of a service: Coral, which asks about comments, and the operator's webhook, which gets suggestions.

Coral's external moderation phase asks whether a comment may be published before it is published. Coral goes on without
an answer when a response is no success, is empty or comes late, and so do readers' comments; see docs/sites/coral.md.

For the webhook an article comes in, and suggestions for it go out, again and again if need be. An article that was
accepted is on disk. It is delivered at least once: a receiver can see a message twice, after a crash or a response that
was lost, and knows it by its id.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import json
import random
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from postil.data.fields import parse_date, plain_id
from postil.endpoint.transport import httpx_for, retry_after
from postil.errors import InvalidInput, PostilError, Undefined, UsageError
from postil.service.bodies import Request, ScreenRequest, ScreenResponse, SentArticle, decoded
from postil.service.options import CoralStatus, ServiceOptions  # noqa: TC001 - msgspec reads annotations
from postil.version import VERSION
from postil.web.error_log import Seldom, log_failure
from postil.web.problems import Problem
from postil.web.routing import Call, Route, reply
from postil.web.tokens import WatchedFile, secrets_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from starlette.responses import Response

    from postil.service.pool import WorkerPool
    from postil.service.store import Delivery, ServiceStore

__all__ = [
    "Accepted",
    "CoralRequest",
    "CoralResponse",
    "Receipt",
    "Receiver",
    "Sites",
    "Webhook",
    "coral_route",
    "parse_coral_secret",
    "parse_webhook_secret",
    "signed_by",
    "webhook_headers",
]

HEADER: Final = "x-coral-signature"
PREFIX: Final = "sha256="
SIGNATURES: Final = 8
"""Number of signatures of a request that are compared; Coral sends one per secret that is valid."""
SHORTEST: Final = 16
NOTHING: Final = reply(b"{}")
"""The response by which Coral goes on."""


class CoralComment(Request, frozen=True, kw_only=True, gc=False):
    """A comment of Coral.

    Args:
        body: Its text, as HTML or plain.
    """

    body: str


class CoralRequest(Request, frozen=True, kw_only=True, gc=False):
    """Request of Coral's external moderation phase, as far as it is read.

    Args:
        comment: The comment.
    """

    comment: CoralComment


class CoralAction(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A flag of a comment in Coral.

    Args:
        actionType: Always ``FLAG``.
        reason: The reason, as Coral names it.
    """

    actionType: Literal["FLAG"] = "FLAG"  # noqa: N815 - Coral's name
    reason: Literal["COMMENT_DETECTED_TOXIC", "COMMENT_DETECTED_SPAM"]


class CoralResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Response to Coral's external moderation phase; an empty one lets Coral go on.

    Args:
        status: Status of a comment that is held.
        actions: Flags of a comment that is held.
    """

    status: CoralStatus | None = None
    actions: tuple[CoralAction, ...] = ()


TOXIC: Final = CoralAction(reason="COMMENT_DETECTED_TOXIC")


def parse_coral_secret(line: str) -> bytes:
    """Key of a signing secret of Coral.

    Args:
        line: The secret.

    Raises:
        ValueError: It is too short to be one.
    """
    if len(line) < SHORTEST:
        raise ValueError(f"a signing secret of Coral, of at least {SHORTEST} characters")
    return line.encode()


def signed_by(keys: Collection[bytes], body: bytes, header: str) -> bool:
    """True if a body was signed with one of the keys.

    Args:
        keys: The keys.
        body: The body, as it came.
        header: The header of the signatures.

    >>> made = hmac.new(b"secret", b"{}", hashlib.sha256).hexdigest()
    >>> signed_by([b"secret"], b"{}", f"sha256=0,sha256={made}"), signed_by([b"secret"], b"{ }", f"sha256={made}")
    (True, False)
    """
    sent = [each.strip() for each in header.split(",")[:SIGNATURES]]
    given = [each[len(PREFIX) :].encode() for each in sent if each.startswith(PREFIX)]
    expected = [hmac.new(key, body, hashlib.sha256).hexdigest().encode() for key in keys]
    return any(hmac.compare_digest(one, other) for one in given for other in expected)


def coral_route(
    pool: WorkerPool,
    secrets: WatchedFile[tuple[bytes, ...]],
    status: CoralStatus = "SYSTEM_WITHHELD",
    *,
    on_message: Callable[[str], None] = lambda _: None,
) -> Route:
    """The route that Coral asks.

    Args:
        pool: The workers.
        secrets: Signing secrets of Coral.
        status: Status of a comment that is held.
        on_message: Callback for messages about comments that were not screened.
    """
    tell = Seldom(on_message)

    async def answer(call: Call) -> Response:
        body = await call.body()
        if not signed_by(secrets.content(), body, call.headers.get(HEADER, "")):
            detail = "expected a signature by the signing secret of Coral's phase, in the header X-Coral-Signature"
            raise Problem(401, detail)
        request = msgspec.json.encode(ScreenRequest(text=_text(body)))
        try:
            found = msgspec.json.decode(await pool.call("screen", request), type=ScreenResponse)
        except PostilError as error:
            tell(f"a comment of Coral was not screened, and goes on: {error}")
            return NOTHING
        # A comment without text is a picture or a rating; Coral has a rule for those that are nothing.
        if found.decision == "accept" or (found.empty and len(found.reasons) == 1):
            return NOTHING
        return reply(CoralResponse(status=status, actions=(TOXIC,) if found.profanity else ()))

    return Route(
        method="POST",
        path="/integrations/coral",
        scope=None,
        handler=answer,
        summary="Answer Coral's external moderation phase, by its signature",
        request=CoralRequest,
        response=CoralResponse,
        queue="workers",
    )


def _text(body: bytes) -> str:
    """The text of a comment, with a mark in place of each half of a surrogate pair.

    A request that could not be read would pass by, so a reader could send such a half to be published unseen.
    """
    try:
        text = json.loads(body)["comment"]["body"]
    except (ValueError, TypeError, KeyError, RecursionError):
        text = None
    if not isinstance(text, str):
        raise InvalidInput("expected a request of Coral's external moderation phase", field="comment.body")
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


KEY_PREFIX: Final = "whsec_"
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
    expected = f"{KEY_PREFIX} and {low} to {high} random bytes in Base64"
    if not secret.startswith(KEY_PREFIX):
        raise ValueError(expected)
    encoded = secret.removeprefix(KEY_PREFIX)
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


DELAYS: Final = (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
"""Seconds between the attempts, as the specification of Standard Webhooks has them: three days in all."""
JITTER: Final = 0.2
"""Largest share of a delay that is added to it, so that messages which failed together do not come back together."""
LONGEST: Final = 86_400.0
"""Longest time that a receiver can ask to wait, in seconds."""
PARALLEL: Final = 4
"""Number of messages on their way at a time."""
POLL: Final = 1.0
"""Seconds between two looks at what is due."""
TROUBLE: Final = 60.0
"""Seconds that a message rests whose outcome could not be stored."""
GONE: Final = 410
KIND: Final = "article.suggested"


class Accepted(msgspec.Struct, frozen=True):
    """An article that was accepted.

    Args:
        delivery: Id of the delivery, which the message has as ``webhook-id``.
    """

    delivery: str


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """Message to a webhook.

    Args:
        type: The kind of event: ``article.suggested``.
        timestamp: Time at which the article came.
        data: Suggestions and passages: a `postil.service.bodies.DigestResponse`.
    """

    type: str
    timestamp: str
    data: msgspec.Raw


class Webhook:
    """The deliveries of a service; `run` works on them until it is cancelled.

    Args:
        store: Store of the deliveries.
        pool: The workers.
        receiver: The receiver.
        secrets: Secrets that sign the messages.
        on_message: Callback for messages about deliveries that fail.
        clock: Function that returns the time, in seconds of Unix time.
        chance: Function that draws from [0, 1).
    """

    def __init__(
        self,
        store: ServiceStore,
        pool: WorkerPool,
        receiver: Receiver,
        secrets: WatchedFile[tuple[bytes, ...]],
        *,
        on_message: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.time,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._store, self._pool, self._receiver, self._secrets = store, pool, receiver, secrets
        self._on_message, self._clock, self._chance = on_message, clock, chance
        self._tell = Seldom(on_message)
        self._wake = asyncio.Event()
        self._busy = set[str]()

    def route(self) -> Route:
        """The route of articles."""
        return Route(
            method="POST",
            path="/v1/hooks/article",
            scope="suggest",
            handler=self._accept,
            summary="Deliver suggestions for an article to the webhook",
            request=SentArticle,
            response=Accepted,
            status=202,
        )

    async def run(self) -> None:
        """Deliver what is due, until this is cancelled."""
        async with asyncio.TaskGroup() as tasks:
            while True:
                self._wake.clear()
                for delivery in await self._due():
                    self._busy.add(delivery.id)
                    tasks.create_task(self._work(delivery))
                with suppress(TimeoutError):
                    async with asyncio.timeout(POLL):
                        await self._wake.wait()

    async def _accept(self, call: Call) -> Response:
        article = decoded(await call.body(), SentArticle)
        # Comments of readers are not needed, so they are not kept.
        kept = msgspec.json.encode(msgspec.structs.replace(article, comments=()), enc_hook=plain_id)
        delivery = await self._store.add_delivery(kept)
        self._wake.set()
        return reply(Accepted(delivery), 202)

    async def _due(self) -> list[Delivery]:
        """Deliveries to begin now."""
        busy = frozenset(self._busy)  # one that ends while the store is read may be among what is read
        free = PARALLEL - len(busy)
        if not free:
            return []
        try:
            found = await asyncio.to_thread(self._store.due_deliveries, self._clock(), most=len(busy) + free)
        except PostilError as error:
            self._tell(f"no deliveries: {error}")
            return []
        return [one for one in found if one.id not in busy][:free]

    async def _work(self, delivery: Delivery) -> None:
        try:
            await self._attempt(delivery)
        except PostilError as error:
            self._tell(f"the outcome of a delivery cannot be stored: {error}")
            await asyncio.sleep(TROUBLE)
        except Exception:  # the other deliveries go on
            log_failure(f"delivery {delivery.id}")
            await asyncio.sleep(TROUBLE)
        finally:
            self._busy.discard(delivery.id)
            self._wake.set()

    async def _attempt(self, delivery: Delivery) -> None:
        """Make an attempt, and store its outcome.

        Raises:
            PostilError: The outcome cannot be stored.
        """
        after, problem = None, ""
        try:
            receipt = await self._send(delivery)
        except (InvalidInput, UsageError, Undefined) as error:
            await self._give_up(delivery, f"{error}")
            return
        except PostilError as error:
            problem = f"{error}"
        else:
            if receipt.delivered:
                await self._store.settle(delivery.id, delivered=True)
                return
            problem, after = f"{self._receiver.host} answers {receipt.status}", receipt.after
            if receipt.status == GONE:
                await self._give_up(delivery, problem)
                return
        if delivery.attempts >= len(DELAYS):
            await self._give_up(delivery, problem)
            return
        delay = DELAYS[delivery.attempts] * (1 + JITTER * self._chance())
        again = self._clock() + max(delay, min(after or 0.0, LONGEST))
        await self._store.settle(delivery.id, delivered=False, again=again, problem=problem)
        self._tell(f"delivery {delivery.id} failed, and is tried again: {problem}")

    async def _send(self, delivery: Delivery) -> Receipt:
        digest = await self._pool.call("digest", delivery.body)
        made = parse_date(datetime.fromtimestamp(delivery.made, UTC))
        body = msgspec.json.encode(Message(type=KIND, timestamp=made, data=msgspec.Raw(digest)), enc_hook=plain_id)
        headers = webhook_headers(self._secrets.content(), delivery.id, int(self._clock()), body)
        return await self._receiver.post(body, headers)

    async def _give_up(self, delivery: Delivery, problem: str) -> None:
        await self._store.settle(delivery.id, delivered=False, problem=problem)
        attempts = delivery.attempts + 1
        self._on_message(
            f"delivery {delivery.id} is given up after {attempts} attempt{'s' * (attempts > 1)}: {problem}"
        )


class Sites:
    """The other servers of a service, as its options name them.

    Args:
        options: Options of the command.
        pool: The workers.
        store: Store of deliveries; None where the service stores nothing.
        on_message: Callback for status messages.

    Attributes:
        routes: Routes for these servers.

    Raises:
        InvalidInput: A file of secrets cannot be read.
        UsageError: The address of the webhook is none.
        MissingExtra: There is a webhook, and httpx2 is not installed.
    """

    def __init__(
        self,
        options: ServiceOptions,
        pool: WorkerPool,
        store: ServiceStore | None,
        on_message: Callable[[str], None],
    ) -> None:
        self.routes: list[Route] = []
        self._receiver: Receiver | None = None
        self._webhook: Webhook | None = None
        self._delivering: asyncio.Task[None] | None = None
        if options.coral_secret is not None:
            secrets = secrets_of(options.coral_secret, parse_coral_secret, on_message)
            self.routes.append(coral_route(pool, secrets, options.coral_status, on_message=on_message))
        if options.webhook is not None and options.webhook_secret is not None and store is not None:
            secrets = secrets_of(options.webhook_secret, parse_webhook_secret, on_message)
            self._receiver = Receiver(options.webhook)
            self._webhook = Webhook(store, pool, self._receiver, secrets, on_message=on_message)
            self.routes.append(self._webhook.route())

    def start(self) -> None:
        """Begin to deliver."""
        if self._webhook is not None:
            self._delivering = asyncio.create_task(self._webhook.run())

    async def stop(self) -> None:
        """End deliveries; what is on its way is sent again after the next start."""
        if self._delivering is not None:
            self._delivering.cancel()
            await asyncio.gather(self._delivering, return_exceptions=True)
        if self._receiver is not None:
            await self._receiver.close()
