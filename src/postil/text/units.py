"""Units of a text: n-grams, counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.text.tokens import Tokens

__all__ = ["Units", "ngram_units"]


@dataclass(frozen=True, eq=False, slots=True)
class Units:
    """The distinct units of each of n texts with their counts, row by row (CSR).

    Args:
        grams: int32[U, size], the words of each of the U distinct units of all texts, in lexicographic order of ids.
        offsets: int64[n + 1]; text i has the entries ``offsets[i]:offsets[i + 1]``.
        units: int64[E], the unit of each entry, ascending within a text.
        counts: int64[E], how often the text holds it.
    """

    grams: NDArray[np.int32]
    offsets: NDArray[np.int64]
    units: NDArray[np.int64]
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def totals(self) -> NDArray[np.int64]:
        """Number of units of each text, with repeats, int64[n]."""
        sums = np.concatenate([[0], np.cumsum(self.counts)])
        return np.diff(sums[self.offsets])


def ngram_units(tokens: Tokens, n: int = 1, gap: int = 0) -> Units:
    """Count the n-grams of each text.

    Args:
        tokens: n texts.
        n: Words of a unit.
        gap: Words left out between one word of a unit and the next: ``n=2, gap=1`` are the pairs (t[i], t[i + 2]).

    Returns:
        Units; they never cross texts.

    >>> from postil.text import Vocabulary, tokenizer
    >>> units = ngram_units(Vocabulary().encode(["a b a b", "b a"], tokenizer("space")), n=2)
    >>> units.grams.tolist(), units.offsets.tolist(), units.units.tolist(), units.counts.tolist()
    ([[0, 1], [1, 0]], [0, 2, 3], [0, 1, 1], [2, 1, 1])
    """
    reach = (n - 1) * (gap + 1)
    per_text = np.maximum(tokens.lengths - reach, 0)
    text_of = np.repeat(np.arange(len(tokens)), per_text)
    within = np.arange(per_text.sum()) - np.repeat(np.cumsum(per_text) - per_text, per_text)
    starts = tokens.offsets[:-1][text_of] + within
    occurrences = tokens.ids[starts[:, None] + np.arange(n) * (gap + 1)]
    grams, unit_of = np.unique(occurrences, axis=0, return_inverse=True)
    entries, counts = np.unique(
        np.stack([text_of, unit_of.reshape(-1)], axis=1).astype(np.int64), axis=0, return_counts=True
    )
    offsets = np.searchsorted(entries[:, 0], np.arange(len(tokens) + 1)).astype(np.int64)
    return Units(grams.reshape(-1, n), offsets, entries[:, 1], counts.astype(np.int64))
