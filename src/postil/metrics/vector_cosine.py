"""vector-cosine: cosine of the summed vectors of texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.metrics.vector_metric import VectorMetric, VectorScorer
from postil.text.vectors import summed_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.metrics.background import DocumentFrequencies
    from postil.metrics.base import Scorer
    from postil.metrics.references import References
    from postil.text.encoders import Encoded

__all__ = ["VectorCosine", "VectorCosineScorer", "pair_cosines", "unit_rows"]

BLOCK: Final = 4096
"""Number of pairs that are multiplied together, and of texts that are summed together."""


@dataclass(frozen=True, kw_only=True)
class VectorCosine(VectorMetric):
    """Cosine of the summed vectors of two texts; a negative one is 0.

    ``F = max(0, u . v / (|u| |v|))`` with ``u = sum_i a_i x_i`` over the units of the candidate, v of a reference, and
    the vectors as long as they are. Of several references ``max_j s_j F_j``. Corpus: mean of the items. In [0, 1];
    higher is better. Units without a vector are left out; a text whose sum is zero scores 0.

    Args:
        vectors: Folder of vectors, as for ``vector-f1``.
        weigh: Weights of units. ``none``: 1. ``idf``: ``ln((M + 1) / (df + 1))``, as for ``vector-f1``. ``norm``: the
            length of the vector once more.
        baseline: Score of unrelated texts, as for ``vector-f1``.
        over: Reference aggregation, as for ``vector-f1``.
        tau: Width of ``over=kernel``.

    Raises:
        UsageError, InvalidInput, Undefined: As `VectorF1`.

    The sum of ``a`` and ``d`` is (4, 4), half a right angle from ``b``:

    >>> import tempfile, postil
    >>> from postil.text.vectors import Vectors
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Vectors(("a", "b", "d"), np.array([[1, 0], [0, 1], [3, 4]], dtype=np.float32)).save(f"{folder}/v")
    ...     spec = f"vector-cosine(vectors={folder}/v)"
    ...     round(postil.score(["a d"], [["b"]], metrics=[spec]).corpus[spec], 6)
    0.707107
    """

    @property
    def name(self) -> str:
        """``vector-cosine``."""
        return "vector-cosine"

    def bind(self, references: References, background: DocumentFrequencies | None) -> Scorer:
        """See `Metric.against`."""
        del background
        return VectorCosineScorer(self, references)


class VectorCosineScorer(VectorScorer["NDArray[np.float32]"]):
    """Cosine of summed vectors, bound to references; see `VectorScorer`."""

    def prepare(self, encoded: Encoded) -> NDArray[np.float32]:
        """See `VectorScorer.prepare`: the sums, of length 1."""
        _, lengths = encoded.normalized()
        weights = self.weights(encoded, lengths)
        texts = len(encoded.lengths)
        out = np.empty((texts, encoded.vectors.shape[1]), np.float32)
        for begin in range(0, texts, BLOCK):  # the sums of all references in double precision would be twice as large
            offsets = encoded.offsets[begin : begin + BLOCK + 1]
            out[begin : begin + BLOCK] = unit_rows(summed_rows(encoded.vectors, encoded.rows, offsets, weights))
        return out

    def without(self, texts: NDArray[np.float32]) -> NDArray[np.bool_]:
        """See `VectorScorer.without`."""
        return np.asarray(~texts.any(axis=1))

    def compare(
        self,
        own: NDArray[np.float32],
        theirs: NDArray[np.float32],
        pairs: tuple[NDArray[np.int32], NDArray[np.int32]],
        jobs: int,
    ) -> NDArray[np.float64]:
        """Column: the cosine."""
        del jobs
        return pair_cosines(own, theirs, pairs)[:, None]

    def scores(self, compared: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `VectorScorer.scores`."""
        return np.asarray(np.clip(compared[:, 0], 0.0, 1.0))


def unit_rows(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Vectors of length 1 in the direction of others, float64[n, d]; a zero vector stays zero.

    Args:
        vectors: float64[n, d].

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    lengths = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    return np.asarray(np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0))


def pair_cosines(
    own: NDArray[np.float32], theirs: NDArray[np.float32], pairs: tuple[NDArray[np.int32], NDArray[np.int32]]
) -> NDArray[np.float64]:
    """Dot products of pairs of rows, float64[p]; the bits of a pair do not depend on the others.

    Args:
        own: float32[n, d], vectors of length 1.
        theirs: float32[m, d], the same.
        pairs: int32[p] and int32[p], rows of either.

    >>> one = np.eye(2, dtype=np.float32)
    >>> pair_cosines(one, one, (np.array([0, 0], np.int32), np.array([0, 1], np.int32))).tolist()
    [1.0, 0.0]
    """
    lefts, rights = pairs
    out = np.empty(len(lefts))
    for begin in range(0, len(lefts), BLOCK):
        some = slice(begin, begin + BLOCK)
        out[some] = (own[lefts[some]].astype(np.float64) * theirs[rights[some]]).sum(axis=1)
    return out
