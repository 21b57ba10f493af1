"""Counts of sign patterns are those of the definition, in both kernels, whatever the number of threads."""

from __future__ import annotations

import importlib
import importlib.util

import numpy as np
import pytest

BUILT = importlib.util.find_spec("postil.kernel._compiled") is not None
KERNELS = [
    "postil.kernel.python",
    pytest.param("postil.kernel._compiled", marks=pytest.mark.skipif(not BUILT, reason="the kernel was not built")),
]


@pytest.fixture(params=KERNELS)
def count(request):
    return importlib.import_module(request.param).order_counts


def problem(patterns: int, seed: int = 0):
    """Small integers, so that many differences are 0 or just the slack."""
    random = np.random.default_rng(seed)
    own, other = random.integers(-2, 3, (3, 4, patterns)) / 4, random.integers(-2, 3, (2, 4, patterns)) / 4
    together = np.array([[0, 1], [2, 0], [1, 1]], np.int32)
    pairs = np.array([[0, 1], [3, 0], [2, 2]], np.int32)
    return own, other, together, pairs, random.integers(0, 2, (3, 3)) / 4


@pytest.mark.parametrize("patterns", [0, 1, 255, 256, 1000])
@pytest.mark.parametrize("jobs", [1, 3])
def test_counts_are_those_of_the_definition(count, patterns: int, jobs: int) -> None:
    own, other, together, pairs, slack = problem(patterns)
    found = count(own, other, together, pairs, slack, jobs)
    for q, (m, added) in enumerate(together):
        for p, (a, b) in enumerate(pairs):
            apart = [(own[m, a, k] - own[m, b, k]) + (other[added, a, k] - other[added, b, k]) for k in range(patterns)]
            right = [sum(d <= slack[q, p] for d in apart), sum(d >= -slack[q, p] for d in apart)]
            assert found[q, p].tolist() == right


def test_bad_input_is_refused(count) -> None:
    own, other, together, pairs, slack = problem(10)
    with pytest.raises(ValueError, match="the same columns and patterns"):
        count(own[:, :3].copy(), other, together, pairs, slack)
    with pytest.raises(ValueError, match="a slack for each pair"):
        count(own, other, together, pairs, slack[:2].copy())
    for bad_together, bad_pairs in ((together + 1, pairs), (together, pairs + 1), (together, pairs - 1)):
        with pytest.raises(ValueError, match="sums of each pair"):
            count(own, other, bad_together, bad_pairs, slack)
