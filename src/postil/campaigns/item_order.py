"""Presentation order: the sequence in which an annotator sees items."""

from __future__ import annotations

from itertools import chain, groupby
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from postil.campaigns.models import Presentation

__all__ = ["ItemOrder", "insert_items", "presentation_order"]

ItemOrder: TypeAlias = Literal["spread", "together"]
"""Items of one article in a presentation order: far apart, or in a row."""


def presentation_order(
    items: list[int],
    gold: frozenset[int],
    articles: tuple[str, ...],
    repeat_rate: float,
    random: np.random.Generator,
    *,
    together: bool,
) -> tuple[Presentation, ...]:
    """Draw the presentation order of an annotator.

    Every item gets a position between 0 and 1. The c items of an article, in random order, are at ``(j + u) / c`` for
    j = 0 … c - 1 with one u that is uniform in [0, 1): each of them is uniform in [0, 1), and they are 1 / c apart.
    Items to be kept together share the position u.

    Args:
        items: Numbers of the annotator's items.
        gold: Numbers of the gold items, which are not repeated.
        articles: Article of each item of the campaign.
        repeat_rate: Share of the annotator's items that are repeated, half of the order later.
        random: Random number generator.
        together: True to keep the items of an article together.
    """
    if not items:
        return ()
    number = np.unique([articles[item] for item in items], return_inverse=True)[1]
    tie = random.random(len(items))
    start = random.random(int(number.max()) + 1)[number]
    position = start if together else (_rank_within(number, tie) + start) / np.bincount(number)[number]
    # Only the first half can be repeated half of the order later.
    repeatable = np.flatnonzero(np.array([item not in gold for item in items]) & (position < 0.5))
    wanted = round(repeat_rate * (len(items) - len(gold)))
    chosen = random.permutation(repeatable)[:wanted]
    shown = [*((item, 1) for item in items), *((items[index], 2) for index in chosen.tolist())]
    positions, ties = np.concatenate([position, position[chosen] + 0.5]), np.concatenate([tie, tie[chosen]])
    return tuple(shown[index] for index in np.lexsort((ties, positions)).tolist())


def _rank_within(group: NDArray[np.int64], tie: NDArray[np.float64]) -> NDArray[np.int64]:
    """Rank of each element among those of its group, from 0."""
    order = np.lexsort((tie, group))
    counts = np.bincount(group)
    rank = np.empty(len(group), np.int64)
    rank[order] = np.arange(len(group)) - np.repeat(np.cumsum(counts) - counts, counts)
    return rank


def insert_items(
    order: tuple[Presentation, ...],
    answered: Collection[Presentation],
    new: Sequence[int],
    random: np.random.Generator,
    articles: Sequence[str] | None = None,
    *,
    held: int = 0,
) -> tuple[Presentation, ...]:
    """Insert new items at random positions of an order, after the item that is on the annotator's screen.

    With `articles`, the new items of an article come in a row, and no row of one article is broken up.

    Args:
        order: Presentation order of the annotator.
        answered: Presentations that the annotator has answered.
        new: Numbers of the new items.
        random: Random number generator.
        articles: Article of each item of the campaign, to insert the items of an article together; None to insert each
            by itself.
        held: Number of items after that on the screen which stay where they are.
    """
    done = set(answered)
    now = next((position for position, shown in enumerate(order) if shown not in done), len(order) - 1)
    last = max((position for position, shown in enumerate(order) if shown in done), default=-1)
    head = min(len(order), max(now, last) + 1 + held)
    while articles and 0 < head < len(order) and articles[order[head][0]] == articles[order[head - 1][0]]:
        head += 1
    tail = _runs(order[head:], articles)
    count = len({articles[item] for item in new}) if articles else len(new)
    slots = set(random.choice(len(tail) + count, count, replace=False).tolist())
    shuffled = random.permutation(new).tolist()
    if articles:
        place = {articles[item]: number for number, item in enumerate(shuffled)}
        shuffled.sort(key=lambda item: place[articles[item]])
    fresh, old = iter(_runs([(item, 1) for item in shuffled], articles)), iter(tail)
    runs = (next(fresh) if slot in slots else next(old) for slot in range(len(tail) + count))
    return (*order[:head], *chain.from_iterable(runs))


def _runs(shown: Sequence[Presentation], articles: Sequence[str] | None) -> list[list[Presentation]]:
    """Consecutive presentations of one article; each by itself without articles."""
    if articles is None:
        return [[one] for one in shown]
    return [list(run) for _, run in groupby(shown, key=lambda one: articles[one[0]])]
