"""Refusals: the words of the errors that calls end in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable


def refused(error: type[Exception], act: Callable[..., object], *given: Any, **options: Any) -> str:
    """The message of the error that a call ends in, or that the reading of what it gives ends in."""
    with pytest.raises(error) as caught:
        _through(act(*given, **options))
    return str(caught.value)


def _through(found: object) -> None:
    if isinstance(found, Iterator):
        list(found)
