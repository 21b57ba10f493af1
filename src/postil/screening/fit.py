"""Fit of what moderators hold: logistic regressions on hashed n-grams, and predictions of texts that none has seen.

The fits minimize ``|w|^2 / 2 + C sum_i ln(1 + exp(-y_i logit_i))`` with C = 10, y = 1 for what is held and -1 for the
rest, on the weights of `postil.screening.features.weighted` and on further columns beside them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from postil.learners.linear import Logistic
from postil.learners.sparse_logistic import fit_sparse_logistic
from postil.screening.features import COLUMNS, Counts, Vocabulary, idf_of, unseen_idf, weighted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from postil.kernel.arrays import Booleans, Floats, Int64s

__all__ = ["Calibration", "DecidedTexts", "LearnedWeights", "Split", "SplitBy", "cross_fitted", "fitted", "split_texts"]

_INVERSE_PENALTY: Final = 10.0
_TOLERANCE: Final = 0.1
"""Largest violation of optimality at which the fit of the decision ends: logits are within some thousandths."""
_TOLERANCE_OF_REASONS: Final = 0.5
"""That of the fits of reasons, which take two thirds of the time so; logits are within some hundredths.

In five folds no AUC of a reason changes by more than .0003. To fit a reason to its own texts and five, three or two
times as many of the rest is faster still, but costs up to .005, .009 and .022 of AUC; C = 5 costs .001."""
FOLDS: Final = 5
"""Number of folds, and of parts in time, of which the first is for training alone."""

MOSTLY: Final = 0.9
"""Smallest share of texts with a date, or an author, by which they are split."""

SplitBy: TypeAlias = Literal["date", "author", "text"]
"""Property that parts the texts that a fit has seen from those that it predicts."""


@dataclass(frozen=True, slots=True, eq=False)
class DecidedTexts:
    """Texts to learn from, as columns.

    Args:
        counts: The n-grams of n texts.
        dense: float32[n, d], further columns, in about -1 to 1.
    """

    counts: Counts
    dense: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.counts)

    def take(self, rows: Int64s) -> DecidedTexts:
        """Some of the texts.

        Args:
            rows: int64[k], their positions.
        """
        return DecidedTexts(self.counts.take(rows), self.dense[rows])


@dataclass(frozen=True, slots=True, eq=False)
class LearnedWeights:
    """Logits of t targets, linear in the columns of a text.

    Args:
        vocabulary: The m columns that are known.
        sparse: float32[t, m].
        dense: float32[t, d].
        intercepts: float64[t].
    """

    vocabulary: Vocabulary
    sparse: NDArray[np.float32]
    dense: NDArray[np.float32]
    intercepts: Floats

    def logits(self, texts: DecidedTexts) -> Floats:
        """Logits of n texts, float64[n, t], which do not depend on the texts around them.

        Args:
            texts: The texts.
        """
        counts, vocabulary = texts.counts, self.vocabulary
        places = vocabulary.places(counts.columns)
        weights = weighted(counts, places, vocabulary.idf, vocabulary.unseen)
        owners = counts.owners
        found = np.empty((len(texts), len(self.sparse)))
        for target, row in enumerate(self.sparse):
            products = weights.astype(np.float64) * row[places] if len(row) else np.zeros(len(weights))
            found[:, target] = np.bincount(owners, products, len(texts)) + self.intercepts[target]
        return np.asarray(found + np.einsum("nd,td->nt", texts.dense, self.dense, dtype=np.float64))


@dataclass(frozen=True, slots=True)
class Calibration:
    """Probabilities of logits: ``1 / (1 + exp(-(slope logit + offset)))``.

    Args:
        slope: Above 0.
        offset: Any number.
    """

    slope: float
    offset: float

    @classmethod
    def fit(cls, logits: Floats, outcomes: Booleans) -> Calibration | None:
        """Fit it to logits of texts that their fit has not seen; None if their order is no better than chance.

        Args:
            logits: float64[n].
            outcomes: bool[n].
        """
        found = Logistic.fit(logits[:, None], outcomes)
        slope = float(found.weights[0] / found.scale[0])
        return cls(slope, found.intercept - slope * float(found.mean[0])) if slope > 0 else None

    def probabilities(self, logits: Floats) -> Floats:
        """Probabilities, of the shape of the logits.

        Args:
            logits: Any number of logits.
        """
        return np.asarray(1 / (1 + np.exp(-np.clip(self.slope * logits + self.offset, -700, 700))))

    def probability(self, logit: float) -> float:
        """The probability of a logit.

        Args:
            logit: The logit.
        """
        return float(self.probabilities(np.array([logit]))[0])


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Folds of texts.

    Args:
        by: Property that parts the texts that a fit has seen from those that it predicts.
        fold: int64[n]; in time the part of each, from the earliest.
    """

    by: SplitBy
    fold: Int64s

    def parts(self) -> Iterator[tuple[Int64s, Int64s]]:
        """Positions of the texts to train on, and of those to predict.

        In time, each part but the first is predicted by a fit to the earlier ones.
        """
        for number in np.unique(self.fold).tolist():
            others = self.fold < number if self.by == "date" else self.fold != number
            if others.any():
                yield np.flatnonzero(others), np.flatnonzero(self.fold == number)


def split_texts(dates: Floats, authors: NDArray[np.uint64], texts: NDArray[np.uint64]) -> Split:
    """Split texts by time where nine in ten have a date, else by author where they are known, else by text.

    Equal texts, and texts of one author, are in one fold; those of one date are in one part. Texts without a date are
    in the first part, which is not predicted.

    Args:
        dates: float64[n]; NaN where unknown.
        authors: uint64[n]; 0 where unknown.
        texts: uint64[n], hashes of the texts.

    >>> nowhere, nobody = np.full(8, np.nan), np.zeros(8, np.uint64)
    >>> split_texts(np.arange(8.0), nobody, np.arange(8)).fold.tolist()
    [0, 0, 1, 1, 2, 3, 3, 4]
    >>> found = split_texts(nowhere, np.array([1, 1, 2, 3, 4, 5, 6, 7], np.uint64), np.arange(8, dtype=np.uint64))
    >>> found.by, found.fold.tolist()
    ('author', [0, 0, 1, 2, 3, 4, 0, 1])
    """
    if np.isfinite(dates).mean() >= MOSTLY and len(np.unique(dates)) > FOLDS:
        times = np.nan_to_num(dates, nan=-np.inf)
        return Split("date", np.searchsorted(np.sort(times), times) * FOLDS // len(times))
    if (authors > 0).mean() >= MOSTLY and len(np.unique(authors)) > FOLDS:
        return Split("author", _folds(np.where(authors > 0, authors, texts)))
    return Split("text", _folds(texts))


def _folds(groups: NDArray[np.uint64]) -> Int64s:
    """Folds of groups, by the order of their hashes, which has nothing to do with that of the rows."""
    return np.asarray(np.unique(groups, return_inverse=True)[1] % FOLDS)


def fitted(texts: DecidedTexts, targets: Booleans) -> LearnedWeights:
    """Fit logits to all texts.

    Args:
        texts: n texts.
        targets: bool[n, t], each with both outcomes; the first, which is fitted most closely, is the decision.

    Raises:
        MissingExtra: scikit-learn is not installed.
    """
    counts = texts.counts
    frequencies = np.bincount(counts.columns, minlength=2 * COLUMNS)
    columns = np.flatnonzero(frequencies)
    vocabulary = Vocabulary(columns.astype(np.uint32), idf_of(frequencies[columns], len(texts)), unseen_idf(len(texts)))
    places = vocabulary.places(counts.columns)
    weights = weighted(counts, places, vocabulary.idf, vocabulary.unseen)
    tolerances = [_TOLERANCE, *[_TOLERANCE_OF_REASONS] * (targets.shape[1] - 1)]
    rows, intercepts = fit_sparse_logistic(
        (counts.offsets, places, weights),
        len(columns),
        texts.dense,
        targets,
        inverse_penalty=_INVERSE_PENALTY,
        tolerances=tolerances,
    )
    return LearnedWeights(vocabulary, rows[:, : len(columns)], rows[:, len(columns) :], intercepts)


def cross_fitted(texts: DecidedTexts, targets: Booleans, split: Split) -> Floats:
    """Logits of texts by fits that have not seen them.

    Args:
        texts: n texts.
        targets: bool[n, t], the decision first.
        split: The folds.

    Returns:
        float64[n, t]; NaN where no fit predicts: the first part in time, and where what is trained on is of one kind.

    Raises:
        MissingExtra: scikit-learn is not installed.
    """
    logits = np.full(targets.shape, np.nan)
    for train, test in split.parts():
        learned = np.flatnonzero(targets[train].any(axis=0) & ~targets[train].all(axis=0))
        if len(learned):
            model = fitted(texts.take(train), targets[train][:, learned])
            logits[np.ix_(test, learned)] = model.logits(texts.take(test))
    return logits
