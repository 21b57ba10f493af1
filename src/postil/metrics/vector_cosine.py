"""vector-cosine: cosine of the summed vectors of texts; sentence-cosine: of the vectors of whole texts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from postil.encoders.sentences import sentence_encoder
from postil.errors import UsageError
from postil.metrics.vector_metric import AUTO, EncodedMetric, VectorMetric, VectorScorer
from postil.text.vectors import summed_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.encoders.base import Encoded
    from postil.encoders.sentences import SentenceEncoder
    from postil.metrics.background import DocumentFrequencies
    from postil.metrics.base import Scorer
    from postil.metrics.references import References

__all__ = ["SentenceCosine", "TextVectors", "VectorCosine"]

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
        return _VectorCosineScorer(self, references)


class TextVectors(NamedTuple):
    """One vector per text in single precision, of length 1 but for rounding, or 0.

    Args:
        rows: float32[t, d].
        lengths: float64[t], the lengths after rounding, so that a text has a cosine of 1 with itself.
    """

    rows: NDArray[np.float32]
    lengths: NDArray[np.float64]

    @classmethod
    def of_sums(cls, encoded: Encoded, weights: NDArray[np.float64]) -> TextVectors:
        """Sum the vectors of each distinct text's units.

        Args:
            encoded: The texts.
            weights: float64[u], factor of each unit.
        """
        texts = len(encoded.lengths)
        made = cls(np.empty((texts, encoded.vectors.shape[1]), np.float32), np.empty(texts))
        for begin in range(0, texts, BLOCK):  # those of all references in double precision would be twice as large
            some = slice(begin, begin + BLOCK)
            sums = summed_rows(encoded.vectors, encoded.rows, encoded.offsets[begin : begin + BLOCK + 1], weights)
            lengths = _lengths(sums)[:, None]
            made.rows[some] = np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0)
            made.lengths[some] = _lengths(made.rows[some].astype(np.float64))
        return made


class _VectorCosineScorer(VectorScorer[TextVectors]):
    """Cosine of summed vectors, bound to references; see `VectorScorer`."""

    def prepare(self, encoded: Encoded) -> TextVectors:
        """See `VectorScorer.prepare`."""
        _, lengths = encoded.normalized()
        return TextVectors.of_sums(encoded, self.weights(encoded, lengths))

    def without(self, texts: TextVectors) -> NDArray[np.bool_]:
        """See `VectorScorer.without`."""
        return np.asarray(texts.lengths == 0)

    def compare(
        self,
        own: TextVectors,
        theirs: TextVectors,
        pairs: tuple[NDArray[np.int32], NDArray[np.int32]],
        jobs: int,
    ) -> NDArray[np.float64]:
        """Column: the cosine."""
        del jobs
        return _pair_cosines(own, theirs, pairs)[:, None]

    def scores(self, compared: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `VectorScorer.scores`."""
        return np.asarray(np.clip(compared[:, 0], 0.0, 1.0))


def _pair_cosines(
    own: TextVectors, theirs: TextVectors, pairs: tuple[NDArray[np.int32], NDArray[np.int32]]
) -> NDArray[np.float64]:
    """Cosines of pairs of texts, float64[p], 0 for a zero vector; the bits of a pair do not depend on the others.

    Args:
        own: Vectors of texts.
        theirs: Vectors of texts.
        pairs: int32[p] and int32[p], rows of either.

    >>> one = TextVectors(np.eye(2, dtype=np.float32), np.ones(2))
    >>> _pair_cosines(one, one, (np.array([0, 0], np.int32), np.array([0, 1], np.int32))).tolist()
    [1.0, 0.0]
    """
    lefts, rights = pairs
    products = np.empty(len(lefts))
    for begin in range(0, len(lefts), BLOCK):
        some = slice(begin, begin + BLOCK)
        products[some] = (own.rows[lefts[some]].astype(np.float64) * theirs.rows[rights[some]]).sum(axis=1)
    lengths = own.lengths[lefts] * theirs.lengths[rights]
    return np.asarray(np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0))


def _lengths(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Lengths of rows, float64[n]."""
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=1)))


@dataclass(frozen=True, kw_only=True)
class SentenceCosine(EncodedMetric):
    """Cosine of the vectors that a sentence encoder gives two texts; a negative one is 0.

    ``F = max(0, u . v / (|u| |v|))``. Of several references ``max_j s_j F_j``. Corpus: mean of the items. In [0, 1];
    higher is better. A blank text scores 0.

    Args:
        model: Local folder of a model with ``modules.json``, or ``package:wordllama``; see
            `postil.encoders.sentences.sentence_encoder`. The spec has its name, signatures have a hash of its
            content.
        prefix: Text before each text, with a space, as some models want it: ``query:``.
        baseline: Score B of unrelated texts, below 1: F becomes ``max(0, (F - B) / (1 - B))``. ``auto``: the mean over
            1,000 pairs of references of different items; signatures have the number.
        over: Reference aggregation; see `postil.metrics.reference_aggregation.Over`.
        tau: Width of ``over=kernel``.

    Raises:
        UsageError: A parameter is out of range, or a path cannot stand in a spec; on scoring, no model is named or
            there is none.
        InvalidInput: On scoring, where the folder does not hold a model that can be read.
        Undefined: On scoring with ``baseline=auto``, where there is one item only.

    >>> from postil.metrics.spec import parse_metric
    >>> print(parse_metric("w-sentence-cosine(model=e5,prefix=query:,over=near)"))
    w-sentence-cosine(model=e5,prefix=query:,over=near)
    """

    model: str | None = None
    prefix: str | None = None
    baseline: str | None = None
    over: str = "max"
    tau: float | None = None

    def __post_init__(self) -> None:
        self.settle("model")

    @property
    def name(self) -> str:
        """See `Specified.name`."""
        return "sentence-cosine"

    @property
    def source(self) -> str | None:
        """See `EncodedMetric.source`."""
        return self.model

    @property
    def reads_all_references(self) -> bool:
        """See `Metric.reads_all_references`: only a baseline that is measured does."""
        return self.baseline == AUTO

    @property
    def signature(self) -> str:
        """See `Specified.signature`."""
        return str(self) if self.model is None else str(replace(self, model=self.encoder().name))

    def encoder(self) -> SentenceEncoder:
        """See `EncodedMetric.encoder`.

        Raises:
            UsageError, UnknownName, InvalidInput, MissingExtra: As `sentence_encoder`; or no model is named.
        """
        if self.model is None:
            raise UsageError("sentence-cosine needs a model: sentence-cosine(model=FOLDER), with a local folder")
        return sentence_encoder(self.model, self.prefix or "")

    def bind(self, references: References, background: DocumentFrequencies | None) -> Scorer:
        """See `Metric.bind`."""
        del background
        return _VectorCosineScorer(self, references)
