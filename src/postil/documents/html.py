"""Reader of pages of HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.documents.furniture import in_sections, without_marks
from postil.documents.pieces import Piece, assembled
from postil.errors import InvalidInput
from postil.text.html_article import decode_html
from postil.text.html_article import read_html as read_page
from postil.text.html_tree import NO_TEXT

if TYPE_CHECKING:
    from postil.records.documents import Document

__all__ = ["read_html"]


def read_html(data: bytes | str, source: str, *, url: str | None = None, charset: str | None = None) -> Document:
    """Read a page of HTML: the text of its article, without menus, comments and advertisements.

    Headings, tables, code, captions and notes are blocks of their own. Marks of notes and links for editing are no
    part of the text.

    Args:
        data: The page.
        source: Name of the file, or the address.
        url: The address that it was fetched from; the page's own canonical address comes first.
        charset: Encoding that the server names.

    Raises:
        InvalidInput: It is too large, or has no text.
        MissingExtra: lxml or trafilatura is not installed.
    """
    html = data if isinstance(data, str) else decode_html(data, charset)
    try:
        page = read_page(html)
    except InvalidInput as error:
        problem = "expected passages, got a page without a text" if error.problem == NO_TEXT else error.problem
        raise InvalidInput(problem, where=source) from None
    pieces = (
        Piece(block.kind, block.text if block.kind == "code" else without_marks(block.text), block.level)
        for block in page.blocks
    )
    return assembled(in_sections(pieces), source, title=page.title, lang=page.lang, date=page.date, url=page.url or url)
