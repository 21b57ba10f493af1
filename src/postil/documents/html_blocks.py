"""The tree of a page of HTML, as browsers build it, and the blocks of it in their order, in time linear in the page.

Marks of notes and links for editing are no text, and left out.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from postil.documents.document import language_tag
from postil.errors import InvalidInput, needs
from postil.text.sentences import END_MARKS

if TYPE_CHECKING:
    from lxml.html import HtmlElement

__all__ = [
    "SENTENCES",
    "SENTENCE_END",
    "HtmlBlock",
    "HtmlBlockKind",
    "NoTextError",
    "Walked",
    "WalkedBlock",
    "in_order",
    "is_hidden",
    "language_of",
    "length_of",
    "names_of",
    "parsed",
    "plain_text_of",
    "sentences_of",
    "walk",
]

TAGS: Final = 20_000
"""Largest number of tags that are put in order as browsers do; the time can grow by their square, to two seconds."""
ATTRIBUTES: Final = 1000
"""Largest number of attributes of a tag; the time of every reader of pages grows by their square."""
GROWTH: Final = 500_000
"""Number of elements that a page may grow to; elements of style that are never closed begin anew in each paragraph.
31 kB of them take 800 MB."""
WHOLES: Final = 20
"""Number of tags ``html`` and ``body``, whose attributes are put together."""

_STYLES: Final = "b|big|code|em|font|i|s|small|strike|strong|tt|u"
_STYLE: Final = re.compile(rf"<((?:{_STYLES})(?=[\s/>])[^>]*)", re.IGNORECASE)
_WHOLE_STYLE: Final = re.compile(
    r"""[a-z]+(?:\s++[^\s"'=/]++(?:=(?:"[^"]*+"|'[^']*+'|[^\s"']++))?+)*+[\s/]*+""", re.IGNORECASE
)
"""A tag that does not go on after the first ``>``, within quotes."""
_STYLE_TAG: Final = re.compile(rf"""</?(?:{_STYLES})(?:[\s/](?:[^<>"']|"[^"<>]*+"|'[^'<>]*+')*+)?+>""", re.IGNORECASE)
_SAME: Final = 3
"""Number of equal elements of style that begin anew at most."""
_SHORT: Final = 4 * ATTRIBUTES
"""Length of a tag from which it can have this number of attributes of different names."""
_ODD_TAG: Final = re.compile(rf"""<[a-z](?!(?:[^<>"']|"[^"<>]*+"|'[^'<>]*+'){{0,{_SHORT}}}+>)""", re.IGNORECASE)
"""Beginning of a tag that is long, or has no end in sight."""
_ATTRIBUTE: Final = r"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"?|'[^']*+'?|[^\s>]++)?+)?+"""
_EACH_ATTRIBUTE: Final = re.compile(_ATTRIBUTE)
_ATTRIBUTES: Final = re.compile(f"(?:{_ATTRIBUTE})*+")
_READINGS: Final = 8
"""Number of times that a page is looked through for attributes; one with quotes that never end could take more."""
_XHTML: Final = re.compile(r"\s*<\?xml\s|.{0,600}?//DTD XHTML|.{0,1000}?\"http://www\.w3\.org/1999/xhtml\"", re.DOTALL)
_CLOSED: Final = re.compile(
    r"""<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)\b)([a-z][\w:.-]*+)"""
    r"""((?:\s(?:[^<>"'/]|/(?!>)|"[^"<>]*+"|'[^'<>]*+')*+)?+)/>""",
    re.IGNORECASE,
)
"""An element that XHTML closes where it begins, which HTML would leave open."""
_OF_WHOLE: Final = re.compile(r"<(?:html|body)\b", re.IGNORECASE)
_OF_HEAD: Final = re.compile(
    r"(?:[\s\ufeff]++|<!--(?:[^-]|-(?!->))*+-->|<[!?][^>]*+>|<(?:html|head|meta|link|base)(?=[\s/>])[^>]*+>"
    r"|<(title|script|style|noscript|template)(?=[\s/>])(?:[^<]|<(?!/\1))*+</\1[^>]*+>)*+",
    re.IGNORECASE,
)
_BODY: Final = re.compile(r"</head\b|<(?:body|frameset)\b|$", re.IGNORECASE)


def in_order(html: str) -> str:
    """Put a page in order as browsers do: tags that a page may leave out, and elements at places where they cannot be.

    lxml does not know HTML5: of a page without ``</head><body>`` it takes ``<main>`` and all that follows for the head.
    A page that would take long, or grow, since it was made to or is very large, gets its body alone.

    Args:
        html: The page, without null characters.

    Raises:
        MissingExtra: selectolax is not installed.

    >>> in_order("<title>Rain</title><main>It rained.<table>On<tr><td>Ely")[44:]
    '<main>It rained.On<table><tbody><tr><td>Ely</td></tr></tbody></table></main></body></html>'
    """
    with needs("the text of a page of HTML", "pages"):
        from selectolax.lexbor import LexborHTMLParser  # noqa: PLC0415 - an extra
    if _XHTML.match(html):
        html = _CLOSED.sub(r"<\1\2></\1>", html)
    few = _with_few_attributes(html)
    has_many, html = few is not html, few
    number = html.count("<")
    if number <= TAGS and _grows(html, number):
        html = _STYLE_TAG.sub("", html)  # those that hold no end of themselves stay
        number = TAGS + 1 if _grows(html, number) else number
    if number > TAGS or len(_OF_WHOLE.findall(html)) > WHOLES or has_many:
        return _with_body(html)
    return LexborHTMLParser(html.encode("utf-8", "replace")).html or ""


def _grows(html: str, number: int) -> bool:
    """True if elements of style could make more elements than a page may have."""
    kinds = sum(1 if _WHOLE_STYLE.fullmatch(tag) else n for tag, n in Counter(_STYLE.findall(html)).items())
    return (_SAME * kinds + 2) * number > GROWTH


def _with_few_attributes(html: str) -> str:
    """A page whose tags have at most `ATTRIBUTES` attributes, without the others.

    Where it cannot be told in time, tags that are long or do not end are none.
    """
    left = _READINGS * len(html)
    pieces, place = [], 0
    for tag in _ODD_TAG.finditer(html):
        found = _ATTRIBUTES.match(html, tag.end())
        end = tag.end() if found is None else found.end()
        left -= end - tag.end()
        if left < 0:
            return _ODD_TAG.sub(" ", html)
        if end - tag.end() <= _SHORT:
            continue
        most = next(islice(_EACH_ATTRIBUTE.finditer(html, tag.end(), end), ATTRIBUTES - 1, None), None)
        if most is not None and most.end() < end:
            pieces.append(html[place : max(place, most.end())])
            place = max(place, end)
    return "".join([*pieces, html[place:]]) if pieces else html


def _with_body(html: str) -> str:
    """A page with a tag where its body begins, without which its text would be taken for a part of its head."""
    head = _OF_HEAD.match(html)
    place = 0 if head is None else head.end()
    return html if _BODY.match(html, place) else f"{html[:place]}</head><body>{html[place:]}"


_NO_XML: Final = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_INLINE: Final = (
    "b",
    "big",
    "em",
    "font",
    "i",
    "mark",
    "s",
    "small",
    "source",
    "strike",
    "strong",
    "sub",
    "sup",
    "track",
    "tt",
    "u",
    "wbr",
)
"""Tags of words within a sentence, at which short pages would be split, and of those that lxml leaves open."""
SENTENCES: Final = 3
"""Number of paragraphs of sentences from which there is an article, however much text is beside it."""
_SENTENCE: Final = 40
"""Number of characters of such a paragraph."""
SENTENCE_END: Final = re.compile(rf"[{END_MARKS}][\"'”’»)\]」』]*$")
"""End mark of a sentence at the end of a block, before quotation marks and brackets."""
_DEEP: Final = "expected elements at most 2,000 deep in one another, got more, so the page would be cut off"

_MARK: Final = re.compile(
    r"\s*(?:[\[(]\s*)?(?:\d{1,4}|[a-z]|[ivx]{1,4}|[*†‡§¶]{1,3}|(?:note|nb|n)\.?\s?\d{1,3})(?:\s*[\])])?\s*",
    re.IGNORECASE,
)
"""Text of a mark that leads to a note."""
_ASKED: Final = re.compile(
    r"\s*\[\s*(?:\d{1,4}|[a-z]|citation needed|edit|update|clarification needed|when\?|who\?|by whom\?)\s*\]\s*"
    r"|\s*:\s?\d{1,4}(?:[–-]\d{1,4})?\s*",
    re.IGNORECASE,
)
"""Text in brackets, or a page after a colon, that is a mark, even where it leads nowhere."""
_NOTE_TARGET: Final = re.compile(r"[^#]*#_?(?:cite|fn|note|ref|footnote|endnote|ftn|edn|bib|sdfootnote)", re.IGNORECASE)
_ANCHORS: Final = frozenset({"#", "¶", "§", "↩", "↩︎", "↑", "^", "🔗", "permalink", "link"})
"""Texts of links to the place where they stand."""
_MARK_NAMES: Final = frozenset(
    (
        "mw-editsection",
        "mw-cite-backlink",
        "mw-jump-link",
        "footnote-ref",
        "footnote-back",
        "footnote-backref",
    )
) | {
    "noteref",
    "pagenum",
    "pageno",
    "page-number",
    "fnanchor",
    "sr-only",
    "visually-hidden",
    "screen-reader-text",
}
_SIGN_NAMES: Final = frozenset({"reference", "headerlink", "heading-anchor", "anchor-link"})
"""Names of marks that some pages give to links of words as well."""
_WORD: Final = re.compile(r"[^\W\d_]{2}")
_NO_DISPLAY: Final = re.compile(r"(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_WHOLE: Final = frozenset({"html", "body", "main", "article"})
_MANY: Final = 1000
_LONGEST_MARK: Final = 24
_UNSEEN: Final = frozenset({"script", "style", "noscript", "template", "annotation", "svg", "head"})


class NoTextError(InvalidInput):
    """A page has no text."""

    def __init__(self) -> None:
        super().__init__("found no text of an article on the page; give its title and text instead")


def parsed(html: str) -> HtmlElement:
    """Parse a page.

    Args:
        html: The page.

    Raises:
        InvalidInput: It has no element, or elements too deep in one another.
        MissingExtra: lxml or selectolax is not installed.
    """
    with needs("the text of a page of HTML", "pages"):
        from lxml import etree  # noqa: PLC0415 - an extra
        from lxml.html import HTMLParser, document_fromstring  # noqa: PLC0415
    try:
        # As bytes, since lxml refuses a text that declares an encoding.
        parser = HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
        tree = document_fromstring(in_order(_NO_XML.sub("", html)).encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, ValueError):
        raise NoTextError from None
    if any(each.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for each in parser.error_log):
        raise InvalidInput(_DEEP)  # what follows was not read
    marks = [element for element in tree.iter("sup", "a", "span", "div") if _is_mark(element)]
    for element in marks:
        element.clear(keep_tail=True)
        element.tag = "s"  # taken out below; removing one after the other would take the square of their number
    etree.strip_tags(tree, *_INLINE)
    if len(marks) > _MANY:
        for element in tree.iter():  # one text instead of thousands, which lxml would put together at each reading
            element.text, element.tail = element.text, element.tail
    return tree


def language_of(tree: HtmlElement) -> str | None:
    """The language that a page names, a BCP 47 tag; None if it does not.

    Args:
        tree: The page.
    """
    named = (
        tree.get("lang"),
        tree.get("xml:lang"),
        *tree.xpath("//meta[@http-equiv='content-language' or @property='og:locale']/@content"),
    )
    return next(filter(None, (language_tag(str(name or "")) for name in named)), None)


def names_of(element: HtmlElement) -> list[str]:
    """Classes and id of an element, in lower case.

    Args:
        element: The element.
    """
    return f"{element.get('class') or ''} {element.get('id') or ''}".lower().split()


def is_hidden(element: HtmlElement) -> bool:
    """True if an element says that it is not shown.

    Args:
        element: The element.
    """
    if element.tag in _WHOLE:
        return False
    style: str | None = element.get("style")
    return element.get("hidden") is not None or (style is not None and _NO_DISPLAY.search(style[:1000]) is not None)


def plain_text_of(element: HtmlElement) -> str:
    """Text of an element and what it holds, with single spaces.

    Args:
        element: The element.
    """
    texts = [
        text
        for text in element.xpath(".//text()")
        if (parent := text.getparent()) is None or parent.tag not in _UNSEEN or text.is_tail
    ]
    return " ".join(" ".join(texts).split())


def length_of(element: HtmlElement) -> int:
    """Number of characters in an element, with single spaces.

    Args:
        element: The element.
    """
    return int(element.xpath("string-length(normalize-space())"))


def sentences_of(element: HtmlElement) -> int:
    """Number of paragraphs in an element that end as sentences do and are no short ones.

    Args:
        element: The element.
    """
    texts = (" ".join(each.itertext()).strip() for each in element.iter("p"))
    return sum(1 for text in texts if len(text) >= _SENTENCE and SENTENCE_END.search(text[-24:]))


def _is_mark(element: HtmlElement) -> bool:
    """True if an element is the mark of a note, a link for editing, or a link to its own place."""
    tag, names, target = element.tag, names_of(element), element.get("href")
    if tag == "div":
        return "mw-editsection" in names
    named = not _MARK_NAMES.isdisjoint(names) or element.get("role") in {"doc-noteref", "doc-backlink"}
    named = named or (element.get("aria-hidden") == "true" and tag != "sup")
    sign = not _SIGN_NAMES.isdisjoint(names)
    may_be = named or sign or tag == "sup" or (tag == "a" and target is not None and "#" in target)
    text = _short_text(element) if may_be else None
    if text is None:
        return False
    if named or text.lower() in _ANCHORS or _ASKED.fullmatch(text) or (sign and not _WORD.search(text)):
        return True
    if not _MARK.fullmatch(text):
        return False
    if tag == "sup":
        return any("#" in (each.get("href") or "") for each in element.iter("a"))
    return _NOTE_TARGET.match(target or "") is not None


def _short_text(element: HtmlElement) -> str | None:
    """Text of an element; None if it is longer than a mark is."""
    text = ""
    for piece in element.itertext():
        text += piece
        if len(text) > _LONGEST_MARK + 40:
            return None
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_MARK else None


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


def walk(root: HtmlElement, inner: HtmlElement) -> Walked:
    """Read the blocks of a tree.

    Menus, comments, advertisements, scripts, forms and what is hidden are left out, as far as tags and names tell.

    Args:
        root: The element whose blocks are read.
        inner: The element in it that has the content of the page, or itself.
    """
    from lxml import etree  # noqa: PLC0415 - an extra

    found = Walked(root, inner)
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        if not isinstance(element.tag, str):
            continue
        if event == "start":
            if not found.enter(element):
                walker.skip_subtree()
            if element is inner:
                found.begin = len(found.blocks)
        else:
            found.leave(element, is_root=element is root)
            if element is inner:
                found.end = len(found.blocks)
    return found


class Walked:
    """A walk through a tree, and the blocks that it found.

    Args:
        root: The element whose blocks are read.
        inner: The element in it that has the content of the page, or itself.

    Attributes:
        blocks: The blocks.
        tables: The tables of data among what was read.
        begin: Index of the first block of the inner element.
        end: Index after its last block.
    """

    def __init__(self, root: HtmlElement, inner: HtmlElement) -> None:
        self._content = None if inner is root else inner
        self._around_content = frozenset([inner, *inner.iterancestors()])
        self._is_in_content = False
        self.blocks: list[WalkedBlock] = []
        self.tables: list[HtmlElement] = []
        self.begin = self.end = 0
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
