"""Severities of annotators: the constants by which their grades differ, and ratings without them.

A constant of an annotator is no disagreement about the texts. Ratings are taken as ``y(o, a) = mu(o) + r(a) + e`` of
output o by annotator a, and r is found by least squares over the outputs with two ratings or more.

They are removed only where the F test of all constants shows them. Where annotators do not differ, the squared error of
differences then stays within 1 % of that of the ratings as given (40 items, 6 systems, two or more of six raters per
output), and fractions of a grade that are chance do not break the ties of grades at random: always removed, they take
split-half Spearman of the sample, whose two annotators differ by .02, from .837 to .738.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.data.ranking import without_noise
from postil.messages import Message
from postil.meta.column_correlations import starts_of
from postil.meta.parts import SEVERITY_LEVEL, AnnotatorBias, Severity
from postil.meta.significance import fisher_p

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.kernel.arrays import Booleans, Floats, Int64s
    from postil.meta.choices import Rule
    from postil.meta.table import Ratings

__all__ = ["Severities", "severities", "untold"]

DENSE: Final = 2000
"""Largest number of annotators whose equations are solved directly; more are solved by conjugate gradients."""

CONVERGED: Final = 1e-15
"""Squared residual of conjugate gradients, as a share of the first, at which they end."""

LEFT: Final = 3
"""Smallest number of degrees of freedom left for each severity, for agreement to be measured without severities."""

BITS: Final = 40
"""Severities are multiples of the largest grade over 2 to this power, so that sums of adjusted whole grades are exact
and adjusted means that are equal are equal to the last bit."""


@dataclass(frozen=True, eq=False)
class Severities:
    """Severities of A annotators; made by `severities`.

    Args:
        ratings: The ratings of n outputs.
        bias: float64[A], r(a): positive if the annotator grades higher than the others of the group (lenient). The
            mean of each group over all its ratings is 0.
        group: int64[A], group of each annotator: those connected by shared outputs, numbered by their first annotator.
    """

    ratings: Ratings
    bias: Floats
    group: Int64s

    @cached_property
    def adjusted(self) -> Ratings:
        """The ratings minus the biases of their annotators."""
        return replace(self.ratings, grades=self.ratings.grades - self.bias[self.ratings.annotators])

    @cached_property
    def degrees(self) -> tuple[int, int]:
        """Degrees of freedom of severities, and of what they leave."""
        between = len(self.bias) - (int(self.group.max()) + 1)
        return between, int((self.ratings.counts - 1).sum()) - between

    @cached_property
    def _squares(self) -> tuple[float, float]:
        """Squared deviations of ratings and of adjusted ratings from the means of their outputs."""
        sizes = np.abs(self.ratings.grades)
        found = []
        for ratings in (self.ratings, self.adjusted):
            apart = without_noise(ratings.grades - np.repeat(ratings.means, ratings.counts), sizes)
            found.append(float((apart**2).sum()))
        return found[0], found[1]

    @property
    def variance(self) -> float | None:
        """Variance of ratings within outputs without severities; None without a degree of freedom."""
        df = self.degrees[1]
        return self._squares[1] / df if df > 0 else None

    @cached_property
    def test(self) -> tuple[float | None, float | None]:
        """F of the severities and its p-value.

        F is None, and p 0, where severities explain all differences of ratings; both are None where the annotators of
        an output never differ, or where nothing is left to test by.
        """
        between, within = self.degrees
        before, after = self._squares
        if between < 1 or within < 1 or not before:
            return None, None
        if not after:
            return None, 0.0
        f = max(0.0, before - after) / between / (after / within)
        return f, fisher_p(f, between, within)

    @property
    def told_apart(self) -> bool:
        """True if ratings tell severity from chance: `LEFT` degrees of freedom or more are left for each severity.

        With fewer, as where each annotator rated a few outputs, severities take over most of what raters differ by, so
        that adjusted ratings agree too well. Where severities explain all differences, there is no doubt.
        """
        between, within = self.degrees
        return within > 0 and (within >= LEFT * between or not self._squares[1])

    @property
    def significant(self) -> bool:
        """True if annotators use the scale differently: p is below .05."""
        p = self.test[1]
        return p is not None and p < SEVERITY_LEVEL

    def removed(self, rule: Rule) -> bool:
        """True if a rule removes these severities from the ratings."""
        return rule == "remove" or (rule == "auto" and self.significant)

    def covariance(self, shares: Floats) -> Floats:
        """float64[m, m], covariance of m weighted sums of severities, as far as the ratings leave them uncertain.

        It is ``sigma2 shares L^+ shares'``. Where annotators have other shares of one mean than of another, a severity
        that is wrong makes a difference of these means that more items do not average out: without this, intervals of
        differences cover .72, and with it .95, where every system has an annotator of its own and a fifth of the
        outputs another one. Under random assignment it adds 1 to 6 %.

        Args:
            shares: float64[m, A], weight of each severity.
        """
        if not self.variance:
            return np.zeros((len(shares), len(shares)))
        numbers = np.bincount(self.ratings.annotators, minlength=len(self.bias)).astype(np.float64)
        of_group = np.zeros((int(self.group.max()) + 1, len(shares)))
        np.add.at(of_group, self.group, shares.T)
        of_group /= np.bincount(self.group, numbers)[:, None]
        # The constraint of each group takes out what its annotators would have by their numbers of ratings alone.
        apart = without_noise(shares.T - numbers[:, None] * of_group[self.group], np.abs(shares.T))
        return np.asarray(self.variance * apart.T @ _equations(self.ratings)[0].solved(apart, self.group))

    def told(self, rule: Rule) -> Severity:
        """The severities as a part of a result.

        Args:
            rule: The rule that was asked for.
        """
        f, p = self.test
        numbers = np.bincount(self.ratings.annotators, minlength=len(self.bias)).tolist()
        names = self.ratings.names
        return Severity(
            rule=rule,
            removed=self.removed(rule),
            F=f,
            df1=self.degrees[0],
            df2=self.degrees[1],
            p=p,
            groups=tuple(
                tuple(names[each] for each in np.flatnonzero(self.group == number).tolist())
                for number in range(int(self.group.max()) + 1)
            ),
            annotators=tuple(
                AnnotatorBias(annotator=name, ratings=number, bias=bias)
                for name, number, bias in zip(names, numbers, self.bias.tolist(), strict=True)
            ),
        )


def severities(ratings: Ratings) -> Severities | None:
    """Estimate the severities of annotators by least squares over the outputs with two ratings or more.

    ``L r = b`` with ``L = sum over outputs of (diag(1 of its annotators) - 1 / k on all pairs of them)`` and ``b(a) =
    sum of (y(o, a) - mean of the ratings of o)``. L leaves one constant open in each group of annotators that shared
    outputs connect; there ``sum of n(a) r(a) = 0``, n the number of all ratings of a, so that the mean of all ratings
    stays as it is.

    Args:
        ratings: Ratings of n outputs by A annotators.

    Returns:
        The severities; None where no output has ratings by two annotators, or where annotators are positions, which
        stand for nobody in particular.

    >>> from postil.meta.table import Judged
    >>> from postil.data.rows import Judgement
    >>> grades = {"1": {"a": 4, "b": 5}, "2": {"a": 2, "b": 4, "c": 1}, "3": {"b": 3, "c": 1}, "4": {"a": 3}}
    >>> rows = [Judgement(item, "x", who, grade) for item, given in grades.items() for who, grade in given.items()]
    >>> judged = Judged(rows)
    >>> found = severities(judged.of(list(judged.rows)))
    >>> found.bias.round(6).tolist(), round(found.variance, 6), found.degrees
    ([-0.275, 1.125, -1.275], 0.2, (2, 2))
    """
    if ratings.counts.max(initial=0) < 2 or ratings.positions:
        return None
    equations, several = _equations(ratings)
    group = equations.groups()
    r = equations.solved(equations.apart(ratings.grades[several]), group)
    numbers = np.bincount(ratings.annotators, minlength=len(r)).astype(np.float64)
    r = r - (np.bincount(group, numbers * r) / np.bincount(group, numbers))[group]
    unit = np.ldexp(1.0, int(np.frexp(np.abs(ratings.grades).max())[1]) - BITS)
    return Severities(ratings, np.rint(r / unit) * unit + 0.0, group)


def untold(ratings: Ratings) -> Iterator[str]:
    """Yield a note on the reason why several annotators have no severities.

    Args:
        ratings: Ratings without severities.
    """
    if ratings.positions:
        yield Message(
            "the annotators of every output are numbered from 1, by position, so nobody can be told apart and no "
            "severity is known"
        )
    elif len(ratings.names) > 1:
        yield Message("one rating per output: second ratings of some outputs would tell severity from quality")


def _equations(ratings: Ratings) -> tuple[_Equations, Booleans]:
    """The equations of the outputs with two ratings or more, and bool[r], the ratings of these."""
    several = np.repeat(ratings.counts > 1, ratings.counts)
    output = np.repeat(np.cumsum(ratings.counts > 1) - 1, ratings.counts)
    return _Equations(ratings.annotators[several].astype(np.int64), output[several], len(ratings.names)), several


@dataclass(frozen=True, slots=True, eq=False)
class _Equations:
    """The equations of A annotators and their ratings of outputs with two or more.

    Args:
        who: int64[r], annotator of each rating.
        output: int64[r], output of each rating, ascending from 0 without a gap.
        annotators: A.
    """

    who: Int64s
    output: Int64s
    annotators: int

    def apart(self, values: Floats) -> Floats:
        """float64[A], sums of values minus the means of their outputs.

        Args:
            values: float64[r], one per rating.
        """
        means = np.bincount(self.output, values) / np.bincount(self.output)
        return np.asarray(np.bincount(self.who, values - means[self.output], minlength=self.annotators), np.float64)

    def times(self, r: Floats) -> Floats:
        """The product L r."""
        return self.apart(r[self.who])

    def groups(self) -> Int64s:
        """int64[A], the group of each annotator; whoever shares no output is one of their own."""
        label, before = np.arange(self.annotators), None
        starts = starts_of(self.output)
        while before is None or (label != before).any():
            before = label.copy()
            lowest = np.minimum.reduceat(label[self.who], starts)
            np.minimum.at(label, self.who, lowest[self.output])
            label = label[label]
        return np.unique(label, return_inverse=True)[1]

    def solved(self, b: Floats, group: Int64s) -> Floats:
        """float64[A, …], a solution of L r = b, up to a constant in each group; b is float64[A, …]."""
        if self.annotators > DENSE:
            columns = b.reshape(len(b), -1).T
            return np.stack([self._by_conjugate_gradients(each) for each in columns], axis=1).reshape(b.shape)
        system = np.diag(np.bincount(self.who, minlength=self.annotators).astype(np.float64))
        counts = np.bincount(self.output)
        size, start = counts[self.output], (np.cumsum(counts) - counts)[self.output]
        place = np.arange(len(self.who)) - start
        for step in range(int(counts.max())):  # each rating and the one `step` places on in its output, in a circle
            there = step < size
            other = self.who[(start + (place + step) % size)[there]]
            pair = self.who[there] * self.annotators + other
            system -= np.bincount(pair, 1 / size[there], minlength=self.annotators**2).reshape(system.shape)
        same = (group[:, None] == group).astype(np.float64)  # keeps the constant of each group at 0
        return np.linalg.solve(system + same, b)

    def _by_conjugate_gradients(self, b: Floats) -> Floats:
        """A solution of L r = b by conjugate gradients, scaled by the diagonal."""
        scale = np.maximum(np.bincount(self.who, minlength=self.annotators), 1).astype(np.float64)
        r, rest = np.zeros(len(b)), b.copy()
        way = rest / scale
        size = first = float(rest @ way)
        for _ in range(2 * len(b)):
            if size <= CONVERGED**2 * first:
                break
            image = self.times(way)
            step = size / float(way @ image)
            r, rest = r + step * way, rest - step * image
            scaled = rest / scale
            size, before = float(rest @ scaled), size
            way = scaled + size / before * way
        return r
