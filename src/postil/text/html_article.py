"""The article of a page of HTML: title, text without menus, comments and advertisements, date and language."""

from __future__ import annotations

import codecs
import logging
import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from postil.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from lxml.html import HtmlElement

__all__ = ["HtmlArticle", "decode_html", "read_article"]

LONGEST: Final = 1 << 22
"""Largest page in characters."""
ELEMENTS: Final = 30_000
"""Largest number of elements of a page; the time that the search for the text takes can grow by their square."""
_HEAD: Final = 1024
"""Number of bytes in which a page names its encoding."""
_BOMS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_META: Final = re.compile(rb"<meta\s[^>]{0,300}?charset\s*=\s*[\"']?([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)
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
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}")
_NO_XML: Final = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_INLINE: Final = ("b", "big", "em", "font", "i", "mark", "s", "small", "strike", "strong", "sub", "sup", "tt", "u")
"""Tags of words within a sentence, at which short pages would be split."""
_SILENT: Final = logging.NullHandler()
_NO_TEXT: Final = "found no text of an article on the page; give its title and text instead"


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


def decode_html(body: bytes, charset: str | None = None) -> str:
    """Decode a page: by its byte order mark, what the server says, what the page says, as UTF-8 or as Windows-1252.

    Args:
        body: The page.
        charset: Its encoding, as the server says.

    >>> decode_html(b'<meta charset="gbk"><p>' + "雨".encode("gbk")), decode_html("é".encode("latin-1"), "utf-7")
    ('<meta charset="gbk"><p>雨', 'é')
    """
    for mark, encoding in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, "replace")
    said = _META.search(body[:_HEAD])
    meta = None if said is None else said[1].decode("ascii")
    if meta is not None and meta.lower().startswith("utf-16"):
        meta = "utf-8"  # in UTF-16 these bytes would not have been found
    for label in filter(None, (charset, meta)):
        if (named := _encoding(label)) is not None:
            return body.decode(named, "replace")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


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
    try:
        from lxml import etree  # noqa: PLC0415 - an extra
        from lxml.html import HTMLParser, document_fromstring  # noqa: PLC0415
        from trafilatura import bare_extraction  # noqa: PLC0415
        from trafilatura.utils import line_processing, trim  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("the article of a page", "html") from error
    for name in ("trafilatura", "htmldate", "courlan"):  # what they warn of is told by the error
        logging.getLogger(name).addHandler(_SILENT)
    if len(html) > LONGEST:
        raise InvalidInput(f"expected a page of at most {LONGEST:,} characters, got {len(html):,}")
    try:
        # As bytes, since lxml refuses a text that declares an encoding.
        parser = HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
        tree = document_fromstring(_NO_XML.sub("", html).encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, ValueError):
        raise InvalidInput(_NO_TEXT) from None
    etree.strip_tags(tree, *_INLINE)
    elements = sum(1 for _ in tree.iter())
    if elements > ELEMENTS:
        raise InvalidInput(f"expected a page of at most {ELEMENTS:,} elements, got {elements:,}")
    lang = _language(tree)
    found = bare_extraction(
        tree,
        include_comments=False,
        include_tables=False,
        with_metadata=True,
        # A date in the midst of the text may be any date.
        date_extraction_params={"extensive_search": False, "original_date": True},
    )
    for each in (line_processing, trim):
        each.cache_clear()  # which holds the last 1,024 lines, however long
    if found is None:
        raise InvalidInput(_NO_TEXT)
    # A page can give a title that is no text.
    title = " ".join(found.title.split()) if isinstance(found.title, str) else ""
    lines = (" ".join(line.split()) for line in found.text.split("\n"))
    content = "\n\n".join(line for line in lines if line and line != title)
    if not any(character.isalnum() for character in content):
        raise InvalidInput(_NO_TEXT)
    return HtmlArticle(title=title, content=content, lang=lang, date=found.date)


def _language(tree: HtmlElement) -> str | None:
    named = (
        tree.get("lang"),
        tree.get("xml:lang"),
        *tree.xpath("//meta[@http-equiv='content-language' or @property='og:locale']/@content"),
    )
    for name in named:
        if name and (tag := _LANGUAGE.fullmatch(str(name).strip().replace("_", "-"))):
            return tag[0]
    return None


def _encoding(label: str) -> str | None:
    """Python's name of the encoding that a page calls so; None if it is none of the web."""
    try:
        name = codecs.lookup(label).name
    except (LookupError, ValueError):
        return None
    name = _READ_AS.get(name, name)
    return name if _ENCODINGS.fullmatch(name) else None
