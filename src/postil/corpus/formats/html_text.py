"""Text of HTML, as comments and articles of web sites come."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Protocol

from postil.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["HtmlText"]

LONGEST: Final = 1 << 22
"""Largest HTML of a text in characters."""
BREAKS: Final = frozenset({
    "address", "article", "aside", "blockquote", "br", "dd", "details", "div", "dl", "dt", "figcaption", "figure",
    "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre", "section",
    "summary", "table", "td", "th", "tr", "ul",
})  # fmt: skip
HIDDEN: Final = frozenset(
    ("button", "head", "iframe", "noscript", "object", "script", "select", "style", "svg", "template", "textarea")
)
QUOTES: Final = frozenset(["blockquote"])
QUOTED_ASIDE: Final = "quote"
"""Class of the `aside` in which Discourse puts what a post quotes."""
SPACES: Final = re.compile(r"[^\S\n]+")


class _Parser(Protocol):
    def feed(self, data: bytes) -> None: ...

    def close(self) -> list[str]: ...


class HtmlText:
    r"""A converter of HTML to text.

    Blocks and `br` end a line, lines that are empty are left out, and white space is one space. Links, code and
    emphasis are their text; scripts, styles, forms and frames are left out. The parser calls back for each tag and
    builds no tree, so that a million nested tags cost no more than a million others.

    Raises:
        MissingExtra: lxml is not installed.

    >>> HtmlText().convert("<p>Bring a <b>coat</b> &amp; hat.</p><script>x()</script><p>Yes<br>indeed</p>")
    'Bring a coat & hat.\nYes\nindeed'
    >>> HtmlText().convert("<blockquote>It will rain.</blockquote> It won't.", quotes=False)
    "It won't."
    """

    def __init__(self) -> None:
        try:
            from lxml import etree  # noqa: PLC0415 - needed for these formats only
        except ImportError as error:
            raise MissingExtra("HTML in the text of articles and comments", "html") from error
        self._parser: Callable[..., _Parser] = etree.HTMLParser

    def convert(self, html: str, *, quotes: bool = True, lines: bool = False) -> str:
        """The text of some HTML.

        Args:
            html: HTML, or text.
            quotes: True to keep what is quoted in `blockquote` and in Discourse's `aside`; False to leave it out.
            lines: True if line ends of the source are line ends, as in comments of WordPress; False if they are spaces.

        Raises:
            InvalidInput: It has more than 4 Mi characters.
        """
        if len(html) > LONGEST:
            raise InvalidInput(f"expected HTML of at most {LONGEST:,} characters, got {len(html):,}")
        if "<" not in html and "&" not in html:
            return _tidy(html if lines else html.replace("\n", " "))
        parser = self._parser(target=_Target(quotes=quotes, lines=lines), encoding="utf-8")
        # A text that begins with a tag of a page's head must not become the head.
        parser.feed(b"<body>" + html.replace("\0", "").encode("utf-8", "replace"))
        return _tidy("".join(parser.close()))


def _tidy(text: str) -> str:
    lines = (SPACES.sub(" ", line).strip() for line in text.replace("\r", "\n").split("\n"))
    return "\n".join(filter(None, lines))


class _Target:
    """Receiver of tags and text; lxml calls the methods by these names."""

    def __init__(self, *, quotes: bool, lines: bool) -> None:
        self._left_out = HIDDEN if quotes else HIDDEN | QUOTES
        self._quotes, self._lines = quotes, lines
        self._parts: list[str] = []
        self._hidden: list[str] = []
        self._verbatim = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag in BREAKS:
            self._parts.append("\n")
        self._verbatim += tag == "pre"
        aside = tag == "aside" and not self._quotes and QUOTED_ASIDE in attributes.get("class", "").split()
        if tag in self._left_out or aside or (self._hidden and tag == self._hidden[-1]):
            self._hidden.append(tag)

    def end(self, tag: str) -> None:
        if tag in BREAKS:
            self._parts.append("\n")
        self._verbatim -= tag == "pre"
        if self._hidden and tag == self._hidden[-1]:
            self._hidden.pop()

    def data(self, text: str) -> None:
        if not self._hidden:
            self._parts.append(text if self._lines or self._verbatim else text.replace("\n", " "))

    def close(self) -> list[str]:
        return self._parts
