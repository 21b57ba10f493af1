"""Folds of topics, so that passages of one are scored by those of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import numpy as np

from postil.errors import UnknownName, check_least

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FOLDS", "FoldsBy", "folds_of"]

FOLDS: Final = 12
"""Largest number of folds of topics by default."""

FoldsBy: TypeAlias = Literal["seed", "order", "consecutive"]
"""Assignment of topics to folds: shuffled with a seed, in their order modulo the number of folds, or cut into runs."""


def folds_of(topics: int, folds: int = FOLDS, *, by: FoldsBy = "seed", seed: int) -> NDArray[np.int32]:
    """The fold of each topic, int32[topics]; fold sizes differ by at most one.

    Args:
        topics: Number of topics.
        folds: Largest number of folds, at least 2.
        by: ``seed`` shuffles the topics, ``order`` takes topic i for fold i modulo the number of folds, ``consecutive``
            cuts the topics in their order into runs.
        seed: The seed.

    Raises:
        UsageError: Fewer than two folds; `UnknownName` for another way.

    >>> folds_of(5, 2, by="order", seed=0).tolist(), folds_of(5, 2, by="consecutive", seed=0).tolist()
    ([0, 1, 0, 1, 0], [0, 0, 0, 1, 1])
    """
    UnknownName.check("way to make folds", by, get_args(FoldsBy))
    check_least(2, folds=folds)
    in_order = (np.arange(topics) % min(folds, max(topics, 1))).astype(np.int32)
    if by == "consecutive":
        return np.sort(in_order)
    return in_order if by == "order" else np.random.default_rng(seed).permutation(in_order)
