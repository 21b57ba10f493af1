"""Reader of pages of HTML: their encoding, their article with title, date and language, and the blocks of it.

Where a page is small enough, trafilatura is asked for the article as well, with a tree whose size and metadata are
bounded first.
"""

from __future__ import annotations

import codecs
import json
import logging
import re
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, Protocol

from postil.data.streams import shown_encoding, told_encoding
from postil.documents.document import PROSE, Document, Piece, Reader, assembled
from postil.documents.furniture import ends_sentence, in_sections, without_marks
from postil.documents.html_blocks import (
    SENTENCE_END,
    SENTENCES,
    HtmlBlock,
    NoTextError,
    Walked,
    WalkedBlock,
    language_of,
    length_of,
    parsed,
    sentences_of,
    walk,
)
from postil.documents.raw_files import ADDRESS, Decoded, encoding_named, wide_text
from postil.documents.readers.text import plain_blocks
from postil.errors import InvalidInput, needs
from postil.kernel.unicode_forms import normalized

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lxml.html import HtmlElement


__all__ = [
    "ELEMENTS",
    "READER",
    "Extracted",
    "HtmlArticle",
    "HtmlPage",
    "address_of",
    "content_root",
    "decode_html",
    "decoded_html",
    "extracted",
    "read_article",
    "read_html",
    "read_page",
    "selected",
    "title_of",
    "without_menus",
]

_TOKEN: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+")
_WINDOW: Final = 4
"""Number of tokens that are looked up in the text of an article at once."""
_KNOWN: Final = 0.5
"""Share of the windows of a block that the article must have."""
_TRUSTED: Final = 0.3
"""Share of the words of a page's sentences that an article must have, else it was not found."""
_SET: Final = frozenset({"code", "table", "caption"})
"""Kinds of blocks that readers of articles may leave out."""
_LINKED: Final = 0.6
_MENU_WORDS: Final = 30
_DATE: Final = re.compile(r"((?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?!\d)")
_JSON_DATE: Final = re.compile(r'"datePublished"\s*:\s*"([^"]{10,40})"')
_SITE: Final = re.compile(r"(?<!\s)\s++[|·»–—-]\s[^|·»–—]{1,40}$")
_SEPARATOR: Final = re.compile(
    r"\s[|·•»«›‹–—:-]+\s|:\s|\s?\|\s?|(?<=[\u3040-\u9fff])[-_—]+|(?<![-_—])[-_—]++(?=[\u3040-\u9fff])"
)
_SITE_NAMES: Final = (
    "//meta[@property='og:site_name' or @name='application-name' or @name='apple-mobile-web-app-title']/@content",
)
_DOMAIN: Final = re.compile(r"(?:www\.)?[\w-]{1,60}\.[a-z]{2,12}")
_HOME: Final = ("site-title", "site-name", "logo", "brand", "menu-title")
"""Parts of the classes of elements with the name of a site."""
_MOST_NAMES: Final = 50
_LONGEST_NAME: Final = 200
_ROOTS: Final = (
    "//*[@itemprop='articleBody']",
    "//article",
    "//main",
    "//*[@role='main']",
    "//*[contains(concat(' ', @class, ' '), ' mw-parser-output ')]",
    "//*[@id='content' or @id='main' or @id='main-content' or @id='bodyContent']",
)
_MOST_ROOTS: Final = 50
_ARTICLES: Final = (
    "//article[not(ancestor::article)]",
    "//*[@itemprop='articleBody'][not(ancestor::article or ancestor::*[@itemprop='articleBody'])]",
    "//main[not(.//article or ancestor::main)]",
)
_SUMMARY: Final = 1.5
_ROOT_SHARE: Final = 0.4


def address_of(tree: HtmlElement) -> str | None:
    """The address that a page calls its own, ``http`` or ``https``; None if it does not say.

    Args:
        tree: The page.
    """
    said = [*tree.xpath("//link[@rel='canonical']/@href"), *tree.xpath("//meta[@property='og:url']/@content")]
    url = next((each.strip() for each in said), "")
    return url if ADDRESS.fullmatch(url) else None


def title_of(tree: HtmlElement, blocks: Sequence[HtmlBlock], found: str = "") -> str:
    """Title of a page: a headline of its text that its head names too, else the one that was found, else its head's.

    The name of the site is none, where the head names another part as well.

    Args:
        tree: The page.
        blocks: The blocks of its text.
        found: The title that another reader found; empty if it found none.
    """
    named = [*tree.xpath("//meta[@property='og:title']/@content"), *tree.xpath("//head/title/text()")]
    named = [title for each in named if (title := " ".join(each.split()))]
    inside = _folded(" ".join(named))
    headlines = [block for block in blocks if block.kind == "heading"][:_MOST_ROOTS]
    sites = _sites(tree, named, headlines)
    parts = {_folded(part) for title in named for part in _parts(title)} - sites
    first = [block.text for block in headlines if block.level == 1 and _folded(block.text) not in sites]
    for each in first:
        if _folded(each) in inside:
            return each
    for block in headlines:
        if _folded(block.text) in parts:
            return block.text
    if found and (not named or (_folded(found) in inside and found not in named)) and _folded(found) not in sites:
        return found
    if named:
        return _without_site(named, sites)
    return first[0] if first else found


def _sites(tree: HtmlElement, named: Sequence[str], headlines: Sequence[HtmlBlock]) -> set[str]:
    """Names of the site of a page: those that its head gives, and parts of its title that stand above the article."""
    said = {_folded(each) for path in _SITE_NAMES for each in tree.xpath(path)}
    titles = [[_folded(part) for part in _parts(title)] for title in named]
    titles = [parts for parts in titles if len(parts) > 1]
    if not titles:
        return said - {_folded(title) for title in named}
    home, above = _at_home(tree), _above(tree)
    texts = {_folded(block.text) for block in headlines}
    for parts in titles:
        last = parts[-1]
        for part in parts:
            # The last part is the site's where it is above the article; another one where a headline has the last.
            is_above = part in above and (part == last or (last in texts and last not in above and last not in said))
            if part in home or is_above or _DOMAIN.fullmatch(part):
                said.add(part)
    return said


def _at_home(tree: HtmlElement) -> set[str]:
    """Texts of elements that are classed as the name of the site, or lead to its first page."""
    found = (
        each
        for each in tree.iter("a", "h1", "h2", "h3", "p", "span", "div")
        if (each.tag == "a" and (each.get("rel") == "home" or each.get("href") == "/"))
        or ((name := each.get("class")) and any(part in name for part in _HOME))
    )
    return {_name(each) for each in islice(found, _MOST_NAMES)}


def _above(tree: HtmlElement) -> set[str]:
    """Texts of headlines and links in the headers and menus of a page, not of its article."""
    found = (
        each
        for around in islice(tree.iter("header", "nav"), _MOST_NAMES)
        if next(around.iterancestors("article", "main"), None) is None
        for each in islice(around.iter("h1", "h2", "a"), _MOST_NAMES)
    )
    return {_name(each) for each in found}


def _name(element: HtmlElement) -> str:
    """Text of an element, as far as a name goes."""
    return _folded("".join(islice(element.itertext(), _MOST_NAMES))[:_LONGEST_NAME])


def _without_site(named: Sequence[str], sites: set[str]) -> str:
    """The first title without the name of the site; one that the second goes on from has none."""
    title = named[0]
    if len(named) > 1 and named[1] != title and _folded(named[1]).startswith(_folded(title)):
        return title
    parts = _parts(title)
    left = [part for part in parts if _folded(part) not in sites]
    if left and len(left) < len(parts):
        return left[0] if len(left) == 1 else title[title.index(left[0]) : title.rindex(left[-1]) + len(left[-1])]
    return _SITE.sub("", title) or title


def _parts(title: str) -> list[str]:
    """Parts of a title, such as the article's and the site's."""
    return [part for each in _SEPARATOR.split(title) if (part := each.strip())]


def _folded(text: str) -> str:
    """A text in one form: without what prints nothing, whatever its case and its spaces."""
    return " ".join(_printed(text).casefold().split())


def selected(page: Walked, article: str) -> list[HtmlBlock] | None:
    """Blocks that are in the text of an article, and in the element that has the content of the page.

    The blocks are the page's own, as trafilatura loses definition lists, captions, many headings and code.

    Args:
        page: The page.
        article: Its article, as another reader found it.

    Returns:
        The blocks; headings, captions, tables and code where what is around them is in the article. None where the
        article has but a small part of the sentences of the page, or nothing but lists of links.
    """
    walked = page.blocks
    known = set(_windows(article))
    inside: list[bool | None] = [
        _share(one.block.text, known) >= _KNOWN or (None if one.block.kind in _SET else False)
        if one.block.kind != "heading"
        else None
        for one in walked
    ]
    for place in (*range(page.begin), *range(page.end, len(walked))):
        inside[place] = None if walked[place].block.kind == "heading" else False
    words = [
        (len(one.block.text.split()), kept)
        for one, kept in zip(walked[page.begin : page.end], inside[page.begin : page.end], strict=True)
        if kept is not None and one.linked < _LINKED and SENTENCE_END.search(one.block.text)
    ]
    if sum(n for n, kept in words if kept) < _TRUSTED * sum(n for n, _ in words):
        return None
    sure = [place for place, kept in enumerate(inside) if kept]
    if not sure:
        return None
    for place in range(sure[0], sure[-1]):
        # Readers lose a sentence here and there, such as one after a quote.
        one = walked[place]
        if inside[place] is False and one.linked < _LINKED / 2 and SENTENCE_END.search(one.block.text):
            inside[place] = one.block.kind in {"paragraph", "item", "quote"}
    after = False
    for place in range(len(walked) - 1, -1, -1):
        # A heading is of what follows it, anything else of the article that it stands in.
        kept = inside[place]
        if kept is None:
            kept = after if walked[place].block.kind == "heading" else sure[0] < place < sure[-1]
            after = kept or after
        else:
            after = kept
        inside[place] = kept
    for place in range(sure[0] - 1, -1, -1):
        if walked[place].block.kind == "heading" and walked[place].block.level == 1:
            inside[place] = True  # the headline, whatever is between it and the text
            break
    blocks = [_linked_out(one) for one, kept in zip(walked, inside, strict=True) if kept]
    return blocks if any(block.kind in PROSE for block in blocks) else None


def without_menus(walked: Sequence[WalkedBlock]) -> list[HtmlBlock]:
    """Blocks from the first to the last that is no list of links.

    Args:
        walked: Blocks of the page.
    """
    blocks = [_linked_out(one) for one in walked]
    running = [place for place, block in enumerate(blocks) if block.kind not in {"margin", "heading"}]
    if not running:
        return []
    first = running[0]
    while first and blocks[first - 1].kind == "heading":
        first -= 1
    return blocks[first : running[-1] + 1]


def content_root(tree: HtmlElement) -> HtmlElement:
    """The element that says that it has the content of a page, and has a fair part of its text or is the only article.

    Args:
        tree: The page.
    """
    body = tree.find("body")
    root = tree if body is None else body
    least = max(200.0, _ROOT_SHARE * _size(root))
    for path in _ROOTS:
        sizes = [(_size(each), -place, each) for place, each in enumerate(tree.xpath(path)[:_MOST_ROOTS])]
        if sizes and (largest := max(sizes))[0] >= least:
            return _whole_article(largest[2], largest[0])
    found = (each for path in _ARTICLES for each in tree.xpath(path)[:_MOST_ROOTS])
    articles = [each for each in found if sentences_of(each) >= SENTENCES]
    with_title = [each for each in articles if each.find(".//h1") is not None]
    return with_title[0] if len(with_title) == 1 else articles[0] if len(articles) == 1 else root


def _whole_article(element: HtmlElement, size: int) -> HtmlElement:
    """The article that an element is in, if it has hardly more text, such as a summary."""
    around = next(element.iterancestors("article"), None)
    return element if around is None or _size(around) > _SUMMARY * size else around


def _linked_out(one: WalkedBlock) -> HtmlBlock:
    """A block; one that is but links is a margin."""
    block = one.block
    if block.kind not in {"paragraph", "item"} or one.linked < _LINKED or SENTENCE_END.search(block.text):
        return block
    return block._replace(kind="margin", level=0) if len(block.text.split()) <= _MENU_WORDS else block


def _windows(text: str) -> Iterator[str]:
    """Windows of the lines of a text; a line that is shorter than one is one."""
    for line in text.split("\n"):
        tokens = _TOKEN.findall(_printed(line).casefold())
        if len(tokens) < _WINDOW:
            yield " ".join(tokens)
        else:
            yield from map(" ".join, zip(*(tokens[k:] for k in range(_WINDOW)), strict=False))


def _printed(line: str) -> str:
    """A line as trafilatura leaves it: without soft hyphens, joiners and other characters that print nothing."""
    if line.isascii():
        return line
    return "".join(each for each in normalized("NFC", line) if each.isprintable() or each.isspace())


def _share(text: str, known: set[str]) -> float:
    """Share of the windows of a text that are known."""
    windows = list(_windows(text))
    return sum(each in known for each in windows) / len(windows)


def _size(element: HtmlElement) -> int:
    return length_of(element) - sum(map(length_of, element.xpath(".//script | .//style")))


def _date(tree: HtmlElement) -> str | None:
    said = [
        *tree.xpath("//meta[@property='article:published_time' or @name='date' or @name='dc.date']/@content"),
        *_JSON_DATE.findall(" ".join(tree.xpath("//script[@type='application/ld+json']/text()"))[:100_000]),
        *tree.xpath("//time[@pubdate or @itemprop='datePublished']/@datetime"),
    ]
    return next((found[1] for each in said if (found := _DATE.match(str(each).strip()))), None)


ELEMENTS: Final = 10_000
"""Largest number of elements in which trafilatura looks for the text; its time can grow by their square.
5,000 cells of a table take 4 s, and 10,000 take 30."""
DEPTH: Final = 256
"""Largest depth of elements in which it does; its time grows by the depth too."""
_SILENT: Final = logging.NullHandler()
_ATTRIBUTES: Final = 100
"""Number of attributes of an element; copies of it take the square of them."""
_LONGEST_CONTENT: Final = 500
"""Number of characters of what a meta element says; trafilatura takes the square of them."""
_LONGEST_ATTRIBUTE: Final = 2_000
"""Number of characters of any other attribute, an address among them."""
_AUTHORS: Final = ("author", "creator", "byl")
"""Parts of the names of authors, of whom trafilatura takes the cube and who are not read here."""
_JSON: Final = frozenset({"application/ld+json", "application/settings+json"})
_LONGEST_JSON: Final = 1 << 12
"""Number of characters of all that scripts of JSON say about a page; trafilatura takes the cube of what is damaged."""
_IN_JSON: Final = re.compile(r'"(headline|datePublished)"\s{0,20}:\s{0,20}("(?:[^"\\]|\\.){1,2000}+")')
_LONGEST_VALUE: Final = 300
_ARTICLE: Final = {"@context": "https://schema.org", "@type": "Article"}


class Extracted(Protocol):
    """Part that is used of trafilatura's document."""

    title: object
    """A text or None, or what else a page gives as its title."""
    text: str
    date: str | None


def extracted(tree: HtmlElement) -> Extracted | None:
    """Find the text, title and date of a page with trafilatura.

    Args:
        tree: The page; its attributes are cut and its scripts of JSON shortened.

    Returns:
        What it finds; None where it finds nothing, or the page has more than `ELEMENTS` elements or deeper ones than
        `DEPTH`.

    Raises:
        MissingExtra: trafilatura is not installed.
    """
    if not _is_small(tree):
        return None
    with needs("the article of a page", "pages"):
        from trafilatura import bare_extraction  # noqa: PLC0415 - an extra
        from trafilatura.utils import line_processing, trim  # noqa: PLC0415
    for name in ("trafilatura", "htmldate", "courlan"):  # what they warn of is told by the error
        logging.getLogger(name).addHandler(_SILENT)
    _shorten(tree)
    found: Extracted | None = bare_extraction(
        tree,
        fast=True,  # without two further extractors to compare with, which find no more of an article
        include_comments=False,
        include_tables=True,
        with_metadata=True,
        # A date in the midst of the text may be any date.
        date_extraction_params={"extensive_search": False, "original_date": True},
    )
    for each in (line_processing, trim):
        each.cache_clear()  # which holds the last 1,024 lines, however long
    return found


def _is_small(tree: HtmlElement) -> bool:
    """True if a tree has neither more elements than trafilatura can take, nor deeper ones."""
    from lxml import etree  # noqa: PLC0415 - an extra

    number = depth = 0
    for event, _ in etree.iterwalk(tree, events=("start", "end", "comment", "pi")):
        number += event != "end"
        depth += 1 if event == "start" else -1 if event == "end" else 0
        if number > ELEMENTS or depth > DEPTH:
            return False
    return True


def _shorten(tree: HtmlElement) -> None:
    """Leave of what a page says about itself as much as its title and date take."""
    left = _LONGEST_JSON
    for element in tree.iter():
        is_meta = element.tag == "meta"
        longest = _LONGEST_CONTENT if is_meta else _LONGEST_ATTRIBUTE
        attributes = element.items()
        if len(attributes) > _ATTRIBUTES:
            attributes = attributes[:_ATTRIBUTES]
            element.attrib.clear()
            element.attrib.update(attributes)
        for name, value in attributes:
            if len(value) > longest:
                element.set(name, value[:longest])
        if is_meta and _names_an_author(element):
            del element.attrib["content"]
        elif element.tag == "script" and element.text and element.get("type") in _JSON:
            element.text = _shortened(element.text, left)
            left -= len(element.text)


def _names_an_author(meta: HtmlElement) -> bool:
    names = " ".join(meta.get(key, "") for key in ("name", "property", "itemprop")).lower()
    return "content" in meta.attrib and any(part in names for part in _AUTHORS)


def _shortened(text: str, longest: int) -> str:
    """The first title and date that a script of JSON names, damaged or not, as JSON; empty where it has none.

    Args:
        text: The script.
        longest: Number of characters that it may still take.
    """
    found = dict[str, str]()
    for name, value in _IN_JSON.findall(text):
        with suppress(ValueError):
            found.setdefault(name, json.loads(value, strict=False)[:_LONGEST_VALUE])
    shortened = json.dumps(_ARTICLE | found) if found else ""
    return shortened if len(shortened) <= longest else ""


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
_TWO_BYTES: Final = frozenset({"gb18030", "big5", "big5hkscs", "cp932", "cp949", "cp950", "euc_jp"})
_CHANCE: Final = 3
"""Number of characters beyond ASCII from which a text in such an encoding is no UTF-8 by chance."""
_DAMAGED: Final = 10
"""Number of characters of UTF-8 for each byte that is not."""
_BESIDE: Final = frozenset({"table", "caption", "note", "margin"})
"""Kinds of blocks that are not in the content of an article."""


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
) -> Decoded:
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
    who, label, named = next(
        ((*each, named) for each in labels if (named := encoding_named(each[1], _ENCODINGS, "cp1252"))), ("", "", "")
    )
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
    lang, day, url = language_of(tree), _date(tree), address_of(tree)
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
        lang=lang,
        date=day if found is None else found.date,
        url=url or _saved_from(html),
        blocks=tuple(blocks),
    )


def _saved_from(html: str) -> str | None:
    """The address that a browser writes into a page that it saves."""
    found = _SAVED.search(html[:_HEAD])
    return None if found is None else found[1]


def _decoded(body: bytes, encoding: str, notes: tuple[str, ...] = ()) -> Decoded:
    text = body.decode(encoding, "replace")
    lost = text.count("\ufffd")
    if lost and encoding == "utf-8":
        lost -= body.count(b"\xef\xbf\xbd")  # which is how that character is written
    if lost > 0:
        notes = (*notes, f"characters that {shown_encoding(encoding)} does not have, replaced by U+FFFD: {lost:,}")
    return Decoded(text, notes)


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


def read_html(data: bytes | str, source: str, charset: str | None = None) -> Document:
    """Read a page of HTML: the text of its article, without menus, comments and advertisements.

    Headings, tables, code, captions and notes are blocks of their own. Marks of notes and links for editing are no
    part of the text.

    Args:
        data: The page.
        source: Name of the file, or the address.
        charset: Encoding that the server names.

    Raises:
        InvalidInput: It is too large, or has no text.
        MissingExtra: lxml or trafilatura is not installed.
    """
    html, notes = (data, ()) if isinstance(data, str) else wide_text(data) or decoded_html(data, charset, told_encoding)
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
        url=page.url,
        notes=notes,
    )


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


READER: Final = Reader(
    read=read_html,
    endings=(".html", ".htm", ".xhtml", ".mht", ".mhtml"),
    media=("text/html", "application/xhtml+xml", "multipart/related"),
    signature=re.compile(
        rb"\A(?:\xef\xbb\xbf)?(?:\s|<!--[^>]*-->|<\?xml[^>]*>)*<(?:!doctype\s+html|html|head|body|article|meta|title)[\s>]",
        re.IGNORECASE,
    ),
)
