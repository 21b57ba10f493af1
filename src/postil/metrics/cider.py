"""CIDEr and CIDEr-D."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from postil.kernel import cider
from postil.metrics.background import DocumentFrequencies, frequencies_of
from postil.metrics.base import PairwiseScorer, Scorer, TokenMetric
from postil.metrics.references import Matches, References, check_order, check_positive

if TYPE_CHECKING:
    from numpy.typing import NDArray


__all__ = ["Cider", "CiderD"]


@dataclass(frozen=True, kw_only=True)
class Cider(TokenMetric):
    """CIDEr: consensus with the references by tf-idf n-grams.

    ``1/K sum_{n=1..N} 1/N sum_j s_j cos(g^n(c), g^n(r_j))`` over the K references (Vedantam et al. 2015; with weights:
    Qin et al. 2018, supplement B.5), g^n the n-grams' counts times ``log(items) - log(max(1, df))``. Corpus: mean of
    the items.

    This is the definition of the paper, a tenth of what its first implementation prints. CIDEr of pycocoevalcap is
    `CiderD`.

    In [0, 1]; higher is better; an empty candidate scores 0. Divided by K, not by the sum of weights. The idf comes
    from the references, item by item, or from a `DocumentFrequencies`; one item alone has none.

    Args:
        order: N, length of the longest n-gram, 1 to 9.

    Raises:
        UsageError: The order is out of range.

    >>> import postil
    >>> references = [["one two three four"], ["five six seven eight"]]
    >>> postil.score(["one two three four", "five six nine ten"], references, metrics=["cider"]).items["cider"].round(4)
    array([1.    , 0.2083])
    """

    order: int = 4
    name: ClassVar[str] = "cider"
    aggregation: ClassVar[Literal["mean", "sums"]] = "mean"

    def __post_init__(self) -> None:
        check_order(self.name, self.order)

    @property
    def idf_order(self) -> int:
        """See `Metric.idf_order`."""
        return self.order

    def bind(self, references: References, background: DocumentFrequencies | None) -> Scorer:
        """See `Metric.against`."""
        return _CiderScorer(self, references, background)


@dataclass(frozen=True, kw_only=True)
class CiderD(Cider):
    """CIDEr-D: CIDEr with clipped counts and a length penalty, harder to game; pycocoevalcap's ``Cider``.

    As `Cider`, but a candidate's n-gram counts at most as often as in the reference, each cosine is multiplied by
    ``exp(-(l_c - l_r)^2 / (2 sigma^2))`` with lengths in bigrams, and the whole by 10. With all weights 1 the numbers
    are pycocoevalcap's exactly.

    In [0, 10]; higher is better; an empty candidate scores 0. The idf is that of `Cider`.

    Args:
        order: N, length of the longest n-gram, 1 to 9.
        sigma: Width of the Gaussian on the difference of lengths, in bigrams; 1e-6 to 1e6.

    Raises:
        UsageError: A parameter is out of range.

    >>> import postil
    >>> references = [["one two three four"], ["five six seven eight"]]
    >>> postil.score(["one two three four", "five six"], references, metrics=["cider-d"]).items["cider-d"].round(4)
    array([10.    ,  3.0376])
    """

    sigma: float = 6.0
    high: ClassVar[float] = 10.0
    name: ClassVar[str] = "cider-d"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(self.name, "sigma", self.sigma)


class _CiderScorer(PairwiseScorer):
    def __init__(self, metric: Cider, references: References, background: DocumentFrequencies | None) -> None:
        super().__init__(metric, references)
        self._order = metric.order
        self._frequencies = frequencies_of(references, metric.order, background)
        self._sigma = metric.sigma if isinstance(metric, CiderD) else 0.0

    @property
    def notes(self) -> tuple[str, ...]:
        known = self._frequencies
        return (f"background:{known.signature}", *([f"documents:{known.documents}"] if known.documents else []))

    def measure(self, matches: Matches) -> NDArray[np.float64]:
        return self._stats(self._sums(matches, self.references.weights), np.diff(self.references.offsets)[matches.sets])

    def pairs(self, matches: Matches) -> NDArray[np.float64]:
        return self._sums(matches, np.ones(len(self.references.tokens)))

    def joined(
        self, pairs: NDArray[np.float64], weights: NDArray[np.float64], bounds: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        counts = np.diff(bounds)
        row = np.repeat(np.arange(len(counts)), counts)
        sums = np.zeros((len(counts), self._order))
        for column, cosines in enumerate(pairs.T):
            sums[:, column] = np.bincount(row, cosines * weights, len(counts))
        return self._stats(sums, counts)

    def _sums(self, matches: Matches, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        known = self._frequencies
        sums = cider(matches.words, weights, known.grams, known.norms, self._sigma, matches.jobs)
        return sums.reshape(len(matches), self._order)

    def _stats(self, sums: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
        total = np.add.accumulate(sums, axis=1)[:, -1]  # one order after the other, whatever the layout in memory
        values = total / self._order / counts * (10.0 if self._sigma else 1.0)
        return np.stack([values, np.ones_like(values)], axis=1)
