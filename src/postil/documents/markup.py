"""Plain text of what web sites keep with mark-up: HTML, Markdown, BBCode and shortcodes of WordPress.

Every pattern reads a text once, whatever it holds: a run of a million brackets costs no more than a million letters.
"""

from __future__ import annotations

import re
from html import unescape
from html.entities import html5
from typing import TYPE_CHECKING, Final, NamedTuple

from postil.errors import InvalidInput, needs

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["HtmlCleaner", "PlainText", "html_text", "plain_text", "unescaped"]

_ANY: Final = re.compile(r"[*_`~\\<>\[#]|&(?:#|\w)|(?m:^[ \t]*(?:[-+] |---))")
_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_NAMES: Final = (
    "a abbr address article aside b big blockquote body br center cite code dd del details div dl dt em figcaption "
    "figure font footer h1 h2 h3 h4 h5 h6 header hr html i iframe img ins kbd li mark nav noscript ol p pre q s samp "
    "script section small span strike strong style sub summary sup svg table tbody td tfoot th thead tr tt u ul video"
)
_QUOTES: Final = frozenset({"blockquote", "quote"})
_DROPPED: Final = _QUOTES | {
    *("script", "style", "pre", "iframe", "noscript", "svg", "code", "sourcecode"),
    *("img", "youtube", "video", "audio", "embed", "caption", "gallery"),
}
_VOID: Final = frozenset({"img", "gallery", "embed"})
_BREAKS: Final = frozenset(
    ("blockquote", "br", "dd", "div", "dl", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre")
) | {"quote", "table", "tr", "ul"}
_TAG: Final = re.compile(
    # A tag of HTML: a known name alone or with attributes, so that "a<b and c>d" is none.
    rf"<(?P<end>/?)(?P<name>{'|'.join(sorted(_NAMES.split(), key=len, reverse=True))})"
    r"(?:\s*/?|\s[^<>]*[=/][^<>]*)>"
    r"|<!--[^<>]*-->|<!\[CDATA\[|\]\]>|<!doctype[^<>]*>"
    r"|\[(?P<bbend>/?)(?P<bbname>quote|code|img|youtube|url|email|size|color|font|list|spoiler|center|left|right|[bius*])"
    r"(?:=[^\[\]\n]*)?\]"
    r"|\[(?P<wpend>/?)(?P<wpname>caption|gallery|embed|audio|video|playlist|sourcecode|vc_\w+|et_pb_\w+|wp_\w+)"
    r"(?:\s[^\[\]]*)?\]",
    re.IGNORECASE,
)
_LINK: Final = re.compile(
    r"(?P<image>!?)\[(?P<text>[^\[\]]{0,2000})\]"
    r"\((?P<url>[^()\s]{0,2000}(?:\([^()\s]{0,300}\)[^()\s]{0,300})?)(?:[ \t]+\"[^\"\n]{0,300}\")?\)"
    r"|\[(?P<cut>[^\[\]]{0,2000})\]\((?=\s)"  # where a mask or a crawler took the address
)
_INVISIBLE: Final = str.maketrans({"\xa0": " ", "\u200b": None, "\ufeff": None})
_QUOTE: Final = re.compile(r"[ \t]{0,3}>(?:[> \t]*)(?![.:;=_<>-])\S")
_RULE: Final = re.compile(r"[ \t]*(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})")
_HEADING: Final = re.compile(r"\A[ \t]{0,3}#{1,6}[ \t]+")
_BULLET: Final = re.compile(r"\A[ \t]*[-*+][ \t]+(?=\S)")
_FENCE: Final = re.compile(r"(?m)^[ \t]{0,3}(?:```|~~~)[^`~\n]*$|```")
_SPAN: Final = re.compile(r"`+([^`\n]*)`+")
_RUN: Final = re.compile(r"(?<!\\)(?:\*{1,3}|_{1,3}|~~|\|\|)")
_ESCAPED: Final = re.compile(r"\\([\\`*_{}\[\]()#+.!~>|-])")
_BLANKS: Final = re.compile(r"\n(?:[ \t]*\n){2,}")


class PlainText(NamedTuple):
    """A text without mark-up.

    Args:
        text: The text.
        quoted: True if it quoted something in mark-up, which is left out.
    """

    text: str
    quoted: bool


def plain_text(text: str) -> PlainText:
    r"""Strip mark-up from a text.

    Links, emphasis, headings, bullets and spans of code become their text; tags, entities and escapes are resolved;
    quotations, blocks of code, pictures and scripts are left out. Text without mark-up stays as it is.

    Args:
        text: The text.

    >>> plain_text("> So wet.\n\nBring a **coat**, see [here](https://web.org/a_(b)) &amp; `run`!")
    PlainText(text='Bring a coat, see here & run!', quoted=True)
    >>> plain_text("<p>Rain<br>again</p><pre>x = 1</pre>"), plain_text("2 * 3 < 7 or snake_case?").text
    (PlainText(text='Rain\nagain', quoted=False), '2 * 3 < 7 or snake_case?')
    """
    if not _ANY.search(text):
        return PlainText(text, quoted=False)
    plain = _ENTITY.sub(_entity, text) if "&" in text else text
    quoted = False
    if "<" in plain or "[" in plain:
        plain = _LINK.sub(lambda found: "" if found["image"] else found["text"] or found["cut"] or "", plain)
        plain, quoted = _without_tags(plain)
    plain = _without_blocks(plain)
    lines = []
    for line in plain.split("\n"):
        if _QUOTE.match(line):
            quoted = True
        elif not _RULE.fullmatch(line):
            lines.append(_BULLET.sub("", _HEADING.sub("", line)) if line[:1] in " \t#-*+" else line)
    plain = _SPAN.sub(r"\1", "\n".join(lines)) if "`" in plain else "\n".join(lines)
    plain = _ESCAPED.sub(r"\1", _without_emphasis(plain))
    if plain == text:
        return PlainText(text, quoted)
    return PlainText(_BLANKS.sub("\n\n", plain.translate(_INVISIBLE)).strip(), quoted)


def _entity(found: re.Match[str]) -> str:
    # html.unescape alone would take &notary; for the sign of &not.
    return unescape(found[0]) if found[0][1] == "#" else html5.get(found[0][1:], found[0])


def _without_tags(text: str) -> tuple[str, bool]:
    """Text without tags of HTML, BBCode and shortcodes, and without elements that hold no words of the writer."""
    kept: list[str] = []
    quoted, at = False, 0
    inside, depth = "", 0  # name of the element that is left out, and how often it is open
    for found in _TAG.finditer(text):
        name = (found["name"] or found["bbname"] or found["wpname"] or "").lower()
        closes = bool(found["end"] or found["bbend"] or found["wpend"])
        if inside:
            if name == inside:
                depth += -1 if closes else 1
                if not depth:
                    inside, at = "", found.end()
            continue
        kept.append(text[at : found.start()])
        at = found.end()
        if name in _BREAKS:
            kept.append("\n")
        dropped = name in _DROPPED - _VOID or (name == "img" and found["bbname"])
        # A short span of code is a word of its sentence, as in Markdown.
        if dropped and not closes and not (name == "code" and found["name"]):
            inside, depth = name, 1
            quoted = quoted or name in _QUOTES
    if inside and inside not in _QUOTES:
        at = len(text)  # an element of code that was cut off
    kept.append(text[at:])
    return "".join(kept), quoted


def _without_blocks(text: str) -> str:
    """Text without fenced blocks of code; a fence that is not closed is left out alone."""
    if "```" not in text and "~~~" not in text:
        return text
    parts = _FENCE.split(text)
    if len(parts) % 2 == 0:
        parts[-2:] = ["\n".join(parts[-2:])]
    return "\n".join(parts[::2])


def _without_emphasis(text: str) -> str:
    """Text without marks of emphasis that open and close around words."""
    opened: dict[str, list[tuple[int, int]]] = {}
    cut: list[tuple[int, int]] = []
    for found in _RUN.finditer(text):
        begin, end = found.span()
        before, after = text[begin - 1 : begin], text[end : end + 1]
        mark = found[0]
        word_before, word_after = _is_word(before), _is_word(after)
        if before.strip() and not word_after and opened.get(mark):
            cut += [opened[mark].pop(), (begin, end)]
        elif after.strip() and not word_before:
            opened.setdefault(mark, []).append((begin, end))
    if not cut:
        return text
    kept, at = [], 0
    for begin, end in sorted(cut):
        kept.append(text[at:begin])
        at = end
    return "".join([*kept, text[at:]])


def _is_word(character: str) -> bool:
    """True for a letter or digit next to which a mark of emphasis neither opens nor closes; Han text has no spaces."""
    return character.isalnum() and character.isascii()


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

BLANK: Final = re.compile(
    r"&(?:amp;){0,8}(?:nbsp|zerowidthspace|#0{0,4}(?:160|8203|65279)|#x0{0,4}(?:a0|200b|feff));", re.IGNORECASE
)
"""A space, or a mark without width, that was escaped, perhaps more than once."""
UNSEEN: Final = " \t\n\r\f\v\xa0\u200b\ufeff"
"""Characters that are nothing at the ends of a line; within one, U+200B may separate words of Thai or Khmer."""


def html_text(html: str, *, quotes: bool = True, lines: bool = False) -> str:
    r"""The text of some HTML.

    Blocks and `br` end a line, lines that are empty are left out, and white space is one space. Links, code and
    emphasis are their text; scripts, styles, forms and frames are left out. The parser calls back for each tag and
    builds no tree, so that a million nested tags cost no more than a million others.

    Args:
        html: HTML, or text.
        quotes: True to keep what is quoted in `blockquote` and in Discourse's `aside`; False to leave it out.
        lines: True if line ends of the source are line ends, as in comments of WordPress; False if they are spaces.

    Raises:
        InvalidInput: It has more than 4 Mi characters.
        MissingExtra: It has tags, and lxml is not installed.

    >>> html_text("<p>Bring a <b>coat</b> &amp; hat.</p><script>x()</script><p>Yes<br>indeed</p>")
    'Bring a coat & hat.\nYes\nindeed'
    >>> html_text("<blockquote>It will rain.</blockquote> It won't.", quotes=False)
    "It won't."
    """
    if len(html) > LONGEST:
        raise InvalidInput(f"expected HTML of at most {LONGEST:,} characters, got {len(html):,}")
    if "<" not in html and "&" not in html:
        return _tidy(html if lines else html.replace("\n", " "))
    with needs("HTML in the text of articles and comments", "pages"):
        from lxml import etree  # noqa: PLC0415 - needed for these formats only
    parser = etree.HTMLParser(target=_Target(quotes=quotes, lines=lines), encoding="utf-8")
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
            found = html_text(text, quotes=quotes, lines=SOURCE_LINES.search(text) is None)
        elif "&" in text:
            found = _ENTITY.sub(_character, text)
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
