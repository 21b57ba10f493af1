"""Sums of absolute means, corrected for their bias upward, with intervals that hold near 0.

Where all true means are 0, the sum of their absolute estimates is above 0 all the same, and a resample of the items
adds noise to noise, so that the percentiles of resamples lie above the estimate and above the truth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.metaeval.student_t import student_quantile

if TYPE_CHECKING:
    from postil.metaeval.arrays import Floats

__all__ = ["AbsoluteSum"]


HALVINGS: Final = 40
"""Number of halvings of a range of the unknown."""

_Z: Final = 1.959963984540054


@dataclass(frozen=True, slots=True)
class AbsoluteSum:
    """A sum of absolute means.

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
