"""Competence of annotators and the labels that it implies: MACE, and the model of Dawid and Skene.

Both models infer the true label of each text and the reliability of each annotator from the ratings alone, by
expectation maximization. They start from the shares of the labels that a text was given, so a result depends on the
ratings and on nothing else: there is no random start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import Undefined

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from postil.metaeval.score_matrix import Ratings
    from postil.records.quality_parts import CompetenceModel

__all__ = ["MODELS", "InferredLabels", "dawid_skene", "infer", "mace", "weighted_means"]

MOST_LABELS: Final = 100
"""Largest number of distinct ratings that are treated as labels."""

ITERATIONS: Final = 500
"""Maximum number of iterations."""

TOLERANCE: Final = 1e-9
"""Largest change of a competence or of an error rate at which the iterations end."""

KNOWING, GUESSING, STRATEGY = 0.5, 0.5, 10.0
"""Priors of MACE: beta prior of the competence, and Dirichlet prior of the labels of a guesser."""

LEAST: Final = 1e-10
"""Smallest probability, so that logarithms are finite."""


@dataclass(frozen=True, slots=True, eq=False)
class InferredLabels:
    """Labels of n texts and the competence of a annotators.

    Args:
        labels: float64[k], the distinct ratings, ascending.
        posterior: float64[n, k], probability of each label for each text.
        competence: float64[a], from 0 to 1. MACE: the probability that the annotator rates by the text instead of
            guessing. Dawid and Skene: the expected share of ratings that equal the true label.
        shared: bool[a], True for annotators who rated a text that somebody else rated as well; the competence of the
            others is not known.
    """

    labels: NDArray[np.float64]
    posterior: NDArray[np.float64]
    competence: NDArray[np.float64]
    shared: NDArray[np.bool_]

    @property
    def expected(self) -> NDArray[np.float64]:
        """float64[n], posterior mean of the grade of each text."""
        return self.posterior @ self.labels


@dataclass(frozen=True, slots=True, eq=False)
class _Labelled:
    """Ratings as labels: of rating r, the text, the annotator and the label."""

    text: NDArray[np.int64]
    annotator: NDArray[np.int64]
    label: NDArray[np.int64]
    texts: int
    annotators: int
    labels: int

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


def mace(ratings: Ratings) -> InferredLabels:
    """Fit MACE: each rating is the true label, or a guess from the annotator's own distribution of labels.

    Hovy, Berg-Kirkpatrick, Vaswani and Hovy (2013), "Learning Whom to Trust with MACE", with variational updates under
    their priors: Beta(.5, .5) for the competence and Dirichlet(10, …, 10) for guesses. With competence c and guesses g,
    the probability of a label is ``c + (1 - c) g[label]`` if it is the true one, else ``(1 - c) g[label]``; true labels
    are equally probable beforehand.

    Args:
        ratings: Ratings of n texts.

    Raises:
        Undefined: There are fewer than three annotators, one distinct rating or more than 100, or no text has two
            ratings.

    >>> from postil.metaeval.score_matrix import Rated
    >>> from postil.records.rows import Judgement
    >>> grades = {"ann": [1, 2, 3, 1, 2, 3], "bob": [1, 2, 3, 1, 2, 3], "cy": [3, 3, 3, 3, 3, 3]}
    >>> rated = Rated([Judgement(str(i), "a", who, grade) for who in grades for i, grade in enumerate(grades[who])])
    >>> found = mace(rated.of(list(rated.rows)))
    >>> [round(value, 2) for value in found.competence.tolist()]
    [0.97, 0.97, 0.05]
    """
    given, values, shared = _labelled(ratings)
    know, guess = np.full(given.annotators, 0.5), np.full(given.annotators, 0.5)
    strategy = np.full((given.annotators, given.labels), 1 / given.labels)
    posterior = np.empty((given.texts, given.labels))
    for _ in range(ITERATIONS):
        before = know / (know + guess)
        wrong = guess[given.annotator] * strategy[given.annotator, given.label]
        right = wrong + know[given.annotator]
        posterior = _normalized(given.by_text_and_label(np.log(right) - np.log(wrong)))
        knew = posterior[given.text, given.label] * know[given.annotator] / right
        counts = given.by_annotator(knew), given.by_annotator(1 - knew)
        total = _digamma(counts[0] + counts[1] + KNOWING + GUESSING)
        know, guess = np.exp(_digamma(counts[0] + KNOWING) - total), np.exp(_digamma(counts[1] + GUESSING) - total)
        guessed = given.by_annotator_and_label(1 - knew) + STRATEGY
        strategy = np.exp(_digamma(guessed) - _digamma(guessed.sum(axis=1))[:, None])
        if np.abs(know / (know + guess) - before).max() < TOLERANCE:
            break
    return InferredLabels(values, posterior, know / (know + guess), shared)


def dawid_skene(ratings: Ratings, *, smoothing: float = 0.1) -> InferredLabels:
    """Fit the model of Dawid and Skene: each annotator has a distribution of ratings for each true label.

    Dawid and Skene (1979), "Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm". It has k
    (k - 1) numbers per annotator, so it needs many ratings of each annotator.

    Args:
        ratings: Ratings of n texts.
        smoothing: Number of ratings that are added to each cell of an annotator's table; 0 for maximum likelihood.

    Raises:
        Undefined: There are fewer than three annotators, one distinct rating or more than 100, or no text has two
            ratings.

    >>> from postil.metaeval.score_matrix import Rated
    >>> from postil.records.rows import Judgement
    >>> grades = {"ann": [1, 2, 1, 2], "bob": [1, 2, 1, 2], "cy": [2, 2, 2, 2]}
    >>> rated = Rated([Judgement(str(i), "a", who, grade) for who in grades for i, grade in enumerate(grades[who])])
    >>> found = dawid_skene(rated.of(list(rated.rows)), smoothing=0)
    >>> found.competence.round(2).tolist(), found.expected.round(2).tolist()
    ([1.0, 1.0, 0.5], [1.0, 2.0, 1.0, 2.0])
    """
    given, values, shared = _labelled(ratings)
    posterior = given.by_text_and_label(np.ones(len(given.text)))
    posterior /= posterior.sum(axis=1, keepdims=True)
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
        posterior = _normalized(sums + np.log(np.maximum(prior, LEAST)))
        if np.abs(rates - before).max() < TOLERANCE:
            break
    return InferredLabels(values, posterior, np.einsum("k,akk->a", prior, rates), shared)


MODELS: Final[Mapping[CompetenceModel, Callable[[Ratings], InferredLabels]]] = {
    "mace": mace,
    "dawid-skene": dawid_skene,
}
"""Function of each model."""


def infer(ratings: Ratings, model: CompetenceModel = "mace") -> InferredLabels:
    """Infer labels and competence with a model.

    Args:
        ratings: Ratings of n texts.
        model: Name of the model.

    Raises:
        Undefined: See `mace`.
    """
    return MODELS[model](ratings)


def weighted_means(ratings: Ratings, competence: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean rating of each text, weighted by the competence of the annotators: ``sum(c x) / sum(c)``.

    For ordinal grades it is the better aggregate: unlike the posterior mean of the models, it uses that neighboring
    grades are close.

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


def _labelled(ratings: Ratings) -> tuple[_Labelled, NDArray[np.float64], NDArray[np.bool_]]:
    """Ratings as labels, with the grades and the annotators who share texts with others."""
    if len(ratings.names) < 3:
        raise Undefined("competence needs three annotators, as nothing tells which of two is right")
    several = np.repeat(ratings.counts > 1, ratings.counts)
    if not several.any():
        raise Undefined("competence needs texts that two annotators rated, and there are none")
    values, label = np.unique(ratings.grades, return_inverse=True)
    if not 1 < len(values) <= MOST_LABELS:
        found = "is one" if len(values) == 1 else f"are {len(values):,}"
        raise Undefined(f"competence needs 2 to {MOST_LABELS} distinct grades, and there {found}")
    annotator = ratings.annotators.astype(np.int64)
    text = np.repeat(np.arange(len(ratings.counts)), ratings.counts)
    given = _Labelled(text, annotator, label, len(ratings.counts), len(ratings.names), len(values))
    return given, values, given.by_annotator(several.astype(np.float64)) > 0


def _normalized(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows of logarithms as probabilities."""
    found = np.exp(logs - logs.max(axis=1, keepdims=True))
    probabilities: NDArray[np.float64] = found / found.sum(axis=1, keepdims=True)
    return probabilities


def _digamma(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Digamma function of positive numbers: recurrence up to 6, then the asymptotic series (errors below 1e-12)."""
    found, at = np.zeros_like(x), x.astype(np.float64)
    for _ in range(6):
        found -= 1 / at
        at = at + 1
    square = 1 / at**2
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square / 132))))
    return found + np.log(at) - 0.5 / at - series
