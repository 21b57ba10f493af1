"""ROUGE-L, and ROUGE over n-grams and skip-bigrams."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from postil.errors import UsageError
from postil.kernel import rouge_l, rouge_n
from postil.metrics.base import Metric, PairwiseScorer, Scorer, alignable
from postil.metrics.reference_aggregation import AggregatingScorer, check_over

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.metrics.background import DocumentFrequencies
    from postil.metrics.references import Matches, References

__all__ = ["RougeL", "RougeN"]


@dataclass(frozen=True, kw_only=True)
class RougeL(Metric):
    """ROUGE-L: an F-measure on the longest common subsequence with the references.

    ``F = (1 + beta^2) P R / (R + beta^2 P)`` (Lin 2004; with weights: Qin et al. 2018, supplement B.4). Corpus: mean of
    the items. In [0, 1]; higher is better; an empty candidate scores 0. Words must come in order, but need not be
    adjacent. Time grows with the product of the lengths: half a minute for two texts of a million words.

    Args:
        reading: Combination of several references.

            - ``max``: ``P = max_j s_j LCS_j / |c|`` and ``R = max_j s_j LCS_j / |r_j|``, each on its own; with all
              weights 1 pycocoevalcap's number exactly.
            - ``union``: a candidate word counts ``max_j s_j`` over the references whose LCS covers it (of several LCSs
              the leftmost in the candidate); P divides their sum by ``|c|``, R by the closest reference length and is
              at most 1. With one reference and weight 1 it is Lin's.
        beta: Weight of recall; above 0.
        over: Reference aggregation, from scores of single references to one score. ``max``: as ``reading`` says.
            ``mean``: ``1/K sum_j s_j F_j`` with P and R of each reference by itself. ``top-k``, such as ``top-3``: the
            mean of the k highest ``s_j F_j``. ``near``: the similarity-weighted mean of the weights. It is not for
            references that get worse as the text gets better (leave-one-out, halves), nor for many references with few
            distinct weights; see `postil.metrics.reference_aggregation.AggregatingScorer`. All but ``max`` do not go
            with ``reading=union``.

    Raises:
        UsageError: beta is out of range, or ``over`` is none of these or does not go with the reading.
        InvalidInput: On scoring with ``reading=union``, where two texts have some 200,000 words each or more.

    The longest common subsequence is ``a c``, so P = 2/3 and R = 2/4:

    >>> import postil
    >>> references, specs = [["a b c d"]], ["rouge-l(beta=1)", "w-rouge-l(beta=1)"]
    >>> result = postil.score(["a c b"], references, weights=[[0.5]], metrics=specs)
    >>> [round(score, 4) for score in result.corpus.values()]
    [0.5714, 0.2857]
    """

    reading: Literal["max", "union"] = "max"
    beta: float = 1.2
    over: str = "max"

    def __post_init__(self) -> None:
        if not 0.0 < self.beta < 1e6:
            raise UsageError(f"rouge-l: beta: expected a positive number, got {self.beta}")
        check_over(self.name, self.over)
        if self.over != "max" and self.reading == "union":
            raise UsageError(f"rouge-l: reading=union joins the references, and leaves over={self.over} nothing")

    @property
    def name(self) -> str:
        """``rouge-l``."""
        return "rouge-l"

    @property
    def aggregation(self) -> Literal["mean", "sums"]:
        """See `Metric.aggregation`."""
        return "mean"

    def bind(self, references: References, background: DocumentFrequencies | None) -> Scorer:
        """See `Metric.against`."""
        del background
        if self.over != "max":
            return AggregatingScorer(self, self.over, references, replace(self, over="max", weighted=False))
        return (_UnionScorer if self.reading == "union" else _RougeLScorer)(self, references)


class _UnionScorer(Scorer):
    metric: RougeL

    def measure(self, matches: Matches) -> NDArray[np.float64]:
        metric = self.metric
        with alignable(metric):
            values = rouge_l(
                matches.words, self.references.weights, metric.beta**2, metric.reading == "union", matches.jobs
            )
        return np.stack([values, np.ones_like(values)], axis=1)


class _RougeLScorer(_UnionScorer, PairwiseScorer):
    def pairs(self, matches: Matches) -> NDArray[np.float64]:
        """Columns: P and R."""
        own = np.diff(matches.candidates.offsets)
        theirs = np.diff(matches.references.tokens.offsets)[matches.references.offsets[matches.sets]]
        unweighted = np.ones(len(matches.references.tokens))
        f1 = rouge_l(matches.words, unweighted, 1.0, False, matches.jobs)  # noqa: FBT003
        common = np.rint(f1 * (own + theirs) / 2)  # the F-measure with beta 1 is 2 LCS / (|c| + |r|)
        return np.stack([common / np.maximum(own, 1), common / np.maximum(theirs, 1)], axis=1)

    def joined(
        self, pairs: NDArray[np.float64], weights: NDArray[np.float64], bounds: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        precision, recall = np.maximum.reduceat(pairs * weights[:, None], bounds[:-1]).T
        values, beta_squared = np.zeros(len(precision)), self.metric.beta**2
        above = (1.0 + beta_squared) * precision * recall
        np.divide(above, recall + beta_squared * precision, out=values, where=precision * recall > 0)
        return np.stack([values, np.ones_like(values)], axis=1)


@dataclass(frozen=True, kw_only=True)
class RougeN(Metric):
    """ROUGE-1, ROUGE-2 and ROUGE-SU4: recall of the references' units.

    ``sum_j s_j sum_u min(Count(u, c), Count(u, r_j)) / sum_j sum_u Count(u, r_j)`` (Lin 2004, eq. 1, with weights). In
    [0, 1]; higher is better; an empty candidate, or references without units, score 0.

    Args:
        unit: ``1``: words; ``2``: bigrams; ``su4``: words, and ordered pairs of words with at most four words between
            them. Part of the name, ``rouge-su4``.
        count: ``clipped``: a unit matches at most as often as the reference contains it.
        corpus: ``mean`` of the items, or ``pooled``: matches and units summed over all items.

    The candidate has ``a b`` once, of 2 + 1 word pairs of the references:

    >>> import postil
    >>> postil.score(["a b"], [["a b c", "b a"]], metrics=["rouge-2"]).corpus["rouge-2"] == 1 / 3
    True
    """

    unit: Literal["1", "2", "su4"] = field(default="1", metadata={"hidden": True})
    count: Literal["clipped"] = "clipped"
    corpus: Literal["mean", "pooled"] = "mean"

    order_and_skip: ClassVar[dict[str, tuple[int, int]]] = {"1": (1, -1), "2": (2, -1), "su4": (1, 4)}
    """For each unit: length of the n-grams, and largest gap of a skip-bigram in words, -1 for no skip-bigrams."""

    @property
    def name(self) -> str:
        """``rouge-1``, ``rouge-2`` or ``rouge-su4``."""
        return f"rouge-{self.unit}"

    @property
    def aggregation(self) -> Literal["mean", "sums"]:
        """See `Metric.aggregation`."""
        return "mean" if self.corpus == "mean" else "sums"

    def score(self, stats: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Metric.score`."""
        return _ratio(stats)

    def bind(self, references: References, background: DocumentFrequencies | None) -> Scorer:
        """See `Metric.against`."""
        del background
        return _RougeNScorer(self, references)


class _RougeNScorer(PairwiseScorer):
    metric: RougeN

    def measure(self, matches: Matches) -> NDArray[np.float64]:
        return self._stats(self._table(matches, self.references.weights))

    def pairs(self, matches: Matches) -> NDArray[np.float64]:
        return self._table(matches, np.ones(len(self.references.tokens)))

    def joined(
        self, pairs: NDArray[np.float64], weights: NDArray[np.float64], bounds: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        row = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        columns = (pairs[:, 0] * weights, pairs[:, 1])
        return self._stats(np.stack([np.bincount(row, column, len(bounds) - 1) for column in columns], axis=1))

    def _table(self, matches: Matches, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Columns: weighted matches, and the units of the references."""
        order, skip = RougeN.order_and_skip[self.metric.unit]
        return rouge_n(matches.words, weights, order, skip, matches.jobs)

    def _stats(self, stats: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.metric.corpus == "pooled":
            return stats
        return np.stack([_ratio(stats), np.ones(len(stats))], axis=1)


def _ratio(stats: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(stats[:, 0], stats[:, 1], out=np.zeros(len(stats)), where=stats[:, 1] > 0)
