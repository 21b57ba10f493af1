"""Strengths of systems, against the package choix and against a minimizer of scipy."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from postil.comparison.preferences import LOSS, TIE, WIN, Pairs

pytestmark = pytest.mark.parity

SYSTEMS = 6
FIRST, SECOND = np.array(list(combinations(range(SYSTEMS), 2))).T


def drawn(seed: int, ties: int) -> np.ndarray:
    """Numbers of outcomes of 20 preferences and some ties per pair, float64[1, P, 3]."""
    random = np.random.default_rng(seed)
    strengths = random.normal(size=SYSTEMS)
    wins = random.binomial(20, 1 / (1 + np.exp(strengths[SECOND] - strengths[FIRST])))
    return np.stack([wins, random.integers(0, ties + 1, len(FIRST)), 20 - wins], axis=1)[None].astype(float)


@pytest.mark.parametrize("seed", range(5))
def test_strengths_without_ties_are_those_of_choix(seed: int) -> None:
    choix = pytest.importorskip("choix")
    counts = drawn(seed, 0)
    won = [
        pair
        for place, (i, j) in enumerate(zip(FIRST.tolist(), SECOND.tolist(), strict=True))
        for outcome, pair in ((WIN, (i, j)), (LOSS, (j, i)))
        for _ in range(int(counts[0, place, outcome]))
    ]
    theirs = choix.ilsr_pairwise(SYSTEMS, won, alpha=0, tol=1e-12)
    ours = Pairs(SYSTEMS, FIRST, SECOND, ties=False).fit(counts).values[0]
    np.testing.assert_allclose(ours, theirs - theirs.mean(), atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_strengths_with_ties_are_those_of_a_minimizer(seed: int) -> None:
    optimize = pytest.importorskip("scipy.optimize")
    counts = drawn(seed, 9)

    def loss(parameters: np.ndarray) -> float:
        s, log_nu = np.append(parameters[:-1], 0), parameters[-1]
        scores = np.stack([s[FIRST], log_nu + (s[FIRST] + s[SECOND]) / 2, s[SECOND]], axis=1)
        return float(-(counts[0] * (scores - np.logaddexp.reduce(scores, axis=1)[:, None])).sum())

    theirs = optimize.minimize(loss, np.zeros(SYSTEMS), method="BFGS", options={"gtol": 1e-8}).x
    strengths = np.append(theirs[:-1], 0)
    ours = Pairs(SYSTEMS, FIRST, SECOND, ties=True).fit(counts)
    np.testing.assert_allclose(ours.values[0], strengths - strengths.mean(), atol=1e-5)
    assert ours.ties[0] == pytest.approx(np.exp(theirs[-1]), abs=1e-5)
    assert counts[..., TIE].any()
