"""Ranking of a thread: an order with its reasons, facts in words that a reader can check."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from postil.data.ranking import best_first
from postil.data.suggestions import RankedComment
from postil.errors import Undefined
from postil.threads.orders import diversified, duplicates, merit, points

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from postil.threads.thread import Thread

__all__ = ["rank_thread", "reasons"]


Facts: TypeAlias = dict[int, str]

HIGH: Final = 0.8
"""Share of the others that a comment must exceed, in length or votes, for this to be a reason."""
COMPARED: Final = 5
"""Least number of comments in a thread in which shares are a reason."""
SHORT: Final = 3
"""Number of words up to which a comment is called short."""
SIMILAR: Final = 0.5
"""Least cosine with a comment above for this to be a reason."""


def rank_thread(
    thread: Thread, merits: NDArray[np.float64], *, diversity: float = 0.0, also: Sequence[str] = ()
) -> list[RankedComment]:
    """Rank the comments of a thread.

    Args:
        thread: The thread of n comments.
        merits: float64[n], higher is better.
        diversity: Weight of the difference from the comments above, from 0 to 1; see
            `postil.threads.orders.diversified`.
        also: A reason for each comment that is given first, empty for none; by default none.

    Returns:
        The comments, best first. Without diversity by descending merit, ties by ascending id.

    Raises:
        UsageError: The diversity is not from 0 to 1.
        InvalidInput: There is not one merit per comment.
    """
    ids, texts = thread.ids, thread.texts
    if diversity:
        order, closest, similarity = diversified(thread, merits, diversity)
        repeated = repeats(thread, closest, similarity)
    else:
        order, repeated = best_first(merits, keys=ids), {}
    first = duplicates(thread, order)
    facts = reasons(thread, first)
    said = [
        (*([also[at]] if also and also[at] else ()), *facts[at], *([repeated[at]] if at in repeated else ()))
        for at in range(len(thread))
    ]
    return [
        RankedComment(
            thread.article.id,
            ids[at],
            rank,
            float(merits[at]),
            texts[at],
            said[at],
            None if first[at] == at else ids[first[at]],
        )
        for rank, at in enumerate(order.tolist(), 1)
    ]


def reasons(thread: Thread, first: NDArray[np.int64]) -> list[tuple[str, ...]]:
    """The facts about each comment of a thread.

    They are: words shared with the article; most or many of the votes; length; a question; the oldest comment; near
    duplicates.

    Args:
        thread: The thread of n comments.
        first: int64[n], see `postil.threads.orders.duplicates`.

    Returns:
        For each comment its facts.

    >>> from postil.threads.thread import Thread
    >>> from postil.data.rows import Article, Comment
    >>> said = (Comment("a", "Will the rain stop?", upvotes=7), Comment("b", "no", upvotes=1))
    >>> reasons(Thread.of(Article("1", "Rain", said)), np.arange(2))[0]
    ("shares 'rain' with the title", '7 votes, the most of the thread', '4 words, the most of the thread', 'a question')
    """
    facts: tuple[Callable[[], Facts], ...] = (
        lambda: _matter(thread),
        lambda: _votes(thread),
        lambda: _lengths(thread),
        lambda: _questions(thread),
        lambda: _oldest(thread),
        lambda: _same(thread, first),
    )
    found = [fact() for fact in facts]
    return [tuple(each[at] for each in found if at in each) for at in range(len(thread))]


def repeats(thread: Thread, closest: NDArray[np.int64], similarity: NDArray[np.float64]) -> Facts:
    """Say which comment above is much like a comment.

    Args:
        thread: The thread of n comments.
        closest: int64[n], see `postil.threads.orders.diversified`.
        similarity: float64[n], see there.
    """
    ids = thread.ids
    return {
        at: f"much like {ids[closest[at]]} above (similarity {similarity[at]:.2f})"
        for at in np.flatnonzero((similarity >= SIMILAR) & (similarity < 1)).tolist()
    }


def _matter(thread: Thread) -> Facts:
    return dict(chain.from_iterable(_shared(thread, at) for at in range(len(thread))))


def _shared(thread: Thread, at: int) -> Iterator[tuple[int, str]]:
    words, in_title = thread.shared_words(at)
    if words:
        quoted = ", ".join(f"'{word}'" for word in words)
        yield at, f"shares {quoted} with the {'title' if in_title else 'article'}"


def _votes(thread: Thread) -> Facts:
    try:
        votes = merit(thread, "votes")
    except Undefined:
        return {}
    found = {}
    for at in np.flatnonzero(votes < 0).tolist():
        found[at] = f"{votes[at]:,.0f} {_plural(votes[at], 'vote')}"
    shares = _shares(votes)
    for at in np.flatnonzero(votes > 0).tolist():
        if share := shares[at]:
            found[at] = f"{votes[at]:,.0f} {_plural(votes[at], 'vote')}, {share}"
    return found


def _lengths(thread: Thread) -> Facts:
    words = thread.lengths
    shares, found = _shares(words), {}
    for at, count in enumerate(words.tolist()):
        name = f"{count:,} {_plural(count, thread.unit)}"
        if count <= SHORT:
            found[at] = f"short: {name}"
        elif share := shares[at]:
            found[at] = f"{name}, {share}"
    return found


def _shares(values: NDArray[np.generic]) -> list[str]:
    """Each value compared with the others, where it is high; else empty."""
    others = len(values) - 1

    def share(lower: int) -> str:
        if others and lower == others:
            return "the most of the thread"
        if others < COMPARED - 1 or lower < HIGH * others:
            return ""
        return f"more than {100 * lower // others} % of the others"

    return [share(lower) for lower in np.searchsorted(np.sort(values), values).tolist()]


def _questions(thread: Thread) -> Facts:
    return {
        at: "a question"
        for at, text in enumerate(thread.texts)
        if text.rstrip(" \n\t\"'”’)»」』").endswith(("?", "？"))
    }


def _oldest(thread: Thread) -> Facts:
    try:
        order = points(merit(thread, "oldest"))
    except Undefined:
        return {}
    return dict.fromkeys(np.flatnonzero(order == 1).tolist(), "the oldest comment")


def _same(thread: Thread, first: NDArray[np.int64]) -> Facts:
    ids: Sequence[str] = thread.ids
    found = {}
    for at, count in enumerate(np.bincount(first, minlength=len(first)).tolist()):
        if first[at] != at:
            found[at] = f"near duplicate of {ids[first[at]]}"
        elif count > 1:
            found[at] = f"{count - 1:,} near {_plural(count - 1, 'duplicate')} in the thread"
    return found


def _plural(count: float, noun: str) -> str:
    return noun if abs(count) == 1 else f"{noun}s"
