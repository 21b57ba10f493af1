"""Calibration of predicted grades: their errors, and the reliability curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from postil.metaeval.grade_mapping import scale_of
from postil.metaeval.resampling import RESAMPLES, SEED, bootstrap_counts, estimate, in_blocks
from postil.records.results import Calibration, CalibrationBin
from postil.records.ties import difference, without_noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.metaeval.grade_mapping import MappedGrades
    from postil.metaeval.table import Table

__all__ = ["BINS", "calibrations"]

Floats: TypeAlias = "NDArray[np.float64]"

BINS: Final = 10
"""Number of bins of equal width over the scale."""


def calibrations(
    table: Table, mapped: MappedGrades, *, resamples: int = RESAMPLES, seed: int = SEED
) -> tuple[Calibration, ...]:
    """Errors of predicted grades, and the expected calibration error (ECE) with its bins.

    The ECE is the mean over the texts of |mean prediction - mean grade| of the text's bin; bins have equal width over
    the scale and are by prediction. Intervals resample the items and keep the fits.

    Args:
        table: Scores and ratings of n texts.
        mapped: Predicted grades of the same texts.
        resamples: Number of resamples of the items, at least 1.
        seed: Seed of the resamples.

    Returns:
        One row per column of the predictions.

    Raises:
        UsageError: Fewer than one resample.

    >>> from postil.metaeval.grade_mapping import map_to_grades
    >>> from postil.metaeval.table import join
    >>> from postil.records.rows import Judgement, Score
    >>> from postil.records.scale import Scale
    >>> texts = [("1", 1, 2), ("2", 3, 3), ("3", 5, 4)]
    >>> table = join(
    ...     [Score(item, "a", "judge", score) for item, score, _ in texts],
    ...     [Judgement(item, "a", "ann", grade) for item, _, grade in texts],
    ...     scale=Scale(1, 5),
    ... )
    >>> row = calibrations(table, map_to_grades(table))[0]
    >>> row.mapping, round(row.mae, 3), row.bias, round(row.ece, 3), len(row.bins)
    ('none', 0.667, 0.0, 0.667, 3)
    """
    low, high = scale_of(table)
    places = BINS * (mapped.grades - low) / ((high - low) or 1.0)
    bins = np.floor(places.round(9)).clip(0, BINS - 1).astype(np.int64)
    errors = difference(mapped.grades, table.grades[:, None])
    items = len(table.starts)
    counts = np.vstack([np.ones((1, items), np.int32), bootstrap_counts(items, resamples, seed)])
    sampled = _resampled(errors, bins, table.starts, counts)
    rows = []
    for j, (metric, mapping) in enumerate(mapped.names):
        mae, ece = (
            estimate(without_noise(samples[:, j], max(abs(low), abs(high))), items)
            for samples in (sampled["mae"], sampled["ece"])
        )
        rows.append(
            Calibration(
                metric=metric,
                mapping=mapping,
                mae=mae.value,
                rmse=float(np.sqrt((errors[:, j] ** 2).mean())),
                bias=float(without_noise(errors[:, j].mean(), np.abs(errors[:, j]).mean())),
                ece=ece.value,
                n=len(table),
                bins=_curve(mapped.grades[:, j], table.grades, bins[:, j]),
                mae_low=mae.low,
                mae_high=mae.high,
                ece_low=ece.low,
                ece_high=ece.high,
            )
        )
    return tuple(rows)


def _curve(predicted: Floats, grades: Floats, bins: NDArray[np.int64]) -> tuple[CalibrationBin, ...]:
    """The bins that are not empty, ascending."""
    n = np.bincount(bins)
    sums = np.bincount(bins, predicted), np.bincount(bins, grades)
    return tuple(
        CalibrationBin(n=int(n[b]), predicted=float(sums[0][b] / n[b]), grade=float(sums[1][b] / n[b]))
        for b in np.flatnonzero(n)
    )


def _resampled(
    errors: Floats, bins: NDArray[np.int64], starts: NDArray[np.int64], counts: NDArray[np.int32]
) -> dict[str, Floats]:
    """``mae`` and ``ece`` of each resample and column, float64[R, p] both.

    Args:
        errors: float64[n, p].
        bins: int64[n, p].
        starts: int64[items], first row of each item.
        counts: int32[R, items], resample multiplicities.
    """
    n, columns = errors.shape
    of_item = np.empty((len(starts), columns, 1 + BINS))
    for j in range(columns):
        parts = np.zeros((n, 1 + BINS))
        parts[:, 0] = np.abs(errors[:, j])
        parts[np.arange(n), 1 + bins[:, j]] = errors[:, j]
        of_item[:, j] = np.add.reduceat(parts, starts)
    texts = np.diff([*starts, n])
    flat = of_item.reshape(len(starts), -1)

    def statistics(block: NDArray[np.int32]) -> dict[str, Floats]:
        means = (block @ flat / (block @ texts)[:, None]).reshape(len(block), columns, 1 + BINS)
        return {"mae": means[..., 0], "ece": np.abs(means[..., 1:]).sum(axis=-1)}

    return in_blocks(statistics, counts, max(flat.shape))
