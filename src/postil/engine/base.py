"""What every engine promises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import TracebackType
    from typing import Self

__all__ = ["Engine", "Held"]

A = TypeVar("A")
Q = TypeVar("Q")
R = TypeVar("R")
S = TypeVar("S")
W = TypeVar("W")
W_co = TypeVar("W_co", covariant=True)


class Held(Protocol[W_co]):
    """Shards that workers keep, to be asked many times. Leaving ``with`` lets them go."""

    def ask(self, function: Callable[[W_co, Q], A], question: Q) -> list[A]:
        """Ask every shard.

        Args:
            function: Called with what was loaded and the question, where the shard is kept.
            question: The same for all.

        Returns:
            One answer a shard, in the order of the shards.

        Raises:
            PostilError: A worker died more often than may be, or something cannot be sent.
            Exception: What the function raised, at the first shard where it did.
        """

    def close(self) -> None:
        """Let the shards go."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...


class Engine(Protocol):
    """Runs functions over shards.

    Functions, shards and results travel by pickle, so a function must be importable: defined at the top of a module,
    or a frozen dataclass with ``__call__`` defined there. A worker does not import the script that was started, so a
    script needs no ``if __name__ == "__main__"``, but what it defines itself cannot be sent.

    A shard should be a description (a path, a range of rows) rather than the data, and take a second or more.
    """

    @property
    def name(self) -> str:
        """The name in `postil.engine.ENGINES`."""

    def map(self, function: Callable[[S], R], shards: Iterable[S]) -> Iterator[R]:
        """Run a function over shards.

        Shards are taken when there is room for them, and only twice `jobs` are on their way, be it as a shard or as a
        result that waits for its turn, so memory stays bounded.

        Args:
            function: Sent once to each worker, where it may keep what it builds.
            shards: Taken in the thread that takes the results.

        Yields:
            The results, in the order of the shards.

        Raises:
            PostilError: A shard's worker died more often than may be (it says which shard, from 1, and how the worker
                ended), or something cannot be sent.
            Exception: What the function raised, when it would have been that shard's turn. It is not tried again.
        """

    def hold(self, load: Callable[[S], W], shards: Iterable[S]) -> Held[W]:
        """Load shards in workers that keep them. A worker that dies is made again from its shards.

        Args:
            load: Called where the shard is going to be kept, before this returns.
            shards: Local: they are dealt out to `jobs` processes. Ray: each has a worker of its own.

        Raises:
            PostilError: As `map`.
            Exception: What `load` raised, at the first shard where it did.
        """

    def close(self) -> None:
        """End all workers, busy or not."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...
