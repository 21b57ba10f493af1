"""Writer of the service's database: one thread, and one commit for all transactions that wait."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING, TypeVar

from postil.errors import PostilError
from postil.web.store_file import database_error
from postil.web.transactions import MAX_GROUP, Pending

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["GroupWriter"]

T = TypeVar("T")


class _Work(Pending[sqlite3.Connection, T]):
    """A transaction, which begins and commits by itself if it is to run alone."""

    alone = False


class GroupWriter:
    """One thread that writes: transactions that wait share one commit, and with it one wait for the disk.

    Each transaction has a savepoint, so one that fails changes nothing and leaves the others as they are. Callers hear
    of theirs after the commit: what they were told is on disk.

    Args:
        connection: Connection to the database, in which nobody else works from now on.
        where: The file, for messages.
    """

    def __init__(self, connection: sqlite3.Connection, where: str) -> None:
        self._connection, self._where = connection, where
        self._queue: SimpleQueue[_Work[object] | None] = SimpleQueue()
        self._open, self._lock = True, Lock()
        self._thread = Thread(target=self._loop, name="postil-store", daemon=True)
        self._thread.start()

    async def run(self, transaction: Callable[[sqlite3.Connection], T], *, alone: bool = False) -> T:
        """Run a transaction; when this returns, it is on disk.

        Args:
            transaction: The transaction.
            alone: True if it begins and commits by itself, as what rewrites the file must.

        Raises:
            PostilError: The database reports an error, or is closed.
        """
        work = _Work(transaction)
        work.alone = alone
        with self._lock:  # nothing may be put behind the end of the queue, where nobody would answer it
            if not self._open:
                raise PostilError(f"{self._where}: the store is closed")
            self._queue.put(work)  # type: ignore[arg-type]  # a future of something is one of an object
        return await asyncio.wrap_future(work.future)

    def close(self) -> None:
        """Finish all transactions that wait, and close the connection."""
        with self._lock:
            if self._open:
                self._open = False
                self._queue.put(None)
        self._thread.join()

    def _loop(self) -> None:
        going = True
        while going:
            group = [self._queue.get()]
            with suppress(Empty):
                while len(group) < MAX_GROUP:
                    group.append(self._queue.get_nowait())
            going = group[-1] is not None  # nothing is put behind it
            # One that its caller has cancelled is dropped; from here on it cannot be cancelled any more.
            works = [one for one in group if one is not None and one.future.set_running_or_notify_cancel()]
            self._commit([one for one in works if not one.alone])
            for one in works:
                if one.alone:
                    self._run(one)
                    one.answer()
        self._connection.close()

    def _commit(self, works: list[_Work[object]]) -> None:
        if not works:
            return
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            for one in works:
                self._connection.execute("SAVEPOINT one")
                if not self._run(one):
                    self._connection.execute("ROLLBACK TO one")
                self._connection.execute("RELEASE one")
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:  # of the file rather than of a transaction, such as a full disk
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            for one in works:
                one.refuse(database_error(self._where, error))
        for one in works:
            one.answer()

    def _run(self, work: _Work[object]) -> bool:
        """Run one; False if it failed."""
        try:
            work.run(self._connection)
        except sqlite3.Error as error:
            work.refuse(database_error(self._where, error))
        except BaseException as error:  # its caller must hear of it, else it would wait forever
            work.refuse(error)
        else:
            return True
        return False
