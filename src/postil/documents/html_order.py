"""Pages of HTML put in order: the tree that browsers build of a page, written with all its tags."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import Final

from postil.errors import MissingExtra

__all__ = ["in_order"]

TAGS: Final = 20_000
"""Largest number of tags that are put in order as browsers do; the time can grow by their square, to two seconds."""
ATTRIBUTES: Final = 1000
"""Largest number of attributes of a tag; the time of every reader of pages grows by their square."""
GROWTH: Final = 500_000
"""Number of elements that a page may grow to; elements of style that are never closed begin anew in each paragraph."""
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
_WHOLE: Final = re.compile(r"<(?:html|body)\b", re.IGNORECASE)
_OF_HEAD: Final = re.compile(
    r"(?:[\s\ufeff]++|<!--(?:[^-]|-(?!->))*+-->|<[!?][^>]*+>|<(?:html|head|meta|link|base)(?=[\s/>])[^>]*+>"
    r"|<(title|script|style|noscript|template)(?=[\s/>])(?:[^<]|<(?!/\1))*+</\1[^>]*+>)*+",
    re.IGNORECASE,
)
_BODY: Final = re.compile(r"</head\b|<(?:body|frameset)\b|$", re.IGNORECASE)


def in_order(html: str) -> str:
    """Put a page in order as browsers do: tags that a page may leave out, and elements at places where they cannot be.

    A page that would take long, or grow, since it was made to or is very large, gets its body alone.

    Args:
        html: The page, without null characters.

    Raises:
        MissingExtra: selectolax is not installed.

    >>> in_order("<title>Rain</title><main>It rained.<table>On<tr><td>Ely")[44:]
    '<main>It rained.On<table><tbody><tr><td>Ely</td></tr></tbody></table></main></body></html>'
    """
    try:
        from selectolax.lexbor import LexborHTMLParser  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("the text of a page of HTML", "html") from error
    if _XHTML.match(html):
        html = _CLOSED.sub(r"<\1\2></\1>", html)
    few = _with_few_attributes(html)
    has_many, html = few is not html, few
    number = html.count("<")
    if number <= TAGS and _grows(html, number):
        html = _STYLE_TAG.sub("", html)  # those that hold no end of themselves stay
        number = TAGS + 1 if _grows(html, number) else number
    if number > TAGS or len(_WHOLE.findall(html)) > WHOLES or has_many:
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
