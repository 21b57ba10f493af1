"""Cosine of summed word vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from postil.data.ties import TOLERANCE, without_noise
from postil.errors import UsageError
from postil.metrics.passages.measures import Measure
from postil.text.vectors import Vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.metrics.passages.collection import PassageCollection, Preprocessing
    from postil.metrics.passages.pool import Pools
    from postil.text.vectors import Sums

__all__ = ["Cosine"]


@dataclass(frozen=True, kw_only=True)
class Cosine(Measure):
    """Cosine of the sum of a passage's word vectors and that of its reference's passages (equation 10).

    Words without a vector are ignored; stems have none, so it goes over the words before stemming. A word is looked up
    as it stands in the passage, and where it has no vector in lower case. A model over
    bigrams sums the vectors of pairs of adjacent words. With ``w-`` a passage's vector counts times its weight.
    Higher is better, -1 to 1; 0 where either sum is zero.

    Args:
        vectors: A folder that ``postil vectors`` wrote.

    The second passage points halfway between the words of the first, its reference:

    >>> import tempfile
    >>> from postil.metrics.passages.collection import PassageCollection
    >>> from postil.metrics.passages.pool import informativeness
    >>> from postil.text.tokens import Vocabulary
    >>> texts = Vocabulary().encode_tokens([["rain"], ["rain", "snow"]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Vectors(("rain", "snow"), np.eye(2, dtype=np.float32)).save(f"{folder}/v")
    ...     measure = Cosine(vectors=f"{folder}/v")
    ...     measure.values(PassageCollection(texts), informativeness([0, 0], [1, 0]).all_inside()).round(4).tolist()
    [1.0, 0.7071]
    """

    vectors: str | None = None

    @property
    def name(self) -> str:
        """See `Specified.name`."""
        return "cosine"

    def notes(self, collection: PassageCollection) -> tuple[str, ...]:
        """See `Measure.notes`."""
        model = self._model(collection)
        return (f"vectors:{model.signature}", *(["case:written"] if model.cased else []))

    def coverage(self, collection: PassageCollection, how: Preprocessing) -> str:
        """The share of words without a vector, and any other preprocessing that the vectors were trained with."""
        model, used = self._model(collection), how.word_facts
        trained = {key: str(model.metadata.get(key, value)) for key, value in used.items()}
        if not model.bigrams and trained.get("stop") == "none":
            trained["stop"] = used["stop"]  # single words keep their vectors when stop words are removed
        other = [key for key in trained if trained[key] != used[key]]
        there, here = (" and ".join(f"{key}:{facts[key]}" for key in other) for facts in (trained, used))
        units = "pairs of words" if model.bigrams else "words"
        found = f"{self._sums(collection).unknown:.1%} of the {units} have no vector"
        return f"{found}; trained with {there}, used with {here}" if other else found

    def values(self, collection: PassageCollection, pools: Pools, jobs: int = 1) -> NDArray[np.float64]:
        """See `Measure.values`.

        Raises:
            UsageError: No vectors are named.
            InvalidInput: The folder does not hold vectors.
        """
        del jobs
        sums = self._sums(collection).vectors
        pools, same = pools.distinct()
        offsets, places = pools.own_lists()
        weights = pools.weights if self.weighted else np.ones(len(pools.weights))
        out = np.empty(len(pools.texts))
        for pool in range(len(pools)):
            held = slice(pools.reference_offsets[pool], pools.reference_offsets[pool + 1])
            here = slice(pools.text_offsets[pool], pools.text_offsets[pool + 1])
            of_texts = sums[pools.texts[here]]
            own = offsets[here.start : here.stop + 1]
            number = np.diff(own)
            row = np.repeat(np.arange(len(of_texts)), number)
            leaving = np.bincount(row, weights[places[own[0] : own[-1]]], len(of_texts))
            whole = weights[held] @ sums[pools.references[held]]
            left = whole - leaving[:, None] * of_texts
            left[np.linalg.norm(left, axis=1) <= TOLERANCE * np.linalg.norm(whole)] = 0.0
            norms = np.linalg.norm(of_texts, axis=1) * np.linalg.norm(left, axis=1)
            cosines = np.zeros(len(of_texts))
            np.divide((of_texts * left).sum(axis=1), norms, out=cosines, where=norms > 0)
            cosines = without_noise(cosines, 1.0)
            nothing = number == held.stop - held.start
            out[here] = np.where(nothing, np.nan, cosines.clip(-1, 1))
        return out[same]

    def _model(self, collection: PassageCollection) -> Vectors:
        if not self.vectors:
            raise UsageError(f"{self.name} needs word vectors: {self.name}(vectors=FOLDER), made by postil vectors")
        return collection.kept(("vectors", self.vectors), lambda: Vectors.open(str(self.vectors)))

    def _sums(self, collection: PassageCollection) -> Sums:
        model = self._model(collection)
        return collection.kept(("sums", self.vectors), lambda: collection.vector_sums(model))
