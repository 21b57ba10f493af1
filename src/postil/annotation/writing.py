"""How changes reach the database: whole, durable, and many at a time where one at a time is slow."""

from __future__ import annotations

from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, TypeVar

from postil.errors import PostilError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection, Engine

    _Waiting: TypeAlias = tuple[Callable[[Connection], Any], Future[Any]]

__all__ = ["Direct", "Grouped", "Writer"]

T = TypeVar("T")
MOST: Final = 256
"""How many changes share a commit."""


class Writer(Protocol):
    """Carries out changes, each of them whole or not at all."""

    def __call__(self, change: Callable[[Connection], T]) -> T:
        """Carry out a change; when this returns, it is on disk."""
        ...

    def close(self) -> None:
        """Let go of the database."""


class Direct:
    """Each change in a transaction of its own, for a server that takes many writers.

    Args:
        engine: The database.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def __call__(self, change: Callable[[Connection], T]) -> T:
        """See `Writer`."""
        with self._engine.begin() as connection:
            return change(connection)

    def close(self) -> None:
        """See `Writer`."""


class Grouped:
    """All changes in one thread, for a file that takes one writer.

    Those that wait share a transaction, and so the wait for the disk; a caller is answered after the commit. Where
    one fails, the transaction is taken back and each is carried out in one of its own, so none suffers from another.

    Args:
        engine: The database; its transactions must begin with the lock for writing.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._waiting: SimpleQueue[_Waiting | None] = SimpleQueue()
        self._closed = False
        self._thread = Thread(target=self._run, name="postil-writer", daemon=True)
        self._thread.start()

    def __call__(self, change: Callable[[Connection], T]) -> T:
        """See `Writer`."""
        if self._closed:
            raise PostilError("the store is closed")
        answer: Future[T] = Future()
        self._waiting.put((change, answer))
        return answer.result()

    def close(self) -> None:
        """See `Writer`."""
        if not self._closed:
            self._closed = True
            self._waiting.put(None)
            self._thread.join()

    def _run(self) -> None:
        going = True
        while going:
            group = [self._waiting.get()]
            while len(group) < MOST and not self._waiting.empty():
                group.append(self._waiting.get())
            going = None not in group
            changes = [one for one in group if one is not None]
            if len(changes) == 1 or not self._commit(changes):
                for one in changes:
                    self._commit([one], last=True)

    def _commit(self, group: Sequence[_Waiting], *, last: bool = False) -> bool:
        """Carry changes out together.

        Returns:
            Whether whoever waits for them has heard: always if this was the last try.
        """
        try:
            with self._engine.begin() as connection:
                values = [change(connection) for change, _ in group]
        except BaseException as error:  # whoever waits must hear of it
            if last:
                for _, answer in group:
                    answer.set_exception(error)
            return last
        for (_, answer), value in zip(group, values, strict=True):
            answer.set_result(value)
        return True
