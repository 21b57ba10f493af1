"""What travels between a program and its workers, and how a worker answers."""

from __future__ import annotations

import pickle
import sys
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from postil.errors import PostilError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Answers", "Failure", "Keeper", "apply", "opened", "parcel", "same"]


@dataclass(frozen=True, slots=True)
class Answers:
    """One answer for each thing that the worker keeps."""

    values: list[Any]


@dataclass(frozen=True, slots=True)
class Failure:
    """The function failed at the thing in this place."""

    place: int
    error: BaseException


class Keeper:
    """The worker's side: keeps what it loads from shards, and asks each of them.

    Args:
        kept: A parcel of ``(load, shards)``.
        path: Where to look for modules as well.

    >>> keeper = Keeper(parcel("these", (str.split, ["a b", "c"])))
    >>> opened(keeper.ask(parcel("it", (list.count, "c"))))
    Answers(values=[0, 1])
    >>> opened(keeper.ask(parcel("it", (list.index, "a")))).place
    1
    """

    def __init__(self, kept: bytes, path: Sequence[str] = ()) -> None:
        sys.path.extend(each for each in path if each not in sys.path)
        self._kept = kept
        self._load: Callable[[Any], Any] | None = None
        self._shards: list[Any] = []
        self._things: list[Any] = []

    def ask(self, question: bytes) -> bytes:
        """Answer a question; the first one loads.

        Args:
            question: A parcel of ``(function, question)``.

        Returns:
            A parcel of `Answers` or `Failure`. Nothing is raised.
        """
        values: list[Any] = []
        try:
            if self._load is None:
                self._load, self._shards = opened(self._kept)
                self._kept = b""
            function, asked = opened(question)
            for place, shard in enumerate(self._shards):
                if place == len(self._things):
                    self._things.append(self._load(shard))
                values.append(function(self._things[place], asked))
            return parcel("a result", Answers(values))
        except BaseException as error:
            place = min(len(values), max(len(self._shards) - 1, 0))  # the last if all went well but for the parcel
            return pickle.dumps(Failure(place, _portable(error)))


def apply(function: Callable[[Any], Any], shard: Any) -> Any:
    """The question of `Engine.map`: what is kept is the function."""
    return function(shard)


def same(thing: Any) -> Any:
    """Loads what is its own description."""
    return thing


def parcel(what: str, thing: Any) -> bytes:
    """Wrap something up.

    Args:
        what: What it is, in words.
        thing: It.

    Raises:
        PostilError: It cannot be pickled.

    >>> parcel("the function", lambda: 1)
    Traceback (most recent call last):
    ...
    postil.errors.PostilError: the function cannot be sent between processes: ...
    """
    try:
        return pickle.dumps(thing, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        raise PostilError(f"{what} cannot be sent between processes: {_in_words(error)}") from error


def opened(wrapped: bytes) -> Any:
    """Unwrap a parcel.

    Raises:
        PostilError: Something in it cannot be found here.

    >>> opened(parcel("a number", 2))
    2
    """
    try:
        return pickle.loads(wrapped)  # noqa: S301 - from our own processes
    except Exception as error:
        raise PostilError(
            f"what was sent to another process cannot be read there: {_in_words(error)}. It must be defined in a "
            "module that both can import, not in the script that was started"
        ) from error


def _in_words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _portable(error: BaseException) -> BaseException:
    """The exception if it survives the journey, with a note where it happened; else what it said."""
    trace = "".join(traceback.format_exception(error))
    try:
        arrived = pickle.loads(pickle.dumps(error))  # noqa: S301
        whole = type(arrived) is type(error) and str(arrived) == str(error)
    except Exception:
        whole = False
    if not whole:
        error = PostilError(f"{_in_words(error)} (raised in a worker; the exception itself cannot be sent)")
    error.add_note(f"In the worker:\n{trace}")
    return error
