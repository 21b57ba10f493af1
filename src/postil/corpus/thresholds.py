"""Thresholds of a build that the options leave open: chosen from the data by a fixed rule.

A corpus of many articles gets the values of the paper on automatic article commenting. A smaller one gets the highest
value of a ladder, from the paper's down, that leaves enough articles: nine tenths of them for the corpus, and twice the
wanted number for the test set. The rule counts articles, so that it does not depend on their order or on the engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from postil.messages import Listed, Message, Setting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from postil.corpus.options import BuildOptions

__all__ = ["article_thresholds", "in_words", "test_thresholds"]

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
