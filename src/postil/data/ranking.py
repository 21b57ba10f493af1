"""Rankings: keys in descending order of their scores, with one tie rule."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

import numpy as np

from postil.data.checks import is_integer
from postil.errors import InvalidInput, UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from numpy.typing import ArrayLike, NDArray

__all__ = ["Ranking", "best_first"]

K = TypeVar("K", str, int)
Keys: TypeAlias = "NDArray[np.int64] | NDArray[np.object_]"


def best_first(
    scores: ArrayLike, *, keys: Collection[str] | Collection[int] | None = None, k: int | None = None
) -> NDArray[np.int64]:
    """Indices in ranking order: descending score, ties by ascending key.

    Args:
        scores: n numbers; NaN is refused, infinities are not.
        keys: n keys, all text or all integers, none twice; by default the positions 0 to n - 1.
        k: Number of best to return; by default all. With k far below n the others are not sorted.

    Returns:
        int64[min(k, n)], the positions of the best, best first. Text is compared by code point.

    Raises:
        InvalidInput: A score is NaN, a key stands twice, keys are mixed, or keys and scores differ in number.
        UsageError: k is negative.

    >>> best_first([0.5, 0.9, 0.5], keys=["b", "c", "a"]).tolist()
    [1, 2, 0]
    >>> best_first([0.5, 0.9, 0.5], k=2).tolist()
    [1, 0]
    """
    values = _scores(scores)
    return _order(values, None if keys is None else _keys(keys, len(values)), k)


@dataclass(frozen=True, slots=True, eq=False)
class Ranking(Generic[K]):
    """Keys from best to worst; `from_scores` makes it.

    Args:
        keys: int64[n], or object[n] of text, best first.
        scores: float64[n], descending.

    >>> ranking = Ranking.from_scores(["b", "c", "a"], [0.5, 0.9, 0.5])
    >>> list(ranking)
    [('c', 0.9), ('a', 0.5), ('b', 0.5)]
    >>> list(ranking.top(1)), len(ranking)
    ([('c', 0.9)], 3)
    """

    keys: Keys
    scores: NDArray[np.float64]

    def __post_init__(self) -> None:
        self.keys.setflags(write=False)
        self.scores.setflags(write=False)

    @classmethod
    def from_scores(cls, keys: Collection[K], scores: ArrayLike, *, k: int | None = None) -> Ranking[K]:
        """Order keys by the tie rule of `best_first`.

        Args:
            keys: n keys, all text or all integers, none twice.
            scores: n numbers; NaN is refused.
            k: Number to keep; by default all. With k far below n the others are not sorted.

        Returns:
            The best, best first.

        Raises:
            InvalidInput: A score is NaN, a key stands twice, keys are mixed, or keys and scores differ in number.
            UsageError: k is negative.
        """
        values = _scores(scores)
        names = _keys(keys, len(values))
        order = _order(values, names, k)
        return cls(names[order], values[order])

    def top(self, k: int) -> Ranking[K]:
        """The best of the ranking.

        Args:
            k: Number to keep; all if there are fewer.

        Raises:
            UsageError: k is negative.
        """
        if k < 0:
            raise UsageError(f"k counts from 0 up, got {k}")
        return Ranking(self.keys[:k], self.scores[:k])

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[tuple[K, float]]:
        return zip(self.keys.tolist(), self.scores.tolist(), strict=True)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ranking):
            return NotImplemented
        return len(self) == len(other) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash(tuple(self))


def _scores(scores: ArrayLike) -> NDArray[np.float64]:
    try:
        values = np.array(scores, np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput("expected numbers", where="scores") from error
    if values.ndim != 1:
        raise InvalidInput(f"expected one number a key, got an array of {values.ndim} dimensions", where="scores")
    for position in np.flatnonzero(np.isnan(values)):
        raise InvalidInput("expected a number, got NaN", where=f"scores[{position}]")
    return values


def _keys(keys: Collection[str] | Collection[int], size: int) -> Keys:
    """The keys as int64 or as objects, each once."""
    if len(keys) != size:
        raise InvalidInput(f"expected as many keys as scores, got {len(keys)} and {size}", where="keys")
    if isinstance(keys, np.ndarray) and np.issubdtype(keys.dtype, np.signedinteger):
        names: Keys = np.array(keys, np.int64)
    else:
        names = _boxed([*keys])
    if names.dtype == np.int64 and not np.all(names[1:] > names[:-1]):
        _refuse_repeats(names.tolist(), distinct=len(np.unique(names)))
    elif names.dtype == object:
        _refuse_repeats(names.tolist(), distinct=len(set(names)))
    return names


def _boxed(keys: list[object]) -> Keys:
    if all(isinstance(key, str) for key in keys):
        names = np.empty(len(keys), object)
        names[:] = [str(key) for key in keys]
        return names
    for position, key in enumerate(keys):
        if not is_integer(key):
            problem = f"expected all text or all integers of at most 64 bits, got {key!r}"
            raise InvalidInput(problem, where=f"keys[{position}]")
    return np.array(keys, np.int64)


def _refuse_repeats(keys: list[object], *, distinct: int) -> None:
    if distinct == len(keys):
        return
    seen = set()
    for position, key in enumerate(keys):
        if key in seen:
            raise InvalidInput(f"{key!r} stands there twice; a key has one score", where=f"keys[{position}]")
        seen.add(key)


def _order(values: NDArray[np.float64], keys: Keys | None, k: int | None) -> NDArray[np.int64]:
    if k is not None and k < 0:
        raise UsageError(f"k counts from 0 up, got {k}")
    chosen = np.arange(len(values)) if k is None or k >= len(values) else _best(values, keys, k)
    return chosen[np.lexsort((_key_ranks(keys, chosen), -values[chosen]))]


def _key_ranks(keys: Keys | None, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers in the order of the chosen keys."""
    if keys is None:
        return chosen
    if keys.dtype != object:
        return np.asarray(keys[chosen], np.int64)
    names = keys[chosen].tolist()
    ranks = np.empty(len(names), np.int64)
    ranks[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return ranks


def _best(values: NDArray[np.float64], keys: Keys | None, k: int) -> NDArray[np.int64]:
    """The positions of the best k, in no order.

    A partition breaks ties arbitrarily, so it only finds the score at rank k; the ties at that score are chosen by key.
    """
    if k == 0:
        return np.empty(0, np.int64)
    cut = -np.partition(-values, k - 1)[k - 1]
    above, tied = np.flatnonzero(values > cut), np.flatnonzero(values == cut)
    needed = k - len(above)
    if keys is not None and needed < len(tied):
        if keys.dtype == object:
            names = keys[tied].tolist()
            tied = tied[heapq.nsmallest(needed, range(len(names)), key=names.__getitem__)]
        else:
            tied = tied[np.argpartition(keys[tied], needed - 1)]
    return np.concatenate([above, tied[:needed]])
