"""How well a score finds an article's own comments among comments of other articles.

For each article ``n`` comments are drawn from the other articles, the same for every scorer. Each of the article's own
comments is then ranked alone among those n. ``recall@k`` is how often it is one of the best k, the mean reciprocal rank
(``mrr``) the mean of 1 / rank. Where scores are tied (see `postil.records.ties`), both are the mean over all orders of
the tie, so a scorer that tells nothing apart has exactly the values of a random order: k / (n + 1), and
(1 + 1/2 + … + 1/(n + 1)) / (n + 1). The values are means over an article's comments, then over articles: an article
with many comments counts as one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from postil.errors import InvalidInput, Undefined, UsageError
from postil.records.ties import joined

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "CUTS",
    "SEED",
    "Absent",
    "Difference",
    "Evaluation",
    "Found",
    "Lists",
    "Scorer",
    "distinct",
    "draw_lists",
    "evaluate",
    "popularity",
]

CUTS: Final = (1, 5, 10)
"""The k of recall@k where none are given."""

SEED: Final = 20181
"""The seed where none is given."""

_DECIMALS: Final = 12
"""Values are rounded so, since sums in another order differ in their last digits."""

Scorer: TypeAlias = "Callable[[NDArray[np.int64], NDArray[np.int64]], ArrayLike]"
"""Articles int64[L] and comments int64[L] to L scores, high is good. The pairs of an article stand together."""


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """A list of comments for each article that has any; `draw_lists` makes it.

    Args:
        articles: int64[A], which articles.
        comments: int64[L], the lists behind one another; a comment is its place among all comments of the split.
        offsets: int64[A + 1], where each list begins. The last ``sampled`` of a list are other articles' comments, what
            comes before is the article's own.
        sampled: n, how many comments of other articles each list has.
    """

    articles: NDArray[np.int64]
    comments: NDArray[np.int64]
    offsets: NDArray[np.int64]
    sampled: int

    def __len__(self) -> int:
        return len(self.articles)

    @property
    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """What a `Scorer` scores: the article and the comment of each place, int64[L] both."""
        return np.repeat(self.articles, np.diff(self.offsets)), self.comments

    @property
    def own(self) -> int:
        """How many comments are ranked."""
        return len(self.comments) - self.sampled * len(self)


def draw_lists(starts: ArrayLike, n: int = 100, seed: int = SEED) -> Lists:
    """Draw comments of other articles beside each article's own.

    Args:
        starts: int64[articles + 1], where the comments of each article begin, as a corpus has it.
        n: How many are drawn for each article, without replacement.
        seed: The seed; the same seed gives the same lists.

    Returns:
        A list for each article that has comments.

    Raises:
        UsageError: n is less than 1.
        Undefined: No article has comments, or the others of an article have fewer than n.

    >>> lists = draw_lists([0, 2, 2, 5], n=2, seed=1)
    >>> [lists.comments[a:b].tolist() for a, b in zip(lists.offsets, lists.offsets[1:])]
    [[0, 1, 2, 3], [2, 3, 4, 1, 0]]
    """
    if n < 1:
        raise UsageError(f"expected at least one sampled comment, got {n}")
    begins = np.asarray(starts, np.int64)
    sizes = np.diff(begins)
    articles = np.flatnonzero(sizes)
    if not len(articles):
        raise Undefined("no article has comments to be found")
    others = int(begins[-1] - begins[0] - sizes.max())
    if others < n:
        raise Undefined(f"an article has only {others:,} comments of other articles beside it, not {n:,}; draw fewer")
    generator = np.random.default_rng(seed)
    lists = []
    for begin, end in zip(begins[articles].tolist(), begins[articles + 1].tolist(), strict=True):
        drawn = generator.choice(int(begins[-1] - begins[0]) - (end - begin), n, replace=False) + begins[0]
        drawn[drawn >= begin] += end - begin
        lists += [np.arange(begin, end), drawn]
    offsets = np.concatenate([[0], np.cumsum(sizes[articles] + n)])
    return Lists(articles, np.concatenate(lists), offsets, n)


@dataclass(frozen=True, slots=True)
class Found:
    """How well a scorer finds the articles' own comments.

    Args:
        scorer: Its name.
        measure: ``recall@k`` or ``mrr``; high is good, at most 1.
        value: The mean over articles.
        low: The 2.5th percentile over resamples of articles.
        high: The 97.5th.
        n: How many articles.
        comments: How many comments were ranked.
    """

    scorer: str
    measure: str
    value: float
    low: float
    high: float
    n: int
    comments: int


@dataclass(frozen=True, slots=True)
class Difference:
    """How much better the first scorer is than another, on the same lists and resamples.

    Args:
        scorer: The first scorer.
        minus: The other one.
        measure: Of what.
        value: The first one's value less the other's.
        low: The 2.5th percentile over resamples of articles.
        high: The 97.5th.
    """

    scorer: str
    minus: str
    measure: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Absent:
    """A scorer that has no value.

    Args:
        scorer: Its name.
        reason: Why not, in words.
    """

    scorer: str
    reason: str


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What `evaluate` finds.

    Args:
        rows: A row a scorer and measure.
        differences: The first scorer against each other one.
        absent: The scorers without a value.
    """

    rows: tuple[Found, ...]
    differences: tuple[Difference, ...]
    absent: tuple[Absent, ...]


def evaluate(
    lists: Lists, scorers: Mapping[str, Scorer], counts: NDArray[np.int32], *, cuts: tuple[int, ...] = CUTS
) -> Evaluation:
    """Rank every article's own comments, by each scorer and at random.

    Args:
        lists: What is ranked.
        scorers: The scorers by name, the one in question first. One that raises `Undefined` is absent.
        counts: int[R, A], how often each article is in each resample, as ``metaeval``'s ``counts_of(A)`` draws them.
        cuts: The k of recall@k.

    Returns:
        The rows, with those of ``random`` last: exact values, not a draw.

    Raises:
        InvalidInput: A scorer gives NaN or another number of scores than pairs.
        UsageError: A cut is less than 1, a scorer is called ``random``, or counts are not over these articles.

    >>> lists = draw_lists([0, 2, 4, 6], n=2)
    >>> by_place = lambda articles, comments: -np.abs(comments // 2 - articles)
    >>> found = evaluate(lists, {"near": by_place}, np.eye(3, dtype=np.int32) * 3, cuts=(1,))
    >>> [(row.scorer, row.measure, round(row.value, 3)) for row in found.rows]
    [('near', 'recall@1', 1.0), ('near', 'mrr', 1.0), ('random', 'recall@1', 0.333), ('random', 'mrr', 0.611)]
    """
    if any(k < 1 for k in cuts):
        raise UsageError(f"k counts from 1, got {min(cuts)}")
    if "random" in scorers:
        raise UsageError("random is there by itself; name the scorer otherwise")
    if counts.ndim != 2 or counts.shape[1] != len(lists):
        raise UsageError(f"expected resamples of {len(lists)} articles, got an array of shape {counts.shape}")
    values: dict[str, NDArray[np.float64]] = {}
    absent = []
    for name, scorer in {**scorers, "random": _nothing}.items():
        try:
            scores = np.asarray(scorer(*lists.pairs), np.float64)
        except Undefined as error:
            absent.append(Absent(name, str(error)))
            continue
        if scores.shape != lists.comments.shape or np.isnan(scores).any():
            problem = f"expected {len(lists.comments)} numbers, got an array of shape {scores.shape}"
            raise InvalidInput("a score is NaN" if scores.shape == lists.comments.shape else problem, where=name)
        values[name] = _by_article(lists, joined(scores, lists.offsets[:-1]), cuts)
    weights = counts / counts.sum(axis=1, keepdims=True)
    measures = (*(f"recall@{k}" for k in cuts), "mrr")
    rows = [
        Found(name, measure, *numbers, len(lists), lists.own)
        for name, table in values.items()
        for measure, numbers in zip(measures, _means(table, weights), strict=True)
    ]
    first = next(iter(scorers), "random")
    differences = [
        Difference(first, name, measure, *numbers)
        for name, table in values.items()
        if first in values and name != first
        for measure, numbers in zip(measures, _means(values[first] - table, weights), strict=True)
    ]
    return Evaluation(tuple(rows), tuple(differences), tuple(absent))


def popularity(upvotes: ArrayLike) -> Scorer:
    """The scorer that prefers comments with many upvotes, whatever the article.

    Args:
        upvotes: float64[comments], the upvotes of all comments of the split; NaN where they are not known.

    Returns:
        A scorer. It raises `Undefined` where a comment that it should score has no upvotes.

    >>> popularity([3, 0, 7])(np.array([0, 0]), np.array([2, 0])).tolist()
    [7.0, 3.0]
    """
    votes = np.asarray(upvotes, np.float64)

    def score(_articles: NDArray[np.int64], comments: NDArray[np.int64]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = votes[comments]
        unknown = len(np.unique(comments[np.isnan(found)]))
        if unknown:
            raise Undefined(f"{unknown:,} of {len(np.unique(comments)):,} comments have no upvotes")
        return found

    return score


def _nothing(_articles: NDArray[np.int64], comments: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.zeros(len(comments))


def _by_article(lists: Lists, scores: NDArray[np.float64], cuts: tuple[int, ...]) -> NDArray[np.float64]:
    """Each measure of each article, float64[A, measures]."""
    n, sizes = lists.sampled, np.diff(lists.offsets)
    list_of = np.repeat(np.arange(len(lists)), sizes)
    own = np.arange(len(scores)) < (lists.offsets[1:] - n)[list_of]
    # A score as a whole number, list by list, so that one sort orders all lists.
    steps, codes = np.unique(scores, return_inverse=True)
    codes += list_of * len(steps)
    others, before = np.sort(codes[~own]), n * list_of[own]
    below = np.searchsorted(others, codes[own], "left") - before
    above = n - (np.searchsorted(others, codes[own], "right") - before)
    places = n - above - below + 1
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, n + 2))])
    values = [np.clip(k - above, 0, places) / places for k in cuts]
    values.append((harmonic[above + places] - harmonic[above]) / places)
    counts = sizes - n
    sums = np.add.reduceat(np.stack(values), np.cumsum(counts) - counts, axis=1)
    return np.asarray((sums / counts).T, np.float64)


def _means(table: NDArray[np.float64], weights: NDArray[np.float64]) -> list[tuple[float, float, float]]:
    """Mean, low and high of each column."""
    low, high = np.percentile(weights @ table, (2.5, 97.5), axis=0)
    numbers = np.round([table.mean(axis=0), low, high], _DECIMALS).T.tolist()
    return [(value, low, high) for value, low, high in numbers]


def distinct(ids: NDArray[np.int32], offsets: NDArray[np.int64], n: int) -> float:
    """How varied texts are: the share of different n-grams among all that they hold, distinct-n (Li et al. 2016).

    It falls with the number and the length of the texts, so only what was asked about the same articles compares.

    Args:
        ids: int32[T], the words of the texts.
        offsets: int64[texts + 1].
        n: How many words an n-gram has.

    Returns:
        A number above 0 and at most 1.

    Raises:
        Undefined: No text has n words.

    Three of four words are different, and both pairs; no pair goes from one text to the next:

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
