"""Article rows of a file, checked as they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from postil.app.options import InputOptions
from postil.corpus.formats.html_text import HtmlCleaner
from postil.errors import InvalidInput
from postil.records.row_files import read
from postil.records.rows import Article, Draft

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.app.progress import OnMessage
    from postil.records.row_files import Rows
    from postil.records.row_locations import LocatedRows

__all__ = ["checked_articles", "open_articles"]


def open_articles(
    articles: str, inputs: InputOptions | None, on_message: OnMessage, *, comments: bool = False
) -> Rows[Article]:
    """Open a file of article rows.

    Args:
        articles: The file; ``-`` for standard input.
        inputs: Options of reading it.
        on_message: Callback for status messages.
        comments: True where every article needs the field ``comments``.
    """
    row = Article if comments else Draft
    given = (inputs or InputOptions()).readings({"articles": row}, on_message)
    return read(articles, row, given["articles"])


def checked_articles(
    rows: LocatedRows[Article], *, comments: bool = False, on_message: OnMessage = lambda _: None
) -> Iterator[Article]:
    """Read articles with distinct ids; HTML becomes its text, as `postil corpus build` reads it.

    Args:
        rows: The rows.
        comments: True where the comments of an article are read; they need distinct ids as well.
        on_message: Callback for status messages.

    Raises:
        InvalidInput: An id stands twice, or a text is HTML of more than 4 Mi characters.
        MissingExtra: A text is HTML, and lxml is not installed.
    """
    seen: set[str] = set()
    clean = HtmlCleaner()
    for index, article in enumerate(rows):
        if article.id in seen:
            raise rows.places.error(index, "id", f"expected an id that no other article has, got '{article.id}' again")
        seen.add(article.id)
        if comments and len({comment.id for comment in article.comments}) < len(article.comments):
            raise rows.places.error(index, "comments", "expected an id for each comment, got one twice")
        try:
            cleaned = _cleaned(article, clean, comments=comments)
        except InvalidInput as error:
            raise rows.places.error(index, "", error.problem) from None
        yield cleaned
    if clean.cleaned:
        on_message(f"{rows.places.where}: texts with HTML, of which the text is read: {clean.cleaned:,}")


def _cleaned(article: Article, clean: HtmlCleaner, *, comments: bool) -> Article:
    before = clean.cleaned
    title = clean(article.title)
    content = None if article.content is None else clean(article.content)
    texts = [clean(comment.text, quotes=False) for comment in article.comments] if comments else []
    if clean.cleaned == before:
        return article
    replace = msgspec.structs.replace
    said = tuple(replace(comment, text=text) for comment, text in zip(article.comments, texts, strict=False))
    return replace(article, title=title, content=content, comments=said if comments else article.comments)
