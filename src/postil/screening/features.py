"""Hashed n-grams of texts: words one and two at a time, and two to five characters within words.

A text becomes columns with counts, and these become log tf times idf, of length one for words and for characters apart.
Columns are hashes, so that no text and no word is kept, even of people who asked to be forgotten, and decisions are
added and erased without the texts. Idf is kept with them: hashing without it costs .015 of AUC, as rare n-grams weigh
no more than common ones. Every step works on the code points of many texts at once, in time linear in them up to a
sort, whatever they hold.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from postil.kernel.python.interning import UNSPACED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from postil.kernel.arrays import Booleans, Int64s

__all__ = ["COLUMNS", "Counts", "Vocabulary", "columns_within", "count_grams", "idf_of", "unseen_idf", "weighted"]

BITS: Final = 22
COLUMNS: Final = 1 << BITS
"""Number of columns of characters, and of words after them."""
_CHARACTERS: Final = (2, 3, 4, 5)
_BLOCK: Final = 1 << 19
"""Number of characters that are counted at once."""
_AT_ONCE: Final = 256
"""Number of texts that are weighted at once: their entries stay in the cache of a processor."""
_MOST: Final = 255
"""Largest count of an n-gram in a text; its logarithm hardly grows beyond."""
_FACTOR: Final = 0x9E3779B97F4A7C15
"""Base of the polynomials of code points, modulo 2^64: odd, so that it has an inverse."""
_MIXED: Final = 0xD6E8FEB86659FD93
_SPACE: Final = 32


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Columns of n texts, and how often each holds them.

    Args:
        offsets: int64[n + 1]; the entries of text i are ``offsets[i]:offsets[i + 1]``.
        columns: uint32[E], ascending within a text; those of words are `COLUMNS` and above.
        counts: uint8[E], at most 255.
    """

    offsets: Int64s
    columns: NDArray[np.uint32]
    counts: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def owners(self) -> Int64s:
        """The text of each entry, int64[E]."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def take(self, rows: Int64s) -> Self:
        """Some of the texts.

        Args:
            rows: int64[k], their positions, which may repeat.
        """
        sizes = np.diff(self.offsets)[rows]
        ends = np.cumsum(sizes)
        entries = np.arange(int(sizes.sum())) + np.repeat(self.offsets[rows] - (ends - sizes), sizes)
        return type(self)(np.concatenate([[0], ends]), self.columns[entries], self.counts[entries])

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The texts of several in sequence.

        Args:
            parts: The parts; none give no text.
        """
        sizes = [np.diff(part.offsets) for part in parts]
        offsets = np.cumsum(np.concatenate([[0], *sizes])).astype(np.int64)
        columns = np.concatenate([np.zeros(0, np.uint32), *(part.columns for part in parts)])
        return cls(offsets, columns, np.concatenate([np.zeros(0, np.uint8), *(part.counts for part in parts)]))


def count_grams(texts: Sequence[str]) -> Counts:
    """Count the n-grams of texts.

    A text is composed (NFC) and in lower case. N-grams of characters are those of words between white space, with one
    space on either side; words are runs of letters and digits, and letters of scripts without spaces one by one.

    Args:
        texts: n texts.

    >>> counts = count_grams(["No no", "a", ""])
    >>> counts.offsets.tolist(), counts.counts.tolist()
    ([0, 8, 12, 12], [2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1])
    """
    return Counts.joined([_counted(block) for block in _blocks(texts)])


def columns_within(term: str) -> NDArray[np.uint32]:
    """Columns that every text with some words has, whatever stands around them, ascending.

    They are those of the words, of pairs of them, and of the characters within them. Other texts hardly have them all:
    they would have other words with the same hashes and the same characters. Of a script without spaces they are
    those of the characters, wherever they occur.

    Args:
        term: The words; without a letter or digit they have no column of a word, which is `COLUMNS` or above.

    >>> term = columns_within("old people")
    >>> [bool(np.isin(term, count_grams([text]).columns).all()) for text in ("(Old people!)", "old, some people")]
    [True, False]
    """
    return _counted([_plain(term)]).columns


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).lower().split())


def _blocks(texts: Sequence[str]) -> Iterator[list[str]]:
    """Texts as they are counted, some at a time: each begins and ends with a space, and has single ones within."""
    block, size = list[str](), 0
    for text in texts:
        block.append(f" {_plain(text)} ")
        size += len(block[-1])
        if size >= _BLOCK:
            yield block
            block, size = [], 0
    if block:
        yield block


def _counted(block: Sequence[str]) -> Counts:
    codes = np.frombuffer("".join(block).encode("utf-32-le", "surrogatepass"), np.uint32)
    owner = np.repeat(np.arange(len(block), dtype=np.uint64), [len(text) for text in block])
    values = codes.astype(np.uint64) + np.uint64(1)
    keys = np.concatenate([*_of_characters(codes == _SPACE, values, owner), *_of_words(codes, values, owner)])
    keys.sort()
    first = np.flatnonzero(np.diff(keys, prepend=~keys[:1]))
    counts = np.minimum(np.diff(np.append(first, len(keys))), _MOST).astype(np.uint8)
    keys = keys[first]
    offsets = np.searchsorted(keys, np.arange(len(block) + 1, dtype=np.uint64) << np.uint64(BITS + 1))
    return Counts(offsets, (keys & np.uint64(2 * COLUMNS - 1)).astype(np.uint32), counts)


def _of_characters(
    space: Booleans, values: NDArray[np.uint64], owner: NDArray[np.uint64]
) -> Iterator[NDArray[np.uint64]]:
    """Keys of the n-grams of characters, which have no space within and more than spaces."""
    hashes, whole = values, ~space
    for size in _CHARACTERS:
        hashes = hashes[:-1] * np.uint64(_FACTOR) + values[size - 1 :]
        within = space[size - 2 : -1]  # the last character of the n-gram that is one shorter
        whole = ~(within & space[1:]) if size == _CHARACTERS[0] else whole[:-1] & ~within
        at = np.flatnonzero(whole)
        yield _keys(owner[at], hashes[at])


def _of_words(
    codes: NDArray[np.uint32], values: NDArray[np.uint64], owner: NDArray[np.uint64]
) -> Iterator[NDArray[np.uint64]]:
    """Keys of the words, and of pairs of successive words of a text."""
    kinds = _letters()[codes]
    single = kinds == _UNSPACED
    start = np.flatnonzero((kinds > 0) & (single | (np.diff(kinds, prepend=0) != 0)))
    end = np.flatnonzero((kinds > 0) & (single | (np.diff(kinds, append=0) != 0))) + 1
    powers, inverses = _powers(max(10, len(codes).bit_length()))
    sums = np.cumsum(np.append(np.uint64(0), values * powers[: len(values)]), dtype=np.uint64)
    words, owner = (sums[end] - sums[start]) * inverses[start], owner[start]
    yield _keys(owner, words, COLUMNS)
    paired = owner[1:] == owner[:-1]
    yield _keys(owner[1:][paired], (words[:-1] * np.uint64(_FACTOR) + words[1:] * np.uint64(_MIXED))[paired], COLUMNS)


def _keys(owner: NDArray[np.uint64], hashes: NDArray[np.uint64], first: int = 0) -> NDArray[np.uint64]:
    """Numbers that sort by text, then by column."""
    mixed = hashes * np.uint64(_MIXED)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(_MIXED)
    columns = (mixed >> np.uint64(64 - BITS)) + np.uint64(first)
    return np.asarray((owner << np.uint64(BITS + 1)) | columns)


@cache
def _powers(bits: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Powers of the base and of its inverse, modulo 2^64."""
    both = np.empty((2, 1 << bits), np.uint64)
    both[:, 0], both[0, 1:], both[1, 1:] = 1, _FACTOR, pow(_FACTOR, -1, 1 << 64)
    powers, inverses = np.cumprod(both, axis=1, dtype=np.uint64)
    return powers, inverses


_UNSPACED: Final = 2
_WORD: Final = re.compile(r"\w+")
_WITHOUT_SPACES: Final = re.compile(f"[{UNSPACED}]+")


@cache
def _letters() -> NDArray[np.uint8]:
    """For each code point 0 for none of a word, 1 for a letter or digit, 2 for a letter of a script without spaces."""
    whole = "".join(map(chr, range(sys.maxunicode + 1)))
    found = np.zeros(len(whole), np.uint8)
    for run in _WORD.finditer(whole):
        found[run.start() : run.end()] = 1
    for run in _WITHOUT_SPACES.finditer(whole):
        found[run.start() : run.end()] = _UNSPACED
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """Columns that a screen knows.

    Args:
        columns: uint32[m], ascending.
        idf: float32[m].
        unseen: The idf of a column that no text had.
    """

    columns: NDArray[np.uint32]
    idf: NDArray[np.float32]
    unseen: float

    def places(self, columns: NDArray[np.uint32]) -> NDArray[np.int32]:
        """Positions of columns, int32[E], -1 for those unseen.

        Args:
            columns: uint32[E].
        """
        if len(columns) > len(self.columns):  # a table costs as much as some million searches
            table = np.full(2 * COLUMNS, -1, np.int32)
            table[self.columns] = np.arange(len(self.columns), dtype=np.int32)
            return np.asarray(table[columns])
        at = np.minimum(np.searchsorted(self.columns, columns), len(self.columns) - 1)
        return np.where(self.columns[at] == columns, at, -1).astype(np.int32)


def idf_of(frequencies: Int64s, texts: int) -> NDArray[np.float32]:
    """Inverse document frequencies: ``1 + ln((1 + n) / (1 + df))``, as scikit-learn smooths them.

    Args:
        frequencies: int64[m], number of texts with each column.
        texts: Number n of texts.

    >>> [round(float(one), 3) for one in idf_of(np.array([1, 3]), 3)]
    [1.693, 1.0]
    """
    return np.asarray(1 + np.log((1 + texts) / (1 + frequencies)), np.float32)


def unseen_idf(texts: int) -> float:
    """The inverse document frequency of a column that no text has.

    Args:
        texts: Number of texts.

    >>> round(unseen_idf(3), 3)
    2.386
    """
    return float(idf_of(np.zeros(1, np.int64), texts)[0])


def weighted(counts: Counts, places: NDArray[np.int32], idf: NDArray[np.float32], unseen: float) -> NDArray[np.float32]:
    """Weights of the entries of texts: ``(1 + ln count) idf``, of length one for words and for characters apart.

    An unseen column has weight 0. An unseen word counts in the length of its text: what a screen does not know lessens
    what it knows. N-grams of characters that are unseen do not, as a misspelled word would be counted many times. On
    German tweets in five blocks the AUC is .8536 so, .8503 where neither counts, as in scikit-learn, .8532 where both
    do, and .8494 where only characters do; on spam, with one video left out at a time, .9772 so and .9775 with neither.

    Args:
        counts: The texts.
        places: int32[E], the position of each column, -1 for those unseen.
        idf: float32[m].
        unseen: The idf of an unseen column.

    Returns:
        float32[E].
    """
    found = np.empty(len(counts.columns), np.float32)
    for first in range(0, len(counts), _AT_ONCE):
        offsets = counts.offsets[first : first + _AT_ONCE + 1]
        here = slice(int(offsets[0]), int(offsets[-1]))
        block = Counts(offsets - offsets[0], counts.columns[here], counts.counts[here])
        found[here] = _weighted(block, places[here], idf, unseen)
    return found


def _weighted(
    counts: Counts, places: NDArray[np.int32], idf: NDArray[np.float32], unseen: float
) -> NDArray[np.float32]:
    seen = places >= 0
    weights = (1 + np.log(counts.counts, dtype=np.float32)) * np.where(seen, idf[places], np.float32(unseen))
    owners, of_words = counts.owners, counts.columns >= COLUMNS
    kinds = 2 * owners + of_words
    squares = np.bincount(kinds, np.where(seen | of_words, weights.astype(np.float64) ** 2, 0), 2 * len(counts))
    lengths = np.sqrt(np.where(squares > 0, squares, 1))
    return np.where(seen, weights / lengths[kinds], 0).astype(np.float32)
