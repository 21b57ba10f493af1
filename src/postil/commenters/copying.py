"""What a text shares with others: the longest run of words that also stands in one of them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from postil.arrays import WHOLE, Expected
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.arrays import Open

__all__ = ["Run", "Runs"]

_END = -1


class Run(NamedTuple):
    """Words that stand in a text, one behind the other.

    Args:
        text: Which text; the first that has them.
        begin: Where they begin in what was looked for.
        words: How many they are.
    """

    text: int
    begin: int
    words: int


@dataclass(frozen=True, eq=False)
class Runs:
    """All runs of two words and more in n texts, to be looked up.

    Args:
        ids: int32[T + n], the words of all texts, each text with -1 behind it.
        order: int64[T], the places of words in these, sorted by the word and the one behind it.

    >>> runs = Runs.of(np.array([5, 6, 7, 6, 7, 8]), np.array([0, 3, 6]))
    >>> runs.longest([9, 6, 7, 8]), runs.longest([7, 5])
    (Run(text=1, begin=1, words=3), None)
    """

    ids: NDArray[np.int32]
    order: NDArray[np.int64]

    @classmethod
    def of(cls, ids: NDArray[np.integer], offsets: NDArray[np.int64]) -> Runs:
        """Sort the words of texts.

        Args:
            ids: int[T], words as numbers from 0, all texts behind one another.
            offsets: int64[n + 1], where each text begins.
        """
        ended = np.full(len(ids) + len(offsets), _END, dtype=np.int32)  # one more, so that each place has one behind it
        places = np.arange(len(ids)) + np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        ended[places] = ids
        order = places[np.lexsort((ended[places + 1], ended[places]))]
        return cls(ended[:-1], order)

    @classmethod
    def open(cls, array: Open, folder: str) -> Runs:
        """Open runs of a folder.

        Args:
            array: Opens an array by its name; see `postil.commenters.store.Model.array`.
            folder: Where ``words`` and ``order`` lie.

        Raises:
            InvalidInput: An array is missing, or another one.
        """
        ids = array(f"{folder}/words", Expected("int32", low=_END))
        texts = int(np.count_nonzero(np.asarray(ids) == _END))
        if texts and ids[-1] != _END:  # what is compared word by word ends there at the latest
            where = str(getattr(ids, "filename", folder))
            raise InvalidInput(f"expected {_END} behind the last text, got {ids[-1]}; {WHOLE}", where=where)
        order = Expected("int64", (len(ids) - texts,), low=0, high=len(ids) - 2)
        return cls(np.asarray(ids), np.asarray(array(f"{folder}/order", order)))

    def __len__(self) -> int:
        return len(self._ends)

    def longest(self, words: Sequence[int]) -> Run | None:
        """The longest run of words that stands in one of the texts.

        Args:
            words: Words as numbers.

        Returns:
            The first of the longest ones; None where no two words stand behind one another anywhere.
        """
        best: Run | None = None
        for begin in range(len(words) - 1):
            if best is not None and len(words) - begin <= best.words:
                break
            places = self._pairs(words[begin], words[begin + 1])
            size = min(2, len(places) + 1)
            while len(places) and begin + size < len(words):
                longer = places[self.ids[places + size] == words[begin + size]]
                if not len(longer):
                    break
                places, size = longer, size + 1
            if len(places) and (best is None or size > best.words):
                best = Run(int(np.searchsorted(self._ends, places.min())), begin, size)
        return best

    def _pairs(self, first: int, second: int) -> NDArray[np.int64]:
        """The places of a word with another behind it."""
        ids, order = self.ids, self.order
        low = bisect_left(order, first, key=lambda place: ids[place])
        high = bisect_right(order, first, low, key=lambda place: ids[place])
        begin = bisect_left(order, second, low, high, key=lambda place: ids[place + 1])
        end = bisect_right(order, second, begin, high, key=lambda place: ids[place + 1])
        return np.asarray(order[begin:end])

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        """Where texts end, int64[n]."""
        return np.flatnonzero(np.asarray(self.ids) == _END)
