"""Splits of a corpus: thresholds that the options leave open, near duplicates kept in one split, and seeded samples.

Articles are sampled in the order of a hash of the seed and the article's id. The order does not depend on the position
of an article in the input, and an added article does not change the order of the others.

A corpus of many articles gets the thresholds of the paper on automatic article commenting. A smaller one gets the
highest value of a ladder, from the paper's down, that leaves enough articles: nine tenths of them for the corpus, and
twice the wanted number for the test set. The rule counts articles, so that it does not depend on their order or on the
engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.corpus.duplicates import signature_groups
from postil.corpus.result import Rejected
from postil.errors import InvalidInput, UsageError
from postil.messages import Listed, Message, Setting

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.corpus.options import BuildOptions

__all__ = [
    "EXCLUDED",
    "LATER",
    "SPLITS",
    "TEST",
    "UNASSIGNED",
    "UNDATED",
    "Articles",
    "Split",
    "article_thresholds",
    "assign_splits",
    "in_words",
    "split_articles",
    "split_by_date",
    "test_thresholds",
]

SPLITS: Final = ("train", "dev", "test")
TRAIN, DEV, TEST = 0, 1, 2
UNASSIGNED: Final = -1
EXCLUDED: Final = -2
LATER: Final = "not eligible for the test set, but newer than its oldest article"
"""Reason for an exclusion from a split by date."""


@dataclass(frozen=True, eq=False)
class Split:
    """The split of each article.

    Args:
        codes: int8[n], an index into `SPLITS`, or `EXCLUDED`.
        excluded: Number of excluded articles by reason.
    """

    codes: NDArray[np.int8]
    excluded: Mapping[str, int]


def split_articles(
    keys: NDArray[np.uint64],
    groups: NDArray[np.int64],
    given: NDArray[np.int8],
    eligible: NDArray[np.bool_],
    *,
    dev: int,
    test: int,
) -> Split:
    """Assign articles to splits.

    The test set is sampled first, from the eligible articles, at most one of a group of near duplicates; the others of
    the group are excluded, as they may not be eligible, and may not be trained on. The dev set is sampled next, in
    whole groups.

    Args:
        keys: uint64[n], sort keys of sampling.
        groups: int64[n], equal for near duplicates.
        given: int8[n], an index into `SPLITS` where the input assigns it, else `UNASSIGNED`. A given split is not
            sampled; articles of other splits that are near duplicates of its articles are excluded, where test comes
            before dev and dev before train.
        eligible: bool[n], True where an article may be in the test set.
        dev: Number of dev articles to sample.
        test: Number of test articles to sample, at most the number of groups with eligible articles.

    Returns:
        The split.

    Raises:
        UsageError: There are fewer.

    >>> keys, groups = np.array([3, 1, 2, 4], dtype=np.uint64), np.array([0, 1, 2, 1])
    >>> undecided = np.full(4, UNASSIGNED, dtype=np.int8)
    >>> split_articles(keys, groups, undecided, np.array([True, True, False, True]), dev=1, test=1).codes.tolist()
    [0, 2, 1, -2]
    """
    codes = given.astype(np.int8)
    excluded = {}
    for split, others in ((TEST, (TRAIN, DEV, UNASSIGNED)), (DEV, (TRAIN, UNASSIGNED))):
        again = np.isin(groups, groups[codes == split]) & np.isin(codes, others)
        excluded[f"near duplicates of given {SPLITS[split]} articles"] = int(again.sum())
        codes[again] = EXCLUDED
    eligible = eligible & ~np.isin(groups, groups[codes == TRAIN])
    order = np.argsort(keys, kind="stable")
    drawn = _first_of_groups(order[(eligible & (codes == UNASSIGNED))[order]], groups)
    if len(drawn) < test:
        raise UsageError(f"test: expected {test:,} eligible articles, got {len(drawn):,}")
    drawn = drawn[:test]
    again = np.isin(groups, groups[drawn]) & (codes == UNASSIGNED)
    again[drawn] = False
    excluded["near duplicates of test articles"] = int(again.sum())
    codes[again] = EXCLUDED
    codes[drawn] = TEST
    free = (codes == UNASSIGNED) & ~np.isin(groups, groups[codes == TRAIN])
    codes[_whole_groups(order[free[order]], groups, dev)] = DEV
    codes[codes == UNASSIGNED] = TRAIN
    return Split(codes, {why: number for why, number in excluded.items() if number})


def split_by_date(
    times: NDArray[np.int64],
    keys: NDArray[np.uint64],
    groups: NDArray[np.int64],
    given: NDArray[np.int8],
    eligible: NDArray[np.bool_],
    *,
    dev: int,
    test: int,
) -> Split:
    """Assign articles to splits by their dates.

    No article of train is newer than one of dev or test, and none of dev newer than one of test. The test set is the
    newest eligible articles, at most one of a group of near duplicates; the others of the group are excluded, and so
    are articles that are newer than its oldest one. The dev set is the newest of the rest; near duplicates of its
    articles that are too old for it are excluded, so that a group has the date of its newest article.

    Args:
        times: int64[n], dates.
        keys: uint64[n], sort keys of articles of the same date.
        groups: int64[n], equal for near duplicates.
        given: int8[n], `UNASSIGNED` for articles that are to be split.
        eligible: bool[n], True where an article may be in the test set.
        dev: Number of dev articles.
        test: Number of test articles, at most the number of groups with eligible articles.

    >>> times, keys, groups = np.array([5, 4, 3, 2, 1]), np.arange(5, dtype=np.uint64), np.array([0, 1, 2, 3, 2])
    >>> eligible, undecided = np.array([False, True, True, True, True]), np.full(5, UNASSIGNED, dtype=np.int8)
    >>> split_by_date(times, keys, groups, undecided, eligible, dev=1, test=1).codes.tolist()
    [-2, 2, 1, 0, -2]
    """
    codes = given.astype(np.int8)
    excluded = {}

    def exclude(some: NDArray[np.bool_], why: str) -> None:
        some = some & (codes == UNASSIGNED)
        excluded[why] = int(some.sum())
        codes[some] = EXCLUDED

    order = np.lexsort((keys, -times))
    drawn = _first_of_groups(order[(eligible & (codes == UNASSIGNED))[order]], groups)[:test]
    codes[drawn] = TEST
    exclude(np.isin(groups, groups[drawn]), "near duplicates of test articles")
    if len(drawn):
        exclude(times > times[drawn].min(), LATER)
    newest = order[(codes == UNASSIGNED)[order]][:dev]
    codes[newest] = DEV
    exclude(np.isin(groups, groups[newest]), "near duplicates of dev articles")
    codes[codes == UNASSIGNED] = TRAIN
    return Split(codes, {why: number for why, number in excluded.items() if number})


def _first_of_groups(articles: NDArray[np.int64], groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first article of each group, in the order given."""
    _, first = np.unique(groups[articles], return_index=True)
    return articles[np.sort(first)]


def _whole_groups(articles: NDArray[np.int64], groups: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Articles of whole groups, in the order in which the groups come up, as many as fit."""
    _, first, number, counts = np.unique(groups[articles], return_index=True, return_inverse=True, return_counts=True)
    taken = np.zeros(len(counts), dtype=bool)
    room = size
    for group in np.argsort(first):
        if not room:
            break
        if counts[group] <= room:
            taken[group] = True
            room -= int(counts[group])
    return articles[taken[number]]


LADDERS: Final[Mapping[str, tuple[int, ...]]] = {
    "min_content_words": (30, 10, 0),
    "min_comments": (20, 10, 5, 3, 2, 1),
    "test_min_comments": (30, 20, 10, 5, 3, 2, 1, 0),
    "test_min_upvotes": (201, 100, 50, 20, 10, 5, 1, 0),
}
"""Values of each threshold, the paper's first."""
MANY: Final = 1_000
"""Number of articles that are enough for the paper's thresholds, whatever the share of the others."""
MOST: Final = 0.9
"""Share of the articles that thresholds of a smaller corpus leave."""


def article_thresholds(options: BuildOptions, words: NDArray[np.int64], comments: NDArray[np.int64]) -> dict[str, int]:
    """Choose the least number of words of a content, and of comments of an article.

    The values of the paper are taken if 1,000 articles meet both, else for each threshold the highest one that nine
    tenths of the articles meet. Values that the options give stay.

    Args:
        options: Options of the build.
        words: int64[n], words of the content of each article that is to be split.
        comments: int64[n], its comments with text.

    Returns:
        The values by name of the option.

    >>> from postil.corpus.options import BuildOptions
    >>> options = BuildOptions(source="a site", license="ours")
    >>> article_thresholds(options, np.full(60, 400), np.arange(60) % 12 + 4)
    {'min_content_words': 30, 'min_comments': 5}
    >>> article_thresholds(options, np.full(6_000, 400), np.arange(6_000) % 24)
    {'min_content_words': 30, 'min_comments': 20}
    """
    found = {"min_content_words": words, "min_comments": comments}
    highest = {name: _given(options, name) for name in found}
    meet = np.logical_and.reduce([found[name] >= ladder[0] for name, ladder in highest.items()])
    if np.count_nonzero(meet) >= MANY:
        return {name: ladder[0] for name, ladder in highest.items()}
    return {
        name: _highest(ladder, [int((found[name] >= rung).sum()) for rung in ladder], MOST * len(words))
        for name, ladder in highest.items()
    }


def test_thresholds(
    options: BuildOptions,
    said: NDArray[np.int64],
    upvotes: NDArray[np.float64],
    groups: NDArray[np.int64],
    wanted: int,
) -> dict[str, int]:
    """Choose the least number of comments, and of upvotes of all comments, of a test article.

    First the comments, then the upvotes among articles with as many: the highest value that leaves twice the wanted
    number of articles, or 1,000 if that is less. A number of articles (not a share) asks for no more than itself, and a
    split by date for half of all articles, since it leaves out newer ones that are not eligible. Without a vote,
    upvotes do not count. Values that the options give stay.

    Args:
        options: Options of the build.
        said: int64[n], long comments of each article that may be in the test set.
        upvotes: float64[n], upvotes of all its comments.
        groups: int64[n], equal for near duplicates, of which the test set holds one.
        wanted: Number of articles of the test set.

    Returns:
        The values by name of the option.

    >>> from postil.corpus.options import BuildOptions
    >>> options = BuildOptions(source="a site", license="ours")
    >>> test_thresholds(options, np.arange(60) % 12, np.zeros(60), np.arange(60), 3)
    {'test_min_comments': 10, 'test_min_upvotes': 0}
    """
    needed = float(wanted if options.test.fraction is None else min(2 * wanted, MANY))
    if options.split_by == "date":
        needed = max(needed, len(np.unique(groups)) / 2)

    def able(eligible: NDArray[np.bool_]) -> int:
        return len(np.unique(groups[eligible]))

    ladder = _given(options, "test_min_comments")
    comments = _highest(ladder, [able(said >= rung) for rung in ladder], needed)
    ladder = _given(options, "test_min_upvotes") if upvotes.any() or options.test_min_upvotes is not None else (0,)
    # A sum of votes may be below 0, and 0 is no minimum.
    counts = [able((said >= comments) & ((upvotes >= rung) | (rung == 0))) for rung in ladder]
    return {"test_min_comments": comments, "test_min_upvotes": _highest(ladder, counts, needed)}


def in_words(options: BuildOptions, values: Mapping[str, int], *, voted: bool) -> list[str]:
    """The messages about the thresholds that were chosen.

    Args:
        options: Options of the build.
        values: The thresholds by name of the option.
        voted: True if a comment has votes.
    """
    chosen = [name for name in values if getattr(options, name) is None]
    if not chosen:
        return []
    paper = all(values[name] == LADDERS[name][0] for name in chosen)
    notes: list[str] = [
        Message(
            "thresholds chosen from the data: {settings} ({more})",
            settings=Listed([Setting(name, values[name]) for name in chosen], last=" ", between=" "),
            more="the values of the paper" if paper else "other values can be given",
        )
    ]
    if "test_min_upvotes" in chosen and not voted:
        notes.append("no comment has votes: test articles are chosen without them")
    return notes


def _given(options: BuildOptions, name: str) -> tuple[int, ...]:
    """The values to choose from; one where it is given."""
    value: int | None = getattr(options, name)
    return LADDERS[name] if value is None else (value,)


def _highest(ladder: Sequence[int], counts: Sequence[int], needed: float) -> int:
    """The first value that enough articles meet; the last one where none is enough."""
    return next((value for value, count in zip(ladder, counts, strict=True) if count >= needed), ladder[-1])


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
