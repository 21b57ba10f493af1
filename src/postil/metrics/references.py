"""Graded references, and what candidates share with them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from postil.errors import InvalidInput, UsageError
from postil.kernel import Overlap, overlap

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.metrics.background import Frequencies
    from postil.text.tokens import Tokens

__all__ = ["Matches", "References"]


@dataclass(frozen=True, eq=False, slots=True)
class References:
    """m reference texts in k sets, each with a weight. Bind a metric to them once, then score many systems.

    Args:
        tokens: The texts, m of them, set after set.
        offsets: int64[k + 1]; set s is the texts ``offsets[s]:offsets[s + 1]``. No set is empty.
        weights: float64[m], s_j of each text: in [0, 1], for delta-BLEU in [-1, 1]. All 1 where none are given.
        items: int32[k]: which item a set belongs to, for document frequencies; the sets of one item stand behind one
            another. By default every set is an item of its own. Leave-one-out sets share their item.

    Raises:
        InvalidInput: Shapes do not fit, a set is empty, or a weight is no number in [-1, 1].
    """

    tokens: Tokens
    offsets: NDArray[np.int64]
    weights: NDArray[np.float64] = field(default=None)  # type: ignore[assignment]
    items: NDArray[np.int32] = field(default=None)  # type: ignore[assignment]
    frequencies: dict[tuple[object, int], Frequencies] = field(default_factory=dict, repr=False)
    """Document frequencies that metrics have asked for, shared by all that are bound to these texts."""

    def __post_init__(self) -> None:
        texts, sets = len(self.tokens), len(self.offsets) - 1
        if self.weights is None:
            object.__setattr__(self, "weights", np.ones(texts))
        if self.items is None:
            object.__setattr__(self, "items", np.arange(sets, dtype=np.int32))
        if len(self.weights) != texts or len(self.items) != sets or self.offsets[-1] != texts:
            problem = f"expected {texts} weights and {sets} items, got {len(self.weights)} and {len(self.items)}"
            raise InvalidInput(problem, where="references")
        empty = np.flatnonzero(np.diff(self.offsets) < 1)
        if empty.size:
            raise InvalidInput("expected at least one reference, got none", where="references", line=int(empty[0]) + 1)
        wrong = np.flatnonzero(~((self.weights >= -1.0) & (self.weights <= 1.0)))
        if wrong.size:
            problem = f"expected a number from 0 to 1, got {self.weights[wrong[0]]}"
            raise InvalidInput(problem, where="references", line=int(wrong[0]) + 1, field="weight")

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def even(self) -> References:
        """The same references, every weight 1: what a metric without ``w-`` sees."""
        return replace(self, weights=np.ones(len(self.tokens)))

    def match(self, candidates: Tokens, sets: NDArray[np.int32], jobs: int = 1) -> Matches:
        """Find what each candidate shares with its set of references; every metric reads it.

        Args:
            candidates: n texts, encoded with the vocabulary of these references or a branch of it.
            sets: int32[n], the set that each candidate meets.
            jobs: Threads; the result does not depend on it.
        """
        sets = np.ascontiguousarray(sets, dtype=np.int32)
        if not candidates.vocabulary.begins_as(self.tokens.vocabulary):
            raise UsageError("candidates must be encoded with the vocabulary of the references or a branch of it")
        if len(sets) != len(candidates):
            raise InvalidInput(f"expected {len(candidates)} set numbers, got {len(sets)}", where="sets")
        wrong = np.flatnonzero((sets < 0) | (sets >= len(self)))
        if wrong.size:
            problem = f"expected the number of a set of references, 0 to {len(self) - 1}, got {sets[wrong[0]]}"
            raise InvalidInput(problem, where="sets", line=int(wrong[0]) + 1)
        return Matches(self, candidates, sets, jobs)


class Matches:
    """n candidates and what they share with their references, by word and, when asked, by stem."""

    def __init__(self, references: References, candidates: Tokens, sets: NDArray[np.int32], jobs: int = 1) -> None:
        self.references = references
        self.candidates = candidates
        self.sets = sets
        self.jobs = jobs
        self.words = self._overlap(candidates.ids, references.tokens.ids)
        self._stems: Overlap | None = None

    def __len__(self) -> int:
        return len(self.candidates)

    @property
    def stems(self) -> Overlap:
        """The overlap of English stems, found at the first request."""
        if self._stems is None:
            stem_of = self.candidates.vocabulary.stem_ids()
            self._stems = self._overlap(stem_of[self.candidates.ids], stem_of[self.references.tokens.ids])
        return self._stems

    def _overlap(self, candidate_ids: NDArray[np.int32], reference_ids: NDArray[np.int32]) -> Overlap:
        return overlap(
            candidate_ids,
            self.candidates.offsets,
            self.sets,
            reference_ids,
            self.references.tokens.offsets,
            self.references.offsets,
            self.jobs,
        )
