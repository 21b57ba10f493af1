"""Results of `postil vectors`."""

from __future__ import annotations

from postil.data.parts import Part
from postil.results.base import Result

__all__ = ["NearWord", "VectorsResult"]


class NearWord(Part, frozen=True, kw_only=True):
    """A near neighbor of a word by the cosine of their vectors."""

    word: str
    near: str
    cosine: float


class VectorsResult(Result, frozen=True, kw_only=True, tag="vectors"):
    """A folder of word vectors.

    Args:
        words: Number of words, or of bigrams.
        dimensions: Length of a vector.
        signature: Signature of the vectors, as scores have it.
        made: Metadata of the folder: spec, seed, hashes, versions.
        nearest: Near neighbors of the requested words, nearest first.
        first: The first words of the vocabulary.
    """

    words: int
    dimensions: int
    signature: str
    made: dict[str, object]
    nearest: tuple[NearWord, ...]
    first: tuple[str, ...] = ()
