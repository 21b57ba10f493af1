"""Cross-fitted ridge regression: each cluster is predicted by a fit that has not seen it, and judged by R²."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import UsageError
from postil.meta.column_correlations import ratio

if TYPE_CHECKING:
    from postil.kernel.arrays import Floats, Int32s, Int64s


__all__ = ["assign_folds", "between_share", "cross_fit", "r_squared", "resampled_means"]

PENALTY: Final = 1.0
"""Ridge penalty, for features of standard deviation 1."""
FARTHEST: Final = 3.0
"""Standard deviations that features are clipped to, so that a few odd texts decide no fit and get no odd prediction."""


def assign_folds(clusters: int, folds: int, seed: int) -> Int64s:
    """Assign clusters to folds of equal size, at random.

    Args:
        clusters: Number of clusters.
        folds: Number of folds.
        seed: The seed.

    Returns:
        int64[clusters], from 0 to folds - 1.

    Raises:
        UsageError: There are fewer than two folds, or fewer clusters than folds.

    >>> assign_folds(5, folds=2, seed=1).tolist()
    [0, 0, 1, 0, 1]
    """
    if not 2 <= folds <= clusters:
        raise UsageError(f"folds: expected 2 to {clusters:,}, the number of articles, got {folds}")
    return np.random.default_rng(seed).permutation(clusters) % folds


def cross_fit(features: Floats, target: Floats, folds: Int64s) -> Floats:
    """Predict each row by a ridge regression on the rows of the other folds.

    Features are standardized by their mean and standard deviation there and clipped to three of these. The penalty is
    1, so it is negligible where there are many rows; the intercept is not penalized.

    Args:
        features: float64[n, d]; with d = 0 a row is predicted by the mean of the other folds.
        target: float64[n].
        folds: int64[n], the fold of each row.

    Returns:
        float64[n].

    >>> x = np.arange(6.0)
    >>> cross_fit(x[:, None], 2 * x + 1, np.array([0, 1, 0, 1, 0, 1])).round(1).tolist()
    [2.5, 3.5, 5.5, 6.5, 8.5, 9.5]
    """
    out = np.empty(len(target))
    for fold in np.unique(folds):
        seen, new = folds != fold, folds == fold
        mean, spread = features[seen].mean(axis=0), features[seen].std(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        known, asked = (np.clip((features[rows] - mean) / spread, -FARTHEST, FARTHEST) for rows in (seen, new))
        level = target[seen].mean()
        penalty = PENALTY * np.eye(features.shape[1])
        out[new] = level + asked @ np.linalg.solve(known.T @ known + penalty, known.T @ (target[seen] - level))
    return out


def r_squared(target: Floats, predicted: Floats, reference: Floats, starts: Int64s, counts: Int32s) -> Floats:
    """Out-of-fold R²: 1 - the sum of squared errors over that of a reference prediction.

    Args:
        target: float64[n].
        predicted: float64[n].
        reference: float64[n], such as the out-of-fold mean.
        starts: int64[A], first row of each cluster.
        counts: int32[R, A], resample multiplicities.

    Returns:
        float64[1 + R], the value and that of each resample; below 0 where the reference predicts better.

    >>> target, zero = np.array([1.0, -1.0, 2.0]), np.zeros(3)
    >>> r_squared(target, target / 2, zero, np.array([0, 2]), np.array([[2, 0]], np.int32)).tolist()
    [0.75, 0.75]
    """
    errors, all_of = (np.add.reduceat((target - guess) ** 2, starts) for guess in (predicted, reference))
    drawn = np.concatenate([np.ones((1, len(starts))), counts])
    return np.asarray(1 - (drawn @ errors) / (drawn @ all_of), np.float64)


def resampled_means(values: Floats, counts: Int32s) -> Floats:
    """Mean over clusters, and that of each resample.

    Args:
        values: float64[A, …].
        counts: int32[R, A], resample multiplicities.

    Returns:
        float64[1 + R, …].

    >>> resampled_means(np.array([1.0, 3.0]), np.array([[2, 0]], np.int32)).tolist()
    [2.0, 1.0]
    """
    drawn = np.concatenate([np.ones((1, len(values))), counts])
    return np.asarray(np.tensordot(drawn / drawn.sum(axis=1, keepdims=True), values, axes=1), np.float64)


def between_share(target: Floats, starts: Int64s, counts: Int32s) -> Floats:
    """Share of the variance that is between clusters: the intraclass correlation ICC(1) of a one-way random model.

    ``s_b / (s_b + s_w)`` with the mean squares' estimates of the variances between and within (Donner 1986, for
    clusters of different sizes). It is what a prediction could explain that knew each cluster's true mean.

    Args:
        target: float64[n].
        starts: int64[A], first row of each cluster.
        counts: int32[R, A], resample multiplicities.

    Returns:
        float64[1 + R], the value and that of each resample; NaN where all numbers are equal.

    >>> between_share(np.array([0.0, 2.0, 4.0, 6.0]), np.array([0, 2]), np.array([[1, 1]], np.int32)).round(3).tolist()
    [0.778, 0.778]
    """
    sizes = np.diff([*starts, len(target)]).astype(np.float64)
    away = target - target.mean()
    means = np.add.reduceat(away, starts) / sizes
    inside = np.add.reduceat((away - np.repeat(means, sizes.astype(np.int64))) ** 2, starts)
    drawn = np.concatenate([np.ones((1, len(starts))), counts])
    rows, clusters = drawn @ sizes, drawn.sum(axis=1)
    level = drawn @ (sizes * means) / rows
    between = np.maximum(0.0, drawn @ (sizes * means**2) - rows * level**2) / (clusters - 1)
    within = (drawn @ inside) / np.maximum(1.0, rows - clusters)
    size = (rows - (drawn @ sizes**2) / rows) / (clusters - 1)
    variance = np.maximum(0.0, between - within) / size
    total = variance + within
    return ratio(variance, total)
