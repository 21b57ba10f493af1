"""Features of the passages of an English page."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.interest.model.cues import cues
from postil.interest.model.names import page_names
from postil.interest.model.word_lists import CONNECTIVES, PRONOUNS, WORD_LISTS
from postil.metrics.passages.collection import PassageCollection
from postil.text.stop_words import without_stop_words
from postil.text.tokenizers import tokenizer
from postil.text.tokens import Tokens, Vocabulary
from postil.text.units import ngram_units

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.text.units import Units

__all__ = ["FEATURES", "SHOWN", "WHOLE", "Features", "InterestPage"]

FEATURES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "cues": "number of superlatives and of first, only, never",
        "names": "ln(1 + distinct names)",
        "overlap": "F1 over pairs of words with the other passages of the page, without stop words (f1-2)",
        "telling": "ln(1 + distinct words for life and death, feelings, people, power, secrets and surprise)",
        "absolute": "ln(1 + distinct words such as every, nothing, world)",
        "contrast": "ln(1 + distinct words such as but, although, not)",
        "comparison": "ln(1 + distinct words such as than, more, older)",
        "present": "ln(1 + distinct words of is, are)",
        "pronoun": "1 if it begins with a word such as it, he, this",
        "connective": "1 if it begins with a word such as however, also, and",
        "brackets": "ln(1 + opening brackets)",
        "question": "1 if it ends with a question mark",
        "long": "words above 32",
        "length": "ln(1 + words)",
        "letters": "mean letters of a word",
        "new": "ln(1 + distinct words of four letters or more that no other passage has)",
    }
)
"""The features by name, with their formula; models read them in standard deviations from the mean of the page."""
WHOLE: Final = tuple(FEATURES).index("length")
"""Number of the first feature that no unit of a passage has a part in, as have all after it."""
SHOWN: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "length": ("brevity", "length"),
        "letters": ("short words", "long words"),
        "new": ("words that the page has elsewhere", "words that are new on the page"),
    }
)
"""Names of these features as reasons, of values below the mean of the page and above it."""
LONG: Final = 32
"""Number of words above which a sentence is long."""
NEW: Final = 4
"""Smallest number of letters of words that are counted as new."""
_CLOSING: Final = "\"'”’)] "
"""Marks behind the question mark of a question."""


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """Features of n passages, and what they consist of.

    Args:
        texts: The passages.
        values: float64[n, features], by `FEATURES`.
        names: Names of each passage.
        pairs: Pairs of words of each passage, without stop words.
        shared: bool[E], True for the entries of ``pairs`` that another passage of the page has.
        words: Words of each passage.
        listed: By feature of `WORD_LISTS`, True for the words of the page that are on its list.
        known: Words of the page, by the ids in ``pairs`` and ``words``.
    """

    texts: Sequence[str]
    values: NDArray[np.float64]
    names: Sequence[tuple[str, ...]]
    pairs: Units
    shared: NDArray[np.bool_]
    words: Units
    listed: Mapping[str, NDArray[np.bool_]]
    known: Sequence[str]

    def parts(self, index: int) -> Iterator[tuple[int, str, float]]:
        """Units of a passage: number of the feature, name for readers, and share in the feature's value.

        Args:
            index: The passage.
        """
        for feature, units in enumerate(self._units(index)):
            value = float(self.values[index, feature])
            for unit in units if value else ():
                yield feature, unit, value / len(units)

    def _units(self, index: int) -> Iterator[list[str]]:
        """Units of a passage by feature, which share its value equally."""
        text = self.texts[index]
        yield list(cues(text))
        yield [f"name: {name}" for name in self.names[index]]
        here = slice(self.pairs.offsets[index], self.pairs.offsets[index + 1])
        grams = self.pairs.grams[self.pairs.units[here][self.shared[here]]]
        yield [f"shares '{' '.join(self.known[word] for word in gram)}' with the page" for gram in grams.tolist()]
        words = self.words.units[self.words.offsets[index] : self.words.offsets[index + 1]]
        ids = self.words.grams[words, 0]
        for name, listed in self.listed.items():
            yield [WORD_LISTS[name].reason(self.known[word]) for word in ids[listed[ids]].tolist()]
        opening = self.known[ids[0]] if len(ids) else ""
        yield [f"{PRONOUNS.shown} '{opening}'"]
        yield [f"{CONNECTIVES.shown} '{opening}'"]
        yield ["brackets"]
        yield ["question"]
        yield [f"longer than {LONG} words"]


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

        >>> page = InterestPage.of(["The first boat left Ely.", "It sank."])
        >>> dict(zip(FEATURES, page.features.values[1].round(2).tolist(), strict=True))["telling"]
        0.69
        """
        tokens = Vocabulary().encode(texts, tokenizer("words"), jobs, allow_han=True)
        stripped = without_stop_words(tokens, "en")
        pairs, words = ngram_units(stripped, 2), ngram_units(tokens)
        known = tokens.vocabulary.words()
        names = page_names(texts)
        shared, overlap = _overlap(stripped, pairs)
        listed = {name: some.holds(known) for name, some in WORD_LISTS.items()}
        columns = [
            np.array([sum(1 for _ in cues(text)) for text in texts], np.float64),
            np.log1p([len(each) for each in names]),
            overlap,
            *(np.log1p(_sums(words, some.astype(np.float64))) for some in listed.values()),
            *_openings(tokens, known),
            np.log1p([text.count("(") + text.count("[") for text in texts]),
            np.array([text.rstrip(_CLOSING).endswith("?") for text in texts], np.float64),
            np.maximum(tokens.lengths - float(LONG), 0.0),
            np.log1p(tokens.lengths),
            *_vocabulary(tokens, words, known),
        ]
        values = np.stack(columns, axis=1) if texts else np.zeros((0, len(FEATURES)))
        return cls(tokens, Features(texts, values, names, pairs, shared, words, listed, known))


def _sums(units: Units, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum of the weights of the distinct words of each text; float64[words of the page] are the weights."""
    rows = np.repeat(np.arange(len(units)), units.types)
    return np.asarray(np.bincount(rows, weights[units.grams[units.units, 0]], len(units)), np.float64)


def _openings(tokens: Tokens, known: Sequence[str]) -> Iterator[NDArray[np.float64]]:
    """1 for the texts whose first word is a pronoun, then for those whose first word is a connective."""
    begun = tokens.lengths > 0
    first = tokens.ids[tokens.offsets[:-1][begun]]
    for some in (PRONOUNS, CONNECTIVES):
        out = np.zeros(len(tokens))
        out[begun] = some.holds(known)[first]
        yield out


def _vocabulary(tokens: Tokens, words: Units, known: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean number of letters of the words of each text, and ln(1 + new words)."""
    letters = np.array([len(word) for word in known], np.float64)
    rows = np.repeat(np.arange(len(tokens)), tokens.lengths)
    mean = np.bincount(rows, letters[tokens.ids], len(tokens)) / np.maximum(tokens.lengths, 1)
    holders = np.zeros(len(known))
    np.add.at(holders, words.grams[words.units, 0], 1.0)
    new = _sums(words, ((holders == 1) & (letters >= NEW)).astype(np.float64))
    return mean, np.log1p(new)


def _overlap(words: Tokens, pairs: Units) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """The pairs that each passage shares with the others, and F1: ``2 s / (U + s)``.

    Of U pairs of the page the passage shares s with passages that differ from it. The reference lacks the pairs that
    are its own alone, so ``|R| + |S| = U - (|S| - s) + |S|``: `postil.metrics.passages.measures.FScore` in closed form.
    """
    same = np.array(PassageCollection(words).duplicates(), np.int64)
    copies = np.bincount(same, minlength=len(same))[same]
    rows = np.repeat(np.arange(len(pairs)), pairs.types)
    holders = np.bincount(pairs.units, minlength=pairs.distinct)
    shared = holders[pairs.units] > copies[rows]
    number = np.bincount(rows[shared], minlength=len(pairs)).astype(np.float64)
    return shared, 2 * number / np.maximum(pairs.distinct + number, 1.0)
