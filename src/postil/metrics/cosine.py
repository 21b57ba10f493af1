"""Cosine of summed word vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from postil.errors import UsageError
from postil.metrics.measures import Measure
from postil.records.ties import TOLERANCE, without_noise
from postil.text.vectors import Vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.metrics.measures import Collection
    from postil.metrics.pool import Pools
    from postil.text.vectors import Sums

__all__ = ["Cosine"]


@dataclass(frozen=True, kw_only=True)
class Cosine(Measure):
    """Cosine of the sum of a passage's word vectors and that of its reference's passages (equation 10).

    Words without a vector are passed over; stems have none, so it goes over the words before stemming. A model over
    bigrams sums the vectors of pairs of adjacent words. With ``w-`` a passage's vector counts times its weight. High is
    good, -1 to 1; 0 where either sum is zero.

    Args:
        vectors: A folder that ``postil vectors`` wrote.

    The second passage points halfway between the words of the first, its reference:

    >>> import tempfile
    >>> from postil.metrics.measures import Collection
    >>> from postil.metrics.pool import informativeness
    >>> from postil.text import Vocabulary
    >>> texts = Vocabulary().encode_tokens([["rain"], ["rain", "snow"]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Vectors(("rain", "snow"), np.eye(2, dtype=np.float32)).save(f"{folder}/v")
    ...     measure = Cosine(vectors=f"{folder}/v")
    ...     measure.values(Collection(texts), informativeness([0, 0], [1, 0]).all_inside()).round(4).tolist()
    [1.0, 0.7071]
    """

    vectors: str | None = None

    @property
    def name(self) -> str:
        """See `Specified.name`."""
        return "cosine"

    def notes(self, collection: Collection) -> tuple[str, ...]:
        """See `Measure.notes`."""
        return (f"vectors:{self._model(collection).signature}",)

    def unknown(self, collection: Collection) -> float:
        """The share of the collection's words, or pairs of words, that have no vector, 0 to 1.

        Args:
            collection: The passages.
        """
        return float(self._sums(collection).unknown)

    def values(self, collection: Collection, pools: Pools, jobs: int = 1) -> NDArray[np.float64]:
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

    def _model(self, collection: Collection) -> Vectors:
        if not self.vectors:
            raise UsageError(f"{self.name} needs word vectors: {self.name}(vectors=FOLDER), made by postil vectors")
        return collection.kept(("vectors", self.vectors), lambda: Vectors.open(str(self.vectors)))

    def _sums(self, collection: Collection) -> Sums:
        model = self._model(collection)
        return collection.kept(("sums", self.vectors), lambda: model.sums(collection.words))
