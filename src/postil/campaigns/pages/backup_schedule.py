"""Schedule of the daily backups, in a thread beside the server."""

from __future__ import annotations

from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from postil.service.error_log import unbroken

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

    from postil.campaigns.backups import DailyBackups

__all__ = ["BackupSchedule"]

HOUR: Final = 3_600.0
"""Seconds until another attempt; also the longest wait, as clocks are set and machines sleep."""

PATIENCE: Final = 10.0
"""Seconds that the end of the server waits for a backup that is being made."""


class BackupSchedule:
    """Makes backups when they are due; a failure is told once, and another attempt follows in an hour.

    Use it as a context: the thread runs inside.

    Args:
        backups: Backups of the campaign.
        on_message: Callback for status messages.

    Attributes:
        problem: Reason why the last attempt failed; empty if it did not.
        failures: Number of attempts that failed.
    """

    def __init__(self, backups: DailyBackups, on_message: Callable[[str], None]) -> None:
        self._backups, self._on_message = backups, unbroken(on_message)
        self.problem, self.failures = "", 0
        self._stopping = Event()
        self._thread = Thread(target=self._loop, name="postil-backup", daemon=True)

    @property
    def last(self) -> float | None:
        """Time of the last backup, in seconds since 1970; None if there is none."""
        return self._backups.last

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._thread.join(PATIENCE)

    def step(self) -> float:
        """Make a backup if one is due.

        Returns:
            Seconds until the next step.
        """
        if due := self._backups.due():
            return min(HOUR, due)
        try:
            path = self._backups.make()
        except Exception as error:  # a backup that fails must never end the server
            problem = f"{error}" or type(error).__name__
            if problem != self.problem:
                self._on_message(f"no backup was made, the next attempt is in an hour: {problem}")
            self.problem, self.failures = problem, self.failures + 1
            return HOUR
        self._on_message(f"written: {path}")
        self.problem = ""
        return HOUR

    def _loop(self) -> None:
        wait = 0.0
        while not self._stopping.wait(wait):
            wait = self.step()
