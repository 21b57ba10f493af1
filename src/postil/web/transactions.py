"""Transactions that share one commit, and with it one wait for the disk."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING, Final, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["MAX_GROUP", "Pending"]

C = TypeVar("C")
T = TypeVar("T")

MAX_GROUP: Final = 256
"""Largest number of transactions per commit."""


class Pending(Generic[C, T]):
    """A submitted transaction, and its outcome until the group is committed.

    Args:
        transaction: The transaction.

    Attributes:
        future: Future of its value.
    """

    def __init__(self, transaction: Callable[[C], T]) -> None:
        self.future: Future[T] = Future()
        self._transaction = transaction
        self._outcome: Callable[[], object] = self.future.cancel

    def run(self, connection: C) -> None:
        """Run it.

        Args:
            connection: Connection to the database.
        """
        value = self._transaction(connection)
        self._outcome = lambda: self.future.set_result(value)

    def refuse(self, error: BaseException) -> None:
        """Let it fail.

        Args:
            error: The error that its caller gets.
        """
        self._outcome = lambda: self.future.set_exception(error)

    def answer(self) -> None:
        """Tell the caller the outcome; one that never ran is cancelled."""
        self._outcome()
