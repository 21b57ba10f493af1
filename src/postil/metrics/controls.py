"""Controls: baselines that a weighted metric has to beat before its weights can be credited.

Controls need texts, so they are computed here, by the same metric code, and become rows of scores like any other. Only
their names tell them apart afterwards, and what correlates scores needs no text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.data.arguments import check_fields
from postil.data.ranking import TOLERANCE, joined
from postil.errors import UsageError
from postil.metrics.base import PairwiseScorer, Scorer
from postil.metrics.reference_aggregation import Over, SingleReferenceScorer, averages_weights
from postil.results.names import LENGTH
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from postil.metrics.metric_set import MetricSet
    from postil.metrics.references import Matches, References
    from postil.text.tokens import Tokens

__all__ = ["ControlOptions", "Controls"]

TOGETHER: Final = 25
"""Number of draws that are scored together by metrics that need all references of a candidate."""
MOST_WEIGHTS: Final = 1 << 22
"""Largest number of weights held for them (32 MiB), unless one draw has more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ControlOptions:
    """Options of controls.

    Args:
        draws: Number of times that the weights are shuffled.
        best: k of the best-k references.
        choices: Number of choices among tied references to average over, where rank k is tied.
        seed: Seed of shuffles and choices.

    Raises:
        UsageError: A number is below 1.
    """

    draws: int = 100
    best: int = 5
    choices: int = 20
    seed: int = 20181

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("draws", "best", "choices"):
            if getattr(self, name) < 1:
                raise UsageError(f"controls: {name}: expected at least 1, got {getattr(self, name)}")


class Controls:
    """The controls of the weighted metrics of a set, computed by the same metric code.

    For a weighted metric w-m:

    - ``control:shuffled(w-m,draw=i)``: w-m with the weights shuffled within each set of references. Keeps the
      distribution of an item's weights, loses their assignment to references.
    - ``control:best-5(w-m)``: m, without weights, over the five references with the highest weights; where the fifth
      rank is tied, the mean over choices among the tied.
    - ``control:top(w-m)``: m, without weights, over all references that share the highest weight. Neither this nor
      ``best`` exists for ``over=kernel``, which is 1 without weights.
    - ``control:nearest(w-m)``: the weight of the reference that is nearest to the candidate by m, the mean of ties. No
      similarity is in this score, only the grade of another text.
    - ``control:mean-weight(w-m)``: the mean weight of the references, where m is a similarity-weighted mean of them
      (``over=near``, ``over=kernel``): its score if every reference were equally similar to the candidate. It is the
      same for all candidates of a set of references.
    - ``control:length``: the number of the candidate's tokens.

    Weights of a set of references, and a candidate's scores by them, are tied as `postil.data.ranking` says.

    Args:
        metrics: The metrics, bound; those that read weights have controls. Without any, the length is the only one.
        options: Options of controls.

    >>> from postil.metrics.references import References
    >>> from postil.metrics.metric_set import MetricSet, parse_all
    >>> from postil.text.tokens import Vocabulary
    >>> vocabulary = Vocabulary()
    >>> tokens = vocabulary.encode_tokens([["a", "b"], ["a", "c"], ["d"]])
    >>> references = References(tokens, np.array([0, 3]), np.array([1.0, 0.5, 0.25]))
    >>> metrics = MetricSet(parse_all(["w-rouge-l"]), references, tokenizer="space")
    >>> controls = Controls(metrics, ControlOptions(draws=1, best=2))
    >>> candidates = vocabulary.branch().encode_tokens([["a", "c"]])
    >>> for name, scores in controls.scores(candidates, np.array([0], dtype=np.int32)):
    ...     print(name, scores.round(4).tolist())
    control:shuffled(w-rouge-l,draw=1) [0.5]
    control:best-2(w-rouge-l) [1.0]
    control:top(w-rouge-l) [0.5]
    control:nearest(w-rouge-l) [0.5]
    control:length [2.0]
    """

    def __init__(self, metrics: MetricSet, options: ControlOptions | None = None) -> None:
        self._options = options or ControlOptions()
        self._references = references = metrics.references
        self._metrics = {spec: metric for spec, metric in metrics.metrics.items() if metric.needs_weights}
        self._background = metrics.background
        self._as_grades = metrics.as_grades
        self._scorers = {spec: metrics.scorer(spec) for spec in self._metrics}
        self._choosing = [spec for spec, metric in self._metrics.items() if Over.of(metric).name != "kernel"]
        self._averaging = [spec for spec, metric in self._metrics.items() if averages_weights(metric)]
        self._set = np.repeat(np.arange(len(references)), np.diff(references.offsets))
        self._ranks = joined(references.weights, references.offsets[:-1])
        self._chosen = {
            f"best-{self._options.best}": [self._choice(keep) for keep in self._best()],
            "top": [self._choice(self._top())],
        }
        self._singles = SingleReferenceScorer(self._metrics, references, self._background)
        self.signatures = {
            name: f"{metrics.signatures[spec]}|{note}" for spec in self._metrics for name, note in self._notes(spec)
        } | {LENGTH: f"{LENGTH}|tokenizer:{metrics.tokenizer}|postil:{VERSION}"}
        """Signature of each control, by name: all that its numbers depend on."""

    def _notes(self, spec: str) -> Iterator[tuple[str, str]]:
        """Name of each control of a metric, and what its signature adds to that of the metric."""
        seed, ties, best_k = self._options.seed, f"{TOLERANCE:g}", f"best-{self._options.best}"
        for draw in range(1, self._options.draws + 1):
            yield self._shuffled(spec, draw), f"control:shuffled|seed:{seed}"
        if spec in self._choosing:
            choices = f"choices:{self._options.choices}|seed:{seed}"
            yield f"control:{best_k}({spec})", f"control:{best_k}|ties:{ties}|{choices}"
            yield f"control:top({spec})", f"control:top|ties:{ties}"
        yield f"control:nearest({spec})", f"control:nearest|ties:mean:{ties}"
        if spec in self._averaging:
            yield f"control:mean-weight({spec})", "control:mean-weight"

    def scores(
        self, candidates: Tokens, sets: NDArray[np.int32], jobs: int = 1
    ) -> Iterator[tuple[str, NDArray[np.float64]]]:
        """Score n candidates by each control; those of a metric whose scores are grades are grades too.

        Args:
            candidates: n texts, encoded with the vocabulary of the references or a branch of it.
            sets: int32[n], index of the set of references of each candidate.
            jobs: Number of threads; the result does not depend on it.

        Yields:
            Name and item scores, float64[n].
        """
        for name, spec, values in self._scores(candidates, sets, jobs) if self._metrics else ():
            yield name, self._as_grades(spec, values)
        yield LENGTH, np.diff(candidates.offsets).astype(np.float64)

    def _scores(
        self, candidates: Tokens, sets: NDArray[np.int32], jobs: int
    ) -> Iterator[tuple[str, str, NDArray[np.float64]]]:
        """Name, metric and item scores of the controls of each metric."""
        pairs = _Pairs(*self._references.pairs(sets), self._singles.compared(candidates, sets, jobs))
        matches = self._references.match(candidates, sets, jobs)
        together = max(1, min(TOGETHER, MOST_WEIGHTS // len(self._set)))
        by_size = self._by_size(np.unique(sets))
        for begin in range(1, self._options.draws + 1, together):
            draws = range(begin, min(begin + together, self._options.draws + 1))
            weights = np.stack([self._shuffle(by_size, draw) for draw in draws])
            rest = {
                spec: scorer.measure_each(matches.of(scorer.references), weights)
                for spec, scorer in self._scorers.items()
                if not isinstance(scorer, PairwiseScorer)
            }
            for i, draw in enumerate(draws):
                for spec, scorer in self._scorers.items():
                    if isinstance(scorer, PairwiseScorer):
                        stats = scorer.joined(pairs.found[spec], weights[i][pairs.references], pairs.bounds)
                    else:
                        stats = rest[spec][i]
                    yield self._shuffled(spec, draw), spec, scorer.items(stats)
        for kind, choices in self._chosen.items():
            for spec, mean in self._means(choices, pairs, candidates, sets, jobs).items():
                yield f"control:{kind}({spec})", spec, mean
        for spec in self._scorers:
            yield f"control:nearest({spec})", spec, self._nearest(spec, pairs)
        means = np.add.reduceat(self._references.weights, self._references.offsets[:-1])
        means /= np.diff(self._references.offsets)
        for spec in self._averaging:
            yield f"control:mean-weight({spec})", spec, means[sets]

    @staticmethod
    def _shuffled(spec: str, draw: int) -> str:
        return f"control:shuffled({spec},draw={draw})"

    def _by_size(self, sets: NDArray[np.int32]) -> list[NDArray[np.int64]]:
        """Group references by the size of their set: one int64[sets, size] for each size."""
        begins, sizes = self._references.offsets[sets], np.diff(self._references.offsets)[sets]
        return [begins[sizes == size, None] + np.arange(size) for size in np.unique(sizes)]

    def _shuffle(self, by_size: list[NDArray[np.int64]], draw: int) -> NDArray[np.float64]:
        """Weights, shuffled within some sets: float64[m]."""
        noise, weights = self._noise(draw), self._references.weights.copy()
        for places in by_size:
            order = np.argsort(noise[places], axis=1, kind="stable")
            weights[places] = self._references.weights[np.take_along_axis(places, order, axis=1)]
        return weights

    def _noise(self, draw: int) -> NDArray[np.float64]:
        return np.random.default_rng([self._options.seed, draw]).random(len(self._set))

    def _descending(self, choice: int) -> NDArray[np.int64]:
        """Indices of the references of each set by descending weight, ties in random order: int64[m]."""
        return np.lexsort((self._noise(choice), -self._ranks, self._set))

    def _choice(self, keep: NDArray[np.bool_]) -> _Choice:
        rest = [spec for spec, scorer in self._scorers.items() if not isinstance(scorer, PairwiseScorer)]
        references = self._references.subset(keep) if rest else self._references
        scorers = {spec: self._metrics[spec].against_unweighted(references, self._background) for spec in rest}
        return _Choice(keep, references, scorers)

    def _top(self) -> NDArray[np.bool_]:
        """Mask of the references with the highest weight of their set."""
        highest = np.maximum.reduceat(self._ranks, self._references.offsets[:-1])
        return np.asarray(self._ranks == highest[self._set])

    def _best(self) -> Iterator[NDArray[np.bool_]]:
        """Masks of the best-k references of each set: one where no set has a tie at rank k, else one per choice."""
        place = np.arange(len(self._ranks)) - self._references.offsets[self._set]
        chosen = place < self._options.best
        ranks = self._ranks[self._descending(0)]
        last = np.flatnonzero(place == self._options.best)  # the first that is not chosen
        tied = bool((ranks[last] == ranks[last - 1]).any())
        for choice in range(self._options.choices if tied else 1):
            keep = np.zeros(len(self._ranks), dtype=bool)
            keep[self._descending(choice)[chosen]] = True
            yield keep

    def _means(
        self, choices: list[_Choice], pairs: _Pairs, candidates: Tokens, sets: NDArray[np.int32], jobs: int
    ) -> dict[str, NDArray[np.float64]]:
        """Mean item scores of each metric over some choices of references, all of weight 1."""
        sums = {spec: np.zeros(len(candidates)) for spec in self._choosing}
        for choice in choices:
            kept = choice.keep[pairs.references]
            bounds, ones = np.concatenate([[0], np.cumsum(kept)])[pairs.bounds], np.ones(np.count_nonzero(kept))
            matches = choice.references.match(candidates, sets, jobs) if choice.rest else None
            for spec in self._choosing:
                scorer = self._scorers[spec]
                if isinstance(scorer, PairwiseScorer):
                    sums[spec] += scorer.items(scorer.joined(pairs.found[spec][kept], ones, bounds))
                elif matches is not None:
                    sums[spec] += scorer.items(_measured(choice.rest[spec], matches))
        return {spec: total / len(choices) for spec, total in sums.items()}

    def _nearest(self, spec: str, pairs: _Pairs) -> NDArray[np.float64]:
        starts = pairs.bounds[:-1]
        scorer, found = self._scorers[spec], pairs.found[spec]
        values = joined(scorer.alone(found) if isinstance(scorer, PairwiseScorer) else found[:, 0], starts)
        if self._metrics[spec].better == "low":
            values = -values
        highest = np.maximum.reduceat(values, starts)
        nearest = (values == np.repeat(highest, np.diff(pairs.bounds))).astype(np.float64)
        sums = np.add.reduceat(nearest * self._references.weights[pairs.references], starts)
        return np.asarray(sums / np.add.reduceat(nearest, starts))


def _measured(scorer: Scorer, matches: Matches) -> NDArray[np.float64]:
    return scorer.measure(matches.of(scorer.references))


@dataclass(frozen=True, slots=True)
class _Choice:
    """Some of the references, at least one of each set.

    Args:
        keep: bool[m], mask of the chosen references.
        references: The chosen references, where a metric needs them together; else all.
        rest: Scorers of those metrics, bound to them, by spec.
    """

    keep: NDArray[np.bool_]
    references: References
    rest: Mapping[str, Scorer]


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Pairs of candidate and reference, each compared once by each metric; see `SingleReferenceScorer`."""

    bounds: NDArray[np.int64]
    references: NDArray[np.int64]
    found: Mapping[str, NDArray[np.float64]]
