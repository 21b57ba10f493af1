"""Reader of pages of HTML: their encoding, their article with title, date and language, and the blocks of it."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from postil.data.streams import shown_encoding, told_encoding
from postil.documents.document import PROSE, Piece, assembled
from postil.documents.furniture import ends_sentence, in_sections, without_marks
from postil.documents.html_blocks import walk
from postil.documents.html_selection import content_root, extracted, page_metadata, selected, title_of, without_menus
from postil.documents.html_tree import NoTextError, parsed
from postil.documents.plain import plain_blocks
from postil.documents.raw_files import wide_text
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from postil.documents.document import Document
    from postil.documents.html_blocks import HtmlBlock

__all__ = [
    "DecodedHtml",
    "HtmlArticle",
    "HtmlPage",
    "decode_html",
    "decoded_html",
    "read_article",
    "read_html",
    "read_page",
]

LONGEST: Final = 1 << 22
"""Largest page in characters whose article is read."""
LONGEST_PAGE: Final = 1 << 24
"""Largest page in characters whose blocks are read."""
_HEAD: Final = 1024
"""Number of bytes in which a page names its encoding."""
_BOMS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_META: Final = re.compile(rb"<meta\s[^>]{0,300}?charset\s*=\s*[\"']?([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)
_SAVED: Final = re.compile(r"<!-- saved from url=\(\d{4}\)(https?://[^\s<>\"']{3,900}) -->")
_ENCODINGS: Final = re.compile(
    r"utf-8|utf-16(-[lb]e)?|cp(125\d|866|874|932|949|950)|iso8859-\d+|koi8-[ru]|gb18030|big5(hkscs)?|euc_jp|iso2022_jp"
)
"""The encodings of the web, as Python names them; others, such as UTF-7, no browser reads."""
_READ_AS: Final = MappingProxyType(
    {
        "ascii": "cp1252",
        "iso8859-1": "cp1252",
        "gb2312": "gb18030",
        "gbk": "gb18030",
        "shift_jis": "cp932",
        "euc_kr": "cp949",
    }
)
_TWO_BYTES: Final = frozenset({"gb18030", "big5", "big5hkscs", "cp932", "cp949", "cp950", "euc_jp"})
_CHANCE: Final = 3
"""Number of characters beyond ASCII from which a text in such an encoding is no UTF-8 by chance."""
_DAMAGED: Final = 10
"""Number of characters of UTF-8 for each byte that is not."""
_BESIDE: Final = frozenset({"table", "caption", "note", "margin"})
"""Kinds of blocks that are not in the content of an article."""


class DecodedHtml(NamedTuple):
    """A page that was bytes.

    Args:
        text: The page, without the byte order mark.
        notes: Remarks on its encoding, and on characters that were lost.
    """

    text: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HtmlArticle:
    """An article that was read from a page.

    Args:
        title: Its headline; empty where the page has none.
        content: Its text; blank lines stand between paragraphs.
        lang: Its language as the page says, a BCP 47 tag; None if it does not.
        date: The date that it was published, as the page says, ``YYYY-MM-DD``; None if it does not.
    """

    title: str
    content: str
    lang: str | None
    date: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HtmlPage:
    """A page that was read.

    Args:
        title: Its headline; empty where the page has none.
        lang: As in `HtmlArticle`.
        date: As in `HtmlArticle`.
        url: The address that it calls its own, ``http`` or ``https``; None if it does not.
        blocks: The blocks of its text.
    """

    title: str
    lang: str | None
    date: str | None
    url: str | None
    blocks: tuple[HtmlBlock, ...]


def decode_html(body: bytes, charset: str | None = None) -> str:
    """Decode a page, as `decoded_html` does.

    Args:
        body: The page.
        charset: Its encoding, as the server says.

    >>> decode_html(b'<meta charset="gbk"><p>' + "雨".encode("gbk")), decode_html("é".encode("latin-1"), "utf-7")
    ('<meta charset="gbk"><p>雨', 'é')
    """
    return decoded_html(body, charset).text


def decoded_html(
    body: bytes, charset: str | None = None, told: Callable[[bytes], str | None] = lambda _: None
) -> DecodedHtml:
    """Decode a page: by its byte order mark, as UTF-8 where its bytes are, else by what the server or the page says.

    Args:
        body: The page.
        charset: Its encoding, as the server says.
        told: Function that tells the encoding of a page that nobody names, which is else Windows-1252.

    >>> decoded_html("<meta charset=gbk>雨下了".encode()).notes
    ('its bytes are UTF-8, read so, though the page says gbk',)
    """
    for mark, encoding in _BOMS:
        if body.startswith(mark):
            return _decoded(body[len(mark) :], encoding)
    said = _META.search(body[:_HEAD])
    meta = None if said is None else said[1].decode("ascii")
    if meta is not None and meta.lower().startswith("utf-16"):
        meta = "utf-8"  # in UTF-16 these bytes would not have been found
    labels = ((who, label) for who, label in (("server", charset), ("page", meta)) if label)
    who, label, named = next(((*each, named) for each in labels if (named := _encoding(each[1]))), ("", "", ""))
    if named == "utf-8" or _is_utf_8(body, named):
        wrong = (f"its bytes are UTF-8, read so, though the {who} says {label.lower()}",)
        return _decoded(body, "utf-8", wrong if named not in {"", "utf-8"} else ())
    if named:
        return _decoded(body, named)
    found = told(body) or "cp1252"
    return _decoded(body, found, (f"not UTF-8, read as {shown_encoding(found)}",))


def read_article(html: str) -> HtmlArticle:
    """Read the article of a page.

    Args:
        html: The page.

    Raises:
        InvalidInput: It is too large, or has no text of an article.
        MissingExtra: trafilatura is not installed.

    >>> read_article("<html lang=en><title>Rain</title><body><article><p>It rained on Ely.</p></article></body>")
    HtmlArticle(title='Rain', content='It rained on Ely.', lang='en', date=None)
    """
    if len(html) > LONGEST:
        raise InvalidInput(f"expected a page of at most {LONGEST:,} characters, got {len(html):,}")
    page = read_page(html)
    lines = (
        f"- {block.text}" if block.kind == "item" else block.text for block in page.blocks if block.kind not in _BESIDE
    )
    content = "\n\n".join(line for line in lines if line != page.title)
    if not any(character.isalnum() for character in content):
        raise NoTextError
    return HtmlArticle(title=page.title, content=content, lang=page.lang, date=page.date)


def read_page(html: str) -> HtmlPage:
    """Read the blocks of a page: those of its article, as trafilatura finds it.

    Trafilatura says which text is the article, the tree of the page which blocks it has. Pages of more
    elements than it can take, or of deeper ones, are read by the tree alone, in linear time; so are those in
    which trafilatura finds next to nothing.

    Args:
        html: The page.

    Raises:
        InvalidInput: It is too large, or has no text.
        MissingExtra: trafilatura is not installed.
    """
    if len(html) > LONGEST_PAGE:
        raise InvalidInput(f"expected a page of at most {LONGEST_PAGE:,} characters, got {len(html):,}")
    tree = parsed(html)
    about = page_metadata(tree)
    body = tree.find("body")
    walked = walk(tree if body is None else body, content_root(tree))
    for table in walked.tables:
        table.clear(keep_tail=True)  # trafilatura takes the square of their cells
    found = extracted(tree)
    blocks = None if found is None else selected(walked, found.text)
    if blocks is None:
        blocks = without_menus(walked.blocks[walked.begin : walked.end] or walked.blocks)
    if not any(map(str.isalnum, "".join(block.text for block in blocks))):
        raise NoTextError
    said = found.title if found is not None and isinstance(found.title, str) else ""
    return HtmlPage(
        title=title_of(tree, blocks, " ".join(said.split())),
        lang=about.lang,
        date=about.date if found is None else found.date,
        url=about.url or _saved_from(html),
        blocks=tuple(blocks),
    )


def _saved_from(html: str) -> str | None:
    """The address that a browser writes into a page that it saves."""
    found = _SAVED.search(html[:_HEAD])
    return None if found is None else found[1]


def _decoded(body: bytes, encoding: str, notes: tuple[str, ...] = ()) -> DecodedHtml:
    text = body.decode(encoding, "replace")
    lost = text.count("\ufffd")
    if lost and encoding == "utf-8":
        lost -= body.count(b"\xef\xbf\xbd")  # which is how that character is written
    if lost > 0:
        notes = (*notes, f"characters that {shown_encoding(encoding)} does not have, replaced by U+FFFD: {lost:,}")
    return DecodedHtml(text, notes)


def _is_utf_8(body: bytes, named: str) -> bool:
    """True if the bytes of a page are UTF-8, but for a few that are damaged.

    Few texts in another encoding are, by chance; in East Asian ones two characters in a hundred short texts can be.
    """
    if body.isascii():
        return not named
    text = body.decode("utf-8", "replace")
    lost = text.count("\ufffd")
    beyond = len(text) - len(text.encode("ascii", "ignore")) - lost
    return beyond >= (_CHANCE if named in _TWO_BYTES else 1) and beyond >= _DAMAGED * lost


def _encoding(label: str) -> str | None:
    """Python's name of the encoding that a page calls so; None if it is none of the web."""
    try:
        name = codecs.lookup(label).name
    except (LookupError, ValueError):
        return None
    name = _READ_AS.get(name, name)
    return name if _ENCODINGS.fullmatch(name) else None


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
    html, notes = (data, ()) if isinstance(data, str) else _page_text(data, charset)
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


def _page_text(data: bytes, charset: str | None) -> tuple[str, tuple[str, ...]]:
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
