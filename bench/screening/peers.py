"""Other ways to screen: scikit-learn's logistic regression, and lists of words."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

import numpy as np

from postil.screening.filtering import CandidateFilter, reasons_to_hold
from postil.screening.reasons import find_profanity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from postil.kernel.arrays import Booleans, Floats
    from postil.screening.fit import Split

    Span = tuple[int, int]
    WordList = Callable[[list[str]], list[list[Span]]]

MOST_WORDS = 3
"""Largest number of words of an entry of the package's list that is looked for in a text."""


def scikit_learn() -> Any:
    """Logistic regression with C = 10 on sublinear TF-IDF of words 1-2 and characters within words 2-5."""
    text = importlib.import_module("sklearn.feature_extraction.text").TfidfVectorizer
    pipeline = importlib.import_module("sklearn.pipeline")
    logistic = importlib.import_module("sklearn.linear_model").LogisticRegression
    return pipeline.make_pipeline(
        pipeline.FeatureUnion(
            [
                ("words", text(sublinear_tf=True, ngram_range=(1, 2))),
                ("characters", text(sublinear_tf=True, analyzer="char_wb", ngram_range=(2, 5))),
            ]
        ),
        logistic(C=10, max_iter=1000),
    )


def cross_fitted_by_scikit_learn(texts: list[str], held: Booleans, split: Split) -> Floats:
    """Logits of texts by fits that have not seen them; NaN where none predicts."""
    found = np.full(len(texts), np.nan)
    for train, test in split.parts():
        model = scikit_learn().fit([texts[at] for at in train], held[train])
        found[test] = model.decision_function([texts[at] for at in test])
    return found


def reasons(texts: list[str]) -> Floats:
    """Number of the reasons to hold each text by the rules of the package, such as addresses and profanity."""
    settings = CandidateFilter()
    return np.array([float(len(reasons_to_hold(text, settings, ()))) for text in texts])


def packaged(texts: list[str]) -> list[list[Span]]:
    """Characters of the entries of the package's list, which are in English and Chinese."""
    return [[*_packaged(text)] for text in texts]


def _packaged(text: str) -> Iterator[Span]:
    bounds = words_of(text)
    for size in range(1, MOST_WORDS + 1):
        for at in range(len(bounds) - size + 1):
            span = bounds[at][0], bounds[at + size - 1][1]
            if find_profanity(text[span[0] : span[1]]) is not None:
                yield span


def words_of(text: str) -> list[Span]:
    """First character of each word between white space, and after its last, without punctuation around it."""
    found, end = [], 0
    for piece in text.split():
        begin = text.index(piece, end)
        end = begin + len(piece)
        inner = [at for at in range(begin, end) if text[at].isalnum()]
        if inner:
            found.append((inner[0], inner[-1] + 1))
    return found


def badwords(lang: str) -> WordList | None:
    """The lists of the package badwords-py in a language; None where it is not installed."""
    if importlib.util.find_spec("badwords") is None:
        return None
    lists = importlib.import_module("badwords").ProfanityFilter()
    lists.init([lang])
    return lambda texts: [[(one.start, one.end) for one in found] for found in lists.find_many(texts)]
