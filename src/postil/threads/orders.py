"""Orders of a thread: points from scores, mixtures of several orders, diversity, near duplicates, and reasons.

Reasons are facts in words that a reader can check.
"""

from __future__ import annotations

from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from msgspec.structs import replace

from postil.corpus.duplicates import near_duplicates
from postil.data.fields import unix_seconds
from postil.data.ranking import best_first, joined
from postil.data.suggestions import RankedComment, ScreenedComment
from postil.documents.markup import plain_text
from postil.errors import InvalidInput, Undefined, UsageError
from postil.threads.thread import Thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.screening.model import Screened
    from postil.threads.quality import Quality

__all__ = [
    "diversified",
    "duplicates",
    "merit",
    "mixed",
    "points",
    "rank_thread",
    "ranked_thread",
    "reasons",
    "screened_thread",
]

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
    found = (
        dict(chain.from_iterable(_shared(thread, at) for at in range(len(thread)))),
        _votes(thread),
        _lengths(thread),
        _questions(thread),
        _oldest(thread),
        _same(thread, first),
    )
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
    found = {at: f"{votes[at]:,.0f} {_plural(votes[at], 'vote')}" for at in np.flatnonzero(votes < 0).tolist()}
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


def ranked_thread(
    thread: Thread,
    weights: Mapping[str, float],
    *,
    relevance: NDArray[np.float64] | None = None,
    quality: Quality | None = None,
    diversity: float = 0.0,
) -> list[RankedComment]:
    """Rank the comments of a thread.

    Args:
        thread: The thread of n comments, at least one.
        weights: Weight of each order, above 0; see `postil.threads.options.ORDERS`.
        relevance: float64[n], the scores of the order ``relevance``.
        quality: The model of the order ``quality``.
        diversity: Weight of the difference from the comments above, from 0 to 1.

    Returns:
        The comments, best first. The score of a single order by a model is that of the model.

    Raises:
        Undefined: A comment lacks what an order reads.
        UsageError: The diversity is not from 0 to 1.
    """
    also = list[str]()
    scores: dict[str, NDArray[np.float64]] = {} if relevance is None else {"relevance": relevance}
    if quality is not None:
        named = thread.tokens.tokenizer
        same = named is not None and named.name == quality.tokenizer
        own = thread if same else Thread.of(thread.article, quality.tokenizer)
        scores["quality"], also = quality.scores(own), quality.reasons(own)
    for name in weights.keys() - scores.keys():
        scores[name] = merit(thread, name)
    (first, *others) = weights
    by_model = not others and first in {"relevance", "quality"}
    merits = scores[first] if by_model else mixed(scores, weights)
    return rank_thread(thread, merits, diversity=diversity, also=also)


def screened_thread(
    ranked: Sequence[RankedComment], judge: Callable[[Sequence[str]], Sequence[Screened]]
) -> list[RankedComment]:
    """Mark the comments of a thread that moderators would hold.

    Args:
        ranked: The ranked comments.
        judge: Function of a screen that learned from the moderators; see `postil.screening.model.Screen.judge`.

    Returns:
        The same comments, each with the decision that is expected; the reasons of one that would be held begin with it.

    Raises:
        PostilError: Readers of texts besides words fail.
    """
    out = []
    for one, found in zip(ranked, judge([plain_text(one.text).text for one in ranked]), strict=True):
        screened = ScreenedComment(found.probability, found.decision, dict(found.reasons))
        held = (_held(screened),) if found.decision == "hold" else ()
        out.append(replace(one, reasons=(*held, *one.reasons), screened=screened))
    return out


def _held(found: ScreenedComment) -> str:
    """The expectation that moderators hold a comment, in words, with the most probable reason."""
    best = max(found.reasons.items(), key=itemgetter(1), default=None)
    why = "" if best is None else f", for {best[0]} {best[1]:.2f}"
    return f"moderators would hold it: probability {found.probability:.2f}{why}"
