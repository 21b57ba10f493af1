"""The index of `postil demo`: its chapters with their commands and pages, as one self-contained HTML page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from postil.interest.html.markup import Element, node, page_html
from postil.interest.html.page import made_by

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["DemoChapter", "demo_page"]


@dataclass(frozen=True, slots=True)
class DemoChapter:
    """A chapter of the demo.

    Args:
        title: Its heading.
        words: Subject of the chapter, in a sentence or two.
        commands: Its commands, as a user types them.
        page: The page that it leaves, relative to the index; None if there is none.
    """

    title: str
    words: str
    commands: Sequence[str] = ()
    page: str | None = None


def demo_page(chapters: Sequence[DemoChapter], serve: str) -> str:
    """Render the index.

    Args:
        chapters: The chapters.
        serve: The command that serves the pages of people.

    Returns:
        The HTML. It asks the network for nothing.
    """
    title = "postil demo"
    people = DemoChapter(
        "The editor's desk and the grading page",
        "Pages for people, with this sample: an editor labels suggestions, annotators grade texts, a lead looks on.",
        [serve],
    )
    main = node(
        "main",
        node("header", node("h1", title), node("p", "What postil does, on its bundled sample.", class_="facts")),
        node("ol", *map(_card, (*chapters, people)), class_="pages"),
        class_="index",
    )
    foot = node("footer", made_by("took its sample, which is invented, through these chapters"))
    return page_html(title, ["tokens.css", "shared.css", "index.css"], "index.js", [main, foot])


def _card(chapter: DemoChapter) -> Element:
    heading = node("a", chapter.title, href=quote(chapter.page)) if chapter.page else chapter.title
    return node(
        "li",
        node("h2", heading),
        node("p", chapter.words, class_="facts"),
        *(node("p", node("code", command), class_="why") for command in chapter.commands),
        class_="card",
    )
