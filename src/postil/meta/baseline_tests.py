"""Scores of systems and their differences from a baseline: paired bootstrap, paired permutation test.

A corpus score is a function of the sum of the items' statistics. A resample of the items, or a permutation that swaps
two systems' items, changes that sum by a matrix product, and the scores of all sums are computed at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from postil.data.ties import difference, without_noise
from postil.meta.permutation import permutation_p
from postil.meta.resampling import p_value
from postil.meta.system_means import blocks_of, means_of_resamples

if TYPE_CHECKING:
    from collections.abc import Callable

    from postil.kernel.arrays import Floats, Int32s
    from postil.meta.resampling import Draws

__all__ = ["BaselineTest", "compare_means", "compare_sums", "sacrebleu_p_value"]


@dataclass(frozen=True, slots=True, eq=False)
class BaselineTest:
    """Scores of systems by m metrics, compared with the baseline's.

    Args:
        scores: float64[systems, m].
        differences: float64[systems, m], score minus the baseline's.
        drawn: float64[R, systems, m], scores of each resample of the items.
        drawn_differences: float64[R, systems, m].
        p_randomization: float64[systems, m].
    """

    scores: Floats
    differences: Floats
    drawn: Floats
    drawn_differences: Floats
    p_randomization: Floats

    def p_bootstrap(self, system: int, metric: int, *, sacrebleu: bool = False) -> float:
        """Compute the p-value of one difference over the resamples.

        Args:
            system: Index of the system.
            metric: Index of the metric.
            sacrebleu: True for `sacrebleu_p_value`, False for `postil.meta.resampling.p_value`.
        """
        drawn = self.drawn_differences[:, system, metric]
        return sacrebleu_p_value(drawn, self.differences[system, metric]) if sacrebleu else p_value(drawn)


def compare_means(values: Floats, base: int, counts: Int32s, draws: Draws) -> BaselineTest:
    """Compare the means of item scores.

    Args:
        values: float64[items, systems, m], item scores.
        base: Index of the baseline.
        counts: int32[R, items], resample multiplicities.
        draws: Random draws: random sign flips.
    """
    apart = difference(values, values[:, [base]])
    # The tolerance of a difference of means is a share of the scores of the items where the two systems differ.
    magnitudes = np.where(apart != 0, np.maximum(np.abs(values), np.abs(values[:, [base]])), 0.0)
    return BaselineTest(
        scores=values.mean(axis=0),
        differences=without_noise(apart.mean(axis=0), magnitudes.mean(axis=0)),
        drawn=means_of_resamples(values, counts),
        drawn_differences=without_noise(means_of_resamples(apart, counts), means_of_resamples(magnitudes, counts)),
        p_randomization=_sign_flips(apart, magnitudes, draws),
    )


def compare_sums(
    statistics: Floats,
    score: Callable[[Floats], Floats],
    base: int,
    counts: Int32s,
    draws: Draws,
    *,
    sacrebleu: bool = False,
) -> BaselineTest:
    """Compare the corpus scores of one metric, which are those of summed statistics.

    Args:
        statistics: float64[items, systems, k].
        score: Function from sums of statistics, float64[n, k], to corpus scores, float64[n].
        base: Index of the baseline.
        counts: int32[R, items], resample multiplicities.
        draws: Random draws: random swaps of the two systems' items.
        sacrebleu: True to draw and count permutations as sacreBLEU does; see `permutation_p`.

    >>> from postil.meta.resampling import DRAWS, bootstrap_counts
    >>> statistics = np.array([[[1.0, 2.0], [2.0, 2.0]], [[0.0, 1.0], [3.0, 4.0]]])
    >>> counts = bootstrap_counts(2)
    >>> found = compare_sums(statistics, lambda sums: sums[:, 0] / sums[:, 1], 0, counts, DRAWS)
    >>> found.scores.round(3).tolist(), found.differences.round(3).tolist()
    ([[0.333], [0.833]], [[0.0], [0.5]])
    """
    items, systems, width = statistics.shape
    flat = statistics.reshape(items, -1)

    def scored(sums: Floats) -> Floats:
        return score(sums.reshape(-1, width)).reshape(-1, systems)

    scores = scored(flat.sum(axis=0))[0]
    drawn = np.concatenate([scored(block @ flat) for block in blocks_of(counts)])
    largest = np.maximum(np.abs(scores), np.abs(scores[base]))
    scale = np.where(largest > 0, largest, 1.0)  # the tolerance of permutation_p is for statistics of scale 1

    def statistic(swapped: Floats) -> Floats:
        # Both sums are made of what stays and what comes, so that no subtraction leaves rounding where 0 should be.
        stay, go = ((part @ flat).reshape(-1, systems, width) for part in (1.0 - swapped, swapped))
        return np.abs(scored(stay + go[:, [base]]) - scored(stay[:, [base]] + go)) / scale

    return BaselineTest(
        scores=scores[:, None],
        differences=difference(scores, scores[base])[:, None],
        drawn=drawn[..., None],
        drawn_differences=difference(drawn, drawn[:, [base]])[..., None],
        p_randomization=permutation_p(statistic, items, draws, sacrebleu=sacrebleu)[:, None],
    )


def sacrebleu_p_value(samples: Floats, observed: float) -> float:
    """Compute the p-value of a difference over resamples as sacreBLEU does.

    ``(1 + #{|sample| - mean |sample| > |observed|}) / (R + 1)``; no difference at all has the smallest p-value, since
    none of the resamples exceeds it.

    Args:
        samples: float64[R], the difference in each resample.
        observed: The difference.

    >>> sacrebleu_p_value(np.array([0.0, 0.1, 0.2, 0.9]), 0.3)
    0.4
    """
    sizes = np.abs(samples)
    return (1 + int(np.count_nonzero(sizes - sizes.mean() > abs(observed)))) / (1 + len(samples))


def _sign_flips(differences: Floats, magnitudes: Floats, draws: Draws) -> Floats:
    """Compute the p-values of approximate randomization of means, float64[systems, m].

    Args:
        differences: float64[items, systems, m].
        magnitudes: The same shape, the larger score of each difference, 0 where there is none.
        draws: Random draws.
    """
    flat, size = differences.reshape(len(differences), -1), magnitudes.sum(axis=0).ravel()
    flat = flat / np.where(size > 0, size, 1.0)  # the tolerance of permutation_p is for statistics of scale 1
    total = flat.sum(axis=0)
    found = permutation_p(lambda swapped: np.abs(total - 2 * (swapped @ flat)), len(flat), draws)
    return found.reshape(differences.shape[1:])
