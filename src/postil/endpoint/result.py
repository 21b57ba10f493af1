"""Result of a dry run."""

from __future__ import annotations

from postil.results.base import Result

__all__ = ["DryRunResult"]


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
