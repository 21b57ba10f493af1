r"""Near duplicates: the Jaccard similarity of word bigrams.

Texts are compared regardless of case, character width (NFKC), invisible characters and kind of apostrophe. A word is a
sequence of letters and digits with their combining marks; a character of a script without spaces (Han, kana, Thai) is
one too.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.kernel import Interner
from postil.kernel.python.interning import UNSPACED, unspaced_word
from postil.kernel.unicode_forms import normalized

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

_ASCII_WORD: Final = re.compile(r"[a-z0-9]+")
_INVISIBLE: Final = re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]")


def normalize_text(text: str) -> str:
    """Normalize case, character width, apostrophes and invisible characters, before texts are compared.

    Args:
        text: The text.

    >>> normalize_text("Ｄon’t")
    "don't"
    """
    text = text.replace("’", "'")
    if text.isascii():
        return text.lower()
    return _INVISIBLE.sub("", normalized("NFKC", text)).casefold()


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
    return (_ASCII_WORD if plain.isascii() else unspaced_word()).findall(plain)


def pieces_of(text: str) -> list[str]:
    """Words and marks of a text, normalized.

    Args:
        text: The text.
    """
    return _piece().findall(normalize_text(text))


@cache
def _piece() -> re.Pattern[str]:
    return re.compile(rf"{unspaced_word().pattern}|[^\w\s]|_")


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
    if len(texts) < 2:
        return np.arange(len(texts))
    return BigramSets(texts).firsts(np.asarray(order, np.int64), threshold)


class BigramSets:
    """The sets of word bigrams of n texts, as numbers.

    Args:
        texts: The texts; see `units_of` for their words.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        interner = Interner()
        ids, offsets, _ = interner.encode([normalize_text(text) for text in texts], "unspaced")  # as `words_of`
        sizes = np.diff(offsets)
        wordless = np.flatnonzero(sizes == 0)
        more, offsets = interner.encode_tokens([pieces_of(texts[text]) for text in wordless.tolist()])
        numbers = np.concatenate([np.flatnonzero(sizes), wordless])
        sizes = np.concatenate([sizes[sizes > 0], np.diff(offsets)]) + 1  # with the mark before each text
        is_unit = np.ones(sizes.sum() + 1, bool)
        is_unit[np.cumsum([0, *sizes])] = False
        marked = np.zeros(len(is_unit), np.int64)
        marked[is_unit] = np.concatenate([ids, more]) + 1
        # A bigram and a text as one number, so that one sort finds the distinct ones.
        bits = len(texts).bit_length()
        pairs = marked[:-1] * (len(interner) + 1) + marked[1:]
        entries = np.sort(pairs << bits | np.repeat(numbers, sizes))
        entries = entries[np.diff(entries, prepend=-1) > 0]
        pairs, self._texts = entries >> bits, entries & ((1 << bits) - 1)
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

    def firsts(self, order: NDArray[np.int64], threshold: float) -> NDArray[np.int64]:
        """The near duplicate of each text that comes first in an order; see `near_duplicates`.

        Of a set of n bigrams that must share m of them, the rarest n - m + 1 are its prefix. Two near duplicates have
        one in common that is in both prefixes (Chaudhuri et al. 2006), so no other texts are compared. Equal sets are
        compared as one.

        Args:
            order: n indices of texts, each once, best first.
            threshold: Smallest similarity of near duplicates, in (0, 1].

        Returns:
            int64[n], by text.
        """
        bigrams = self._pairs[np.argsort(self._texts, kind="stable")]
        starts = np.cumsum([0, *self._sizes])
        ranks: dict[bytes, int] = {}  # of the distinct sets, which have numbers by rank from here on
        rank_of = np.zeros(len(order), np.int64)
        for text in order.tolist():
            rank_of[text] = ranks.setdefault(bigrams[starts[text] : starts[text + 1]].tobytes(), len(ranks))
        texts = order[np.unique(rank_of[order], return_index=True)[1]]
        sizes = self._sizes[texts]
        bigrams = bigrams[_ranges(starts[texts], sizes)]
        starts = np.cumsum([0, *sizes])
        owners = np.repeat(np.arange(len(sizes)), sizes)
        bigrams = bigrams[np.lexsort((bigrams, np.bincount(bigrams)[bigrams], owners))]
        least = np.ceil(threshold * sizes)
        least -= (least - 1) / sizes >= threshold  # where the product was rounded up
        prefixes = sizes - least.astype(np.int64) + 1
        places = _ranges(starts[:-1], prefixes)
        counts = np.bincount(bigrams[places])
        ends = np.cumsum(counts)
        postings = owners[places[np.argsort(bigrams[places], kind="stable")]]
        first, left = np.arange(len(sizes)), np.ones(len(sizes), bool)
        mine = np.zeros(self._pairs[-1] + 1, np.int64)
        for rank in np.unique(owners[places[counts[bigrams[places]] > 1]]).tolist():
            if not left[rank]:
                continue
            left[rank] = False
            own, size = bigrams[starts[rank] : starts[rank + 1]], sizes[rank]
            prefix = own[: prefixes[rank]]
            others = postings[_ranges(ends[prefix] - counts[prefix], counts[prefix])]
            lengths = sizes[others]
            similar = np.minimum(size, lengths) / np.maximum(size, lengths) >= threshold
            others = np.unique(others[left[others] & similar])
            if len(others):
                lengths = sizes[others]
                mine[own] = 1
                theirs = mine[bigrams[_ranges(starts[others], lengths)]]
                mine[own] = 0
                shared = np.add.reduceat(theirs, np.cumsum(lengths) - lengths)
                same = others[shared / (size + lengths - shared) >= threshold]
                first[same], left[same] = rank, False
        return np.asarray(texts[first[rank_of]], np.int64)


def _ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers from each start on, as many as its length, one after the other."""
    ends = np.cumsum(lengths)
    return np.asarray(np.repeat(starts - ends + lengths, lengths) + np.arange(ends[-1]), np.int64)
