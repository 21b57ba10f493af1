"""Dates in an evaluation: leakage from later articles, scores by period, and the age of suggested comments."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.comments.candidate_pool import MISSING
from postil.comments.neural_commenter import NeuralCommenter
from postil.comments.result import PeriodScores, TrainingPeriod
from postil.comments.retrieval import Retriever
from postil.data.counting import are
from postil.data.dates import unix_seconds
from postil.errors import UnknownName, UsageError
from postil.messages import Message, Setting
from postil.metrics.evaluation import SystemTotals

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.comments.base import Commenter
    from postil.corpus.store import Corpus
    from postil.data.rows import Article
    from postil.data.suggestions import Suggestions
    from postil.metrics.metric_set import MetricSet

__all__ = ["PERIODS", "Periods", "date_remarks", "suggestion_ages", "training_periods"]

PERIODS: Final = {"month": 7, "quarter": 7, "year": 4}
"""Periods of the calendar, and the number of characters of a date that tell them."""
DAY: Final = 86_400


def training_periods(
    commenters: Mapping[str, Commenter], corpus: Corpus, articles: Sequence[Article]
) -> tuple[TrainingPeriod, ...]:
    """Compare the dates of the articles that commenters were trained on with those of the articles of an evaluation.

    Args:
        commenters: Commenters by name; those whose training articles are unknown are left out.
        corpus: The corpus; a generator is known by it if it was trained on it.
        articles: The articles of the evaluation.
    """
    return tuple(
        period for name, each in commenters.items() if (period := _period(name, each, corpus, articles)) is not None
    )


def _period(name: str, commenter: Commenter, corpus: Corpus, articles: Sequence[Article]) -> TrainingPeriod | None:
    if isinstance(commenter, Retriever):
        ids = set(commenter.pool.articles)
        seconds = np.asarray(commenter.pool.article_dates)
        dates = [_date(each) for each in seconds[seconds != MISSING].tolist()]
        number = len(ids)
    elif isinstance(commenter, NeuralCommenter) and commenter.model.trained_on(corpus.metadata.origin):
        trained = [(one.id, one.date) for one in corpus.articles("train")]
        ids, number = {one for one, _ in trained}, len(trained)
        dates = [date for _, date in trained if date]
    else:
        return None
    last = max(dates, default=None)
    return TrainingPeriod(
        system=name,
        articles=number,
        undated=number - len(dates),
        first=min(dates, default=None),
        last=last,
        shared=sum(one.id in ids for one in articles),
        earlier=sum(bool(last and one.date and one.date <= last) for one in articles),
        dated=sum(bool(one.date) for one in articles),
    )


def _date(seconds: int) -> str:
    return f"{np.datetime64(seconds, 's')}Z"


def suggestion_ages(articles: Sequence[Article], rows: Sequence[Suggestions]) -> NDArray[np.float64]:
    """Ages of the first suggestions, in days: the date of the article less that of the comment.

    Args:
        articles: The articles.
        rows: The suggestions for each; none for readers.

    Returns:
        float64[m], of the suggestions with a source, where both dates are known; below 0 for a comment that was written
        after the article.
    """
    found = []
    for article, row in zip(articles, rows, strict=False):
        sources = row.suggestions[0].provenance.sources if row.suggestions else ()
        if article.date and sources and sources[0].date:
            found.append((unix_seconds(article.date) - unix_seconds(sources[0].date)) / DAY)
    return np.array(found, dtype=np.float64)


@dataclass(frozen=True, eq=False, slots=True)
class Periods:
    """Articles by period.

    Args:
        names: Name of each period.
        members: int64[n], the indices of the articles of each period.
        dates: The first and the last date of each period's articles.
    """

    names: tuple[str, ...]
    members: tuple[NDArray[np.int64], ...]
    dates: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, articles: Sequence[Article], by: str | None, where: str) -> Periods:
        """Sort articles by period; those without a date are in none.

        Args:
            articles: The articles.
            by: A name of `PERIODS`, or a number of periods with as many articles each; None for no periods.
            where: The corpus, for messages.

        Raises:
            UnknownName, UsageError: There is no such period, or the articles have no dates.
        """
        if by is None:
            return cls((), (), ())
        number = int(by) if by.isascii() and by.isdigit() else None
        if number is None and by not in PERIODS:
            raise UnknownName("period", by, [*PERIODS, "a number"])
        dated = sorted((one.date, one.id, place) for place, one in enumerate(articles) if one.date)
        if not dated:
            raise UsageError(
                "{where}: {by_date}: its articles have no dates", where=where, by_date=Setting("by_date", by)
            )
        if number is not None and not 1 <= number <= len(dated):
            raise UsageError(
                "{by_date}: expected 1 to {count:,} periods, as there are articles with dates, got {by}",
                by_date=Setting("by_date"),
                count=len(dated),
                by=by,
            )
        groups = defaultdict[str, list[tuple[str, int]]](list)
        for rank, (date, _, place) in enumerate(dated):
            name = _calendar(date, by) if number is None else f"{rank * number // len(dated) + 1}/{number}"
            groups[name].append((date, place))
        return cls(
            tuple(groups),
            tuple(np.array([place for _, place in some], dtype=np.int64) for some in groups.values()),
            tuple((some[0][0], some[-1][0]) for some in groups.values()),
        )

    def scores(
        self, name: str, stats: Mapping[str, NDArray[np.float64]], metrics: MetricSet, last: str | None
    ) -> Iterator[PeriodScores]:
        """Scores of a system in each period, as they would be of its articles alone.

        Args:
            name: The system.
            stats: Statistics by spec, float64[articles, k].
            metrics: The metrics.
            last: Date of the newest article that the system was trained on, if it is known.

        Yields:
            One row per period.
        """
        for period, members, (first, end) in zip(self.names, self.members, self.dates, strict=True):
            totals = SystemTotals(metrics)
            totals.add(name, {spec: values[members] for spec, values in stats.items()})
            middle = (unix_seconds(first) + unix_seconds(end)) / 2
            yield PeriodScores(
                system=name,
                period=period,
                first=first,
                last=end,
                articles=len(members),
                days=None if last is None else (middle - unix_seconds(last)) / DAY,
                scores={row.metric: row.score for row in totals.scores()},
            )


def _calendar(date: str, by: str) -> str:
    if by == "quarter":
        return f"{date[:4]}-Q{(int(date[5:7]) + 2) // 3}"
    return date[: PERIODS[by]]


def date_remarks(periods: Iterable[TrainingPeriod], articles: int, split: str) -> Iterator[str]:
    """Notes on leakage, one per kind of it and period of training.

    Args:
        periods: The periods of training.
        articles: Number of articles of the evaluation.
        split: Their split.
    """
    said = defaultdict[str, list[str]](list)
    for one in periods:
        if one.last and one.dated:
            newest = f"than its newest training article ({one.last[:10]})"
            text = f"all {one.dated:,} articles of {split} with a date are newer {newest}"
            if one.earlier:
                of = f"{one.dated:,} articles of {split} with a date"
                text = Message(
                    "{earlier} no newer {newest}: it may know what came later; corpus build {split_by} avoids that",
                    earlier=f"{one.earlier:,} of {of} {are(one.earlier)}",
                    newest=newest,
                    split_by=Setting("split_by", "date"),
                )
            said[text].append(one.system)
        if one.shared:
            text = f"{one.shared:,} of {articles:,} articles of {split} {are(one.shared)} in train"
            said[text].append(one.system)
    for text, systems in said.items():
        yield Message("{systems}: {text}", systems=", ".join(systems), text=text)
