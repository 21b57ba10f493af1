"""Options of commands that ask a language model, apart from the client that they make so that help does without it."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from postil.endpoint.limits import Limits, Price, Rate
from postil.errors import UsageError
from postil.messages import Setting
from postil.options import Flag, options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from postil.data.progress import OnMessage
    from postil.endpoint.client import Client, Pace

__all__ = ["EndpointOptions"]


@options(group="Language model")
class EndpointOptions:
    """Options of what asks a language model.

    Args:
        endpoint: Address of an OpenAI-compatible endpoint, such as http://127.0.0.1:8080/v1; its key is read from
            the environment variable POSTIL_API_KEY.
        cache: Folder of answers, made if it is not there: what it holds is not asked again.
        rate: Maximum rate of calls, such as 60/min or 5/s (default 60/min; no limit if the endpoint is this machine).
        parallel: Number of calls at the same time; no result depends on it.
        retries: Number of times that a failed call is repeated.
        timeout: Seconds until an answer must be there.
        limit_calls: Stop after this number of calls; what is finished is kept.
        limit_cost: Stop before the cost exceeds this; what is finished is kept.
        price: Price of a million tokens, of requests and of answers, such as 0.15:0.60.
        count_tokens: Count the tokens of requests by a tokenizer.json, or by the server (server), instead of estimating
            them as characters / 3.5.
        extra_body: Further fields of all requests, a JSON object such as {"reasoning_effort": "low"}.
        dry_run: Ask nothing; print numbers of calls and tokens, cost and time.
    """

    endpoint: Annotated[str | None, Flag(metavar="URL", first=True)] = None
    cache: Annotated[str | None, Flag(metavar="DIR")] = None
    rate: Annotated[Rate | None, Flag(metavar="N/TIME")] = None
    parallel: Annotated[int, Flag(min=1)] = 4
    retries: Annotated[int, Flag(min=0)] = 5
    timeout: float = 60.0
    limit_calls: Annotated[int | None, Flag(min=0)] = None
    limit_cost: Annotated[float | None, Flag(min=0)] = None
    price: Annotated[Price | None, Flag(metavar="IN:OUT")] = None
    count_tokens: Annotated[str | None, Flag(metavar="FILE|server")] = None
    extra_body: Annotated[str | None, Flag(metavar="JSON")] = None
    dry_run: bool = False

    def __post_init__(self) -> None:
        self._pace()
        self._limits()
        self.extra()

    def extra(self) -> str:
        """Further fields of all requests, in one spelling; empty for none.

        Raises:
            UsageError: They are no JSON object, or one cannot be changed.
        """
        if self.extra_body is None:
            return ""
        from postil.endpoint.chat import read_extra  # noqa: PLC0415

        return msgspec.json.encode(read_extra(self.extra_body), order="sorted").decode()

    def _pace(self) -> Pace:
        from postil.endpoint.client import Pace  # noqa: PLC0415

        return Pace(rate=self.rate, parallel=self.parallel, retries=self.retries, timeout=self.timeout)

    def _limits(self) -> Limits:
        return Limits(calls=self.limit_calls, cost=self.limit_cost, price=self.price)

    def _token_counter(self) -> Callable[[str], int] | Literal["server"] | None:
        if self.count_tokens is None:
            return None
        if self.count_tokens == "server":
            return "server"
        from postil.endpoint.asking import token_counter  # noqa: PLC0415

        return token_counter(self.count_tokens)

    @contextmanager
    def client(self, *, shorten: str, on_message: OnMessage) -> Iterator[Client]:
        """Open the cache and a client.

        Args:
            shorten: Advice for requests that are too long for the model, such as an option.
            on_message: Callback for status messages.

        Raises:
            UsageError: There is no endpoint, or its address or the key is none.
            InvalidInput: The cache is damaged.
            MissingExtra: httpx2 is not installed.
            PostilError: The operating system reports an error of the cache.
        """
        from postil.endpoint.cache import AnswerCache  # noqa: PLC0415
        from postil.endpoint.client import Client  # noqa: PLC0415

        if self.endpoint is None:
            named = Setting("endpoint", instead="endpoint=URL")
            raise UsageError("name the endpoint with {endpoint}, such as http://127.0.0.1:8080/v1", endpoint=named)
        with (
            AnswerCache(self.cache) as cache,
            Client(
                self.endpoint,
                cache=cache,
                api_key=os.environ.get("POSTIL_API_KEY") or None,
                pace=self._pace(),
                limits=self._limits(),
                shorten=shorten,
                count_tokens=self._token_counter(),
                on_message=on_message,
            ) as client,
        ):
            yield client
