"""`postil evaluate --threads`: orders of threads against readers' votes or people's grades."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from postil.comments.retrieval import KINDS, Retriever
from postil.comments.store import Model
from postil.corpus.store import Corpus
from postil.errors import InvalidInput, Undefined, UnknownName, UsageError
from postil.meta.resampling import RESAMPLES, bootstrap_counts
from postil.results.parts import Excluded
from postil.threads.evaluation import NEAR, PAIRWISE, RatedThread, compare_orders, gains, values_of
from postil.threads.orders import merit
from postil.threads.quality import KIND, Quality
from postil.threads.result import ThreadOrdersResult, ThreadSettings
from postil.threads.thread import Thread

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from postil.comments.result import RankingDifference, RankingMeasure
    from postil.corpus.passes import OnProgress
    from postil.data.row_files import FilePath
    from postil.data.rows import Article
    from postil.threads.evaluation import Target

    Scores = Sequence[NDArray[np.float64]]

__all__ = [
    "TARGETS",
    "RatedThreads",
    "baselines",
    "evaluate_threads",
    "read_threads",
    "thread_dates",
    "verdicts",
    "whole_thread",
]

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
