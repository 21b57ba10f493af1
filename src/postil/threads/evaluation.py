"""Evaluation of orders of threads by readers' votes or grades: nDCG@k and pairwise accuracy.

**nDCG@k** (Järvelin and Kekäläinen 2002) is DCG@k / the highest possible DCG@k, where DCG@k is the sum of gain /
log2(1 + rank) over the first k comments. The gain of a comment with v votes is log2(1 + max(0, v)), since votes are
heavy-tailed and a comment below 0 is worth nothing; of a grade its distance from the lowest grade of all. **Pairwise
accuracy** is the share of pairs of comments with different votes (or grades) that are in the right order, tied scores
counted by half: (1 + Somers' D) / 2. **Pairwise near in time** has the pairs with at most two comments between them in
the order of dates, so that neither had much more time to collect votes.

Where scores are tied (see `postil.data.ranking`), nDCG is the mean over all orders of the tie, so a constant scorer has
exactly the values of a random order. The values are means over threads, intervals 95 % percentile bootstrap intervals
over threads.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import msgspec
import numpy as np

from postil.comments.result import RankingDifference, RankingMeasure
from postil.comments.retrieval import KINDS, Retriever
from postil.corpus.store import Corpus
from postil.data.model_folders import Model
from postil.data.parts import Excluded
from postil.data.ranking import joined
from postil.errors import InvalidInput, Undefined, UnknownName, UsageError
from postil.meta.resampling import RESAMPLES, bootstrap_counts
from postil.threads.orders import merit
from postil.threads.quality import KIND, Quality
from postil.threads.result import ThreadOrdersResult, ThreadSettings
from postil.threads.thread import Thread

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.corpus.passes import OnProgress
    from postil.data.rows import Article
    from postil.data.streams import FilePath

    Scores = Sequence[NDArray[np.float64]]

__all__ = [
    "CUTOFFS",
    "NEAR",
    "PAIRWISE",
    "TARGETS",
    "RatedThread",
    "RatedThreads",
    "Target",
    "baselines",
    "compare_orders",
    "evaluate_threads",
    "gains",
    "ndcg",
    "pairwise",
    "read_threads",
    "thread_dates",
    "values_of",
    "verdicts",
    "whole_thread",
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


TARGETS: Final[tuple[Target, ...]] = ("votes", "grades")
LENGTH: Final = "length"
OLDEST: Final = "oldest"
VOTES: Final = "votes"
_TOLD: Final = {
    (PAIRWISE, LENGTH): "pairs",
    (NEAR, LENGTH): "pairs near in time",
    (PAIRWISE, OLDEST): "pairs",
    (PAIRWISE, VOTES): "pairs",
}
"""The differences that are put into words: measure and the other order."""


@dataclass(frozen=True, slots=True, eq=False)
class RatedThreads:
    """The threads of a split that have votes, grades or labels.

    Args:
        threads: The threads.
        rated: Their votes, grades or labels.
        chosen: For each thread the indices of the comments that have one, int64[n].
        excluded: The others, by reason.
    """

    threads: list[Thread] = field(default_factory=list)
    rated: list[RatedThread] = field(default_factory=list)
    chosen: list[NDArray[np.int64]] = field(default_factory=list)
    excluded: tuple[Excluded, ...] = ()


def evaluate_threads(
    models: Sequence[FilePath],
    corpus: Corpus | FilePath,
    target: str = "votes",
    *,
    split: str = "test",
    seed: int = 20181,
    resamples: int = RESAMPLES,
    jobs: int = 1,
    on_progress: OnProgress = lambda _what, things, _total=None: nullcontext(iter(things)),
) -> ThreadOrdersResult:
    """Compare the orders of models with readers' votes or people's grades, beside length, age and a random order.

    Args:
        models: Model folders: ``ir-t`` or ``ir-tc`` (order by relevance), or ``quality``.
        corpus: The corpus, or its folder.
        target: ``votes`` or ``grades`` of the comments.
        split: The split.
        seed: Seed of the resamples.
        resamples: Number of resamples of the threads, for confidence intervals.
        jobs: Number of threads.
        on_progress: Callback for progress.

    Raises:
        UnknownName, UsageError: There is no such target or split, or names are not clear.
        InvalidInput: A model or the corpus is damaged, or a model has another tokenizer.
        Undefined: No thread has votes or grades that differ.
    """
    if not isinstance(corpus, Corpus):
        corpus = Corpus.open(corpus)
    opened = _opened(models, corpus, jobs)
    found = read_threads(corpus, (split,), target, on_progress)
    scorers: dict[str, Scores] = {}
    for name, model in opened.items():
        if isinstance(model, Quality):
            scorers[name] = [model.scores(thread) for thread in found.threads]
        else:
            scorers[name] = model.rank([thread.article for thread in found.threads])
    others, remarks = baselines(found)
    rows, differences = compare_orders(
        found.rated,
        {**scorers, **others},
        bootstrap_counts(len(found.rated), resamples, seed),
        compared=list(scorers),
    )
    return ThreadOrdersResult(
        rows=rows,
        differences=differences,
        excluded=found.excluded,
        settings=ThreadSettings(
            target=target, split=split, folds=None, seed=seed, resamples=resamples, tokenizer=corpus.tokenizer
        ),
        remarks=(*remarks, *(line for name in scorers for line in verdicts(name, rows, differences))),
    )


def read_threads(
    corpus: Corpus,
    splits: Sequence[str],
    target: str,
    on_progress: OnProgress = lambda _what, things, _total=None: nullcontext(iter(things)),
) -> RatedThreads:
    """Read the threads of splits that have votes or grades; held-out comments are part of them.

    Args:
        corpus: The corpus.
        splits: Names of the splits.
        target: ``votes`` or ``grades``.
        on_progress: Callback for progress.

    Raises:
        UnknownName, UsageError: There is no such target or split.
        Undefined: No thread has votes or grades that differ.
    """
    kind = next((one for one in TARGETS if one == target), None)
    if kind is None:
        raise UnknownName("target", target, TARGETS)
    threads, values, left = list[Thread](), list["NDArray[np.float64]"](), dict[str, list[str]]()
    for split in splits:
        if split not in corpus.splits:
            raise UsageError(f"{corpus.path}: it has no {split} set; it has {', '.join(corpus.splits)}")
        with on_progress("threads read", corpus.articles(split), corpus.metadata.splits[split].articles) as articles:
            for article in articles:
                thread = whole_thread(article, corpus.tokenizer)
                try:
                    values.append(values_of(thread, kind))
                except Undefined as error:
                    left.setdefault(error.message, []).append(article.id)
                else:
                    threads.append(thread)
    excluded = tuple(Excluded.of(why, names) for why, names in left.items())
    if not threads:
        why = "; ".join(map(str, excluded)) or "there is no article"
        raise Undefined(f"{corpus.path}: no thread of {' and '.join(splits)} has {target} to compare with: {why}")
    lowest = min(float(each.min()) for each in values)
    rated = [
        RatedThread(each, gains(each, kind, lowest), thread_dates(thread))
        for thread, each in zip(threads, values, strict=True)
    ]
    return RatedThreads(threads, rated, [np.arange(len(thread)) for thread in threads], excluded)


def whole_thread(article: Article, tokenizer: str) -> Thread:
    """The thread of an article of a corpus, with the comments that the corpus holds out.

    Args:
        article: The article.
        tokenizer: The corpus's tokenizer.
    """
    comments = (*article.comments, *(article.held_out or ()))
    return Thread.of(msgspec.structs.replace(article, comments=comments), tokenizer)


def thread_dates(thread: Thread) -> NDArray[np.float64] | None:
    """Dates of the comments of a thread in seconds, float64[n]; None where one is missing.

    Args:
        thread: The thread.
    """
    try:
        return merit(thread, "newest")
    except Undefined:
        return None


def baselines(found: RatedThreads, *, votes: bool = False) -> tuple[dict[str, Scores], list[str]]:
    """Orders that need no model: length, oldest first, most votes, and the order of the file.

    Args:
        found: The threads.
        votes: True for the order by votes as well.

    Returns:
        The scores of each, and notes on those that are absent.
    """

    def scores(order: str) -> Scores:
        return [merit(thread, order)[chosen] for thread, chosen in zip(found.threads, found.chosen, strict=True)]

    orders = {LENGTH: scores(LENGTH)}
    notes = []
    for order, lacking, has in (
        (OLDEST, "date", [thread_dates(thread) is not None for thread in found.threads]),
        (VOTES, "upvotes", [all(each.upvotes is not None for each in one.article.comments) for one in found.threads]),
    ):
        if order == VOTES and not votes:
            continue
        if all(has):
            orders[order] = scores(order)
        else:
            notes.append(f"{order}: {has.count(False):,} of {len(has):,} threads lack a comment's {lacking}")
    orders["file order"] = [-chosen.astype(np.float64) for chosen in found.chosen]
    return orders, notes


def verdicts(name: str, rows: Sequence[RankingMeasure], differences: Sequence[RankingDifference]) -> Iterator[str]:
    """Sentences that say if an order of a model beats the simplest ones: length, and the oldest first.

    Args:
        name: Name of the model's order.
        rows: The values.
        differences: The differences.
    """
    values = {(row.scorer, row.measure): row.value for row in rows}
    for row in differences:
        if row.scorer == name and (row.measure, row.minus) in _TOLD:
            mine, other = (100 * values[each, row.measure] for each in (name, row.minus))
            how = "better than" if row.low > 0 else "worse than" if row.high < 0 else "not clearly better than"
            shown = f"difference {row.value:+.3f} [{row.low:+.3f}, {row.high:+.3f}]"
            what = f"{mine:.1f} % of {_TOLD[row.measure, row.minus]} in the right order"
            yield f"{name}: {what}, {how} {row.minus} alone, {other:.1f} % ({shown})"


def _opened(models: Sequence[FilePath], corpus: Corpus, jobs: int) -> dict[str, Quality | Retriever]:
    names = [Path(folder).resolve().name for folder in models]
    if len(set(names)) < len(names):
        names = [str(folder) for folder in models]
    reserved = {LENGTH, OLDEST, "file order", "random"}
    if len(set(names)) < len(names) or reserved & set(names):
        problem = f"expected models of different names, none of them {', '.join(sorted(reserved))}"
        raise UsageError(f"{problem}; got {', '.join(names)}")
    found: dict[str, Quality | Retriever] = {}
    for name, folder in zip(names, models, strict=True):
        model = Model.open(folder)
        if model.kind not in (*KINDS, KIND):
            raise InvalidInput(f"expected a model {', '.join(KINDS)} or {KIND}, got {model.kind}", where=str(folder))
        model.check_tokenizer(corpus.tokenizer, corpus.path)
        found[name] = Quality.open(folder) if model.kind == KIND else Retriever.open(folder, jobs=jobs)
    return found
