"""The article of a page that was sent or fetched.

Workers do this, as a page that is made to take long is then ended with the worker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.documents.html import read_article
from postil.errors import InvalidInput
from postil.service.operations.responses import ArticleResponse

if TYPE_CHECKING:
    from postil.service.models import OpenModels
    from postil.service.operations.requests import ArticleRequest

__all__ = ["read_page"]

LONGEST_TITLE: Final = 300
"""Largest number of characters of a first line that is a title."""


def read_page(models: OpenModels, request: ArticleRequest) -> ArticleResponse:  # noqa: ARG001
    """Read the article of a page.

    Args:
        models: Not used.
        request: The request, with the page.

    Raises:
        InvalidInput: The page is not there, is too large, or has no text of an article.
        MissingExtra: It is HTML, and trafilatura is not installed.
    """
    if request.text is not None:
        title, content = _plain(request.text)
        return ArticleResponse(title=title, content=content, lang=None, date=None, url=request.url)
    if request.html is None:
        raise InvalidInput("expected html or text, got none", field="html")
    found = read_article(request.html)
    return ArticleResponse(title=found.title, content=found.content, lang=found.lang, date=found.date, url=request.url)


def _plain(text: str) -> tuple[str, str]:
    """Title and text of a page of plain text; without a title where the first line is too long for one."""
    whole = text.strip()
    first, _, rest = whole.partition("\n")
    if not whole:
        raise InvalidInput("expected a page with a text, got an empty one", field="text")
    return (first.strip(), rest.strip()) if rest and len(first) <= LONGEST_TITLE else ("", whole)
