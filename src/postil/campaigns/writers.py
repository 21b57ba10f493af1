"""Writers: each transaction atomic and durable, and many in one commit where a commit is slow."""

from __future__ import annotations

import sqlite3
import time
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Final, Protocol, TypeVar, cast

from postil.errors import PostilError, UsageError
from postil.web.transactions import MAX_GROUP, Pending

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection, Engine

    from postil.campaigns.campaign_file import CampaignFile

__all__ = ["DirectWriter", "GroupCommitWriter", "Writer"]

T = TypeVar("T")
CHECKPOINT_AFTER: Final = 1.0
"""Seconds until a transaction is moved from the write-ahead log into the file."""

BUSY: Final = 30.0
"""Seconds to wait for another process that writes to an SQLite file."""

SHORTEST_NAP, LONGEST_NAP = 0.0005, 0.02
"""Seconds between two attempts to write, which grow with the time waited."""

THREADS: Final = 16
"""Number of concurrent transactions, where the database takes many writers."""


class Writer(Protocol):
    """Runs transactions, each of them atomically."""

    def run(self, transaction: Callable[[Connection], T]) -> T:
        """Run a transaction; when this returns, it is on disk."""
        ...

    def submit(self, transaction: Callable[[Connection], T]) -> Future[T]:
        """Run a transaction in the background; when the future has its value, it is on disk."""
        ...

    def close(self) -> None:
        """Finish all transactions and close the connection."""


class DirectWriter:
    """Writer that commits every transaction by itself, for a server that takes many writers.

    Args:
        engine: Engine of the database.
        translate: Function that makes the error for callers from one of the driver.
    """

    def __init__(self, engine: Engine, translate: Callable[[BaseException], BaseException]) -> None:
        self._engine, self._translate = engine, translate
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="postil-writer")

    def run(self, transaction: Callable[[Connection], T]) -> T:
        """See `Writer`."""
        try:
            with self._engine.begin() as connection:
                return transaction(connection)
        except BaseException as error:
            raise self._translate(error)  # noqa: B904 - which knows its cause

    def submit(self, transaction: Callable[[Connection], T]) -> Future[T]:
        """See `Writer`."""
        return self._pool.submit(self.run, transaction)

    def close(self) -> None:
        """See `Writer`."""
        self._pool.shutdown()


class GroupCommitWriter:
    """Single-writer queue with group commit, for an SQLite file, which takes one writer.

    Waiting transactions share one commit, and so the wait for the disk; callers are answered after the commit. A
    transaction that is refused before it has changed anything does not affect the others of its group. If one fails
    otherwise, the group is rolled back and each is run and committed by itself. The file is checked before a group and
    after its commit: what was committed to a file that has gone is not acknowledged.

    Args:
        engine: Engine of the database.
        translate: Function that makes the error for callers from one of the driver.
        file: File of the campaign, to be watched; None to watch none.
    """

    def __init__(
        self, engine: Engine, translate: Callable[[BaseException], BaseException], file: CampaignFile | None = None
    ) -> None:
        self._connection, self._translate, self._file = engine.connect(), translate, file
        self._since: float | None = None  # time of the first commit that only the write-ahead log holds
        self._queue: SimpleQueue[Pending[Connection, object] | None] = SimpleQueue()
        self._thread = Thread(target=self._loop, name="postil-writer", daemon=True)
        self._thread.start()

    def run(self, transaction: Callable[[Connection], T]) -> T:
        """See `Writer`."""
        return self.submit(transaction).result()

    def submit(self, transaction: Callable[[Connection], T]) -> Future[T]:
        """See `Writer`."""
        pending = Pending(transaction)
        self._queue.put(cast("Pending[Connection, object]", pending))
        return pending.future

    def close(self) -> None:
        """See `Writer`."""
        self._queue.put(None)
        self._thread.join()
        self._connection.close()

    def _loop(self) -> None:
        open_ = True
        while open_:
            try:
                group = [self._queue.get(timeout=self._until_checkpoint())]
            except Empty:
                self._checkpoint()
                continue
            # Whatever has queued up during the last commit shares the next one: groups grow with the load by
            # themselves, and nobody waits for a group to fill.
            while len(group) < MAX_GROUP and not self._queue.empty():
                group.append(self._queue.get())
            open_ = None not in group
            # A future that its caller has cancelled is dropped; from here on it cannot be cancelled any more.
            pending = [one for one in group if one is not None and one.future.set_running_or_notify_cancel()]
            if pending and not self._commit(pending):
                for one in pending:
                    self._commit([one])
            if self._until_checkpoint() == 0.0:
                self._checkpoint()

    def _until_checkpoint(self) -> float | None:
        """Seconds until the next checkpoint; None if there is nothing to move."""
        if self._since is None or self._file is None:
            return None
        return max(0.0, self._since + CHECKPOINT_AFTER - time.monotonic())

    def _checkpoint(self) -> None:
        if self._file is not None:
            self._file.checkpoint()
        self._since = None

    def _commit(self, group: Sequence[Pending[Connection, object]]) -> bool:
        """Run transactions in one commit and answer their callers.

        Returns:
            True if callers were answered; False if the group must be split, never for a single transaction.
        """
        try:
            self._on_progress()
            with self._connection.begin():
                driver = cast("sqlite3.Connection", self._connection.connection.driver_connection)
                _take_lock(driver)  # at once: a later upgrade from reading could fail
                start = driver.total_changes
                for one in group:
                    before = driver.total_changes
                    try:
                        one.run(self._connection)
                    except UsageError as error:
                        # Refused before any change, there is nothing to roll back, so the others can be kept.
                        if driver.total_changes != before:
                            raise
                        one.refuse(error)
        except BaseException as error:  # callers must hear of it, else they would wait forever
            if len(group) > 1:
                return False
            group[0].refuse(self._translate(error))
            group[0].answer()
            return True
        if driver.total_changes != start:
            self._since = self._since or time.monotonic()
        try:
            self._on_progress()
        except PostilError as error:
            for one in group:
                one.refuse(error)
        for one in group:
            one.answer()
        return True

    def _on_progress(self) -> None:
        if self._file is not None:
            self._file.on_progress()


def _take_lock(driver: sqlite3.Connection) -> None:
    """Begin a transaction that writes, once no other process writes.

    SQLite's own wait would sleep up to 0.1 s beyond the moment when the lock is free.

    Raises:
        sqlite3.OperationalError: Another process holds the lock for too long.
    """
    driver.execute("PRAGMA busy_timeout = 0")
    began = time.monotonic()
    while True:
        try:
            driver.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            waited = time.monotonic() - began
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or waited > BUSY:
                raise
            time.sleep(min(LONGEST_NAP, SHORTEST_NAP + waited / 10))
        else:
            return
