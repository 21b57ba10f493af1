"""Strengths of systems by paired preferences: the model of Bradley and Terry (1952), with the ties of Davidson (1970).

With strengths s, natural logarithms, and the number nu that says how frequent ties are::

    P(i over j) = exp(s_i) / d,  P(tie) = nu exp((s_i + s_j) / 2) / d,  P(j over i) = exp(s_j) / d

where d makes the three add up to 1. Without ties nu is 0, and the odds of i over j are ``exp(s_i - s_j)``.

Without ties the likelihood has a finite maximum if and only if no group of systems is preferred to all others every
time (Ford 1957). With ties, which lead from either system to the other, it also needs a cycle of wins, such as a pair
with wins both ways: else all winners may be infinitely stronger while ties become as much more frequent. Where either
is missing, half a preference each way is added to every pair that was compared, which makes the maximum finite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from postil.kernel.arrays import Booleans, Floats, Int64s

__all__ = ["LOSS", "TIE", "WIN", "Pairs", "Strengths", "groups_apart"]


WIN, TIE, LOSS = range(3)
"""Outcomes of a pair, for its first system, in the order of counts."""

ADDED: Final = 0.5
"""Number of preferences that are added each way where systems are separated."""

STEPS: Final = 100
"""Largest number of Newton steps."""

TOLERANCE: Final = 1e-10
"""Largest gradient, per preference, at the maximum."""

LARGEST: Final = 25.0
"""Largest absolute value of log nu: a resample may lack the ties that the data have."""


@dataclass(frozen=True, slots=True, eq=False)
class Strengths:
    """Strengths of S systems in R sets of preferences.

    Args:
        values: float64[R, S], of which each row adds up to 0.
        ties: nu, float64[R]; 0 in the model without ties.
        separated: bool[R], True where preferences were added, without which there is no finite maximum.
    """

    values: Floats
    ties: Floats
    separated: Booleans


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of systems that were compared.

    Args:
        systems: Number of systems, which the pairs connect.
        first: First system of each pair, int64[P].
        second: Second system, int64[P].
        ties: True for the model with ties.
    """

    systems: int
    first: Int64s
    second: Int64s
    ties: bool

    def fit(self, counts: Floats) -> Strengths:
        """Maximize the likelihood of each of R sets of preferences, by Newton steps that are halved while it falls.

        Args:
            counts: float64[R, P, 3], numbers of `WIN`, `TIE` and `LOSS`.

        >>> pairs = Pairs(2, np.array([0]), np.array([1]), ties=False)
        >>> found = pairs.fit(np.array([[[3.0, 0, 1]], [[4, 0, 0]]]))
        >>> np.exp(found.values[:, 0] - found.values[:, 1]).round(6).tolist(), found.separated.tolist()
        ([3.0, 9.0], [False, True])
        """
        counts, separated = self.finite(counts)
        found = np.zeros((len(counts), self.systems + 1))
        found[~counts[..., TIE].any(axis=1), -1] = -LARGEST
        likelihood = self._likelihood(found, counts)
        total = counts.sum(axis=(1, 2))
        for _ in range(STEPS):
            gradient, information = self._derivatives(found, counts)
            if (np.abs(gradient).max(axis=1) <= TOLERANCE * total).all():
                break
            step = np.asarray(np.linalg.solve(information, gradient[..., None])[..., 0], np.float64)
            found, likelihood = self._stepped(found, likelihood, step, counts)
        values = found[:, :-1] - found[:, :-1].mean(axis=1, keepdims=True)
        return Strengths(values, np.exp(found[:, -1]) * self.ties, separated)

    def finite(self, counts: Floats) -> tuple[Floats, Booleans]:
        """Add preferences where the likelihood has no finite maximum.

        Args:
            counts: float64[R, P, 3].

        Returns:
            float64[R, P, 3], and bool[R], True where something was added.
        """
        wins = np.zeros((len(counts), self.systems, self.systems), bool)
        wins[:, self.first, self.second] = counts[..., WIN] > 0
        wins[:, self.second, self.first] = counts[..., LOSS] > 0
        leads = wins.copy()
        for one, other in ((self.first, self.second), (self.second, self.first)):
            leads[:, one, other] |= counts[..., TIE] > 0
        cyclic = (wins & _reachable(wins).transpose(0, 2, 1)).any(axis=(1, 2))
        separated = np.asarray(~(_reachable(leads).all(axis=(1, 2)) & cyclic))
        added = np.array([ADDED, 0.0, ADDED]) * separated[:, None, None]
        return counts + added, separated

    def covariance(self, found: Strengths, counts: Floats) -> Floats:
        """Covariance of strengths by the curvature of the likelihood, which takes preferences for independent.

        Args:
            found: Strengths that `fit` found.
            counts: float64[R, P, 3], as given to `fit`.

        Returns:
            float64[R, S, S].
        """
        parameters = np.column_stack([found.values, np.log(np.maximum(found.ties, np.exp(-LARGEST)))])
        _, information = self._derivatives(parameters, self.finite(counts)[0])
        return np.asarray(np.linalg.inv(information)[:, :-1, :-1], np.float64)

    def probabilities(self, found: Strengths) -> Floats:
        """Probabilities of the outcomes of each pair.

        Args:
            found: Strengths that `fit` found.

        Returns:
            float64[R, P, 3].
        """
        with np.errstate(divide="ignore"):
            log_ties = np.log(found.ties)
        return np.exp(self._logarithms(np.column_stack([found.values, log_ties])))

    def _logarithms(self, parameters: Floats) -> Floats:
        """Logarithms of the probabilities of outcomes, float64[R, P, 3]."""
        half = (parameters[:, self.first] - parameters[:, self.second]) / 2
        tie = np.broadcast_to(parameters[:, -1:] if self.ties else np.float64(-np.inf), half.shape)
        scores = np.stack([half, tie, -half], axis=2)
        largest = scores.max(axis=2, keepdims=True)
        return np.asarray(scores - largest - np.log(np.exp(scores - largest).sum(axis=2, keepdims=True)), np.float64)

    def _likelihood(self, parameters: Floats, counts: Floats) -> Floats:
        logarithms = self._logarithms(parameters)
        terms = np.multiply(counts, logarithms, out=np.zeros_like(counts), where=counts > 0)
        return np.asarray(terms.sum(axis=(1, 2)), np.float64)

    def _derivatives(self, parameters: Floats, counts: Floats) -> tuple[Floats, Floats]:
        """Gradient, float64[R, S + 1], and information, float64[R, S + 1, S + 1], made regular.

        Strengths have no origin, which a constraint on their sum gives them; without ties log nu is no parameter.
        """
        p = np.exp(self._logarithms(parameters))
        n = counts.sum(axis=2)
        lead = p[..., WIN] - p[..., LOSS]
        excess = (counts[..., WIN] - counts[..., LOSS] - n * lead) / 2
        gradient = np.zeros((len(counts), self.systems + 1))
        information = np.zeros((len(counts), self.systems + 1, self.systems + 1))
        information[:, :-1, :-1] = 1.0 / self.systems
        spread = n * (1 - p[..., TIE] - lead**2) / 4
        beside = -n * lead * p[..., TIE] / 2
        names = np.arange(self.systems)
        of_first, of_second = ((places[:, None] == names).astype(np.float64) for places in (self.first, self.second))
        gradient[:, :-1] = excess @ (of_first - of_second)
        information[:, names, names] += spread @ (of_first + of_second)
        for one, other in ((self.first, self.second), (self.second, self.first)):
            information[:, one, other] -= spread
        information[:, :-1, -1] = beside @ (of_first - of_second)
        information[:, -1, :-1] = information[:, :-1, -1]
        if self.ties:
            gradient[:, -1] = (counts[..., TIE] - n * p[..., TIE]).sum(axis=1)
            information[:, -1, -1] = (n * p[..., TIE] * (1 - p[..., TIE])).sum(axis=1)
        else:
            information[:, -1, -1] = 1.0
        return gradient, information

    def _stepped(self, found: Floats, likelihood: Floats, step: Floats, counts: Floats) -> tuple[Floats, Floats]:
        """The parameters after a step, halved in those sets where the likelihood would fall."""
        size = np.ones((len(found), 1))
        while True:
            tried = found + size * step
            tried[:, -1] = np.clip(tried[:, -1], -LARGEST, LARGEST)
            after = self._likelihood(tried, counts)
            worse = after < likelihood - 1e-9 * np.abs(likelihood)
            if not worse.any():
                return tried, after
            size[worse] /= 2


def _reachable(beats: Booleans) -> Booleans:
    """Systems that each system leads to by a chain, bool[R, S, S]."""
    found = np.asarray(beats | np.eye(beats.shape[1], dtype=bool))
    length = 1
    while length < beats.shape[1]:
        found = np.matmul(found.astype(np.float32), found.astype(np.float32)) > 0
        length *= 2
    return found


def groups_apart(systems: int, first: Int64s, second: Int64s) -> list[list[int]]:
    """Groups of systems that no comparison connects, in the order of their first systems.

    Args:
        systems: Number of systems.
        first: First system of each pair that was compared.
        second: Second system.

    >>> groups_apart(4, np.array([0, 2]), np.array([3, 1]))
    [[0, 3], [1, 2]]
    """
    beside = np.zeros((1, systems, systems), bool)
    beside[0, first, second] = beside[0, second, first] = True
    found = dict.fromkeys(tuple(np.flatnonzero(row).tolist()) for row in _reachable(beside)[0])
    return [list(group) for group in found]
