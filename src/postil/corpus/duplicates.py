"""Near duplicates: exact Jaccard similarity of short texts, MinHash signatures of long ones, and passages merged.

Short texts are compared by their word bigrams, regardless of case, character width (NFKC), invisible characters and
kind of apostrophe. A word is a sequence of letters and digits with their combining marks; a character of a script
without spaces (Han, kana, Thai) is one too.

Articles are compared with MinHash signatures and LSH banding. A text is the set of its shingles, the word n-grams of
`SHINGLE` words, and two texts by the Jaccard similarity of these: shared shingles over all shingles of both. A
signature has 64 bins; the share of bins in which two signatures agree estimates the similarity with a standard error of
at most 1/16 (.05 at a similarity of .8). Each shingle is hashed once: the leading six bits select its bin, and the
smallest rest in a bin wins (one permutation hashing; Li, Owen and Zhang 2012). An empty bin borrows from the next one
that is not (densification by rotation; Shrivastava and Li 2014). Candidate pairs agree in all four bins of one of 16
LSH bands: of two articles with a similarity of .8 that happens with a probability above .999.

Passages of one topic with the same first and last characters are merged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import UsageError
from postil.kernel import Interner
from postil.kernel.python.interning import UNSPACED, unspaced_word
from postil.kernel.unicode_forms import normalized

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from postil.data.rows import Passage

__all__ = [
    "BINS",
    "CHARACTERS",
    "SHINGLE",
    "UNSPACED",
    "BigramSets",
    "Merged",
    "compact_text",
    "jaccard_similarity",
    "merge_duplicates",
    "minhash_signatures",
    "near_duplicates",
    "normalize_text",
    "pieces_of",
    "signature_groups",
    "similarity",
    "units_of",
    "word_hashes",
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


BINS: Final = 64
SHINGLE: Final = 5
_BANDS: Final = 16
_EMPTY: Final = 0xFFFFFFFF
_ODD: Final = 0x9E3779B97F4A7C15
_FACTORS: Final = tuple(pow(_ODD, power, 1 << 64) for power in range(1, SHINGLE + 1))
_CHUNK: Final = 1 << 16


def word_hashes(words: Sequence[str]) -> NDArray[np.uint64]:
    """Hash words; the hashes do not depend on process or machine.

    Args:
        words: n words, none empty, none with a line break.

    Returns:
        uint64[n], the mixed sum of the bytes of the word's UTF-8, each times a factor of its position.

    >>> ab, ba, again = word_hashes(["ab", "ba", "ab"])
    >>> bool(ab == again), bool(ab == ba)
    (True, False)
    """
    if not words:
        return np.zeros(0, dtype=np.uint64)
    joined = np.frombuffer("\n".join(words).encode("utf-8", "surrogatepass"), dtype=np.uint8)
    starts = np.concatenate([[0], (joined == ord("\n")).nonzero()[0] + 1])
    lengths = np.diff(np.concatenate([starts, [len(joined) + 1]]))
    within = np.arange(len(joined) + 1) - np.repeat(starts, lengths)
    factors = _mixed(np.arange(1, int(lengths.max()) + 1, dtype=np.uint64) * _ODD)
    values = np.concatenate([joined, [ord("\n")]]).astype(np.uint64) * factors[within]
    return _mixed(np.add.reduceat(values, starts))


def minhash_signatures(hashes: NDArray[np.uint64], offsets: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Compute the MinHash signatures of texts.

    Args:
        hashes: uint64[T], the hashes of the words of all texts, concatenated.
        offsets: int64[n + 1]; text i is ``hashes[offsets[i]:offsets[i + 1]]``.

    Returns:
        uint32[n, 64]. A text of fewer than five words is one shingle; a text without words has a row of the highest
        number, and is similar to no other.

    >>> words = word_hashes("one two three four five six".split())
    >>> found = minhash_signatures(np.concatenate([words, words[:5], words]), np.array([0, 6, 11, 17, 17]))
    >>> similarity(found[:1], found[1:3]).tolist()[1], bool(similarity(found[:1], found[1:2])[0] < 1)
    (1.0, True)
    """
    count = len(offsets) - 1
    lengths = np.diff(offsets)
    least = np.full(count * BINS, _EMPTY, dtype=np.uint32)
    shingles, owners = _shingles(hashes, offsets, lengths)
    shingles = _mixed(shingles)
    places = owners * BINS + (shingles >> np.uint64(58)).astype(np.int64)
    # Never the highest number: it marks an empty bin.
    values = np.minimum((shingles >> np.uint64(16)).astype(np.uint32), _EMPTY - 1)
    np.minimum.at(least, places, values)
    return _filled(least.reshape(count, BINS))


def similarity(left: NDArray[np.uint32], right: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Estimate the Jaccard similarity of pairs of texts, float64[n] in [0, 1].

    Args:
        left: uint32[n, 64], signatures.
        right: uint32[n, 64], those of the texts they are compared with.
    """
    return np.asarray(((left == right) & (left != _EMPTY)).mean(axis=1))


def signature_groups(signatures: NDArray[np.uint32], threshold: float) -> NDArray[np.int64]:
    """Group near duplicates, directly or through others (connected components).

    Args:
        signatures: uint32[n, 64].
        threshold: Smallest estimated Jaccard similarity of near duplicates.

    Returns:
        int64[n], the index of the first text of each text's group.

    >>> same = np.arange(64, dtype=np.uint32)
    >>> signature_groups(np.stack([same, same + 100, same]), 0.8).tolist()
    [0, 1, 0]
    """
    count = len(signatures)
    parent = np.arange(count, dtype=np.int64)
    if not count:
        return parent
    words = (signatures[:, 0] != _EMPTY).nonzero()[0]
    for band in np.split(np.arange(BINS), _BANDS):
        keys = _band_keys(signatures, band, words)
        order = np.argsort(keys, kind="stable")
        texts, keys = words[order], keys[order]
        again = np.concatenate([[False], keys[1:] == keys[:-1]])
        starts = np.maximum.accumulate(np.where(again, 0, np.arange(len(keys))))
        here = again.nonzero()[0]
        for others in (texts[starts[here]], texts[here - 1]):
            _join(parent, signatures, others, texts[here], threshold)
    return _roots(parent)


def _shingles(
    hashes: NDArray[np.uint64], offsets: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Hashes of all shingles, and the index of the text of each."""
    padded = np.concatenate([hashes, np.zeros(SHINGLE, dtype=np.uint64)])
    rolled = np.zeros(len(hashes), dtype=np.uint64)
    factors = np.array(_FACTORS, dtype=np.uint64)
    for step, factor in enumerate(factors):
        rolled += padded[step : step + len(hashes)] * factor
    begins = np.ones(len(hashes), dtype=bool)
    for step in range(1, SHINGLE):  # the last words of a text begin no shingle
        begins[offsets[1:][lengths >= step] - step] = False
    short = ((lengths > 0) & (lengths < SHINGLE)).nonzero()[0]
    begins[offsets[short]] = True
    for text in short:  # one shingle of what there is
        start, end = offsets[text], offsets[text + 1]
        rolled[start] = (hashes[start:end] * factors[: end - start]).sum()
    return rolled[begins], np.repeat(np.arange(len(lengths)), lengths)[begins]


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix bits with the finalizer of SplitMix64."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _filled(least: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Fill empty bins with the value of the next bin that is not, changed by the distance."""
    twice = np.concatenate([least, least], axis=1)
    place = np.where(twice != _EMPTY, np.arange(2 * BINS), 2 * BINS)
    following = np.minimum.accumulate(place[:, ::-1], axis=1)[:, ::-1][:, :BINS]
    some = following[:, 0] < 2 * BINS
    distance = following[some] - np.arange(BINS)
    borrowed = np.take_along_axis(twice[some], following[some], axis=1) + distance.astype(np.uint32) * np.uint32(40503)
    filled = np.full_like(least, _EMPTY)
    filled[some] = np.minimum(borrowed, _EMPTY - 1)
    return filled


def _band_keys(signatures: NDArray[np.uint32], band: NDArray[np.int64], texts: NDArray[np.int64]) -> NDArray[np.uint64]:
    keys = np.empty(len(texts), dtype=np.uint64)
    for start in range(0, len(texts), _CHUNK):  # the signatures may be memory-mapped
        part = np.asarray(signatures[texts[start : start + _CHUNK], band[0] : band[-1] + 1]).astype(np.uint64)
        key = np.zeros(len(part), dtype=np.uint64)
        for column in part.T:
            key = _mixed(key + column) * _ODD
        keys[start : start + _CHUNK] = key
    return keys


def _join(
    parent: NDArray[np.int64],
    signatures: NDArray[np.uint32],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    threshold: float,
) -> None:
    """Merge the groups of pairs that are near duplicates (union-find)."""
    for start in range(0, len(left), _CHUNK):
        one, two = left[start : start + _CHUNK], right[start : start + _CHUNK]
        apart = _roots(parent, one) != _roots(parent, two)
        one, two = one[apart], two[apart]
        alike = similarity(signatures[one], signatures[two]) >= threshold
        for a, b in zip(one[alike].tolist(), two[alike].tolist(), strict=True):
            first, second = sorted((_root(parent, a), _root(parent, b)))
            parent[second] = first


def _root(parent: NDArray[np.int64], text: int) -> int:
    while parent[text] != text:
        parent[text] = parent[parent[text]]
        text = int(parent[text])
    return text


def _roots(parent: NDArray[np.int64], texts: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    roots = parent if texts is None else parent[texts]
    while not np.array_equal(above := parent[roots], roots):
        roots = above
    return roots


CHARACTERS: Final = 25
"""Number of characters that have to agree at either end."""


@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """The outcome of `merge_duplicates`.

    Args:
        passages: The remaining passages, in their order.
        groups: Number of them that stand for several.
        dropped: Number of passages that were removed.
    """

    passages: list[Passage]
    groups: int
    dropped: int


def merge_duplicates(passages: Iterable[Passage], characters: int = CHARACTERS) -> Merged:
    """Make one passage of those of a topic that start with the same characters and end with the same characters.

    The rule by which the pool of the INEX tweet contextualisation task was made (Gonzalez-Gallardo, SanJuan and
    Torres-Moreno, section 3.2). Of such passages the one with the highest grade stays, the first of them where several
    have it, at the place of the first of all; so its grade belongs to its text. A passage without a grade counts as the
    lowest. A text shorter than ``characters`` is compared whole.

    Args:
        passages: Passages of any topics, in any order.
        characters: Number of characters at either end, compared with case and white space.

    Raises:
        UsageError: ``characters`` is less than 1.

    >>> from postil.data.rows import Passage
    >>> rows = [Passage("t", 1, "The duck is a bird.", grade=0), Passage("t", 2, "The duck, a real bird.", grade=1)]
    >>> merged = merge_duplicates(rows, characters=5)
    >>> [row.id for row in merged.passages], merged.groups, merged.dropped
    (['2'], 1, 1)
    """
    if characters < 1:
        raise UsageError(f"passages are compared by at least 1 character at either end, got {characters}")
    best: dict[tuple[str, str, str], Passage] = {}
    several: set[tuple[str, str, str]] = set()
    dropped = 0
    for passage in passages:
        key = passage.topic, passage.text[:characters], passage.text[-characters:]
        known = best.setdefault(key, passage)
        if known is not passage:
            several.add(key)
            dropped += 1
            if _grade(passage) > _grade(known):
                best[key] = passage
    return Merged(list(best.values()), len(several), dropped)


def _grade(passage: Passage) -> float:
    return float("-inf") if passage.grade is None else passage.grade
