"""Competence of annotators by a one-factor model of their grades, and which annotators it can be told of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import Undefined
from postil.messages import Message

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.meta.score_matrix import Ratings

__all__ = ["Inferred", "identified", "one_factor"]

ITERATIONS: Final = 500
"""Maximum number of iterations."""

TOLERANCE: Final = 1e-7
"""Largest change of a competence at which the iterations end."""

TYPICAL_TEXTS: Final = 5.0
"""Weight of the typical annotator in the parameters of each, in texts."""

KEY: Final = 0.1
"""Noise of a known grade, as a share of the variance of the typical annotator's noise."""

LEAST_SLOPE, LEAST_NOISE = 1e-4, 0.01
"""Smallest slope, and smallest variance of noise, of grades with variance 1: nobody is taken for free of noise."""

SURE: Final = 2.326
"""Normal quantile of the level, .01, at which annotators must agree better than by chance."""


@dataclass(frozen=True, slots=True, eq=False)
class Inferred:
    """Competence of a annotators, and what their ratings say about n texts.

    Args:
        competence: float64[a], above 0 and up to 1; what it means is said by the model.
        identified: bool[a], True for annotators whose competence the ratings determine; see `identified`.
        expected: float64[n], posterior mean of the grade of each text.
    """

    competence: NDArray[np.float64]
    identified: NDArray[np.bool_]
    expected: NDArray[np.float64]


def identified(ratings: Ratings) -> NDArray[np.bool_]:
    """Find the annotators whose competence is determined by agreement with one another: bool[a].

    How much two annotators agree says nothing about who of them is the better one; that of three, each with each, does.
    In general an annotator must be linked to a cycle of an odd number of annotators, each of whom shares texts with the
    next one.

    Args:
        ratings: Ratings of n texts.

    Raises:
        Undefined: There are none.
    """
    people = len(ratings.names)
    starts, counts = ratings.offsets[:-1], ratings.counts
    after = np.arange(len(ratings.annotators)) - np.repeat(starts, counts)  # place of a rating in its text
    # Of each text the ratings one and two places apart: three ratings make a triangle.
    pairs = [
        np.stack([ratings.annotators[: -by or None][after[by:] >= by], ratings.annotators[by:][after[by:] >= by]])
        for by in (1, 2)
    ]
    first, second = np.unique(np.concatenate(pairs, axis=1).astype(np.int64), axis=1)
    # Two copies of each annotator, and each link leads to the other copy: they are connected if a cycle is odd.
    begin = np.concatenate([first, first + people, second, second + people])
    end = np.concatenate([second + people, second, first + people, first])
    part = np.arange(2 * people)
    while True:
        before = part.copy()
        np.minimum.at(part, begin, before[end])
        part = part[part]
        if (part == before).all():
            break
    if not (part[:people] == part[people:]).any():
        raise Undefined(_no_three(ratings))
    return np.asarray(part[:people] == part[people:])


def one_factor(ratings: Ratings, known: NDArray[np.float64] | None = None) -> Inferred:
    """Fit a one-factor model: each annotator's grades are a line of the true grade, with noise of their own.

    The congeneric model of Jöreskog (1971), "Statistical analysis of sets of congeneric tests", by expectation
    maximization. The grade of text t by annotator a is ``m_a + s_a z_t + e`` with ``z_t ~ N(0, 1)``, ``e ~ N(0, v_a)``.
    The competence is ``s_a² / (s_a² + v_a)``, the share of the variance of the annotator's grades that follows the
    texts: near 0 where grades are random, and where they are always the same. That 4 is close to 5 counts, there may be
    any number of distinct grades, and who is always one grade lower loses nothing. Slopes are not negative, and beside
    the ratings each annotator has `TYPICAL_TEXTS` made texts of the typical annotator, whose parameters are the means
    weighted by ratings and competence; so who has few ratings is taken for typical. All start as equals.

    Args:
        ratings: Ratings of n texts.
        known: float64[n], grades that are known for certain, such as gold labels; NaN where none is.

    Raises:
        Undefined: There are no three annotators who share texts in turn, all grades are equal, or annotators agree no
            better than by chance.

    >>> from postil.meta.score_matrix import Judged
    >>> from postil.data.rows import Judgement
    >>> grades = {"ann": [1, 2, 4, 1, 2, 5] * 2, "bob": [1, 2, 5, 1, 2, 4] * 2, "cy": [3] * 12}
    >>> judged = Judged([Judgement(str(i), "a", who, grade) for who in grades for i, grade in enumerate(grades[who])])
    >>> found = one_factor(judged.of(list(judged.rows)))
    >>> [round(value, 2) for value in found.competence.tolist()]
    [0.89, 0.89, 0.2]
    """
    who = identified(ratings)
    low, high = float(ratings.grades.min()), float(ratings.grades.max())
    if low == high:
        raise Undefined("competence needs two distinct grades, and there is one")
    center, unit = float(ratings.grades.mean()), float(ratings.grades.std())
    key = np.full(len(ratings.counts), np.nan) if known is None else (known - center) / unit
    fit = _Fit(ratings, (ratings.grades - center) / unit, key, who)
    for _ in range(ITERATIONS):
        before = fit.competence
        fit.step()
        if np.abs(fit.competence - before).max() < TOLERANCE:
            break
    if fit.gain() < _least_gain(int(who.sum())):
        raise Undefined("annotators agree no better than by chance, so nothing tells who follows the texts")
    return Inferred(fit.competence, who, np.clip(center + unit * fit.expected(), low, high))


def _no_three(ratings: Ratings) -> str:
    if len(ratings.names) < 3:
        return Message("competence needs three annotators, as nothing tells which of two is right")
    if not (ratings.counts > 1).any():
        return Message("competence needs texts that two annotators rated, and there are none")
    return Message(
        "competence needs three annotators of whom each shares texts with both others, or a longer odd cycle of them"
    )


def _least_gain(annotators: int) -> float:
    """Gain in log-likelihood, with one slope per annotator, that is due to chance once in 100 times.

    Half the quantile of chi-squared, by the cube-root approximation of Wilson and Hilferty.
    """
    spread = 2 / (9 * annotators)
    return annotators * (1 - spread + SURE * math.sqrt(spread)) ** 3 / 2


class _Fit:
    """Parameters of a one-factor model, and a step of expectation maximization."""

    def __init__(
        self, ratings: Ratings, grades: NDArray[np.float64], key: NDArray[np.float64], who: NDArray[np.bool_]
    ) -> None:
        self._texts, self._people = len(ratings.counts), len(ratings.names)
        self._text = np.repeat(np.arange(self._texts), ratings.counts)
        self._annotator = ratings.annotators.astype(np.int64)
        self._grades, self._known, self._key = grades, ~np.isnan(key), np.nan_to_num(key)
        self._n = self._by_annotator(np.ones(len(grades)))
        self._counts = self._n * who
        means = self._by_text(grades) / ratings.counts
        within = float(((grades - means[self._text]) ** 2).sum()) / max(len(grades) - self._texts, 1)
        self.noise = np.full(self._people, min(max(within, 0.1), 0.9))
        self.slope = np.sqrt(1 - self.noise)
        self.mean = self._by_annotator(grades) / self._n
        self._alone = self._by_annotator((grades - self.mean[self._annotator]) ** 2) / self._n

    def _by_annotator(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.bincount(self._annotator, values, self._people), np.float64)

    def _by_text(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.bincount(self._text, values, self._texts), np.float64)

    @property
    def competence(self) -> NDArray[np.float64]:
        """float64[a], share of the variance of each annotator's grades that follows the texts."""
        return np.asarray(self.slope**2 / (self.slope**2 + self.noise))

    def _typical(self, values: NDArray[np.float64]) -> float:
        """Mean over annotators, weighted by ratings and competence, so that who guesses does not count."""
        return float(np.average(values, weights=self._counts * self.competence))

    def _given_key(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Precision of each text before anybody rated it, and that times its mean: 1 and 0 where nothing is known."""
        mean, slope, noise = (self._typical(each) for each in (self.mean, self.slope, self.noise))
        weight = slope / (KEY * noise)
        return 1 + self._known * slope * weight, self._known * weight * (self._key - mean)

    def _given_ratings(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Precision of each text, and that times its mean."""
        precision, total = self._given_key()
        weight, who = self.slope / self.noise, self._annotator
        precision = precision + self._by_text((self.slope * weight)[who])
        return precision, total + self._by_text(weight[who] * (self._grades - self.mean[who]))

    def step(self) -> None:
        """Replace the parameters by those that fit the expected values of the texts best."""
        precision, total = self._given_ratings()
        slope, noise = self._typical(self.slope), self._typical(self.noise)
        at, around = (total / precision)[self._text], (1 / precision)[self._text]
        sums, of = self._by_annotator(at), self._by_annotator(self._grades)
        products = self._by_annotator(self._grades * at) - sums * of / self._n + TYPICAL_TEXTS * slope
        squares = self._by_annotator(at**2 + around) - sums**2 / self._n + TYPICAL_TEXTS
        self.slope = np.maximum(products / squares, LEAST_SLOPE)
        self.mean = (of - self.slope * sums) / self._n
        mine, who = self.slope[self._annotator], self._annotator
        errors = self._by_annotator((self._grades - self.mean[who] - mine * at) ** 2 + mine**2 * around)
        errors += TYPICAL_TEXTS * (noise + (self.slope - slope) ** 2)
        self.noise = np.maximum(errors / (self._n + TYPICAL_TEXTS), LEAST_NOISE)

    def expected(self) -> NDArray[np.float64]:
        """float64[n], posterior mean of each text's grade as the typical annotator gives it."""
        precision, total = self._given_ratings()
        return self._typical(self.mean) + self._typical(self.slope) * total / precision

    def gain(self) -> float:
        """Log-likelihood less that of annotators who rate independently of the texts, each with mean and variance."""
        start, given = self._given_key()
        precision, total = self._given_ratings()
        errors = self._by_annotator((self._grades - self.mean[self._annotator]) ** 2)
        typical = self._typical(self.slope) ** 2 + self._typical(self.noise)
        alone = (self._n * self._alone + TYPICAL_TEXTS * typical) / (self._n + TYPICAL_TEXTS)
        by_annotator = self._n * (np.log(alone / self.noise) + self._alone / alone) - errors / self.noise
        by_text = total**2 / precision - given**2 / start - np.log(precision / start)
        return float(by_annotator.sum() + by_text.sum()) / 2
