"""Prediction of comments' votes by features that are known before anyone votes, cross-fitted by article."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.data.ties import dense_ranks
from postil.kernel import rank_correlations
from postil.meta.column_correlations import rank_coefficient
from postil.studies.cross_fitting import cross_fit, r_squared, resampled_means
from postil.studies.rank_measures import centered_ranks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.kernel.arrays import Floats, Int32s, Int64s


__all__ = ["PREDICTION", "VotePrediction", "log_votes"]

PREDICTION: Final = ("r2", "spearman", "r2 within", "spearman within")
"""Names of the measures of `VotePrediction.measure`."""


def log_votes(votes: Floats) -> Floats:
    """Votes on a logarithmic scale, negative ones included: ``sign(v) log(1 + |v|)``.

    Args:
        votes: float64[n].

    >>> log_votes(np.array([-1.0, 0.0, 1.0])).round(3).tolist()
    [-0.693, 0.0, 0.693]
    """
    return np.sign(votes) * np.log1p(np.abs(votes))


@dataclass(frozen=True, eq=False)
class VotePrediction:
    """Comments with votes in threads, folds of whole threads, and resamples of threads.

    Args:
        votes: float64[n].
        starts: int64[A], first comment of each thread; each has two different numbers of votes.
        folds: int64[A], see `postil.studies.cross_fitting.assign_folds`.
        counts: int32[R, A], resample multiplicities.
        jobs: Number of threads; no number depends on it.
    """

    votes: Floats
    starts: Int64s
    folds: Int64s
    counts: Int32s
    jobs: int = 1

    @cached_property
    def thread(self) -> Int64s:
        """The thread of each comment, int64[n]."""
        return np.repeat(np.arange(len(self.starts)), np.diff([*self.starts, len(self.votes)]))

    @cached_property
    def target(self) -> Floats:
        """Votes on a logarithmic scale, float64[n]; see `log_votes`."""
        return log_votes(self.votes)

    def within(self, values: Floats) -> Floats:
        """Subtract the mean of each thread.

        Args:
            values: float64[n, …].
        """
        sizes = np.bincount(self.thread)
        means = np.add.reduceat(values, self.starts) / sizes.reshape(-1, *[1] * (values.ndim - 1))
        return np.asarray(values - means[self.thread], np.float64)

    def others_mean(self) -> Floats:
        """Mean votes of the thread's other comments, on the logarithmic scale, float64[n].

        It is not known before the votes: the popularity of the thread, without the comment that is predicted.
        """
        sums, sizes = np.add.reduceat(self.target, self.starts), np.bincount(self.thread)
        return np.asarray((sums[self.thread] - self.target) / (sizes[self.thread] - 1))

    def fitted_ranking(self, columns: Floats, curved: Sequence[int]) -> Floats:
        """Cross-fitted scores of comments for ranking them within their threads, float64[n].

        Features and votes are ranks within the thread, so that neither a thread's popularity nor a few comments with
        thousands of votes weigh more.

        Args:
            columns: float64[n, d], the features.
            curved: Columns whose square is a feature, too.
        """
        ranks = centered_ranks(columns, self.starts)
        features = np.column_stack([ranks, ranks[:, list(curved)] ** 2])
        votes = centered_ranks(self.votes[:, None], self.starts)[:, 0]
        return cross_fit(features, votes, self.folds[self.thread])

    def measure(self, columns: Floats, curved: Sequence[int]) -> dict[str, Floats]:
        """Measure cross-fitted predictions of the votes' logarithm, over all comments and within threads.

        ``r2`` and ``spearman`` are over all comments; the reference of R² is the mean of the other folds. For
        ``r2 within`` features and target are differences from their thread's mean, and the reference is that mean.
        ``spearman within`` is the mean of the threads' rank correlations; 0 where all predictions are tied.

        Args:
            columns: float64[n, d], the features.
            curved: Columns whose square is a feature, too.

        Returns:
            float64[1 + R] by the names of `PREDICTION`: the value and that of each resample. A correlation of constant
            predictions is NaN.
        """
        bent = columns[:, list(curved)]
        features = np.column_stack([columns, (bent - bent.mean(axis=0)) ** 2])
        folds = self.folds[self.thread]
        pooled = cross_fit(features, self.target, folds)
        apart = self.within(cross_fit(self.within(features), self.within(self.target), folds))
        by_thread = np.nan_to_num(rank_coefficient("spearman", apart[:, None], self.votes, self.starts))[:, 0]
        drawn = np.concatenate([np.ones((1, len(self.starts)), np.int32), self.counts])
        ranks = dense_ranks(np.column_stack([pooled, self.votes]))
        spearman = rank_correlations(
            np.ascontiguousarray(ranks[:, :1]),
            np.ascontiguousarray(ranks[:, 1]),
            self.thread.astype(np.int32),
            drawn,
            "spearman",
            self.jobs,
        )[:, 0]
        return dict(
            zip(
                PREDICTION,
                (
                    r_squared(self.target, pooled, self._level, self.starts, self.counts),
                    spearman,
                    r_squared(self.within(self.target), apart, np.zeros(len(self.votes)), self.starts, self.counts),
                    resampled_means(by_thread, self.counts),
                ),
                strict=True,
            )
        )

    @cached_property
    def _level(self) -> Floats:
        """Mean of the other folds, float64[n]."""
        return cross_fit(np.zeros((len(self.votes), 0)), self.target, self.folds[self.thread])
