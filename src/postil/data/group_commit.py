"""One thread that writes to an SQLite file: transactions that wait share a commit, and its wait for the disk."""

from __future__ import annotations

import time
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, Protocol, TypeVar, cast

from postil.data.sqlite_file import begin
from postil.errors import PostilError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence

__all__ = ["GroupWriter", "Keeper"]


class Connected(Protocol):
    """A connection, of whatever library."""

    def close(self) -> None:
        """Close it."""


C = TypeVar("C", bound=Connected)
T = TypeVar("T")

MAX_GROUP: Final = 256
"""Largest number of transactions per commit."""

CHECKPOINT_AFTER: Final = 1.0
"""Seconds until a transaction is moved from the write-ahead log into the file."""


class Keeper:
    """Actions on a file while it is written, in the thread that writes; here none."""

    def on_progress(self) -> None:
        """Check the file, before each commit and after it.

        Raises:
            PostilError: It is no longer the file that was opened; nothing that is written to it is acknowledged.
        """

    def checkpoint(self) -> None:
        """Move transactions from the write-ahead log into the file, some time after a commit."""


class _Pending(NamedTuple, Generic[C]):
    """A submitted transaction, and the future of its value."""

    transaction: Callable[[C], object]
    future: Future[object]
    alone: bool


class GroupWriter(Generic[C]):
    """Single-writer queue with group commit, for an SQLite file, which takes one writer.

    Each transaction has a savepoint, so one that fails changes nothing and leaves the others as they are. Callers hear
    of theirs after the commit: what they were told is on disk.

    Args:
        driver: Connection to the database, in which nobody else works from now on, and which begins no transaction by
            itself.
        connection: Connection that transactions are given: the same one, or a library's around it.
        translate: Function that makes the error for callers from one of the database.
        closed: Problem of what is submitted later than `close`.
        keeper: Actions on the file.
    """

    def __init__(
        self,
        driver: sqlite3.Connection,
        connection: C,
        translate: Callable[[BaseException], BaseException],
        *,
        closed: str,
        keeper: Keeper | None = None,
    ) -> None:
        self._driver, self._connection = driver, connection
        self._translate, self._closed = translate, closed
        self._keeper = keeper or Keeper()
        self._since: float | None = None  # time of the first commit that only the write-ahead log holds
        self._queue: SimpleQueue[_Pending[C] | None] = SimpleQueue()
        self._open, self._lock = True, Lock()
        self._thread = Thread(target=self._loop, name="postil-writer", daemon=True)
        self._thread.start()

    def submit(self, transaction: Callable[[C], T], *, alone: bool = False) -> Future[T]:
        """Run a transaction in the background; when the future has its value, it is on disk.

        Args:
            transaction: The transaction.
            alone: True if it begins and commits by itself, as what rewrites the file must.

        Raises:
            PostilError: The writer is closed; errors of the database come with the future.
        """
        future: Future[T] = Future()
        with self._lock:  # nothing may be put behind the end of the queue, where nobody would answer it
            if not self._open:
                raise PostilError(self._closed)
            self._queue.put(_Pending(transaction, cast("Future[object]", future), alone))
        return future

    def close(self) -> None:
        """Finish all transactions that wait, and close the connection."""
        with self._lock:
            if self._open:
                self._open = False
                self._queue.put(None)
        self._thread.join()
        self._connection.close()

    def _loop(self) -> None:
        going = True
        while going:
            try:
                group = [self._queue.get(timeout=self._until_checkpoint())]
            except Empty:
                self._checkpoint()
                continue
            # Whatever has queued up during the last commit shares the next one: groups grow with the load by
            # themselves, and nobody waits for a group to fill.
            with suppress(Empty):
                while len(group) < MAX_GROUP:
                    group.append(self._queue.get_nowait())
            going = group[-1] is not None  # nothing is put behind it
            # One that its caller has cancelled is dropped; from here on it cannot be cancelled any more.
            pending = [one for one in group if one is not None and one.future.set_running_or_notify_cancel()]
            self._commit([one for one in pending if not one.alone])
            for one in pending:
                if one.alone:
                    self._outcome(one)()
            if self._until_checkpoint() == 0.0:
                self._checkpoint()

    def _until_checkpoint(self) -> float | None:
        """Seconds until the next checkpoint; None if there is nothing to move."""
        return None if self._since is None else max(0.0, self._since + CHECKPOINT_AFTER - time.monotonic())

    def _checkpoint(self) -> None:
        self._keeper.checkpoint()
        self._since = None

    def _commit(self, group: Sequence[_Pending[C]]) -> None:
        """Run transactions in one commit and answer their callers."""
        if not group:
            return
        before = self._driver.total_changes
        outcomes: list[Callable[[], None]] = []
        try:
            self._keeper.on_progress()
            with self._driver:
                begin(self._driver)  # at once: a later upgrade from reading could fail
                for one in group:
                    self._driver.execute("SAVEPOINT one")
                    outcomes.append(self._outcome(one))
                    self._driver.execute("RELEASE one")
            if self._driver.total_changes != before:
                self._since = self._since or time.monotonic()
            self._keeper.on_progress()
        except BaseException as error:  # of the file rather than of a transaction, such as a full disk
            outcomes = [partial(one.future.set_exception, self._translate(error)) for one in group]
        for answer in outcomes:
            answer()

    def _outcome(self, one: _Pending[C]) -> Callable[[], None]:
        """Run a transaction, and return the answer to its caller; one that fails is taken back."""
        try:
            value = one.transaction(self._connection)
        except BaseException as error:  # its caller must hear of it, else it would wait forever
            if not one.alone:
                if not self._driver.in_transaction:  # SQLite has taken back the whole group
                    raise
                self._driver.execute("ROLLBACK TO one")
            return partial(one.future.set_exception, self._translate(error))
        return partial(one.future.set_result, value)
