"""Williams' test of two correlations that share a variable, and two-sided p-values of Student's t distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from postil.errors import Undefined, UsageError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from postil.metaeval.arrays import Floats, Int64s

__all__ = ["Williams", "student_p", "williams", "williams_p"]


T = TypeVar("T", float, "Floats")

SLACK: Final = 1e-10
"""Rounding error of a correlation."""

NODES, WEIGHTS = np.polynomial.legendre.leggauss(64)


@dataclass(frozen=True, slots=True)
class Williams:
    """Williams' test.

    Args:
        t: The statistic; positive where the first correlation is higher.
        df: Degrees of freedom, n - 3.
        p: Two-sided.
    """

    t: float
    df: int
    p: float


def williams(r12: float, r13: float, r23: float, n: int) -> Williams:
    """Test whether two correlations differ that share a variable (Williams 1959; Steiger 1980).

    With ``d = 1 - r12^2 - r13^2 - r23^2 + 2 r12 r13 r23``,
    ``t = (r12 - r13) sqrt((n - 1) (1 + r23) / (2 d (n - 1) / (n - 3) + (r12 + r13)^2 (1 - r23)^3 / 4))``
    has Student's t distribution with n - 3 degrees of freedom if the two are equal. It assumes that the n points are
    independent, which several texts of one item are not.

    Args:
        r12: Correlation of the ratings and the first metric.
        r13: Correlation of the ratings and the second metric.
        r23: Correlation of the two metrics. Where it is 1, t is 0 and p is 1.
        n: Number of points, at least 4.

    Raises:
        Undefined: Fewer than four points, or the statistic divides by 0, as where one metric is the other with its sign
            flipped.
        UsageError: No three variables have these correlations.

    >>> williams(0.80, 0.72, 0.89, n=26)  # Howell, Statistical Methods for Psychology, 6th edition, page 262
    Williams(t=1.36..., df=23, p=0.18...)
    """
    determinant = _determinant(r12, r13, r23)
    if not max(abs(r12), abs(r13), abs(r23)) <= 1 + SLACK or determinant < -SLACK:
        raise UsageError(f"no three variables have the correlations {r12:g}, {r13:g} and {r23:g}")
    if n < 4:
        raise Undefined(f"Williams' test needs at least 4 points, got {n}")
    t = float(_williams_t(np.array(r12), np.array(r13), np.array(r23), n))
    if math.isnan(t):
        raise Undefined(f"Williams' test divides by 0 for the correlations {r12:g}, {r13:g} and {r23:g}")
    return Williams(t, n - 3, float(student_p(t, n - 3)))


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
    t = _williams_t(between[first, -1], between[second, -1], between[first, second], n)
    found: list[float] = np.where(np.isnan(t), np.nan, student_p(np.nan_to_num(t), n - 3)).tolist()
    return found


def _determinant(r12: T, r13: T, r23: T) -> T:
    """Determinant of the matrix of three correlations, the same to the last bit when the metrics change places."""
    return (1 - r23**2) - (r12**2 + r13**2) + 2 * (r12 * r13) * r23


def _williams_t(r12: Floats, r13: Floats, r23: Floats, n: int) -> Floats:
    """Williams' t, NaN where it divides by 0."""
    determinant = np.maximum(0, _determinant(r12, r13, r23))
    spread = 2 * determinant * (n - 1) / (n - 3) + (r12 + r13) ** 2 * np.maximum(0, 1 - r23) ** 3 / 4
    t = np.full(r12.shape, np.nan)
    top = (r12 - r13) * np.sqrt((n - 1) * np.maximum(0, 1 + r23))
    np.divide(top, np.sqrt(spread), out=t, where=(spread > SLACK**2) & (1 + r23 > SLACK))
    return np.where(1 - r23 < SLACK, 0.0, t)
