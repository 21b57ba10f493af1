"""Rankings: keys in descending order of their scores, with one rule for ties, which are equality up to rounding.

Scores of smoothed metrics are meaningful down to 1e-12 and below, so no fixed number of decimals can tell rounding
noise from a difference: with ``smooth=coco``, rounding to 12 decimals made a tau-c of .308 into .288 on 16,992 judged
captions. Without a tolerance, scores that are equal but for the order of a sum would be ranked. Two numbers are a tie
where they differ by at most `TOLERANCE` of the larger magnitude. Among many, the sorted neighbors that tie form chains,
and each chain is one tie, so that ties are transitive.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, Literal, TypeAlias, TypeVar

import numpy as np

from postil.data.fields import is_integer
from postil.errors import InvalidInput, UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from numpy.typing import ArrayLike, NDArray

__all__ = ["TOLERANCE", "Ranking", "best_first", "dense_ranks", "difference", "joined", "tied", "without_noise"]

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


Floats: TypeAlias = "NDArray[np.float64]"

TOLERANCE: Final = 1e-12
"""Largest relative difference of two numbers that are a tie."""

PARTS: Final = 60
"""Parts of a grade that are counted, not sorted: the mean of up to six whole ratings has a whole number of them."""

MOST_PARTS: Final = 1e9
"""Largest magnitude of a number that is counted, in parts; see `TOLERANCE`."""


def tied(one: Floats | float, other: Floats | float, magnitudes: Floats | float | None = None) -> NDArray[np.bool_]:
    """Test which numbers are equal up to rounding: ``|one - other| <= TOLERANCE * magnitude``.

    Args:
        one: float64[...]; infinities are allowed, and tie with themselves alone.
        other: float64[...], of a shape that broadcasts with `one`.
        magnitudes: float64[...], the size of what the numbers were computed from, where that is not the larger of
            their own magnitudes: of differences and means, the largest score in them.

    Returns:
        bool[...].

    >>> tied(np.array([0.3, 3e-13, 0.0]), np.array([0.1 + 0.2, 4e-13, 1e-300])).tolist()
    [True, False, False]
    """
    if magnitudes is None:
        magnitudes = np.maximum(np.abs(one), np.abs(other))
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(one - other) <= TOLERANCE * magnitudes
    return np.asarray((one == other) | (near & np.isfinite(one) & np.isfinite(other)))


def difference(one: Floats, other: Floats) -> Floats:
    """Subtract, with exactly 0 where the two are a tie.

    >>> difference(np.array([0.1 + 0.2, 4e-20]), np.array([0.3, 2e-20])).tolist()
    [0.0, 2e-20]
    """
    return np.where(tied(one, other), 0.0, one - other)


def without_noise(values: Floats | float, magnitudes: Floats | float) -> Floats:
    """Replace sums that are nothing but rounding by 0: those of at most `TOLERANCE` of the size of their terms.

    Args:
        values: float64[...], sums or means of terms that may cancel.
        magnitudes: float64[...], sums or means of the magnitudes of the same terms.

    >>> without_noise(np.array([0.1 + 0.2 - 0.3, 1e-17]), np.array([0.6, 1e-17])).tolist()
    [0.0, 1e-17]
    """
    return np.where(np.abs(values) <= TOLERANCE * np.asarray(magnitudes), 0.0, values)


def dense_ranks(
    columns: Floats, starts: NDArray[np.int64] | None = None, magnitudes: Floats | None = None
) -> NDArray[np.int32]:
    """Rank each column within each group of neighboring rows, from 0 without a gap; a tie shares one rank.

    Args:
        columns: float64[n, M].
        starts: int64[k], the first row of each group; by default all rows are one group.
        magnitudes: float64[n, M], see `tied`; by default the numbers' own.

    Returns:
        int32[n, M].

    >>> dense_ranks(np.array([[0.3], [0.1], [0.1 + 0.2], [7.0]]), np.array([0, 3])).tolist()
    [[1], [0], [1], [0]]
    """
    starts = np.zeros(min(1, len(columns)), np.int64) if starts is None else starts
    out = np.empty(columns.shape, np.int32)
    for column, values in enumerate(np.ascontiguousarray(columns.T)):
        if len(starts) == 1 and magnitudes is None and (counted := _counted_ranks(values)) is not None:
            out[:, column] = counted
            continue
        order, begins = _chain(values, starts, None if magnitudes is None else magnitudes[:, column])
        ranks = np.cumsum(begins)
        out[order, column] = ranks - np.repeat(ranks[starts], np.diff([*starts, len(columns)]))
    return out


def _counted_ranks(values: Floats) -> NDArray[np.int64] | None:
    """Dense ranks of multiples of 1 / `PARTS` in a small range, without sorting; None for other numbers."""
    with np.errstate(over="ignore"):
        parts = values[:64] * PARTS
        if (parts != np.rint(parts)).any():  # most columns that are no grades end here
            return None
        parts = values * PARTS
    lowest, highest = parts.min(), parts.max()
    # They are 1 apart and at most MOST_PARTS, so that no two of them tie.
    near = max(-lowest, highest) <= MOST_PARTS and highest - lowest <= 16 * len(values)
    if not near or (parts != np.rint(parts)).any():
        return None
    place = (parts - lowest).astype(np.int64)
    return np.asarray((np.cumsum(np.bincount(place) > 0) - 1)[place], np.int64)


def joined(values: Floats, starts: NDArray[np.int64] | None = None, magnitudes: Floats | None = None) -> Floats:
    """Replace each number by the lowest of its chain, so that ties become equal to the last bit.

    Args:
        values: float64[n].
        starts: int64[k], the first row of each group, ties being within groups; by default all rows are one group.
        magnitudes: float64[n], see `tied`; by default the numbers' own.

    Returns:
        float64[n], in the same order but for ties.

    >>> joined(np.array([0.1 + 0.2, 0.3, 5.0, -np.inf])).tolist()
    [0.3, 0.3, 5.0, -inf]
    """
    starts = np.zeros(min(1, len(values)), np.int64) if starts is None else starts
    out = np.empty(len(values))
    order, begins = _chain(values, starts, magnitudes)
    lowest = np.maximum.accumulate(np.where(begins, np.arange(len(values)), 0))
    out[order] = values[order][lowest]
    return out


def _chain(
    values: Floats, starts: NDArray[np.int64], magnitudes: Floats | None
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The rows sorted within their groups, and True where a sorted row begins a chain."""
    group = np.repeat(np.arange(len(starts)), np.diff([*starts, len(values)])) if len(starts) > 1 else None
    # The order of equal numbers matters to magnitudes alone, and a sort that is not stable is faster.
    kind: Literal["stable", "quicksort"] = "quicksort" if magnitudes is None else "stable"
    order = np.argsort(values, kind=kind) if group is None else np.lexsort((values, group))
    ascending = values[order]
    sizes = None
    if magnitudes is not None:
        of_row = magnitudes[order]
        sizes = np.maximum(of_row[1:], of_row[:-1])
    begins = np.ones(len(values), bool)
    begins[1:] = ~tied(ascending[1:], ascending[:-1], sizes)
    begins[starts] = True
    return order, begins
