"""Selection of the blocks of a page of HTML that are its article, and what the page says about itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple
from unicodedata import normalize

from postil.text.html_tree import language_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lxml.html import HtmlElement

    from postil.text.html_walk import HtmlBlock, WalkedBlock

__all__ = ["PageMetadata", "content_root", "page_metadata", "selected", "title_of", "without_menus"]

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
_SENTENCE_END: Final = re.compile(r"[.!?…。！？][\"'”’»)\]」』]*$")
_MENU_WORDS: Final = 30
_DATE: Final = re.compile(r"((?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?!\d)")
_JSON_DATE: Final = re.compile(r'"datePublished"\s*:\s*"([^"]{10,40})"')
_SITE: Final = re.compile(r"\s+[|·»–—-]\s+[^|·»–—]{1,40}$")
_ADDRESS: Final = re.compile(r"https?://[^\s<>\"']{3,2000}", re.IGNORECASE)
_ROOTS: Final = (
    "//*[@itemprop='articleBody']",
    "//article",
    "//main",
    "//*[@role='main']",
    "//*[contains(concat(' ', @class, ' '), ' mw-parser-output ')]",
    "//*[@id='content' or @id='main' or @id='main-content' or @id='bodyContent']",
)
_MOST_ROOTS: Final = 50
_ROOT_SHARE: Final = 0.4


class PageMetadata(NamedTuple):
    """Facts that a page says about itself.

    Args:
        lang: Its language, a BCP 47 tag; None if it does not say.
        date: Date that it was published, ``YYYY-MM-DD``; None if it does not say.
        url: Its own address, ``http`` or ``https``; None if it does not say.
    """

    lang: str | None
    date: str | None
    url: str | None


def page_metadata(tree: HtmlElement) -> PageMetadata:
    """Read what a page says about itself.

    Args:
        tree: The page.
    """
    said = [*tree.xpath("//link[@rel='canonical']/@href"), *tree.xpath("//meta[@property='og:url']/@content")]
    url = next((each.strip() for each in said), "")
    return PageMetadata(
        lang=language_of(tree),
        date=_date(tree),
        url=url if _ADDRESS.fullmatch(url) else None,
    )


def title_of(tree: HtmlElement, blocks: Sequence[HtmlBlock], found: str = "") -> str:
    """Title of a page: a headline of its text that its head names too, else the one that was found, else its head's.

    Args:
        tree: The page.
        blocks: The blocks of its text.
        found: The title that another reader found; empty if it found none.
    """
    named = [*tree.xpath("//meta[@property='og:title']/@content"), *tree.xpath("//head/title/text()")]
    named = [title for each in named if (title := " ".join(each.split()))]
    inside = " ".join(named).casefold()
    headlines = [block.text for block in blocks if block.kind == "heading" and block.level == 1]
    for each in headlines[:_MOST_ROOTS]:
        if each.casefold() in inside:
            return each
    if found and (not named or found.casefold() in inside):
        return found
    if named:
        return _SITE.sub("", named[0]) or named[0]
    return headlines[0] if headlines else found


def selected(walked: Sequence[WalkedBlock], article: str) -> list[HtmlBlock] | None:
    """Blocks that are in the text of an article.

    Args:
        walked: Blocks of the page.
        article: Its article, as another reader found it.

    Returns:
        The blocks; headings, captions, tables and code where what is around them is in the article. None where the
        article has but a small part of the sentences of the page.
    """
    known = set(_windows(article))
    inside: list[bool | None] = [
        _share(one.block.text, known) >= _KNOWN or (None if one.block.kind in _SET else False)
        if one.block.kind != "heading"
        else None
        for one in walked
    ]
    words = [
        (len(one.block.text.split()), kept)
        for one, kept in zip(walked, inside, strict=True)
        if kept is not None and one.linked < _LINKED and _SENTENCE_END.search(one.block.text)
    ]
    if sum(n for n, kept in words if kept) < _TRUSTED * sum(n for n, _ in words):
        return None
    sure = [place for place, kept in enumerate(inside) if kept]
    if not sure:
        return None
    for place in range(sure[0], sure[-1]):
        # Readers lose a sentence here and there, such as one after a quote.
        one = walked[place]
        if inside[place] is False and one.linked < _LINKED / 2 and _SENTENCE_END.search(one.block.text):
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
    return [_linked_out(one) for one, kept in zip(walked, inside, strict=True) if kept]


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
    """The smallest element that says that it has the content of a page, and has a fair part of its text.

    Args:
        tree: The page.
    """
    body = tree.find("body")
    root = tree if body is None else body
    least = max(200.0, _ROOT_SHARE * _size(root))
    for path in _ROOTS:
        sizes = [(_size(each), -place, each) for place, each in enumerate(tree.xpath(path)[:_MOST_ROOTS])]
        if sizes and (largest := max(sizes))[0] >= least:
            return largest[2]
    return root


def _linked_out(one: WalkedBlock) -> HtmlBlock:
    """A block; one that is but links is a margin."""
    block = one.block
    if block.kind not in {"paragraph", "item"} or one.linked < _LINKED or _SENTENCE_END.search(block.text):
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
    return "".join(each for each in normalize("NFC", line) if each.isprintable() or each.isspace())


def _share(text: str, known: set[str]) -> float:
    """Share of the windows of a text that are known."""
    windows = list(_windows(text))
    return sum(each in known for each in windows) / len(windows)


def _size(element: HtmlElement) -> int:
    return sum(len(each.strip()) for each in element.itertext() if each) - sum(
        len(each) for path in (".//script", ".//style") for part in element.xpath(path) for each in part.itertext()
    )


def _date(tree: HtmlElement) -> str | None:
    said = [
        *tree.xpath("//meta[@property='article:published_time' or @name='date' or @name='dc.date']/@content"),
        *_JSON_DATE.findall(" ".join(tree.xpath("//script[@type='application/ld+json']/text()"))[:100_000]),
        *tree.xpath("//time[@pubdate or @itemprop='datePublished']/@datetime"),
    ]
    return next((found[1] for each in said if (found := _DATE.match(str(each).strip()))), None)
