"""Scores of the passages of a page, with their contributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from postil.interest.result import UnitContribution

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

__all__ = ["PageScores", "standard"]

ROUNDING = 1e-9
"""Share of the largest magnitude below which a standard deviation is rounding noise."""


@dataclass(frozen=True, slots=True, eq=False)
class PageScores:
    """Scores of n passages, each a sum of contributions and of a constant of the page.

    Args:
        scores: float64[n], higher is better; minus infinity for passages without a word.
        constant: The constant.
        contributions: Function from the index of a passage to units with their contributions, in any order.
    """

    scores: NDArray[np.float64]
    constant: float
    contributions: Callable[[int], Iterable[tuple[str, float]]]

    def reasons(self, index: int, most: int | None = None) -> tuple[UnitContribution, ...]:
        """Contributions to a score, the largest first; all of them and the constant add up to it.

        Args:
            index: The passage; one without a word has none.
            most: Largest number of units; by default all.
        """
        if not np.isfinite(self.scores[index]):
            return ()
        parts: dict[str, float] = {}
        for unit, part in self.contributions(index):
            parts[unit] = parts.get(unit, 0.0) + part
        ordered = sorted(parts.items(), key=lambda each: -each[1])
        return tuple(UnitContribution(unit=unit, part=part) for unit, part in ordered[:most])


def standard(values: NDArray[np.float64], counted: NDArray[np.bool_]) -> tuple[float, float]:
    """Mean of some values, and 1 / their standard deviation (divisor n); 0 where they are all equal, or none.

    Args:
        values: float64[n].
        counted: bool[n], True for the values that count.

    >>> standard(np.array([1.0, 3.0, 9.0]), np.array([True, True, False]))
    (2.0, 1.0)
    >>> standard(np.array([0.1, 0.1]), np.array([True, True]))[1]
    0.0
    """
    some = values[counted]
    if not len(some):
        return 0.0, 0.0
    spread = float(some.std())
    return float(some.mean()), 1.0 / spread if spread > ROUNDING * float(np.abs(some).max()) else 0.0
