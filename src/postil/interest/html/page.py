"""A document with its best passages highlighted, as one self-contained HTML page."""

from __future__ import annotations

from itertools import groupby
from math import floor, log10
from pathlib import PurePath
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlsplit

from postil.errors import UsageError
from postil.interest.html.marks import Marks, level
from postil.interest.html.markup import Element, Node, language, node, page_html
from postil.interest.text_fragments import web_address
from postil.results.formats import counted, excerpt
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from postil.documents.document import Block, Document
    from postil.interest.result import Goal, InterestingResult, RankedPassage

__all__ = ["made_by", "origin", "passages_page", "reasons", "web_link"]

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
    foot = node("footer", *_foot(result))
    skip = node("a", "Skip to the text", href="#text", class_="skip")
    return page_html(title, ["tokens.css", "shared.css", "page.css"], "page.js", [skip, main, foot])


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
        return web_link(address, urlsplit(address).hostname or address)
    return node("bdi", PurePath(source).name if PurePath(source).is_absolute() else source)


def web_link(address: str, words: str) -> Element:
    """A link to the original, which learns nothing of the page.

    Args:
        address: A `web_address`.
        words: Its text.
    """
    return node("a", words, href=address, rel="noreferrer noopener", class_="out")


def _separated(parts: Iterable[Node | None]) -> Iterator[Node]:
    between = False
    for part in parts:
        if part is None:
            continue
        if between:
            yield " · "
        yield part
        between = True


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
        web_link(address, "original") if address else None,
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


def _foot(result: InterestingResult) -> Iterator[Element]:
    yield made_by(f"ranked the passages of this text by {result.measure}")
    if result.signature:
        yield node("p", node("code", result.signature))


def made_by(did: str) -> Element:
    """The sentence at the foot of a page.

    Args:
        did: The deed of postil, from the verb on.
    """
    return node("p", f"postil {VERSION} {did}. The page asks the network for nothing.")
