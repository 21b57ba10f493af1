"""`postil evaluate --threads`: orders of threads against readers' votes or people's grades."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from postil.commenters.retrieval import KINDS, Retriever
from postil.commenters.store import Model
from postil.commenters.threads.evaluation import NEAR, PAIRWISE, RatedThread, compare_orders, gains, values_of
from postil.commenters.threads.orders import merit
from postil.commenters.threads.quality import KIND, Quality
from postil.commenters.threads.thread import Thread
from postil.corpus.store import Corpus
from postil.errors import InvalidInput, Undefined, UnknownName, UsageError
from postil.metaeval.resampling import RESAMPLES, bootstrap_counts
from postil.records.parts import Excluded
from postil.records.results import ThreadOrdersResult, ThreadSettings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from postil.commenters.threads.evaluation import Target
    from postil.corpus.passes import OnProgress
    from postil.records.results import RankingDifference, RankingMeasure
    from postil.records.row_files import FilePath

    Scores = Sequence[NDArray[np.float64]]

__all__ = ["TARGETS", "RatedThreads", "baselines", "evaluate_threads", "read_threads", "verdicts"]

TARGETS: Final[tuple[Target, ...]] = ("votes", "grades")
LENGTH: Final = "length"
OLDEST: Final = "oldest"
_TOLD: Final = {(PAIRWISE, LENGTH): "pairs", (NEAR, LENGTH): "pairs near in time", (PAIRWISE, OLDEST): "pairs"}
"""The differences that are put into words: measure and the other order."""


@dataclass(frozen=True, slots=True, eq=False)
class RatedThreads:
    """The threads of a split that have votes or grades.

    Args:
        threads: The threads.
        rated: Their votes or grades.
        excluded: The others, by reason.
    """

    threads: list[Thread] = field(default_factory=list)
    rated: list[RatedThread] = field(default_factory=list)
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
                whole = msgspec.structs.replace(article, comments=(*article.comments, *(article.held_out or ())))
                thread = Thread.of(whole, corpus.tokenizer)
                try:
                    values.append(values_of(thread, kind))
                except Undefined as error:
                    left.setdefault(str(error), []).append(article.id)
                else:
                    threads.append(thread)
    excluded = tuple(Excluded.of(why, names) for why, names in left.items())
    if not threads:
        why = "; ".join(map(str, excluded)) or "there is no article"
        raise Undefined(f"{corpus.path}: no thread of {' and '.join(splits)} has {target} to compare with: {why}")
    lowest = min(float(each.min()) for each in values)
    rated = [
        RatedThread(each, gains(each, kind, lowest), _dates(thread))
        for thread, each in zip(threads, values, strict=True)
    ]
    return RatedThreads(threads, rated, excluded)


def _dates(thread: Thread) -> NDArray[np.float64] | None:
    try:
        return merit(thread, "newest")
    except Undefined:
        return None


def baselines(found: RatedThreads) -> tuple[dict[str, Scores], list[str]]:
    """Orders that need no model: length, oldest first, and the order of the file.

    Args:
        found: The threads.

    Returns:
        The scores of each, and notes on those that are absent.
    """
    orders: dict[str, Scores] = {LENGTH: [merit(thread, LENGTH) for thread in found.threads]}
    notes = []
    dated = [-one.dates for one in found.rated if one.dates is not None]
    if len(dated) == len(found.rated):
        orders[OLDEST] = dated
    else:
        notes.append(f"oldest: {len(found.rated) - len(dated):,} of {len(found.rated):,} threads lack a comment's date")
    orders["file order"] = [-np.arange(len(thread), dtype=np.float64) for thread in found.threads]
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
