"""Reference aggregation: scores by single references, combined as the parameter ``over`` of a metric names."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import UsageError
from postil.metrics.base import EachPairScorer, Metric, PairwiseScorer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from postil.metrics.background import DocumentFrequencies
    from postil.metrics.base import Scorer
    from postil.metrics.references import Matches, References
    from postil.text.tokens import Tokens

__all__ = [
    "AggregatingScorer",
    "SingleReferenceScorer",
    "blocks",
    "check_over",
    "differ_in_over",
    "first_best",
    "is_near",
]

TOP: Final = re.compile(r"top-(?P<k>[1-9][0-9]{0,8})")
BLOCK: Final = 1 << 16
"""Approximate number of pairs of candidate and reference that are compared at a time, which bounds memory."""


def check_over(name: str, over: str) -> None:
    """Refuse values other than ``max``, ``mean``, ``near`` and ``top-K``.

    Args:
        name: The metric's name, for the message.
        over: The value of its field ``over``.

    Raises:
        UsageError: It is something else.

    >>> check_over("meteor", "top-0")
    Traceback (most recent call last):
    ...
    postil.errors.UsageError: meteor: over: expected max, mean, near or top-K with K from 1, got 'top-0'
    """
    if over not in {"max", "mean", "near"} and not TOP.fullmatch(over):
        raise UsageError(f"{name}: over: expected max, mean, near or top-K with K from 1, got '{over}'")


def is_near(metric: Metric) -> bool:
    """True if a metric combines the references by the similarity-weighted mean.

    Args:
        metric: Any metric; most have no field ``over``.

    >>> from postil.metrics import parse_metric
    >>> [is_near(parse_metric(spec)) for spec in ("w-rouge-l(over=near)", "w-rouge-l", "bleu-4")]
    [True, False, False]
    """
    return getattr(metric, "over", "max") == "near"


def differ_in_over(metric: Metric, other: Metric) -> bool:
    """True if the other metric is the same with ``over=max``, the corpus score apart.

    Args:
        metric: A metric whose ``over`` is not ``max``.
        other: Any metric.

    >>> from postil.metrics import parse_metric
    >>> near = parse_metric("w-meteor(over=near)")
    >>> differ_in_over(near, parse_metric("w-meteor")), differ_in_over(near, parse_metric("meteor"))
    (True, False)
    """
    if type(metric) is not type(other) or getattr(metric, "over", "max") == "max":
        return False
    expected = {field.name: getattr(metric, field.name) for field in fields(metric)} | {"over": "max"}
    return all(getattr(other, name) == value for name, value in expected.items() if name != "corpus")


class SingleReferenceScorer:
    """Metrics without weights, bound to every reference as if it were the only one of its set.

    Args:
        metrics: The metrics by name.
        references: m texts in k sets.
        background: Document frequencies; by default those of ``references``, if the metric was bound to them before.

    >>> from postil.metrics import References, RougeL
    >>> from postil.text import Vocabulary
    >>> vocabulary = Vocabulary()
    >>> references = References(vocabulary.encode_tokens([["a", "b"], ["a", "c"], ["d"]]), np.array([0, 2, 3]))
    >>> candidates = vocabulary.branch().encode_tokens([["d"], ["a", "c"]])
    >>> singles = SingleReferenceScorer({"f1": RougeL(beta=1)}, references)
    >>> {name: scores.tolist() for name, scores in singles.scores(candidates, np.array([1, 0], dtype=np.int32)).items()}
    {'f1': [1.0, 0.5, 1.0]}
    """

    def __init__(
        self, metrics: Mapping[str, Metric], references: References, background: DocumentFrequencies | None = None
    ) -> None:
        self._references = references
        every = np.arange(len(references.tokens) + 1)
        items = np.repeat(references.items, np.diff(references.offsets))
        self._alone = references.others(references.tokens, every, items)
        self.scorers = {name: metric.against_unweighted(self._alone, background) for name, metric in metrics.items()}

    def scores(self, candidates: Tokens, sets: NDArray[np.int32], jobs: int = 1) -> dict[str, NDArray[np.float64]]:
        """Score each pair of candidate and reference by each metric, float64[pairs] in the order of `References.pairs`.

        Args:
            candidates: n texts, encoded with the vocabulary of the references or a branch of it.
            sets: int32[n], index of the set of references of each candidate.
            jobs: Number of threads; the result does not depend on it.
        """
        return self._found(candidates, sets, jobs, lambda scorer, matches: scorer.items(scorer.measure(matches)))

    def compared(self, candidates: Tokens, sets: NDArray[np.int32], jobs: int = 1) -> dict[str, NDArray[np.float64]]:
        """Compare each pair by each metric: `pairs` of a `PairwiseScorer`, of other scorers the score alone.

        Args:
            candidates: As in `scores`.
            sets: As in `scores`.
            jobs: As in `scores`.

        Returns:
            float64[pairs, c], in the order of `References.pairs`.
        """

        def compare(scorer: Scorer, matches: Matches) -> NDArray[np.float64]:
            if isinstance(scorer, PairwiseScorer):
                return scorer.pairs(matches)
            return scorer.items(scorer.measure(matches))[:, None]

        return self._found(candidates, sets, jobs, compare)

    def _found(
        self,
        candidates: Tokens,
        sets: NDArray[np.int32],
        jobs: int,
        find: Callable[[Scorer, Matches], NDArray[np.float64]],
    ) -> dict[str, NDArray[np.float64]]:
        bounds, references = self._references.pairs(sets)
        parts: dict[str, list[NDArray[np.float64]]] = {name: [] for name in self.scorers}
        for begin, end in list(blocks(bounds)) or [(0, 0)]:
            again = candidates.take(np.repeat(np.arange(begin, end), np.diff(bounds[begin : end + 1])))
            matches = self._alone.match(again, references[bounds[begin] : bounds[end]].astype(np.int32), jobs)
            for name, scorer in self.scorers.items():
                parts[name].append(find(scorer, matches))
        return {name: np.concatenate(found) for name, found in parts.items()}


class AggregatingScorer(EachPairScorer):
    """One score from scores by single references F_j and their weights s_j; corpus: mean of the items.

    ``mean``: ``1/K sum_j s_j F_j`` over all K references. ``top-k``: the mean of the k highest ``s_j F_j``, of all of
    them where there are fewer. ``near``: ``sum_j s_j F_j / (1 + sum_j F_j)`` times ``(K + 1) / K``, so that the highest
    score is 1. That is a mean of the weights, in which each reference counts by its similarity to the candidate, and an
    imagined one of weight 0 counts as 1. None divides by the sum of the weights, so that raising a weight never lowers
    a score.

    ``near`` holds the mean weight of the references, and so it can correlate *less* with human scores than ``max``:
    within items where the mean weight of a text's references falls as its own human score rises (each text against
    all others, by arithmetic; also halves that are each other's references), and on sets with many references of few
    distinct weights. Elsewhere it mostly correlates more. `postil.metrics.near` looks for both signs;
    ``docs/findings/references.md`` has the figures.

    Args:
        metric: The metric.
        over: ``mean``, ``near`` or ``top-k``.
        references: The references.
        single: Metric for single references: the same with ``over=max`` and without weights.
    """

    def __init__(self, metric: Metric, over: str, references: References, single: Metric) -> None:
        super().__init__(metric, references)
        top = TOP.fullmatch(over)
        self._k = int(top["k"]) if top else None
        self._near = over == "near"
        self._single = single
        self._singles = SingleReferenceScorer({single.name: single}, references)

    @property
    def notes(self) -> tuple[str, ...]:
        """See `Scorer.notes`."""
        return self._singles.scorers[self._single.name].notes

    def pairs(self, matches: Matches) -> NDArray[np.float64]:
        """See `EachPairScorer.pairs`."""

        def score() -> NDArray[np.float64]:
            return self._singles.scores(matches.candidates, matches.sets, matches.jobs)[self._single.name][:, None]

        return matches.of_pairs(self._single, score)

    def joined(
        self, pairs: NDArray[np.float64], weights: NDArray[np.float64], bounds: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """See `PairwiseScorer.joined`."""
        known = pairs[:, 0]
        values, counts = known * weights, np.diff(bounds)
        if self._k is not None:
            row = np.repeat(np.arange(len(counts)), counts)
            order = np.lexsort((-values, row))
            place = np.arange(len(row)) - bounds[row]
            values, counts = np.where(place < self._k, values[order], 0.0), np.minimum(counts, self._k)
        scores = _sums(values, bounds) / counts
        # From the mean over K to sum_j s_j F_j / (1 + sum_j F_j) times (K + 1) / K: the imagined reference (weight 0,
        # similarity 1) keeps a candidate that resembles none from the mean weight; the factor makes 1 the maximum.
        if self._near:
            scores *= (counts + 1) / (_sums(known, bounds) + 1)
        return np.stack([scores, np.ones(len(counts))], axis=1)


def first_best(values: NDArray[np.float64], bounds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Index of the highest value of each candidate's pairs, of equal ones the first.

    Args:
        values: float64[p], candidate after candidate.
        bounds: int64[n + 1], offsets of the pairs of each candidate; each has at least one.

    >>> first_best(np.array([0.5, 1.0, 1.0, 0.25]), np.array([0, 3, 4])).tolist()
    [1, 3]
    """
    highest = np.maximum.reduceat(values, bounds[:-1]) if len(values) else values
    places = np.flatnonzero(values == np.repeat(highest, np.diff(bounds)))
    return places[np.searchsorted(places, bounds[:-1])]


def blocks(bounds: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Split candidates into ranges of about `BLOCK` pairs, each of at least one candidate."""
    begin, last = 0, len(bounds) - 1
    while begin < last:
        end = max(begin + 1, int(np.searchsorted(bounds, bounds[begin] + BLOCK, side="right")) - 1)
        yield begin, end
        begin = end


def _sums(values: NDArray[np.float64], bounds: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sum over the pairs of each candidate; each has at least one."""
    return np.asarray(np.add.reduceat(values, bounds[:-1])) if len(bounds) > 1 else np.zeros(0)
