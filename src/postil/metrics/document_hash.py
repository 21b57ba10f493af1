"""Hash of references by item, which tells the document frequencies that are counted from them.

Items, and the references of an item, come in any order and in any number of parts; a reference that an item has twice
counts once, as it does for document frequencies. Texts are hashed by their words, whatever ids these have.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from postil.text.tokens import Tokens

__all__ = ["DIGITS", "DocumentHash"]

DIGITS: Final = 12
"""Number of hexadecimal digits of a hash in signatures."""
BLOCK: Final = 1 << 12
"""Number of texts that are hashed together, whose words fit the cache of a core."""
FACTOR: Final = 0xD1342543DE82EF95
INVERSE: Final = pow(FACTOR, -1, 1 << 64)
"""Its inverse modulo 2^64."""


class DocumentHash:
    """Hash of the references of items, part by part.

    >>> from postil.text.tokens import Vocabulary
    >>> whole, parts = DocumentHash(), DocumentHash()
    >>> tokens = Vocabulary().encode_tokens([["a", "b"], ["b"], ["b", "a"]])
    >>> whole.add(tokens, np.array([0, 0, 1]))
    >>> parts.add(Vocabulary().encode_tokens([["b", "a"]]), np.array([0]))
    >>> parts.add(Vocabulary().encode_tokens([["b"], ["a", "b"]]), np.array([0, 0]))
    >>> whole.digest() == parts.digest()
    True
    """

    def __init__(self) -> None:
        self._sum = 0
        self._items = 0
        self._words = np.zeros(0, np.uint64)
        self._vocabulary: object = None

    def add(self, tokens: Tokens, items: NDArray[np.int32] | NDArray[np.int64]) -> None:
        """Add the references of some items.

        Args:
            tokens: m references.
            items: [m], index of the item of each, ascending; all references of an item are there.
        """
        if not len(tokens):
            return
        if tokens.vocabulary is not self._vocabulary:
            self._vocabulary, self._words = tokens.vocabulary, np.zeros(0, np.uint64)
        self._words = np.concatenate([self._words, _hashes(tokens.vocabulary.words(len(self._words)))])
        texts = np.concatenate([self._texts(tokens, begin) for begin in range(0, len(tokens), BLOCK)])
        pairs = np.sort(texts + _mixed(items.astype(np.uint64)))
        if (pairs[1:] == pairs[:-1]).any():  # an item has a reference twice; to find which takes longer
            order = np.lexsort((texts, items))
            texts, items = texts[order], items[order]
            first = np.concatenate([[True], (texts[1:] != texts[:-1]) | (items[1:] != items[:-1])])
            texts, items = texts[first], items[first]
        ends = np.append(np.flatnonzero(items[1:] != items[:-1]) + 1, len(items))
        sums = np.diff(np.cumsum(_mixed(texts), dtype=np.uint64)[ends - 1], prepend=np.uint64(0))
        self._sum = (self._sum + int(_mixed(sums).sum(dtype=np.uint64))) % 2**64
        self._items += len(ends)

    def digest(self) -> str:
        """Hexadecimal digits for signatures."""
        return hashlib.sha256(f"{self._items}:{self._sum}".encode()).hexdigest()[:DIGITS]

    def _texts(self, tokens: Tokens, begin: int) -> NDArray[np.uint64]:
        """Hashes of a block of texts: polynomials of a factor, whose coefficients are their words' hashes."""
        offsets = tokens.offsets[begin : begin + BLOCK + 1]
        words = self._words[tokens.ids[offsets[0] : offsets[-1]]]
        sums = np.zeros(len(words) + 1, np.uint64)
        np.cumsum(words * _powers(FACTOR, len(words)), out=sums[1:])
        begins, ends = offsets[:-1] - offsets[0], offsets[1:] - offsets[0]
        # Powers count from the beginning of the block; those of a text from its own.
        own: NDArray[np.uint64] = (sums[ends] - sums[begins]) * _powers(INVERSE, len(words) + 1)[begins]
        own += np.diff(offsets).astype(np.uint64)
        return own


@cache
def _all_powers(factor: int, count: int) -> NDArray[np.uint64]:
    powers: NDArray[np.uint64] = np.full(count, factor, np.uint64)
    powers[0] = 1
    found: NDArray[np.uint64] = np.cumprod(powers)
    return found


def _powers(factor: int, count: int) -> NDArray[np.uint64]:
    """Powers of a factor modulo 2^64, from the power 0 on."""
    return _all_powers(factor, 1 << count.bit_length())[:count]


def _hashes(words: Iterable[str]) -> NDArray[np.uint64]:
    """A hash of each word, which may hold a lone surrogate."""
    made = (hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest() for word in words)
    return np.frombuffer(b"".join(made), "<u8").astype(np.uint64)


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers whose bits all depend on all bits of the values (SplitMix64; Steele, Lea and Flood 2014)."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return mixed ^ mixed >> np.uint64(31)
