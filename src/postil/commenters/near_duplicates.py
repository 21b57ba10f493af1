r"""Near duplicates: the Jaccard similarity of word bigrams.

Texts are compared regardless of case, character width (NFKC), invisible characters and kind of apostrophe. A word is a
sequence of letters and digits; Han characters and kana are one word each, since no spaces separate words there.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.kernel import Interner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "UNSPACED",
    "BigramSets",
    "compact_text",
    "jaccard_similarity",
    "near_duplicates",
    "normalize_text",
    "pieces_of",
    "units_of",
    "words_of",
]

UNSPACED: Final = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Characters between which no spaces stand, for a class of a pattern."""

_WORD: Final = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
_ASCII_WORD: Final = re.compile(r"[a-z0-9]+")
_PIECE: Final = re.compile(rf"{_WORD.pattern}|[^\w\s]|_")
_INVISIBLE: Final = re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]")


def normalize_text(text: str) -> str:
    """Normalize case, character width, apostrophes and invisible characters, before texts are compared.

    Args:
        text: The text.

    >>> normalize_text("Ｄon’t")
    "don't"
    """
    if text.isascii():
        return text.lower()
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).casefold().replace("’", "'")


def compact_text(text: str) -> str:
    """A text without differences of case, character width, apostrophes and spaces.

    Args:
        text: The text.

    >>> compact_text(" Bring  a Coat. ")
    'bring a coat.'
    """
    return " ".join(normalize_text(text).split())


def words_of(text: str) -> list[str]:
    """Words of a text, normalized.

    Args:
        text: The text.

    >>> words_of("Don’t go, 你好!")
    ['don', 't', 'go', '你', '好']
    """
    plain = normalize_text(text)
    return (_ASCII_WORD if plain.isascii() else _WORD).findall(plain)


def pieces_of(text: str) -> list[str]:
    """Words and marks of a text, normalized.

    Args:
        text: The text.
    """
    return _PIECE.findall(normalize_text(text))


def units_of(text: str) -> list[str]:
    """Words of a text, or its marks where it has no word.

    Args:
        text: The text.
    """
    return words_of(text) or pieces_of(text)


def jaccard_similarity(one: str, other: str) -> float:
    """Jaccard similarity of the word bigram sets of two texts.

    The beginning and the end of a text count as words, so a text of n words has n + 1 bigrams. Texts without words,
    such as emoji, are compared by their characters.

    Args:
        one: A text.
        other: Another.

    Returns:
        From 0 to 1. Replacing one word of n makes it (n - 1) / (n + 3).

    >>> jaccard_similarity("Rain again!", "rain again"), jaccard_similarity("We need rain.", "We need sun.")
    (1.0, 0.3333333333333333)
    """
    return float(BigramSets([one, other]).jaccard(0)[1])


def near_duplicates(texts: Sequence[str], order: ArrayLike, threshold: float = 0.6) -> NDArray[np.int64]:
    """The near duplicate of each text that comes first in an order, by greedy deduplication.

    Args:
        texts: n texts.
        order: n indices of texts, each once, best first.
        threshold: Smallest `jaccard_similarity` of near duplicates, in (0, 1].

    Returns:
        int64[n], by text: the index of the first; its own where no near duplicate is before it.

    >>> near_duplicates(["Rain again!", "Sun.", "rain again"], [2, 1, 0]).tolist()
    [2, 1, 2]
    """
    first = np.arange(len(texts))
    if len(texts) < 2:
        return first
    bigrams = BigramSets(texts)
    left = np.ones(len(texts), bool)
    for position in np.asarray(order, np.int64).tolist():
        if left[position]:
            same = left & (bigrams.jaccard(position) >= threshold)
            first[same], first[position] = position, position
            left &= ~same
            left[position] = False
    return first


class BigramSets:
    """The sets of word bigrams of n texts, as numbers.

    Args:
        texts: The texts; see `units_of` for their words.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        plain = [normalize_text(text) for text in texts]
        interner = Interner()
        # A run of ASCII letters and digits is a word of both, and the kernel splits some hundred texts in no time.
        ascii_ = np.flatnonzero([text.isascii() for text in plain])
        ids, offsets, _ = interner.encode([plain[at] for at in ascii_.tolist()], "rouge")
        sizes = np.diff(offsets)
        split = ascii_[sizes > 0]
        others = np.setdiff1d(np.arange(len(texts)), split)
        more, their_offsets = interner.encode_tokens([units_of(texts[at]) for at in others.tolist()])
        sizes = np.concatenate([sizes[sizes > 0], np.diff(their_offsets)])
        # A mark, which is the number 0, begins a text and ends it.
        begins = np.concatenate([[0], np.cumsum(sizes)])
        marked = np.insert(np.concatenate([ids, more]).astype(np.int64) + 1, begins, 0)
        owners = np.repeat(np.concatenate([split, others]), sizes + 1)
        # A bigram and a text as one number, so that one sort finds the distinct ones.
        entries = np.sort((marked[:-1] * (len(interner) + 1) + marked[1:]) * len(texts) + owners)
        pairs, self._texts = np.divmod(entries[np.diff(entries, prepend=-1) > 0], len(texts))
        self._pairs = np.cumsum(np.diff(pairs, prepend=-1) > 0)
        self._sizes = np.bincount(self._texts, minlength=len(texts))

    def jaccard(self, text: int) -> NDArray[np.float64]:
        """Jaccard similarity of each text and one of them, float64[n].

        Args:
            text: The index of the one.
        """
        mine = np.zeros(self._pairs[-1] + 1, bool)
        mine[self._pairs[self._texts == text]] = True
        shared = np.bincount(self._texts[mine[self._pairs]], minlength=len(self._sizes))
        return np.asarray(shared / (self._sizes[text] + self._sizes - shared), np.float64)
