"""Features of the passages of an English page."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.metrics.interest.cues import cues
from postil.metrics.interest.names import page_names
from postil.metrics.passage_collection import PassageCollection
from postil.text.stop_words import without_stop_words
from postil.text.tokenizers import tokenizer
from postil.text.tokens import Tokens, Vocabulary
from postil.text.units import ngram_units

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.text.units import Units

__all__ = ["FEATURES", "LENGTH", "Features", "InterestPage"]

FEATURES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "cues": "number of superlatives and of first, only, never",
        "names": "ln(1 + distinct names)",
        "overlap": "F1 over pairs of words with the other passages of the page, without stop words (f1-2)",
        "length": "ln(1 + words)",
    }
)
"""The features by name, with their formula; models read them in standard deviations from the mean of the page."""
LENGTH: Final = 3
"""Number of the feature that no unit of a passage has a part in."""


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """Features of n passages, and what they consist of.

    Args:
        texts: The passages.
        values: float64[n, 4], by `FEATURES`.
        names: Names of each passage.
        pairs: Pairs of words of each passage, without stop words.
        shared: bool[E], True for the entries of ``pairs`` that another passage of the page has.
        known: Words of the page, by the ids in ``pairs``.
    """

    texts: Sequence[str]
    values: NDArray[np.float64]
    names: Sequence[tuple[str, ...]]
    pairs: Units
    shared: NDArray[np.bool_]
    known: Sequence[str]

    def parts(self, index: int) -> Iterator[tuple[int, str, float]]:
        """Units of a passage: number of the feature, name for readers, and share in the feature's value.

        Args:
            index: The passage.
        """
        for cue in cues(self.texts[index]):
            yield 0, cue, 1.0
        names = self.names[index]
        for name in names:
            yield 1, f"name: {name}", float(self.values[index, 1]) / len(names)
        here = slice(self.pairs.offsets[index], self.pairs.offsets[index + 1])
        units = self.pairs.units[here][self.shared[here]]
        for gram in self.pairs.grams[units].tolist():
            pair = " ".join(self.known[word] for word in gram)
            yield 2, f"shares '{pair}' with the page", float(self.values[index, 2]) / len(units)


@dataclass(frozen=True, slots=True, eq=False)
class InterestPage:
    """The n passages of a page, as models of interest read them.

    Args:
        tokens: Words of the passages.
        features: Their features.
    """

    tokens: Tokens
    features: Features

    @classmethod
    def of(cls, texts: Sequence[str], jobs: int = 1) -> InterestPage:
        """Read a page.

        Args:
            texts: n passages.
            jobs: Number of threads; the result does not depend on it.

        >>> InterestPage.of(["The first boat left Ely.", "No boat left."]).features.values.round(2).tolist()
        [[1.0, 0.69, 0.5, 1.79], [0.0, 0.0, 0.5, 1.39]]
        """
        tokens = Vocabulary().encode(texts, tokenizer("words"), jobs, allow_han=True)
        words = without_stop_words(tokens, "en")
        pairs = ngram_units(words, 2)
        values = np.zeros((len(texts), len(FEATURES)))
        names = page_names(texts)
        values[:, 0] = [sum(1 for _ in cues(text)) for text in texts]
        values[:, 1] = np.log1p([len(each) for each in names])
        shared, values[:, 2] = _overlap(words, pairs)
        values[:, LENGTH] = np.log1p(tokens.lengths)
        return cls(tokens, Features(texts, values, names, pairs, shared, tokens.vocabulary.words()))


def _overlap(words: Tokens, pairs: Units) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """The pairs that each passage shares with the others, and F1: ``2 s / (U + s)``.

    Of U pairs of the page the passage shares s with passages that differ from it. The reference lacks the pairs that
    are its own alone, so ``|R| + |S| = U - (|S| - s) + |S|``: `postil.metrics.measures.FScore` in closed form.
    """
    same = np.array(PassageCollection(words).duplicates(), np.int64)
    copies = np.bincount(same, minlength=len(same))[same]
    rows = np.repeat(np.arange(len(pairs)), pairs.types)
    holders = np.bincount(pairs.units, minlength=pairs.distinct)
    shared = holders[pairs.units] > copies[rows]
    number = np.bincount(rows[shared], minlength=len(pairs)).astype(np.float64)
    return shared, 2 * number / np.maximum(pairs.distinct + number, 1.0)
