"""Documents with their best passages highlighted, and an index of several, as self-contained HTML pages.

A page is a tree of elements: texts are escaped where they are written, and nothing else can be put in.
"""

from __future__ import annotations

import heapq
import re
from base64 import b64encode
from bisect import bisect_left, bisect_right
from hashlib import sha256
from importlib.resources import files
from itertools import groupby, pairwise
from math import floor, log10
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import quote, urlsplit
from xml.etree import ElementTree as ET

from postil.data.explain import counted
from postil.errors import UsageError
from postil.interest.text_fragments import web_address
from postil.results.formats import excerpt
from postil.results.page.blocks import clean
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from postil.documents.document import Block, Document
    from postil.interest.options import Goal
    from postil.interest.result import InterestingPagesResult, InterestingResult, PageSummary
    from postil.passages.result import RankedPassage

__all__ = [
    "Element",
    "Marks",
    "Node",
    "index_page",
    "language",
    "level",
    "made_by",
    "node",
    "origin",
    "page_html",
    "passages_page",
    "reasons",
    "shown",
]

Element: TypeAlias = ET.Element
Node: TypeAlias = Element | str

EMBEDDING: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Characters that turn the text after them round; letters of right-to-left scripts need none of them."""

LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")

BLOCKS: Final = frozenset(
    {"p", "li", "section", "div", "header", "footer", "aside", "main", "ol", "details", "h1", "h2"}
)
"""Elements with a line end behind them, so that the file can be read as it is."""


def node(tag: str, *children: Node | None, **attributes: str | None) -> Element:
    """Make an element.

    Args:
        tag: Its name.
        children: Elements and texts in it; None is left out.
        attributes: Its attributes; ``_`` stands for ``-``, and at the end of ``class_`` for nothing. None is left out.

    >>> page_of = ET.tostring(node("p", "a < b ", node("b", "c"), class_="x", aria_label='"'), "unicode")
    >>> print(page_of.strip())
    <p class="x" aria-label="&quot;">a &lt; b <b>c</b></p>
    """
    known = {
        name.rstrip("_").replace("_", "-"): shown(value) for name, value in attributes.items() if value is not None
    }
    made = ET.Element(tag, known)
    for child in children:
        if isinstance(child, str):
            if len(made):
                made[-1].tail = (made[-1].tail or "") + shown(child)
            else:
                made.text = (made.text or "") + shown(child)
        elif child is not None:
            made.append(child)
    if tag in BLOCKS:
        made.tail = "\n"
    return made


def shown(text: str) -> str:
    r"""A text for a page: without control characters, and without those that turn other text round.

    Args:
        text: Any text.

    >>> shown("gpj.\u202eexe")
    'gpj.exe'
    """
    return text if text.isprintable() else EMBEDDING.sub("", clean(text))


def language(tag: str | None) -> str | None:
    """A language tag for an attribute; None if it is none.

    Args:
        tag: The language that a document names.
    """
    return tag if tag and LANGUAGE.fullmatch(tag) else None


def page_html(title: str, styles: Iterable[str], script: str, body: Iterable[Node]) -> str:
    """Write a whole page, which asks the network for nothing and runs no script but its own.

    Args:
        title: Its title.
        styles: Names of its style sheets.
        script: Name of its script.
        body: The elements of its body.
    """
    style, code = f"\n{''.join(map(_file, styles))}", f"\n{_file(script)}"
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src '{_hash(code)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    head = node(
        "head",
        node("meta", charset="utf-8"),
        node("meta", http_equiv="Content-Security-Policy", content=policy),
        node("meta", name="viewport", content="width=device-width, initial-scale=1"),
        node("meta", name="color-scheme", content="light dark"),
        node("meta", name="referrer", content="no-referrer"),
        node("title", title),
        node("link", rel="icon", href="data:,"),
        node("style", style),
    )
    page = node("html", head, node("body", *body, node("script", code)), lang="en")
    return f"<!DOCTYPE html>\n{ET.tostring(page, encoding='unicode', method='html')}\n"


def _file(name: str) -> str:
    folder = files("postil.results.page") if name == "tokens.css" else files("postil.interest") / "html"
    return (folder / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


LEVELS: Final = (1, 3, 5, 10)
"""The last rank of each intensity of the highlight, from the strongest; all others have the weakest."""


def level(rank: int) -> int:
    """Intensity of the highlight of a rank, from 1 (strongest) to 5.

    Args:
        rank: The rank.

    >>> [level(rank) for rank in (1, 2, 4, 10, 11)]
    [1, 2, 3, 4, 5]
    """
    return 1 + bisect_left(LEVELS, rank)


class Marks:
    """Passages in a text; of passages that overlap the better one has the common part.

    Args:
        passages: The passages; those without offsets are nowhere.
    """

    def __init__(self, passages: Iterable[RankedPassage]) -> None:
        spans = [(each.start or 0, each.end or 0, each.rank) for each in passages if each.start is not None]
        self._pieces = list(_apart([span for span in spans if span[0] < span[1]]))
        self._ends = [end for _, end, _ in self._pieces]
        self._begun: set[int] = set()
        self.ranks = frozenset(rank for _, _, rank in self._pieces)
        """Ranks that have a highlight."""

    def within(self, start: int, end: int) -> bool:
        """True if there is a highlight in a stretch of the text.

        Args:
            start: Index of its first character.
            end: Index after its last character.
        """
        place = bisect_right(self._ends, start)
        return place < len(self._pieces) and self._pieces[place][0] < end

    def nodes(self, text: str, start: int, end: int) -> Iterator[Node]:
        """The text of a block, with its highlights; the first piece of each passage has its rank.

        Args:
            text: The text of the document.
            start: Index of the first character of the block.
            end: Index after its last character.
        """
        for place in range(bisect_right(self._ends, start), len(self._pieces)):
            low, high, rank = self._pieces[place]
            if low >= end:
                break
            yield text[start : max(start, low)]
            start, stop = max(start, low), min(high, end)
            yield self._mark(text[start:stop], rank)
            start = stop
        yield text[start:end]

    def _mark(self, text: str, rank: int) -> Node:
        classes = f"p{rank} l{level(rank)}"
        if rank in self._begun:
            return node("mark", text, class_=classes)
        self._begun.add(rank)
        badge = node(
            "a",
            str(rank),
            class_="badge",
            href=f"#item-{rank}",
            aria_label=f"Passage {rank}, back to the list",
            aria_describedby=f"why-{rank}",
        )
        return node("mark", badge, text, class_=classes, id=f"passage-{rank}")


def _apart(spans: list[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
    """Stretches that do not overlap, in the order of the text, each with the best rank there."""
    spans.sort()
    open_: list[tuple[int, int]] = []  # rank and end
    following = 0
    for low, high in pairwise(sorted({bound for start, end, _ in spans for bound in (start, end)})):
        while following < len(spans) and spans[following][0] <= low:
            _, end, rank = spans[following]
            heapq.heappush(open_, (rank, end))
            following += 1
        while open_ and open_[0][1] <= low:
            heapq.heappop(open_)
        if open_:
            yield low, high, open_[0][0]


PART: Final = 40
"""Number of blocks that a browser lays out together: it skips what is far from the window."""

ASIDE: Final = {"contents": "Table of contents", "margin": "Front matter and margins"}
"""Kinds of blocks that are dimmed, and folded where many of them follow one another."""

DIMMED: Final = 3
"""Largest number of such blocks that are not folded, such as the header and the footer between two pages."""

TAGS: Final = {"quote": "blockquote", "code": "pre", "table": "pre"}
"""Elements of kinds of blocks that are no paragraphs."""

LISTED: Final = 240
"""Number of characters of a passage in the list."""


def passages_page(result: InterestingResult, index: str | None = None) -> str:
    """Render a document with its best passages highlighted.

    The page is one file, which asks the network for nothing; the only script that runs is its own, and texts are
    escaped. Each highlight has its rank, and the reasons on hover and on keyboard focus; ``j`` and ``k`` go to the next
    and the previous passage. The anchors ``#passage-1``, ``#passage-2``, ... are the highlights.

    Args:
        result: The passages with their document.
        index: File name of the `index_page` that leads here, relative to the page; None without one.

    Returns:
        The HTML.

    Raises:
        UsageError: The result has no document, as of rows of passages.
    """
    document = result.document
    if document is None:
        raise UsageError("a highlighted page needs a text, a PDF or a web page; rows of passages have no document")
    marks = Marks(result.passages)
    title = document.title.strip() or document.source
    tag = language(result.lang or document.lang)
    main = node(
        "main",
        _head(result, document, title, index, tag),
        _list(result, marks, tag, len(document.text)),
        node("article", *_parts(document, marks, title), lang=tag, id="text", tabindex="-1"),
        node("div", id="tip", role="tooltip", hidden=""),
        class_="document",
    )
    skip = node("a", "Skip to the text", href="#text", class_="skip")
    body = [skip, main, _foot("this text", result)]
    return page_html(title, ["tokens.css", "shared.css", "page.css"], "page.js", body)


def _head(result: InterestingResult, document: Document, title: str, index: str | None, tag: str | None) -> Element:
    words = counted(len(document.text.split()), "word")
    facts = [origin(document.source, document.url), document.date, words]
    return node(
        "header",
        node("p", node("a", "← All pages", href=quote(index)), class_="back") if index else None,
        node("h1", title, lang=tag, dir="auto"),
        node("p", *_separated(facts), class_="facts"),
        *(node("p", note, class_="note") for note in result.notes),
    )


def origin(source: str, url: str | None) -> Node:
    """The source of a document: a link to it where it has a web address, else its name, without folders from the root.

    Args:
        source: Name of its file, or its address.
        url: The address under which a reader finds it.
    """
    address = web_address(url)
    if address:
        return _web_link(address, urlsplit(address).hostname or address)
    return node("bdi", PurePath(source).name if PurePath(source).is_absolute() else source)


def _web_link(address: str, words: str) -> Element:
    """A link to the original, which learns nothing of the page.

    Args:
        address: A `web_address`.
        words: Its text.
    """
    return node("a", words, href=address, rel="noreferrer noopener", class_="out")


def _separated(parts: Iterable[Node | None]) -> Iterator[Node]:
    for place, part in enumerate(part for part in parts if part is not None):
        if place:
            yield " · "
        yield part


# The list of passages.


def _list(result: InterestingResult, marks: Marks, tag: str | None, length: int) -> Element:
    found = result.passages
    if not found:
        return node("aside", node("p", "No passage was found in this text."), aria_label="Passages")
    heading = _headline(result.goal, len(found))
    return node(
        "aside",
        _steps(len(marks.ranks)) if marks.ranks else None,
        node(
            "details",
            node("summary", node("h2", heading)),
            node("ol", *(_item(each, marks, tag, length) for each in found), class_="passages"),
            open="",
            id="list",
        ),
        aria_label="Passages",
    )


def _headline(goal: Goal | None, n: int) -> str:
    """The heading of a list.

    >>> _headline("topic", 1), _headline(None, 5)
    ('The passage closest to the topic', 'The 5 best passages')
    """
    if goal == "topic":
        return f"The {n:,} passages closest to the topic" if n > 1 else "The passage closest to the topic"
    words = "most interesting" if goal == "interest" else "best"
    return f"The {n:,} {words} passages" if n > 1 else f"The {words} passage"


def _item(passage: RankedPassage, marks: Marks, tag: str | None, length: int) -> Element:
    rank = str(passage.rank)
    text = node("bdi", excerpt(passage.text, LISTED), lang=tag)
    marked = passage.rank in marks.ranks
    badge = node("b", rank, class_=f"rank l{level(passage.rank)}")
    address = web_address(passage.link)
    where = [
        f"page {passage.page:,}" if passage.page is not None else None,
        f"at {passage.start / length:.0%}" if passage.page is None and passage.start is not None and length else None,
        _web_link(address, "original") if address else None,
    ]
    return node(
        "li",
        node("a", badge, text, href=f"#passage-{rank}", class_="to") if marked else node("p", badge, text, class_="to"),
        node("p", *reasons(passage), class_="why", id=f"why-{rank}"),
        node("p", *_separated(where), class_="where") if any(part is not None for part in where) else None,
        id=f"item-{rank}",
    )


def reasons(passage: RankedPassage) -> Iterator[Node]:
    """The reasons of a passage, each with its contribution, to two digits of the largest one.

    Args:
        passage: The passage.
    """
    if not passage.reasons:
        yield "no reason is known"
        return
    largest = max(abs(reason.part) for reason in passage.reasons)
    digits = min(9, max(1, 1 - floor(log10(largest)))) if largest else 1
    yield "because of "
    for place, reason in enumerate(passage.reasons):
        if place:
            yield ", "
        yield node("bdi", reason.unit, class_="unit")
        yield "\u00a0"
        yield node("small", f"{reason.part:+.{digits}f}".replace("-", "−"))


def _steps(n: int) -> Element:
    """Buttons that lead through the passages; without its script the page has links alone."""
    return node(
        "div",
        node("button", "← Previous", type="button", data_step="-1", aria_keyshortcuts="k"),
        node("span", counted(n, "passage"), role="status", id="now"),
        node("button", "Next →", type="button", data_step="1", aria_keyshortcuts="j"),
        node("label", node("input", type="checkbox", id="keys", checked=""), " keys j and k", class_="keys"),
        class_="steps",
        hidden="",
    )


# The document.


def _parts(document: Document, marks: Marks, title: str) -> Iterator[Node]:
    """The blocks of a document in parts; contents, page headers and the like are folded."""
    blocks: Sequence[Block] = document.blocks
    if not blocks:
        yield node("div", node("p", *marks.nodes(document.text, 0, len(document.text)), dir="auto"), class_="part")
        return
    writer = _Writer(document, marks, title)
    for part in range(0, len(blocks), PART):
        yield node("div", *writer.nodes(blocks[part : part + PART]), class_="part")


class _Writer:
    """Elements of blocks, one after the other."""

    def __init__(self, document: Document, marks: Marks, title: str) -> None:
        self._document, self._marks = document, marks
        self._title = " ".join(title.split()).casefold()
        self._depth = 1  # of the last heading; the title is 1
        self._page: int | None = None

    def nodes(self, blocks: Sequence[Block]) -> Iterator[Node]:
        for kind, group in groupby(blocks, lambda block: block.kind):
            run = list(group)
            if kind == "item":
                yield node("ul", *(self._of("li", block, class_=f"i{min(block.level, 4)}") for block in run))
            elif kind in ASIDE and len(run) > DIMMED and not self._marks.within(run[0].start, run[-1].end):
                summary = node("summary", f"{ASIDE[kind]} ({counted(len(run), 'line')})")
                yield node("details", summary, *(self._of("p", block) for block in run), class_="aside")
            else:
                yield from (made for block in run for made in self._block(block))

    def _block(self, block: Block) -> Iterator[Node]:
        if block.page is not None and block.page != self._page:
            self._page = block.page
            yield node("p", f"page {block.page:,}", class_="page")
        if block.kind != "heading":
            yield self._of(TAGS.get(block.kind, "p"), block, class_=None if block.kind == "paragraph" else block.kind)
        elif self._depth > 1 or " ".join(self._document.text_of(block).split()).casefold() != self._title:
            self._depth = min(max(2, block.level), self._depth + 1, 6)
            yield self._of(f"h{self._depth}", block)

    def _of(self, tag: str, block: Block, class_: str | None = None) -> Element:
        inner = self._marks.nodes(self._document.text, block.start, block.end)
        return node(tag, *inner, class_=class_, dir="auto")


def _foot(what: str, result: InterestingResult | InterestingPagesResult) -> Element:
    signature = node("p", node("code", result.signature)) if result.signature else None
    return node("footer", made_by(f"ranked the passages of {what} by {result.measure}"), signature)


def made_by(did: str) -> Element:
    """The sentence at the foot of a page.

    Args:
        did: The deed of postil, from the verb on.
    """
    return node("p", f"postil {VERSION} {did}. The page asks the network for nothing.")


LONGEST: Final = 400
"""Number of characters of a passage."""


def index_page(result: InterestingPagesResult) -> str:
    """Render the best passages of several pages: one card per page, and the pages that failed.

    The page is one file, which asks the network for nothing. It links to the highlighted page of each card, whose
    `PageSummary.file` is relative to it, and to the originals.

    Args:
        result: The pages.

    Returns:
        The HTML.
    """
    title = result.name or "Interesting passages"
    passages = sum(len(page.passages) for page in result.pages)
    said = f"{counted(passages, 'passage')} of {counted(len(result.pages), 'page')}"
    main = node(
        "main",
        node(
            "header",
            node("h1", title, dir="auto"),
            node("p", said, class_="facts"),
            *(node("p", note, class_="note") for note in result.notes),
        ),
        _filter() if len(result.pages) > 1 else None,
        node("ol", *map(_card, result.pages), class_="pages"),
        _failed(result) if result.failed else None,
        class_="index",
    )
    body = [main, _foot("each page", result)]
    return page_html(title, ["tokens.css", "shared.css", "index.css"], "index.js", body)


def _filter() -> Element:
    """A box that the script shows; without it all pages are there."""
    return node(
        "search",
        node("label", "Filter by words", for_="words"),
        node("input", type="search", id="words", autocomplete="off", spellcheck="false"),
        node("span", role="status", id="left"),
        hidden="",
    )


def _card(page: PageSummary) -> Element:
    tag = language(page.lang)
    title = page.title.strip() or page.source
    name = node("bdi", title, lang=tag)
    heading = node("a", name, href=quote(page.file)) if page.file else name
    return node(
        "li",
        node("h2", heading),
        node("p", *_separated([origin(page.source, page.url), page.date or None]), class_="facts"),
        node("ol", *(_passage(each, page, tag) for each in page.passages)) if page.passages else None,
        None if page.passages else node("p", "No passage was found in this text.", class_="facts"),
        *(node("p", note, class_="note") for note in page.notes),
        class_="card",
    )


def _passage(passage: RankedPassage, page: PageSummary, tag: str | None) -> Element:
    text = node("bdi", excerpt(passage.text, LONGEST), lang=tag)
    address = web_address(passage.link)
    href = f"{quote(page.file)}#passage-{passage.rank}" if page.file else None
    return node(
        "li",
        node("p", node("a", text, href=href) if href else text, class_="said"),
        node("p", *reasons(passage), *([" · ", _web_link(address, "original")] if address else ()), class_="why"),
    )


def _failed(result: InterestingPagesResult) -> Element:
    said = (node("li", node("bdi", each.source), ": ", node("bdi", each.problem)) for each in result.failed)
    heading = f"{counted(len(result.failed), 'page')} could not be read"
    return node("section", node("h2", heading), node("ul", *said), class_="failed")
