"""Near-duplicate detection with MinHash signatures and LSH banding.

A text is the set of its shingles, the word n-grams of `SHINGLE` words. Two texts are compared by Jaccard similarity:
shared shingles over all shingles of both. A MinHash signature has 64 bins; the share of bins in which two signatures
agree estimates the similarity with a standard error of at most 1/16 (.05 at a similarity of .8). Each shingle is hashed
once: the leading six bits select its bin, and the smallest rest in a bin wins (one permutation hashing; Li, Owen and
Zhang 2012). An empty bin borrows from the next one that is not (densification by rotation; Shrivastava and Li 2014).

Candidate pairs agree in all four bins of one of 16 LSH bands: of two articles with a similarity of .8 that happens with
a probability above .999.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["BINS", "SHINGLE", "minhash_signatures", "signature_groups", "similarity", "word_hashes"]

BINS: Final = 64
SHINGLE: Final = 5
_BANDS: Final = 16
_EMPTY: Final = np.uint32(0xFFFFFFFF)
_ODD: Final = np.uint64(0x9E3779B97F4A7C15)
_FACTORS: Final = np.array([_ODD ** np.uint64(power) for power in range(1, SHINGLE + 1)], dtype=np.uint64)
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
    breaks = (joined == ord("\n")).nonzero()[0]
    starts = np.concatenate([[0], breaks + 1])
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
    values = np.minimum((shingles >> np.uint64(16)).astype(np.uint32), _EMPTY - np.uint32(1))
    np.minimum.at(least, places, values)
    return _filled(least.reshape(count, BINS))


def similarity(left: NDArray[np.uint32], right: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Estimate the Jaccard similarity of pairs of texts, float64[n] in [0, 1].

    Args:
        left: uint32[n, 64], signatures.
        right: uint32[n, 64], those of the texts they are compared with.
    """
    agree = (left == right) & (left != _EMPTY)
    return np.asarray(agree.mean(axis=1))


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
    filled[some] = np.minimum(borrowed, _EMPTY - np.uint32(1))
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
