"""Highlights of passages in the text of a document: which pieces of a block belong to which passage."""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from postil.interest.html.markup import Node, node

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from postil.interest.result import RankedPassage

__all__ = ["Marks", "level"]

LEVELS: Final = (1, 3, 5, 10)
"""The last rank of each intensity of the highlight, from the strongest; all others have the weakest."""


def level(rank: int) -> int:
    """Intensity of the highlight of a rank, from 1 (strongest) to 5.

    Args:
        rank: The rank.

    >>> [level(rank) for rank in (1, 2, 4, 10, 11)]
    [1, 2, 3, 4, 5]
    """
    return 1 + bisect_left(LEVELS, rank)


class Marks:
    """Passages in a text; of passages that overlap the better one has the common part.

    Args:
        passages: The passages; those without offsets are nowhere.
    """

    def __init__(self, passages: Iterable[RankedPassage]) -> None:
        spans = [(each.start or 0, each.end or 0, each.rank) for each in passages if each.start is not None]
        self._pieces = list(_apart([span for span in spans if span[0] < span[1]]))
        self._ends = [end for _, end, _ in self._pieces]
        self._begun: set[int] = set()
        self.ranks = frozenset(rank for _, _, rank in self._pieces)
        """Ranks that have a highlight."""

    def within(self, start: int, end: int) -> bool:
        """True if there is a highlight in a stretch of the text.

        Args:
            start: Index of its first character.
            end: Index after its last character.
        """
        place = bisect_right(self._ends, start)
        return place < len(self._pieces) and self._pieces[place][0] < end

    def nodes(self, text: str, start: int, end: int) -> Iterator[Node]:
        """The text of a block, with its highlights; the first piece of each passage has its rank.

        Args:
            text: The text of the document.
            start: Index of the first character of the block.
            end: Index after its last character.
        """
        for place in range(bisect_right(self._ends, start), len(self._pieces)):
            low, high, rank = self._pieces[place]
            if low >= end:
                break
            yield text[start : max(start, low)]
            start, stop = max(start, low), min(high, end)
            yield self._mark(text[start:stop], rank)
            start = stop
        yield text[start:end]

    def _mark(self, text: str, rank: int) -> Node:
        classes = f"p{rank} l{level(rank)}"
        if rank in self._begun:
            return node("mark", text, class_=classes)
        self._begun.add(rank)
        badge = node(
            "a",
            str(rank),
            class_="badge",
            href=f"#item-{rank}",
            aria_label=f"Passage {rank}, back to the list",
            aria_describedby=f"why-{rank}",
        )
        return node("mark", badge, text, class_=classes, id=f"passage-{rank}")


def _apart(spans: list[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
    """Stretches that do not overlap, in the order of the text, each with the best rank there."""
    spans.sort()
    open_: list[tuple[int, int]] = []  # rank and end
    following = 0
    for low, high in pairwise(sorted({bound for start, end, _ in spans for bound in (start, end)})):
        while following < len(spans) and spans[following][0] <= low:
            _, end, rank = spans[following]
            heapq.heappush(open_, (rank, end))
            following += 1
        while open_ and open_[0][1] <= low:
            heapq.heappop(open_)
        if open_:
            yield low, high, open_[0][0]
