"""Per-unit contributions to the score of a passage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from postil.errors import UsageError
from postil.interest.result import UnitContribution
from postil.metrics.passages.measures import FScore, KullbackLeibler, LogSim, PooledRouge, TfIdf

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.metrics.passages.collection import Bags, PassageCollection
    from postil.metrics.passages.measures import Overlap
    from postil.metrics.passages.pool import Pools

__all__ = ["DECOMPOSABLE", "unit_contributions"]

Floats: TypeAlias = "NDArray[np.float64]"
Integers: TypeAlias = "NDArray[np.int32]"


DECOMPOSABLE: Final = ("f1", "kl", "logsim", "rouge", "tf-idf")
"""Families of measures whose scores decompose into unit contributions."""


def unit_contributions(
    measure: Overlap, collection: PassageCollection, pools: Pools, index: int, most: int | None = None
) -> list[UnitContribution]:
    """The units that a passage shares with its reference, the largest contribution first.

    The contributions of F, LogSim, ROUGE and the TF-IDF cosine add up to the score.

    Args:
        measure: The measure that scored the passage, of a family in `DECOMPOSABLE`.
        collection: The passages.
        pools: Their references.
        index: The passage, as an index into ``pools.texts``.
        most: Largest number of units; by default all.

    Raises:
        UsageError: The measure does not decompose.

    >>> from postil.metrics.passages.collection import PassageCollection
    >>> from postil.metrics.passages.pool import informativeness
    >>> from postil.text.tokens import Vocabulary
    >>> collection = PassageCollection(Vocabulary().encode_tokens([["a", "b", "c"], ["b", "d"], ["b", "c", "x"]]))
    >>> pools = informativeness([0, 0, 0], [1, 1, 0])
    >>> [(each.unit, round(each.part, 3)) for each in unit_contributions(FScore(), collection, pools, 2)]
    [('b', 0.286), ('c', 0.286)]
    """
    pool = int(np.searchsorted(pools.text_offsets, index, side="right")) - 1
    held = np.arange(pools.reference_offsets[pool], pools.reference_offsets[pool + 1])
    held = np.setdiff1d(held, pools.own_of(index))
    bags = collection.bags(measure.unit, upto=measure.upto)
    units = bags.units

    text = int(pools.texts[index])
    mine = slice(units.offsets[text], units.offsets[text + 1])
    number, k = units.units[mine], units.counts[mine].astype(np.float64)
    most_of = np.zeros(units.distinct)
    most_of[number] = k

    begins, sizes = units.offsets[pools.references[held]], units.types[pools.references[held]]
    entries = np.arange(sizes.sum()) + np.repeat(begins - (np.cumsum(sizes) - sizes), sizes)
    unit, times = units.units[entries], units.counts[entries]
    weights = np.repeat(pools.weights[held] if measure.weighted else np.ones(len(held)), sizes)
    count = np.asarray(np.bincount(unit, weights * times, units.distinct), np.float64)
    parts = _parts(measure, number, k, count, bags)
    if isinstance(measure, FScore):
        squared, best = measure.beta**2, np.zeros(units.distinct)
        np.maximum.at(best, unit, weights)
        parts = (1 + squared) * best[number] / (squared * np.count_nonzero(count) + len(number))
    elif isinstance(measure, PooledRouge):
        matched = np.bincount(unit, weights * np.minimum(times, most_of[unit]), units.distinct)
        parts = matched[number] / max(1, int(times.sum()))
    order = [i for i in np.argsort(-parts, kind="stable").tolist() if count[number[i]] > 0]
    words = collection.tokens.vocabulary.words()
    return [
        UnitContribution(unit=" ".join(words[word] for word in units.grams[number[i]]), part=float(parts[i]))
        for i in order[:most]
    ]


def _parts(measure: Overlap, number: Integers, k: Floats, count: Floats, bags: Bags) -> Floats:
    """Contribution of each unit, for measures where it depends on counts alone."""
    c, total = count[number], float(count.sum())
    if isinstance(measure, FScore | PooledRouge) or not total:
        return np.zeros(len(number))
    if isinstance(measure, LogSim):
        of_text, of_pool = np.log1p(k * total / k.sum()), np.log1p(c)
        return np.asarray(c / total * np.minimum(of_text, of_pool) / np.maximum(of_text, of_pool))
    if isinstance(measure, KullbackLeibler):
        share = bags.share[number]
        return np.asarray(c / total * (np.log(k + share) - np.log(share)))
    if isinstance(measure, TfIdf):
        idf = bags.idf[number]
        norms = np.sqrt(((k * idf) ** 2).sum() * ((count * bags.idf) ** 2).sum())
        return np.asarray(k * c * idf**2 / norms)
    raise UsageError(f"{measure.name} does not decompose into unit contributions; use {', '.join(DECOMPOSABLE)}")
