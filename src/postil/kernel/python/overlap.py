"""Pairs of candidates and the references they are scored against.

The compiled kernel indexes here which words they share, once for all metrics; this one only stores the texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from postil.kernel.python.checks import check_offsets, check_places, check_texts, require

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Overlap", "closest_length", "overlap"]


@dataclass(frozen=True, eq=False, slots=True)
class Overlap:
    """n candidates as lists of token ids, and the m references that they are scored against."""

    candidates: list[list[int]]
    references: list[list[int]]
    spans: list[range]
    """Indices of the references of each candidate."""

    def __len__(self) -> int:
        return len(self.candidates)

    def check(self, weights: NDArray[np.float64]) -> None:
        """Raise a ValueError unless there is one weight per reference."""
        require(len(weights) == len(self.references), "expected a weight of every reference")

    def rows(self) -> Iterator[tuple[int, list[int], range]]:
        """Index, words and reference indices of each candidate."""
        return ((row, words, self.spans[row]) for row, words in enumerate(self.candidates))


def overlap(  # noqa: PLR0917 - the kernel's arrays
    candidate_ids: NDArray[np.int32],
    candidate_offsets: NDArray[np.int64],
    sets: NDArray[np.int32],
    reference_ids: NDArray[np.int32],
    reference_offsets: NDArray[np.int64],
    set_offsets: NDArray[np.int64],
    jobs: int = 1,
) -> Overlap:
    """Pair candidates with their references; see the shapes in :mod:`postil.kernel`."""
    del jobs
    check_texts(candidate_ids, candidate_offsets, "expected candidates as words from 0 and offsets of texts")
    check_texts(reference_ids, reference_offsets, "expected references as words from 0 and offsets of texts")
    check_offsets(set_offsets, len(reference_offsets) - 1, "expected offsets of the sets of references")
    require(len(sets) == len(candidate_offsets) - 1, "expected a set of references for each candidate")
    check_places(sets, len(set_offsets) - 1, "expected sets of references that there are")
    require((set_offsets[sets] < set_offsets[sets + 1]).all(), "expected a reference in each set")
    bounds = set_offsets.tolist()
    return Overlap(
        candidates=lists(candidate_ids, candidate_offsets),
        references=lists(reference_ids, reference_offsets),
        spans=[range(bounds[s], bounds[s + 1]) for s in sets.tolist()],
    )


def lists(ids: NDArray[np.int32], offsets: NDArray[np.int64]) -> list[list[int]]:
    """Ragged ids as lists."""
    flat, bounds = ids.tolist(), offsets.tolist()
    return [flat[begin:end] for begin, end in pairwise(bounds)]


def closest_length(candidate: int, references: list[int]) -> int:
    """The reference length closest to the candidate's; the shorter of two as close.

    >>> closest_length(5, [2, 4, 6])
    4
    """
    return min(references, key=lambda length: (abs(length - candidate), length))
