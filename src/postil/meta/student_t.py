"""Student's t distribution: quantiles, and tails of the noncentral one, which are the power of t tests; Fisher's F."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.meta.williams import student_p

if TYPE_CHECKING:
    from postil.kernel.arrays import Floats

__all__ = ["fisher_p", "power", "student_quantile"]


TERMS: Final = 10_000
"""Largest number of terms of the continued fraction; it takes some square roots of the degrees of freedom."""
CONVERGED: Final = 1e-15
"""Relative change by a term at which the fraction ends."""
NODES, WEIGHTS = np.polynomial.legendre.leggauss(400)
TAIL: Final = 12.0
"""Standard deviations of the estimated deviation that the quadrature reaches to."""


@lru_cache(maxsize=4096)
def student_quantile(p: float, df: int) -> float:
    """Quantile of Student's t distribution, by Newton steps, halved where they leave the bracket.

    Args:
        p: Probability, above .5 and below 1.
        df: Degrees of freedom, at least 1.

    >>> round(student_quantile(0.975, 9), 6), round(student_quantile(0.975, 1), 4)
    (2.262157, 12.7062)
    """
    both_tails = 2 * (1 - p)
    low, high = 0.0, 2.0
    while float(student_p(high, df)) > both_tails:
        low, high = high, 2 * high
    t = (low + high) / 2
    while True:
        excess = float(student_p(t, df)) - both_tails
        low, high = (t, high) if excess > 0 else (low, t)
        step = t + excess / (2 * _density(t, df))
        following = step if low < step < high else (low + high) / 2
        if abs(following - t) <= 4 * math.ulp(t):
            return following
        t = following


def _density(t: float, df: int) -> float:
    logarithm = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - math.log(df * math.pi) / 2
    return math.exp(logarithm - (df + 1) / 2 * math.log1p(t * t / df))


def power(shift: float, df: int, level: float = 0.05) -> float:
    """Power of a two-sided t test: ``P(T > c) + P(T < -c)``, T of the noncentral t distribution.

    ``P(T > c)`` is the mean of ``Phi(shift - c s)`` over s, the estimated standard deviation in units of the true one,
    whose square times df is chi-squared; by Gauss-Legendre quadrature.

    Args:
        shift: True difference in standard errors.
        df: Degrees of freedom, at least 1.
        level: Level of the test.

    >>> round(power(3, 9), 6), round(power(0, 9), 6)
    (0.761157, 0.05)
    """
    critical = student_quantile(1 - level / 2, df)
    reach = TAIL / math.sqrt(2 * df)
    low, high = max(0.0, 1 - reach), 1 + reach
    deviations = low + (high - low) * (1 + NODES) / 2
    with np.errstate(divide="ignore"):
        logarithm = (df - 1) * np.log(deviations) - df * deviations**2 / 2
    scale = math.log(2) + df / 2 * math.log(df / 2) - math.lgamma(df / 2)
    density = np.exp(logarithm + scale) * WEIGHTS * (high - low) / 2
    above = _normal_tail(critical * deviations - shift)
    below = _normal_tail(critical * deviations + shift)
    return min(1.0, float(density @ (above + below)))


def _normal_tail(z: Floats) -> Floats:
    """P(Z > z) of the standard normal distribution."""
    return np.array([math.erfc(each / math.sqrt(2)) / 2 for each in z.tolist()])


def fisher_p(f: float, df1: int, df2: int) -> float:
    """P-value of Fisher's F distribution: ``P(F > f) = I_x(df2 / 2, df1 / 2)``, ``x = df2 / (df2 + df1 f)``.

    I is the regularized incomplete beta function, by its continued fraction (Abramowitz and Stegun 26.5.8) on the side
    where it converges fast, in the modified form of Lentz.

    Args:
        f: At least 0.
        df1: Degrees of freedom of the numerator, at least 1.
        df2: Degrees of freedom of the denominator, at least 1.

    >>> round(fisher_p(16.916667, 2, 2), 6), fisher_p(0.0, 3, 5)
    (0.055814, 1.0)
    """
    x, y = df2 / (df2 + df1 * f), df1 * f / (df2 + df1 * f)
    a, b = df2 / 2, df1 / 2
    if not x or not y:
        return 1.0 if not y else 0.0
    if x > (a + 1) / (a + b + 2):
        return max(0.0, 1.0 - _beta_share(b, a, y, x))
    return min(1.0, _beta_share(a, b, x, y))


def _beta_share(a: float, b: float, x: float, y: float) -> float:
    """Regularized incomplete beta function I_x(a, b), for x at most (a + 1) / (a + b + 2); y is 1 - x."""
    fraction = front = 1.0
    back = 0.0
    for term in range(1, TERMS):
        m, odd = divmod(term, 2)
        if odd:
            factor = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            factor = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        back = 1 / (1 + factor * back)
        front = 1 + factor / front
        fraction *= front * back
        if abs(front * back - 1) < CONVERGED:
            break
    logarithm = a * math.log(x) + b * math.log(y) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return math.exp(logarithm) / (a * fraction)
