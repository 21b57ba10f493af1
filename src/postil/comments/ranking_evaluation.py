"""Ranking against sampled negatives: recall@k and mean reciprocal rank.

For each article ``n`` comments of other articles are sampled as negatives, or all are taken, the same for every scorer.
Each of the article's own comments is then ranked alone among those n. ``recall@k`` is the share of ranks up to k, the
mean reciprocal rank (``mrr``) the mean of 1 / rank. Where scores are tied (see `postil.data.ranking`), both are the
mean over all orders of the tie, so a constant scorer has exactly the values of a random order: k / (n + 1), and
(1 + 1/2 + … + 1/(n + 1)) / (n + 1). The values are means over an article's comments, then over articles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from postil.comments.result import RankingDifference, RankingMeasure, RankingResult, UndefinedScorer
from postil.data.explain import have
from postil.data.ranking import joined
from postil.errors import InvalidInput, Undefined, UsageError, check_least

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "CUTOFFS",
    "SEED",
    "RankingTask",
    "Scorer",
    "all_negatives",
    "constant",
    "distinct",
    "evaluate",
    "popularity",
    "reciprocal_ranks",
    "sample_negatives",
]

CUTOFFS: Final = (1, 5, 10)
"""Default rank cutoffs of recall@k."""

SEED: Final = 20181
"""Default seed of the sampling."""

_DECIMALS: Final = 12
"""Decimals of the values, since sums in another order differ in their last digits."""

_PAIRS: Final = 100_000_000
"""Most pairs of an article and a comment that are ranked."""

Scorer: TypeAlias = "Callable[[NDArray[np.int64], NDArray[np.int64]], ArrayLike]"
"""Articles int64[L] and comments int64[L] to L scores, higher is better. The pairs of an article are consecutive."""


@dataclass(frozen=True, slots=True, eq=False)
class RankingTask:
    """Comments to rank for each article that has any; build it with `sample_negatives` or `all_negatives`.

    Args:
        articles: int64[A], indices of the articles.
        comments: int64[L], the lists of all articles, concatenated; indices among all comments of the split.
        offsets: int64[A + 1], the start of each list: the article's own comments, then `sampled` negatives.
        sampled: Number n of negatives per list; or int64[A], that of each list.
    """

    articles: NDArray[np.int64]
    comments: NDArray[np.int64]
    offsets: NDArray[np.int64]
    sampled: int | NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.articles)

    @property
    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Arguments of a `Scorer`: the article and the comment of each position, int64[L] both."""
        return np.repeat(self.articles, np.diff(self.offsets)), self.comments

    @property
    def own(self) -> int:
        """Number of comments that are ranked."""
        return len(self.comments) - int(np.broadcast_to(self.sampled, len(self)).sum())


def sample_negatives(starts: ArrayLike, n: int = 100, seed: int = SEED) -> RankingTask:
    """Sample comments of other articles as negatives for each article.

    Args:
        starts: int64[articles + 1], the index of each article's first comment, as in a corpus.
        n: Number of negatives per article, drawn without replacement.
        seed: Seed of the sampling.

    Returns:
        The task, over the articles that have comments.

    Raises:
        UsageError: n is less than 1.
        Undefined: No article has comments, or the others of an article have fewer than n.

    >>> task = sample_negatives([0, 2, 2, 5], n=2, seed=1)
    >>> [task.comments[a:b].tolist() for a, b in zip(task.offsets, task.offsets[1:])]
    [[0, 1, 2, 3], [2, 3, 4, 1, 0]]
    """
    if n < 1:
        raise UsageError(f"expected at least one sampled comment, got {n}")
    begins = np.asarray(starts, np.int64)
    sizes = np.diff(begins)
    articles = np.flatnonzero(sizes)
    if not len(articles):
        raise Undefined("no article has comments to rank")
    others = int(begins[-1] - begins[0] - sizes.max())
    if others < n:
        raise Undefined(f"expected {n:,} comments of other articles to sample from, got {others:,}; sample fewer")
    generator = np.random.default_rng(seed)
    lists = []
    for begin, end in zip(begins[articles].tolist(), begins[articles + 1].tolist(), strict=True):
        drawn = generator.choice(int(begins[-1] - begins[0]) - (end - begin), n, replace=False) + begins[0]
        drawn[drawn >= begin] += end - begin
        lists += [np.arange(begin, end), drawn]
    offsets = np.concatenate([[0], np.cumsum(sizes[articles] + n)])
    return RankingTask(articles, np.concatenate(lists), offsets, n)


def all_negatives(starts: ArrayLike) -> RankingTask:
    """Take the comments of all other articles as negatives for each article.

    Args:
        starts: int64[articles + 1], the index of each article's first comment, as in a corpus.

    Returns:
        The task, over the articles that have comments.

    Raises:
        Undefined: No article has comments, or one has all of them.
        UsageError: There are more than 100 million pairs.

    >>> task = all_negatives([0, 2, 2, 3])
    >>> task.comments.tolist(), task.offsets.tolist(), task.sampled.tolist()
    ([0, 1, 2, 2, 0, 1], [0, 3, 6], [1, 2])
    """
    begins = np.asarray(starts, np.int64)
    sizes = np.diff(begins)
    articles, total = np.flatnonzero(sizes), int(begins[-1] - begins[0])
    if len(articles) < 2:
        raise Undefined("expected two articles with comments, to rank those of one among those of the other")
    if len(articles) * total > _PAIRS:
        problem = f"{len(articles):,} articles and {total:,} comments are more than {_PAIRS:,} pairs"
        raise UsageError(f"{problem}; sample comments of other articles instead")
    everything = np.arange(begins[0], begins[-1])
    lists = [np.roll(everything, begins[0] - begins[at]) for at in articles.tolist()]
    for at, some in zip(articles.tolist(), lists, strict=True):
        some[sizes[at] :].sort()
    return RankingTask(articles, np.concatenate(lists), np.arange(len(articles) + 1) * total, total - sizes[articles])


def evaluate(
    task: RankingTask, scorers: Mapping[str, Scorer], counts: NDArray[np.int32], *, cutoffs: tuple[int, ...] = CUTOFFS
) -> RankingResult:
    """Rank every article's own comments by each scorer and at random.

    Args:
        task: The comments to rank.
        scorers: The scorers by name, the one to compare first. One that raises `Undefined` is absent.
        counts: int[R, A], multiplicity of each article in each bootstrap resample.
        cutoffs: Rank cutoffs k of recall@k.

    Returns:
        The rows, with those of ``random`` last: its expected values.

    Raises:
        InvalidInput: A scorer gives NaN or another number of scores than pairs.
        UsageError: A cutoff is less than 1, a scorer is called ``random``, or counts are not over these articles.

    >>> task = sample_negatives([0, 2, 4, 6], n=2)
    >>> by_distance = lambda articles, comments: -np.abs(comments // 2 - articles)
    >>> found = evaluate(task, {"near": by_distance}, np.eye(3, dtype=np.int32) * 3, cutoffs=(1,))
    >>> [(row.scorer, row.measure, round(row.value, 3)) for row in found.rows]
    [('near', 'recall@1', 1.0), ('near', 'mrr', 1.0), ('random', 'recall@1', 0.333), ('random', 'mrr', 0.611)]
    """
    check_least(1, k=min(cutoffs, default=1))
    if "random" in scorers:
        raise UsageError("random is always included; choose another name for the scorer")
    if counts.ndim != 2 or counts.shape[1] != len(task):
        raise UsageError(f"expected resamples of {len(task)} articles, got an array of shape {counts.shape}")
    values: dict[str, NDArray[np.float64]] = {}
    absent = []
    for name, scorer in {**scorers, "random": constant(np.zeros(len(task.comments)))}.items():
        try:
            scores = np.asarray(scorer(*task.pairs), np.float64)
        except Undefined as error:
            absent.append(UndefinedScorer(scorer=name, reason=error.message))
            continue
        if scores.shape != task.comments.shape or np.isnan(scores).any():
            problem = f"expected {len(task.comments)} numbers, got an array of shape {scores.shape}"
            raise InvalidInput("a score is NaN" if scores.shape == task.comments.shape else problem, where=name)
        values[name] = _by_article(task, joined(scores, task.offsets[:-1]), cutoffs)
    weights = counts / counts.sum(axis=1, keepdims=True)
    measures = (*(f"recall@{k}" for k in cutoffs), "mrr")
    rows = [
        RankingMeasure(scorer=name, measure=measure, value=value, low=low, high=high, n=len(task), comments=task.own)
        for name, table in values.items()
        for measure, (value, low, high) in zip(measures, _means(table, weights), strict=True)
    ]
    first = next(iter(scorers), "random")
    differences = [
        RankingDifference(scorer=first, minus=name, measure=measure, value=value, low=low, high=high)
        for name, table in values.items()
        if first in values and name != first
        for measure, (value, low, high) in zip(measures, _means(values[first] - table, weights), strict=True)
    ]
    return RankingResult(rows=tuple(rows), differences=tuple(differences), absent=tuple(absent))


def popularity(upvotes: ArrayLike) -> Scorer:
    """Return the scorer that ranks by upvotes, whatever the article.

    Args:
        upvotes: float64[comments], the upvotes of all comments of the split; NaN where unknown.

    Returns:
        The scorer; it raises `Undefined` where a comment has no upvotes.

    >>> popularity([3, 0, 7])(np.array([0, 0]), np.array([2, 0])).tolist()
    [7.0, 3.0]
    """
    votes = np.asarray(upvotes, np.float64)

    def score(_articles: NDArray[np.int64], comments: NDArray[np.int64]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = votes[comments]
        unknown = len(np.unique(comments[np.isnan(found)]))
        if unknown:
            raise Undefined(f"{unknown:,} of {len(np.unique(comments)):,} comments {have(unknown)} no upvotes")
        return found

    return score


def constant(scores: ArrayLike) -> Scorer:
    """Return the scorer of pairs whose scores are known, which is always called with the same ones.

    Args:
        scores: float64[L].
    """
    return lambda _articles, _comments: scores


def reciprocal_ranks(task: RankingTask, scorers: Mapping[str, Scorer]) -> dict[str, float]:
    """Mean reciprocal rank of each scorer, and of a random order.

    Args:
        task: The comments to rank.
        scorers: The scorers by name.
    """
    found = evaluate(task, scorers, np.ones((1, len(task)), np.int32), cutoffs=(1,))
    return {row.scorer: row.value for row in found.rows if row.measure == "mrr"}


def _by_article(task: RankingTask, scores: NDArray[np.float64], cutoffs: tuple[int, ...]) -> NDArray[np.float64]:
    """Measures of each article, float64[A, measures]."""
    sizes = np.diff(task.offsets)
    negatives = np.broadcast_to(task.sampled, len(task))
    list_of = np.repeat(np.arange(len(task)), sizes)
    own = np.arange(len(scores)) < (task.offsets[1:] - negatives)[list_of]
    # Scores as integers, offset by list, so that one sort orders all lists.
    steps, codes = np.unique(scores, return_inverse=True)
    codes += list_of * len(steps)
    n = negatives[list_of[own]]
    others, before = np.sort(codes[~own]), (np.cumsum(negatives) - negatives)[list_of[own]]
    below = np.searchsorted(others, codes[own], "left") - before
    above = n - (np.searchsorted(others, codes[own], "right") - before)
    tied = n - above - below + 1  # number of ranks that the ties share, so that each is equally likely
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, negatives.max() + 2))])
    values = [np.clip(k - above, 0, tied) / tied for k in cutoffs]
    values.append((harmonic[above + tied] - harmonic[above]) / tied)
    counts = sizes - negatives
    sums = np.add.reduceat(np.stack(values), np.cumsum(counts) - counts, axis=1)
    return np.asarray((sums / counts).T, np.float64)


def _means(table: NDArray[np.float64], weights: NDArray[np.float64]) -> list[tuple[float, float, float]]:
    """Mean of each column and its 95 % percentile bootstrap confidence interval."""
    low, high = np.percentile(weights @ table, (2.5, 97.5), axis=0)
    numbers = np.round([table.mean(axis=0), low, high], _DECIMALS).T.tolist()
    return [(value, low, high) for value, low, high in numbers]


def distinct(ids: NDArray[np.int32], offsets: NDArray[np.int64], n: int) -> float:
    """Distinct-n (Li et al. 2016): the share of distinct n-grams among all n-grams of texts.

    It falls with the number and the length of the texts, so compare systems on the same articles only.

    Args:
        ids: int32[T], the words of the texts.
        offsets: int64[texts + 1].
        n: Order of the n-grams.

    Returns:
        A number above 0 and at most 1.

    Raises:
        Undefined: No text has n words.

    Three of four words are distinct, and both bigrams; no bigram spans two texts:

    >>> ids, offsets = np.array([7, 8, 7, 9], np.int32), np.array([0, 2, 4])
    >>> distinct(ids, offsets, 1), distinct(ids, offsets, 2)
    (0.75, 1.0)
    """
    ends = np.repeat(offsets[1:], np.diff(offsets))
    begins = np.flatnonzero(np.arange(len(ids)) + n <= ends)
    if not len(begins):
        raise Undefined(f"no text has {n} words" if n > 1 else "no text has a word")
    grams = ids[begins[:, None] + np.arange(n)]  # [n-grams, n]
    return len(np.unique(grams, axis=0)) / len(grams)
