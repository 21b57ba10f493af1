"""References that nobody graded: weights by the consensus of a set, and the choice of those to grade."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from operator import itemgetter
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import UsageError
from postil.metrics.reference_aggregation import BLOCK, SingleReferenceScorer
from postil.metrics.references import References, blocks
from postil.metrics.spec import parse_metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.messages import Setting
    from postil.metrics.background import DocumentFrequencies
    from postil.metrics.base import Metric

__all__ = [
    "NAME",
    "SIMILARITY",
    "ReferencePlan",
    "consensus",
    "mean_similarities",
    "plan_references",
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
    for begin, end in blocks(bounds, BLOCK):
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
    if not metric.needs_references:
        raise UsageError("{use}: expected a metric that compares texts, got '{spec}'", use=use, spec=spec)
    if metric.low < 0 or metric.better == "low":
        raise UsageError(
            "{use}: expected a metric from 0 up where higher is better, got '{spec}'; "
            "register_metric(low=0) says that it is one",
            use=use,
            spec=spec,
        )
    return metric


TENTHS: Final = 10
"""Number of parts of the budget whose value is told."""


@dataclass(frozen=True, eq=False, slots=True)
class ReferencePlan:
    """References in the order in which to grade them; any beginning is a plan.

    Args:
        order: int64[budget], index of each reference.
        gains: float64[budget], increase of the value by each.
        covered: float64[10], value after each tenth of the budget, as a share of that of all references.
    """

    order: NDArray[np.int64]
    gains: NDArray[np.float64]
    covered: NDArray[np.float64]


class _Item:
    """References of an item, with the highest similarity of each of its texts to those that are chosen.

    Args:
        similarities: float64[texts, references].
        rows: Row of each reference, rising.
        graded: bool[references], those that are chosen from the start.
    """

    def __init__(self, similarities: NDArray[np.float64], rows: list[int], graded: NDArray[np.bool_]) -> None:
        self.rows = rows
        self.chosen = graded.copy()
        self.of_reference = np.ascontiguousarray(similarities.T)
        self.highest = np.max(self.of_reference[graded], axis=0, initial=0.0)

    def gain(self, reference: int) -> float:
        """Increase of the value by a reference, by its index within the item."""
        # Of equal numbers in equal order: as `highest` rises, no term and so no rounded sum rises, and `_in_order` may
        # take an earlier gain as an upper bound.
        return float(np.maximum(self.of_reference[reference] - self.highest, 0.0).sum())

    def gains(self) -> list[tuple[float, int]]:
        """Negative gain and row of each reference that is not chosen."""
        return [(-self.gain(each), self.rows[each]) for each in np.flatnonzero(~self.chosen).tolist()]

    def place(self, row: int) -> int:
        """Index of a reference within the item, by its row."""
        return bisect_left(self.rows, row)

    def choose(self, row: int) -> None:
        """Add a reference to those that are chosen, by its row."""
        reference = self.place(row)
        self.chosen[reference] = True
        self.highest = np.maximum(self.highest, self.of_reference[reference])


def plan_references(
    similarities: NDArray[np.float64],
    sets: NDArray[np.int32],
    offsets: NDArray[np.int64],
    graded: NDArray[np.bool_],
    *,
    budget: int,
    each: int = 1,
    rows: NDArray[np.int64] | None = None,
) -> ReferencePlan:
    """Choose references such that every text is similar to one of them.

    The value of a set of references is the sum over the texts of the highest similarity to one of the text's item.
    First comes the best reference of every item, items by gain, then the reference with the largest gain anywhere.
    Gains never rise, so those known before are upper bounds, and few are computed anew. Ties go to the first row.

    Args:
        similarities: float64[pairs], from 0 up, of each text with each reference of its item, text after text.
        sets: int32[n], item of each text.
        offsets: int64[k + 1]; item i has the references ``offsets[i]:offsets[i + 1]``.
        graded: bool[m], references that have a grade already, and so count as chosen.
        budget: Number of references to choose, at most those of items with texts that are not graded.
        each: Number of references per item that come first, graded ones included.
        rows: int64[m], row of each reference, a permutation, rising within an item; by default its index.

    >>> similarities = np.array([0.5, 0.25, 0.0, 0.75, 1.0, 0.0])  # two texts of the first item, one of the second
    >>> items, bounds = np.array([0, 0, 1], np.int32), np.array([0, 2, 4])
    >>> plan = plan_references(similarities, items, bounds, np.zeros(4, bool), budget=3)
    >>> plan.order.tolist(), plan.gains.tolist()
    ([1, 2, 0], [1.0, 1.0, 0.25])
    """
    rows = np.arange(len(graded)) if rows is None else rows
    items = _items(similarities, sets, offsets, graded, rows)
    start = sum(float(item.highest.sum()) for item in items.values())
    order: list[tuple[float, int]] = []
    for count in range(1, each + 1):
        lacking = [item for item in items.values() if item.chosen.sum() < count and not item.chosen.all()]
        best = sorted(((min(item.gains()), item) for item in lacking), key=itemgetter(0))
        for (gain, row), item in best[: budget - len(order)]:
            item.choose(row)
            order.append((gain, row))
    order += _in_order(items, budget - len(order))
    gains = np.array([-gain for gain, _ in order])
    values = start + np.concatenate([[0.0], np.cumsum(gains)])
    whole = sum(float(item.of_reference.max(axis=0).sum()) for item in items.values())
    ends = -(-budget * np.arange(1, TENTHS + 1) // TENTHS)
    return ReferencePlan(
        order=np.argsort(rows)[[row for _, row in order]],
        gains=gains,
        covered=np.minimum(values[ends] / whole, 1.0) if whole else np.ones(TENTHS),
    )


def _items(
    similarities: NDArray[np.float64],
    sets: NDArray[np.int32],
    offsets: NDArray[np.int64],
    graded: NDArray[np.bool_],
    rows: NDArray[np.int64],
) -> dict[int, _Item]:
    """Items that have texts, in their order."""
    counts = np.diff(offsets)
    begins = np.concatenate([[0], np.cumsum(counts[sets])])
    by_item = np.argsort(sets, kind="stable")
    found: dict[int, _Item] = {}
    for texts in np.split(by_item, np.flatnonzero(np.diff(sets[by_item])) + 1):
        item = int(sets[texts[0]])
        own = slice(int(offsets[item]), int(offsets[item + 1]))
        found[item] = _Item(
            similarities[begins[texts][:, None] + np.arange(counts[item])], rows[own].tolist(), graded[own]
        )
    return found


def _in_order(items: dict[int, _Item], count: int) -> list[tuple[float, int]]:
    """Choose further references by their gain: negative gain and row of each."""
    bounds = [(*gain, number, 0) for number, item in items.items() for gain in item.gains()] if count > 0 else []
    heapify(bounds)
    changes = dict.fromkeys(items, 0)
    order: list[tuple[float, int]] = []
    while len(order) < count:
        gain, row, number, known = heappop(bounds)
        item = items[number]
        if known < changes[number]:  # an upper bound
            heappush(bounds, (-item.gain(item.place(row)), row, number, changes[number]))
            continue
        item.choose(row)
        changes[number] += 1
        order.append((gain, row))
    return order
