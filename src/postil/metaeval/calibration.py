"""Calibration of predicted grades: their errors, and the reliability curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from postil.metaeval.debiased import AbsoluteSum
from postil.metaeval.grade_mapping import scale_of
from postil.metaeval.resampled_rows import resampled_sums
from postil.metaeval.resampling import DRAWS, estimate
from postil.records.results import Calibration, CalibrationBin
from postil.records.ties import difference, without_noise

if TYPE_CHECKING:
    from postil.metaeval.arrays import Floats, Int64s
    from postil.metaeval.grade_mapping import MappedGrades
    from postil.metaeval.resampling import Counts, Draws
    from postil.metaeval.table import Table

__all__ = ["BINS", "calibrations"]


BINS: Final = 10
"""Number of bins of equal width over the scale."""


def calibrations(table: Table, mapped: MappedGrades, draws: Draws = DRAWS) -> tuple[Calibration, ...]:
    """Errors of predicted grades, and the expected calibration error (ECE) with its bins.

    The ECE is the mean over the texts of |mean prediction - mean grade| of the text's bin; bins have equal width over
    the scale and are by prediction. By itself it is too high, most where predictions are calibrated; `AbsoluteSum`
    corrects that. Intervals resample the items and keep the fits.

    Args:
        table: Scores and ratings of n texts.
        mapped: Predicted grades of the same texts.
        draws: Random draws.

    Returns:
        One row per column of the predictions.

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
    >>> row.mapping, round(row.mae, 3), row.bias, round(row.ece_plain, 3), len(row.bins)
    ('none', 0.667, 0.0, 0.667, 3)
    """
    low, high = scale_of(table)
    places = BINS * (mapped.grades - low) / ((high - low) or 1.0)
    bins = np.floor(places.round(9)).clip(0, BINS - 1).astype(np.int64)
    errors = difference(mapped.grades, table.grades[:, None])
    counts = draws.counts(len(table.starts))
    rows = []
    for j, (metric, mapping) in enumerate(mapped.names):
        sums = _resampled(errors[:, j], bins[:, j], table.starts, counts)
        sums = without_noise(sums, max(abs(low), abs(high)))
        mae = estimate(sums[:, 0], len(table.starts))
        ece = AbsoluteSum.of(sums[0, 1:], sums[1:, 1:], len(table.starts))
        rows.append(
            Calibration(
                metric=metric,
                mapping=mapping,
                mae=mae.value,
                rmse=float(np.sqrt((errors[:, j] ** 2).mean())),
                bias=float(without_noise(errors[:, j].mean(), np.abs(errors[:, j]).mean())),
                ece=ece.value,
                ece_plain=ece.plain,
                n=len(table),
                bins=_curve(mapped.grades[:, j], table.grades, bins[:, j]),
                mae_low=mae.low,
                mae_high=mae.high,
                ece_low=ece.low,
                ece_high=ece.high,
            )
        )
    return tuple(rows)


def _curve(predicted: Floats, grades: Floats, bins: Int64s) -> tuple[CalibrationBin, ...]:
    """The bins that are not empty, ascending."""
    n = np.bincount(bins)
    sums = np.bincount(bins, predicted), np.bincount(bins, grades)
    return tuple(
        CalibrationBin(n=int(n[b]), predicted=float(sums[0][b] / n[b]), grade=float(sums[1][b] / n[b]))
        for b in np.flatnonzero(n)
    )


def _resampled(errors: Floats, bins: Int64s, starts: Int64s, counts: Counts) -> Floats:
    """Mean absolute error, and the bins' parts of the mean error, on all items and on resamples, float64[1 + R, 11].

    Args:
        errors: float64[n].
        bins: int64[n].
        starts: int64[items], first row of each item.
        counts: int32 or uint8[R, items], resample multiplicities.
    """
    parts = np.zeros((len(errors), 2 + BINS))
    parts[:, 0], parts[:, 1] = 1, np.abs(errors)
    parts[np.arange(len(errors)), 2 + bins] = errors
    of_item = np.add.reduceat(parts, starts)
    sums = np.vstack([of_item.sum(axis=0), resampled_sums(counts, of_item)])
    return np.asarray(sums[:, 1:] / sums[:, :1], np.float64)
