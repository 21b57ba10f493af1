"""Options of commands that ask a language model, the client that these make, and the dry run that counts its work."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Final, Literal

import msgspec

from postil.data.explain import counted
from postil.data.progress import OnMessage, progress
from postil.data.streams import file_bytes
from postil.endpoint.cache import AnswerCache
from postil.endpoint.chat import Answer, Failed, Request, read_extra
from postil.endpoint.client import Client, Pace
from postil.endpoint.limits import Limits, Price, Rate
from postil.errors import InvalidInput, UsageError, needs
from postil.messages import Blank, Message, Setting
from postil.options import Flag, options
from postil.results.base import Result
from postil.results.table import Count, Figure, Table, Text
from postil.results.views import View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from os import PathLike


__all__ = ["DryRunResult", "EndpointOptions", "ask", "dry_run", "dry_run_view", "token_counter", "usage_note"]


@options
class EndpointOptions:
    """Options of what asks a language model.

    Args:
        endpoint: Address of an OpenAI-compatible endpoint, such as http://127.0.0.1:8080/v1; a key of access is read
            from the environment variable POSTIL_API_KEY.
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

    endpoint: Annotated[str | None, Flag(metavar="URL")] = None
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
        return msgspec.json.encode(read_extra(self.extra_body), order="sorted").decode()

    def _pace(self) -> Pace:
        return Pace(rate=self.rate, parallel=self.parallel, retries=self.retries, timeout=self.timeout)

    def _limits(self) -> Limits:
        return Limits(calls=self.limit_calls, cost=self.limit_cost, price=self.price)

    def _token_counter(self) -> Callable[[str], int] | Literal["server"] | None:
        if self.count_tokens is None:
            return None
        if self.count_tokens == "server":
            return "server"

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


def ask(client: Client, requests: Iterable[Request], total: int | None = None) -> Iterator[Answer | Failed]:
    """Ask with a progress bar if standard error is a terminal: rate, cost so far and time left.

    Args:
        client: The client.
        requests: The requests.
        total: Number of requests, if known.

    Yields:
        The answers; see `postil.endpoint.client.Client.answers`.
    """
    with progress("requests", client.answers(requests), total, usage_note(client)) as answers:
        yield from answers


def usage_note(client: Client) -> Callable[[], str]:
    """Work of a client so far, for progress bars.

    Args:
        client: The client.
    """
    begin = time.monotonic()

    def note() -> str:
        used = client.usage
        rate = used.calls / max(time.monotonic() - begin, 1e-9) * 60
        cost = "" if used.cost is None else f", {used.cost:.4g} spent"
        failed = f", {used.failed:,} failed" if used.failed else ""
        return f"{used.calls:,} calls, {rate:,.0f}/min{cost}{failed}"

    return note


def token_counter(path: str | PathLike[str]) -> Callable[[str], int]:
    """Make a function that counts the tokens of a text.

    Args:
        path: A file ``tokenizer.json`` of the library ``tokenizers``.

    Returns:
        The function; special tokens are not counted.

    Raises:
        MissingExtra: The library is not installed.
        InvalidInput: There is no such file, or it is no tokenizer.
    """
    with needs("a tokenizer file", "vectors"):
        from tokenizers import Tokenizer  # noqa: PLC0415 - part of an extra
    content = file_bytes(path)
    try:
        tokenizer = Tokenizer.from_buffer(content)
    except Exception as error:  # the library raises nothing narrower
        raise InvalidInput(f"not a readable tokenizer: {error}", where=str(path)) from None
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


class DryRunResult(Result, frozen=True, kw_only=True, tag="dry-run"):
    """Work that a command would ask of a language model.

    Args:
        calls: Number of calls.
        cached: Number of requests that need no call, since the cache has their answer or an equal one is made.
        prompt_tokens: Number of tokens of the calls' requests, estimated.
        completion_tokens: Maximum number of tokens of their answers.
        cost: Cost of these tokens; None without a price.
        seconds: Time, estimated.
    """

    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    seconds: float


def dry_run(client: Client, requests: Iterable[Request]) -> DryRunResult:
    """Estimate the work of requests; nothing is asked.

    Args:
        client: The client.
        requests: The requests.
    """
    used = client.estimate(requests)
    return DryRunResult(
        calls=used.calls,
        cached=used.cached,
        prompt_tokens=used.prompt_tokens,
        completion_tokens=used.completion_tokens,
        cost=used.cost,
        seconds=client.estimated_seconds(used.calls),
    )


COUNTED: Final = ("calls", "cached", "prompt_tokens", "completion_tokens", "cost", "seconds")


def dry_run_view(result: DryRunResult) -> View:
    """Make the view of a dry run.

    Args:
        result: The estimate.
    """
    columns = (
        Count("calls", "calls"),
        Count("cached", "cached"),
        Count("prompt tokens", "prompt_tokens"),
        Text("completion tokens", lambda _: f"at most {result.completion_tokens:,}"),
        Figure("cost", lambda _: "" if result.cost is None else f"{result.cost:.6g}"),
        Text("time", lambda _: _time(result.seconds)),
    )
    remarks: list[str] = ["tokens and time are estimates; nothing was asked"]
    if result.cost is None:
        price = Setting("price", Blank("IN:OUT"))
        remarks.append(Message("{price}, per million tokens, estimates the cost", price=price))
    row = {name: getattr(result, name) for name in COUNTED}
    cost = "" if result.cost is None else f", cost {result.cost:.6g}"
    return View(
        line=f"{counted(result.calls, 'call')}, {result.cached:,} cached{cost}",
        rows=[row],
        grids=[Table(rows=[result], columns=columns)],
        remarks=remarks,
    )


def _time(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 2:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"
