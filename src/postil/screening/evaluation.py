"""Evaluation of a screen on texts that its fits have not seen: areas, and precision against recall.

A threshold for a precision is chosen on other folds than those that it is measured on: in time on earlier parts, else
on all others. Intervals of shares are Wilson's, for as many independent texts as give the variance over authors; that
of an area is of DeLong's components, summed by author (Obuchowski 1997), on the scale of its logit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.data.parts import Estimate
from postil.meta.significance import NORMAL, wilson_interval

if TYPE_CHECKING:
    from postil.kernel.arrays import Booleans, Floats, Int64s
    from postil.screening.fit import Split

__all__ = ["LEAST_DECIDED", "Predicted", "area", "share"]

LEAST_DECIDED: Final = 10
"""Smallest number of texts beyond a threshold."""
_SLACK: Final = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Predicted:
    """Logits of n texts by fits that have not seen them.

    Args:
        logits: float64[n].
        held: bool[n], True for what moderators held.
        cluster: int64[n], number of the author of each, from 0; of a text without one a number of its own.
        fold: int64[n], fold of each, the parts in time from the earliest.
        in_time: True if the folds are parts in time.
    """

    logits: Floats
    held: Booleans
    cluster: Int64s
    fold: Int64s
    in_time: bool

    @classmethod
    def of(cls, logits: Floats, held: Booleans, cluster: Int64s, split: Split) -> Predicted:
        """Those texts that a fit predicts.

        Args:
            logits: float64[n]; NaN where none does.
            held: bool[n].
            cluster: int64[n].
            split: The folds.
        """
        there = ~np.isnan(logits)
        return cls(logits[there], held[there], cluster[there], split.fold[there], split.by == "date")

    def __len__(self) -> int:
        return len(self.logits)

    def take(self, rows: Booleans) -> Predicted:
        """Some of the texts.

        Args:
            rows: bool[n].
        """
        return Predicted(self.logits[rows], self.held[rows], self.cluster[rows], self.fold[rows], self.in_time)

    @property
    def kept_first(self) -> Predicted:
        """The same with the two decisions exchanged, to find what can be kept."""
        return Predicted(-self.logits, ~self.held, self.cluster, self.fold, self.in_time)

    def threshold(self, precision: float) -> float | None:
        """The lowest threshold beyond which decisions are right this often; None if there is none.

        Args:
            precision: The smallest share of texts beyond it that moderators held.
        """
        order = np.argsort(-self.logits, kind="stable")
        values = self.logits[order]
        right = np.cumsum(self.held[order])
        numbers = np.arange(1, len(order) + 1)
        ends = np.append(np.diff(values) < 0, True)  # equal logits are decided together
        reached = np.flatnonzero(ends & (right >= precision * numbers - _SLACK) & (numbers >= LEAST_DECIDED))
        if not len(reached):
            return None
        last = int(reached[-1])
        return float(values[last] if last + 1 == len(values) else (values[last] + values[last + 1]) / 2)

    def decided(self, precision: float) -> tuple[Booleans, Booleans]:
        """Find the texts beyond a threshold that was chosen on others.

        Args:
            precision: The precision that the threshold is chosen for.

        Returns:
            bool[n], the texts beyond it; bool[n], the texts that there was a threshold for or against: all but those of
            the earliest part in time that is predicted.
        """
        beyond, measured = np.zeros(len(self), bool), np.zeros(len(self), bool)
        for number in np.unique(self.fold).tolist():
            others = self.fold < number if self.in_time else self.fold != number
            if others.any():
                here = self.fold == number
                measured |= here
                threshold = self.take(others).threshold(precision)
                if threshold is not None:
                    beyond |= here & (self.logits >= threshold)
        return beyond, measured


def share(hits: Booleans, among: Booleans, cluster: Int64s) -> Estimate | None:
    """A share with Wilson's interval, for as many independent texts as give the variance over clusters.

    Args:
        hits: bool[n].
        among: bool[n].
        cluster: int64[n], from 0.

    Returns:
        The share in 0 to 1; None of nothing.

    >>> found = share(np.array([True, True, False]), np.array([True, True, True]), np.array([0, 0, 1]))
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.667, 0.104, 0.972)
    """
    n, right = int(among.sum()), int((hits & among).sum())
    if not n:
        return None
    value = right / n
    totals = np.bincount(cluster[among])
    residuals = np.bincount(cluster[among], hits[among].astype(np.float64)) - value * totals
    clusters = int((totals > 0).sum())
    variance = float((residuals**2).sum()) / n**2 * clusters / max(clusters - 1, 1)
    independent = min(float(n), value * (1 - value) / variance) if variance > 0 else float(n)
    low, high = wilson_interval(value * independent, independent)
    return Estimate(value=value, low=min(low, value), high=max(high, value))


def area(values: Floats, held: Booleans, cluster: Int64s) -> Estimate | None:
    """Area under the ROC curve: the chance that something held has a higher value than something kept, ties by half.

    Args:
        values: float64[n].
        held: bool[n].
        cluster: int64[n], from 0.

    Returns:
        The area in 0 to 1, higher is better; None where there is one kind alone.

    >>> area(np.array([3.0, 2.0, 1.0]), np.array([True, False, False]), np.arange(3)).value
    1.0
    """
    ones, others = int(held.sum()), int((~held).sum())
    if not ones or not others:
        return None
    place = np.empty(len(values))
    place[held] = _below(values[held], values[~held])
    place[~held] = 1 - _below(values[~held], values[held])
    value = float(place[held].mean())
    parts = np.bincount(cluster, np.where(held, (place - value) / ones, (place - value) / others))
    clusters = len(np.unique(cluster))
    deviation = math.sqrt(float((parts**2).sum()) * clusters / max(clusters - 1, 1))
    if not 0 < value < 1 or deviation == 0:
        return Estimate(value=value, low=None, high=None)
    width = NORMAL * deviation / (value * (1 - value))
    low, high = (1 / (1 + (1 / value - 1) * math.exp(-sign * width)) for sign in (-1, 1))
    return Estimate(value=value, low=low, high=high)


def _below(values: Floats, others: Floats) -> Floats:
    """Share of the others that are below each value, ties by half."""
    ordered = np.sort(others)
    ends = (np.searchsorted(ordered, values, side) for side in ("left", "right"))
    return np.asarray(sum(ends) / (2 * len(others)))
