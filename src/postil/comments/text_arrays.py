"""Texts in numeric arrays, which can be mapped into memory: strings, and their words indexed to find copies."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from postil.data.arrays import WHOLE, Expected, OpenArray
from postil.errors import InvalidInput
from postil.text.tokens import ranges

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray


__all__ = ["SharedSpan", "SpanIndex", "StringArray"]


@dataclass(frozen=True, eq=False, slots=True)
class StringArray:
    """n texts in UTF-8, concatenated.

    Args:
        data: uint8[bytes].
        offsets: int64[n + 1]; text i is ``data[offsets[i]:offsets[i + 1]]``.
        where: The file they were opened from, for messages.

    >>> texts = StringArray.of(["rain", "", "雨"])
    >>> texts[2], texts[1], len(texts)
    ('雨', '', 3)
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    where: str = ""

    @classmethod
    def open(cls, array: OpenArray, name: str, count: int | None = None) -> StringArray:
        """Open the texts of a folder; the bytes of a text are checked when it is read.

        Args:
            array: Opens an array by its name; see `postil.data.model_folders.Model.array`.
            name: Prefix of the names of the two arrays.
            count: Number of texts; None is any.

        Raises:
            InvalidInput: An array is missing, or not as expected.
        """
        data = array(f"{name}.data", Expected("uint8"))
        offsets = array(f"{name}.offsets", Expected("int64", (None if count is None else count + 1,), end=len(data)))
        # np.asarray drops the np.memmap class, whose overhead on each view dominates reading texts one by one.
        return cls(np.asarray(data), np.asarray(offsets), str(getattr(data, "filename", name)))

    @classmethod
    def of(cls, texts: Iterable[str]) -> StringArray:
        """Encode and concatenate texts.

        Args:
            texts: The texts.
        """
        data, ends = bytearray(), [0]
        for text in texts:
            data += text.encode("utf-8", "surrogatepass")
            ends.append(len(data))
        return cls(np.frombuffer(bytes(data), dtype=np.uint8), np.array(ends, dtype=np.int64))

    @classmethod
    def concatenate(cls, parts: Sequence[StringArray]) -> StringArray:
        """Append the texts of several arrays to one another.

        Args:
            parts: At least one.
        """
        ends = np.cumsum([0, *(len(part.data) for part in parts)])
        offsets = [np.asarray(part.offsets[:-1]) + begin for part, begin in zip(parts, ends, strict=False)]
        data = np.concatenate([part.data for part in parts])
        return cls(data, np.append(np.concatenate(offsets), ends[-1]).astype(np.int64))

    def take(self, indices: NDArray[np.int64]) -> StringArray:
        """Copy some of the texts.

        Args:
            indices: Their indices, in the order wanted.
        """
        sizes = np.diff(self.offsets)[indices]
        places = ranges(self.offsets[:-1][indices], sizes)
        return StringArray(np.asarray(self.data)[places], np.append(0, np.cumsum(sizes)).astype(np.int64))

    def texts(self, indices: NDArray[np.int64]) -> list[str]:
        """Read some of the texts.

        Args:
            indices: Their indices, in the order wanted.

        Raises:
            InvalidInput: One is damaged.
        """
        data, begins, ends = self.data.data, self.offsets[:-1][indices], self.offsets[1:][indices]
        try:
            return [
                str(data[begin:end], "utf-8", "surrogatepass")
                for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)
            ]
        except UnicodeDecodeError:
            return [self[index] for index in indices.tolist()]  # which says which one

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[str]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, index: int) -> str:
        data = self.data[self.offsets[index] : self.offsets[index + 1]].tobytes()
        try:
            return data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            problem = f"text {index}: expected UTF-8, got {data[error.start : error.end]!r}; {WHOLE}"
            raise InvalidInput(problem, where=self.where) from error


_END = -1


class SharedSpan(NamedTuple):
    """A word sequence that also occurs in an indexed text.

    Args:
        text: Index of the first text that contains it.
        begin: Start position in the query.
        words: Length in words.
    """

    text: int
    begin: int
    words: int


@dataclass(frozen=True, eq=False)
class SpanIndex:
    """Index of all word sequences of two words or more in n texts: positions sorted by bigram.

    Args:
        ids: int32[T + n], the words of all texts, each text followed by -1.
        order: int64[T], positions of words in `ids`, sorted by the word and the next one.

    >>> spans = SpanIndex.of(np.array([5, 6, 7, 6, 7, 8]), np.array([0, 3, 6]))
    >>> spans.longest([9, 6, 7, 8]), spans.longest([7, 5])
    (SharedSpan(text=1, begin=1, words=3), None)
    """

    ids: NDArray[np.int32]
    order: NDArray[np.int64]

    @classmethod
    def of(cls, ids: NDArray[np.integer], offsets: NDArray[np.int64]) -> SpanIndex:
        """Index texts.

        Args:
            ids: int[T], token ids from 0, all texts concatenated.
            offsets: int64[n + 1], the start of each text.
        """
        ended = np.full(len(ids) + len(offsets), _END, dtype=np.int32)  # one extra, so that each position has a next
        positions = np.arange(len(ids)) + np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        ended[positions] = ids
        order = positions[np.lexsort((ended[positions + 1], ended[positions]))]
        return cls(ended[:-1], order)

    def take(self, texts: NDArray[np.int64]) -> SpanIndex:
        """The index of some of the texts.

        Args:
            texts: int64[m], their indices, ascending.
        """
        kept = np.zeros(len(self), dtype=bool)
        kept[texts] = True
        sizes = np.diff(np.concatenate([[-1], self._ends]))  # with the end of each
        stays = np.repeat(kept, sizes)
        moved = np.cumsum(stays) - 1
        order = np.asarray(self.order)
        return SpanIndex(np.asarray(self.ids)[stays], moved[order[stays[order]]])

    @classmethod
    def open(cls, array: OpenArray, folder: str) -> SpanIndex:
        """Open the index of a folder.

        Args:
            array: Opens an array by its name; see `postil.data.model_folders.Model.array`.
            folder: The folder of ``words`` and ``order``.

        Raises:
            InvalidInput: An array is missing, or not as expected.
        """
        ids = array(f"{folder}/words", Expected("int32", low=_END))
        texts = int(np.count_nonzero(np.asarray(ids) == _END))
        if texts and ids[-1] != _END:  # extending a match must stop at the end of the last text
            where = str(getattr(ids, "filename", folder))
            raise InvalidInput(f"expected {_END} after the last text, got {ids[-1]}; {WHOLE}", where=where)
        order = Expected("int64", (len(ids) - texts,), low=0, high=len(ids) - 2)
        return cls(np.asarray(ids), np.asarray(array(f"{folder}/order", order)))

    def __len__(self) -> int:
        return len(self._ends)

    def longest(self, words: Sequence[int]) -> SharedSpan | None:
        """Find the longest word sequence that occurs in one of the texts.

        Args:
            words: Token ids.

        Returns:
            The first of the longest ones; None where no bigram of the query occurs anywhere.
        """
        best: SharedSpan | None = None
        for begin in range(len(words) - 1):
            if best is not None and len(words) - begin <= best.words:
                break
            matches = self._bigram(words[begin], words[begin + 1])
            size = min(2, len(matches) + 1)
            while len(matches) and begin + size < len(words):
                longer = matches[self.ids[matches + size] == words[begin + size]]
                if not len(longer):
                    break
                matches, size = longer, size + 1
            if len(matches) and (best is None or size > best.words):
                best = SharedSpan(int(np.searchsorted(self._ends, matches.min())), begin, size)
        return best

    def _bigram(self, first: int, second: int) -> NDArray[np.int64]:
        """Positions of a bigram."""
        ids, order = self.ids, self.order
        low = bisect_left(order, first, key=lambda at: ids[at])
        high = bisect_right(order, first, low, key=lambda at: ids[at])
        begin = bisect_left(order, second, low, high, key=lambda at: ids[at + 1])
        end = bisect_right(order, second, begin, high, key=lambda at: ids[at + 1])
        return np.asarray(order[begin:end])

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        """Ends of the texts in `ids`, int64[n]."""
        return np.flatnonzero(np.asarray(self.ids) == _END)
