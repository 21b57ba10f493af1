"""Split assignment of a build: duplicate ids, near duplicates and eligibility for the test set, then samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.corpus.duplicates import signature_groups
from postil.corpus.result import Rejected
from postil.corpus.split import EXCLUDED, LATER, TEST, UNASSIGNED, split_articles, split_by_date
from postil.corpus.thresholds import test_thresholds
from postil.errors import InvalidInput
from postil.messages import Listed, Message, Setting

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.corpus.options import BuildOptions

__all__ = ["UNDATED", "Articles", "assign_splits"]

UNDATED: Final = -(2**62)
"""Time of an article without a date."""
THRESHOLDS: Final = tuple(Setting(name) for name in ("test_min_comments", "test_min_words", "test_min_upvotes"))
NONE: Final = Message("{upvotes} for none", upvotes=Setting("test_min_upvotes", 0))


@dataclass(frozen=True, eq=False, slots=True)
class Articles:
    """The data of split assignment: n articles of b blocks that meet the thresholds, concatenated.

    Args:
        keys: uint64[n], sort keys of sampling.
        lines: int64[n], line numbers in their files.
        long: int64[n], number of comments that are dropped in the test set.
        left: int64[n], number of the others.
        said: int64[n], number of those of at least as many words as the test set asks for.
        upvotes: float64[n], upvotes of the comments that the test set does not drop.
        given: int8[n], the split that the input assigns.
        signatures: uint32[n, 64], MinHash signatures, memory-mapped.
        starts: int64[b + 1], offsets of the articles of each block.
        kept: bool, for all articles of the blocks, one block after the other, True for these n.
        sizes: int64[b + 1], offsets of the blocks in `kept`.
        places: File of each block.
        seen: Number of excluded or changed articles and comments, by reason; it grows.
        rejected: Rows that could not be read.
        langs: Languages of the articles.
        dated: True if an article or a comment has a date, or a comment a parent.
        times: int64[n], Unix time of each article's date, `UNDATED` without one; empty unless the split is by date.
    """

    keys: NDArray[np.uint64]
    lines: NDArray[np.int64]
    long: NDArray[np.int64]
    left: NDArray[np.int64]
    said: NDArray[np.int64]
    upvotes: NDArray[np.float64]
    given: NDArray[np.int8]
    signatures: NDArray[np.uint32]
    starts: NDArray[np.int64]
    kept: NDArray[np.bool_]
    sizes: NDArray[np.int64]
    places: Sequence[str]
    seen: Counter[str]
    rejected: list[Rejected]
    langs: set[str]
    dated: bool
    times: NDArray[np.int64]

    def place(self, article: int) -> tuple[str, int]:
        """The file and line of an article."""
        return self.places[self.block(article)], int(self.lines[article])

    def codes_of_block(self, codes: NDArray[np.int8], block: int) -> NDArray[np.int8]:
        """The splits of all articles of one block, those that do not meet the thresholds included."""
        kept = self.kept[self.sizes[block] : self.sizes[block + 1]]
        found = np.full(len(kept), EXCLUDED, dtype=np.int8)
        found[kept] = codes[self.starts[block] : self.starts[block + 1]]
        return found

    def row(self, article: int) -> tuple[int, int]:
        """The block of an article, and its row in the block's table."""
        block = self.block(article)
        kept = self.kept[self.sizes[block] : self.sizes[block + 1]]
        return block, int(kept.nonzero()[0][article - self.starts[block]])

    def block(self, article: int) -> int:
        """The block of an article.

        Args:
            article: Index of the article.
        """
        return int(np.searchsorted(self.starts, article, side="right")) - 1


def assign_splits(
    articles: Articles, options: BuildOptions, told: Collection[str | None], name: Callable[[int], str]
) -> tuple[NDArray[np.int8], dict[str, int]]:
    """Assign each article to a split, or exclude it.

    Args:
        articles: The articles; counts and rejected rows are added to it.
        options: Options of the build.
        told: The splits that the input assigns.
        name: Callback that returns the id of an article.

    Returns:
        int8[n], a split, or a number below 0; and the thresholds of the test set, by name of the option.

    Raises:
        InvalidInput: An id comes twice, or too few articles meet the conditions of the test set.
    """
    given = articles.given.copy()
    given[_repeated(articles, name, skip=options.on_error == "skip")] = EXCLUDED
    if options.dedup_threshold:
        groups = signature_groups(articles.signatures, options.dedup_threshold)
    else:
        groups = np.arange(len(given), dtype=np.int64)
    undecided = given == UNASSIGNED
    number = int(undecided.sum())
    dev = 0 if "dev" in told else options.dev.of(number)
    test = 0 if "test" in told else options.test.of(number)
    free = undecided & (articles.left > 0)
    free &= ~np.isin(groups, groups[given >= 0])  # near duplicates of given articles are excluded
    least = test_thresholds(options, articles.said[free], articles.upvotes[free], groups[free], test)
    comments, upvotes = _conditions(articles, least)
    eligible = free & comments & upvotes
    able = len(np.unique(groups[eligible]))
    if test > able and (options.test.fraction is None or not able):
        met = comments[undecided], upvotes[undecided]
        raise InvalidInput(_too_few(*met, test, options.test_min_words, least), where=articles.places[0])
    if options.split_by == "date":
        _check_dates(articles, undecided, name)
        keys, times = articles.keys, articles.times
        split = split_by_date(times, keys, groups, given, eligible, dev=dev, test=min(test, able))
    else:
        split = split_articles(articles.keys, groups, given, eligible, dev=dev, test=min(test, able))
    articles.seen.update({f"articles: {why}": number for why, number in split.excluded.items()})
    dropped = int(articles.long[split.codes == TEST].sum())
    if dropped:
        articles.seen["comments: too long for the test set"] = dropped
    if not (split.codes == 0).any():
        problem = f"dev and test take all {number:,} articles; nothing is left for train"
        if LATER in split.excluded:
            problem = Message(
                "nothing is left for train: {number:,} articles are {later}; lower {test}, or the thresholds "
                "{thresholds}",
                number=split.excluded[LATER],
                later=LATER,
                test=Setting("test"),
                thresholds=Listed(THRESHOLDS),
            )
        raise InvalidInput(problem, where=articles.places[0])
    return split.codes, least


def _conditions(articles: Articles, least: Mapping[str, int]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """True for the articles with enough comments for the test set, and for those with enough upvotes."""
    votes = least["test_min_upvotes"]
    enough = (articles.upvotes >= votes) | (votes == 0)  # a sum of votes may be below 0
    return (articles.said >= least["test_min_comments"]) & (articles.left > 0), enough


def _check_dates(articles: Articles, undecided: NDArray[np.bool_], name: Callable[[int], str]) -> None:
    without = (undecided & (articles.times == UNDATED)).nonzero()[0]
    if len(without):
        where, line = articles.place(int(without[0]))
        problem = Message(
            "expected a date in every article for {split}, got none in {without:,} of {number:,} articles, first in "
            "'{first}'; remove them, or split at random",
            split=Setting("split_by", "date"),
            without=len(without),
            number=int(undecided.sum()),
            first=name(int(without[0])),
        )
        raise InvalidInput(problem, where=where, line=line, field="date")


def _repeated(articles: Articles, name: Callable[[int], str], *, skip: bool) -> NDArray[np.int64]:
    """Indices of articles with the id of an earlier one."""
    order = np.argsort(articles.keys, kind="stable")
    keys = articles.keys[order]
    again = np.sort(order[1:][keys[1:] == keys[:-1]])
    for article in again.tolist():
        first = int(order[np.searchsorted(keys, articles.keys[article])])
        where, line = articles.place(article)
        before = ":".join(map(str, articles.place(first)))
        problem = f"expected an id that no other article has, got '{name(article)}', as in {before}"
        error = InvalidInput(problem, where=where, line=line, field="id")
        if not skip:
            raise error
        articles.rejected.append(Rejected.of(error))
    if len(again):
        articles.seen["articles: id came before"] += len(again)
    return again


def _too_few(
    comments: NDArray[np.bool_], upvotes: NDArray[np.bool_], test: int, words: int, least: Mapping[str, int]
) -> str:
    return Message(
        "expected {test:,} articles for the test set, got {got:,}: of {articles:,} articles {long:,} have {comments} "
        "comments of {words} words or more, {voted:,} have {upvotes} upvotes in all; lower the thresholds "
        "({thresholds}) or the size ({size})",
        test=test,
        got=int((comments & upvotes).sum()),
        articles=len(comments),
        long=int(comments.sum()),
        comments=least["test_min_comments"],
        words=words,
        voted=int(upvotes.sum()),
        upvotes=least["test_min_upvotes"],
        thresholds=Listed((*THRESHOLDS[:2], NONE), last=", "),
        size=Setting("test"),
    )
