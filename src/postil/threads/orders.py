"""Orders of a thread: points from scores, mixtures of several orders, diversity, near duplicates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from postil.corpus.near_duplicates import near_duplicates
from postil.data.dates import unix_seconds
from postil.data.ranking import best_first
from postil.data.ties import joined
from postil.errors import InvalidInput, Undefined, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from postil.threads.thread import Thread

__all__ = ["ORDERS", "diversified", "duplicates", "merit", "mixed", "points"]

ORDERS: Final = ("relevance", "quality", "votes", "oldest", "newest", "length")
"""The orders of a thread by name."""

_DECIMALS: Final = 12
"""Decimals of points that are compared, since sums in another order differ in their last digits."""


def points(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank of each score among the others, from 0 (the lowest) to 1: the share that is lower, ties counted by half.

    Args:
        scores: float64[n], higher is better.

    Returns:
        float64[n]; .5 for a single score.

    >>> points(np.array([3.0, -98.0, 3.0, 5880.0])).tolist()
    [0.5, 0.0, 0.5, 1.0]
    """
    if len(scores) < 2:
        return np.full(len(scores), 0.5)
    values = joined(scores)
    ascending = np.sort(values)
    below, up_to = (np.searchsorted(ascending, values, side) for side in ("left", "right"))
    return np.asarray((below + up_to - 1) / 2 / (len(scores) - 1), np.float64)


def merit(thread: Thread, order: str) -> NDArray[np.float64]:
    """The scores of an order that needs no model: votes, dates or lengths.

    Args:
        thread: The thread.
        order: ``votes``, ``oldest``, ``newest`` or ``length``.

    Returns:
        float64[n], higher is better.

    Raises:
        Undefined: A comment has no votes, or no date.
    """
    comments = thread.article.comments
    if order == "length":
        return thread.lengths.astype(np.float64)
    if order == "votes":
        votes = [comment.upvotes for comment in comments if comment.upvotes is not None]
        if len(votes) < len(comments):
            raise Undefined("a comment has no upvotes")
        return np.array(votes, np.float64)
    dates = [unix_seconds(comment.date) for comment in comments if comment.date is not None]
    if len(dates) < len(comments):
        raise Undefined("a comment has no date")
    return np.array(dates, np.float64) * (1 if order == "newest" else -1)


def mixed(scores: Mapping[str, NDArray[np.float64]], weights: Mapping[str, float]) -> NDArray[np.float64]:
    """Weighted mean of the points of several orders.

    Args:
        scores: Scores by order, float64[n] each.
        weights: Weight of each order, above 0.

    Returns:
        float64[n], from 0 to 1.

    Raises:
        UsageError: A weight is not above 0, there is none, or their sum is too large a number.

    >>> mixed({"votes": np.array([9.0, 2.0]), "length": np.array([4.0, 80.0])}, {"votes": 3, "length": 1}).tolist()
    [0.75, 0.25]
    """
    if not weights or not all(0 < weight < np.inf for weight in weights.values()):
        raise UsageError("expected an order with a weight above 0")
    if not (whole := sum(weights.values())) < np.inf:
        raise UsageError("expected weights with a finite sum; divide all of them by the same number")
    total = sum(points(scores[name]) * weight for name, weight in weights.items())
    return np.asarray(np.round(total / whole, _DECIMALS), np.float64)


def diversified(
    thread: Thread, merits: NDArray[np.float64], diversity: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Order a thread by maximal marginal relevance (Carbonell and Goldstein 1998).

    The next comment is always that of the highest (1 - d) p - d s, where p are its `points` and s is its highest cosine
    with a comment before it; 1 for a near duplicate of one. Ties are ordered by points, then by ascending id.

    Args:
        thread: The thread of n comments.
        merits: float64[n], higher is better.
        diversity: The weight d, from 0 (the order of the merits) to 1 (the most different next).

    Returns:
        int64[n], indices of the comments, best first; and for each comment, by index, the comment before it that is
        most similar, int64[n], -1 for the first, with its similarity, float64[n].

    Raises:
        UsageError: The weight is not from 0 to 1.
        InvalidInput: There is not one merit per comment.
    """
    if not 0 <= diversity <= 1:
        raise UsageError(f"diversity: expected 0 to 1, got {diversity}")
    if len(merits) != len(thread):
        raise InvalidInput(f"expected {len(thread)} numbers, one per comment, got {len(merits)}", where="merits")
    usual = best_first(merits, keys=thread.ids)
    first = duplicates(thread, usual)
    gains, closest = points(merits), np.full(len(thread), -1)
    similarity = np.zeros(len(thread))
    left, order = usual, list[int]()
    while len(left):
        worth = (1 - diversity) * gains[left] - diversity * similarity[left]
        chosen = int(left[np.argmax(np.round(worth, _DECIMALS))])  # the first of ties
        order.append(chosen)
        left = left[left != chosen]
        cosines = np.where(first == first[chosen], 1.0, np.round(np.clip(thread.similarities(chosen), 0, 1), _DECIMALS))
        nearer = left[(cosines[left] > similarity[left]) | (closest[left] < 0)]
        closest[nearer], similarity[nearer] = chosen, cosines[nearer]
    return np.array(order, np.int64), closest, similarity


def duplicates(thread: Thread, order: NDArray[np.int64]) -> NDArray[np.int64]:
    """The near duplicate of each comment that comes first in an order.

    Args:
        thread: The thread of n comments.
        order: int64[n], indices of the comments.

    Returns:
        int64[n], by index of the comment; its own index where no near duplicate is before it.
    """
    return near_duplicates(thread.texts, order)
