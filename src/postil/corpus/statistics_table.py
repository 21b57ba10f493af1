"""The statistics of a corpus as a table: Table 2 of the paper on automatic article commenting (ACL 2018)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.corpus.statistics import ALL
from postil.escaping import markdown_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.corpus.statistics import Statistics
    from postil.corpus.summary import Summary

__all__ = ["NONE", "grid", "percent", "table_2"]

NONE: Final = "–"
"""What stands in a table for a number that does not exist."""


def table_2(found: Statistics) -> str:
    """The statistics as a Markdown table, a column a split: those of the paper's Table 2, and those of its text.

    Args:
        found: The statistics.
    """
    return markdown_table(grid(found))


def grid(found: Statistics) -> list[list[str]]:
    """The rows of `table_2`, the first one with the names of the columns.

    Args:
        found: The statistics.
    """
    names = [name for name in found.splits if name != ALL or len(found.splits) > 2]
    columns = [list(_cells(found, found.splits[name])) for name in names]
    rows = [[cells[0][0], *(value for _, value in cells)] for cells in zip(*columns, strict=True)]
    return [["", *names], *(row for row in rows if set(row[1:]) != {NONE})]


def _cells(found: Statistics, of: Summary) -> Iterator[tuple[str, str]]:
    votes = of.upvotes
    yield "articles", f"{of.articles:,}"
    yield "comments", f"{of.comments:,}"
    yield "held-out comments", f"{of.held_out:,}" if found.all.held_out else NONE
    yield "comments an article", _number(of.comments_an_article.mean)
    yield "… median", _number(of.comments_an_article.quantile(0.5))
    yield "upvotes a comment", _number(votes.mean)
    yield "… 0", percent(votes.share(votes.values == 0))
    yield "… below 0", percent(votes.share(votes.values < 0)) if (found.all.upvotes.values < 0).any() else NONE
    yield "… not given", percent(1 - votes.n / of.comments) if 0 < found.all.upvotes.n < found.all.comments else NONE
    for what in ("title", "content", "comment"):
        yield f"words a {what}", _number(getattr(of, f"{what}_words").mean)
    for what in ("title", "content", "comment"):
        yield f"characters a {what}", _number(getattr(of, f"{what}_characters").mean)
    without = found.all.articles - found.all.content_words.n
    yield "articles without content", f"{of.articles - of.content_words.n:,}" if without else NONE
    yield "words in all", f"{of.tokens:,}"
    yield "distinct words", f"{of.distinct_words:,}"
    yield f"covered by {found.vocabulary:,} words", percent(of.known_share)
    yield "categories", f"{len(of.categories):,}" if found.all.categories else NONE
    yield "graded comments", f"{of.grades.n:,}" if found.all.grades.n else NONE
    yield "mean grade", _number(of.grades.mean, 2)
    yield "standard deviation of grades", _number(of.grades.sd, 2)
    yield "ratings a rated comment", _number(of.ratings.mean)
    top = "top grade" if found.top_grade is None else f"grade of {found.top_grade:g}"
    yield f"comments with a {top}", percent(found.top_share(of.best))
    yield f"articles with a {top}", percent(found.top_share(of.best_of_article))


def _number(value: float | None, digits: int = 1) -> str:
    return NONE if value is None else f"{value:,.{digits}f}"


def percent(share: float | None) -> str:
    """A share as tables have it.

    Args:
        share: From 0 to 1, or None.

    >>> percent(0.123), percent(0.0001), percent(None)
    ('12.3 %', '<0.1 %', '–')
    """
    if share is None:
        return NONE
    return "<0.1 %" if 0 < share < 0.0005 else f"{100 * share:.1f} %"
