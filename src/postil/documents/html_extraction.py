"""Text, title and date that trafilatura finds on a page, from a tree whose size and metadata are bounded first."""

from __future__ import annotations

import json
import logging
import re
from typing import TYPE_CHECKING, Any, Final, Protocol

from postil.errors import MissingExtra

if TYPE_CHECKING:
    from lxml.html import HtmlElement

__all__ = ["ELEMENTS", "Extracted", "extracted"]

ELEMENTS: Final = 10_000
"""Largest number of elements in which trafilatura looks for the text; its time can grow by their square."""
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
_SAID: Final = frozenset({"@context", "@type", "headline", "datePublished"})
"""Keys of JSON whose values are a page's title and date, or say what has them."""
_NAMED: Final = ("Article", "article")
"""Types whose names are titles."""
_LONGEST_VALUE: Final = 300
_MOST_VALUES: Final = 20
_DEPTHS: Final = (8, 3)
"""Largest depth of such keys: of all of them, else of the entries of a graph alone."""
_IN_DAMAGED: Final = re.compile(r'"(headline|datePublished)"\s{0,20}:\s{0,20}"([^"\\]{1,300})')
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
    try:
        from trafilatura import bare_extraction  # noqa: PLC0415 - an extra
        from trafilatura.utils import line_processing, trim  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("the article of a page", "html") from error
    for name in ("trafilatura", "htmldate", "courlan"):  # what they warn of is told by the error
        logging.getLogger(name).addHandler(_SILENT)
    _shorten(tree)
    found: Extracted | None = bare_extraction(
        tree,
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
    """Titles and dates that a script of JSON names, as JSON; empty where it has none, or too many.

    Args:
        text: The script.
        longest: Number of characters that it may still take.
    """
    try:
        value = json.loads(text, strict=False)
        texts = [json.dumps(_said(value, depth), ensure_ascii=False) for depth in _DEPTHS]
    except (ValueError, RecursionError):  # trafilatura looks into what is no JSON too
        found = {each[1]: each[2] for each in reversed([*_IN_DAMAGED.finditer(text)])}
        texts = [json.dumps(_ARTICLE | found, ensure_ascii=False)] if found else []
    return next((each for each in texts if len(each) <= longest), "")


def _said(value: Any, depth: int) -> Any:
    """Titles and dates within a value, and all that they are in; None where it has none."""
    if depth == 0:
        return None
    if isinstance(value, list):
        return [said for each in value if (said := _said(each, depth - 1))]
    if not isinstance(value, dict):
        return None
    kept: dict[str, Any] = {}
    for key, each in value.items():
        if key in _SAID or (key == "name" and value.get("@type") in _NAMED):
            one_or_more = each[:_MOST_VALUES] if isinstance(each, list) else [each]
            if all(isinstance(one, str) for one in one_or_more):
                short = [one[:_LONGEST_VALUE] for one in one_or_more]
                kept[key] = short if isinstance(each, list) else short[0]
        elif said := _said(each, depth - 1):
            kept[key[:_LONGEST_VALUE]] = said
    return kept if kept.keys() - {"@type"} else None
