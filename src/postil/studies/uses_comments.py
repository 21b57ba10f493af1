"""Comment ranking and upvote prediction: scorers and cross-fitted regressions against readers' votes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from postil.meta.resampling import bootstrap_counts
from postil.results.formats import counted
from postil.studies.cross_fitting import assign_folds, between_share, resampled_means
from postil.studies.rank_measures import thread_measures
from postil.studies.result import StudyPart, StudyRow, StudyTable
from postil.studies.uses_summary import interval_cells
from postil.studies.uses_threads import AGE, BOTH, LENGTH, with_text
from postil.studies.vote_prediction import PREDICTION, VotePrediction

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from postil.kernel.arrays import Floats
    from postil.studies.uses_options import UsesOptions
    from postil.studies.uses_threads import Threads


__all__ = ["ranking_part", "votes_part"]

RANDOM: Final = "random order (expected)"
OTHERS: Final = "votes of the thread’s other comments"
FITS: Final = "Ridge regressions, cross-fitted by article"
HEAD: Final = ("nDCG@1", "nDCG@5", "Spearman", "Kendall’s tau-b", "pairs in order")
HEAD_OF_VOTES: Final = ("R², all comments", "Spearman, all", "R², within threads", "Spearman, within")
MEASURES: Final = (
    "The comments of each article are ranked by each scorer and compared with their votes. nDCG: gain log(1 + votes), "
    "negative votes as 0. Rank correlations are computed within each article, 0 where all scores are tied. Pairs in "
    "order: share of the pairs with different votes that the scores put in order; tied scores count half. All values "
    "are means over articles, with 95 % bootstrap intervals over articles."
)
SCORERS: Final = (
    "length: number of words, longer first. age: time from article to comment, earlier first; early comments have had "
    "longer to collect votes, whatever they say. position: order in the corpus, which may itself come from votes, so "
    "that no fit uses it. tf-idf: cosine with the article. consensus: mean ROUGE-L with the article’s other comments."
)
FITTED: Final = (
    "The fits predict a comment’s rank by votes from its ranks within the article by each feature; length and age "
    "enter with their squares. text: tf-idf, consensus, a model’s relevance if one is given, and shares of signs in "
    "the text. Features of the text can stand in for length, so what the text itself adds is the difference of fits. "
    "Intervals resample articles, and fits stay as they are."
)
VOTES: Final = (
    "Target: log(1 + votes), with the sign of negative votes. All predictions are of fits on articles of other folds. "
    "Within threads features and target are differences from their mean in the article. R² below 0: worse than the "
    "mean. 95 % bootstrap intervals over articles."
)


def _prediction(threads: Threads, options: UsesOptions) -> VotePrediction:
    articles = len(threads.starts)
    folds = assign_folds(articles, options.folds, options.seed)
    counts = bootstrap_counts(articles, options.resamples, options.seed)
    return VotePrediction(threads.votes, threads.starts, folds, counts, options.jobs)


def ranking_part(threads: Threads, options: UsesOptions) -> StudyPart:
    """Rank comments by each scorer and by each fit.

    Args:
        threads: The threads.
        options: Options of the study.
    """
    data = _prediction(threads, options)
    fits = {name: data.fitted_ranking(*threads.features(names)) for name, names in threads.feature_sets.items()}
    columns = [*threads.scores.values(), np.zeros(len(threads.votes)), *fits.values()]
    values = thread_measures(np.column_stack(columns), threads.votes, threads.starts)  # [A, M, measures]
    samples = resampled_means(values, data.counts)  # [1 + R, M, measures]
    rows = [_row(name, samples[:, at].T, len(threads.starts)) for at, name in enumerate((*threads.scores, RANDOM))]
    of_fit = {name: samples[:, at + len(rows)].T for at, name in enumerate(fits)}
    rows += [StudyRow(name=FITS, kind="group")]
    rows += [_row(f"fit: {name}", each, len(threads.starts)) for name, each in of_fit.items()]
    table = StudyTable(
        key="ranking",
        caption=f"Comments of {counted(len(threads.starts), 'article')} ranked against their votes",
        head=("", *HEAD),
        rows=tuple(rows),
    )
    gains = _gains("ranking-gains", of_fit, HEAD, len(threads.starts))
    return StudyPart(
        key="comment-ranking",
        title="Comment ranking",
        words=(_data(threads, options), MEASURES, SCORERS, FITTED),
        tables=(table, gains, *_absent(threads)),
    )


def votes_part(threads: Threads, options: UsesOptions) -> StudyPart:
    """Predict votes by each fit.

    Args:
        threads: The threads.
        options: Options of the study.
    """
    data, articles = _prediction(threads, options), len(threads.starts)
    fits = {name: _measured(data, *threads.features(names)) for name, names in threads.feature_sets.items()}
    popularity = _measured(data, data.others_mean()[:, None], [])
    table = StudyTable(
        key="votes",
        caption=f"Votes of {counted(len(threads.votes), 'comment')}, predicted by fits on articles of other folds",
        head=("", *HEAD_OF_VOTES),
        rows=(
            *(_row(name, samples, articles) for name, samples in fits.items()),
            StudyRow(
                name=f"{OTHERS}, not known beforehand", cells=(*interval_cells(popularity[:2], articles), None, None)
            ),
        ),
    )
    share = between_share(data.target, threads.starts, data.counts)
    variance = StudyTable(
        key="variance",
        caption="Shares of the variance of the logarithm of votes (ICC)",
        head=("", "share"),
        rows=(
            _row("between articles: their popularity", share[None], articles),
            _row("within articles", 1 - share[None], articles),
        ),
    )
    return StudyPart(
        key="upvote-prediction",
        title="Upvote prediction",
        words=(VOTES,),
        tables=(table, _gains("votes-gains", fits, HEAD_OF_VOTES, articles), variance),
    )


def _measured(data: VotePrediction, columns: Floats, curved: list[int]) -> Floats:
    """Measures of a fit and their resamples, float64[measures, 1 + R]."""
    found = data.measure(columns, curved)
    return np.stack([found[name] for name in PREDICTION])


def _row(name: str, samples: Floats, articles: int) -> StudyRow:
    """A row of values with intervals, of float64[measures, 1 + R]."""
    return StudyRow(name=name, cells=tuple(interval_cells(samples, articles)))


def _gains(key: str, fits: Mapping[str, Floats], head: tuple[str, ...], articles: int) -> StudyTable:
    """Table of the gains of the text over length and age, on the same resamples."""
    bases = [name for name in (BOTH, LENGTH, AGE) if name in fits]
    return StudyTable(
        key=key,
        caption="What the text adds: differences of the fits, 95 % intervals over the same resamples of articles",
        head=("", *head),
        rows=tuple(_row(f"{with_text(base)} − {base}", fits[with_text(base)] - fits[base], articles) for base in bases),
    )


def _absent(threads: Threads) -> Iterator[StudyTable]:
    if threads.absent:
        rows = tuple(StudyRow(name=name, cells=(reason,)) for name, reason in threads.absent.items())
        yield StudyTable(key="absent", caption="Scorers that are absent", head=("scorer", "reason"), rows=rows)


def _data(threads: Threads, options: UsesOptions) -> str:
    """The data and the folds in a sentence."""
    text = f"{counted(len(threads.votes), 'comment')} of {counted(len(threads.starts), 'test article')}"
    if threads.left_out:
        text += f". Left out, since votes do not differ or none is above 0: {counted(threads.left_out, 'article')}"
    if threads.unvoted:
        text += f". Left out, since nothing is known of their votes: {counted(threads.unvoted, 'comment')}"
    return f"{text}. Folds: {options.folds}, seed {options.seed}."
