"""Asking a language model with a progress bar, and counting the tokens of what it is asked."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from postil.data.progress import progress
from postil.data.streams import file_bytes
from postil.errors import InvalidInput, needs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from os import PathLike

    from postil.endpoint.chat import Failed
    from postil.endpoint.client import Client
    from postil.endpoint.requests import A, Asking

__all__ = ["ask", "token_counter", "usage_note"]


def ask(client: Client, requests: Iterable[Asking[A]], total: int | None = None) -> Iterator[A | Failed]:
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
