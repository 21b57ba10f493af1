"""How changes reach the database: whole, durable, and many at a time where one at a time is slow."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, TypeVar

from postil.errors import PostilError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection, Engine

    from postil.annotation.campaign_file import CampaignFile

    _Waiting: TypeAlias = tuple[Callable[[Connection], Any], Future[Any]]

__all__ = ["DirectWriter", "GroupCommitWriter", "Writer"]

T = TypeVar("T")
MOST: Final = 256
"""How many changes share a commit."""

BEHIND: Final = 1.0
"""Seconds until a change is moved from the log into the file."""

AT_ONCE: Final = 16
"""How many changes are under way at once, where the database takes many writers."""


class Writer(Protocol):
    """Carries out changes, each of them whole or not at all."""

    def run(self, change: Callable[[Connection], T]) -> T:
        """Carry out a change; when this returns, it is on disk."""
        ...

    def submit(self, change: Callable[[Connection], T]) -> Future[T]:
        """Carry out a change meanwhile; when the future has its value, it is on disk."""
        ...

    def close(self) -> None:
        """Finish what was begun and let go of the database."""


class DirectWriter:
    """Each change in a transaction of its own, for a server that takes many writers.

    Args:
        engine: The database.
        told: What callers hear of an error.
    """

    def __init__(self, engine: Engine, told: Callable[[BaseException], BaseException]) -> None:
        self._engine, self._told = engine, told
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="postil-writer")

    def run(self, change: Callable[[Connection], T]) -> T:
        """See `Writer`."""
        try:
            with self._engine.begin() as connection:
                return change(connection)
        except BaseException as error:
            raise self._told(error)  # noqa: B904 - which knows its cause

    def submit(self, change: Callable[[Connection], T]) -> Future[T]:
        """See `Writer`."""
        return self._pool.submit(self.run, change)

    def close(self) -> None:
        """See `Writer`."""
        self._pool.shutdown()


class GroupCommitWriter:
    """All changes in one thread, for an SQLite file, which takes one writer.

    Those that wait share a transaction, and so the wait for the disk; a caller is answered after the commit. One that
    is refused before it has changed anything does not touch the others. Where one fails otherwise, the transaction is
    taken back and each is carried out in one of its own. The file is checked before a transaction and after its commit:
    what was committed to a file that has gone is not acknowledged.

    Args:
        engine: The database.
        told: What callers hear of an error.
        file: The campaign's file, to be watched; None for one that nobody watches.
    """

    def __init__(
        self, engine: Engine, told: Callable[[BaseException], BaseException], file: CampaignFile | None = None
    ) -> None:
        self._connection, self._told, self._file = engine.connect(), told, file
        self._since: float | None = None  # when the first change was committed that only the log holds
        self._waiting: SimpleQueue[_Waiting | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name="postil-writer", daemon=True)
        self._thread.start()

    def run(self, change: Callable[[Connection], T]) -> T:
        """See `Writer`."""
        return self.submit(change).result()

    def submit(self, change: Callable[[Connection], T]) -> Future[T]:
        """See `Writer`."""
        answer: Future[T] = Future()
        self._waiting.put((change, answer))
        return answer

    def close(self) -> None:
        """See `Writer`."""
        self._waiting.put(None)
        self._thread.join()
        self._connection.close()

    def _run(self) -> None:
        going = True
        while going:
            try:
                group = [self._waiting.get(timeout=self._rest())]
            except Empty:
                self._checkpoint()
                continue
            while len(group) < MOST and not self._waiting.empty():
                group.append(self._waiting.get())
            going = None not in group
            changes = [one for one in group if one is not None and one[1].set_running_or_notify_cancel()]
            if changes and not self._commit(changes):
                for one in changes:
                    self._commit([one])
            if self._rest() == 0.0:
                self._checkpoint()

    def _rest(self) -> float | None:
        """Seconds until the next checkpoint; None where there is nothing to move."""
        if self._since is None or self._file is None:
            return None
        return max(0.0, self._since + BEHIND - time.monotonic())

    def _checkpoint(self) -> None:
        if self._file is not None:
            self._file.checkpoint()
        self._since = None

    def _commit(self, group: Sequence[_Waiting]) -> bool:
        """Carry changes out together.

        Returns:
            Whether whoever waits for them has heard; for a single one always.
        """
        said: list[tuple[Any, PostilError | None]] = []
        try:
            self._watch()
            with self._connection.begin():
                driver: Any = self._connection.connection.driver_connection
                driver.execute("BEGIN IMMEDIATE")
                for change, _ in group:
                    before = driver.total_changes
                    try:
                        said.append((change(self._connection), None))
                    except UsageError as error:
                        if driver.total_changes != before:
                            raise
                        said.append((None, error))
        except BaseException as error:  # whoever waits must hear of it
            if len(group) > 1:
                return False
            group[0][1].set_exception(self._told(error))
            return True
        self._since = self._since or time.monotonic()
        try:
            self._watch()
        except PostilError as error:
            said = [(None, error)] * len(group)
        for (_, answer), (value, refused) in zip(group, said, strict=True):
            if refused is None:
                answer.set_result(value)
            else:
                answer.set_exception(refused)
        return True

    def _watch(self) -> None:
        if self._file is not None:
            self._file.watch()
