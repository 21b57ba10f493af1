r"""Plain text of comments with mark-up: Markdown, HTML, BBCode and shortcodes of WordPress.

Every pattern reads a text once, whatever it holds: a run of a million brackets costs no more than a million letters.
"""

from __future__ import annotations

import html
import re
from html.entities import html5
from typing import Final, NamedTuple

__all__ = ["PlainText", "plain_text"]

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
    return html.unescape(found[0]) if found[0][1] == "#" else html5.get(found[0][1:], found[0])


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
