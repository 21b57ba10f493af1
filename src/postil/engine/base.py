"""The interface of engines and of stateful workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import TracebackType

__all__ = ["Closing", "Engine", "StatefulWorkers"]

A = TypeVar("A")
Q = TypeVar("Q")
R = TypeVar("R")
S = TypeVar("S")
W = TypeVar("W")
W_co = TypeVar("W_co", covariant=True)


class Closing(Protocol):
    """A thing that leaving ``with`` closes."""

    def close(self) -> None:
        """End what is running, and release what is held."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.close()


class StatefulWorkers(Closing, Protocol[W_co]):
    """Stateful workers: each shard is loaded once, then called many times. Leaving ``with`` releases the shards."""

    def call(self, function: Callable[[W_co, Q], A], request: Q) -> list[A]:
        """Call a function with every loaded shard.

        Args:
            function: Called with the loaded shard and the request, in the worker.
            request: Argument for all shards.

        Returns:
            One result per shard, in the order of the shards.

        Raises:
            PostilError: A worker died more often than may be, or something cannot be sent.
            Exception: What the function raised, at the first shard where it did.
        """


class Engine(Closing, Protocol):
    """Run functions over shards.

    Functions, shards and results travel by pickle, so a function must be importable: defined at the top of a module,
    or a frozen dataclass with ``__call__`` defined there. A worker does not import the script that was started, so a
    script needs no ``if __name__ == "__main__"``, but what it defines itself cannot be sent.

    A shard should be a description (a path, a range of rows) rather than the data, and take a second or more. Leaving
    ``with`` ends all workers, busy or not.
    """

    name: str
    """The name in `postil.engine.ENGINES`."""

    jobs: int
    """Number of shards processed at the same time."""

    def map(self, function: Callable[[S], R], shards: Iterable[S]) -> Iterator[R]:
        """Run a function over shards.

        Shards are taken when there is room for them, and only twice `jobs` are on their way, be it as a shard or as a
        result that waits for its turn, so memory stays bounded.

        Args:
            function: Sent once to each worker; it may cache what it builds.
            shards: Consumed in the thread that consumes the results.

        Yields:
            The results, in the order of the shards.

        Raises:
            PostilError: A shard's worker died more often than may be (it says which shard, from 1, and how the worker
                ended), or something cannot be sent.
            Exception: What the function raised, when it would have been that shard's turn. It is not tried again.
        """

    def start_workers(self, load: Callable[[S], W], shards: Iterable[S]) -> StatefulWorkers[W]:
        """Load shards into stateful workers. A worker that dies is made again from its shards.

        Args:
            load: Called in the worker, before this returns.
            shards: Local: distributed over `jobs` processes. Ray: each has a worker of its own.

        Raises:
            PostilError: As `map`.
            Exception: What `load` raised, at the first shard where it did.
        """
