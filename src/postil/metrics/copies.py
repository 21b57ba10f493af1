"""Candidates that are references of their own item, which a metric compares with themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from postil.results.names import copies_remark

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["ReferenceCopies"]

Keys: TypeAlias = "NDArray[np.uint64]"

_OF_SET: Final = np.uint64(0x9E3779B97F4A7C15)
"""Odd factor that keeps equal texts of different sets apart."""


class ReferenceCopies:
    """The candidates that are word for word a reference of their set, but for white space around them.

    Texts are compared by 64 bits of their hash, so that memory grows by eight bytes per reference.

    >>> copies = ReferenceCopies()
    >>> copies.bind(["a b", "c", "a b"], np.array([0, 2, 3]))
    >>> copies.see([" a b", "c", "a"], np.array([0, 1, 1])).tolist(), copies.found, copies.seen
    ([1, 0, 0], 1, 3)
    """

    def __init__(self) -> None:
        self._keys = np.zeros(0, np.uint64)
        self.seen = 0
        """Number of candidates so far."""
        self.found = 0
        """Number of them that are references of their item."""

    def bind(self, texts: Sequence[object], offsets: NDArray[np.int64]) -> None:
        """Take the references of the next candidates.

        Args:
            texts: m texts or lists of tokens, set after set.
            offsets: int64[sets + 1], first text of each set.
        """
        self._keys = np.sort(_keys(texts, np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))))

    def see(self, texts: Sequence[object], sets: NDArray[np.integer]) -> NDArray[np.int64]:
        """Count the references that each candidate is, and the candidates that are any.

        Args:
            texts: n texts or lists of tokens.
            sets: Integers[n], the set of references for each.

        Returns:
            int64[n].
        """
        keys = _keys(texts, sets)
        first, behind = (np.searchsorted(self._keys, keys, side) for side in ("left", "right"))
        self.seen += len(keys)
        self.found += int(np.count_nonzero(behind > first))
        return np.asarray(behind - first, np.int64)

    @property
    def remark(self) -> str:
        """The number of copies, in words; empty without any."""
        return copies_remark(self.found, self.seen)


def _keys(texts: Iterable[object], sets: NDArray[np.integer]) -> Keys:
    """One key per text and set."""
    plain = (hash(text.strip() if isinstance(text, str) else tuple(text)) for text in texts)  # type: ignore[arg-type]
    hashes = np.fromiter(plain, np.int64, len(sets)).view(np.uint64)
    return np.asarray(hashes ^ (sets.astype(np.uint64) * _OF_SET), np.uint64)
