"""The statistics of a corpus: Table 2 of the paper on automatic article commenting (ACL 2018), and its section 3.

Each file of the corpus is summarized on its own and summaries add up, so memory does not grow with the corpus, and any
engine gives the same numbers. Distributions are kept exactly, as counts of each value.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from postil.corpus.summary import Summarize, shards
from postil.errors import InvalidInput
from postil.records.results import (
    CorpusStatistics,
    DateStatistics,
    SplitStatistics,
    Spread,
    StatisticsResult,
    StatisticsSettings,
)
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from postil.corpus.passes import OnProgress
    from postil.corpus.store import Corpus
    from postil.corpus.summary import Summary
    from postil.engine import Engine
    from postil.records.histogram import Histogram
    from postil.records.scale import Scale

__all__ = ["ALL", "Statistics", "spread", "statistics"]

ALL: Final = CorpusStatistics.ALL


@dataclass(frozen=True, eq=False, slots=True)
class Statistics:
    """The statistics of a corpus.

    Args:
        splits: Summary of each split, and of all together (`ALL`).
        tokenizer: Signature of the tokenizer.
        vocab_size: Number of words that models know by default.
        top_grade: The highest grade: that of the scale, else the highest in the corpus; None without grades.
    """

    splits: Mapping[str, Summary]
    tokenizer: str
    vocab_size: int
    top_grade: float | None

    @property
    def all(self) -> Summary:
        """All splits together."""
        return self.splits[ALL]

    def result(self) -> StatisticsResult:
        """The numbers that are printed: a distribution becomes a `Spread`."""
        splits = {name: self._numbers(summary) for name, summary in self.splits.items()}
        return StatisticsResult(
            statistics=CorpusStatistics(splits=splits, top_grade=self.top_grade),
            settings=StatisticsSettings(tokenizer=self.tokenizer, vocabulary=self.vocab_size, postil=VERSION),
        )

    def _numbers(self, of: Summary) -> SplitStatistics:
        votes = of.upvotes
        return SplitStatistics(
            articles=of.articles,
            comments=of.comments,
            held_out=of.held_out,
            words=of.tokens,
            distinct_words=of.distinct_words,
            known_share=of.known_share,
            without_content=of.articles - of.content_words.n,
            without_category=of.articles - of.categories.total(),
            without_upvotes=of.comments - votes.n,
            upvotes_zero=votes.share(votes.values == 0),
            upvotes_negative=votes.share(votes.values < 0),
            top_grade_comments=self.top_share(of.best),
            top_grade_articles=self.top_share(of.best_of_article),
            comments_per_article=spread(of.comments_per_article),
            upvotes=spread(votes),
            title_words=spread(of.title_words),
            content_words=spread(of.content_words),
            comment_words=spread(of.comment_words),
            title_characters=spread(of.title_characters),
            content_characters=spread(of.content_characters),
            comment_characters=spread(of.comment_characters),
            grades=spread(of.grades),
            ratings=spread(of.ratings),
            dates=_dates(of),
            categories=dict(sorted(of.categories.items(), key=lambda pair: (-pair[1], pair[0]))),
        )

    def top_share(self, best: Histogram) -> float | None:
        """Share of comments or articles with the top grade from at least one person.

        Args:
            best: `Summary.best` or `Summary.best_of_article`.

        Returns:
            From 0 to 1; None where nothing is graded.
        """
        return None if self.top_grade is None else best.share(best.values >= self.top_grade)


def _dates(of: Summary) -> DateStatistics | None:
    articles, comments = of.dates, of.comment_dates
    if not (articles.n or comments.n):
        return None
    return DateStatistics(
        articles=articles.n / of.articles,
        comments=comments.n / of.comments,
        first_article=articles.first or None,
        last_article=articles.last or None,
        first_comment=comments.first or None,
        last_comment=comments.last or None,
    )


def spread(of: Histogram) -> Spread:
    """A distribution in a few numbers.

    Args:
        of: The distribution.
    """
    return Spread(
        n=of.n,
        mean=of.mean,
        sd=of.sd,
        min=of.quantile(0),
        p25=of.quantile(0.25),
        median=of.quantile(0.5),
        p75=of.quantile(0.75),
        p90=of.quantile(0.9),
        p99=of.quantile(0.99),
        p999=of.quantile(0.999),
        max=of.quantile(1),
    )


def statistics(
    corpus: Corpus,
    engine: Engine | None = None,
    *,
    scale: Scale | None = None,
    on_progress: OnProgress = lambda _what, things, _total=None: nullcontext(iter(things)),
) -> Statistics:
    """Compute the statistics of a corpus.

    Args:
        corpus: The corpus.
        engine: Engine that runs the work; None for this process.
        scale: The scale of the grades; by default the highest grade in the corpus is the top one.
        on_progress: Progress callback.

    Raises:
        InvalidInput: A file is missing, damaged or of another corpus, or a grade is not on the scale.
        MissingExtra: pyarrow is not installed.
    """
    files = [shard for split in corpus.splits for shard in shards(corpus, split)]
    run = map if engine is None else engine.map
    splits: dict[str, Summary] = {}
    with on_progress("files", run(Summarize(corpus), files), len(files)) as summaries:
        for shard, summary in zip(files, summaries, strict=True):
            splits[shard.split] = splits[shard.split] + summary if shard.split in splits else summary
    first, *others = splits.values()
    splits[ALL] = sum(others, start=first)
    grades = splits[ALL].best + splits[ALL].grades
    if scale is not None and grades.n:
        for grade in (float(grades.values[0]), float(grades.values[-1])):
            problem = scale.check(grade)
            if problem:
                raise InvalidInput(problem, where=str(corpus.path / "data"), field="grade")
    top = None if not grades.n else scale.high if scale else float(splits[ALL].best.values[-1])
    return Statistics(splits, corpus.metadata.tokenizer, corpus.vocab_size, top)
