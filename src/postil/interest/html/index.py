"""The best passages of several pages, as one self-contained HTML page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from postil.interest.html.markup import Element, Node, language, node, page_html
from postil.interest.html.page import made_by, origin, reasons, web_link
from postil.interest.text_fragments import web_address
from postil.interest.view import BEST
from postil.results.formats import counted, excerpt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.interest.result import FailedPage, InterestingPagesResult, PageSummary, RankedPassage

__all__ = ["index_page"]

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
    passages = sum(min(BEST, len(page.passages)) for page in result.pages)
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
    foot = node("footer", made_by(f"ranked the passages of each page by {result.measure}"), *_signature(result))
    return page_html(title, ["tokens.css", "shared.css", "index.css"], "index.js", [main, foot])


def _signature(result: InterestingPagesResult) -> Iterator[Element]:
    if result.signature:
        yield node("p", node("code", result.signature))


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
    about: list[Node] = [origin(page.source, page.url)]
    if page.date:
        about += [" · ", page.date]
    return node(
        "li",
        node("h2", heading),
        node("p", *about, class_="facts"),
        node("ol", *(_passage(each, page, tag) for each in page.passages[:BEST])) if page.passages else None,
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
        node("p", *reasons(passage), *([" · ", web_link(address, "original")] if address else ()), class_="why"),
    )


def _failed(result: InterestingPagesResult) -> Element:
    def said(each: FailedPage) -> Element:
        return node("li", node("bdi", each.source), ": ", node("bdi", each.problem))

    heading = f"{counted(len(result.failed), 'page')} could not be read"
    return node("section", node("h2", heading), node("ul", *map(said, result.failed)), class_="failed")
