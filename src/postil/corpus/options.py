"""Options of building a corpus: every threshold of the paper on automatic article commenting."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from postil.corpus.privacy import MASKS, HashKey
from postil.data.arguments import check_fields
from postil.data.fields import parse_date
from postil.data.grades import Scale
from postil.data.options import EngineOptions
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.messages import Setting
from postil.options import Flag, options

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "HTML",
    "LONG_COMMENTS",
    "ON_ERROR",
    "REFERENCE_POOLS",
    "SEED",
    "SPLIT_BY",
    "TRUNCATE_TRAIN",
    "USER_IDS",
    "BuildOptions",
    "BuildRunOptions",
    "DateRange",
    "Share",
    "StatisticsOptions",
]

_SHORT: Final = re.compile(r"(\d{4})(?:-(\d\d))?", re.ASCII)
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}\.\d{1,2}\.\d{4}", re.ASCII)
SEED: Final = 20181
TRUNCATE_TRAIN: Final = "truncate-train"
LONG_COMMENTS: Final = ("drop", "truncate", TRUNCATE_TRAIN, "keep")
SPLIT_BY: Final = ("random", "date")
REFERENCE_POOLS: Final = ("all", "long")
HTML: Final = ("clean", "keep")
USER_IDS: Final = ("drop", "hash", "keep")
ON_ERROR: Final = ("stop", "skip")
_LEAST: Final = {
    "min_content_words": 0,
    "min_comments": 1,
    "max_comment_words": 1,
    "test_min_comments": 0,
    "test_min_words": 0,
    "test_min_upvotes": 0,
    "references_per_article": 0,
    "vocab_size": 1,
    "seed": 0,
}
"""Smallest values."""


@dataclass(frozen=True)
class Share:
    """The size of a split.

    Args:
        size: Number of articles.
        fraction: Fraction of the articles, in [0, 1); one of the two is given.

    >>> Share.parse("0.05").of(1_000), Share.parse("1610").of(191_502)
    (50, 1610)
    """

    size: int | None = None
    fraction: float | None = None

    @classmethod
    def parse(cls, text: str) -> Share:
        """Parse a size (``5000``) or a fraction (``0.05``).

        Args:
            text: The value of a flag.

        Raises:
            UsageError: It is neither.
        """
        try:
            if "." not in text and int(text) >= 0:
                return cls(size=int(text))
            if 0 <= float(text) < 1:
                return cls(fraction=float(text))
        except ValueError:
            pass
        raise UsageError(f"expected a number of articles such as 5000, or a fraction such as 0.05, got '{text}'")

    def of(self, articles: int) -> int:
        """Number of articles of the split.

        Args:
            articles: Number of all articles.
        """
        return round(articles * self.fraction) if self.fraction is not None else self.size or 0

    def __str__(self) -> str:
        return str(self.size if self.fraction is None else self.fraction)


TWENTIETH: Final = Share(fraction=0.05)


@dataclass(frozen=True)
class DateRange:
    """A range of dates, both ends included; a year, a month or a day at the end is included whole.

    Args:
        text: ``FROM..TO``, each a year, a month, a day or a moment in ISO 8601 (UTC without an offset); one of them
            may be missing.

    Raises:
        UsageError: It is no range, or ends before it begins.

    >>> spring = DateRange("2017-04..2017-08")
    >>> spring.first, spring.last, "2017-08-31T23:00:00Z" in spring, "2017-09-01T00:00:00Z" in spring
    ('2017-04-01T00:00:00Z', '2017-08-31T23:59:59Z', True, False)
    """

    text: str

    def __post_init__(self) -> None:
        begin, dots, end = self.text.partition("..")
        if not dots or not (begin.strip() or end.strip()):
            raise UsageError(f"dates: expected FROM..TO, such as 2017-04..2017-08, got '{self.text}'")
        first, last = self.first, self.last
        if last and first > last:
            raise UsageError(f"dates: expected a range that ends after it begins, got '{self.text}'")

    @classmethod
    def parse(cls, text: str) -> DateRange:
        """Parse the value of a flag.

        Args:
            text: ``FROM..TO``.

        Raises:
            UsageError: It is no range.
        """
        return cls(text.strip())

    def __str__(self) -> str:
        return self.text

    def __contains__(self, date: object) -> bool:
        """True for a date as rows have it that is in the range."""
        return isinstance(date, str) and date != "" and self.first <= date and not (self.last and date > self.last)

    @property
    def first(self) -> str:
        """The first moment, as rows have dates; empty where the range is open."""
        return self._end(self.text.partition("..")[0], last=False)

    @property
    def last(self) -> str:
        """The last second."""
        return self._end(self.text.partition("..")[2], last=True)

    def _end(self, text: str, *, last: bool) -> str:
        text = text.strip()
        if not text:
            return ""
        day = text
        if (short := _SHORT.fullmatch(text)) is not None:
            year, month = int(short[1]), int(short[2] or (12 if last else 1))
            if not (year and 1 <= month <= 12):
                raise UsageError(f"dates: expected a year or a month such as 2017-04, got '{text}'")
            day = f"{year:04}-{month:02}-{calendar.monthrange(year, month)[1] if last else 1:02}"
        try:
            moment = parse_date(day)
        except InvalidInput as error:
            raise UsageError("dates: {problem}", problem=error.message) from None
        return f"{moment[:10]}T23:59:59Z" if last and _DAY.fullmatch(day) else moment


@options
class BuildOptions:
    """Options of `postil corpus build`. The defaults are the paper's (ACL 2018, sections 3 and 5), but for split sizes.

    Four thresholds are chosen from the data where they are not given: the paper's for a corpus of many articles, lower
    ones else; see `postil.corpus.splits`.

    Args:
        source: Source of the articles and comments, for the dataset card.
        license: Terms of use of the data, for the dataset card.
        tokenizer: Tokenizer of all texts: space, words, characters, 13a, ptb, jieba or rjieba (jieba's, faster).
        dates: Articles of these dates alone, as FROM..TO: 2017-04..2017-08, 2017-04-01..2017-08-31, 2017.. or ..2017;
            articles without a date are left out. Dev and test sets that are given stay as they are.
        min_content_words: Minimum number of words in the content; 0 accepts articles without content. By default
            chosen from the data: 30, or less if that leaves few articles.
        min_comments: Minimum number of comments with text, long ones included. By default chosen from the data:
            20, or less.
        max_comment_words: Maximum number of words in a comment.
        long_comments: Comments above --max-comment-words: drop, truncate (tokens only), truncate-train (truncate in
            train and dev, drop in test) or keep.
        dev: Size of the dev set, a number or a fraction of the articles.
        test: Size of the test set, a number or a fraction of the articles. Where fewer are eligible, a fraction takes
            all of these, and a number is an error.
        split_by: Sampling of dev and test: random, or date, where the newest articles are test and the oldest train.
        test_min_comments: Minimum number of comments of --test-min-words words or more in a test article. By
            default chosen from the data: 30, or less if that leaves too few test articles.
        test_min_words: Minimum number of words of the comments that --test-min-comments counts.
        test_min_upvotes: Minimum number of upvotes of all comments of a test article; 0 for no minimum. By default
            chosen from the data: 201, or less, and 0 where comments have no votes.
        references_per_article: Number of comments per test article that are sampled as its references, the others are
            held out; 0 for all.
        sample_references_from: Comments that references are sampled from: all, or long ones, of --test-min-words words
            or more.
        dedup_threshold: Jaccard similarity of near duplicates, from 0 to 1; 0 for no deduplication.
        vocab_size: Number of words that models know by default, the most frequent ones.
        html: HTML in titles, contents and comments: clean, which leaves their text, or keep.
        user_ids: Names of commenters and annotators: drop (annotators become annotator-1, annotator-2, …), hash (with
            --hash-key) or keep.
        hash_key: File with the secret key of --user-ids hash; created where it does not exist.
        mask: Mask in all texts: urls, emails, handles or phones; repeatable.
        seed: Random seed.
        on_error: A row that cannot be read: stop, or skip and list it in DIR.rejected.jsonl.

    Raises:
        UsageError: The options make no sense, or do not fit together.

    >>> BuildOptions(source="my site", license="CC-BY-4.0", min_comments=5).min_comments
    5
    """

    source: Annotated[str, Flag(metavar="TEXT", first=True)]
    license: Annotated[str, Flag(metavar="TEXT", first=True)]
    tokenizer: Annotated[str, Flag(metavar="NAME", first=True)] = "words"
    dates: Annotated[DateRange | None, Flag(metavar="FROM..TO", group="Articles and comments")] = None
    min_content_words: Annotated[int | None, Flag(min=0, group="Articles and comments")] = None
    min_comments: Annotated[int | None, Flag(min=1, first=True)] = None
    max_comment_words: Annotated[int, Flag(min=1, group="Articles and comments")] = 50
    long_comments: Annotated[str, Flag(metavar="POLICY", group="Articles and comments")] = "drop"
    dev: Annotated[Share, Flag(metavar="SIZE", first=True)] = TWENTIETH
    test: Annotated[Share, Flag(metavar="SIZE", first=True)] = TWENTIETH
    split_by: Annotated[str, Flag(metavar="WAY", group="Test set")] = "random"
    test_min_comments: Annotated[int | None, Flag(min=0, group="Test set")] = None
    test_min_words: Annotated[int, Flag(min=0, group="Test set")] = 6
    test_min_upvotes: Annotated[int | None, Flag(min=0, group="Test set")] = None
    references_per_article: Annotated[int, Flag(min=0, group="Test set")] = 27
    sample_references_from: Annotated[str, Flag(metavar="POOL", group="Test set")] = "all"
    dedup_threshold: Annotated[float, Flag(metavar="J", min=0, max=1, group="Articles and comments")] = 0.8
    vocab_size: Annotated[int, Flag(min=1, group="Articles and comments")] = 30_000
    html: Annotated[str, Flag(metavar="POLICY", group="Articles and comments")] = "clean"
    user_ids: Annotated[str, Flag(metavar="POLICY", group="Privacy")] = "drop"
    hash_key: Annotated[HashKey | None, Flag(metavar="FILE", group="Privacy")] = None
    mask: Annotated[tuple[str, ...], Flag(metavar="KIND", group="Privacy")] = ()
    seed: Annotated[int, Flag(min=0, group="Running")] = SEED
    on_error: Annotated[str, Flag(metavar="POLICY", group="Reading tables")] = "stop"

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("source", "license"):
            if not getattr(self, name).strip():
                raise UsageError(f"a corpus says where it comes from and what may be done with it; {name} is empty")
        for kind, name, known in (
            ("policy for long comments", self.long_comments, LONG_COMMENTS),
            ("way to split", self.split_by, SPLIT_BY),
            ("comments to sample references from", self.sample_references_from, REFERENCE_POOLS),
            ("policy for HTML", self.html, HTML),
            ("policy for user ids", self.user_ids, USER_IDS),
            ("error policy", self.on_error, ON_ERROR),
            *(("mask", name, tuple(MASKS)) for name in self.mask),
        ):
            UnknownName.check(kind, name, known)
        if not 0 <= self.dedup_threshold <= 1:
            raise UsageError(f"dedup threshold: expected a similarity from 0 to 1, got {self.dedup_threshold:g}")
        for name, least in _LEAST.items():
            value: int | None = getattr(self, name)
            if value is not None and value < least:
                raise UsageError(f"{name.replace('_', ' ')}: expected {least} or more, got {value}")
        if (self.user_ids == "hash") != (self.hash_key is not None):
            raise UsageError(
                "{hashed} and {key} must be given together",
                hashed=Setting("user_ids", "hash"),
                key=Setting("hash_key"),
            )

    def settings(self, chosen: Mapping[str, int] | None = None) -> dict[str, str | int | float | tuple[str, ...]]:
        """The options as they are written to ``metadata.json``, without the secret `hash_key`.

        Args:
            chosen: Values of thresholds that are not given; without them, these are left out.
        """
        hidden = {"hash_key", "on_error"}
        if self.split_by == "random":  # corpora that are split at random have not named it, and keep their bytes
            hidden.add("split_by")
        names = [name for name in self.__annotations__ if name not in hidden]
        values = {name: getattr(self, name) for name in names}
        values |= {**(chosen or {}), "dev": str(self.dev), "test": str(self.test)}
        values["dates"] = None if self.dates is None else str(self.dates)
        return {name: value for name, value in values.items() if value is not None}


@options(group="Running")
class BuildRunOptions:
    """Inputs of a build that are split already, and where the work is done.

    Args:
        dev_from: Article rows that are the dev set already.
        test_from: Article rows that are the test set already; no references are sampled.
        ratings: Human ratings of the comments (item, id, ratings), as postil annotate export writes them to
            references.jsonl; they take the place of those in the rows.
        jobs: Number of processes; the corpus does not depend on it.
        engine: Engine that does the work: local or ray; the corpus does not depend on it.
        address: Address of a running Ray cluster, or auto, with --engine ray.
    """

    dev_from: Annotated[str | None, Flag(metavar="FILE", group="Test set")] = None
    test_from: Annotated[str | None, Flag(metavar="FILE", group="Test set")] = None
    ratings: Annotated[str | None, Flag(metavar="FILE", once=True, group="Articles and comments")] = None
    jobs: Annotated[int | None, Flag("jobs", short="j", min=1)] = None
    engine: Annotated[str, Flag(metavar="NAME")] = "local"
    address: Annotated[str | None, Flag(metavar="ADDRESS")] = None


@options
class StatisticsOptions(EngineOptions):
    """Options of `postil corpus stats`.

    Args:
        figures: Draw categories, lengths, upvotes and comments per article into FOLDER.
        scale: Scale of the grades, HIGH (from 0) or LOW:HIGH; by default the top grade is the highest that occurs.
        jobs: Number of processes; the numbers do not depend on it.
    """

    figures: Annotated[str | None, Flag(metavar="FOLDER")] = None
    scale: Annotated[Scale | None, Flag(metavar="SCALE")] = None
