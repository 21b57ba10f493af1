"""Parts of the results of `postil corpus` and `postil forget`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import msgspec

from postil.corpus.forgotten import Erasure
from postil.data.parts import OptionalPart, Part
from postil.data.rows import Row
from postil.results.base import Result

if TYPE_CHECKING:
    from postil.errors import InvalidInput

__all__ = [
    "CorpusInput",
    "CorpusMetadata",
    "CorpusStatistics",
    "DateStatistics",
    "ForgottenFolder",
    "Rejected",
    "SplitSize",
    "SplitStatistics",
    "Spread",
    "StatisticsResult",
    "StatisticsSettings",
]


class CorpusInput(Part, frozen=True, kw_only=True):
    """An input file of a corpus.

    Args:
        name: Its name, without folders.
        split: The split that its articles were given to; None where they were to be split.
        bytes: Its size, decompressed.
        blake2b: Its BLAKE2b hash, 32 hexadecimal digits.
    """

    name: str
    split: str | None
    bytes: int
    blake2b: str


class SplitSize(Part, frozen=True, kw_only=True):
    """Number of articles, of their comments, and of Parquet files of a split."""

    articles: int
    comments: int
    files: int


class ForgottenFolder(Part, frozen=True, kw_only=True):
    """The outcome of erasing comments from one folder.

    Args:
        folder: The folder.
        content: The kind of the model, such as ``ir-tc``; ``corpus``, ``answers`` of a language model, or ``labels`` of
            a service.
        comments: Number of comments that were erased; of answers and labels, their number.
        articles: Number of articles that were erased.
        words: Number of words that were erased, since nothing else used them.
        same_text: Ids of article and comment of each other comment with the same text, which stays.
        quoting: Ids of article and comment of each other comment that contains an erased text, and stays.
        network: True if a network was trained on the comments, whose weights cannot unlearn them.
        files: Names of the files that were written anew or removed.
        hash_before: Hash of the model before; None where there is none.
        hash: Hash of the model now; None where there is none.
        deliveries: Number of a service's messages that waited with what is erased, and are given up.
        decisions: Number of moderators' decisions that a service kept on what is erased.
    """

    folder: str
    content: str
    comments: int
    articles: int
    words: int
    same_text: tuple[tuple[str, str], ...]
    quoting: tuple[tuple[str, str], ...]
    network: bool
    files: tuple[str, ...]
    hash_before: str | None
    hash: str | None
    deliveries: int = 0
    decisions: int = 0


class Spread(Part, frozen=True, kw_only=True):
    """A distribution in a few numbers; None for what does not exist.

    Args:
        n: Number of values.
        mean: Their mean.
        sd: Their standard deviation, over n - 1.
        min: The lowest value.
        p25: The 25th percentile, interpolated linearly between neighbors, as all below.
        median: The median.
        p75: The 75th percentile.
        p90: The 90th percentile.
        p99: The 99th percentile.
        p999: The 99.9th percentile.
        max: The highest value.
    """

    n: int
    mean: float | None
    sd: float | None
    min: float | None
    p25: float | None
    median: float | None
    p75: float | None
    p90: float | None
    p99: float | None
    p999: float | None
    max: float | None


class DateStatistics(Part, frozen=True, kw_only=True):
    """The dates of articles and comments, in UTC; None where there are none.

    Args:
        articles: Share of articles with a date, from 0 to 1.
        comments: Share of comments with a date.
        first_article: Date of the earliest article.
        last_article: Date of the latest article.
        first_comment: Date of the earliest comment.
        last_comment: Date of the latest comment.
    """

    articles: float
    comments: float
    first_article: str | None
    last_article: str | None
    first_comment: str | None
    last_comment: str | None


class SplitStatistics(OptionalPart, frozen=True, kw_only=True):
    """The statistics of one split; shares are from 0 to 1, and None where there is nothing to count.

    Args:
        articles: Number of articles.
        comments: Number of comments, without the held-out ones; all below is about these.
        held_out: Number of comments set aside when references were sampled.
        words: Number of tokens in titles, contents and comments.
        distinct_words: Number of distinct tokens.
        known_share: Share of the tokens within the vocabulary that models know by default.
        without_content: Number of articles without content.
        without_category: Number of articles without a category.
        without_upvotes: Number of comments without a number of upvotes.
        upvotes_zero: Share of comments with 0 upvotes, of those with a number.
        upvotes_negative: Share of comments with fewer than 0.
        top_grade_comments: Share of graded comments with the top grade from at least one person.
        top_grade_articles: Share of articles with such a comment, of those with graded comments.
        comments_per_article: Number of comments per article.
        upvotes: Upvotes per comment.
        title_words: Tokens per title.
        content_words: Tokens per content, over the articles that have one.
        comment_words: Tokens per comment.
        title_characters: Code points per title.
        content_characters: Code points per content, over the articles that have one.
        comment_characters: Code points per comment.
        grades: Grade per graded comment: the agreed grade, else the mean of its ratings.
        ratings: Number of ratings per rated comment.
        categories: Number of articles by category, the largest first, then by name.
        dates: Dates of articles and comments; None without any.
    """

    articles: int
    comments: int
    held_out: int
    words: int
    distinct_words: int
    known_share: float | None
    without_content: int
    without_category: int
    without_upvotes: int
    upvotes_zero: float | None
    upvotes_negative: float | None
    top_grade_comments: float | None
    top_grade_articles: float | None
    comments_per_article: Spread
    upvotes: Spread
    title_words: Spread
    content_words: Spread
    comment_words: Spread
    title_characters: Spread
    content_characters: Spread
    comment_characters: Spread
    grades: Spread
    ratings: Spread
    categories: dict[str, int]
    dates: DateStatistics | None = None


class CorpusStatistics(Part, frozen=True, kw_only=True):
    """The statistics of a corpus.

    Args:
        splits: The splits that have articles, then all together under the name `ALL`.
        top_grade: The highest grade: that of the scale, else the highest in the corpus; None without grades.
    """

    splits: dict[str, SplitStatistics]
    top_grade: float | None

    ALL: ClassVar = "all"
    """Name of all splits together; part of the JSON."""

    def __post_init__(self) -> None:
        if self.ALL not in self.splits:
            raise ValueError(f"expected the split {self.ALL}")

    @property
    def all(self) -> SplitStatistics:
        """All splits together."""
        return self.splits[self.ALL]


class StatisticsSettings(Part, frozen=True, kw_only=True):
    """The tokenizer, the size of the vocabulary that models know by default, and the version of postil."""

    tokenizer: str
    vocabulary: int
    postil: str


class CorpusMetadata(Result, frozen=True, kw_only=True, tag="corpus"):
    """The outcome of building a corpus, which is its ``metadata.json``.

    Args:
        format: Version of the corpus folder.
        postil: Version of postil.
        options: The options by name, without secrets.
        tokenizer: Signature of the tokenizer.
        inputs: The input files.
        langs: Languages of the articles, in alphabetical order.
        seen: Number of articles and comments that were excluded or changed, by reason.
        splits: Size of each split; 0 for those without articles.
        words: Number of distinct tokens.
        chosen: Names of the options whose value was chosen from the data, as none was given.
        forgotten: Erasures of comments.
        ratings: File of ratings that took the place of those in the rows; None where there was none.
    """

    format: int
    postil: str
    options: dict[str, str | int | float | tuple[str, ...]]
    tokenizer: str
    inputs: tuple[CorpusInput, ...]
    langs: tuple[str, ...]
    seen: dict[str, int]
    splits: dict[str, SplitSize]
    words: int
    chosen: tuple[str, ...] = ()
    forgotten: tuple[Erasure, ...] = ()
    ratings: CorpusInput | None = None

    def __post_init__(self) -> None:
        for name, kind in (("tokenizer", str), ("vocab_size", int)):
            if not isinstance(self.options.get(name), kind):
                raise ValueError(f"Object missing required field `{name}` - at `$.options`")  # noqa: TRY004 - msgspec
        for split in ("train", "dev", "test"):
            if split not in self.splits:
                raise ValueError(f"Object missing required field `{split}` - at `$.splits`")

    @property
    def origin(self) -> dict[str, object]:
        """Inputs and options as JSON objects: all that tells one corpus from another."""
        found: dict[str, object] = msgspec.json.decode(msgspec.json.encode(self))
        return {name: found[name] for name in ("inputs", "options")}


class StatisticsResult(Result, frozen=True, kw_only=True, tag="statistics"):
    """The statistics of a corpus.

    Args:
        statistics: The statistics.
        settings: All that they depend on.
    """

    statistics: CorpusStatistics
    settings: StatisticsSettings


class Rejected(Row, frozen=True, gc=False):
    """A line, or a part of one, that could not be read.

    Args:
        file: Its file.
        line: Its line (JSON Lines) or row (Parquet), counted from 1; None for a whole file.
        field: The field that is wrong; empty for a whole line.
        problem: The problem.

    >>> from postil.errors import InvalidInput
    >>> Rejected.of(InvalidInput("expected text, got 5", where="a.jsonl", line=7, field="title")).line
    7
    """

    file: str
    line: int | None
    field: str
    problem: str

    @classmethod
    def of(cls, error: InvalidInput) -> Rejected:
        """The row of an error.

        Args:
            error: The error.
        """
        return cls(error.where, error.line, error.field, error.message)
