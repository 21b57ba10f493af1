"""Evaluation of orders of threads by readers' votes or grades: nDCG@k and pairwise accuracy.

**nDCG@k** (Järvelin and Kekäläinen 2002) is DCG@k / the highest possible DCG@k, where DCG@k is the sum of gain /
log2(1 + rank) over the first k comments. The gain of a comment with v votes is log2(1 + max(0, v)), since votes are
heavy-tailed and a comment below 0 is worth nothing; of a grade its distance from the lowest grade of all. **Pairwise
accuracy** is the share of pairs of comments with different votes (or grades) that are in the right order, tied scores
counted by half: (1 + Somers' D) / 2. **Pairwise near in time** has the pairs with at most two comments between them in
the order of dates, so that neither had much more time to collect votes.

Where scores are tied (see `postil.data.ties`), nDCG is the mean over all orders of the tie, so a constant scorer has
exactly the values of a random order. The values are means over threads, intervals 95 % percentile bootstrap intervals
over threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from postil.comments.result import RankingDifference, RankingMeasure
from postil.data.ties import joined
from postil.errors import InvalidInput, Undefined
from postil.threads.orders import merit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from postil.threads.thread import Thread

__all__ = [
    "CUTOFFS",
    "NEAR",
    "PAIRWISE",
    "RatedThread",
    "Target",
    "compare_orders",
    "gains",
    "ndcg",
    "pairwise",
    "values_of",
]

Target: TypeAlias = Literal["votes", "grades"]

CUTOFFS: Final = (1, 5, 10)
"""Default rank cutoffs of nDCG."""
PAIRWISE: Final = "pairwise"
"""Name of pairwise accuracy."""
NEAR: Final = "pairwise near in time"
"""Name of pairwise accuracy of neighbors in time."""
WINDOW: Final = 3
"""Largest distance of neighbors in time, in comments."""
_ROWS: Final = 512
"""Number of comments that are compared with all others together."""
_DECIMALS: Final = 12
"""Decimals of the values, since sums in another order differ in their last digits."""


@dataclass(frozen=True, slots=True, eq=False)
class RatedThread:
    """A thread that readers voted on or people graded.

    Args:
        values: float64[n], votes or grades, of which two differ.
        gains: float64[n], see `gains`; one is above 0.
        dates: float64[n], seconds; None where a date is missing.
    """

    values: NDArray[np.float64]
    gains: NDArray[np.float64]
    dates: NDArray[np.float64] | None = None


def values_of(thread: Thread, target: Target) -> NDArray[np.float64]:
    """The votes or grades of a thread.

    Args:
        thread: The thread of n comments.
        target: ``votes`` or ``grades``.

    Returns:
        float64[n].

    Raises:
        Undefined: There are fewer than two comments, one lacks its value, all have the same, or no comment is above 0
            votes.
    """
    comments = thread.article.comments
    if len(comments) < 2:
        raise Undefined("fewer than two comments")
    if target == "votes":
        values = merit(thread, "votes")
    else:
        grades = [comment.mean_grade for comment in comments]
        known = [grade for grade in grades if grade is not None]
        if len(known) < len(grades):
            raise Undefined("a comment has no grade")
        values = np.array(known, np.float64)
    if len(np.unique(joined(values))) < 2:
        raise Undefined("all comments have the same votes" if target == "votes" else "all comments have the same grade")
    if target == "votes" and values.max() <= 0:
        raise Undefined("no comment has more than 0 votes")
    return values


def gains(values: NDArray[np.float64], target: Target, lowest: float = 0.0) -> NDArray[np.float64]:
    """The gain of each comment in nDCG.

    Args:
        values: float64[n], votes or grades.
        target: ``votes`` or ``grades``.
        lowest: The lowest grade of all.

    >>> gains(np.array([-5.0, 0.0, 1.0, 7.0]), "votes").tolist()
    [0.0, 0.0, 1.0, 3.0]
    """
    if target == "votes":
        return np.asarray(np.log2(1 + np.maximum(values, 0)), np.float64)
    return np.asarray(values - lowest, np.float64)


def ndcg(scores: NDArray[np.float64], gain: NDArray[np.float64], k: int) -> float:
    """Normalized discounted cumulative gain, the mean over all orders of ties.

    Args:
        scores: float64[n], higher is better.
        gain: float64[n], at least 0, of which one is above 0.
        k: Rank cutoff.

    >>> round(ndcg(np.array([1.0, 2.0]), np.array([3.0, 0.0]), 2), 3)
    0.631
    >>> round(ndcg(np.array([1.0, 1.0]), np.array([3.0, 0.0]), 1), 3)
    0.5
    """
    discounts = np.where(np.arange(len(scores)) < k, 1 / np.log2(2 + np.arange(len(scores))), 0.0)
    values = joined(scores)
    order = np.argsort(-values, kind="stable")
    begins = np.flatnonzero(np.r_[True, np.diff(values[order]) != 0])
    sizes = np.diff(np.r_[begins, len(scores)])
    found = np.add.reduceat(gain[order], begins) / sizes * np.add.reduceat(discounts, begins)
    return float(found.sum() / (np.sort(gain)[::-1] @ discounts))


def pairwise(scores: NDArray[np.float64], values: NDArray[np.float64]) -> float:
    """Share of pairs with different values that the scores put in the same order, ties of scores counted by half.

    Args:
        scores: float64[n], higher is better.
        values: float64[n], of which two differ.

    >>> pairwise(np.array([3.0, 1.0, 1.0]), np.array([9.0, 9.0, 2.0]))
    0.75
    """
    one, two = joined(scores), joined(values)
    right = pairs = 0.0
    for begin in range(0, len(one), _ROWS):
        rows = slice(begin, begin + _ROWS)
        below = two[rows, None] > two
        pairs += np.count_nonzero(below)
        difference = one[rows, None] - one
        right += np.count_nonzero(below & (difference > 0)) + np.count_nonzero(below & (difference == 0)) / 2
    return float(right / pairs)


def _near(scores: NDArray[np.float64], thread: RatedThread) -> float:
    """Pairwise accuracy of neighbors in time; NaN where no two of them differ in value, or dates are missing."""
    if thread.dates is None:
        return np.nan
    order = np.argsort(thread.dates, kind="stable")
    one, two = joined(scores)[order], joined(thread.values)[order]
    right = pairs = 0.0
    for distance in range(1, min(WINDOW, len(one) - 1) + 1):
        asked = np.sign(two[distance:] - two[:-distance])
        given = np.sign(one[distance:] - one[:-distance])
        pairs += np.count_nonzero(asked)
        right += ((1 + asked * given)[asked != 0] / 2).sum()
    return right / pairs if pairs else np.nan


def compare_orders(
    threads: Sequence[RatedThread],
    scorers: Mapping[str, Sequence[NDArray[np.float64]]],
    counts: NDArray[np.int32],
    *,
    compared: Sequence[str],
    cutoffs: tuple[int, ...] = CUTOFFS,
) -> tuple[tuple[RankingMeasure, ...], tuple[RankingDifference, ...]]:
    """Evaluate orders of threads, and a random one.

    Args:
        threads: A threads.
        scorers: For each order the scores of each thread's comments.
        counts: int[R, A], multiplicity of each thread in each bootstrap resample.
        compared: Names of the orders of which differences are taken, from each order that comes after them.
        cutoffs: Rank cutoffs of nDCG.

    Returns:
        A row per order and measure, those of ``random`` last, which are expected values; and the paired differences.

    Raises:
        InvalidInput: An order has NaN, or another number of scores than a thread has comments.

    >>> thread = RatedThread(np.array([7.0, 1.0]), np.array([3.0, 1.0]))
    >>> rows, _ = compare_orders([thread], {"up": [np.array([2.0, 1.0])]}, np.ones((1, 1), np.int32), compared=())
    >>> [(row.scorer, row.value) for row in rows if row.measure == PAIRWISE]
    [('up', 1.0), ('random', 0.5)]
    """
    sizes = [len(thread.values) for thread in threads]
    tables: dict[str, NDArray[np.float64]] = {}
    for name, scores in {**scorers, "random": [np.zeros(size) for size in sizes]}.items():
        if [len(each) for each in scores] != sizes or any(np.isnan(each).any() for each in scores):
            raise InvalidInput("expected a number for each comment of each thread", where=name)
        tables[name] = np.array(
            [
                (
                    *(ndcg(each, thread.gains, k) for k in cutoffs),
                    pairwise(each, thread.values),
                    _near(each, thread),
                )
                for each, thread in zip(scores, threads, strict=True)
            ]
        )
    measures = (*(f"ndcg@{k}" for k in cutoffs), PAIRWISE, NEAR)
    comments = np.array(sizes)
    rows = []
    for name, table in tables.items():
        for measure, values in zip(measures, table.T, strict=True):
            if (known := ~np.isnan(values)).any():
                value, low, high = _mean(values, counts)
                of = int(known.sum()), int(comments[known].sum())
                rows.append(
                    RankingMeasure(
                        scorer=name, measure=measure, value=value, low=low, high=high, n=of[0], comments=of[1]
                    )
                )
    names = list(tables)
    differences = []
    for first in compared:
        for other in names[names.index(first) + 1 :]:
            for measure, values in zip(measures, (tables[first] - tables[other]).T, strict=True):
                if not np.isnan(values).all():
                    value, low, high = _mean(values, counts)
                    differences.append(
                        RankingDifference(scorer=first, minus=other, measure=measure, value=value, low=low, high=high)
                    )
    return tuple(rows), tuple(differences)


def _mean(values: NDArray[np.float64], counts: NDArray[np.int32]) -> tuple[float, float, float]:
    """Mean of the values that are not NaN, with its 95 % percentile bootstrap confidence interval."""
    known = ~np.isnan(values)
    weights = counts[:, known]
    some = weights.sum(axis=1) > 0
    drawn = (weights[some] @ values[known]) / weights[some].sum(axis=1)
    low, high = np.percentile(drawn, (2.5, 97.5)) if len(drawn) else (np.nan, np.nan)
    value, low, high = np.round([values[known].mean(), low, high], _DECIMALS).tolist()
    return value, low, high
