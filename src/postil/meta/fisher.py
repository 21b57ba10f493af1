"""Intervals of Pearson's r over all texts on Fisher's scale, wider where few outliers rule.

Percentiles of resamples are too narrow where r hangs on a few texts: the spread of resamples is itself estimated by
these few. So the wider side of the percentiles is taken to both sides on Fisher's scale, z = artanh r, and multiplied
by a quantile of Student's t, whose degrees of freedom are those of the variance of the items' influences on r.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from postil.meta.column_correlations import ratio, scaled
from postil.meta.student_t import student_quantile
from postil.meta.williams import student_p

if TYPE_CHECKING:
    from postil.kernel.arrays import Floats, Int64s

__all__ = ["FisherInterval", "degrees_of_freedom", "fisher_interval"]


LEAST: Final = 2
"""Smallest number of degrees of freedom, of three items or more."""

AT_ONE: Final = 1 - 1e-12
"""Coefficient from which on there is no number on Fisher's scale."""

_Z: Final = 1.959963984540054


class FisherInterval(NamedTuple):
    """A 95 % confidence interval of Pearson's r.

    Args:
        low: Lower end.
        high: Upper end.
        p: Two-sided p-value of r being 0, .05 where 0 is an end.
    """

    low: float
    high: float
    p: float


def degrees_of_freedom(x: Floats, y: Floats, starts: Int64s) -> Floats:
    """Degrees of freedom of the variance of Pearson's r, 2 n / (kurtosis - 1) of the influences of n items.

    The influence of an item is the sum of zx zy - r (zx^2 + zy^2) / 2 over its texts. Normal influences have about n.

    Args:
        x: float64[n, M].
        y: float64[n].
        starts: int64[items], first row of each item.

    Returns:
        float64[M]; infinite where all influences are alike, NaN where x or y is constant.

    >>> random = np.random.default_rng(1)
    >>> x, y = random.normal(size=(2, 1000))
    >>> x[0] = y[0] = 30  # an outlier
    >>> degrees_of_freedom(np.column_stack([x[1:], x[1:]]), y[1:], np.arange(999)).round()
    array([161., 161.])
    >>> degrees_of_freedom(x[:, None], y, np.arange(1000)).round()
    array([2.])
    """
    columns = scaled(np.column_stack([x, y]))
    away = scaled(columns - columns.mean(axis=0))
    z = ratio(away, np.broadcast_to(away.std(axis=0), away.shape))
    products = z[:, :-1] * z[:, -1:]
    r = products.mean(axis=0)
    influences = np.add.reduceat(products - r / 2 * (z[:, :-1] ** 2 + z[:, -1:] ** 2), starts)
    squares = influences**2
    excess = ratio((squares**2).mean(axis=0), squares.mean(axis=0) ** 2) - 1
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(excess > 0, 2 * len(starts) / excess, np.where(np.isnan(excess), np.nan, np.inf)))


def fisher_interval(value: float, samples: Floats, degrees: float, items: int) -> FisherInterval | None:
    """Compute the interval of a coefficient.

    Args:
        value: The coefficient.
        samples: float64[R], of resamples of the items; NaN is ignored.
        degrees: Its degrees of freedom, see `degrees_of_freedom`.
        items: Number of items.

    Returns:
        The interval; None where the coefficient, or an end of the percentiles, is 1 or -1, or there is one item.

    >>> samples = np.tanh(0.5 + 0.1 * np.random.default_rng(1).normal(size=1000))
    >>> [round(fisher_interval(np.tanh(0.5), samples, degrees, 200).low, 2) for degrees in (200, 2)]
    [0.29, 0.06]
    """
    samples = samples[~np.isnan(samples)]
    if items < 2 or not len(samples) or math.isnan(degrees):
        return None
    ends = np.percentile(samples, (2.5, 97.5))
    if max(abs(value), *np.abs(ends)) >= AT_ONE:
        return None
    z = math.atanh(value)
    side = float(np.abs(np.arctanh(ends) - z).max())
    df = int(max(min(degrees, items - 1), min(LEAST, items - 1)))
    error = side / _Z * math.sqrt(items / (items - 1))
    half = error * student_quantile(0.975, df)
    p = 1.0 if z == 0 else float(student_p(abs(z) / error if error else math.inf, df))
    return FisherInterval(math.tanh(z - half), math.tanh(z + half), p)
