"""Linear models of interest, and scores of the passages of a page by them."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.interest.model.features import FEATURES, SHOWN, WHOLE, InterestPage
from postil.interest.page_scores import PageScores, standard
from postil.text.stop_words import stop_words
from postil.text.units import ngram_units

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.text.tokens import Tokens
    from postil.text.units import Units

__all__ = ["LANGUAGES", "UNTRAINED", "InterestModel", "page_scores"]

LANGUAGES: Final = frozenset({"en"})
"""Languages (ISO 639-1) whose cues and names the features know."""
COMMON: Final = "common words"
"""Name of stop words as reasons, which say nothing one by one."""


@dataclass(frozen=True, slots=True, eq=False)
class InterestModel:
    """Weights of a linear model of interest.

    Args:
        features: Weight of each standard deviation of a feature of `FEATURES` from the mean of the page.
        words: Weight of each word, and of each pair of adjacent words (``"first time"``), that a passage has.
        name: Name in specs and signatures: ``untrained``, or a hash of the weights.
    """

    features: Mapping[str, float]
    words: Mapping[str, float] = field(default_factory=dict)
    name: str = "untrained"


UNTRAINED: Final = InterestModel(MappingProxyType({"cues": 1.0, "names": 1.0, "overlap": 1.0, "length": 0.0}))
"""The sum of cues, names and overlap, each in standard deviations; nothing in it was learned."""


def page_scores(texts: Sequence[str], model: InterestModel = UNTRAINED, jobs: int = 1) -> PageScores:
    """Score the passages of a page by how interesting they are; 0 is the mean of the page.

    The score is ``sum_f w_f (x_f - mean_f) / sd_f`` over the features, plus the weights of the distinct words and pairs
    of the passage less their mean on the page. A feature that is the same in every passage counts nothing. Time and
    memory are linear in the length of the page.

    Args:
        texts: n passages, in English (`LANGUAGES`).
        model: The model.
        jobs: Number of threads; the scores do not depend on it.

    >>> page = ["Ely is a city.", "The cathedral of Ely has the longest nave.", "It rains.", ""]
    >>> found = page_scores(page)
    >>> found.scores.round(2).tolist()
    [0.0, 2.12, -2.12, -inf]
    >>> [(each.unit, round(each.part, 2)) for each in found.reasons(1)]
    [('superlative: longest', 2.12), ('name: Ely', 2.12)]
    >>> round(sum(each.part for each in found.reasons(1)) + found.constant, 2)
    2.12
    """
    page = InterestPage.of(texts, jobs)
    counted = page.tokens.lengths > 0
    values = page.features.values
    weights = np.array([model.features.get(name, 0.0) for name in FEATURES])
    scales = np.zeros(len(weights))
    centers = np.zeros(len(weights))
    for column in np.flatnonzero(weights):
        centers[column], scale = standard(values[:, column], counted)
        scales[column] = weights[column] * scale
    scores = values @ scales
    constant = float(-centers[:WHOLE] @ scales[:WHOLE])  # no unit has a part in the rest, so they have their means
    scores -= float(centers[WHOLE:] @ scales[WHOLE:])
    words = _Words.of(page.tokens, model.words) if model.words else None
    if words is not None:
        of_words = words.sums()
        scores += of_words
        constant -= float(of_words[counted].mean()) if counted.any() else 0.0

    def contributions(index: int) -> Iterator[tuple[str, float]]:
        for feature, unit, amount in page.features.parts(index):
            if scales[feature]:
                yield unit, amount * float(scales[feature])
        for feature, (below, above) in enumerate(SHOWN.values(), start=WHOLE):
            if scales[feature]:
                away = float(values[index, feature] - centers[feature])
                yield above if away > 0 else below, away * float(scales[feature])
        if words is not None:
            yield from words.parts(index)

    return PageScores(np.where(counted, scores + constant, -np.inf), constant, contributions)


@dataclass(frozen=True, slots=True, eq=False)
class _Words:
    """Words and pairs of a page with their weights.

    Args:
        known: Words of the page by their ids.
        units: Its words, and its pairs.
        weights: Weight of each distinct one, float64[U] each; 0 for those that the model does not know.
    """

    known: Sequence[str]
    units: tuple[Units, Units]
    weights: tuple[NDArray[np.float64], NDArray[np.float64]]

    @classmethod
    def of(cls, tokens: Tokens, known: Mapping[str, float]) -> _Words:
        words = tokens.vocabulary.words()
        of_words = np.array([known.get(word, 0.0) for word in words], np.float64)
        halves = {half for unit in known if " " in unit for half in unit.split(" ")}
        is_half = np.array([word in halves for word in words], bool)
        single, pairs = ngram_units(tokens, 1), ngram_units(tokens, 2)
        of_pairs = np.zeros(pairs.distinct)
        for at in np.flatnonzero(is_half[pairs.grams].all(axis=1)).tolist():
            first, second = pairs.grams[at].tolist()
            of_pairs[at] = known.get(f"{words[first]} {words[second]}", 0.0)
        return cls(words, (single, pairs), (of_words[single.grams[:, 0]], of_pairs))

    def sums(self) -> NDArray[np.float64]:
        """Sum of the weights of each passage, float64[n]."""
        out = np.zeros(len(self.units[0]))
        for units, weights in zip(self.units, self.weights, strict=True):
            rows = np.repeat(np.arange(len(units)), units.types)
            out += np.bincount(rows, weights[units.units], len(units))
        return out

    def parts(self, index: int) -> Iterator[tuple[str, float]]:
        """The weighted words and pairs of a passage; those of stop words alone have one name."""
        common = stop_words("en")
        for units, weights in zip(self.units, self.weights, strict=True):
            for unit in units.units[units.offsets[index] : units.offsets[index + 1]].tolist():
                if weights[unit]:
                    words = [self.known[word] for word in units.grams[unit].tolist()]
                    yield COMMON if common.issuperset(words) else " ".join(words), float(weights[unit])
