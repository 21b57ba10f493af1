"""Corpus scores of resamples and of swapped items, against their definitions written out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from postil.comparison.baseline import compare_means, compare_sums, sacrebleu_p_value
from postil.meta.resampling import Draws, bootstrap_counts

RATIO = np.array(
    [[[3.0, 4], [2, 4], [3, 4]], [[1, 9], [5, 9], [1, 9]], [[0, 2], [2, 2], [0, 2]], [[4, 7], [5, 7], [4, 7]]]
)
"""float64[items, systems, 2]: matches and lengths; the last system is the first."""


def ratio(sums: np.ndarray) -> np.ndarray:
    return np.asarray(sums[:, 0] / sums[:, 1])


def test_scores_of_resamples_are_those_of_their_rows() -> None:
    counts = bootstrap_counts(len(RATIO), 300, 1)
    found = compare_sums(RATIO, ratio, 0, counts, Draws(permutations=10, seed=1))
    for number, multiplicity in enumerate(counts.tolist()):
        drawn = np.repeat(RATIO, multiplicity, axis=0).sum(axis=0)
        assert found.drawn[number, :, 0] == pytest.approx(drawn[:, 0] / drawn[:, 1], rel=1e-12)
    assert found.scores[:, 0] == pytest.approx([8 / 22, 14 / 22, 8 / 22])
    assert found.differences[:, 0] == pytest.approx([0, 6 / 22, 0])
    assert (found.drawn_differences[:, 2] == 0).all()
    assert found.p_bootstrap(2, 0) == 1
    assert found.p_bootstrap(2, 0, sacrebleu=True) == 1 / 301


def test_permutations_swap_the_statistics_of_items() -> None:
    found = compare_sums(RATIO, ratio, 0, bootstrap_counts(4, 10, 1), Draws(permutations=20_000, seed=2))
    theirs = compare_sums(
        RATIO, ratio, 0, bootstrap_counts(4, 10, 1), Draws(permutations=20_000, seed=2), sacrebleu=True
    )
    observed, reached, exceeded = 6 / 22, 0, 0
    for swaps in itertools.product((0, 1), repeat=4):
        one = sum(row[swap] for row, swap in zip(RATIO, swaps, strict=True))
        other = sum(row[1 - swap] for row, swap in zip(RATIO, swaps, strict=True))
        difference = abs(one[0] / one[1] - other[0] / other[1])
        reached += difference > observed - 1e-9
        exceeded += difference > observed + 1e-9
    assert found.p_randomization[1, 0] == pytest.approx(reached / 16, abs=0.01)
    assert theirs.p_randomization[1, 0] == pytest.approx(exceeded / 16, abs=0.01)
    assert (found.p_randomization[2, 0], theirs.p_randomization[2, 0]) == (1, 1 / 20_001)


def test_a_mean_is_a_corpus_score_of_values_and_ones() -> None:
    values = np.random.default_rng(3).random((30, 3, 1))
    values[:, 2] = values[:, 0]
    counts = bootstrap_counts(30, 200, 3)
    means = compare_means(values, 0, counts, Draws(permutations=500, seed=4))
    statistics = np.concatenate([values, np.ones_like(values)], axis=-1)
    sums = compare_sums(statistics, ratio, 0, counts, Draws(permutations=500, seed=4))
    for name in ("scores", "differences", "drawn", "drawn_differences", "p_randomization"):
        assert getattr(sums, name) == pytest.approx(getattr(means, name), rel=1e-12, abs=1e-15), name
    assert [sums.p_bootstrap(system, 0) for system in (1, 2)] == [means.p_bootstrap(system, 0) for system in (1, 2)]


def test_the_p_value_of_sacrebleu_centers_absolute_differences() -> None:
    samples = np.array([-0.5, 0.1, 0.2, 0.4])  # sizes minus their mean of .3: .2, -.2, -.1, .1
    assert sacrebleu_p_value(samples, 0.15) == 2 / 5
    assert sacrebleu_p_value(samples, -0.15) == 2 / 5
    assert sacrebleu_p_value(samples, 0.3) == 1 / 5
