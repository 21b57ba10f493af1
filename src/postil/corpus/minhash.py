"""Near duplicates among articles, found by sketches of their shingles.

A text is the set of its shingles: runs of `SHINGLE` words. The likeness of two texts is Jaccard's: shingles in common
over shingles in either. A sketch is 64 numbers; the share of places where two sketches agree estimates that likeness
with a standard error of at most 1/16 (.05 at a likeness of .8). It is made by hashing every shingle once: the leading
six bits say which of the 64 places the rest competes for, and the least wins (one permutation hashing; Li, Owen and
Zhang 2012). A place that no shingle chose borrows from the next one that was chosen (Shrivastava and Li 2014).

Articles are compared where four neighbouring places agree, in any of 16 bands: of two articles with a likeness of .8
that happens with a probability above .999.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["PLACES", "SHINGLE", "likeness", "near_duplicates", "sketches", "word_hashes"]

PLACES: Final = 64
SHINGLE: Final = 5
_BANDS: Final = 16
_FREE: Final = np.uint32(0xFFFFFFFF)
_ODD: Final = np.uint64(0x9E3779B97F4A7C15)
_FACTORS: Final = np.array([_ODD ** np.uint64(power) for power in range(1, SHINGLE + 1)], dtype=np.uint64)
_CHUNK: Final = 1 << 16


def word_hashes(words: Sequence[str]) -> NDArray[np.uint64]:
    """A number for each word that is the same everywhere.

    Args:
        words: n words, none empty, none with a line break.

    Returns:
        uint64[n]: over the bytes of its UTF-8, the sum of each times a number that its place has, mixed.

    >>> ab, ba, again = word_hashes(["ab", "ba", "ab"])
    >>> bool(ab == again), bool(ab == ba)
    (True, False)
    """
    if not words:
        return np.zeros(0, dtype=np.uint64)
    joined = np.frombuffer("\n".join(words).encode("utf-8", "surrogatepass"), dtype=np.uint8)
    breaks = (joined == ord("\n")).nonzero()[0]
    starts = np.concatenate([[0], breaks + 1])
    lengths = np.diff(np.concatenate([starts, [len(joined) + 1]]))
    within = np.arange(len(joined) + 1) - np.repeat(starts, lengths)
    factors = _mixed(np.arange(1, int(lengths.max()) + 1, dtype=np.uint64) * _ODD)
    values = np.concatenate([joined, [ord("\n")]]).astype(np.uint64) * factors[within]
    return _mixed(np.add.reduceat(values, starts))


def sketches(hashes: NDArray[np.uint64], offsets: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Sketch texts.

    Args:
        hashes: uint64[T], the hashes of the words of all texts behind one another.
        offsets: int64[n + 1]; text i is ``hashes[offsets[i]:offsets[i + 1]]``.

    Returns:
        uint32[n, 64]. A text of fewer than five words is one shingle; a text without words has a row of the highest
        number, and is like no other.

    >>> words = word_hashes("one two three four five six".split())
    >>> found = sketches(np.concatenate([words, words[:5], words]), np.array([0, 6, 11, 17, 17]))
    >>> likeness(found[:1], found[1:3]).tolist()[1], bool(likeness(found[:1], found[1:2])[0] < 1)
    (1.0, True)
    """
    count = len(offsets) - 1
    lengths = np.diff(offsets)
    least = np.full(count * PLACES, _FREE, dtype=np.uint32)
    shingles, owners = _shingles(hashes, offsets, lengths)
    shingles = _mixed(shingles)
    places = owners * PLACES + (shingles >> np.uint64(58)).astype(np.int64)
    # Never the highest number: that means nobody chose this place.
    values = np.minimum((shingles >> np.uint64(16)).astype(np.uint32), _FREE - np.uint32(1))
    np.minimum.at(least, places, values)
    return _filled(least.reshape(count, PLACES))


def likeness(left: NDArray[np.uint32], right: NDArray[np.uint32]) -> NDArray[np.float64]:
    """The estimated likeness of pairs of texts, float64[n] in [0, 1].

    Args:
        left: uint32[n, 64], sketches.
        right: uint32[n, 64], those of the texts they are compared with.
    """
    agree = (left == right) & (left != _FREE)
    return np.asarray(agree.mean(axis=1))


def near_duplicates(all_sketches: NDArray[np.uint32], threshold: float) -> NDArray[np.int64]:
    """Groups of texts that are near duplicates of one another, directly or through others.

    Args:
        all_sketches: uint32[n, 64].
        threshold: The estimated likeness from which on two texts are near duplicates.

    Returns:
        int64[n], for each text the first of its group.

    >>> same = np.arange(64, dtype=np.uint32)
    >>> near_duplicates(np.stack([same, same + 100, same]), 0.8).tolist()
    [0, 1, 0]
    """
    count = len(all_sketches)
    parent = np.arange(count, dtype=np.int64)
    if not count:
        return parent
    words = (all_sketches[:, 0] != _FREE).nonzero()[0]
    for band in np.split(np.arange(PLACES), _BANDS):
        keys = _band_keys(all_sketches, band, words)
        order = np.argsort(keys, kind="stable")
        texts, keys = words[order], keys[order]
        again = np.concatenate([[False], keys[1:] == keys[:-1]])
        starts = np.maximum.accumulate(np.where(again, 0, np.arange(len(keys))))
        here = again.nonzero()[0]
        for others in (texts[starts[here]], texts[here - 1]):
            _join(parent, all_sketches, others, texts[here], threshold)
    return _roots(parent)


def _shingles(
    hashes: NDArray[np.uint64], offsets: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """All shingles and the texts they are of."""
    padded = np.concatenate([hashes, np.zeros(SHINGLE, dtype=np.uint64)])
    rolled = np.zeros(len(hashes), dtype=np.uint64)
    for step, factor in enumerate(_FACTORS):
        rolled += padded[step : step + len(hashes)] * factor
    begins = np.ones(len(hashes), dtype=bool)
    for step in range(1, SHINGLE):  # the last words of a text begin no shingle
        begins[offsets[1:][lengths >= step] - step] = False
    short = ((lengths > 0) & (lengths < SHINGLE)).nonzero()[0]
    begins[offsets[short]] = True
    for text in short:  # one shingle of what there is
        start, end = offsets[text], offsets[text + 1]
        rolled[start] = (hashes[start:end] * _FACTORS[: end - start]).sum()
    return rolled[begins], np.repeat(np.arange(len(lengths)), lengths)[begins]


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Bits well mixed (the finaliser of SplitMix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _filled(least: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Free places take the number of the next place that is not, changed by the distance."""
    twice = np.concatenate([least, least], axis=1)
    place = np.where(twice != _FREE, np.arange(2 * PLACES), 2 * PLACES)
    following = np.minimum.accumulate(place[:, ::-1], axis=1)[:, ::-1][:, :PLACES]
    some = following[:, 0] < 2 * PLACES
    distance = following[some] - np.arange(PLACES)
    borrowed = np.take_along_axis(twice[some], following[some], axis=1) + distance.astype(np.uint32) * np.uint32(40503)
    filled = np.full_like(least, _FREE)
    filled[some] = np.minimum(borrowed, _FREE - np.uint32(1))
    return filled


def _band_keys(
    all_sketches: NDArray[np.uint32], band: NDArray[np.int64], texts: NDArray[np.int64]
) -> NDArray[np.uint64]:
    keys = np.empty(len(texts), dtype=np.uint64)
    for start in range(0, len(texts), _CHUNK):  # the sketches may lie in a file
        part = np.asarray(all_sketches[texts[start : start + _CHUNK], band[0] : band[-1] + 1]).astype(np.uint64)
        key = np.zeros(len(part), dtype=np.uint64)
        for column in part.T:
            key = _mixed(key + column) * _ODD
        keys[start : start + _CHUNK] = key
    return keys


def _join(
    parent: NDArray[np.int64],
    all_sketches: NDArray[np.uint32],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    threshold: float,
) -> None:
    """Put pairs that are alike into one group."""
    for start in range(0, len(left), _CHUNK):
        one, two = left[start : start + _CHUNK], right[start : start + _CHUNK]
        apart = _roots(parent, one) != _roots(parent, two)
        one, two = one[apart], two[apart]
        alike = likeness(all_sketches[one], all_sketches[two]) >= threshold
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
