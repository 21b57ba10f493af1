"""Units of a text: words, n-grams and skip-grams, counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from postil.kernel import count_units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.text.tokens import Tokens

__all__ = ["Units", "ngram_units"]


@dataclass(frozen=True, eq=False, slots=True)
class Units:
    """Distinct units of each of n texts with their counts, as a compressed sparse row (CSR) matrix.

    Args:
        grams: int32[U, size], word ids of each of the U distinct units, in order of first occurrence.
        offsets: int64[n + 1]; text i has the entries ``offsets[i]:offsets[i + 1]``.
        units: int32[E], the unit of each entry, in order of first occurrence in its text.
        counts: int32[E], its count in the text.
    """

    grams: NDArray[np.int32]
    offsets: NDArray[np.int64]
    units: NDArray[np.int32]
    counts: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def distinct(self) -> int:
        """Number of distinct units of all texts."""
        return len(self.grams)

    @property
    def types(self) -> NDArray[np.int64]:
        """Number of distinct units of each text, int64[n]."""
        return np.diff(self.offsets)

    @property
    def totals(self) -> NDArray[np.int64]:
        """Number of units of each text, with repeats, int64[n]."""
        sums = np.concatenate([[0], np.cumsum(self.counts, dtype=np.int64)])
        return np.diff(sums[self.offsets])


def ngram_units(tokens: Tokens, n: int = 1, gap: int = 0, *, up_to: bool = False) -> Units:
    """Count the n-grams of each text.

    Args:
        tokens: n texts.
        n: Number of words of a unit, 1 to 9.
        gap: Number of words skipped between two words of a unit: ``n=2, gap=1`` are the pairs (t[i], t[i + 2]).
        up_to: True to skip fewer words as well: (t[i], t[i + 1]) too.

    Returns:
        Units; they never cross texts.

    >>> from postil.text.tokenizers import tokenizer
    >>> from postil.text.tokens import Vocabulary
    >>> units = ngram_units(Vocabulary().encode(["a b a b", "b a"], tokenizer("space")), n=2)
    >>> units.grams.tolist(), units.offsets.tolist(), units.units.tolist(), units.counts.tolist()
    ([[0, 1], [1, 0]], [0, 2, 3], [0, 1, 1], [2, 1, 1])
    """
    return Units(*count_units(tokens.ids, tokens.offsets, n, gap, up_to))
