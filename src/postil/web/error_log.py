"""The log of a server: standard error, whose reader may have gone, and which hears one thing once in a while."""

from __future__ import annotations

import sys
import time
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Seldom", "log_failure", "unbroken"]

QUIET: Final = 60.0
"""Seconds between two messages."""


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


class Seldom:
    """A callback for messages that passes one on each minute, and with it the number of those in between.

    Args:
        on_message: Callback for the messages.
        clock: Function that returns the time, in seconds.

    >>> times = iter([0.0, 1.0, 59.0, 60.0])
    >>> tell = Seldom(print, clock=lambda: next(times))
    >>> for name in "abcd":
    ...     tell(f"{name} failed")
    a failed
    d failed (and 2 more such messages since the last one)
    """

    def __init__(self, on_message: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._on_message, self._clock = on_message, clock
        self._next, self._left_out = float("-inf"), 0

    def __call__(self, message: str) -> None:
        """Tell a message, or count it.

        Args:
            message: The message.
        """
        now = self._clock()
        if now < self._next:
            self._left_out += 1
            return
        more = f" (and {self._left_out} more such messages since the last one)" if self._left_out else ""
        self._next, self._left_out = now + QUIET, 0
        self._on_message(message + more)
