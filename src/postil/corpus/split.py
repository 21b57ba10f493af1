"""Seeded split assignment; near duplicates never cross splits (no leakage).

Articles are sampled in the order of a hash of the seed and the article's id. The order does not depend on the position
of an article in the input, and an added article does not change the order of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


__all__ = ["EXCLUDED", "LATER", "SPLITS", "TEST", "UNASSIGNED", "Split", "split_articles", "split_by_date"]

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
