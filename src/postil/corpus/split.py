"""Which article goes to which split; a seed decides, and no duplicate straddles.

The order in which articles are drawn comes from a hash of the seed and of each article's id. It does not depend on
where an article stands in the input, and an article that is added does not move the others about.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["LEFT_OUT", "SPLITS", "UNDECIDED", "Share", "Split", "draw_key", "split_articles"]

SPLITS: Final = ("train", "dev", "test")
TRAIN, DEV, TEST = 0, 1, 2
UNDECIDED: Final = -1
LEFT_OUT: Final = -2


@dataclass(frozen=True)
class Share:
    """The size of a split.

    Args:
        size: So many articles.
        fraction: Or this fraction of the articles; one of the two is given.

    >>> Share.parse("0.05").of(1_000), Share.parse("1610").of(191_502)
    (50, 1610)
    """

    size: int | None = None
    fraction: float | None = None

    @classmethod
    def parse(cls, text: str) -> Share:
        """Read a size (``5000``) or a fraction (``0.05``).

        Args:
            text: What was written.

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
        """How many articles that is.

        Args:
            articles: Of how many.
        """
        return round(articles * self.fraction) if self.fraction is not None else self.size or 0

    def __str__(self) -> str:
        return str(self.size if self.fraction is None else self.fraction)


@dataclass(frozen=True, eq=False)
class Split:
    """What became of each article.

    Args:
        codes: int8[n]: a place in `SPLITS`, or `LEFT_OUT`.
        left_out: Why articles were left out, and how many.
    """

    codes: NDArray[np.int8]
    left_out: Mapping[str, int]


def draw_key(seed: int, *names: str) -> int:
    """A 64-bit number that puts things in a seeded order.

    Args:
        seed: The seed.
        names: What names the thing.

    >>> draw_key(1, "a") == draw_key(1, "a"), draw_key(1, "a") == draw_key(2, "a")
    (True, False)
    """
    text = "\0".join((str(seed), *names)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


def split_articles(
    keys: NDArray[np.uint64],
    groups: NDArray[np.int64],
    given: NDArray[np.int8],
    eligible: NDArray[np.bool_],
    *,
    dev: int,
    test: int,
) -> Split:
    """Split articles, at most one of a group of near duplicates into the test set, the others whole.

    The test set is drawn first, from the eligible articles; the near duplicates of an article in it are left out of
    the corpus, as they may not be eligible, and may not be trained on. The dev set is drawn next, in whole groups.

    Args:
        keys: uint64[n], the order of drawing.
        groups: int64[n], equal for near duplicates.
        given: int8[n], a place in `SPLITS` where the input says it, else `UNDECIDED`. A split that is given is not
            drawn; articles of other splits that are near duplicates of its articles are left out, where test comes
            before dev and dev before train.
        eligible: bool[n], whether an article may be drawn for the test set.
        dev: How many articles to draw for dev.
        test: How many to draw for test; there must be as many groups with eligible articles.

    Returns:
        The split.

    Raises:
        UsageError: There are fewer.

    >>> keys, groups = np.array([3, 1, 2, 4], dtype=np.uint64), np.array([0, 1, 2, 1])
    >>> undecided = np.full(4, UNDECIDED, dtype=np.int8)
    >>> split_articles(keys, groups, undecided, np.array([True, True, False, True]), dev=1, test=1).codes.tolist()
    [0, 2, 1, -2]
    """
    codes = given.astype(np.int8)
    left_out = {}
    for split, others in ((TEST, (TRAIN, DEV, UNDECIDED)), (DEV, (TRAIN, UNDECIDED))):
        again = np.isin(groups, groups[codes == split]) & np.isin(codes, others)
        left_out[f"near duplicates of given {SPLITS[split]} articles"] = int(again.sum())
        codes[again] = LEFT_OUT
    eligible = eligible & ~np.isin(groups, groups[codes == TRAIN])
    order = np.argsort(keys, kind="stable")
    drawn = _first_of_groups(order[(eligible & (codes == UNDECIDED))[order]], groups)
    if len(drawn) < test:
        raise UsageError(f"test: expected {test:,} eligible articles, got {len(drawn):,}")
    drawn = drawn[:test]
    again = np.isin(groups, groups[drawn]) & (codes == UNDECIDED)
    again[drawn] = False
    left_out["near duplicates of test articles"] = int(again.sum())
    codes[again] = LEFT_OUT
    codes[drawn] = TEST
    free = (codes == UNDECIDED) & ~np.isin(groups, groups[codes == TRAIN])
    codes[_whole_groups(order[free[order]], groups, dev)] = DEV
    codes[codes == UNDECIDED] = TRAIN
    return Split(codes, {why: number for why, number in left_out.items() if number})


def _first_of_groups(articles: NDArray[np.int64], groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of each group the article that comes first, in the order given."""
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
