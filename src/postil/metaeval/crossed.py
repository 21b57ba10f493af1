"""Bootstrap of corpus scores over two crossed samples: items, and repetitions of a system with other seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from postil.metaeval.resampling import bootstrap_counts, estimate

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from postil.metaeval.resampling import Draws
    from postil.records.results import Estimate

__all__ = ["crossed_estimate"]


def crossed_estimate(
    stats: NDArray[np.float64],
    score: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    draws: Draws,
) -> Estimate:
    """The mean corpus score of several runs of a system, with a 95 % interval over runs and items.

    Runs and items are resampled independently, since every run answers every item: a resample scores each drawn run on
    the same drawn items. With one run the interval is over items alone.

    Args:
        stats: Statistics of each run's candidates, float64[runs, items, k], which add up to those of the corpus.
        score: Function from sums of statistics, float64[m, k], to corpus scores, float64[m].
        draws: Random draws.

    >>> from postil.metaeval.resampling import Draws
    >>> runs = np.array([[[1.0, 1], [0, 1]], [[1, 1], [1, 1]]])
    >>> crossed_estimate(runs, lambda sums: sums[:, 0] / sums[:, 1], Draws(resamples=200, seed=1))
    Estimate(value=0.75, low=0.0, high=1.0)
    """
    runs, items = stats.shape[:2]
    resamples = draws.resamples
    counts = bootstrap_counts(items, resamples, draws.seed).astype(np.float64)
    drawn = bootstrap_counts(runs, resamples, draws.seed + 1) if runs > 1 else np.ones((resamples, 1), dtype=np.int32)
    scores = np.stack([score(counts @ run) for run in stats], axis=1)  # [resamples, runs]
    samples = (scores * drawn).sum(axis=1) / runs
    return estimate(np.concatenate([[score(stats.sum(axis=1)).mean()], samples]), items)
