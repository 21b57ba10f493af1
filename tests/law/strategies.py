"""Texts, graded references and candidates for the laws, and how they are scored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from exploration import FACTOR, is_thorough
from postil.kernel import NAME
from postil.metrics.metric_set import DeterministicSum, MetricSet, parse_all
from postil.metrics.references import References
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypothesis.strategies import DrawFn, SearchStrategy
    from numpy.typing import NDArray

    from postil.metrics.background import DocumentFrequencies


def law(examples: int, python: int) -> settings:
    """So many examples, `python` with the pure-Python kernel; in `make test-all` more and others, see `exploration`."""
    if is_thorough():
        examples, python = examples * FACTOR, examples
    return settings(
        max_examples=examples if NAME == "compiled" else python,
        database=None,
        phases=[Phase.explicit, Phase.generate, Phase.shrink],
        suppress_health_check=[HealthCheck.too_slow],
    )


Text = list[str]

# Few words, so that they repeat and chunks compete: common stems, function words, one that `characters` cuts.
WORDS = ("run", "runs", "the", "of", "cat", "我们")
TEXTS: SearchStrategy[Text] = st.lists(st.sampled_from(WORDS), max_size=7)
REFERENCES: SearchStrategy[list[Text]] = st.lists(TEXTS, min_size=1, max_size=4)
WEIGHTS: SearchStrategy[float] = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(1e-6, 1.0)


@dataclass(frozen=True)
class Problem:
    """Sets of references, a weight for each, and candidates with the number of the set that each meets."""

    references: list[list[Text]]
    weights: list[list[float]]
    candidates: list[Text]
    sets: list[int]

    def with_weights(self, weights: list[list[float]]) -> Problem:
        return replace(self, weights=weights)

    def evenly(self, weight: float) -> Problem:
        return self.with_weights([[weight] * len(row) for row in self.weights])


@st.composite
def problems(
    draw: DrawFn, references: SearchStrategy[list[Text]] = REFERENCES, weights: SearchStrategy[float] = WEIGHTS
) -> Problem:
    """At least two sets, as CIDEr needs; empty texts on both sides."""
    sets = draw(st.lists(references, min_size=2, max_size=4))
    candidates = draw(st.lists(TEXTS, min_size=1, max_size=5))
    return Problem(
        sets,
        [[draw(weights) for _ in row] for row in sets],
        candidates,
        [draw(st.integers(0, len(sets) - 1)) for _ in candidates],
    )


def references_of(problem: Problem, vocabulary: Vocabulary, items: Sequence[int] | None = None) -> References:
    tokens = vocabulary.encode_tokens([text for row in problem.references for text in row], keep_texts=True)
    offsets = np.cumsum([0, *map(len, problem.references)])
    weights = np.array([weight for row in problem.weights for weight in row])
    if items is None:
        return References(tokens, offsets, weights)
    return References(tokens, offsets, weights, np.array(items, dtype=np.int32))


@dataclass(frozen=True)
class Results:
    """Scores of a problem by some metrics, by spec."""

    stats: dict[str, NDArray[np.float64]]
    items: dict[str, NDArray[np.float64]]
    corpus: dict[str, float]
    metrics: MetricSet


def scores(
    problem: Problem,
    specs: Sequence[str],
    *,
    background: DocumentFrequencies | None = None,
    items: Sequence[int] | None = None,
    jobs: int = 1,
    chunks: Sequence[int] = (),
) -> Results:
    """Score a problem.

    Args:
        problem: What to score.
        specs: Metrics.
        background: Document frequencies.
        items: For each set the item that it belongs to.
        jobs: Threads.
        chunks: Where the candidates are split; each part is encoded and measured by itself.
    """
    vocabulary = Vocabulary()
    bound = references_of(problem, vocabulary, items)
    metrics = MetricSet(parse_all(specs), bound, background=background, tokenizer="given")
    totals = {spec: DeterministicSum() for spec in specs}
    parts: list[dict[str, NDArray[np.float64]]] = []
    bounds = [0, *chunks, len(problem.candidates)]
    for begin, end in pairwise(bounds):
        tokens = vocabulary.branch().encode_tokens(problem.candidates[begin:end], keep_texts=True)
        parts.append(metrics.measure(tokens, np.array(problem.sets[begin:end], dtype=np.int32), jobs))
        for spec in specs:
            totals[spec].add(parts[-1][spec])
    stats = {spec: np.concatenate([part[spec] for part in parts]) for spec in specs}
    return Results(
        stats,
        {spec: metrics.items(spec, stats[spec]) for spec in specs},
        {spec: metrics.corpus(spec, totals[spec].sum()) for spec in specs},
        metrics,
    )
