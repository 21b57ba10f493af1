"""chrF and chrF++: F-measures of character n-grams, and of some word n-grams."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Final, Literal

import numpy as np

from postil.errors import UsageError
from postil.kernel import ngram_matches
from postil.metrics.base import EachPairScorer, Metric, Scorer
from postil.metrics.reference_aggregation import first_best
from postil.metrics.references import Characters, Cut, MarkedWords, Matches, References, check_order, check_positive

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.metrics.background import DocumentFrequencies

__all__ = ["Chrf"]

EPS: Final = 1e-16
"""Precision, recall or F-measure of an order that does not exist, with ``smooth=eps``."""


@dataclass(frozen=True, kw_only=True)
class Chrf(Metric):
    """chrF, and with ``words=2`` chrF++: the F-measure of the mean precision and recall of n-grams.

    With m_n matches of the n-grams of order n, each at most as often as both texts have it, ``P`` is the mean of
    ``m_n / n-grams of c`` and ``R`` of ``m_n / n-grams of r`` over the orders for which both texts are long enough, and
    ``F = (1 + beta^2) P R / (R + beta^2 P)`` (Popović 2015; with words: Popović 2017). Orders are those of characters,
    1 to ``order``, and those of words, 1 to ``words``. The texts themselves are read, whatever the tokenizer; of a list
    of tokens its tokens joined by spaces.

    Of several references the one with the highest ``s_j F_j`` counts, of equal ones the first. Its m_n are multiplied
    by s_j, and so are P, R and F; the score of an item is ``max_j s_j F_j``. Corpus: the statistics are summed. With
    all weights 1 sacreBLEU's numbers exactly, divided by 100. In [0, 1]; higher is better; an empty candidate scores 0
    (with ``smooth=eps`` less than 1e-15).

    Args:
        order: Length of the longest n-gram of characters, 1 to 9.
        words: Length of the longest n-gram of words, 0 to 9; 2 is chrF++. Words are what is between white space; a
            punctuation mark at the end of one, else at its begin, is a word of its own.
        beta: Weight of recall; 1e-6 to 1e6.
        lowercase: True to compare lower-cased texts.
        whitespace: True to keep white space among the characters.
        smooth: ``none``: orders for which a text is too short are left out of the means; sacreBLEU's default. ``eps``:
            the mean of the F-measures of all orders, with 1e-16 where one does not exist; its ``eps_smoothing``.

    Raises:
        UsageError: A parameter is out of range.

    Characters ``a``, ``b`` and ``ab`` match: P = (2/3 + 1/2) / 2, R = (2/2 + 1/1) / 2:

    >>> import postil
    >>> round(postil.score(["abx"], [["a b"]], metrics=["chrf(order=2,beta=1)"]).corpus["chrf(order=2,beta=1)"], 4)
    0.7368
    """

    order: int = 6
    words: int = 0
    beta: float = 2.0
    lowercase: bool = field(default=False, metadata={"brief": True})
    whitespace: bool = field(default=False, metadata={"brief": True})
    smooth: Literal["none", "eps"] = field(default="none", metadata={"brief": True})
    reads_texts: ClassVar[bool] = True
    reads_tokens: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_order(self.name, self.order)
        if not 0 <= self.words <= 9:
            raise UsageError(f"{self.name}: words: expected 0 to 9, got {self.words}")
        check_positive(self.name, "beta", self.beta)

    @property
    def name(self) -> str:
        """``chrf``, or ``chrf++`` with words of order 2."""
        return "chrf++" if self.words == 2 else "chrf"

    @property
    def width(self) -> int:
        """See `Metric.width`."""
        return 3 * (self.order + self.words)

    def score(self, stats: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Metric.score`."""
        factor = self.beta**2
        precisions, recalls, orders, mean_f = (np.zeros(len(stats)) for _ in range(4))
        for n in range(0, self.width, 3):
            own, theirs, matched = stats[:, n : n + 3].T
            precision = np.divide(matched, own, out=np.full(len(stats), EPS), where=own > 0)
            recall = np.divide(matched, theirs, out=np.full(len(stats), EPS), where=theirs > 0)
            mean_f += _f(precision, recall, factor, EPS)
            both = (own > 0) & (theirs > 0)
            precisions += np.where(both, precision, 0.0)
            recalls += np.where(both, recall, 0.0)
            orders += both
        if self.smooth == "eps":
            return mean_f / (self.order + self.words)
        orders = np.maximum(orders, 1.0)
        return _f(precisions / orders, recalls / orders, factor, 0.0)

    def bind(self, references: References, _background: DocumentFrequencies | None) -> Scorer:
        """See `Metric.against`."""
        return _ChrfScorer(self, references)


class _ChrfScorer(EachPairScorer):
    metric: Chrf

    def pairs(self, matches: Matches) -> NDArray[np.float64]:
        """Columns, for each order: n-grams of the candidate, n-grams of the reference, matches."""
        metric = self.metric
        counts = [_counts(matches, Characters(lowercase=metric.lowercase, whitespace=metric.whitespace), metric.order)]
        if metric.words:
            counts.append(_counts(matches, MarkedWords(lowercase=metric.lowercase), metric.words))
        return np.concatenate(counts, axis=1)

    def joined(
        self, pairs: NDArray[np.float64], weights: NDArray[np.float64], bounds: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        best = first_best(weights * self.metric.score(pairs), bounds)
        stats = pairs[best]
        stats[:, 2::3] *= weights[best, None]
        return stats


def _counts(matches: Matches, cut: Cut, order: int) -> NDArray[np.float64]:
    """Statistics of each pair in orders 1 to ``order``, float64[pairs, 3 order]."""

    def count() -> NDArray[np.float64]:
        pieces = matches.pieces(cut)
        matched = pieces.count(lambda overlap, *_: ngram_matches(overlap, order, -1, matches.jobs))
        bounds, reference = matches.references.pairs(matches.sets)
        shorter = np.arange(order)
        own = np.maximum(pieces.candidates.tokens.lengths[:, None] - shorter, 0)
        own = np.repeat(own, np.diff(bounds), axis=0)
        theirs = np.maximum(pieces.references.tokens.lengths[:, None] - shorter, 0)[reference]
        own = np.where(theirs > 0, own, 0)  # as sacreBLEU, whose sums leave out what has no counterpart
        return np.stack([own, theirs, matched], axis=2).reshape(len(matched), 3 * order).astype(np.float64)

    return matches.once((cut, order), count)


def _f(
    precision: NDArray[np.float64], recall: NDArray[np.float64], factor: float, nothing: float
) -> NDArray[np.float64]:
    above, below = (1 + factor) * precision * recall, factor * precision + recall
    return np.asarray(np.divide(above, below, out=np.full(len(below), nothing), where=below > 0))
