"""The order in which an annotator has texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

__all__ = ["Turn", "in_order", "woven"]

Turn: TypeAlias = tuple[int, int]
"""A text and a round: 1, or 2 where the same annotator has the text again."""


def in_order(
    texts: list[int],
    gold: frozenset[int],
    articles: tuple[str, ...],
    repeats: float,
    random: np.random.Generator,
    *,
    together: bool,
) -> tuple[Turn, ...]:
    """An annotator's texts in order.

    Every text gets a place between 0 and 1. The c texts of an article, in random order, are at ``(j + u) / c`` for
    j = 0 … c - 1 with one u that is uniform in [0, 1): each of them is uniform in [0, 1), and they are 1 / c apart.
    Texts to be kept together share the place u.

    Args:
        texts: The annotator's texts.
        gold: Those that everyone has, which do not come again.
        articles: The article of each text of the campaign.
        repeats: The share of the annotator's texts that come again, half of the way later.
        random: The source of chance.
        together: Whether texts of one article stay together.
    """
    if not texts:
        return ()
    number = np.unique([articles[item] for item in texts], return_inverse=True)[1]
    tie = random.random(len(texts))
    start = random.random(int(number.max()) + 1)[number]
    place = start if together else (_rank_within(number, tie) + start) / np.bincount(number)[number]
    again = np.flatnonzero(np.array([item not in gold for item in texts]) & (place < 0.5))
    wanted = round(repeats * (len(texts) - len(gold)))
    chosen = random.permutation(again)[:wanted]
    turns = [*((item, 1) for item in texts), *((texts[which], 2) for which in chosen.tolist())]
    places, ties = np.concatenate([place, place[chosen] + 0.5]), np.concatenate([tie, tie[chosen]])
    return tuple(turns[which] for which in np.lexsort((ties, places)).tolist())


def _rank_within(group: NDArray[np.int64], tie: NDArray[np.float64]) -> NDArray[np.int64]:
    """The rank of each, from 0, among those of its group."""
    order = np.lexsort((tie, group))
    counts = np.bincount(group)
    rank = np.empty(len(group), np.int64)
    rank[order] = np.arange(len(group)) - np.repeat(np.cumsum(counts) - counts, counts)
    return rank


def woven(
    order: tuple[Turn, ...], answered: Collection[Turn], new: Sequence[int], random: np.random.Generator
) -> tuple[Turn, ...]:
    """New texts in random places of an order, after the text that is before the annotator now.

    Args:
        order: The annotator's order.
        answered: What the annotator has answered.
        new: The texts.
        random: The source of chance.
    """
    done = set(answered)
    now = next((place for place, turn in enumerate(order) if turn not in done), len(order) - 1)
    last = max((place for place, turn in enumerate(order) if turn in done), default=-1)
    head = max(now, last) + 1
    tail = order[head:]
    slots = set(random.choice(len(tail) + len(new), len(new), replace=False).tolist())
    fresh, old = iter([(item, 1) for item in random.permutation(new).tolist()]), iter(tail)
    return (*order[:head], *(next(fresh) if slot in slots else next(old) for slot in range(len(tail) + len(new))))
