"""Williams' test of two correlations that share a variable, and two-sided p-values of Student's t distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from postil.kernel.arrays import Floats, Int64s

__all__ = ["student_p", "williams_p", "williams_t"]


SLACK: Final = 1e-10
"""Rounding error of a correlation."""

NODES, WEIGHTS = np.polynomial.legendre.leggauss(64)


def student_p(t: ArrayLike, df: int) -> Floats:
    """P-value of Student's t distribution, two-sided.

    ``p = integral from 0 to arctan(sqrt(df) / |t|) of sin^(df - 1) / integral from 0 to pi / 2 of the same``, each by
    Gauss-Legendre quadrature over the part where the integrand is not negligible. Relative error below 1e-11 up to a
    million degrees of freedom.

    Args:
        t: Any shape; finite or infinite.
        df: Degrees of freedom, at least 1.

    Returns:
        float64 of the shape of t, in [0, 1].

    >>> student_p([0.0, 2.0, 12.706], df=1).round(4).tolist()
    [1.0, 0.2952, 0.05]
    """

    def mass(angle: Floats) -> Floats:
        start = np.arcsin(np.sin(angle) * np.exp(-40 / (df - 1))) if df > 1 else np.zeros_like(angle)
        half = (angle - start) / 2
        heights: Floats = np.sin(start[..., None] + half[..., None] * (1 + NODES)) ** (df - 1)
        return np.asarray(half * (WEIGHTS * heights).sum(axis=-1))

    sizes = np.abs(np.asarray(t, np.float64))
    p = mass(np.arctan2(math.sqrt(df), sizes)) / mass(np.full_like(sizes, np.pi / 2))
    return np.asarray(p, np.float64)


def williams_p(points: Floats, pairs: Int64s) -> list[float]:
    """Compute the p-values of Williams' test for pairs of metrics.

    Args:
        points: float64[n, m + 1], standardized scores by m metrics, and mean ratings.
        pairs: int64[2, k], columns to compare.

    Returns:
        k numbers in [0, 1]; NaN where the test does not apply.
    """
    n = len(points)
    if n < 4:
        return [math.nan] * pairs.shape[1]
    first, second = pairs
    between = (points.T @ points / n).clip(-1, 1)
    t = williams_t(between[first, -1], between[second, -1], between[first, second], n)
    found: list[float] = np.where(np.isnan(t), np.nan, student_p(np.nan_to_num(t), n - 3)).tolist()
    return found


def williams_t(r12: Floats, r13: Floats, r23: Floats, n: int) -> Floats:
    """Compute the statistics of tests whether two correlations differ that share a variable.

    With ``d = 1 - r12^2 - r13^2 - r23^2 + 2 r12 r13 r23``,
    ``t = (r12 - r13) sqrt((n - 1) (1 + r23) / (2 d (n - 1) / (n - 3) + (r12 + r13)^2 (1 - r23)^3 / 4))``
    has Student's t distribution with n - 3 degrees of freedom if the two are equal (Williams 1959; Steiger 1980). It
    assumes that the n points are independent, which several texts of one item are not.

    Args:
        r12: Correlations of the ratings and the first metric.
        r13: Correlations of the ratings and the second metric.
        r23: Correlations of the two metrics. Where it is 1, t is 0.
        n: Number of points, at least 4.

    Returns:
        An array of their shape, positive where the first correlation is higher; NaN where the statistic divides by 0,
        as where one metric is the other with its sign flipped.

    >>> williams_t(*np.array([[0.80], [0.72], [0.89]]), n=26).round(2)  # Howell, Statistical Methods for Psychology
    array([1.36])
    """
    # The same to the last bit when the metrics change places.
    determinant = np.maximum(0, (1 - r23**2) - (r12**2 + r13**2) + 2 * (r12 * r13) * r23)
    spread = 2 * determinant * (n - 1) / (n - 3) + (r12 + r13) ** 2 * np.maximum(0, 1 - r23) ** 3 / 4
    t = np.full(r12.shape, np.nan)
    top = (r12 - r13) * np.sqrt((n - 1) * np.maximum(0, 1 + r23))
    np.divide(top, np.sqrt(spread), out=t, where=(spread > SLACK**2) & (1 + r23 > SLACK))
    return np.where(1 - r23 < SLACK, 0.0, t)
