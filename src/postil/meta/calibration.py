"""Calibration of predicted grades: their errors, and the reliability curve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.data.ties import difference, without_noise
from postil.meta.audit_parts import Calibration, CalibrationBin
from postil.meta.grade_mapping import scale_of
from postil.meta.resampled_rows import resampled_sums
from postil.meta.resampling import DRAWS, estimate
from postil.meta.student_t import student_quantile

if TYPE_CHECKING:
    from postil.kernel.arrays import Floats, Int64s
    from postil.meta.grade_mapping import MappedGrades
    from postil.meta.resampling import Counts, Draws
    from postil.meta.table import Table

__all__ = ["BINS", "AbsoluteSum", "calibrations"]

BINS: Final = 10
"""Number of bins of equal width over the scale."""

HALVINGS: Final = 40
"""Number of halvings of a range of the unknown."""

_Z: Final = 1.959963984540054


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

    >>> from postil.meta.grade_mapping import map_to_grades
    >>> from postil.meta.table import join
    >>> from postil.data.rows import Judgement, Score
    >>> from postil.data.scale import Scale
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


@dataclass(frozen=True, slots=True)
class AbsoluteSum:
    """A sum of absolute means, corrected for its bias upward, with an interval that holds near 0.

    Where all true means are 0, the sum of their absolute estimates is above 0 all the same, and a resample of the items
    adds noise to noise, so that the percentiles of resamples lie above the estimate and above the truth.

    Args:
        plain: The sum of the absolute estimates.
        value: The sum that would give `plain` or more in half of the samples, at most `plain`; 0 where even 0 would.
        low: Lower end of the 95 % confidence interval; None where there is one item.
        high: Upper end.
    """

    plain: float
    value: float
    low: float | None
    high: float | None

    @classmethod
    def of(cls, means: Floats, resampled: Floats, items: int) -> AbsoluteSum:
        """Correct a sum, by inverting tests.

        A total t is in the interval where `plain` is between the 2.5th and 97.5th percentile of sums of |mu_b + d_b|:
        d are the deviations of resamples from the estimates, and mu are the means nearest to the estimates, in units of
        their variances, whose absolute values add up to t. The upper end is at least that of the sum with its signs
        held fixed, since fits can make estimates smaller than chance does.

        Args:
            means: float64[k], the estimates.
            resampled: float64[R, k], the same on resamples of the items.
            items: Number of the items.

        >>> noise = np.random.default_rng(1).normal(size=(1000, 4))
        >>> near = AbsoluteSum.of(np.array([0.5, -1.0, 0.25, 0.0]), np.array([0.5, -1.0, 0.25, 0.0]) + noise, 1000)
        >>> near.plain, near.value, near.low
        (1.75, 0.0, 0.0)
        >>> far = AbsoluteSum.of(np.array([50.0, -100.0]), np.array([50.0, -100.0]) + noise[:, :2], 1000)
        >>> round(far.value), round(far.low, 1), round(far.high, 1)
        (150, 147.2, 152.6)
        """
        plain = float(np.abs(means).sum())
        if items < 2:
            return cls(plain, plain, None, None)
        wider = math.sqrt(items / (items - 1)) * student_quantile(0.975, items - 1) / _Z
        deviations = (resampled - means) * wider
        variances = deviations.var(axis=0)
        if not variances.any():
            return cls(plain, plain, plain, plain)
        path = _Path(means, deviations, variances)
        low, value, high = (path.total(share, plain) for share in (0.975, 0.5, 0.025))
        signed = _Z * float((deviations @ path.signs).std())
        value = min(value, plain)  # above it only by the chance of few resamples
        return cls(plain, value, min(low, value), max(high, value, signed))


@dataclass(frozen=True, slots=True)
class _Path:
    """The means nearest to some estimates with every sum of absolute values.

    Args:
        means: float64[k], the estimates.
        deviations: float64[R, k], of resamples.
        variances: float64[k].
    """

    means: Floats
    deviations: Floats
    variances: Floats

    @property
    def signs(self) -> Floats:
        return np.where(self.means >= 0, 1.0, -1.0)

    def at(self, step: float) -> Floats:
        """Means moved away from 0, or towards it for steps below 0, by step times variance."""
        return self.signs * np.maximum(np.abs(self.means) + step * self.variances, 0.0)

    def total(self, share: float, plain: float) -> float:
        """The sum of absolute means where a share of the resampled sums is below `plain`."""

        def above(step: float) -> bool:
            sums = np.abs(self.at(step) + self.deviations).sum(axis=1)
            return bool(np.quantile(sums, share) >= plain)

        moves = self.variances > 0
        least = -float((np.abs(self.means[moves]) / self.variances[moves]).max())
        if above(least):
            return float(np.abs(self.at(least)).sum())
        most = 1 / math.sqrt(float(self.variances.sum()))
        while not above(most):
            most *= 2
        for _ in range(HALVINGS):
            middle = (least + most) / 2
            least, most = (least, middle) if above(middle) else (middle, most)
        return float(np.abs(self.at(most)).sum())
