"""sentence-cosine: cosine of the vectors of whole texts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from postil.encoders.sentences import sentence_encoder
from postil.errors import UsageError
from postil.metrics.vector_cosine import VectorCosineScorer
from postil.metrics.vector_metric import AUTO, EncodedMetric

if TYPE_CHECKING:
    from postil.encoders.sentences import SentenceEncoder
    from postil.metrics.background import DocumentFrequencies
    from postil.metrics.base import Scorer
    from postil.metrics.references import References

__all__ = ["SentenceCosine"]


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
        return VectorCosineScorer(self, references)
