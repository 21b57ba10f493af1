"""Signals that end a process, turned into an orderly end."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["stopping"]


class _Stopped(BaseException):
    """A signal asks for the end."""


@contextmanager
def stopping() -> Iterator[None]:
    """Leave the block when a signal asks the process to end, so that what it holds is closed; then end by that signal.

    A terminal that is closed counts as SIGTERM, which uvicorn knows. Further signals do not interrupt the closing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals reach the main thread only
        return
    got: list[int] = []

    def stop(number: int, _frame: Any) -> None:
        if not got:
            got.append(number)
            raise _Stopped

    def hang_up(_number: int, _frame: Any) -> None:
        signal.raise_signal(signal.SIGTERM)

    wanted: dict[int, Any] = {signal.SIGINT: stop, signal.SIGTERM: stop}
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as nohup has it
        wanted[signal.SIGHUP] = hang_up
    before = {number: signal.signal(number, handler) for number, handler in wanted.items()}
    try:
        yield
    except _Stopped:
        pass
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if got:
        signal.raise_signal(got[0])
