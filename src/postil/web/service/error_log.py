"""The log of the service: standard error, whose reader may have gone."""

from __future__ import annotations

import sys
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["log_failure", "unbroken"]


def unbroken(on_message: Callable[[str], object]) -> Callable[[str], None]:
    """The same callback, which nobody's leaving ends.

    Args:
        on_message: Callback for status messages, such as one that writes to standard error.
    """

    def tell(text: str) -> None:
        with suppress(OSError, ValueError):  # the latter where the stream is closed
            on_message(text)

    return tell


def log_failure(what: str) -> None:
    """Write the traceback of the exception that is being handled.

    Args:
        what: The request or the process that failed.
    """
    unbroken(sys.stderr.write)(f"{what}:\n{traceback.format_exc()}")
