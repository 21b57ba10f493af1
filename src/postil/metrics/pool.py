"""Passages against a pool of others: whose texts make the reference of a passage, and which of them leave it.

Source: González-Gallardo, SanJuan and Torres-Moreno, "Extending Text Informativeness Measures to Passage
Interestingness Evaluation", sections 3.2 and 3.3.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import numpy as np

from postil.errors import Undefined, UnknownName, UsageError
from postil.records.explain import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["FOLDS", "FoldsBy", "Pools", "folds_of", "informativeness", "interestingness"]

FOLDS: Final = 12
"""How many folds of topics there are at most."""

FoldsBy: TypeAlias = Literal["seed", "order"]
"""How topics come to folds: shuffled with a seed, or in their order, modulo the number of folds."""

_NOTHING: Final = "no passage has a grade above 0, so there is no reference"


@dataclass(frozen=True, eq=False)
class Pools:
    """p pooled references, each with the passages that are scored against it; all numbers are rows of a collection.

    Args:
        reference_offsets: int64[p + 1]; pool i has the references ``reference_offsets[i]:reference_offsets[i + 1]``.
        references: int32[r], passages.
        weights: float64[r], what each counts.
        text_offsets: int64[p + 1], likewise of the passages that are scored.
        texts: int32[t], these passages; none stands twice.
        own_offsets: int64[t + 1], likewise of the references that leave the pool while a passage is scored.
        own: int64[o], places in ``references``.
    """

    reference_offsets: NDArray[np.int64]
    references: NDArray[np.int32]
    weights: NDArray[np.float64]
    text_offsets: NDArray[np.int64]
    texts: NDArray[np.int32]
    own_offsets: NDArray[np.int64]
    own: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.reference_offsets) - 1

    def even(self) -> Pools:
        """The same with all weights 1."""
        return replace(self, weights=np.ones(len(self.weights)))

    def all_inside(self) -> Pools:
        """The same with every passage in its own reference."""
        return replace(self, own_offsets=np.zeros_like(self.own_offsets), own=self.own[:0])


def informativeness(topics: ArrayLike, weights: ArrayLike) -> Pools:
    """Each topic's informative passages are the reference of its passages (equation 12).

    A passage that is informative itself leaves the reference while it is scored; `Pools.all_inside` keeps it there, as
    the paper does. Topics without an informative passage have no pool, and their passages are not scored.

    Args:
        topics: int32[n], the topic of each passage.
        weights: float64[n] in [0, 1], how informative each is; 0 is not.

    Raises:
        Undefined: No passage is informative.

    >>> pools = informativeness([0, 0, 0, 1], [1, 0.5, 0, 0])
    >>> pools.references.tolist(), pools.texts.tolist(), pools.own_offsets.tolist(), pools.own.tolist()
    ([0, 1], [0, 1, 2], [0, 1, 2, 2], [0, 1])
    """
    topic, weight = _numbers(topics), np.asarray(weights, np.float64)
    order = np.argsort(topic, kind="stable").astype(np.int32)
    rich = np.bincount(topic, weight > 0) > 0
    if not rich.any():
        raise Undefined(_NOTHING)
    texts = order[rich[topic[order]]]
    informative = weight[texts] > 0
    references = texts[informative]
    return Pools(
        reference_offsets=_offsets(np.bincount(topic[references], minlength=len(rich))[rich]),
        references=references,
        weights=weight[references],
        text_offsets=_offsets(np.bincount(topic[texts], minlength=len(rich))[rich]),
        texts=texts,
        own_offsets=_offsets(informative),
        own=np.arange(len(references)),
    )


def interestingness(
    topics: ArrayLike, weights: ArrayLike, same_text: ArrayLike, folds: ArrayLike, *, names: Sequence[str] = ()
) -> Pools:
    """What is informative for some topic of another fold is the reference of a passage (section 3.3).

    Texts equal to the passage leave the reference while it is scored.

    Args:
        topics: int32[n], the topic of each passage.
        weights: float64[n] in [0, 1], how informative each is for its topic; 0 is not.
        same_text: int32[n], equal for passages whose texts are equal.
        folds: int32[topics], the fold of each topic, see `folds_of`.
        names: Of the topics, for messages.

    Raises:
        Undefined: There is one fold, all informative passages are in one, or there are none.

    >>> pools = interestingness([0, 0, 1], [1, 0, 1], [0, 1, 0], [0, 1])
    >>> pools.references.tolist(), pools.texts.tolist(), pools.own_offsets.tolist(), pools.own.tolist()
    ([2, 0], [0, 1, 2], [0, 1, 1, 2], [0, 1])
    """
    topic, weight, same = _numbers(topics), np.asarray(weights, np.float64), _numbers(same_text)
    fold = _numbers(folds)[topic]
    several = int(fold.max()) + 1
    if several < 2:
        raise Undefined("interestingness needs passages of two topics at least, and there is one")
    informative = np.flatnonzero(weight > 0)
    if not len(informative):
        raise Undefined(_NOTHING)
    references, texts, own_offsets, own = [], [], [np.zeros(1, np.int64)], []
    done = leaving = 0
    for number in range(several):
        others = informative[fold[informative] != number]
        if not len(others):
            fold_of = f"the fold of {shown(names[int(topic[informative[0]])])}" if names else "one fold"
            raise Undefined(f"every informative passage is in {fold_of}, so its passages have no reference")
        here = np.flatnonzero(fold == number)
        by_text = np.argsort(same[others], kind="stable")
        found = same[others][by_text]
        begin, end = np.searchsorted(found, same[here]), np.searchsorted(found, same[here], side="right")
        counts = end - begin
        places = np.arange(counts.sum()) + np.repeat(begin - (np.cumsum(counts) - counts), counts)
        own.append(by_text[places] + done)
        own_offsets.append(leaving + np.cumsum(counts))
        references.append(others)
        texts.append(here)
        done += len(others)
        leaving += int(counts.sum())
    pooled = np.concatenate(references)
    return Pools(
        reference_offsets=_offsets(np.array([len(rows) for rows in references])),
        references=pooled.astype(np.int32),
        weights=weight[pooled],
        text_offsets=_offsets(np.array([len(rows) for rows in texts])),
        texts=np.concatenate(texts).astype(np.int32),
        own_offsets=np.concatenate(own_offsets),
        own=np.concatenate(own),
    )


def folds_of(topics: int, folds: int = FOLDS, *, by: FoldsBy = "seed", seed: int) -> NDArray[np.int32]:
    """The fold of each topic; folds differ by one topic at most.

    Args:
        topics: How many topics there are.
        folds: The most folds there may be; at least 2.
        by: ``seed`` shuffles the topics, ``order`` takes topic i for fold i modulo the number of folds.
        seed: The seed.

    Raises:
        UsageError: Fewer than two folds; `UnknownName` for another way.

    >>> folds_of(5, 2, by="order", seed=0).tolist()
    [0, 1, 0, 1, 0]
    """
    if by not in get_args(FoldsBy):
        raise UnknownName("way to make folds", by, get_args(FoldsBy))
    if folds < 2:
        raise UsageError(f"folds: expected at least 2, got {folds}")
    in_order = (np.arange(topics) % min(folds, max(topics, 1))).astype(np.int32)
    return in_order if by == "order" else np.random.default_rng(seed).permutation(in_order)


def _numbers(values: ArrayLike) -> NDArray[np.int64]:
    return np.asarray(values, np.int64)


def _offsets(counts: NDArray[np.int64] | NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
