"""Ranking of a thread: an order with its reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.commenters.threads.orders import diversified, duplicates
from postil.commenters.threads.reasons import reasons, repeats
from postil.records.ranking import best_first
from postil.records.suggestions import RankedComment

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from postil.commenters.threads.thread import Thread

__all__ = ["rank_thread"]


def rank_thread(
    thread: Thread, merits: NDArray[np.float64], *, diversity: float = 0.0, also: Sequence[str] = ()
) -> list[RankedComment]:
    """Rank the comments of a thread.

    Args:
        thread: The thread of n comments.
        merits: float64[n], higher is better.
        diversity: Weight of the difference from the comments above, from 0 to 1; see
            `postil.commenters.threads.orders.diversified`.
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
