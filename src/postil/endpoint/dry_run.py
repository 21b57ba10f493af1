"""The dry run of a command that asks a language model: it counts the work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.data.explain import counted
from postil.messages import Blank, Message, Setting
from postil.results.base import Result
from postil.results.table import Count, Figure, Table, Text
from postil.results.views import View

if TYPE_CHECKING:
    from collections.abc import Iterable

    from postil.endpoint.client import Client
    from postil.endpoint.requests import A, Asking

__all__ = ["DryRunResult", "dry_run", "dry_run_view"]


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


def dry_run(client: Client, requests: Iterable[Asking[A]]) -> DryRunResult:
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
