"""Article rows of a file, checked as they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.app.options import InputOptions
from postil.records.row_files import read
from postil.records.rows import Article

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.app.progress import OnMessage
    from postil.records.row_files import Rows

__all__ = ["checked_articles", "open_articles"]


def open_articles(articles: str, inputs: InputOptions | None, on_message: OnMessage) -> Rows[Article]:
    """Open a file of article rows.

    Args:
        articles: The file; ``-`` for standard input.
        inputs: Options of reading it.
        on_message: Callback for status messages.
    """
    given = (inputs or InputOptions()).readings({"articles": Article}, on_message)
    return read(articles, Article, given["articles"])


def checked_articles(rows: Rows[Article], *, comments: bool = False) -> Iterator[Article]:
    """Read articles with distinct ids.

    Args:
        rows: The rows.
        comments: True where the comments of an article need distinct ids as well.

    Raises:
        InvalidInput: An id stands twice.
    """
    seen: set[str] = set()
    for index, article in enumerate(rows):
        if article.id in seen:
            raise rows.places.error(index, "id", f"expected an id that no other article has, got '{article.id}' again")
        seen.add(article.id)
        if comments and len({comment.id for comment in article.comments}) < len(article.comments):
            raise rows.places.error(index, "comments", "expected an id for each comment, got one twice")
        yield article
