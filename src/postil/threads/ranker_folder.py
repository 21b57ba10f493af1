"""Ranking of a thread by a mixture of orders, some of them by models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.threads.orders import merit, mixed
from postil.threads.ranking import rank_thread
from postil.threads.thread import Thread

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from postil.data.suggestions import RankedComment
    from postil.threads.quality import Quality

__all__ = ["ranked_thread"]


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
        weights: Weight of each order, above 0; see `postil.threads.orders.ORDERS`.
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
