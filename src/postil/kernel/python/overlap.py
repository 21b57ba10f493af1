"""Which candidate meets which references.

The compiled kernel notes here which words they share, once for all metrics; the twin only keeps the texts.
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
    """n candidates as lists of word ids, and the m references that they meet."""

    candidates: list[list[int]]
    references: list[list[int]]
    spans: list[range]
    """For each candidate: the numbers of its references."""

    def __len__(self) -> int:
        return len(self.candidates)

    def check(self, weights: NDArray[np.float64]) -> None:
        """Raise a ValueError unless there is a weight of every reference."""
        require(len(weights) == len(self.references), "expected a weight of every reference")

    def rows(self) -> Iterator[tuple[int, list[int], range]]:
        """Each candidate's number, its words and the numbers of its references."""
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
    """Bring candidates and references together; see the shapes in :mod:`postil.kernel`."""
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
    """The reference length nearest to the candidate's; of two as near, the shorter.

    >>> closest_length(5, [2, 4, 6])
    4
    """
    return min(references, key=lambda length: (abs(length - candidate), length))
