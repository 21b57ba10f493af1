"""Messages between a program and its workers, serialized by pickle, and the state of a worker."""

from __future__ import annotations

import pickle
import sys
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from postil.errors import PostilError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Failure", "Results", "WorkerState", "apply", "deserialize", "serialize"]

A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class Results:
    """One result for each shard of the worker."""

    values: list[object]


@dataclass(frozen=True, slots=True)
class Failure:
    """The function raised at the shard with this index."""

    index: int
    error: BaseException


class WorkerState:
    """The state of a worker: loads its shards at the first call, then calls functions with each of them.

    Args:
        payload: ``(load, shards)``, serialized.
        path: More folders to import modules from.

    >>> state = WorkerState(serialize("these", (str.split, ["a b", "c"])))
    >>> deserialize(state.call(serialize("it", (list.count, "c"))))
    Results(values=[0, 1])
    >>> deserialize(state.call(serialize("it", (list.index, "a")))).index
    1
    """

    def __init__(self, payload: bytes, path: Sequence[str] = ()) -> None:
        sys.path.extend(each for each in path if each not in sys.path)
        self._payload = payload
        self._load: Callable[[object], object] | None = None
        self._shards: list[object] = []
        self._loaded: list[object] = []

    def call(self, request: bytes) -> bytes:
        """Run a request; the first one loads the shards.

        Args:
            request: ``(function, argument)``, serialized.

        Returns:
            `Results` or `Failure`, serialized. Nothing is raised.
        """
        values: list[object] = []
        try:
            if self._load is None:
                self._load, self._shards = deserialize(self._payload)
                self._payload = b""
            function, argument = deserialize(request)
            for index, shard in enumerate(self._shards):
                if index == len(self._loaded):
                    self._loaded.append(self._load(shard))
                values.append(function(self._loaded[index], argument))
            return serialize("a result", Results(values))
        except BaseException as error:
            # The last shard if only serializing the results failed.
            index = min(len(values), max(len(self._shards) - 1, 0))
            return pickle.dumps(Failure(index, _portable(error)))


def apply(function: Callable[[object], object], shard: object) -> object:
    """Call the loaded function with a shard: the request of `Engine.map`."""
    return function(shard)


def identity(thing: A) -> A:
    """Load a shard that is its own description."""
    return thing


def serialize(what: str, thing: object) -> bytes:
    """Pickle a message.

    Args:
        what: Name of the message, for errors.
        thing: The message.

    Raises:
        PostilError: It cannot be pickled.

    >>> serialize("the function", lambda: 1)
    Traceback (most recent call last):
    ...
    postil.errors.PostilError: the function cannot be sent between processes: ...
    """
    try:
        return pickle.dumps(thing, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        raise PostilError(f"{what} cannot be sent between processes: {_described(error)}") from error


def deserialize(wrapped: bytes) -> Any:
    """Unpickle a message of our own processes.

    Raises:
        PostilError: Something in it cannot be found here.

    >>> deserialize(serialize("a number", 2))
    2
    """
    try:
        return pickle.loads(wrapped)  # noqa: S301 - from our own processes
    except Exception as error:
        raise PostilError(
            f"what was sent to another process cannot be read there: {_described(error)}. It must be defined in a "
            "module that both can import, not in the script that was started"
        ) from error


def _described(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _portable(error: BaseException) -> BaseException:
    """The exception with the worker's traceback as a note; a `PostilError` where it cannot be pickled."""
    trace = "".join(traceback.format_exception(error))
    try:
        arrived = pickle.loads(pickle.dumps(error))  # noqa: S301
        whole = type(arrived) is type(error) and str(arrived) == str(error)
    except Exception:  # a class may raise anything when it is pickled
        whole = False
    if not whole:
        error = PostilError(f"{_described(error)} (raised in a worker; the exception itself cannot be sent)")
    error.add_note(f"In the worker:\n{trace}")
    return error
