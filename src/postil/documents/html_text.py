"""Text of HTML, as comments and articles of web sites come."""

from __future__ import annotations

import re
from html import unescape
from html.entities import html5
from typing import TYPE_CHECKING, Final, Protocol

from postil.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["HtmlCleaner", "HtmlText", "unescaped"]

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
TAGS: Final = "|".join(sorted(BREAKS | HIDDEN | {
    "a", "abbr", "audio", "b", "big", "center", "cite", "code", "del", "em", "embed", "font", "i", "img", "ins", "kbd",
    "mark", "q", "s", "small", "source", "span", "strike", "strong", "sub", "sup", "tbody", "thead", "tt", "u", "video",
}))  # fmt: skip
"""Tags that make a text HTML."""
MARKS: Final = re.compile(
    rf"</(?:{TAGS})\s*>"  # a text of a tag ends
    r"|<(?:br|hr|li|p)\s*/?>"
    rf"|<(?:{TAGS})\s[^<>=]*=[^<>]*>"  # a tag with an attribute
    r"|<!--[^<>]{0,1000}-->",
    re.IGNORECASE,
)
"""Signs of HTML. Each is searched in linear time."""
SOURCE_LINES: Final = re.compile(r"<(?:p|br|div|li)\b", re.IGNORECASE)
"""Signs that tags end the lines, so that the line ends of the source are spaces."""
ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")

BLANK: Final = re.compile(
    r"&(?:amp;){0,8}(?:nbsp|zerowidthspace|#0{0,4}(?:160|8203|65279)|#x0{0,4}(?:a0|200b|feff));", re.IGNORECASE
)
"""A space, or a mark without width, that was escaped, perhaps more than once."""
UNSEEN: Final = " \t\n\r\f\v\xa0\u200b\ufeff"
"""Characters that are nothing at the ends of a line; within one, U+200B may separate words of Thai or Khmer."""


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


def _character(entity: re.Match[str]) -> str:
    name = entity.group()[1:]
    # `unescape` takes the beginning of a name for an entity, as in "&notified;".
    character = unescape(f"&{name}") if name in html5 or name.startswith("#") else f"&{name}"
    return " " if character.isspace() or character in UNSEEN else character


def unescaped(text: str) -> str:
    r"""A text with characters for its entities, and without the blanks that editors leave as entities.

    Args:
        text: The text, in Markdown or plain; blanks may be escaped more than once.

    >>> unescaped("&amp;nbsp;\n\nFish &amp;amp; chips&#x200B;\nat&nbsp;nine"), unescaped("&amp;#x200B;")
    ('\n\nFish &amp; chips\nat nine', '')
    """
    lines = unescape(BLANK.sub(" ", text)).replace("\xa0", " ").split("\n")
    return "\n".join(line.rstrip(UNSEEN) for line in lines)


class HtmlCleaner:
    """A converter of those texts that are HTML; the others stay as they are.

    A text is HTML if it has an end tag, a tag with an attribute, a line break or a paragraph of HTML. One that has
    entities alone, such as ``&amp;``, gets their characters. ``<3``, ``a < b`` and ``<name>`` are no tags.

    Attributes:
        cleaned: Number of texts that were changed.

    >>> clean = HtmlCleaner()
    >>> clean("I <3 R&D if a < b"), clean("<p>Oh, <b>yes</b></p>"), clean("Fish &amp; chips")
    ('I <3 R&D if a < b', 'Oh, yes', 'Fish & chips')
    >>> clean.cleaned
    2
    """

    def __init__(self) -> None:
        self.cleaned = 0
        self._html: HtmlText | None = None

    def __call__(self, text: str, *, quotes: bool = True) -> str:
        """The text of a text that may be HTML.

        Args:
            text: The text.
            quotes: False to leave out what is quoted in `blockquote`.

        Raises:
            InvalidInput: It is HTML of more than 4 Mi characters.
            MissingExtra: It is HTML, and lxml is not installed.
        """
        found = text
        if "<" in text and MARKS.search(text) is not None:
            self._html = self._html or HtmlText()
            found = self._html.convert(text, quotes=quotes, lines=SOURCE_LINES.search(text) is None)
        elif "&" in text:
            found = ENTITY.sub(_character, text)
        self.cleaned += found is not text and found != text
        return found


def _tidy(text: str) -> str:
    lines = (SPACES.sub(" ", line).strip(UNSEEN) for line in text.replace("\r", "\n").split("\n"))
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
