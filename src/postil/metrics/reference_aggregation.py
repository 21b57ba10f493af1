"""Reference aggregation: scores by single references, combined as the parameter ``over`` of a metric names."""

from __future__ import annotations

import re
from abc import abstractmethod
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.data.explain import are
from postil.data.groups import grouped
from postil.data.ranking import without_noise
from postil.errors import UsageError
from postil.metrics.base import EachPairScorer, Metric, PairwiseScorer, Scorer
from postil.metrics.references import Matches, References, blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from postil.metrics.background import DocumentFrequencies
    from postil.text.tokens import Tokens

__all__ = [
    "BLOCK",
    "AggregatingScorer",
    "NearSigns",
    "Over",
    "SimilarityScorer",
    "SingleReferenceScorer",
    "averages_weights",
    "differ_in_over",
    "first_best",
    "settle_over",
]

TAU: Final = 0.1
"""Default width of the kernel, in units of similarity."""
TOP: Final = re.compile(r"top-(?P<k>[1-9][0-9]{0,8})")
BLOCK: Final = 1 << 16
"""Approximate number of pairs of candidate and reference that are compared at a time, which bounds memory."""


@dataclass(frozen=True, slots=True)
class Over:
    """Reference aggregation: one score from the similarities F_j of a candidate to K references and their weights s_j.

    - ``max``: ``max_j v_j``, with ``v_j = s_j max(F_j, 0) + min(F_j, 0)``: a weight acts on the positive part alone.
    - ``mean``: ``1/K sum_j v_j``.
    - ``top-k``: the mean of the k highest v_j, of all of them where there are fewer.
    - ``near``: ``sum_j s_j F+_j / (1 + sum_j F+_j)`` times ``(K + 1) / K`` with ``F+ = max(F, 0)``, so that the highest
      score is 1. That is a mean of the weights, in which each reference counts by its similarity to the candidate, and
      an imagined one of weight 0 counts as 1.
    - ``kernel``: ``sum_j s_j exp(F_j / tau) / sum_j exp(F_j / tau)``, a mean of the weights without that reference: a
      candidate that resembles none gets about the mean weight, where ``near`` gives about 0. With tau towards 0 it is
      the weight of the nearest reference, with large tau the mean weight. Without weights it is 1 for every candidate.

    A better reference must not make a text worse, so raising a weight never lowers a score: none divides by the sum of
    the weights, and a similarity below 0, as of meaning, is not multiplied, since s F would fall as s rises.

    ``near`` and ``kernel`` hold the mean weight of the references, and so they can correlate *less* with human scores
    than ``max``: within items where the mean weight of a text's references falls as its own human score rises (each
    text against all others, by arithmetic; also halves that are each other's references), and on sets with many
    references of few distinct weights. Elsewhere ``near`` mostly correlates more. `NearSigns` looks for both signs;
    ``research/findings/references.md`` has the figures.

    Args:
        name: ``max``, ``mean``, ``top-k``, ``near`` or ``kernel``.
        tau: Width of the kernel; only ``kernel`` reads it.

    >>> similarities, weights, bounds = np.array([8 / 15, 8 / 9]), np.array([1.0, 0.5]), np.array([0, 2])
    >>> for name in ("max", "mean", "top-1", "near", "kernel"):
    ...     print(name, Over(name).scores(similarities, weights, bounds).round(6).tolist())
    max [0.533333]
    mean [0.488889]
    top-1 [0.533333]
    near [0.605505]
    kernel [0.513886]
    """

    name: str = "max"
    tau: float = TAU

    @classmethod
    def of(cls, metric: Metric) -> Over:
        """The aggregation of a metric; most have no field ``over``, which is ``max``."""
        return cls(getattr(metric, "over", "max"), getattr(metric, "tau", None) or TAU)

    def scores(
        self, similarities: NDArray[np.float64], weights: NDArray[np.float64], bounds: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Aggregate the similarities of n candidates to p references.

        Args:
            similarities: float64[p], F of each pair, candidate after candidate; may be negative.
            weights: float64[p], the weight of the reference of each pair.
            bounds: int64[n + 1], offsets of the pairs of each candidate; each has at least one.

        Returns:
            float64[n].
        """
        counts = np.diff(bounds)
        if self.name == "kernel":
            below = similarities - np.repeat(_reduced(np.maximum, similarities, bounds), counts)
            with np.errstate(over="ignore"):  # a reference that is far from the nearest, by a narrow kernel: exp(-inf)
                kernel = np.exp(below / self.tau)
            return _reduced(np.add, kernel * weights, bounds) / _reduced(np.add, kernel, bounds)
        positive = np.maximum(similarities, 0.0)
        values = positive * weights
        if self.name == "near":
            # From the mean over K to sum_j s_j F_j / (1 + sum_j F_j) times (K + 1) / K: the imagined reference (weight
            # 0, similarity 1) keeps a candidate that resembles none from the mean weight; the factor makes 1 the
            # maximum.
            means = _reduced(np.add, values, bounds) / counts
            return np.asarray(means * ((counts + 1) / (_reduced(np.add, positive, bounds) + 1)))
        values += np.minimum(similarities, 0.0)
        if self.name == "max":
            return _reduced(np.maximum, values, bounds)
        if top := TOP.fullmatch(self.name):
            row = np.repeat(np.arange(len(counts)), counts)
            order = np.lexsort((-values, row))
            place, k = np.arange(len(row)) - bounds[row], int(top["k"])
            values, counts = np.where(place < k, values[order], 0.0), np.minimum(counts, k)
        return np.asarray(_reduced(np.add, values, bounds) / counts)


def settle_over(metric: Metric) -> None:
    """Check ``over`` and ``tau`` of a metric as it is made, and set the default ``tau`` of ``over=kernel``.

    Args:
        metric: A metric with the fields ``over`` and ``tau``, None where it is not given; call it in `__post_init__`.

    Raises:
        UsageError: ``over`` is something else, ``kernel`` without weights, or ``tau`` is out of range or not wanted.

    >>> from postil.metrics.spec import parse_metric
    >>> print(parse_metric("w-rouge-l(over=kernel)"))
    w-rouge-l(reading=max,beta=1.2,over=kernel,tau=0.1)
    >>> parse_metric("rouge-l(over=top-0)")
    Traceback (most recent call last):
    ...
    postil.errors.UsageError: rouge-l: over: expected max, mean, near, kernel or top-K with K from 1, got 'top-0'
    """
    name, over, tau = metric.name, Over.of(metric).name, getattr(metric, "tau", None)
    if over not in {"max", "mean", "near", "kernel"} and not TOP.fullmatch(over):
        raise UsageError(f"{name}: over: expected max, mean, near, kernel or top-K with K from 1, got '{over}'")
    if over != "kernel":
        if tau is not None:
            raise UsageError(f"{name}: tau is the width of over=kernel, and over={over} has none; leave it out")
        return
    if not metric.weighted:
        raise UsageError(
            f"{name}: over=kernel is a mean of the references' weights, and 1 for every text without them; take "
            f"w-{name}(over=kernel)"
        )
    if tau is None:
        object.__setattr__(metric, "tau", TAU)
    elif not 0.0 < tau < 1e6:
        raise UsageError(f"{name}: tau: expected a number above 0 and below 1,000,000, got {tau:g}")


def averages_weights(metric: Metric) -> bool:
    """True if a metric is a mean of the references' weights by similarity: ``over=near`` or ``over=kernel``.

    Args:
        metric: Any metric; most have no field ``over``.

    >>> from postil.metrics.spec import parse_metric
    >>> specs = ["w-rouge-l(over=near)", "w-meteor(over=kernel)", "w-rouge-l", "rouge-l(over=near)", "bleu-4"]
    >>> [averages_weights(parse_metric(spec)) for spec in specs]
    [True, True, False, False, False]
    """
    return metric.needs_weights and Over.of(metric).name in {"near", "kernel"}


def differ_in_over(metric: Metric, other: Metric) -> bool:
    """True if the other metric is the same with ``over=max``, the corpus score apart.

    Args:
        metric: A metric whose ``over`` is not ``max``.
        other: Any metric.

    >>> from postil.metrics.spec import parse_metric
    >>> near = parse_metric("w-meteor(over=near)")
    >>> differ_in_over(near, parse_metric("w-meteor")), differ_in_over(near, parse_metric("meteor"))
    (True, False)
    """
    if type(metric) is not type(other) or getattr(metric, "over", "max") == "max":
        return False
    expected = {field.name: getattr(metric, field.name) for field in fields(metric)} | {"over": "max", "tau": None}
    return all(getattr(other, name) == value for name, value in expected.items() if name != "corpus")


class SingleReferenceScorer:
    """Metrics without weights, bound to every reference as if it were the only one of its set.

    Args:
        metrics: The metrics by name.
        references: m texts in k sets.
        background: Document frequencies; by default those of ``references``, if the metric was bound to them before.

    >>> from postil.metrics.references import References
    >>> from postil.metrics.rouge import RougeL
    >>> from postil.text.tokens import Vocabulary
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
        self._alone = references.others(None, every, items)
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
        alike = {scorer.references.split: scorer.references for scorer in self.scorers.values()}
        tokens = {split: of.split_alike(candidates, jobs) for split, of in alike.items()}
        for begin, end in list(blocks(bounds, BLOCK)) or [(0, 0)]:
            rows = np.repeat(np.arange(begin, end), np.diff(bounds[begin : end + 1]))
            of_rows = references[bounds[begin] : bounds[end]].astype(np.int32)
            matches = {split: of.match(tokens[split].take(rows), of_rows, jobs) for split, of in alike.items()}
            for name, scorer in self.scorers.items():
                parts[name].append(find(scorer, matches[scorer.references.split]))
        return {name: np.concatenate(found) for name, found in parts.items()}


class SimilarityScorer(EachPairScorer):
    """Base of scorers that compare a candidate with a reference by one number, F, and aggregate as ``over`` names.

    A subclass gives `similarities`, and `empty` where tokens do not tell it; all else, controls included, follows. The
    metric has the fields ``over`` and ``tau``, which `settle_over` checks. Corpus: mean of the items.

    Args:
        metric: The metric.
        references: The references.
    """

    def __init__(self, metric: Metric, references: References) -> None:
        super().__init__(metric, references)
        self._over = Over.of(metric)

    @abstractmethod
    def similarities(self, matches: Matches) -> NDArray[np.float64]:
        """F of each candidate and each of its references, float64[p] in the order of `References.pairs`.

        Args:
            matches: n candidates and sets of any size, p pairs.
        """

    def empty(self, matches: Matches) -> NDArray[np.bool_]:
        """Mask of the candidates with nothing to compare, bool[n], which score 0 under every ``over``.

        Args:
            matches: As in `similarities`.
        """
        return np.asarray(matches.candidates.lengths == 0)

    def pairs(self, matches: Matches) -> NDArray[np.float64]:
        """Columns: F, and 1 where the candidate is empty."""
        bounds, _ = matches.references.pairs(matches.sets)
        return np.column_stack([self.similarities(matches), np.repeat(self.empty(matches), np.diff(bounds))])

    def joined(
        self, pairs: NDArray[np.float64], weights: NDArray[np.float64], bounds: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """See `PairwiseScorer.joined`."""
        scores = self._over.scores(pairs[:, 0], weights, bounds)
        return np.column_stack([np.where(pairs[bounds[:-1], 1] > 0, 0.0, scores), np.ones(len(scores))])

    def alone(self, pairs: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `PairwiseScorer.alone`: F itself, whatever ``over``."""
        return pairs[:, 0]


class AggregatingScorer(SimilarityScorer):
    """Scorer of a metric by its own scores against single references.

    Args:
        metric: The metric; its ``over`` is not ``max``.
        references: The references.
        single: Metric for single references: the same with ``over=max`` and without weights.
    """

    def __init__(self, metric: Metric, references: References, single: Metric) -> None:
        super().__init__(metric, references)
        self._single = single
        self._singles = SingleReferenceScorer({single.name: single}, references)

    @property
    def notes(self) -> tuple[str, ...]:
        """See `Scorer.notes`."""
        return self._singles.scorers[self._single.name].notes

    def remarks(self) -> list[str]:
        """See `Scorer.remarks`."""
        return self._singles.scorers[self._single.name].remarks()

    def similarities(self, matches: Matches) -> NDArray[np.float64]:
        """See `SimilarityScorer.similarities`."""

        def score() -> NDArray[np.float64]:
            return self._singles.scores(matches.candidates, matches.sets, matches.jobs)[self._single.name]

        return matches.once(self._single, score)


def first_best(values: NDArray[np.float64], bounds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Index of the highest value of each candidate's pairs, of equal ones the first.

    Args:
        values: float64[p], candidate after candidate.
        bounds: int64[n + 1], offsets of the pairs of each candidate; each has at least one.

    >>> first_best(np.array([0.5, 1.0, 1.0, 0.25]), np.array([0, 3, 4])).tolist()
    [1, 3]
    """
    highest = _reduced(np.maximum, values, bounds)
    places = np.flatnonzero(values == np.repeat(highest, np.diff(bounds)))
    return places[np.searchsorted(places, bounds[:-1])]


def _reduced(ufunc: np.ufunc, values: NDArray[np.float64], bounds: NDArray[np.int64]) -> NDArray[np.float64]:
    """Reduce the pairs of each candidate; each has at least one."""
    return np.asarray(ufunc.reduceat(values, bounds[:-1])) if len(bounds) > 1 else np.zeros(0)


MANY: Final = 10.0
"""Smallest number of references per distinct weight, median of the sets, that counts as many."""

SHARE: Final = 0.5
"""Smallest share of candidates that are references elsewhere, as in leave-one-out or halves."""

FALLS: Final = -0.1
"""Largest correlation at which the mean weight of the references counts as falling while the own weight rises."""


class NearSigns:
    """Signs in references and candidates that a mean of the weights, ``over=near`` or ``kernel``, misleads; see `Over`.

    *Many references with few distinct weights*: in at least half of the sets there are ten or more references for each
    distinct weight. Sets whose references all have one weight have nothing to average and do not count as such.

    *The mean weight of the references falls as the own weight rises*: at least half of the candidates are, word for
    word, references of other sets, which tells their own weight w, and there

        sum x y <= -.1 sqrt(sum x^2 sum y^2),  x = w - m,  y = m - o,

    where m is the mean weight of the candidate's references and o that of the sets that it is a reference in. With
    leave-one-out of n texts, ``y = -x / (n - 1)`` exactly; two halves that are each other's references have some of it.

    Args:
        metrics: Metrics by the spec that the user wrote.
        references: The references that they are bound to.

    >>> from postil.metrics.references import References
    >>> from postil.metrics.spec import parse_metric
    >>> from postil.text.tokens import Vocabulary
    >>> vocabulary = Vocabulary()
    >>> texts = [["b"], ["c"], ["a"], ["c"], ["a"], ["b"]]  # each of a, b and c against the others
    >>> references = References(
    ...     vocabulary.encode_tokens(texts), np.array([0, 2, 4, 6]), np.array([0.5, 0.0, 1.0, 0.0, 1.0, 0.5])
    ... )
    >>> signs = NearSigns({"w-rouge-l(over=near)": parse_metric("w-rouge-l(over=near)")}, references)
    >>> signs.see(vocabulary.branch().encode_tokens([["a"], ["b"], ["c"]]), np.arange(3, dtype=np.int32))
    >>> for line in signs.remarks():
    ...     print(line.partition(",")[0])
    w-rouge-l(over=near): 3 of 3 candidates are references of other items
    """

    def __init__(self, metrics: Mapping[str, Metric], references: References) -> None:
        averaging = {spec: metric for spec, metric in metrics.items() if averages_weights(metric)}
        self._names = grouped((Over.of(metric).name, spec) for spec, metric in averaging.items())
        self.asked = bool(self._names)
        """True if a metric averages the weights; without one nothing is computed."""
        self._seen = self._elsewhere = 0
        self._moments = np.zeros(3)
        if not self.asked:
            return
        sizes = np.diff(references.offsets)
        of_set = np.repeat(np.arange(len(sizes)), sizes)
        self._each_weight = _references_of_each_weight(references.weights, of_set, sizes)
        self._means = np.add.reduceat(references.weights, references.offsets[:-1]) / sizes
        self._highest = float(np.abs(references.weights).max())
        self._by_tokens = bool(len(references.tokens.ids))
        self._texts: dict[bytes | str, int] = {}
        text = np.array([self._texts.setdefault(key, len(self._texts)) for key in self._keys(references.tokens)])
        # Of each text, and of each text in each set: how often it is there, its weights and its sets' mean weights.
        values = np.stack([np.ones(len(text)), references.weights, self._means[of_set]])
        self._places, place = np.unique(text * len(sizes) + of_set, return_inverse=True)
        self._of_text = _sums(text, values, len(self._texts))
        self._of_place = _sums(place, values, len(self._places))

    def see(self, candidates: Tokens, sets: NDArray[np.int32]) -> None:
        """Count the next candidates.

        Args:
            candidates: n texts, encoded with the vocabulary of the references or a branch of it.
            sets: int32[n], index of the set of references of each candidate.
        """
        if not self.asked:
            return
        text = np.array([self._texts.get(key, -1) for key in self._keys(candidates)], dtype=np.int64)
        self._seen += len(text)
        known = np.flatnonzero(text >= 0)
        text, own = text[known], sets[known].astype(np.int64)
        key = text * len(self._means) + own
        place = np.minimum(np.searchsorted(self._places, key), len(self._places) - 1)
        n, weight, mean = self._of_text[:, text] - self._of_place[:, place] * (self._places[place] == key)
        there = n > 0.5
        self._elsewhere += int(there.sum())
        own_mean, n = self._means[own[there]], n[there]
        x, y = (
            without_noise(each, self._highest) for each in (weight[there] / n - own_mean, own_mean - mean[there] / n)
        )
        self._moments += [x @ y, x @ x, y @ y]

    def remarks(self) -> Iterator[str]:
        """One warning per sign and aggregation; none if no metric averages the weights."""
        for over, specs in self._names.items():
            yield from self._remarks(", ".join(specs), over)

    def _keys(self, tokens: Tokens) -> Iterator[bytes | str]:
        """Keys of texts: their tokens, or their characters if the references were not tokenized."""
        if not self._by_tokens:
            yield from tokens.raw_texts()
            return
        ids = tokens.ids.tobytes()
        ends = (tokens.offsets * tokens.ids.itemsize).tolist()
        yield from (ids[begin:end] for begin, end in pairwise(ends))

    def _remarks(self, names: str, over: str) -> Iterator[str]:
        if self._each_weight >= MANY:
            yield (
                f"{names}: {self._each_weight:.3g} references for each distinct weight (median of the items); with "
                f"many references and few distinct weights over={over} can correlate less with human scores than "
                "over=max"
            )
        xy, xx, yy = self._moments
        if self._elsewhere and self._elsewhere >= SHARE * self._seen and xy <= FALLS * np.sqrt(xx * yy) < 0:
            yield (
                f"{names}: {self._elsewhere:,} of {self._seen:,} candidates "
                f"{are(self._elsewhere)} references of other items, as in "
                "leave-one-out or in halves, and the mean weight of a candidate's references falls as its own weight "
                f"rises; over={over} follows that mean, against the ranking within an item, and over=max less so"
            )


def _references_of_each_weight(
    weights: NDArray[np.float64], of_set: NDArray[np.int64], sizes: NDArray[np.int64]
) -> float:
    """Number of references per distinct weight, median of the sets; a set with a single weight counts as 0."""
    order = np.lexsort((weights, of_set))
    new = np.concatenate([[True], (np.diff(weights[order]) > 0) | (np.diff(of_set[order]) > 0)])
    distinct = np.bincount(of_set[order][new], minlength=len(sizes))
    return float(np.median(np.where(distinct > 1, sizes / distinct, 0.0)))


def _sums(group: NDArray[np.int64], values: NDArray[np.float64], groups: int) -> NDArray[np.float64]:
    """Sum each row of values by group: float64[rows, groups]."""
    return np.stack([np.bincount(group, row, groups) for row in values])
