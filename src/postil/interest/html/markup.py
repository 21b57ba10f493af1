"""HTML as a tree of elements: texts are escaped where they are written, and nothing else can be put in."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Final, TypeAlias
from xml.etree import ElementTree as ET

from postil.results.page.blocks import clean

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Element", "Node", "language", "node", "page_html", "shown"]

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
    folder = "postil.results.page" if name == "tokens.css" else "postil.interest.html"
    return (files(folder) / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
