"""The statistics of a corpus: Table 2 of the paper on automatic article commenting (ACL 2018), and its section 3.

Each file of the corpus is summarized on its own and summaries add up, so memory does not grow with the corpus, and any
engine gives the same numbers. Distributions are kept exactly, as counts of each value.
"""

from __future__ import annotations

import math
from collections import Counter
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.corpus.result import (
    CorpusStatistics,
    DateStatistics,
    SplitStatistics,
    Spread,
    StatisticsResult,
    StatisticsSettings,
)
from postil.data.parquet import Arrow, arrow
from postil.errors import InvalidInput
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray

    from postil.corpus.passes import OnProgress
    from postil.corpus.store import Corpus, Field
    from postil.data.grades import Scale
    from postil.engine import Engine

__all__ = ["ALL", "Histogram", "Statistics", "Summary", "spread", "statistics"]

MANY: Final = 1 << 20
"""Integers within a range below this are counted without sorting."""

POINTS: Final = 400
"""Number of pieces of a tail."""


@dataclass(frozen=True, eq=False)
class Histogram:
    """Frequencies of integer values; histograms add up.

    Args:
        values: int64[v] or float64[v], rising; none by default.
        counts: int64[v], each above 0.

    >>> votes = Histogram.of([0, 0, 7]) + Histogram.of([1])
    >>> votes.n, votes.mean, votes.quantile(0.5), votes.share(votes.values == 0)
    (4, 2.0, 0.5, 0.5)
    >>> print(Histogram.of([]).mean)
    None
    """

    values: NDArray[np.int64] | NDArray[np.float64] = field(default_factory=lambda: np.zeros(0, np.int64))
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    @classmethod
    def of(cls, values: ArrayLike) -> Histogram:
        """Count values.

        Args:
            values: Any number of them.
        """
        array = np.asarray(values)
        if array.dtype.kind in "iu" and len(array) and int(array.max()) - int(array.min()) < MANY:
            least = array.min()
            counts = np.bincount(array - least)
            places = counts.nonzero()[0]
            return cls(places + least.astype(np.int64), counts[places])
        return cls(*np.unique(array, return_counts=True))

    def __add__(self, other: Histogram) -> Histogram:
        """Both together."""
        if not self.n or not other.n:
            return other if not self.n else self
        values, places = np.unique(np.concatenate([self.values, other.values]), return_inverse=True)
        counts = np.zeros(len(values), dtype=np.int64)
        np.add.at(counts, places, np.concatenate([self.counts, other.counts]))
        return Histogram(values, counts)

    @cached_property
    def n(self) -> int:
        """Number of values."""
        return int(self.counts.sum())

    @cached_property
    def mean(self) -> float | None:
        """Their mean; None without any."""
        if not self.n:
            return None
        pairs = list(zip(self.values.tolist(), self.counts.tolist(), strict=True))
        if self.values.dtype.kind in "iu":
            return float(sum(value * count for value, count in pairs) / self.n)
        return math.fsum(value * (count / self.n) for value, count in pairs)

    @cached_property
    def sd(self) -> float | None:
        """Their standard deviation, over n - 1; None for fewer than two."""
        if self.mean is None or self.n < 2:
            return None
        off = self.values.astype(np.float64) - self.mean
        most = float(np.abs(off).max())
        return most and most * math.sqrt(float(self.counts @ (off / most) ** 2) / (self.n - 1))

    def quantile(self, part: float) -> float | None:
        """The quantile, interpolated linearly between neighbors (as in ``numpy.quantile``).

        Args:
            part: From 0 to 1.

        Returns:
            The value; None without any.
        """
        if not self.n:
            return None
        place = part * (self.n - 1)
        upto = np.cumsum(self.counts)
        low, high = (
            float(self.values[np.searchsorted(upto, spot, "right")]) for spot in (int(place), math.ceil(place))
        )
        return low + (high - low) * (place - int(place))

    def share(self, which: NDArray[np.bool_]) -> float | None:
        """Share of the values that are in a set.

        Args:
            which: bool[v], the values.

        Returns:
            From 0 to 1; None without any.
        """
        return int(self.counts[which].sum()) / self.n if self.n else None

    def at_least(self) -> NDArray[np.float64]:
        """Share of the values that are at least each value, float64[v], descending from 1."""
        return np.cumsum(self.counts[::-1])[::-1] / max(self.n, 1)

    def tail(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The complementary cumulative distribution, for logarithmic axes.

        Returns:
            x and the share of values that are at least x, float64[m] each; only x of 1 or more, of each of `POINTS`
            pieces by equal factors the two ends. Empty without positive values.
        """
        positive = self.values[self.values > 0].astype(np.float64)
        if not len(positive):
            return positive, positive
        x = np.unique(np.concatenate([[1], positive, positive[:-1] + 1]))  # nothing changes between these
        y = self.at_least()[np.searchsorted(self.values, x)]
        steps = np.floor(POINTS * np.log(x) / np.log(max(x[-1], 2)))
        kept = (np.diff(steps, prepend=-1) > 0) | (np.diff(steps, append=np.inf) > 0)
        return x[kept], y[kept]


ALL: Final = CorpusStatistics.ALL
LEAVES: Final = {(name, name) for name in ("title", "content", "category", "date")} | {
    *(("comments", name) for name in ("text", "upvotes", "grade", "date")),
    ("held_out", "upvotes"),
}
"""First and last name of the columns that are read."""


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


@dataclass(frozen=True, slots=True)
class Period:
    """The dates of articles or comments.

    Args:
        n: Number of those with a date.
        first: The earliest date; empty without any.
        last: The latest date.

    >>> Period(1, "2020-03-21T00:00:00Z", "2020-03-21T00:00:00Z") + Period()
    Period(n=1, first='2020-03-21T00:00:00Z', last='2020-03-21T00:00:00Z')
    """

    n: int = 0
    first: str = ""
    last: str = ""

    def __add__(self, other: Period) -> Period:
        """The period of both."""
        if not (self.n and other.n):
            return self if self.n else other
        return Period(self.n + other.n, min(self.first, other.first), max(self.last, other.last))


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Summary:
    """The counts and distributions of a split, or of a file of one; summaries add up.

    Lengths in words are those of the token arrays, lengths in characters count code points.

    Args:
        articles: Number of articles.
        comments: Number of comments, without the held-out ones; all below is about these.
        held_out: Number of comments set aside when references were sampled.
        tokens: Number of tokens in titles, contents and comments.
        known: Number of those within the vocabulary of models.
        words: uint8, one bit per word of the corpus, set if it occurs.
        categories: Number of articles of each category.
        comments_per_article: Number of comments of each article.
        upvotes: Upvotes of each comment that has them.
        title_words: Words of each title.
        title_characters: Characters of each title.
        content_words: Words of each article that has content.
        content_characters: Characters of each article that has content.
        comment_words: Words of each comment.
        comment_characters: Characters of each comment.
        grades: The agreed grade of each graded comment, else the mean of its ratings.
        best: The highest rating of each graded comment; its grade where it has no ratings.
        best_of_article: The highest of these of each article with graded comments.
        ratings: Their number, of each comment that has some.
        dates: Dates of articles.
        comment_dates: Dates of comments.
    """

    articles: int = 0
    comments: int = 0
    held_out: int = 0
    tokens: int = 0
    known: int = 0
    words: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(1, dtype=np.uint8))
    categories: Counter[str] = field(default_factory=Counter)
    comments_per_article: Histogram = field(default_factory=Histogram)
    upvotes: Histogram = field(default_factory=Histogram)
    title_words: Histogram = field(default_factory=Histogram)
    title_characters: Histogram = field(default_factory=Histogram)
    content_words: Histogram = field(default_factory=Histogram)
    content_characters: Histogram = field(default_factory=Histogram)
    comment_words: Histogram = field(default_factory=Histogram)
    comment_characters: Histogram = field(default_factory=Histogram)
    grades: Histogram = field(default_factory=Histogram)
    best: Histogram = field(default_factory=Histogram)
    best_of_article: Histogram = field(default_factory=Histogram)
    ratings: Histogram = field(default_factory=Histogram)
    dates: Period = Period()
    comment_dates: Period = Period()

    def __add__(self, other: Summary) -> Summary:
        """The summary of both."""
        pairs = ((name.name, getattr(self, name.name), getattr(other, name.name)) for name in fields(self))
        return Summary(**{name: one | two if name == "words" else one + two for name, one, two in pairs})

    @property
    def distinct_words(self) -> int:
        """Number of distinct words."""
        return int(np.unpackbits(self.words).sum())

    @property
    def known_share(self) -> float | None:
        """Share of the tokens that models know; None without tokens."""
        return self.known / self.tokens if self.tokens else None


@dataclass(frozen=True, slots=True)
class Shard:
    """A file of a split.

    Args:
        split: The split.
        file: The file.
        first: Index of its first article in the split.
    """

    split: str
    file: Path
    first: int


def shards(corpus: Corpus, split: str) -> Iterator[Shard]:
    """The files of a split.

    Args:
        corpus: The corpus.
        split: The split.

    Raises:
        InvalidInput: A file is missing or damaged, or they hold other articles than the token arrays.
    """
    first = 0
    for file in corpus.files(split):
        yield Shard(split, file, first)
        with _opened(file) as parquet:
            first += parquet.metadata.num_rows
    if first != len(corpus.starts(split)) - 1:
        raise _apart(corpus.path, split, f"{first:,} articles in data", f"{len(corpus.starts(split)) - 1:,} in tokens")


def _apart(path: Path, split: str, *both: str) -> InvalidInput:
    problem = f"{split}: expected as many texts in data as in tokens, got {' and '.join(both)}; was the folder changed?"
    return InvalidInput(problem, where=str(path))


@contextmanager
def _opened(file: Path) -> Iterator[Arrow]:
    pa = arrow()
    try:
        with pa.parquet.ParquetFile(file) as parquet:
            yield parquet
    except (pa.ArrowException, OSError) as error:
        raise InvalidInput(
            "not a Parquet file, or a damaged one; was the folder copied whole?", where=str(file)
        ) from error


@dataclass(frozen=True)
class Summarize:
    """Summarizer of files; it can be sent to another process.

    Args:
        corpus: The corpus that they are of.
    """

    corpus: Corpus

    def __call__(self, shard: Shard) -> Summary:
        """Summarize a file.

        Args:
            shard: The file.

        Raises:
            InvalidInput: It is damaged, or holds other texts than the token arrays.
        """
        summary, filled = Summary(), [np.zeros(0, dtype=bool)]
        with _opened(shard.file) as file:
            paths = [file.schema.column(number).path for number in range(len(file.schema.names))]
            leaves = [path for path in paths if (path.partition(".")[0], path.rpartition(".")[2]) in LEAVES]
            for number in range(file.num_row_groups):
                table = file.read_row_group(number, leaves).combine_chunks()
                summary += _columns(table)
                filled.append(table["content"].is_valid().to_numpy())
        starts = self.corpus.starts(shard.split)[shard.first : shard.first + summary.articles + 1]
        first, last = int(starts[0]), int(starts[-1])
        if summary.comments != last - first:
            raise _apart(
                shard.file, shard.split, f"{summary.comments:,} comments in data", f"{last - first:,} in tokens"
            )
        articles = slice(shard.first, shard.first + summary.articles + 1)
        try:
            return summary + self._tokens(shard.split, articles, slice(first, last + 1), np.concatenate(filled))
        except IndexError as error:
            problem = f"{shard.split}: the token arrays do not fit data and words.txt; was the folder changed?"
            raise InvalidInput(problem, where=str(self.corpus.path)) from error

    def _tokens(self, split: str, articles: slice, comments: slice, filled: NDArray[np.bool_]) -> Summary:
        """Count words; the slices are those of the offsets."""
        known = self.corpus.vocab_size
        seen = np.zeros(self.corpus.metadata.words, dtype=bool)
        tokens = models = 0
        lengths = {}
        whats: tuple[Field, ...] = ("title", "content", "comments")
        for what in whats:
            texts = self.corpus.tokens(split, what)
            offsets = texts.offsets[comments if what == "comments" else articles]
            ids = texts.ids[offsets[0] : offsets[-1]]
            seen[ids] = True
            tokens += len(ids)
            models += int(np.count_nonzero(ids < known))
            lengths[what] = np.diff(offsets)
        return Summary(
            tokens=tokens,
            known=models,
            words=np.packbits(seen),
            title_words=Histogram.of(lengths["title"]),
            content_words=Histogram.of(lengths["content"][filled]),
            comment_words=Histogram.of(lengths["comments"]),
        )


def _columns(table: Arrow) -> Summary:
    """Count all but words."""
    pa = arrow()
    lists = table["comments"].combine_chunks()
    comments, sizes = lists.flatten(), lists.value_lengths().to_numpy(zero_copy_only=False)
    held_out = pa.compute.sum(pa.compute.list_value_length(table["held_out"])).as_py() or 0
    found = pa.compute.value_counts(table["category"].drop_null()).to_pylist()
    grades, best, ratings = _grades(comments)
    return Summary(
        articles=table.num_rows,
        comments=len(comments),
        held_out=held_out,
        categories=Counter({each["values"]: each["counts"] for each in found if each["values"]}),
        comments_per_article=Histogram.of(sizes),
        upvotes=_histogram(comments.field("upvotes")),
        title_characters=_characters(table["title"]),
        content_characters=_characters(table["content"]),
        comment_characters=_characters(comments.field("text")),
        grades=Histogram.of(grades[~np.isnan(grades)]),
        best=Histogram.of(best[~np.isnan(best)]),
        best_of_article=_best_of(best, sizes),
        ratings=Histogram.of(ratings[ratings > 0]),
        dates=_period(table["date"]) if "date" in table.column_names else Period(),
        comment_dates=_period(comments.field("date")) if comments.type.get_field_index("date") >= 0 else Period(),
    )


def _period(column: Arrow) -> Period:
    found = arrow().compute.min_max(column).as_py()
    return Period(len(column) - column.null_count, found["min"] or "", found["max"] or "")


def _histogram(column: Arrow) -> Histogram:
    return Histogram.of(column.drop_null().to_numpy())


def _characters(column: Arrow) -> Histogram:
    return _histogram(arrow().compute.utf8_length(column))


def _grades(comments: Arrow) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Grade, highest rating and number of ratings of each comment; NaN where there is no grade."""
    grades = comments.field("grade").to_numpy(zero_copy_only=False).astype(np.float64)
    lists = comments.field("ratings")
    ratings = lists.flatten().field("grade").to_numpy(zero_copy_only=False)
    sizes = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    rated = sizes > 0
    if not rated.any():
        return grades, grades, sizes
    starts = (np.cumsum(sizes) - sizes)[rated]
    with np.errstate(over="ignore"):
        means = np.add.reduceat(ratings, starts) / sizes[rated]
    if not np.isfinite(means).all():
        means = np.add.reduceat(ratings / np.repeat(sizes, sizes), starts)
    mean, best = np.full(len(grades), np.nan), grades.copy()
    mean[rated], best[rated] = means, np.maximum.reduceat(ratings, starts)
    return np.where(np.isnan(grades), mean, grades), best, sizes


def _best_of(best: NDArray[np.float64], sizes: NDArray[np.int64]) -> Histogram:
    """The highest of each article's comments, of articles where some has one."""
    some = ~np.isnan(best)
    owners = np.repeat(np.arange(len(sizes)), sizes)[some]
    firsts = np.flatnonzero(np.diff(owners, prepend=-1))
    return Histogram.of(np.maximum.reduceat(best[some], firsts) if len(firsts) else best[some])
