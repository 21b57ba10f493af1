"""ROUGE-L, ROUGE-Lsum, and ROUGE over n-grams and skip-bigrams."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal, TypeVar

import numpy as np

from postil.errors import UsageError
from postil.kernel import Overlap, lcs_lengths, ngram_matches, rouge_l, rouge_n, union_lcs
from postil.metrics.base import EachPairScorer, Scorer, TokenMetric, alignable
from postil.metrics.reference_aggregation import AggregatingScorer, first_best, settle_over
from postil.metrics.references import Matches, References, Sentences, check_positive
from postil.text.tokenizers import check_tokenizer_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from postil.metrics.background import DocumentFrequencies
    from postil.text.tokens import Tokens

__all__ = ["Part", "RougeL", "RougeLsum", "RougeN", "RougeScoreL", "RougeScoreLsum", "RougeScoreN"]

T = TypeVar("T")

Part = Literal["f", "p", "r"]
"""The F-measure, precision or recall."""
STEMMER = "rouge"
"""The stemmer of ``stem=true``; see `postil.text.stems`."""


class StemmingMetric(TokenMetric):
    """Base of metrics that may compare stems, which are those of English; a dataclass has the field ``stem``."""

    stem: bool

    @property
    def for_other_languages(self) -> str:
        """See `Metric.for_other_languages`; the stems are those of English."""
        return "stem=false" if self.stem else ""


@dataclass(frozen=True, kw_only=True)
class RougeL(StemmingMetric):
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
            - ``best``: P, R and F of the reference with the highest ``s_j F_j``, of equal ones the first, each times
              ``s_j``; with all weights 1 and ``beta=1`` rouge-score's number exactly. Raising a weight can lower P or
              R, as F can choose another reference then.
        beta: Weight of recall; 1e-6 to 1e6.
        over: Reference aggregation, from scores of single references to one score. ``max``: as ``reading`` says.
            ``mean``: ``1/K sum_j s_j F_j`` with P and R of each reference by itself. ``top-k``, such as ``top-3``: the
            mean of the k highest ``s_j F_j``. ``near`` and ``kernel``: similarity-weighted means of the weights;
            ``kernel`` exists with weights only. They are not for references that get worse as the text gets better
            (leave-one-out, halves), nor for many references with few distinct weights; see
            `postil.metrics.reference_aggregation.Over`. All but ``max`` go with ``reading=max`` alone.
        tau: Width of ``over=kernel``, .1 by default: the smaller, the more the nearest references count.
        part: ``f``: the F-measure; ``p``: P; ``r``: R. ``p`` and ``r`` do not go with ``reading=union``.
        stem: True to compare stems as rouge-score does: Porter's, of words of more than three characters.

    Raises:
        UsageError: beta is out of range, ``over`` is none of these, or parameters do not go together.
        InvalidInput: On scoring with ``reading=union``, where two texts have some 200,000 words each or more.

    The longest common subsequence is ``a c``, so P = 2/3 and R = 2/4:

    >>> import postil
    >>> references, specs = [["a b c d"]], ["rouge-l(beta=1)", "w-rouge-l(beta=1)"]
    >>> result = postil.score(["a c b"], references, weights=[[0.5]], metrics=specs)
    >>> [round(score, 4) for score in result.corpus.values()]
    [0.5714, 0.2857]
    """

    reading: Literal["max", "union", "best"] = "max"
    beta: float = 1.2
    over: str = "max"
    tau: float | None = None
    part: Part = field(default="f", metadata={"brief": True})
    stem: bool = field(default=False, metadata={"brief": True})
    name: ClassVar[str] = "rouge-l"
    aggregation: ClassVar[Literal["mean", "sums"]] = "mean"

    def __post_init__(self) -> None:
        check_positive(self.name, "beta", self.beta)
        settle_over(self)
        if self.over != "max" and self.reading == "union":
            raise UsageError(f"rouge-l: reading=union joins the references, and leaves over={self.over} nothing")
        if self.over != "max" and self.reading == "best":
            raise UsageError(f"rouge-l: reading=best chooses a reference, and leaves over={self.over} nothing")
        if self.part != "f" and self.reading == "union":
            raise UsageError(f"rouge-l: reading=union has part=f alone, got part={self.part}")

    def bind(self, references: References, _background: DocumentFrequencies | None) -> Scorer:
        """See `Metric.against`."""
        if self.over != "max":
            return AggregatingScorer(self, references, replace(self, over="max", tau=None, weighted=False))
        if self.reading == "best":
            return _BestScorer(self, references, partial(_lcs_counts, stem=self.stem))
        return (_UnionScorer if self.reading == "union" else _RougeLScorer)(self, references)


class _UnionScorer(Scorer):
    metric: RougeL

    def measure(self, matches: Matches) -> NDArray[np.float64]:
        metric = self.metric
        with alignable(metric):
            values = rouge_l(
                _overlap(matches, stem=metric.stem),
                self.references.weights,
                metric.beta**2,
                metric.reading == "union",
                matches.jobs,
            )
        return _means(values)


class _RougeLScorer(_UnionScorer, EachPairScorer):
    def measure(self, matches: Matches) -> NDArray[np.float64]:
        return (_UnionScorer if self.metric.part == "f" else EachPairScorer).measure(self, matches)

    def pairs(self, matches: Matches) -> NDArray[np.float64]:
        """Columns: P and R."""
        common, own, theirs = _lcs_counts(matches, stem=self.metric.stem).T
        return np.stack([common / np.maximum(own, 1), common / np.maximum(theirs, 1)], axis=1)

    def joined(
        self, pairs: NDArray[np.float64], weights: NDArray[np.float64], bounds: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        precision, recall = np.maximum.reduceat(pairs * weights[:, None], bounds[:-1]).T
        return _means({"f": _f(precision, recall, self.metric.beta), "p": precision, "r": recall}[self.metric.part])


@dataclass(frozen=True, kw_only=True)
class RougeLsum(StemmingMetric):
    r"""ROUGE-Lsum: ROUGE-L of texts of several sentences, one sentence per line.

    A word of a reference counts if it is in the longest common subsequence of its sentence with some sentence of the
    candidate, each word at most as often as the candidate has it (Lin 2004, section 3.2, clipped as ROUGE 1.5.5 does).
    With U such words, ``P = U / |c|``, ``R = U / |r|`` and ``F = (1 + beta^2) P R / (R + beta^2 P)``; of several
    references the one with the highest ``s_j F_j`` counts, of equal ones the first, and its P, R and F are multiplied
    by s_j. With all weights 1 rouge-score's rougeLsum exactly, with its ``score_multi`` for several references; of
    several longest common subsequences the same is taken. Corpus: mean of the items.

    Sentences end at line feeds alone; nothing else is split, so that a text without any is one sentence and the score
    that of ``rouge-l(reading=best,beta=1)``. A list of tokens is one sentence. In [0, 1]; higher is better; an empty
    candidate scores 0. Raising a weight can lower P or R, as F can choose another reference then.

    Args:
        part: ``f``: the F-measure; ``p``: P; ``r``: R.
        beta: Weight of recall; 1e-6 to 1e6.
        stem: True to compare stems as rouge-score does: Porter's, of words of more than three characters.

    Raises:
        UsageError: beta is out of range.
        InvalidInput: On scoring, where two sentences have some 200,000 words each or more.

    Of the reference's first sentence ``a b`` is covered, of its second ``d``, so that P = 3/4 and R = 3/5:

    >>> import postil
    >>> result = postil.score(["a b\nd x"], [["a b c\nd e"]], metrics=["rouge-lsum(part=p)", "rouge-lsum(part=r)"])
    >>> list(result.corpus.values())
    [0.75, 0.6]
    """

    part: Part = "f"
    beta: float = 1.0
    stem: bool = False
    reads_texts: ClassVar[bool] = True
    name: ClassVar[str] = "rouge-lsum"
    aggregation: ClassVar[Literal["mean", "sums"]] = "mean"

    def __post_init__(self) -> None:
        check_positive(self.name, "beta", self.beta)

    def bind(self, references: References, _background: DocumentFrequencies | None) -> Scorer:
        """See `Metric.against`."""
        return _BestScorer(self, references, self._counts)

    def _counts(self, matches: Matches) -> NDArray[np.float64]:
        """Words in the union of each pair, and lengths of both."""
        pieces = matches.pieces(Sentences(STEMMER if self.stem else ""))

        def count() -> NDArray[np.float64]:
            with alignable(self):
                common = pieces.count(lambda overlap, own, theirs: union_lcs(overlap, own, theirs, matches.jobs))
            return _with_lengths(common, matches, pieces.candidates.tokens, pieces.references.tokens)

        return matches.once(("rouge-lsum", self.stem), count)


@dataclass(frozen=True, kw_only=True)
class RougeN(StemmingMetric):
    """ROUGE-1, ROUGE-2 and ROUGE-SU4: recall, precision or F-measure of the units shared with the references.

    Recall is ``sum_j s_j sum_u min(Count(u, c), Count(u, r_j)) / sum_j sum_u Count(u, r_j)`` by default (Lin 2004, eq.
    1, with weights). In [0, 1]; higher is better; an empty candidate, or references without units, score 0.

    Args:
        unit: ``1``: words; ``2``: bigrams; ``su4``: words, and ordered pairs of words with at most four words between
            them. Part of the name, ``rouge-su4``.
        count: ``clipped``: a unit matches at most as often as the reference contains it.
        corpus: ``mean`` of the items, or ``pooled``: matches and units summed over all items.
        part: ``r``: recall R; ``p``: precision P, the matches divided by the units of the candidate; ``f``:
            ``2 P R / (P + R)``.
        stem: True to compare stems as rouge-score does: Porter's, of words of more than three characters.
        over: Several references. ``pooled``: matches, and units of both sides, are summed over them; the default with
            ``part=r``. ``max``: P, R and F of the reference with the highest ``s_j F_j``, of equal ones the first, each
            times ``s_j``; with all weights 1 rouge-score's numbers exactly; the default with ``part=p`` and ``part=f``.
            Raising a weight can lower P or R, as F can choose another reference then.

    The candidate has ``a b`` once, of 2 + 1 word pairs of the references:

    >>> import postil
    >>> postil.score(["a b"], [["a b c", "b a"]], metrics=["rouge-2"]).corpus["rouge-2"] == 1 / 3
    True
    """

    unit: Literal["1", "2", "su4"] = field(default="1", metadata={"hidden": True})
    count: Literal["clipped"] = "clipped"
    corpus: Literal["mean", "pooled"] = "mean"
    part: Part = field(default="r", metadata={"brief": True})
    stem: bool = field(default=False, metadata={"brief": True})
    over: Literal["by-part", "pooled", "max"] = field(default="by-part", metadata={"brief": True})

    order_and_skip: ClassVar[dict[str, tuple[int, int]]] = {"1": (1, -1), "2": (2, -1), "su4": (1, 4)}
    """For each unit: length of the n-grams, and largest gap of a skip-bigram in words, -1 for no skip-bigrams."""

    def __post_init__(self) -> None:
        if self.over == ("pooled" if self.part == "r" else "max"):  # one value for one metric
            object.__setattr__(self, "over", "by-part")

    @property
    def name(self) -> str:
        """``rouge-1``, ``rouge-2`` or ``rouge-su4``."""
        return f"rouge-{self.unit}"

    @property
    def aggregation(self) -> Literal["mean", "sums"]:
        """See `Metric.aggregation`."""
        return "mean" if self.corpus == "mean" else "sums"

    @property
    def width(self) -> int:
        """See `Metric.width`."""
        return 2 if self.corpus == "mean" else 3

    def score(self, stats: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Metric.score`."""
        return super().score(stats) if self.corpus == "mean" else _part(stats, self.part, 1.0)

    def bind(self, references: References, _background: DocumentFrequencies | None) -> Scorer:
        """See `Metric.against`."""
        pooled = self.over == "pooled" or (self.over == "by-part" and self.part == "r")
        return (_PooledScorer if pooled else _BestScorer)(self, references, self._counts)

    def _counts(self, matches: Matches) -> NDArray[np.float64]:
        """Clipped matches of each pair, and units of both."""

        def count() -> NDArray[np.float64]:
            order, skip = RougeN.order_and_skip[self.unit]
            common = ngram_matches(_overlap(matches, stem=self.stem), order, skip, matches.jobs)[:, -1:]
            counts = _with_lengths(common, matches, matches.candidates, matches.references.tokens)
            counts[:, 1:] = self.units(counts[:, 1:])
            return counts

        return matches.once((self.name, self.stem), count)

    def units(self, lengths: NDArray[np.float64]) -> NDArray[np.float64]:
        """Number of units of texts of some lengths in words."""
        order, skip = RougeN.order_and_skip[self.unit]
        gaps = [order - 1, *range(1, skip + 2)]
        return np.asarray(sum(np.maximum(lengths - gap, 0) for gap in gaps))


def _hidden(value: T) -> T:
    return field(default=value, metadata={"hidden": True})


@dataclass(frozen=True, kw_only=True)
class RougeScoreN(RougeN):
    """ROUGE-1 and ROUGE-2 as rouge-score computes them: ``rouge1``, ``rouge2``.

    The F-measure of words or bigrams; of several references the one with the highest F counts, as in its
    ``score_multi``. With ``w-`` that with the highest ``s_j F_j``. In [0, 1]; higher is better; an empty candidate
    scores 0. Corpus: mean of the items.

    Args:
        part: ``f``: the F-measure; ``p``: precision; ``r``: recall.
        stem: True for its ``use_stemmer``.
        tokenizer: Its own, ``rouge``, or another of `postil.text.tokenizers.TOKENIZERS`.

    >>> import postil
    >>> postil.score(["The cat"], [["the cat sat", "a dog"]], metrics=["rouge1", "ROUGE1(part=r)"]).corpus["rouge1"]
    0.8
    """

    count: Literal["clipped"] = _hidden("clipped")
    corpus: Literal["mean", "pooled"] = _hidden("mean")
    part: Part = "f"
    stem: bool = False
    over: Literal["by-part", "pooled", "max"] = _hidden("max")
    tokenizer: str = field(default="rouge", metadata={"check": check_tokenizer_name})

    @property
    def name(self) -> str:
        """``rouge1`` or ``rouge2``."""
        return f"rouge{self.unit}"


@dataclass(frozen=True, kw_only=True)
class RougeScoreL(RougeL):
    """ROUGE-L as rouge-score computes it: ``rougeL``.

    The F-measure of the longest common subsequence (Lin 2004), with several references and weights as in
    `RougeScoreN`. In [0, 1]; higher is better; an empty candidate scores 0. Corpus: mean of the items.

    Args:
        part: As in `RougeScoreN`.
        stem: As in `RougeScoreN`.
        tokenizer: As in `RougeScoreN`.

    >>> import postil
    >>> postil.score(["The cat"], [["the cat sat", "a dog"]], metrics=["rougeL"]).corpus
    {'rougeL': 0.8}
    """

    reading: Literal["max", "union", "best"] = _hidden("best")
    beta: float = _hidden(1.0)
    over: str = _hidden("max")
    tau: float | None = _hidden(None)
    part: Part = "f"
    stem: bool = False
    tokenizer: str = field(default="rouge", metadata={"check": check_tokenizer_name})
    name: ClassVar[str] = "rougeL"


@dataclass(frozen=True, kw_only=True)
class RougeScoreLsum(RougeLsum):
    r"""ROUGE-L of summaries as rouge-score computes it: ``rougeLsum``; sentences end at line feeds.

    See `RougeLsum`. In [0, 1]; higher is better; an empty candidate scores 0. Corpus: mean of the items.

    Args:
        part: As in `RougeScoreN`.
        stem: As in `RougeScoreN`.
        tokenizer: As in `RougeScoreN`.

    >>> import postil
    >>> round(postil.score(["a b\nd x"], [["a b c\nd e"]], metrics=["rougeLsum"]).corpus["rougeLsum"], 4)
    0.6667
    """

    beta: float = _hidden(1.0)
    tokenizer: str = field(default="rouge", metadata={"check": check_tokenizer_name})
    name: ClassVar[str] = "rougeLsum"


class _CountsScorer(EachPairScorer):
    """Scores from counts of pairs: what both have in common, units of the candidate, units of the reference.

    Args:
        metric: The metric.
        references: The references.
        count: Function that counts, float64[pairs, 3].
    """

    metric: RougeL | RougeLsum | RougeN

    def __init__(
        self,
        metric: RougeL | RougeLsum | RougeN,
        references: References,
        count: Callable[[Matches], NDArray[np.float64]],
    ) -> None:
        super().__init__(metric, references)
        self._count = count
        self._beta: float = getattr(metric, "beta", 1.0)

    def pairs(self, matches: Matches) -> NDArray[np.float64]:
        return self._count(matches)

    def _stats(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        return counts if self.metric.aggregation == "sums" else _means(_part(counts, self.metric.part, self._beta))


class _BestScorer(_CountsScorer):
    """The reference with the highest weighted F alone; its matches are multiplied by its weight."""

    def joined(
        self, pairs: NDArray[np.float64], weights: NDArray[np.float64], bounds: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        best = first_best(weights * _part(pairs, "f", self._beta), bounds)
        counts = pairs[best]
        counts[:, 0] *= weights[best]
        return self._stats(counts)


class _PooledScorer(_CountsScorer):
    """Weighted matches, and units of both sides, summed over the references."""

    metric: RougeN

    def measure(self, matches: Matches) -> NDArray[np.float64]:
        order, skip = RougeN.order_and_skip[self.metric.unit]
        overlap = _overlap(matches, stem=self.metric.stem)
        common, theirs = rouge_n(overlap, self.references.weights, order, skip, matches.jobs).T
        own = self.metric.units(matches.candidates.lengths.astype(np.float64))
        own *= np.diff(self.references.offsets)[matches.sets]
        return self._stats(np.stack([common, own, theirs], axis=1))

    def joined(
        self, pairs: NDArray[np.float64], weights: NDArray[np.float64], bounds: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        row = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        columns = (pairs[:, 0] * weights, pairs[:, 1], pairs[:, 2])
        return self._stats(np.stack([np.bincount(row, column, len(bounds) - 1) for column in columns], axis=1))


def _overlap(matches: Matches, *, stem: bool) -> Overlap:
    return matches.stems(STEMMER) if stem else matches.words


def _lcs_counts(matches: Matches, *, stem: bool) -> NDArray[np.float64]:
    """Length of the LCS of each pair, and lengths of both."""

    def count() -> NDArray[np.float64]:
        common = lcs_lengths(_overlap(matches, stem=stem), matches.jobs)
        return _with_lengths(common, matches, matches.candidates, matches.references.tokens)

    return matches.once(("rouge-l", stem), count)


def _with_lengths(
    common: NDArray[np.int64], matches: Matches, candidates: Tokens, references: Tokens
) -> NDArray[np.float64]:
    """Counts of each pair, int64[pairs, 1], beside the lengths of both texts: float64[pairs, 3]."""
    bounds, reference = matches.references.pairs(matches.sets)
    own = np.repeat(candidates.lengths, np.diff(bounds))
    return np.column_stack([common, own, references.lengths[reference]]).astype(np.float64)


def _part(counts: NDArray[np.float64], part: Part, beta: float) -> NDArray[np.float64]:
    """Scores of counts, float64[n, 3]: what both texts have in common, and the units of each."""
    common, own, theirs = counts.T
    precision, recall = _ratio(common, own), _ratio(common, theirs)
    return {"f": _f(precision, recall, beta), "p": precision, "r": recall}[part]


def _f(precision: NDArray[np.float64], recall: NDArray[np.float64], beta: float) -> NDArray[np.float64]:
    return _ratio((1.0 + beta**2) * precision * recall, recall + beta**2 * precision)


def _ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(above, below, out=np.zeros(len(above)), where=below > 0)


def _means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Statistics of a metric whose corpus score is the mean of the item scores."""
    return np.stack([values, np.ones_like(values)], axis=1)
