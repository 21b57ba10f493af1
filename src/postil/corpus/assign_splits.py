"""What becomes of each article of a build: the split that it belongs to, or why it is left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from postil.corpus.block_table import ENOUGH_COMMENTS, ENOUGH_UPVOTES
from postil.corpus.minhash import near_duplicates
from postil.corpus.rejected import Rejected
from postil.corpus.split import LEFT_OUT, UNDECIDED, split_articles
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Collection, Sequence

    from numpy.typing import NDArray

    from postil.corpus.options import BuildOptions

__all__ = ["Articles", "decide"]

S = TypeVar("S", bound=np.generic)


@dataclass(frozen=True, eq=False, slots=True)
class Articles:
    """What decisions about articles rest on, n articles of b blocks behind one another.

    Args:
        keys: uint64[n], the order of drawing.
        lines: int64[n], where they stand.
        test: uint8[n], which conditions of the test set they meet.
        given: int8[n], the split that the input gives.
        sketches: uint32[n, 64], in a file.
        starts: int64[b + 1], where the articles of each block begin.
        places: By block, its file.
        seen: What became of articles and comments.
        rejected: Rows that could not be read.
        langs: Languages of the articles.
    """

    keys: NDArray[np.uint64]
    lines: NDArray[np.int64]
    test: NDArray[np.uint8]
    given: NDArray[np.int8]
    sketches: NDArray[np.uint32]
    starts: NDArray[np.int64]
    places: Sequence[str]
    seen: Counter[str]
    rejected: list[Rejected]
    langs: set[str]

    def place(self, article: int) -> tuple[str, int]:
        """The file and line of an article."""
        return self.places[self.block(article)], int(self.lines[article])

    def of_block(self, values: NDArray[S], block: int) -> NDArray[S]:
        """The values of the articles of one block."""
        return values[self.starts[block] : self.starts[block + 1]]

    def block(self, article: int) -> int:
        """The block of an article.

        Args:
            article: Which one.
        """
        return int(np.searchsorted(self.starts, article, side="right")) - 1


def decide(
    articles: Articles, options: BuildOptions, told: Collection[str | None], name: Callable[[int], str]
) -> NDArray[np.int8]:
    """The split of each article.

    Args:
        articles: What is known of them; takes counts of what is left out, and what is rejected.
        options: What the corpus is built by.
        told: The splits that the input gives.
        name: Gives the id of an article.

    Returns:
        int8[n], a split, or a number below 0.

    Raises:
        InvalidInput: An id comes twice, or too few articles meet the conditions of the test set.
    """
    given = articles.given.copy()
    given[_repeated(articles, name, skip=options.on_error == "skip")] = LEFT_OUT
    if options.dedup_threshold:
        groups = near_duplicates(articles.sketches, options.dedup_threshold)
    else:
        groups = np.arange(len(given), dtype=np.int64)
    undecided = given == UNDECIDED
    number = int(undecided.sum())
    dev = 0 if "dev" in told else options.dev.of(number)
    test = 0 if "test" in told else options.test.of(number)
    eligible = undecided & (articles.test == ENOUGH_COMMENTS | ENOUGH_UPVOTES)
    eligible &= ~np.isin(groups, groups[given >= 0])  # near duplicates of given articles are left out
    able = len(np.unique(groups[eligible]))
    if test > able and (options.test.fraction is None or not able):
        raise InvalidInput(_too_few(articles.test[undecided], test, options), where=articles.places[0])
    split = split_articles(articles.keys, groups, given, eligible, dev=dev, test=min(test, able))
    articles.seen.update({f"articles: {why}": number for why, number in split.left_out.items()})
    if not (split.codes == 0).any():
        problem = f"dev and test take all {number:,} articles; nothing is left for train"
        raise InvalidInput(problem, where=articles.places[0])
    return split.codes


def _repeated(articles: Articles, name: Callable[[int], str], *, skip: bool) -> NDArray[np.int64]:
    """Articles whose id came before."""
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


def _too_few(met: NDArray[np.uint8], test: int, options: BuildOptions) -> str:
    comments, upvotes = ((met & flag > 0).sum() for flag in (ENOUGH_COMMENTS, ENOUGH_UPVOTES))
    return (
        f"expected {test:,} articles for the test set, got {int((met == 3).sum()):,}: of {len(met):,} articles "
        f"{comments:,} have {options.test_min_comments} comments of {options.test_min_words} words or more, "
        f"{upvotes:,} have {options.test_min_upvotes} upvotes in all; lower the thresholds (--test-min-comments, "
        f"--test-min-words, --test-min-upvotes 0 for none) or the size (--test)"
    )
