"""Consensus weights for ungraded references: similarity of each to the others of its set."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import UsageError
from postil.metrics.reference_aggregation import SingleReferenceScorer, blocks
from postil.metrics.spec import parse_metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.messages import Setting
    from postil.metrics.background import DocumentFrequencies
    from postil.metrics.base import Metric
    from postil.metrics.references import References

__all__ = [
    "NAME",
    "NO_SIMILARITY",
    "SIMILARITY",
    "consensus",
    "mean_similarities",
    "similarity_metric",
    "similarity_of",
]

NAME: Final = "consensus"
"""Name of the method in options and signatures."""

SIMILARITY: Final = "rouge-l(beta=1)"
"""The similarity where none is named: it is the same in both directions, needs no document frequencies and no language,
and is the fastest metric against single references."""

NO_SIMILARITY: Final = 1e-7
"""No reference is like another where the highest mean is not above this; smoothed BLEU never comes to 0."""

_METHOD: Final = re.compile(r"consensus(?:\((?P<spec>.*)\))?", re.DOTALL)


def consensus(
    references: References, metric: Metric, *, background: DocumentFrequencies | None = None, jobs: int = 1
) -> NDArray[np.float64]:
    """Weights of references: mean similarity to the others of the set, divided by the highest of the set.

    ``s_j = l_j / max_i l_i`` with l as in `mean_similarities`, so that the best of every set has weight 1. Where no
    reference is like another, or there is only one, all have weight 1.

    Args:
        references: m texts in sets; their weights are not read.
        metric: The similarity, see `similarity_of`.
        background: Document frequencies for CIDEr; by default those of ``references``.
        jobs: Number of threads; the result does not depend on it.

    Returns:
        float64[m] in [0, 1].

    Raises:
        Undefined: CIDEr of a single item without a background.

    ``a b`` shares one of two words with each of the others, which share nothing:

    >>> from postil.metrics.references import References
    >>> from postil.text.tokens import Vocabulary
    >>> tokens = Vocabulary().encode_tokens([["a", "b"], ["a", "c"], ["d", "b"], ["e"]])
    >>> consensus(References(tokens, np.array([0, 3, 4])), similarity_of("consensus")).tolist()
    [1.0, 0.5, 0.5, 1.0]
    """
    means = mean_similarities(references, metric, background=background, jobs=jobs)
    highest = np.maximum.reduceat(means, references.offsets[:-1]) if len(references) else np.zeros(0)
    highest = np.repeat(highest, np.diff(references.offsets))
    return np.divide(means, highest, out=np.ones_like(means), where=highest > NO_SIMILARITY)


def mean_similarities(
    references: References, metric: Metric, *, background: DocumentFrequencies | None = None, jobs: int = 1
) -> NDArray[np.float64]:
    """Mean similarity of each reference to the other references of its set.

    ``l_j = 1/(K - 1) sum_(i != j) m(r_j, r_i)``, m a metric without weights with r_j as its candidate; 0 for a
    reference that is alone. The work grows with the square of each set's size.

    Args:
        references: m texts in sets; their weights are not read.
        metric: m, see `similarity_of`.
        background: Document frequencies for CIDEr; by default those of ``references``.
        jobs: Number of threads; the result does not depend on it.

    Returns:
        float64[m] in the range of the metric.

    Raises:
        Undefined: CIDEr of a single item without a background.

    >>> from postil.metrics.references import References
    >>> from postil.text.tokens import Vocabulary
    >>> tokens = Vocabulary().encode_tokens([["a", "b"], ["a", "c"], ["d", "b"], ["e"]])
    >>> mean_similarities(References(tokens, np.array([0, 3, 4])), similarity_of("consensus")).tolist()
    [0.5, 0.25, 0.25, 0.0]
    """
    tokens, sizes = references.tokens, np.diff(references.offsets)
    sets = np.repeat(np.arange(len(references), dtype=np.int32), sizes)
    bounds = np.concatenate([[0], np.cumsum(sizes[sets])])  # of pairs: each text and all texts of its set
    singles = SingleReferenceScorer({NAME: metric}, references, background)
    sums = np.empty(len(tokens))
    for begin, end in blocks(bounds):
        values = singles.scores(tokens.take(np.arange(begin, end)), sets[begin:end], jobs)[NAME]
        starts = bounds[begin:end] - bounds[begin]
        values[starts + np.arange(begin, end) - references.offsets[sets[begin:end]]] = 0.0  # with itself
        sums[begin:end] = np.add.reduceat(values, starts)
    others: NDArray[np.int64] = np.maximum(sizes[sets] - 1, 1)
    return sums / others


def similarity_of(method: str | None) -> Metric | None:
    """Parse the similarity of a weights method, ``consensus`` or ``consensus(SPEC)``; None for other methods.

    Args:
        method: Name of a weights method, if there is one.

    Raises:
        UnknownName, UsageError: As `parse`, or the metric reads weights itself.

    >>> print(similarity_of("consensus"), similarity_of("consensus(cider-d)"), similarity_of("votes"))
    rouge-l(reading=max,beta=1,over=max) cider-d(order=4,sigma=6) None
    """
    match = _METHOD.fullmatch(method or "")
    return similarity_metric(match["spec"] or SIMILARITY, NAME) if match else None


def similarity_metric(spec: str, use: str | Setting) -> Metric:
    """Parse a metric that is a similarity of two texts.

    Args:
        spec: Spec of the metric.
        use: Name of its use, or the setting that names it, for messages.

    Raises:
        UnknownName, UsageError: As `parse`, the metric reads weights, or it can be negative or is better when low.

    >>> similarity_metric("w-meteor", "consensus")
    Traceback (most recent call last):
    ...
    postil.errors.UsageError: consensus: expected a metric that reads no weights, got 'w-meteor'
    """
    metric = parse_metric(spec)
    if metric.needs_weights:
        raise UsageError("{use}: expected a metric that reads no weights, got '{spec}'", use=use, spec=spec)
    if metric.low < 0 or metric.better == "low":
        raise UsageError(
            "{use}: expected a metric from 0 up where higher is better, got '{spec}'; "
            "register_metric(low=0) says that it is one",
            use=use,
            spec=spec,
        )
    return metric
