"""vector-f1: units matched by their vectors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from postil.kernel import greedy_matches
from postil.metrics.vector_metric import VectorMetric, VectorScorer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.encoders.base import Encoded
    from postil.metrics.background import DocumentFrequencies
    from postil.metrics.base import Scorer
    from postil.metrics.references import References

    WeightedUnits: TypeAlias = tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]]

__all__ = ["VectorF1"]


@dataclass(frozen=True, kw_only=True)
class VectorF1(VectorMetric):
    """F1 of units that are matched by their vectors, each with the most similar unit of the other text.

    With unit vectors x_i of the candidate and y_j of a reference, of length 1, and weights a_i and r_j of units,
    ``P = sum_i a_i max_j x_i . y_j / sum_i a_i``, ``R = sum_j r_j max_i x_i . y_j / sum_j r_j`` and
    ``F = 2 P R / (P + R)``, 0 where P + R is not positive: BERTScore's matching (Zhang et al. 2020, equations 1 to 3)
    on vectors that do not depend on their context. Of several references ``max_j s_j F_j``. Corpus: mean of the items.

    In [0, 1]; higher is better. Units without a vector are left out on both sides; a text without any that weighs
    something scores 0. Unrelated texts have an F well above 0, and longer ones a higher one: ``baseline=auto`` rescales
    that away, and ``w-vector-f1(weigh=idf,over=near,baseline=auto)`` is what graded references are best used with.

    Args:
        vectors: Folder of word vectors, whose units are the tokens; or of subword vectors (one matrix in a
            ``*.safetensors`` file, with ``tokenizer.json``), which split the texts themselves. The spec has its path,
            signatures have a hash of its content.
        weigh: Weights of units. ``none``: 1. ``idf``: ``ln((M + 1) / (df + 1))`` with M reference texts of which df
            have the unit, each text once for each item. ``norm``: the length of the vector before normalization, which
            is high for rare units.
        part: ``f``: F; ``p``: P; ``r``: R.
        baseline: Score B of unrelated texts, below 1: F becomes ``max(0, (F - B) / (1 - B))``. ``auto``: the mean over
            1,000 pairs of references of different items, drawn with a fixed seed; signatures have the number.
        over: Reference aggregation: ``max``, ``mean``, ``top-k``, such as ``top-3``, ``near`` or ``kernel``; see
            `postil.metrics.reference_aggregation.Over`.
        tau: Width of ``over=kernel``.

    Raises:
        UsageError: A parameter is out of range, or a path cannot stand in a spec; on scoring, no folder is named or
            there is none.
        InvalidInput: On scoring, where the folder does not hold vectors.
        Undefined: On scoring with ``baseline=auto``, where there is one item only, or all references are alike.

    ``a`` is at a right angle to ``b``, ``d`` is not: P = (0 + .8) / 2 and R = .8.

    >>> import tempfile, postil
    >>> from postil.text.vectors import Vectors
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Vectors(("a", "b", "d"), np.array([[1, 0], [0, 1], [3, 4]], dtype=np.float32)).save(f"{folder}/v")
    ...     spec = f"vector-f1(vectors={folder}/v)"
    ...     round(postil.score(["a d"], [["b"]], metrics=[spec]).corpus[spec], 6)
    0.533333
    """

    part: Literal["f", "p", "r"] = field(default="f", metadata={"brief": True})

    @property
    def name(self) -> str:
        """``vector-f1``."""
        return "vector-f1"

    def bind(self, references: References, background: DocumentFrequencies | None) -> Scorer:
        """See `Metric.against`."""
        del background
        return _VectorF1Scorer(self, references)


class _VectorF1Scorer(VectorScorer["WeightedUnits"]):
    metric: VectorF1

    def prepare(self, encoded: Encoded) -> WeightedUnits:
        unit, lengths = encoded.normalized()
        return _merged_units(unit, self.weights(encoded, lengths))

    def without(self, texts: WeightedUnits) -> NDArray[np.bool_]:
        _, _, offsets, weights = texts
        return np.asarray(np.diff(np.concatenate([[0], np.cumsum(weights > 0)])[offsets]) == 0)

    def compare(
        self, own: WeightedUnits, theirs: WeightedUnits, pairs: tuple[NDArray[np.int32], NDArray[np.int32]], jobs: int
    ) -> NDArray[np.float64]:
        """Columns: P and R."""
        return greedy_matches(own, theirs, pairs, jobs)

    def scores(self, compared: NDArray[np.float64]) -> NDArray[np.float64]:
        precision, recall = compared.T
        if self.metric.part != "f":
            return np.asarray(np.clip(precision if self.metric.part == "p" else recall, 0.0, 1.0))
        total = precision + recall
        f = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)
        return np.asarray(np.clip(f, 0.0, 1.0))

    def metric_part(self) -> str:
        return self.metric.part


def _merged_units(encoded: Encoded, weights: NDArray[np.float64]) -> WeightedUnits:
    """Distinct texts for `greedy_matches`, each unit once with the sum of its weights.

    Args:
        encoded: The texts, with vectors of length 1.
        weights: float64[u], the weight of each unit.

    >>> from postil.encoders.base import Encoded
    >>> two, rows = np.eye(2, dtype=np.float32), np.array([1, 0, 1, 1], np.int32)
    >>> encoded = Encoded(np.arange(2), np.array([0, 3, 4]), rows, rows.astype(int), two, np.zeros(2))
    >>> _, rows, offsets, weights = _merged_units(encoded, np.array([1.0, 2.0, 3.0, 4.0]))
    >>> rows.tolist(), offsets.tolist(), weights.tolist()
    ([0, 1, 1], [0, 2, 3], [2.0, 4.0, 4.0])
    """
    texts, most = len(encoded.lengths), max(1, len(encoded.vectors))
    key = np.repeat(np.arange(texts), encoded.lengths) * most + encoded.rows
    order = np.argsort(key, kind="stable")
    key = key[order]
    begins = np.flatnonzero(np.diff(key, prepend=-1))
    text, rows = np.divmod(key[begins], most)
    merged = np.add.reduceat(weights[order], begins) if len(begins) else np.zeros(0)
    offsets = np.searchsorted(text, np.arange(texts + 1))
    return encoded.vectors, rows.astype(np.int32), offsets, merged
