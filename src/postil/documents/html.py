"""Reader of pages of HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.data.encodings import told_encoding
from postil.documents.binary_files import wide_text
from postil.documents.document import PROSE
from postil.documents.furniture import ends_sentence, in_sections, without_marks
from postil.documents.html_article import decoded_html
from postil.documents.html_article import read_html as read_page
from postil.documents.html_tree import NoTextError
from postil.documents.pieces import Piece, assembled
from postil.documents.plain import plain_blocks
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.documents.document import Document
    from postil.documents.html_walk import HtmlBlock

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
    html, notes = (data, ()) if isinstance(data, str) else _decoded(data, charset)
    try:
        page = read_page(html)
    except NoTextError:
        raise InvalidInput("expected passages, got a page without a text", where=source) from None
    except InvalidInput as error:
        raise InvalidInput(error.problem, where=source) from None
    return assembled(
        in_sections(_pieces(page.blocks)),
        source,
        title=page.title,
        lang=page.lang,
        date=page.date,
        url=page.url or url,
        notes=notes,
    )


def _decoded(data: bytes, charset: str | None) -> tuple[str, tuple[str, ...]]:
    """The text of a page, and remarks on its encoding."""
    return wide_text(data) or decoded_html(data, charset, told_encoding)


def _pieces(blocks: Sequence[HtmlBlock]) -> Iterator[Piece]:
    """Pieces of a page; of a page that is set as code, such as a mail in an archive, those of its plain text."""
    prose = sum(len(block.text) for block in blocks if block.kind in PROSE)
    for block in blocks:
        if block.kind != "code":
            yield Piece(block.kind, without_marks(block.text), block.level)
        elif len(block.text) > prose and (inner := _plain_pieces(block.text)):
            yield from inner
        else:
            yield Piece("code", block.text)


def _plain_pieces(text: str) -> list[Piece]:
    """Pieces of a plain text; none where less than half of it is prose."""
    pieces = [Piece(block.kind, text[block.start : block.end], block.level) for block in plain_blocks(text)]
    prose = sum(len(piece.text) for piece in pieces if piece.kind in PROSE and ends_sentence(piece.text))
    return pieces if 2 * prose >= len(text) else []
