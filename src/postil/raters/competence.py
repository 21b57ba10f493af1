"""Competence of annotators and the grades that it implies, by one of three models.

The one-factor model is for grades, which have an order. MACE and the model of Dawid and Skene take grades for labels
without order: they infer the true label of each text and the reliability of each annotator by expectation maximization.
No model starts at random, so equal ratings give equal results.

MACE holds all labels for equally probable, so where most texts deserve a 4, who guesses evenly fits best: of 20
simulated campaigns with two ratings a text and true grades from 3 to 5 it named the guesser the only one who knows in
about half. One slope for all, with noise alone of their own, would take who always gives the same grade for a good
annotator, and ordinal models with thresholds for each annotator have more parameters than a campaign has ratings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import Undefined
from postil.messages import Message

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from postil.meta.table import Ratings
    from postil.raters.options import CompetenceModel

__all__ = ["MODELS", "InferredLabels", "dawid_skene", "identified", "infer", "mace", "one_factor", "weighted_means"]

ITERATIONS: Final = 500
"""Maximum number of iterations."""

FACTOR_TOLERANCE: Final = 1e-7
"""Largest change of a competence at which the iterations end."""

TYPICAL_TEXTS: Final = 5.0
"""Weight of the typical annotator in the parameters of each, in texts."""

KEY: Final = 0.1
"""Noise of a known grade, as a share of the variance of the typical annotator's noise."""

LEAST_SLOPE, LEAST_NOISE = 1e-4, 0.01
"""Smallest slope, and smallest variance of noise, of grades with variance 1: nobody is taken for free of noise."""

SURE: Final = 2.326
"""Normal quantile of the level, .01, at which annotators must agree better than by chance."""

MOST_LABELS: Final = 100
"""Largest number of distinct ratings that are treated as labels."""

TOLERANCE: Final = 1e-9
"""Largest change of a competence or of an error rate at which the iterations end."""

KNOWING, GUESSING, STRATEGY = 0.5, 0.5, 10.0
"""Priors of MACE: beta prior of the competence, and Dirichlet prior of the labels of a guesser."""

LEAST: Final = 1e-10
"""Smallest probability, so that logarithms are finite."""

FAR: Final = 1.0
"""Number of standard errors below the others from which agreement contradicts the highest competence."""


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

    >>> from postil.meta.table import Judged
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
        if np.abs(fit.competence - before).max() < FACTOR_TOLERANCE:
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


@dataclass(frozen=True, slots=True, eq=False)
class InferredLabels(Inferred):
    """Labels of n texts and the competence of a annotators.

    The competence of MACE is the probability that the annotator rates by the text instead of guessing; that of Dawid
    and Skene the expected share of ratings that equal the true label.

    Args:
        labels: float64[k], the distinct ratings, ascending.
        posterior: float64[n, k], probability of each label for each text.
    """

    labels: NDArray[np.float64]
    posterior: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class _Labelled:
    """Ratings as labels: of rating r, the text, the annotator and the label; and the texts whose label is known."""

    text: NDArray[np.int64]
    annotator: NDArray[np.int64]
    label: NDArray[np.int64]
    values: NDArray[np.float64]
    texts: int
    annotators: int
    known: tuple[NDArray[np.int64], NDArray[np.int64]]
    identified: NDArray[np.bool_]

    @property
    def labels(self) -> int:
        return len(self.values)

    def by_annotator(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[a], sums of the values of each annotator's ratings."""
        return np.asarray(np.bincount(self.annotator, values, self.annotators), np.float64)

    def by_text_and_label(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[n, k], sums of the values of the ratings of each text with each label."""
        cells = np.bincount(self.text * self.labels + self.label, values, self.texts * self.labels)
        return np.asarray(cells, np.float64).reshape(self.texts, self.labels)

    def by_annotator_and_label(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[a, k], sums of the values of the ratings of each annotator with each label."""
        cells = np.bincount(self.annotator * self.labels + self.label, values, self.annotators * self.labels)
        return np.asarray(cells, np.float64).reshape(self.annotators, self.labels)

    def posterior(self, logs: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[n, k], probabilities of labels from their logarithms; 1 for a known label."""
        found: NDArray[np.float64] = np.exp(logs - logs.max(axis=1, keepdims=True))
        found /= found.sum(axis=1, keepdims=True)
        texts, labels = self.known
        found[texts] = 0
        found[texts, labels] = 1
        return found

    def inferred(self, posterior: NDArray[np.float64], competence: NDArray[np.float64]) -> InferredLabels:
        """The result of a model."""
        return InferredLabels(competence, self.identified, posterior @ self.values, self.values, posterior)

    def contradicts(self, competence: NDArray[np.float64]) -> bool:
        """True if the annotator with the highest competence agrees less with the others than these do.

        Agreement is compared by kappas with the shares of all labels.
        """
        shares = np.bincount(self.label, minlength=self.labels) / len(self.label)
        others = np.bincount(self.text, minlength=self.texts)[self.text].astype(np.float64) - 1
        same = self.by_text_and_label(np.ones(len(self.text)))[self.text, self.label] - 1
        n, equal = self.by_annotator(others), self.by_annotator(same)
        by_chance = self.by_annotator(others * shares[self.label])
        room = np.maximum(n - by_chance, LEAST)
        kappa, error = (equal - by_chance) / room, np.sqrt(np.maximum(equal * (n - equal) / np.maximum(n, 1), 1)) / room
        best = int(np.where(self.identified, competence, -1).argmax())
        rest = self.identified & (np.arange(self.annotators) != best)
        return bool(kappa[best] + FAR * error[best] < np.average(kappa[rest], weights=room[rest]))


def mace(ratings: Ratings, known: NDArray[np.float64] | None = None) -> InferredLabels:
    """Fit MACE: each rating is the true label, or a guess from the annotator's own distribution of labels.

    Hovy, Berg-Kirkpatrick, Vaswani and Hovy (2013), "Learning Whom to Trust with MACE", with variational updates under
    their priors: Beta(.5, .5) for the competence and Dirichlet(10, …, 10) for guesses. With competence c and guesses g,
    the probability of a label is ``c + (1 - c) g[label]`` if it is the true one, else ``(1 - c) g[label]``; true labels
    are equally probable beforehand.

    Args:
        ratings: Ratings of n texts.
        known: float64[n], labels that are known for certain; NaN where none is.

    Raises:
        Undefined: There are no three annotators who share texts in turn, there is one distinct rating or more than 100,
            or agreement contradicts the result.

    >>> from postil.meta.table import Judged
    >>> from postil.data.rows import Judgement
    >>> grades = {"ann": [1, 2, 3, 1, 2, 3], "bob": [1, 2, 3, 1, 2, 3], "cy": [3, 3, 3, 3, 3, 3]}
    >>> judged = Judged([Judgement(str(i), "a", who, grade) for who in grades for i, grade in enumerate(grades[who])])
    >>> found = mace(judged.of(list(judged.rows)))
    >>> [round(value, 2) for value in found.competence.tolist()]
    [0.97, 0.97, 0.05]
    """
    given = _labelled(ratings, known)
    know, guess = np.full(given.annotators, 0.5), np.full(given.annotators, 0.5)
    strategy = np.full((given.annotators, given.labels), 1 / given.labels)
    posterior = np.empty((given.texts, given.labels))
    for _ in range(ITERATIONS):
        before = know / (know + guess)
        wrong = guess[given.annotator] * strategy[given.annotator, given.label]
        right = wrong + know[given.annotator]
        posterior = given.posterior(given.by_text_and_label(np.log(right) - np.log(wrong)))
        knew = posterior[given.text, given.label] * know[given.annotator] / right
        counts = given.by_annotator(knew), given.by_annotator(1 - knew)
        total = _digamma(counts[0] + counts[1] + KNOWING + GUESSING)
        know, guess = np.exp(_digamma(counts[0] + KNOWING) - total), np.exp(_digamma(counts[1] + GUESSING) - total)
        guessed = given.by_annotator_and_label(1 - knew) + STRATEGY
        strategy = np.exp(_digamma(guessed) - _digamma(guessed.sum(axis=1))[:, None])
        if np.abs(know / (know + guess) - before).max() < TOLERANCE:
            break
    # Where labels are unequally frequent there is a second solution: one who guesses is right, and all others guess.
    if given.contradicts(know / (know + guess)):
        raise Undefined(
            "the annotator with the highest competence agrees with the others less than they do with one another, so "
            "MACE does not fit"
        )
    return given.inferred(posterior, know / (know + guess))


def dawid_skene(
    ratings: Ratings, known: NDArray[np.float64] | None = None, *, smoothing: float = 0.1
) -> InferredLabels:
    """Fit the model of Dawid and Skene: each annotator has a distribution of ratings for each true label.

    Dawid and Skene (1979), "Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm". It has k
    (k - 1) numbers per annotator, so it needs many ratings of each annotator.

    Args:
        ratings: Ratings of n texts.
        known: float64[n], labels that are known for certain; NaN where none is.
        smoothing: Number of ratings that are added to each cell of an annotator's table; 0 for maximum likelihood.

    Raises:
        Undefined: There are no three annotators who share texts in turn, or there is one distinct rating or more than
            100.

    >>> from postil.meta.table import Judged
    >>> from postil.data.rows import Judgement
    >>> grades = {"ann": [1, 2, 1, 2], "bob": [1, 2, 1, 2], "cy": [2, 2, 2, 2]}
    >>> judged = Judged([Judgement(str(i), "a", who, grade) for who in grades for i, grade in enumerate(grades[who])])
    >>> found = dawid_skene(judged.of(list(judged.rows)), smoothing=0)
    >>> found.competence.round(2).tolist(), found.expected.round(2).tolist()
    ([1.0, 1.0, 0.5], [1.0, 2.0, 1.0, 2.0])
    """
    given = _labelled(ratings, known)
    posterior = given.posterior(np.log(np.maximum(given.by_text_and_label(np.ones(len(given.text))), LEAST)))
    rates = np.zeros((given.annotators, given.labels, given.labels))
    prior = posterior.mean(axis=0)
    for _ in range(ITERATIONS):
        before, prior = rates, posterior.mean(axis=0)
        rates = np.stack(
            [given.by_annotator_and_label(posterior[given.text, true]) for true in range(given.labels)], axis=1
        )
        rates = np.maximum(rates + smoothing, LEAST)
        rates /= rates.sum(axis=2, keepdims=True)  # [annotator, true label, rating]
        chances = np.log(rates)[given.annotator, :, given.label]
        sums = np.stack([np.bincount(given.text, each, given.texts) for each in chances.T], axis=1)
        posterior = given.posterior(sums + np.log(np.maximum(prior, LEAST)))
        if np.abs(rates - before).max() < TOLERANCE:
            break
    return given.inferred(posterior, np.einsum("k,akk->a", prior, rates))


MODELS: Final[Mapping[CompetenceModel, Callable[[Ratings, NDArray[np.float64] | None], Inferred]]] = {
    "one-factor": one_factor,
    "mace": mace,
    "dawid-skene": dawid_skene,
}
"""Function of each model."""


def infer(
    ratings: Ratings, model: CompetenceModel = "one-factor", known: NDArray[np.float64] | None = None
) -> Inferred:
    """Infer grades and competence with a model.

    Args:
        ratings: Ratings of n texts.
        model: Name of the model.
        known: float64[n], grades that are known for certain, such as gold labels; NaN where none is.

    Raises:
        Undefined: See the function of the model.
    """
    return MODELS[model](ratings, known)


def weighted_means(ratings: Ratings, competence: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean rating of each text, weighted by the competence of the annotators: ``sum(c x) / sum(c)``.

    It lies within the grades of the text, while the posterior mean of a model is pulled towards the mean of all.

    Args:
        ratings: Ratings of n texts.
        competence: float64[a], positive.

    Returns:
        float64[n].
    """
    weight = competence[ratings.annotators]
    sums = (np.add.reduceat(each, ratings.offsets[:-1]) for each in (weight * ratings.grades, weight))
    total, of = sums
    # A mean of equal grades is that grade, whatever rounding does to the quotient.
    low, high = (each.reduceat(ratings.grades, ratings.offsets[:-1]) for each in (np.minimum, np.maximum))
    return np.clip(total / of, low, high)


def _labelled(ratings: Ratings, known: NDArray[np.float64] | None) -> _Labelled:
    """Ratings as labels."""
    who = identified(ratings)
    sure = np.full(len(ratings.counts), np.nan) if known is None else known
    texts = np.flatnonzero(~np.isnan(sure))
    values, label = np.unique(np.concatenate([ratings.grades, sure[texts]]), return_inverse=True)
    if not 1 < len(values) <= MOST_LABELS:
        found = "is one" if len(values) == 1 else f"are {len(values):,}"
        raise Undefined(f"competence needs 2 to {MOST_LABELS} distinct grades, and there {found}")
    size = len(ratings.grades)
    return _Labelled(
        text=np.repeat(np.arange(len(ratings.counts)), ratings.counts),
        annotator=ratings.annotators.astype(np.int64),
        label=label[:size],
        values=values,
        texts=len(ratings.counts),
        annotators=len(ratings.names),
        known=(texts, label[size:]),
        identified=who,
    )


def _digamma(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Digamma function of positive numbers: recurrence up to 6, then the asymptotic series (errors below 1e-12)."""
    found, at = np.zeros_like(x), x.astype(np.float64)
    for _ in range(6):
        found -= 1 / at
        at = at + 1
    square = 1 / at**2
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square / 132))))
    return found + np.log(at) - 0.5 / at - series
