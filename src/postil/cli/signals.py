"""Termination signals, handled like an interrupt."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["unwound"]

ENDED: Final = ("SIGTERM", "SIGHUP")
"""The signals that ask a process to end, beside Ctrl+C; not every system has both."""


@contextmanager
def unwound(*, serving: bool = False) -> Iterator[None]:
    """Leave the block on a signal as on Ctrl+C, so that what it holds is closed; then end by that signal.

    Further signals do not interrupt the leaving.

    Args:
        serving: True if the block runs a server that ends on SIGTERM by itself. A terminal that is closed then counts
            as that, so that requests are still answered, and a second Ctrl+C does not interrupt the closing either.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals reach the main thread only
        return
    got: list[int] = []

    def stop(number: int, _frame: object) -> None:
        if not got:
            got.append(number)
            raise KeyboardInterrupt

    def hang_up(_number: int, _frame: object) -> None:
        signal.raise_signal(signal.SIGTERM)

    before = {}
    for name in (*ENDED, "SIGINT") if serving else ENDED:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it
            before[number] = signal.signal(number, hang_up if serving and name == "SIGHUP" else stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if got:
            signal.raise_signal(got[0])
