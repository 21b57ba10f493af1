"""Wikitext as mwparserfromhell reads it, with broken markup made text beforehand."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from postil.errors import MissingExtra

if TYPE_CHECKING:
    from mwparserfromhell.wikicode import Wikicode

__all__ = ["BRACKETS", "OWN_LINE", "UNSEEN_MARKS", "parsed"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


OWN_LINE = _words("blockquote br caption center dd div dl dt h1 h2 h3 h4 h5 h6 hr li ol p poem pre table td th tr ul")
_IN_LINE = _words("abbr b bdi big cite code del em font i ins kbd s small span strike strong sub sup tt u var")
_SWITCHES = _words("""
    DISAMBIG FORCETOC HIDDENCAT INDEX NEWSECTIONLINK NOCC NOCONTENTCONVERT NOEDITSECTION NOGALLERY NOINDEX
    NONEWSECTIONLINK NOTC NOTITLECONVERT NOTOC STATICREDIRECT TOC
""")
# The parser takes quotes and tags out in pairs; these are the ones without a partner.
UNSEEN_MARKS = re.compile(
    rf"'{{2,}}|__(?:{'|'.join(_SWITCHES)})__|(?i:</?(?:{'|'.join(OWN_LINE | _IN_LINE)})(?:\s[^<>]*)?/?>)|\x02"
)
_BETWEEN = "\x02"
"""Stands for such a mark that is taken out before the parser reads: the words on its sides are still two."""

_MARKUP = re.compile(
    r"\{{2,}|\}{2,}|\[\[|\[(?=\w+:|//)|\]+|^[ \t:]*\{\||\|\}(?!\})|<!--|</?[A-Za-z][^\s<>/]*|\n", re.MULTILINE
)
_END_OF_TAG = re.compile(r"[^<>]*>")
_ALONE = _words("br dd dt hr img li link meta td th tr wbr")  # the parser looks for no end of these
_MOST_OPEN = 20
"""Largest number of unclosed pieces of markup left to the parser, which scans to the end of the page for each."""
_DEEPEST = 40
"""Deepest nesting of markup; what is deeper is text. The parser does not read much deeper either."""

BRACKETS = re.compile(r"\[{2,}|\]{2,}")


def parsed(wikitext: str) -> Wikicode:
    """Parse a wikitext, in a time that does not grow with the square of its length.

    Args:
        wikitext: Any text.

    Raises:
        MissingExtra: mwparserfromhell is not installed.
    """
    try:
        from mwparserfromhell import parse  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("reading wikitext", "wiki") from error
    return parse(_tamed(wikitext.replace("\0", "")))  # the compiled parser would end there


def _tamed(wikitext: str) -> str:
    """Replace unclosed or too deeply nested markup by text, where there is much of it.

    The parser tries each beginning up to the end of the page, so that many of them take time with the square of its
    length.
    """
    scan = _Scan(wikitext)
    scan.run()
    if not scan.deep and len(scan.lost) <= _MOST_OPEN:
        return wikitext
    pieces, done = [], 0
    for start, end in sorted(scan.lost):
        pieces += [wikitext[done:start], _as_text(wikitext[start:end])]
        done = end
    return "".join([*pieces, wikitext[done:]])


class _Scan:
    """A single pass over the markup of a page that finds unclosed and too deeply nested pieces."""

    def __init__(self, wikitext: str) -> None:
        self.lost: list[tuple[int, int]] = []
        self.deep = False
        self._wikitext = wikitext
        self._open: list[tuple[str, int, int]] = []
        self._inside: list[int] = [0]  # depth of closed markup inside each of them; first that of the page
        self._among: Counter[str] = Counter()

    def run(self) -> None:
        comment = 0  # where the last one ends; -1 where one has no end
        for found in _MARKUP.finditer(self._wikitext):
            sign, (start, end) = found[0], found.span()
            if start < comment:
                continue
            if sign == "<!--":
                comment = self._wikitext.find("-->", end) if comment >= 0 else -1
                self.lost += [(start, end)] if comment < 0 else []
            elif sign[0] == "<":
                self._tag(sign, start, end)
            elif sign[0] in "{}" and sign[-1] != "|":
                for at in range(start, end - 1, 2):
                    (self._begin if sign[0] == "{" else self._close)("{{", at, at + 2)
            elif sign[0] == "]":
                self._close_brackets(start, end)
            elif sign == "|}":
                self._close("{|", start, end)
            elif sign != "\n":
                self._begin(sign.lstrip(" \t:"), start, end)
            while sign == "\n" and self._open and self._open[-1][0] == "[":
                self._drop()
        while self._open:
            self._drop()

    def _tag(self, sign: str, start: int, end: int) -> None:
        rest = _END_OF_TAG.match(self._wikitext, end)
        if sign[1] == "/":
            self._close(f"<{sign[2:].lower()}", start, rest.end() if rest else end)
        elif rest is None:
            self.lost.append((start, end))
        elif rest[0][-2:] != "/>" and sign[1:].lower() not in _ALONE:
            self._begin(sign.lower(), start, rest.end())

    def _close_brackets(self, at: int, end: int) -> None:
        while at < end:
            # Of three or more the first ends an address, if that is what is open.
            one = end - at == 1 or (end - at > 2 and bool(self._open) and self._open[-1][0] == "[")
            self._close("[" if one else "[[", at, at + 2 - one)
            at += 2 - one

    def _begin(self, kind: str, start: int, end: int) -> None:
        self._open.append((kind, start, end))
        self._inside.append(0)
        self._among[kind] += 1

    def _close(self, kind: str, start: int, end: int) -> None:
        if not self._among[kind]:
            return
        while self._open[-1][0] != kind:
            self._drop()
        if self._inside[-1] < _DEEPEST:
            self._pop(1)
        else:
            self.deep = True
            self.lost.append((start, end))
            self._drop()

    def _drop(self) -> None:
        self.lost.append(self._pop(0))

    def _pop(self, levels: int) -> tuple[int, int]:
        kind, start, end = self._open.pop()
        self._among[kind] -= 1
        inside = self._inside.pop() + levels
        self._inside[-1] = max(self._inside[-1], inside)
        return start, end


def _as_text(markup: str) -> str:
    """Escape markup so that the parser reads it as text; drop marks that are never shown."""
    if UNSEEN_MARKS.fullmatch(markup):
        return _BETWEEN
    if BRACKETS.fullmatch(markup):
        return " "
    return "".join(f"&#{ord(sign)};" if sign in "{}[]<|" else sign for sign in markup)
