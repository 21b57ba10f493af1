"""Significance: tests and intervals of the normal model, many tests at once, systems that cannot be told apart.

Of the normal model there are Student's t and its power, Fisher's F, Williams' test, and Fisher's scale of r.
On Fisher's scale: percentiles of resamples are too narrow where r hangs on a few texts, as the spread of resamples is
itself estimated by these few. So the wider side of the percentiles is taken to both sides on Fisher's scale,
z = artanh r, and multiplied by a quantile of Student's t, whose degrees of freedom are those of the variance of the
items' influences on r.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from postil.meta.column_correlations import ratio, scaled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike

    from postil.kernel.arrays import Booleans, Floats, Int64s
    from postil.meta.parts import Difference

__all__ = [
    "MOST_SETS",
    "NORMAL",
    "Q",
    "benjamini_yekutieli",
    "compact_letters",
    "degrees_of_freedom",
    "fisher_interval",
    "fisher_p",
    "holm",
    "power",
    "rank_ranges",
    "significance_clusters",
    "student_p",
    "student_quantile",
    "williams_p",
    "williams_t",
    "wilson_interval",
]

SLACK: Final = 1e-10
"""Rounding error of a correlation."""

TERMS: Final = 10_000
"""Largest number of terms of the continued fraction; it takes some square roots of the degrees of freedom."""

CONVERGED: Final = 1e-15
"""Relative change by a term at which the fraction ends."""

TAIL: Final = 12.0
"""Standard deviations of the estimated deviation that the quadrature reaches to."""

LEAST: Final = 2
"""Smallest number of degrees of freedom, of three items or more."""

AT_ONE: Final = 1 - 1e-12
"""Coefficient from which on there is no number on Fisher's scale."""

NORMAL: Final = 1.959963984540054
"""Quantile .975 of the standard normal distribution."""


@cache
def _quadrature(order: int) -> tuple[Floats, Floats]:
    """Nodes and weights of Gauss and Legendre, which take longer than all that is imported with this module."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    return nodes, weights


def wilson_interval(good: float, n: float) -> tuple[float, float]:
    """Wilson's 95 % confidence interval of a share of independent cases.

    Args:
        good: Number of cases that count, which need not be whole.
        n: Number of cases, above 0.

    >>> [round(end, 3) for end in wilson_interval(10, 10)], [round(end, 3) for end in wilson_interval(5, 10)]
    ([0.722, 1.0], [0.237, 0.763])
    """
    share = good / n
    middle = share + NORMAL**2 / (2 * n)
    half = NORMAL * math.sqrt(max(share * (1 - share), 0.0) / n + NORMAL**2 / (4 * n * n))
    low, high = ((middle + sign * half) / (1 + NORMAL**2 / n) for sign in (-1, 1))
    return max(0.0, min(low, share)), min(1.0, max(high, share))  # an end of 0 or 1 may be off by a rounding error


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
    nodes, weights = _quadrature(64)

    def mass(angle: Floats) -> Floats:
        start = np.arcsin(np.sin(angle) * np.exp(-40 / (df - 1))) if df > 1 else np.zeros_like(angle)
        half = (angle - start) / 2
        heights: Floats = np.sin(start[..., None] + half[..., None] * (1 + nodes)) ** (df - 1)
        return np.asarray(half * (weights * heights).sum(axis=-1))

    sizes = np.abs(np.asarray(t, np.float64))
    return np.asarray(mass(np.arctan2(math.sqrt(df), sizes)) / mass(np.full_like(sizes, np.pi / 2)), np.float64)


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
    nodes, weights = _quadrature(400)
    reach = TAIL / math.sqrt(2 * df)
    low, high = max(0.0, 1 - reach), 1 + reach
    deviations = low + (high - low) * (1 + nodes) / 2
    with np.errstate(divide="ignore"):
        logarithm = (df - 1) * np.log(deviations) - df * deviations**2 / 2
    scale = math.log(2) + df / 2 * math.log(df / 2) - math.lgamma(df / 2)
    density = np.exp(logarithm + scale) * weights * (high - low) / 2
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

    Of eight intervals that were tried this one covers most: .945 to .976 on two judged sets, where percentiles cover as
    little as .78 (``research/validation.md``). At 80 items it is 5 % wider than percentiles, at 20 items 16 to 25 %.
    Studentized intervals need second moments of every resample, eight times the work. Where most samples lack the texts
    that rule, no interval holds.

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
    error = side / NORMAL * math.sqrt(items / (items - 1))
    half = error * student_quantile(0.975, df)
    p = 1.0 if z == 0 else float(student_p(abs(z) / error if error else math.inf, df))
    return FisherInterval(math.tanh(z - half), math.tanh(z + half), p)


LEVEL: Final = 0.05
"""Level of the one-sided tests, whose p is half of the two-sided one."""

Q: Final = 0.05
"""False discovery rate over the annotators."""

LETTERS: Final = 26
MOST_SETS: Final = 700
"""Largest number of sets that get letters; their number may double with every significant pair."""


def holm(p: ArrayLike) -> Floats:
    """Adjust p-values for their number by Holm's step-down procedure (1979).

    The i-th smallest of m is multiplied by ``m - i + 1``; none may be below a smaller one's, nor above 1.

    Args:
        p: float64[m].

    Returns:
        float64[m], in the order of p. Rejecting those at most alpha keeps the family-wise error rate at most alpha.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p, np.float64)
    order = np.argsort(values, kind="stable")
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1)))
    return adjusted


def benjamini_yekutieli(p: Floats, q: float = Q) -> Booleans:
    """Reject hypotheses at a false discovery rate, whatever their dependence (Benjamini and Yekutieli 2001).

    With m hypotheses and H = 1 + 1/2 + … + 1/m, the k smallest p-values are rejected, k the last with
    ``p_(k) <= k q / (m H)``.

    Args:
        p: float64[m].
        q: False discovery rate.

    Returns:
        bool[m].

    >>> benjamini_yekutieli(np.array([0.2, 0.001, 0.02, 0.03])).tolist()
    [False, True, False, False]
    >>> benjamini_yekutieli(np.array([0.004, 0.015, 0.02])).tolist()
    [True, True, True]
    """
    places = np.arange(1, len(p) + 1)
    order = np.argsort(p, kind="stable")
    below = np.flatnonzero(p[order] <= places * q / (len(p) * (1 / places).sum()))
    rejected = np.zeros(len(p), bool)
    rejected[order[: below[-1] + 1 if len(below) else 0]] = True
    return rejected


def significance_clusters(values: Mapping[str, float], differences: Iterable[Difference]) -> dict[str, int]:
    """Rank metrics as WMT's metrics task does.

    Metrics are taken by falling correlation. A metric opens a new cluster if a better one of the current cluster is
    significantly better: one-sided p <= .05, not adjusted for the number of pairs. So rank 1 has the metrics that no
    metric of rank 1 significantly beats. The test is the paired permutation test, for Kendall's coefficients the
    bootstrap; see `postil.meta.correlation.differences`.

    Args:
        values: Correlation of each metric.
        differences: Differences between these metrics in one coefficient at one level.

    Returns:
        Rank of each metric from 1, in the order of their correlations.

    >>> from postil.meta.parts import Difference
    >>> def row(first, second, p):
    ...     return Difference(
    ...         first=first, second=second, coefficient="pearson", by="pool", value=0.1, low=0.0, high=0.2, n=9,
    ...         p_bootstrap=p, p=p,
    ...     )
    >>> tests = [row("a", "b", 0.3), row("b", "c", 0.2), row("a", "c", 0.02)]
    >>> significance_clusters({"c": 0.5, "a": 0.8, "b": 0.7}, tests)
    {'a': 1, 'b': 1, 'c': 2}
    """
    p = {frozenset((row.first, row.second)): row.p_bootstrap if row.p is None else row.p for row in differences}
    ranks: dict[str, int] = {}
    cluster: list[str] = []
    rank = 1
    for metric in sorted(values, key=lambda name: -values[name]):
        tests = [p.get(frozenset((better, metric))) for better in cluster]
        if any(each is not None and each / 2 <= LEVEL for each in tests):
            rank, cluster = rank + 1, []
        cluster.append(metric)
        ranks[metric] = rank
    return ranks


def rank_ranges(significant: Booleans) -> list[tuple[int, int]]:
    """Best and worst rank of each system that the significant differences leave.

    From one plus the number of systems significantly above it, to all but those significantly below it. With
    Holm-adjusted tests all ranges hold at once with probability .95 (Mogstad, Romano, Shaikh and Wilhelm 2024).

    Args:
        significant: bool[S, S], symmetric, True where two systems differ significantly; the best system first.

    >>> rank_ranges(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], bool))
    [(1, 2), (1, 3), (2, 3)]
    """
    above, below = np.triu(significant).sum(axis=0), np.tril(significant).sum(axis=0)
    return list(zip((above + 1).tolist(), (len(significant) - below).tolist(), strict=True))


def compact_letters(significant: Booleans) -> list[str]:
    """Letters of each system, such that two share one unless they differ significantly (Piepho 2004).

    Starting with one set of all, each significant pair splits every set that holds both into two sets without one of
    them; sets inside others are dropped. The sets are named in the order of their systems. Above `MOST_SETS` of them no
    system has a letter.

    Args:
        significant: bool[S, S], symmetric, True where two systems differ significantly; the best system first.

    >>> compact_letters(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], bool))
    ['a', 'ab', 'b']
    """
    sets = [frozenset(range(len(significant)))]
    for pair in map(frozenset, np.argwhere(np.triu(significant)).tolist()):
        rest = [each for each in sets if not pair <= each]
        split = dict.fromkeys(each - {system} for each in sets if pair <= each for system in pair)
        kept = (one for one in split if not any(one < each for each in split))
        sets = rest + [one for one in kept if not any(one <= each for each in rest)]
        if len(sets) > MOST_SETS:
            return [""] * len(significant)
    named = {each: _letter(place) for place, each in enumerate(sorted(sets, key=sorted))}
    return ["".join(letter for each, letter in named.items() if system in each) for system in range(len(significant))]


def _letter(place: int) -> str:
    """``a`` to ``z``; after these ``a1`` to ``z1``, and so on."""
    return chr(ord("a") + place % LETTERS) + (str(place // LETTERS) if place >= LETTERS else "")
