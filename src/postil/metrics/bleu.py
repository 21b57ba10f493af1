"""BLEU with a weight on every reference, and delta-BLEU, its ancestor."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Final, Literal

import numpy as np

from postil.errors import UsageError
from postil.kernel import bleu_score, bleu_stats
from postil.metrics.base import Scorer, TokenMetric
from postil.metrics.references import Matches, References, check_order
from postil.text.sacrebleu_tokenizers import PACKAGED
from postil.text.tokenizers import check_tokenizer_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.metrics.background import DocumentFrequencies

__all__ = ["Bleu", "DeltaBleu", "SacreBleu", "Smoothing"]

Smoothing = Literal["coco", "none", "exp", "floor", "add-k", "method0"]
"""Smoothing of an order without matches; see `Bleu`."""
_K = {"floor": 0.1, "add-k": 1.0}


@dataclass(frozen=True, kw_only=True)
class Bleu(TokenMetric):
    """BLEU-N: geometric mean of clipped n-gram precisions times a brevity penalty.

    ``BP exp(1/N sum_n log PRC_n)`` with
    ``PRC_n = sum_w min(Count(w, c), max_j s_j Count(w, r_j)) / sum_w Count(w, c)`` (Papineni et al. 2002; with weights
    s_j: Qin et al. 2018, supplement B.1 and B.2). The brevity penalty compares with the reference length closest to the
    candidate's (of two as close, the shorter) and ignores weights. Corpus: the statistics are summed.

    In [0, 1]; higher is better. An empty candidate scores 0. A candidate without any match scores 0 too, but with
    ``coco`` the little that its epsilons leave: less than 1e-7.

    Args:
        order: N, length of the longest n-gram, 1 to 4; part of the name, ``bleu-4``.
        smooth: Smoothing of an order without matches, with the tool whose numbers it gives where all weights are 1:

            - ``coco``: two epsilons everywhere, never exactly 0 or 1; pycocoevalcap, bit for bit.
            - ``none``: the score is 0; sacreBLEU.
            - ``exp``: 1/2, 1/4, … of a match; sacreBLEU's default.
            - ``floor``: 0.1 of a match; sacreBLEU.
            - ``add-k``: one match and one n-gram more in every order above 1; sacreBLEU.
            - ``method0``: the smallest positive float as precision; NLTK's default.

            With weights, matches below a pseudo-count are lifted to it, so that a higher weight never lowers a score.
        effective: Leave out the orders for which the candidate is too short, as sacreBLEU's ``effective_order``; not
            with ``coco``.

    Raises:
        UsageError: The order is out of range, or ``effective`` comes with ``coco``.

    The candidate has 3 of 4 words and 1 of 3 word pairs of its reference; with weight 1/2 each word counts half:

    >>> import postil
    >>> references, specs = [["a b x d"]], ["bleu-2(smooth=none)", "w-bleu-1(smooth=none)"]
    >>> result = postil.score(["a b c d"], references, weights=[[0.5]], metrics=specs)
    >>> [round(score, 4) for score in result.corpus.values()]
    [0.5, 0.375]
    """

    order: int = field(default=4, metadata={"hidden": True})
    smooth: Smoothing = "coco"
    effective: bool = False

    def __post_init__(self) -> None:
        check_order("bleu", self.order, 4)
        if self.effective and self.smooth == "coco":
            raise UsageError(f"{self.name}: effective=true does not go with smooth=coco; choose another smoothing")

    @property
    def name(self) -> str:
        """``bleu-1`` to ``bleu-4``."""
        return f"bleu-{self.order}"

    @property
    def width(self) -> int:
        """See `Metric.width`."""
        return 2 * self.order + 2

    def score(self, stats: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Metric.score`."""
        return bleu_score(stats, self.smooth, _K.get(self.smooth, 0.0), self.effective)

    def bind(self, references: References, _background: DocumentFrequencies | None) -> Scorer:
        """See `Metric.against`."""
        return _BleuScorer(self, references)


SHORT: Final = frozenset({"13a", "none", *PACKAGED})
"""Names that sacreBLEU has for tokenizers, which stand for themselves in ``bleu(tokenizer=NAME)``."""


def _check_tokenizer(name: str) -> None:
    if name not in SHORT:
        check_tokenizer_name(name)


@dataclass(frozen=True, kw_only=True)
class SacreBleu(Bleu):
    """BLEU as sacreBLEU computes it by default (Papineni et al. 2002; Post 2018).

    The formula is that of `Bleu` with four orders. The corpus score is ``corpus_bleu``, that of an item
    ``sentence_bleu``, which leaves out the orders for which the candidate is too short (its ``effective_order``); both
    are divided by 100. With ``w-`` the weights count as in `Bleu`, and with all weights 1 the numbers are the same.

    In [0, 1]; higher is better. An empty candidate scores 0.

    Args:
        tokenizer: Name of a tokenizer of sacreBLEU: ``13a``, ``intl``, ``zh``, ``char``, ``ja-mecab``, ``ko-mecab``,
            ``flores101``, ``flores200``, ``spm`` or ``none``; or another of `postil.text.tokenizers.TOKENIZERS`. All
            but ``13a`` and ``none`` need the extra ``sacrebleu``.
        smooth: Smoothing of an order without matches; see `Bleu`.

    >>> import postil
    >>> result = postil.score(["The cat sat"], [["The cat sat down."]], metrics=["bleu"])
    >>> [round(float(score), 4) for score in (result.corpus["bleu"], result.items["bleu"][0])]
    [0.0, 0.5134]
    """

    smooth: Literal["exp", "none", "floor", "add-k"] = "exp"
    effective: bool = field(default=False, metadata={"hidden": True})
    tokenizer: str = field(default="13a", metadata={"check": _check_tokenizer})

    def __post_init__(self) -> None:
        super().__post_init__()
        short = self.tokenizer.removeprefix("sacrebleu:")
        if short in SHORT:  # one value for one metric
            object.__setattr__(self, "tokenizer", short)

    @property
    def name(self) -> str:
        """``bleu``."""
        return "bleu"

    @property
    def own_tokenizer(self) -> str:
        """See `Metric.own_tokenizer`."""
        if self.tokenizer == "none":
            return "space"
        return f"sacrebleu:{self.tokenizer}" if self.tokenizer in SHORT else self.tokenizer

    def items(self, stats: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Metric.items`."""
        return bleu_score(stats, self.smooth, _K.get(self.smooth, 0.0), True)  # noqa: FBT003


class _BleuScorer(Scorer):
    metric: Bleu

    def measure(self, matches: Matches) -> NDArray[np.float64]:
        return self._floored(matches.bleu_stats(self.references.weights, self.metric.order))

    def measure_each(self, matches: Matches, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        order = self.metric.order
        stats = bleu_stats(matches.words, weights, order, False, matches.jobs)  # noqa: FBT003
        return self._floored(stats.reshape(len(weights), len(matches), 2 * order + 2))

    def _floored(self, stats: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.metric.smooth != "method0":
            return stats
        floor = np.zeros(stats.shape[-1])
        floor[self.metric.order : 2 * self.metric.order] = 1.0  # NLTK counts an order that is too long as one n-gram
        return np.maximum(stats, floor)


@dataclass(frozen=True, kw_only=True)
class DeltaBleu(TokenMetric):
    """delta-BLEU: good references reward, bad ones (negative weights) punish.

    ``p_n = sum_i sum_g max_j s_ij min(Count(g, c_i), Count(g, r_ij)) / sum_i sum_g (max_j s_ij) Count(g, c_i)``, the
    maximum in the numerator taken over the references that contain g (Galley et al. 2015, eq. 4). It differs from
    W-BLEU in three ways: weights reach down to -1; a weight multiplies the clipped count, where W-BLEU clips at the
    weighted count; and the best weight of the item scales the denominator, so an item whose best reference is mediocre
    can still reach 1.

    In [0, 1]; higher is better. A negative or absent sum of matches in some order gives 0, an empty candidate too. The
    weights always count, with or without ``w-``; with all weights 1 it is BLEU without smoothing. An item whose every
    reference has a negative weight, which the paper does not have, adds nothing to the denominator.

    Raising a weight can lower the score: it may raise the denominator more than the numerator.

    Args:
        order: Length of the longest n-gram, 1 to 9.

    Raises:
        UsageError: The order is out of range.

    >>> import postil
    >>> weights, specs = [[0.5, -0.5]], ["delta-bleu(order=1)"]
    >>> postil.score(["a b"], [["a", "b"]], weights=weights, metrics=specs).corpus  # (0.5 - 0.5) / (0.5 + 0.5)
    {'delta-bleu(order=1)': 0.0}
    """

    order: int = 4
    lowest_weight: ClassVar[float] = -1.0
    name: ClassVar[str] = "delta-bleu"
    needs_weights: ClassVar[bool] = True  # with and without ``w-``

    def __post_init__(self) -> None:
        check_order(self.name, self.order)

    @property
    def width(self) -> int:
        """See `Metric.width`."""
        return 2 * self.order + 2

    def score(self, stats: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Metric.score`."""
        return bleu_score(stats, "none", 0.0, False)  # noqa: FBT003

    def bind(self, references: References, _background: DocumentFrequencies | None) -> Scorer:
        """See `Metric.against`."""
        return _DeltaBleuScorer(self, references)


class _DeltaBleuScorer(Scorer):
    metric: DeltaBleu

    def measure(self, matches: Matches) -> NDArray[np.float64]:
        (stats,) = self.measure_each(matches, self.references.weights[None])
        return np.asarray(stats)

    def measure_each(self, matches: Matches, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        order = self.metric.order
        stats = bleu_stats(matches.words, weights, order, True, matches.jobs)  # noqa: FBT003
        grams = stats[:, order : 2 * order]
        np.maximum(grams, 0.0, out=grams)  # a negative number of n-grams would let a sum exceed 1
        return stats.reshape(len(weights), len(matches), 2 * order + 2)
