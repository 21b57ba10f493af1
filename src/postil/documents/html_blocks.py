"""Blocks of a page of HTML in the order of its tree, read in time linear in the page."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from postil.documents.html_tree import SENTENCES, is_hidden, length_of, names_of, plain_text_of, sentences_of

if TYPE_CHECKING:
    from lxml.html import HtmlElement

__all__ = ["HtmlBlock", "HtmlBlockKind", "Walked", "WalkedBlock", "walk"]

HtmlBlockKind: TypeAlias = Literal[
    "heading", "paragraph", "item", "quote", "caption", "code", "table", "note", "margin"
]
"""Role of a block of a page."""


class HtmlBlock(NamedTuple):
    """A block of a page.

    Args:
        kind: Its role.
        text: Its text, with single spaces; line ends are those of the page's ``<br>``, code and rows.
        level: Depth of a heading or an item, from 1; 0 for others.
    """

    kind: HtmlBlockKind
    text: str
    level: int = 0


class WalkedBlock(NamedTuple):
    """A block, and how much of it is links.

    Args:
        block: The block.
        linked: Share of its characters in links.
    """

    block: HtmlBlock
    linked: float


_BLOCK_TAGS: Final = (
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption "
    "figure footer form h1 h2 h3 h4 h5 h6 header hr html legend li main nav ol p pre section summary table "
    "tbody td tfoot th thead tr ul"
)
_BLOCKS: Final = frozenset(_BLOCK_TAGS.split())
_SKIPPED_TAGS: Final = (
    "script style noscript template svg iframe object canvas select button input textarea nav footer menu "
    "dialog map audio video annotation head frameset title applet datalist label"
)
_SKIPPED: Final = frozenset(_SKIPPED_TAGS.split())
_SKIPPED_ROLES: Final = frozenset(
    {"navigation", "banner", "contentinfo", "complementary", "search", "dialog", "alert", "menu", "menubar", "toolbar"}
)
_LONGEST_NAME: Final = 200
_SKIPPED_NAME: Final = re.compile(
    r"(?:(?!has-|no-|with-|is-)[a-z0-9]+[-_]+)*(?:navbox|navbar|navigation|nav|menu|sidebar|breadcrumbs?|share|sharing|"
    r"social|cookies?|consent|advert|advertisements?|advertising|ads?|promo|sponsored|related|comments?|commentlist|respond|newsletter|"
    r"subscribe|subscription|paywall|pagination|pager|toc|hatnote|noprint|catlinks|printfooter|metadata|ambox|skiplink|"
    r"skip-link|jump-to-nav|siteSub|contentsub|disqus_thread|signup|popup|modal|sr-only|visually-hidden|"
    r"screen-reader-text|pg-boilerplate|pgheader|pgfooter|transnote|tnote)"
    r"(?:[-_]+(?:container|wrapper|inner|outer|list|links?|box|block|bar|area|section|items?|slot|inline|unit|"
    r"banner|stream|feed|rail|widget|module|panel|zone|column|grid|cards?|posts?|articles?|stories|story|news|teasers?|"
    r"\d+))*|(?:taboola|outbrain|adsbygoogle)[-_a-z0-9]*",
    re.IGNORECASE,
)
_UNSEEN_NAME: Final = re.compile("sr-only|visually-hidden|screen-reader-text", re.IGNORECASE)
"""Names of words in a line that are not on the screen; other names of theirs say nothing about them."""
_DATE_NAME: Final = re.compile("date|time|publish")
_CONTROLS: Final = frozenset({"button", "label"})
"""Tags of words that are left out, unless a sentence goes on around them."""
_NOTE_NAMES: Final = frozenset(
    ("references", "reflist", "footnotes", "footnote", "endnotes", "bibliography", "mw-references-wrap", "refbegin")
)
_NOTE_ROLES: Final = frozenset({"doc-endnotes", "doc-footnote", "doc-bibliography", "doc-endnote", "doc-biblioentry"})
_CAPTION_NAMES: Final = frozenset({"thumbcaption", "wp-caption-text", "caption", "image-caption"})
_BREAKS: Final = re.compile(r"\0(?:[ \t\n\r\f]*+\0)++")
"""More than one ``<br>``. The white space around them is not looked for: it would be tried from each of its places."""
_LISTS: Final = frozenset({"ul", "ol", "dl"})
_MOST_PROTECTED: Final = 8
"""Number of elements with such names that may have most of the page; others after them are read without counting."""
_LONGEST_CELL: Final = 60
"""Words of the longest cell of a table of data; a table with more in a cell is one that places text."""
_INSIDE: Final = 4
"""Number of elements in one another within a line that are looked around for a sentence."""

_State: TypeAlias = tuple[HtmlBlockKind, int]

_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_STATES: Final = MappingProxyType[str, _State](
    {
        "blockquote": ("quote", 0),
        "dt": ("heading", 6),
        "summary": ("heading", 6),
        "aside": ("margin", 0),
        "header": ("margin", 0),
        "address": ("margin", 0),
    }
)
_ASIDE: Final = frozenset({"aside", "header"})
"""Tags of what stands beside the text of a page, unless it has most of it."""


class Walked(NamedTuple):
    """Blocks of a tree.

    Args:
        blocks: The blocks.
        tables: The tables of data among what was read.
        begin: Index of the first block of the inner element.
        end: Index after its last block.
    """

    blocks: list[WalkedBlock]
    tables: list[HtmlElement]
    begin: int
    end: int


def walk(root: HtmlElement, inner: HtmlElement) -> Walked:
    """Read the blocks of a tree.

    Menus, comments, advertisements, scripts, forms and what is hidden are left out, as far as tags and names tell.

    Args:
        root: The element whose blocks are read.
        inner: The element in it that has the content of the page, or itself.
    """
    from lxml import etree  # noqa: PLC0415 - an extra

    found = _Walk(root, inner)
    begin = end = 0
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        if not isinstance(element.tag, str):
            continue
        if event == "start":
            if not found.enter(element):
                walker.skip_subtree()
            if element is inner:
                begin = len(found.blocks)
        else:
            found.leave(element, is_root=element is root)
            if element is inner:
                end = len(found.blocks)
    return Walked(found.blocks, found.tables, begin, end)


class _Walk:
    """A walk through a tree."""

    def __init__(self, root: HtmlElement, inner: HtmlElement) -> None:
        self._content = None if inner is root else inner
        self._around_content = frozenset([inner, *inner.iterancestors()])
        self._is_in_content = False
        self.blocks: list[WalkedBlock] = []
        self.tables: list[HtmlElement] = []
        self._root = root
        self._length: int | None = None
        self._protected = 0
        self._pieces: list[str] = []
        self._linked = 0
        self._links = 0
        self._lists = 0
        self._skipped: HtmlElement | None = None
        self._states: list[_State] = [("paragraph", 0)]

    def enter(self, element: HtmlElement) -> bool:
        """Begin an element; False if what it holds is to be left out."""
        tag = element.tag
        if tag in _BLOCKS:
            self.flush()
            self._lists += tag in _LISTS
            self._states.append(self._state(element))
        left_out = (
            (tag in _SKIPPED and not (tag in _CONTROLS and _is_in_text(element)))
            or (tag == "cite" and self._states[-1][0] == "quote")
            or is_hidden(element)
            or self._is_around(element)
        )
        if not left_out and tag == "table" and _has_data(element):
            self._table(element)
            left_out = True
        if left_out:
            self._skipped = element
            return False
        self._is_in_content |= element is self._content
        if tag not in _BLOCKS:
            _unname(element)
        if tag == "br":
            self._pieces.append("\n" if self._states[-1][0] == "code" else "\0")
        self._links += tag == "a"
        self._text(element.text)
        return True

    def leave(self, element: HtmlElement, *, is_root: bool) -> None:
        """End an element."""
        tag = element.tag
        if is_root or tag in _BLOCKS:
            self.flush()
        if tag in _BLOCKS:
            self._lists -= tag in _LISTS
            self._states.pop()
        if element is self._content:
            self._is_in_content = False
        if element is self._skipped:
            self._skipped = None
        else:
            self._links -= tag == "a"
        if not is_root:
            self._text(element.tail)

    def flush(self) -> None:
        """End the block that is being read."""
        whole, linked = "".join(self._pieces), self._linked
        self._pieces, self._linked = [], 0
        kind, level = self._states[-1]
        if kind == "code":
            text = whole.replace("\0", "\n").strip("\n").rstrip()
            if text.strip():
                self.blocks.append(WalkedBlock(HtmlBlock("code", text), 0.0))
            return
        for part in _BREAKS.split(whole):
            lines = (" ".join(line.split()) for line in part.split("\0"))
            if text := "\n".join(line for line in lines if line):
                self.blocks.append(
                    WalkedBlock(HtmlBlock(kind, text, level), min(1.0, linked / max(len(whole.strip()), 1)))
                )

    def _text(self, text: str | None) -> None:
        if text:
            self._pieces.append(text)
            if self._links > 0:
                self._linked += len(text)

    def _state(self, element: HtmlElement) -> _State:
        """Role of the text that begins in an element."""
        tag, (kind, level) = element.tag, self._states[-1]
        state: _State = ("paragraph", 0) if kind == "heading" and tag != "div" else (kind, level)
        if tag in _HEADINGS:
            state = "heading", int(tag[1])
        elif kind == "note" or _is_note(element):
            state = "note", 0
        elif tag == "pre":
            state = "code", 0
        elif tag in {"figcaption", "caption"} or not _CAPTION_NAMES.isdisjoint(names_of(element)):
            state = "caption", 0
        elif kind in {"paragraph", "item"} and tag in {"li", "dd"}:
            state = "item", max(self._lists, 1)
        elif kind in {"paragraph", "item"} and tag in _STATES and not (tag in _ASIDE and self._is_most(element)):
            state = _STATES[tag]
        return state

    def _is_around(self, element: HtmlElement) -> bool:
        """True if an element is around the text, by its role or its names, and not most of the page."""
        if element is self._root or element.tag in {"html", "body", "main", "article"}:
            return False
        is_block = element.tag in _BLOCKS or any(child.tag in _BLOCKS for child in element)
        name = _SKIPPED_NAME if is_block else _UNSEEN_NAME
        if element.get("role") not in _SKIPPED_ROLES and not any(
            name.fullmatch(each) for each in names_of(element) if len(each) <= _LONGEST_NAME
        ):
            return False
        if self._content is None or self._is_in_content:
            return not self._is_most(element)
        return element not in self._around_content

    def _is_most(self, element: HtmlElement) -> bool:
        """True if an element has more than half of the page, and its article; True of all after the first few such."""
        if self._protected >= _MOST_PROTECTED:
            return True
        if self._length is None:
            self._length = length_of(self._root)
        if length_of(element) <= self._length // 2:
            return False
        self._protected += 1
        return not self._is_beside_article(element)

    def _is_beside_article(self, element: HtmlElement) -> bool:
        """True if the headline and sentences of a page are outside of an element."""
        if self._root.find(".//h1") is None or element.find(".//h1") is not None:
            return False
        return sentences_of(self._root) - sentences_of(element) >= SENTENCES

    def _table(self, element: HtmlElement) -> None:
        self.tables.append(element)
        for caption in element.iter("caption"):
            if text := plain_text_of(caption):
                self.blocks.append(WalkedBlock(HtmlBlock("caption", text), 0.0))
        rows = ([plain_text_of(cell) for cell in row.iter("td", "th")] for row in element.iter("tr"))
        text = "\n".join("\t".join(cells).strip() for cells in rows if any(cells))
        if text:
            self.blocks.append(WalkedBlock(HtmlBlock("table", text), 0.0))


def _is_in_text(element: HtmlElement) -> bool:
    """True if a sentence begins before an element or goes on after it."""
    for _ in range(_INSIDE):
        parent, sibling = element.getparent(), element.getprevious()
        if parent is None:
            return False
        before = ((parent.text if sibling is None else sibling.tail) or "").strip()
        after = (element.tail or "").strip()
        if before or after or parent.tag in _BLOCKS:
            break
        element = parent
    begun = any(map(str.isalnum, before)) and before[-1] not in ".!?…。！？"
    if any(map(str.isalnum, after)):
        return begun or not after[0].isupper()
    return begun and parent.tag not in _HEADINGS


def _unname(element: HtmlElement) -> None:
    """Take the names of words in a sentence from them, by which trafilatura would leave them out."""
    names = " ".join(names_of(element))
    if (element.tag in _CONTROLS or (names and not _DATE_NAME.search(names))) and _is_in_text(element):
        element.attrib.pop("class", None)
        element.attrib.pop("id", None)
        if element.tag in _CONTROLS:
            element.tag = "span"


def _is_note(element: HtmlElement) -> bool:
    if element.get("role") in _NOTE_ROLES:
        return True
    return element.tag not in {"body", "main", "article"} and not _NOTE_NAMES.isdisjoint(names_of(element))


def _has_data(table: HtmlElement) -> bool:
    """True if a table holds short cells, not the text of the page."""
    if any(each is not table for each in table.iter("table")):
        return False
    cells = rows = 0
    for cell in table.iter("td", "th", "tr"):
        if cell.tag == "tr":
            rows += 1
        elif len(plain_text_of(cell).split()) > _LONGEST_CELL:
            return False
        else:
            cells += 1
    return cells > 1 or rows > 1
